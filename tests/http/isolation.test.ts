// SPDX-License-Identifier: Apache-2.0
// isolation.test.ts - tenant B asks for everything of tenant A: every route with an id, every way in, generated from the contract.
//
// Expected: 404 with the body an absent id gets (but for instance and request id), never a byte of A's; lists of B never show A.
// A new route is covered without anybody remembering: an id parameter that the fixture cannot fill fails the test.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { fetchDocument, isPublic, isWorkerRoute, jsonBody, operations, sample, type Document, type Operation } from './contract.ts';
import { api, makeTenant, makeZone, must, waitJob, type Api, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const doc: Document = await fetchDocument(ready);
const routes: Operation[] = operations(doc).filter((op) => !isWorkerRoute(op) && !isPublic(op));
const withId = routes.filter((op) => /\{[a-z_]+_id\}|\{name\}/.test(op.path));

const canary = `canary-${Math.random().toString(36).slice(2)}`;
let a: { tenant: any; token: string; api: Api };
let b: { tenant: any; token: string; api: Api };
const ids: Record<string, string> = {};
let probes = 0;

beforeAll(async () => {
  a = await makeTenant(ready);
  b = await makeTenant(ready);
  const admin = api(ready, ready.admin_token);
  ids['tenant_id'] = a.tenant.tenant_id;
  const user = must(await a.api.post('/v1/users', { name: canary, roles: ['viewer'] }), 201);
  ids['user_id'] = user.user_id;
  ids['binding_id'] = must(await a.api.get('/v1/role-bindings'), 200).data.find((x: any) => x.user_id === user.user_id).binding_id;
  ids['token_id'] = must(await a.api.post('/v1/api-tokens', { name: canary, user_id: user.user_id }), 201).token_id;
  const dataset = must(await a.api.post('/v1/datasets', { name: canary, label_column: 'label', classes: 10 }), 201);
  ids['dataset_id'] = dataset.dataset_id;
  const csv = readFileSync(resolve(process.env['FALAJ_SRC'] ?? '../..', 'datasets/digits/digits.csv'), 'utf8');
  must(await a.api.post(`/v1/datasets/${dataset.dataset_id}/versions`, undefined, { raw: csv, headers: { 'content-type': 'text/csv' } }), 201);
  const job = must(await a.api.post('/v1/jobs', { name: canary, kind: 'train', spec: { dataset_id: dataset.dataset_id, epochs: 3, hidden: [16] } }), 201);
  ids['job_id'] = job.job_id;
  const done = await waitJob(a.api, job.job_id);
  expect(done.state, done.message).toBe('COMPLETED');
  const model = must(await a.api.post('/v1/models', { name: canary, job_id: job.job_id }), 201);
  ids['model_id'] = model.model_id;
  const deployment = must(await a.api.post('/v1/deployments', { name: canary, model_id: model.model_id }), 201);
  ids['deployment_id'] = deployment.deployment_id;
  ids['name'] = canary;
  await makeZone(ready, 'ae-iso-2');
  ids['policy_id'] = must(await a.api.post('/v1/transfer-policies', { from_zone: ready.zone, to_zone: 'ae-iso-2', data_class: 'personal', purpose: 'any',
    legal_basis: 'contract', document_sha256: 'a'.repeat(64), assessment_ref: canary, valid_until: new Date(Date.now() + 86_400_000).toISOString() }), 201).policy_id;
  ids['version'] = '1';
  ids['resource'] = 'jobs';
  ids['node_id'] = must(await admin.get('/v1/nodes'), 200).data[0].node_id;
  ids['join_token_id'] = must(await admin.post('/v1/join-tokens', { zone: ready.zone, node_name: 'nobody' }), 201).join_token_id;
  ids['code'] = 'ae-dxb-1';
  const invited = must(await a.api.post('/v1/invitations', { name: `${canary}-guest`, roles: ['viewer'] }), 201);
  const nobody = api(ready, null);
  must(await nobody.post('/v1/auth/invitations/accept', { token: invited.token, password: 'a heron by the water wheel' }), 200);
  ids['invitation_id'] = must(await a.api.post('/v1/invitations', { name: `${canary}-late`, roles: ['viewer'] }), 201).invitation_id;
  ids['session_id'] = must(await nobody.post('/v1/auth/login', { tenant: a.tenant.name, name: `${canary}-guest`, password: 'a heron by the water wheel' }), 200).session_id;
}, 120_000);

function fill(path: string, from: Record<string, string>): string {
  return path.replace(/\{([a-z_]+)\}/g, (_, name: string) => {
    const id = from[name];
    if (!id) throw new Error(`the fixture has no ${name}: teach it, so that ${path} is probed`);
    return id;
  });
}

/** Well-formed ids that nobody has. */
const absent = (): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).map(([k, v]) => [k, /_[0-9a-f]{32}$/.test(v) ? v.replace(/[0-9a-f]{32}$/, 'f'.repeat(32)) : k === 'name' ? 'no-such-thing' : v]));

function comparable(reply: Reply): string {
  const copy = { ...(reply.json ?? {}) };
  delete copy.instance;
  delete copy.request_id;
  return `${reply.status} ${JSON.stringify(copy)}`;
}

function clean(reply: Reply, what: string): void {
  probes++;
  expect(reply.text.includes(canary), `${what} shows what is another tenant's: ${reply.text.slice(0, 200)}`).toBe(false);
}

describe("another tenant's ids", () => {
  const ways: [string, Record<string, string>][] = [['plain', {}], ['with a matching ETag', { 'if-match': '*' }], ['conditionally', { 'if-none-match': '"v1"' }]];
  test.each(withId.map((op) => [`${op.method} ${op.path}`, op] as const))('%s', async (_name, op) => {
    // Machines and zones are the platform's: whoever may see them sees the same ones.
    const shared = /\/v1\/(nodes|zones)/.test(op.path);
    for (const [way, headers] of ways) {
      const schema = jsonBody(doc, op);
      const options = { headers, ...(schema ? { body: sample(doc, schema) } : op.method === 'POST' && op.path.endsWith('/versions') ? { raw: 'label\n1\n', headers: { ...headers, 'content-type': 'text/csv' } } : {}) };
      const theirs = await b.api(op.method, fill(op.path, ids), options);
      const nobodys = await b.api(op.method, fill(op.path, absent()), options);
      clean(theirs, `${way} ${op.method} ${op.path}`);
      if (shared) continue;
      expect([403, 404], `${way}: ${theirs.status} ${theirs.text.slice(0, 200)}`).toContain(theirs.status);
      expect(comparable(theirs), `${way}: another tenant's id must look like an absent one`).toBe(comparable(nobodys));
    }
  });
});

describe('lists', () => {
  const lists = routes.filter((op) => op.method === 'GET' && !op.path.includes('{'));
  test.each(lists.map((op) => [op.path, op] as const))('%s', async (path) => {
    clean(await b.api.get(path), path);
    clean(await b.api.get(`${path}?page_size=200`), path);
  });

  test("a page token of one tenant is worthless for another", async () => {
    for (let i = 0; i < 2; i++) must(await a.api.post('/v1/users', { name: `${canary}-${i}` }), 201);
    const token = must(await a.api.get('/v1/users?page_size=1'), 200).next_page_token;
    expect(token).toBeTruthy();
    const reply = await b.api.get(`/v1/users?page_size=1&page_token=${token}`);
    expect(reply.status).toBe(400);
    clean(reply, 'page token');
  });
});

describe('foreign keys in bodies', () => {
  test('a job over another tenant\'s data set', async () => {
    const reply = await b.api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: ids['dataset_id'] } });
    expect(reply.status, reply.text).toBe(404);
    clean(reply, 'job');
  });
  test("a model from another tenant's job", async () => {
    const reply = await b.api.post('/v1/models', { name: 'x', job_id: ids['job_id'] });
    expect(reply.status, reply.text).toBe(404);
    clean(reply, 'model');
  });
  test("a deployment of another tenant's model", async () => {
    const reply = await b.api.post('/v1/deployments', { name: 'x', model_id: ids['model_id'] });
    expect(reply.status, reply.text).toBe(404);
    clean(reply, 'deployment');
  });
  test("a role or token for another tenant's user", async () => {
    for (const [path, body] of [['/v1/role-bindings', { user_id: ids['user_id'], role: 'viewer' }], ['/v1/api-tokens', { user_id: ids['user_id'], name: 'x' }]] as const) {
      const reply = await b.api.post(path, body);
      expect(reply.status, reply.text).toBe(404);
      clean(reply, path);
    }
  });
  test('a batch names a data set of another tenant', async () => {
    const reply = await b.api.post('/v1/jobs:batch', { jobs: [{ name: 'x', kind: 'train', spec: { dataset_id: ids['dataset_id'] } }] });
    clean(reply, 'batch');
    expect(reply.json.data?.[0]?.code ?? reply.json.code).toBe('not_found');
  });
});

test("an Idempotency-Key of one tenant replays nothing for another", async () => {
  const key = `shared-key-${canary}`;
  const first = must(await a.api.post('/v1/jobs', { name: 'same', kind: 'noop' }, { key }), 201);
  const second = await b.api.post('/v1/jobs', { name: 'same', kind: 'noop' }, { key });
  expect(second.status).toBe(201);
  expect(second.json.job_id).not.toBe(first.job_id);
  expect(second.headers.get('idempotency-replayed')).toBeNull();
});

test('enough was probed', () => {
  expect(probes).toBeGreaterThan(100);
});
