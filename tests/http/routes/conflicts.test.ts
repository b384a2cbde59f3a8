// SPDX-License-Identifier: Apache-2.0
// conflicts.test.ts - a change that comes too late is told who was faster and when, as far as the caller may know.
import { beforeAll, expect, inject, test } from 'vitest';
import { psql } from '../client.ts';
import { api, eventually, makePerson, makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api, adminMe: any, second: { user_id: string; api: Api }, projectId: string;

const patch = (by: Api, path: string, version: number, body: object) => by('PATCH', path, { body, headers: { 'if-match': `"v${version}"` } });

beforeAll(async () => {
  const made = await makeTenant(ready);
  admin = made.api;
  adminMe = must(await admin.get('/v1/me'), 200);
  second = await makePerson(ready, admin, 'tenant-admin', 'Second Sultan');
  projectId = must(await admin.post('/v1/projects', { name: 'speech' }), 201).project_id;
});

test('the newest change is told at once, and again when the log has numbered it', async () => {
  const path = `/v1/projects/${projectId}`;
  const { version } = must(await admin.get(path), 200);
  must(await patch(admin, path, version, { display_name: 'First' }), 200);
  const before = Date.now();
  must(await patch(second.api, path, version + 1, { display_name: 'Theirs' }), 200);
  const unnumbered = `SELECT count(*) FROM audit_event e LEFT JOIN audit_seq s USING (tenant_id, event_id) WHERE s.tseq IS NULL AND e.tenant_id = '${adminMe.tenant_id.slice(4)}'`;
  for (const isNumbered of [false, true]) {
    if (isNumbered) await eventually('the log has numbered all', () => psql(ready, unnumbered) === '0');
    const late = await patch(admin, path, version + 1, { display_name: 'Mine' });
    expect(late.status).toBe(412);
    expect(late.json.changed_by).toEqual({ kind: 'user', user_id: second.user_id, name: 'Second Sultan' });
    const at = Date.parse(late.json.changed_at);
    expect(at).toBeGreaterThanOrEqual(before - 2000);
    expect(at).toBeLessThanOrEqual(Date.now() + 2000);
  }
  must(await patch(admin, path, version + 2, { display_name: 'Mine' }), 200);
  const own = await patch(admin, path, version, { display_name: 'Again' });
  expect(own.json.changed_by).toEqual({ kind: 'user', user_id: adminMe.user_id, name: adminMe.name });
});

test('a refused change is nobody\'s, and no other object\'s change is told', async () => {
  const user = must(await admin.post('/v1/users', { name: 'Changed' }), 201);
  const other = must(await admin.post('/v1/users', { name: 'Other' }), 201);
  must(await patch(admin, `/v1/users/${user.user_id}`, user.version, { name: 'Changed once' }), 200);
  must(await patch(second.api, `/v1/users/${other.user_id}`, other.version, { name: 'Other once' }), 200);
  expect((await patch(second.api, `/v1/users/${user.user_id}`, user.version, { name: 'Late' })).status).toBe(412);
  const late = await patch(second.api, `/v1/users/${user.user_id}`, user.version, { name: 'Late' });
  expect(late.json.changed_by.user_id).toBe(adminMe.user_id);
});

test('another tenant learns nothing, and who may not read users gets no name', async () => {
  const stranger = (await makeTenant(ready)).api;
  const none = await patch(stranger, `/v1/projects/${projectId}`, 1, { display_name: 'x' });
  expect(none.status).toBe(404);
  expect(none.text).not.toContain('changed_');
  const scoped = api(ready, must(await admin.post('/v1/api-tokens', { name: 'projects only', scopes: ['project:manage', 'project:read'] }), 201).token);
  const late = await patch(scoped, `/v1/projects/${projectId}`, 1, { display_name: 'x' });
  expect(late.status).toBe(412);
  expect(late.json.changed_by.user_id).toBe(adminMe.user_id); // its own user's change
  must(await patch(second.api, `/v1/projects/${projectId}`, must(await admin.get(`/v1/projects/${projectId}`), 200).version, { display_name: 'y' }), 200);
  expect((await patch(scoped, `/v1/projects/${projectId}`, 1, { display_name: 'x' })).json.changed_by).toEqual({ kind: 'user', user_id: second.user_id });
});
