// SPDX-License-Identifier: Apache-2.0
// appointments.test.ts - a platform as it ships, where two people are two people: the first officer of the platform comes from
// the machine, a tenant's from two people of the platform, and who made an account does not approve with it. Accounts need not be
// a day old here.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { psql } from '../client.ts';
import { api, binary, makePerson, makeTenant, must, startPlatform, type Api, type Platform, type Ready } from '../harness.ts';

let platform: Platform;
let ready: Ready;
let operator: Api;
let watcher: Api;

beforeAll(async () => {
  platform = await startPlatform({ FALAJ_APPROVAL_SEPARATION: 'people', FALAJ_APPROVAL_AGE_MS: '0' });
  ready = platform.ready;
  operator = api(ready, ready.admin_token);
  must(await operator.post('/v1/zones', { code: ready.zone, name: 'Dubai', country: 'AE' }), 201);
  // Without the key service, which answers its own user only: then there is a token and no password.
  const first = (name: string): string =>
    execFileSync(binary('falaj-api'), [`--config=${ready.data_dir}/etc/api.conf`, '--keys.sockets=', '--bootstrap-officer', name],
      { encoding: 'utf8', stdio: 'pipe' });
  watcher = api(ready, first('Salma').split('\n')[0]!);
  expect(() => first('Omar')).toThrow();
});
afterAll(() => platform.stop());

const approve = (who: Api, id: string) => who.post(`/v1/approvals/${id}/approve`, {});

test('a second administrator takes two people', async () => {
  const user = must(await operator.post('/v1/users', { name: 'second', roles: ['platform-admin'] }), 201);
  expect(user.roles).toEqual([]);
  const asked = must(await operator.get('/v1/approvals?state=PENDING'), 200).data[0];
  expect(asked).toMatchObject({ kind: 'role.appoint', counts: false, why_not: 'requester' });
  expect(asked.payload).toMatchObject({ user_id: user.user_id, role: 'platform-admin' });
  expect((await approve(operator, asked.approval_id)).json.code).toBe('separation_of_duties');
  expect(must(await watcher.get(`/v1/approvals/${asked.approval_id}`), 200)).toMatchObject({ counts: true });
  expect(must(await approve(watcher, asked.approval_id), 200).state).toBe('EXECUTED');
  expect(must(await operator.get(`/v1/users/${user.user_id}`), 200).roles).toEqual(['platform-admin']);
  const direct = await operator.post('/v1/role-bindings', { user_id: user.user_id, role: 'compliance-officer' });
  expect([direct.status, direct.json.code]).toEqual([403, 'separation_of_duties']);
  must(await operator.post('/v1/appointments', { user_id: user.user_id, role: 'viewer', reason: 'x' }), 422);
});

test('a tenant gets its first officer from two people of the platform, and its own accounts do not count', async () => {
  const { tenant, api: boss } = await makeTenant(ready);
  let asked: any;
  const officer = await makePerson(ready, boss, 'viewer', 'officer', async (user_id) => {
    const own = must(await boss.post('/v1/appointments', { user_id, role: 'compliance-officer', reason: 'our officer' }), 202);
    expect((await approve(boss, own.approval_id)).status).toBe(403);
    must(await boss.post(`/v1/tenants/${tenant.tenant_id}/officers`, { user_id, reason: 'by himself' }), 403);
    asked = must(await operator.post(`/v1/tenants/${tenant.tenant_id}/officers`, { user_id, reason: 'known in person' }), 202);
    expect(asked.kind).toBe('tenant.officer');
    expect((await approve(operator, asked.approval_id)).json.code).toBe('separation_of_duties');
    expect(must(await approve(watcher, asked.approval_id), 200)).toMatchObject({ state: 'EXECUTED' });
  });
  expect(must(await officer.api.get('/v1/me'), 200).roles).toEqual(['compliance-officer']);

  // An account of the administrator's that holds the role all the same, as one of before would.
  const puppet = await makePerson(ready, boss, 'viewer', 'puppet', async (user_id) => {
    const at = `user_id = '${user_id.slice(4)}'`;
    psql(ready, `UPDATE role_binding SET role = 'compliance-officer', created_by = user_id WHERE ${at}`);
  });
  const destroy = must(await boss.post(`/v1/keys/${ready.zone}/destroy`, { reason: 'the tenant leaves' }), 202);
  const at = `/v1/approvals/${destroy.approval_id}`;
  const seen = must(await puppet.api.get(at), 200);
  expect([seen.counts, seen.why_not]).toEqual([false, 'account']);
  const refused = await approve(puppet.api, destroy.approval_id);
  expect([refused.status, refused.json.code, refused.json.detail]).toEqual([403, 'separation_of_duties', seen.why_not_text]);
  expect(must(await officer.api.get(at), 200).counts).toBe(true);
  expect(must(await approve(officer.api, destroy.approval_id), 200).state).toBe('EXECUTED');
});

test('production refuses to count accounts', () => {
  const run = (...more: string[]) => () =>
    execFileSync(binary('falaj-api'), [`--config=${ready.data_dir}/etc/api.conf`, '--run.profile=prod', ...more, '--check-db'],
      { encoding: 'utf8', stdio: 'pipe' });
  expect(run('--approval.separation=accounts')).toThrow(/approval.separation/);
  expect(run('--approval.separation=people', '--approval.age_ms=1000')).toThrow(/approval.age_ms/);
});
