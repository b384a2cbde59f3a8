// SPDX-License-Identifier: Apache-2.0
// auth_glass.test.ts - the account behind glass: two custodians, one session, an hour, no tenant's content, every act flagged. A few seconds.
import { beforeAll, expect, inject, test } from 'vitest';
import { psql } from './client.ts';
import { api, makePerson, must, problemOf, type Api, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const first = api(ready, ready.admin_token), nobody = api(ready, null);
let second: Api, third: Api;

const ask = async (): Promise<string> => must(await first.post('/v1/auth/break-glass', { zone: ready.zone, reason: 'the console is gone' }), 202).approval_id;
const open = (by: Api, approval_id: string): Promise<Reply> => by.post('/v1/auth/break-glass/open', { approval_id });

beforeAll(async () => {
  const admin = async (): Promise<Api> => {
    const user = must(await first.post('/v1/users', { name: `custodian-${Math.random()}`, roles: ['platform-admin'] }), 201);
    return api(ready, must(await first.post('/v1/api-tokens', { name: 'glass', user_id: user.user_id }), 201).token);
  };
  [second, third] = [await admin(), await admin()];
});

test('two custodians open it for the one who asked, once', async () => {
  const id = await ask();
  expect((await open(first, id)).status).toBe(404);
  const own = await first.post(`/v1/approvals/${id}/approve`, {});
  expect([own.status, problemOf(own).code]).toEqual([403, 'separation_of_duties']);
  expect(must(await second.post(`/v1/approvals/${id}/approve`, {}), 200).state).toBe('EXECUTED');
  expect((await open(third, id)).status).toBe(404);
  expect((await open(second, id)).status).toBe(404);
  const opened = await open(first, id);
  const session = must(opened, 200);
  expect(session.name).toBe(`break-glass-${ready.zone}`);
  expect(session.roles).toEqual(['zone-operator']);
  const left = Date.parse(session.expires_at) - Date.now();
  expect(left).toBeGreaterThan(59 * 60_000);
  expect(left).toBeLessThanOrEqual(60 * 60_000);
  expect((await open(first, id)).status).toBe(404);
  const headers = { cookie: opened.headers.get('set-cookie')!.split(';')[0]!, 'x-csrf-token': session.csrf_token, 'sec-fetch-site': 'same-origin' };
  for (const path of ['/v1/jobs', '/v1/datasets', '/v1/models', '/v1/deployments', '/v1/tenants'])
    expect((await nobody.get(path, { headers })).status, path).toBe(403);
  const { user_code } = must(await api(ready, null).post('/v1/auth/device', { client: 'x' }), 200);
  const asked = { '/v1/auth/device/approve': { user_code, approve: true }, '/v1/api-tokens': { name: 'x' }, '/v1/role-bindings': { user_id: session.user_id, role: 'platform-admin' }, '/v1/users': { name: 'x' } };
  for (const [path, body] of Object.entries(asked)) expect((await nobody.post(path, body, { headers })).status, path).toBe(403);
  must(await nobody.post('/v1/auth/logout', undefined, { headers }), 204);
  const bare = (id: string | null): string => (id ?? '').replaceAll('-', '').slice(-32);
  const acts = psql(ready, `SELECT convert_from(body, 'UTF8') FROM audit_event WHERE tenant_id = '${'0'.repeat(32)}'`).split('\n')
    .map((line) => JSON.parse(line)).filter((x) => bare(x.actor.id) === bare(session.user_id));
  expect(acts.map((x) => x.action)).toContain('auth.logout');
  for (const act of acts) expect(JSON.stringify(act), act.action).toContain('"break_glass":1');
  expect(psql(ready, `SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%FLJ-AUT-010%'`)).toBe('2');
});

test('it is not for tenants, unknown zones or people without the keys', async () => {
  expect((await first.post('/v1/auth/break-glass', { zone: 'no-such-zone', reason: 'x' })).status).toBe(422);
  const { api: officer } = await makePerson(ready, first, 'compliance-officer');
  expect((await officer.post('/v1/auth/break-glass', { zone: ready.zone, reason: 'x' })).status).toBe(403);
  for (const password of ['', 'break-glass', 'a heron by the water wheel'])
    expect([400, 401]).toContain((await nobody.post('/v1/auth/login', { tenant: 'platform', name: `break-glass-${ready.zone}`, password })).status);
});
