// SPDX-License-Identifier: Apache-2.0
// tenant_life.test.ts - a tenant is suspended, resumed, deleted by three people, called back, deleted again and removed.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { psql } from '../client.ts';
import { api, eventually, makePerson, makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const admin = api(ready, ready.admin_token);
const officers: Api[] = [];

beforeAll(async () => {
  for (let i = 0; i < 2; i++) {
    officers.push((await makePerson(ready, admin, 'compliance-officer')).api);
  }
});

const refused = (caller: Api): Promise<any> => eventually('the tenant is served no more', async () => {
  const reply = await caller.get('/v1/me');
  return reply.status !== 200 && { status: reply.status, ...reply.json };
});

describe('suspension', () => {
  test('locks people out, stops the queue, and ends', async () => {
    const { tenant, api: boss } = await makeTenant(ready);
    const path = `/v1/tenants/${tenant.tenant_id}`;
    const job = must(await boss.post('/v1/jobs', { name: 'waits', kind: 'noop', pool: 'nobodys' }), 201);
    must(await admin.post(`${path}/suspend`, { running: 'stop' }), 400);
    expect(must(await admin.post(`${path}/suspend`, { running: 'stop', reason: 'unpaid' }), 200).state).toBe('SUSPENDED');
    expect(await refused(boss)).toMatchObject({ status: 403, code: 'tenant_suspended' });
    must(await admin.post(`${path}/suspend`, { reason: 'again' }), 409);
    expect(must(await admin.get('/v1/tenants?state=SUSPENDED'), 200).data.some((t: any) => t.tenant_id === tenant.tenant_id)).toBe(true);
    await eventually('its job is cancelled while it is suspended', () => psql(ready, `SELECT state FROM job WHERE job_id = '${job.job_id.slice(4)}'`) === 'CANCELLED');
    must(await admin.post(`${path}/resume`, {}), 200);
    // The process that answers may believe in the suspension a little longer.
    const seen = await eventually('the tenant is served again', async () => {
      const reply = await boss.get(`/v1/jobs/${job.job_id}`);
      return reply.status === 200 && reply.json;
    });
    expect(seen.state).toBe('CANCELLED');
  }, 150_000);
});

describe('deletion', () => {
  test('takes three people, can be called off, and locks the tenant out', async () => {
    const { tenant, api: boss } = await makeTenant(ready);
    const path = `/v1/tenants/${tenant.tenant_id}`;
    must(await boss.post(`${path}/delete`, { reason: 'mine' }), 403);
    const asked = must(await admin.post(`${path}/delete`, { reason: 'the contract ended' }), 202);
    expect(asked).toMatchObject({ kind: 'tenant.delete', state: 'PENDING', needed: 2, given: 0, subject: tenant.name });
    must(await admin.post(`${path}/delete`, { reason: 'again' }), 409);
    const at = `/v1/approvals/${asked.approval_id}`;
    const self = await admin.post(`${at}/approve`, {});
    expect([self.status, self.json.code]).toEqual([403, 'separation_of_duties']);
    expect(must(await officers[0]!.post(`${at}/approve`, { note: 'seen' }), 200)).toMatchObject({ state: 'PENDING', given: 1 });
    expect((await officers[0]!.post(`${at}/approve`, {})).json.code).toBe('separation_of_duties');
    must(await boss.get(at), 404);
    expect(must(await officers[1]!.post(`${at}/approve`, {}), 200)).toMatchObject({ state: 'EXECUTED', given: 2 });
    must(await officers[1]!.post(`${at}/approve`, {}), 409);
    const now = must(await admin.get(path), 200);
    expect(now.state).toBe('DELETING');
    expect(Date.parse(now.delete_after)).toBeGreaterThan(Date.now() + 29 * 86400_000);
    expect(await refused(boss)).toMatchObject({ status: 403, code: 'tenant_suspended' });
    expect(must(await admin.post(`${path}/undelete`, {}), 200).state).toBe('SUSPENDED');
    expect(must(await admin.post(`${path}/resume`, {}), 200).state).toBe('ACTIVE');
    must(await boss.get('/v1/me'), 200);
  });

  test('refused and withdrawn requests do nothing', async () => {
    const { tenant } = await makeTenant(ready);
    const path = `/v1/tenants/${tenant.tenant_id}`;
    const first = must(await admin.post(`${path}/delete`, { reason: 'a' }), 202);
    expect(must(await officers[0]!.post(`/v1/approvals/${first.approval_id}/refuse`, { note: 'no' }), 200).state).toBe('REFUSED');
    const second = must(await admin.post(`${path}/delete`, { reason: 'b' }), 202);
    expect(must(await admin.post(`/v1/approvals/${second.approval_id}/refuse`, {}), 200).state).toBe('WITHDRAWN');
    expect(must(await admin.get(path), 200).state).toBe('ACTIVE');
    expect(must(await admin.get('/v1/approvals?kind=tenant.delete&state=WITHDRAWN'), 200).data.some((a: any) => a.approval_id === second.approval_id)).toBe(true);
  });
});

describe('users', () => {
  test('a deactivated user is dead within 5 s, a disabled one comes back and needs a new token', async () => {
    const { api: boss } = await makeTenant(ready);
    const user = must(await boss.post('/v1/users', { name: 'temp', roles: ['viewer'] }), 201);
    const path = `/v1/users/${user.user_id}`;
    const token = async (): Promise<Api> => api(ready, must(await boss.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
    let temp = await token();
    must(await temp.get('/v1/me'), 200);
    must(await boss('PATCH', path, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } }), 200);
    expect((await refused(temp)).status).toBe(401);
    must(await boss('PATCH', path, { body: { state: 'ACTIVE' }, headers: { 'if-match': '*' } }), 200);
    expect((await temp.get('/v1/me')).status).toBe(401);
    temp = await token();
    must(await temp.get('/v1/me'), 200);
    must(await boss.delete(path), 204);
    expect((await refused(temp)).status).toBe(401);
    must(await boss('PATCH', path, { body: { state: 'ACTIVE' }, headers: { 'if-match': '*' } }), 409);
    expect(must(await boss.get('/v1/users?state=DEACTIVATED'), 200).data.map((u: any) => u.name)).toEqual(['temp']);
    const me = must(await boss.get('/v1/me'), 200);
    must(await boss.delete(`/v1/users/${me.user_id}`), 409);
  });
});
