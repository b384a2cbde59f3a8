// SPDX-License-Identifier: Apache-2.0
// access.test.ts - the explanation says what the next call will do, and who else could.
import { beforeAll, expect, inject, test } from 'vitest';
import { api, makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let user: any;
let caller: Api;
let project: any;

beforeAll(async () => {
  admin = (await makeTenant(ready)).api;
  user = must(await admin.post('/v1/users', { name: 'asked', roles: ['viewer'] }), 201);
  project = must(await admin.post('/v1/projects', { name: 'red' }), 201);
  must(await admin.post('/v1/role-bindings', { user_id: user.user_id, role: 'ml-engineer', cidrs: ['192.0.2.0/24'] }), 201);
  must(await admin.post('/v1/role-bindings', { user_id: user.user_id, role: 'ml-engineer', project_id: project.project_id, mfa_age_seconds: 600 }), 201);
  caller = api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
});

const ask = async (body: object): Promise<any> => must(await admin.post('/v1/access/explain', { user_id: user.user_id, ...body }), 200);

test('a denial names each role, each condition and who may', async () => {
  const answer = await ask({ act: 'job_submit' });
  expect(answer).toMatchObject({ allowed: false, permission: 'job:submit' });
  expect(answer.bindings.map((b: any) => b.verdict).sort()).toEqual(['address', 'lacks', 'mfa']);
  expect(answer.missing.length).toBe(2);
  expect(answer.who_may.map((u: any) => u.role)).toContain('tenant-admin');
  must(await caller.post('/v1/jobs', { name: 'x', kind: 'noop' }), 403);
});

test('under other circumstances the answer is another', async () => {
  expect(await ask({ act: 'job:submit', source_ip: '192.0.2.7' })).toMatchObject({ allowed: true, rule: 'role:ml-engineer' });
  expect((await ask({ act: 'job:submit', mfa_age_seconds: 60 })).bindings.some((b: any) => b.verdict === 'applies_in_project')).toBe(true);
  expect(await ask({ act: 'job:read' })).toMatchObject({ allowed: true, rule: 'role:viewer' });
  expect((await ask({ act: 'tenant:create' })).missing[0]).toContain('platform-admin');
});

test('asking needs a permission, a real act and a user of the own tenant', async () => {
  must(await caller.post('/v1/access/explain', { act: 'job:read' }), 403);
  must(await admin.post('/v1/access/explain', { act: 'no:such' }), 400);
  must(await admin.post('/v1/access/explain', { act: 'job:read', user_id: `usr_${'f'.repeat(32)}` }), 404);
});
