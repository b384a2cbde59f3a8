// SPDX-License-Identifier: Apache-2.0
// rbac.test.ts - every role and nobody × every route, every cell asserted, allow and deny, from the matrix the binary prints.
//
// Allowed means "not 401 and not 403 for lack of a permission": what the call then says about its input is other tests' business.
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { fetchDocument, isPublic, isWorkerRoute, operations, samplePath, type Document, type Operation } from './contract.ts';
import { api, binary, eventually, makePerson, makeTenant, must, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const doc: Document = await fetchDocument(ready);
const routes: Operation[] = operations(doc).filter((op) => !isWorkerRoute(op) && !isPublic(op));

/** matrix[role] = set of permissions */
const matrix: Record<string, Set<string>> = {};
const lines = execFileSync(binary('falaj-api'), ['--print-permissions'], { encoding: 'utf8' }).split('\n');
const head = lines.find((l) => l.startsWith('| permission'))!.split('|').map((s) => s.trim()).slice(3, -1);
for (const role of head) matrix[role] = new Set();
for (const line of lines) {
  const cells = line.split('|').map((s) => s.trim());
  if (!/^[a-z]+:[a-z-]+$/.test(cells[1] ?? '')) continue;
  head.forEach((role, i) => cells[3 + i] === 'Y' && matrix[role]!.add(cells[1]!));
}

const PLATFORM = ['platform-admin', 'zone-operator'];
const TENANT = ['compliance-officer', 'tenant-admin', 'ml-engineer', 'viewer', 'service-account', 'provisioner'];
const APPOINTED = ['compliance-officer', 'zone-operator'];   // administrators hold less, and make no tokens for them
const callers: Record<string, Api> = {};

beforeAll(async () => {
  const admin = api(ready, ready.admin_token);
  const tenant = await makeTenant(ready);
  for (const [from, roles] of [[admin, PLATFORM], [tenant.api, TENANT]] as const) {
    for (const role of roles) {
      if (APPOINTED.includes(role)) {
        callers[role] = (await makePerson(ready, from, role)).api;
        continue;
      }
      const user = must(await from.post('/v1/users', { name: `rbac-${role}-${Math.random()}`, roles: [role] }), 201);
      callers[role] = api(ready, must(await from.post('/v1/api-tokens', { name: 'rbac', user_id: user.user_id }), 201).token);
    }
  }
});

const needed = (op: Operation): string | undefined =>
  /Needs the permission ([a-z-]+:[a-z-]+)/.exec((doc.paths[op.path] as any)[op.method.toLowerCase()].description ?? '')?.[1];

test('the matrix is whole and keeps its two promises', () => {
  expect(Object.keys(matrix).sort()).toEqual([...PLATFORM, ...TENANT, 'worker'].sort());
  for (const role of [...PLATFORM, 'compliance-officer'])
    for (const content of ['dataset:content', 'model:content', 'dataset:read', 'model:read', 'job:read', 'deployment:infer'])
      expect(matrix[role]!.has(content), `${role} must not hold ${content}`).toBe(false);
});

describe.each([...PLATFORM, ...TENANT])('%s', (role) => {
  test.each(routes.map((op) => [`${op.method} ${op.path}`, op] as const))('%s', async (_name, op) => {
    const permission = needed(op);
    const allowed = permission === undefined || matrix[role]!.has(permission);
    const reply = await callers[role]!(op.method, samplePath(op), op.method === 'GET' || op.method === 'DELETE' ? {} : { raw: '{' });
    if (allowed) {
      expect(reply.status, `${role} may: ${reply.text.slice(0, 200)}`).not.toBe(403);
      expect(reply.status).not.toBe(401);
    } else {
      expect(reply.status, `${role} may not: ${reply.text.slice(0, 200)}`).toBe(403);
      if (reply.json.code) expect(reply.json.code).toBe('forbidden');
    }
  });
});

describe('nobody', () => {
  test.each(routes.map((op) => [`${op.method} ${op.path}`, op] as const))('%s', async (_name, op) => {
    const reply = await api(ready, null)(op.method, samplePath(op), op.method === 'GET' || op.method === 'DELETE' ? {} : { raw: '{' });
    expect(reply.status, reply.text.slice(0, 200)).toBe(401);
    expect(reply.headers.get('www-authenticate')).toContain('Bearer');
  });
});

describe('grants', () => {
  test('nobody grants what they do not hold', async () => {
    const reply = await callers['tenant-admin']!.post('/v1/users', { name: `x-${Math.random()}`, roles: ['platform-admin'] });
    expect(reply.status).toBe(422);
    const user = must(await callers['tenant-admin']!.post('/v1/users', { name: `y-${Math.random()}` }), 201);
    const grant = await callers['viewer']!.post('/v1/role-bindings', { user_id: user.user_id, role: 'viewer' });
    expect(grant.status).toBe(403);
  });
  test('the compliance officer stands alone', async () => {
    const user = must(await callers['tenant-admin']!.post('/v1/users', { name: `z-${Math.random()}`, roles: ['compliance-officer'] }), 201);
    const reply = await callers['tenant-admin']!.post('/v1/role-bindings', { user_id: user.user_id, role: 'viewer' });
    expect(reply.status).toBe(409);
  });
  test('nobody makes a token of who may more, and an appointment ends the tokens made before it', async () => {
    for (const [by, role] of [['tenant-admin', 'compliance-officer'], ['platform-admin', 'compliance-officer'], ['platform-admin', 'zone-operator']] as const) {
      const from = callers[by]!;
      const user = must(await from.post('/v1/users', { name: `t-${Math.random()}` }), 201);
      const early = must(await from.post('/v1/api-tokens', { name: 'early', user_id: user.user_id }), 201);
      expect((await api(ready, early.token).get('/v1/me')).status).toBe(200);
      must(await from.post('/v1/role-bindings', { user_id: user.user_id, role }), 201);
      const reply = await from.post('/v1/api-tokens', { name: 'late', user_id: user.user_id });
      expect(reply.status).toBe(403);
      expect(reply.text).toMatch(/holds? the permission [a-z]+:[a-z-]+/);
      expect([403, 409]).toContain((await from.post(`/v1/api-tokens/${early.token_id}/rotate`, { overlap_seconds: 60 })).status);
      await eventually('the early token is refused', async () => (await api(ready, early.token).get('/v1/me')).status === 401);
    }
  });
  test('a revoked token is dead, a scoped one does less', async () => {
    const made = must(await callers['ml-engineer']!.post('/v1/api-tokens', { name: 'scoped', scopes: ['job:read'] }), 201);
    const scoped = api(ready, made.token);
    expect((await scoped.get('/v1/jobs')).status).toBe(200);
    expect((await scoped.get('/v1/datasets')).status).toBe(403);
    expect((await callers['ml-engineer']!.delete(`/v1/api-tokens/${made.token_id}`)).status).toBe(204);
    await eventually('the revoked token is refused', async () => (await scoped.get('/v1/jobs')).status === 401);
  });
});
