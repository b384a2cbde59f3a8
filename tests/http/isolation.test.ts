// SPDX-License-Identifier: Apache-2.0
// isolation.test.ts - one tenant asks for everything of another: every route × every id × every way in, generated from the contract.
//
// Callers: every role of the wrong tenant, the platform's administrator, nobody, and a tenant that is being
// deleted. Expected: 404 with the body that an absent id gets (but for instance and request id), or the refusal that any caller of that
// role gets; never a byte of the other tenant's. A new route is covered without anybody remembering: an id parameter that the fixture
// cannot fill fails the test. At least 5,000 probes; takes about a minute under AddressSanitizer.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { deref, fetchDocument, isPublic, isWorkerRoute, jsonBody, operations, sample, type Document, type Operation, type Schema } from './contract.ts';
import { api, eventually, makePerson, makeTenant, makeZone, must, waitJob, type Api, type Options, type Ready, type Reply } from './harness.ts';
import { image } from './image.ts';

const ready: Ready = inject('falaj');
const doc: Document = await fetchDocument(ready);
const routes: Operation[] = operations(doc).filter((op) => !isWorkerRoute(op) && !isPublic(op));
const hasId = (op: Operation): boolean => /\{[a-z_]+_id\}|\{name\}/.test(op.path);
/** Machines, zones, roots, priority classes and tenants as such are the platform's: whoever may see them sees the same ones. */
const isShared = (op: Operation): boolean =>
  /^\/v1\/(nodes|zones|join-tokens|tenants|pools|prices|classes|reservations|engines|registries|break-glass)/.test(op.path);

const withId = routes.filter((op) => hasId(op));

/** Ids that no fixture can make in a short test, each with its reason; a well-formed one that nobody has stands for it. */
const UNFILLED: Record<string, string> = {
  certificate_id: 'a certificate of erasure needs days of grace',
  shared_id: 'a publication needs an image that a machine has looked through: db/scheduler/jobs/test_environment_shared.c',
};

interface Side {
  tenant: any; api: Api; canary: string; ids: Record<string, string>; callers: Record<string, Api>; key: string;
}
let one: Side;
let two: Side;
let deleted: Api;
let platform: Api;
const nobody = api(ready, null);
let probes = 0;
let reserved = 200; // days from now

async function role(side: { api: Api }, name: string): Promise<Api> {
  if (name === 'compliance-officer') return (await makePerson(ready, side.api, name)).api;
  const user = must(await side.api.post('/v1/users', { name: `${name}-${Math.random()}`, roles: [name] }), 201);
  return api(ready, must(await side.api.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
}

async function makeSide(): Promise<Side> {
  const { tenant, api: admin } = await makeTenant(ready);
  const canary = `canary-${Math.random().toString(36).slice(2)}`;
  const ids: Record<string, string> = { tenant_id: tenant.tenant_id, name: canary, version: '1', resource: 'jobs', code: ready.zone, zone: ready.zone, class: 'default' };
  const user = must(await admin.post('/v1/users', { name: canary, roles: ['viewer'] }), 201);
  ids['user_id'] = user.user_id;
  const view = { list: '/v1/jobs', name: canary, query: `?q=${canary}`, shared: true };
  ids['view_id'] = must(await admin.post('/v1/views', view), 201).view_id;
  const hook = { name: canary, kind: 'webhook', url: `https://hooks.example/${canary}`, events: ['job-failed'] };
  ids['notification_id'] = must(await admin.post('/v1/notifications', hook), 201).notification_id;
  must(await admin.post(`/v1/notifications/${ids['notification_id']}/test`), 202);
  ids['delivery_id'] = must(await admin.get('/v1/notification-deliveries'), 200).data[0].delivery_id;
  ids['binding_id'] = must(await admin.get(`/v1/role-bindings?user_id=${user.user_id}`), 200).data[0].binding_id;
  ids['token_id'] = must(await admin.post('/v1/api-tokens', { name: canary, user_id: user.user_id }), 201).token_id;
  const project = must(await admin.post('/v1/projects', { name: canary }), 201);
  ids['project_id'] = project.project_id;
  const dataset = must(await admin.post('/v1/datasets', { name: canary, label_column: 'label', classes: 10, project_id: project.project_id }), 201);
  ids['dataset_id'] = dataset.dataset_id;
  const csv = readFileSync(resolve(process.env['FALAJ_SRC'] ?? '../..', 'datasets/digits/digits.csv'), 'utf8');
  must(await admin.post(`/v1/datasets/${dataset.dataset_id}/versions`, undefined, { raw: csv, headers: { 'content-type': 'text/csv' } }), 201);
  const key = `shared-key-${canary}`;
  const spec = { dataset_id: dataset.dataset_id, epochs: 2, hidden: [8] };
  const job = must(await admin.post('/v1/jobs', { name: canary, kind: 'train', spec, project_id: project.project_id }, { key }), 201);
  ids['job_id'] = job.job_id;
  const task = { name: canary, kind: 'noop', pool: 'no-machines', project_id: project.project_id };
  ids['array_id'] = must(await admin.post('/v1/arrays', { array: '0-1%1', job: task }), 201).array_id;
  const done = await waitJob(admin, job.job_id);
  expect(done.state, done.message).toBe('COMPLETED');
  ids['model_id'] = must(await admin.post('/v1/models', { name: canary, job_id: job.job_id }), 201).model_id;
  ids['deployment_id'] = must(await admin.post('/v1/deployments', { name: canary, model_id: ids['model_id'] }), 201).deployment_id;
  await makeZone(ready, 'ae-iso-2');
  ids['policy_id'] = must(await admin.post('/v1/transfer-policies', { from_zone: ready.zone, to_zone: 'ae-iso-2', data_class: 'personal', purpose: 'any',
    legal_basis: 'contract', document_sha256: 'a'.repeat(64), assessment_ref: canary, valid_until: new Date(Date.now() + 86_400_000).toISOString() }), 201).policy_id;
  const invited = must(await admin.post('/v1/invitations', { name: `${canary}-guest`, roles: ['viewer'] }), 201);
  const password = 'a heron by the water wheel';
  must(await nobody.post('/v1/auth/invitations/accept', { token: invited.token, password }), 200);
  ids['session_id'] = must(await nobody.post('/v1/auth/login', { tenant: tenant.name, name: `${canary}-guest`, password }), 200).session_id;
  ids['invitation_id'] = must(await admin.post('/v1/invitations', { name: `${canary}-late`, roles: ['viewer'] }), 201).invitation_id;
  ids['issuer_id'] = must(await admin.post('/v1/issuers', { name: 'walled', issuer: 'https://i.example', audience: canary, algorithms: ['RS256'],
    jwks_uri: 'https://i.example/k' }), 201).issuer_id;
  ids['provider_id'] = must(await admin.post('/v1/identity-providers', { name: 'walled', issuer: 'https://i.example', client_id: canary }), 201).provider_id;
  ids['group_id'] = must(await admin.post('/scim/v2/Groups', { displayName: canary, members: [{ value: ids['user_id'] }] }), 201).id;
  ids['join_token_id'] = must(await platform.post('/v1/join-tokens', { zone: ready.zone, node_name: 'nobody' }), 201).join_token_id;
  const [machine] = must(await platform.get('/v1/nodes'), 200).data;
  const from_at = new Date(Date.now() + reserved++ * 86_400_000).toISOString();
  const kept = { purpose: 'maintenance', nodes: [machine.node_id], from_at };
  const until_at = new Date(Date.parse(kept.from_at) + 3_600_000).toISOString();
  ids['reservation_id'] = must(await platform.post('/v1/reservations', { ...kept, until_at }), 201).reservation_id;
  const engine = { name: `walled-${reserved}`, zone: ready.zone, address: 'unix:/nowhere/s' };
  const registry = { zone: ready.zone, host: `registry-${Math.random().toString(36).slice(2)}.example` };
  ids['registry_id'] = must(await platform.post('/v1/registries', registry), 201).registry_id;
  ids['engine_id'] = must(await platform.post('/v1/engines', engine), 201).engine_id;
  must(await admin.post(`/v1/keys/${ready.zone}/rotate`, {}), 200 + (await rotated()));
  const asked = await admin.post(`/v1/keys/${ready.zone}/versions/1/destroy`, { reason: canary });
  ids['approval_id'] = must(asked, 202).approval_id;
  ids['node_id'] = must(await platform.get('/v1/nodes'), 200).data[0].node_id;
  const archive = must(await admin.post('/v1/datasets', { name: `${canary}-image`, target: 'none' }), 201).dataset_id;
  const raw = image([{ name: 'etc/os-release', text: canary }]).bytes as any;
  const headers = { 'content-type': 'application/octet-stream' };
  must(await admin('POST', `/v1/datasets/${archive}/versions?format=oci`, { raw, headers }), 201);
  const imported = { name: canary, dataset_id: archive, pool: 'nowhere' };
  ids['environment_id'] = must(await admin.post('/v1/environments', imported), 201).environment_id;
  const public_key_pem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  ids['key_id'] = must(await admin.post('/v1/environment-keys', { name: canary, public_key_pem }), 201).key_id;
  const callers: Record<string, Api> = { 'tenant-admin': admin };
  for (const name of ['ml-engineer', 'viewer', 'compliance-officer', 'service-account']) callers[name] = await role({ api: admin }, name);
  const clock = { kind: 'access', zone: ready.zone, reference: canary, due_at: new Date(Date.now() + 86_400_000).toISOString() };
  ids['clock_id'] = must(await callers['compliance-officer']!.post('/v1/legal-clocks', clock), 201).clock_id;
  const side = { tenant, api: admin, canary, ids, callers, key };
  await provision(side);
  return side;
}

/** The same body with the optional members that samples leave out: own ids and currencies. */
function enrich(schema: Schema | undefined, plain: any, side: Side): any {
  const body = { ...plain };
  for (const [name, given] of Object.entries(schema?.properties ?? {})) {
    const pattern = deref(doc, given).pattern ?? '';
    const prefix = /^\^?([a-z]{2,5})_\[0-9a-f\]/.exec(pattern)?.[1];
    const own = prefix && Object.values(side.ids).find((v) => v.startsWith(`${prefix}_`));
    if (own) body[name] = own;
    else if (/^\^\[A-Z\]\{3\}/.test(pattern)) body[name] = 'AED';
  }
  return body;
}

/** An id that nobody taught the fixture: the newest of its list, else one made by a request that fits the contract. */
async function provision(side: Side): Promise<void> {
  for (const op of withId) {
    const last = /^(.*)\/\{([a-z_]+_id)\}/.exec(op.path);
    if (!last || side.ids[last[2]!] || last[1]!.includes('{')) continue;
    const [, collection, name] = last as unknown as [string, string, string];
    const post = routes.find((x) => x.method === 'POST' && x.path === collection);
    const list = routes.find((x) => x.method === 'GET' && x.path === collection);
    for (const caller of Object.values(side.callers)) {
      const plain: any = post && sample(doc, jsonBody(doc, post) ?? {});
      let made = post && (await caller.post(collection, plain));
      if (post && made!.status >= 400) made = await caller.post(collection, enrich(jsonBody(doc, post), plain, side));
      const listed = list && (await caller.get(collection));
      const id = made?.json?.[name] ?? listed?.json?.data?.[0]?.[name];
      if (typeof id === 'string') side.ids[name] = id;
      if (side.ids[name]) break;
    }
  }
}

/** What the rotation of a key answers with, from the contract. */
async function rotated(): Promise<number> {
  const responses = Object.keys((doc.paths['/v1/keys/{zone}/rotate'] as any).post.responses);
  return Number(responses.find((s) => s.startsWith('2'))) - 200;
}

/** A tenant whose deletion two officers have approved; its administrator's token lives. */
async function makeDeleted(): Promise<Api> {
  const { tenant, api: gone } = await makeTenant(ready);
  const officers = [await role({ api: platform }, 'compliance-officer'), await role({ api: platform }, 'compliance-officer')];
  const asked = must(await platform.post(`/v1/tenants/${tenant.tenant_id}/delete`, { reason: 'the contract ended' }), 202);
  for (const officer of officers) must(await officer.post(`/v1/approvals/${asked.approval_id}/approve`, {}), 200);
  expect(must(await platform.get(`/v1/tenants/${tenant.tenant_id}`), 200).state).toBe('DELETING');
  await eventually('nobody of it is served', async () => (await gone.get('/v1/me')).status !== 200);
  return gone;
}

beforeAll(async () => {
  platform = api(ready, ready.admin_token);
  one = await makeSide();
  two = await makeSide();
  deleted = await makeDeleted();
});

const absentOf = (name: string, value: string): string => {
  if (/_[0-9a-f]{32}$/.test(value)) return value.replace(/[0-9a-f]{32}$/, 'f'.repeat(32));
  return name === 'name' ? 'no-such-thing' : value;
};

function fill(op: Operation, from: Record<string, string>, absent: boolean): string {
  const asked = op.parameters.filter((p) => p.in === 'query' && p.required).map((p) => `${p.name}=${String(sample(doc, p.schema ?? {}))}`);
  return (asked.length ? `${op.path}?${asked.join('&')}` : op.path).replace(/\{([a-z_]+)\}/g, (_, name: string) => {
    const pattern = op.parameters.find((p) => p.in === 'path' && p.name === name)?.schema?.pattern ?? '';
    const prefix = /^\^?([a-z]{2,5})_\[0-9a-f\]/.exec(pattern)?.[1];
    const id = from[name] ?? (UNFILLED[name] && prefix ? `${prefix}_${'e'.repeat(32)}` : undefined);
    if (!id) throw new Error(`the fixture has no ${name}: teach it, so that ${op.path} is probed`);
    return absent ? absentOf(name, id) : id;
  });
}

function comparable(reply: Reply): string {
  const copy = { ...(reply.json ?? {}) };
  delete copy.instance;
  delete copy.request_id;
  return `${reply.status} ${JSON.stringify(copy)}`;
}

/** A problem repeats the path that was asked for, names and all: that is the caller's own word. */
function clean(reply: Reply, canary: string, what: string): void {
  probes++;
  const own = JSON.stringify(reply.json?.instance ?? null);
  const said = reply.text.replace(own, '');
  expect(said.includes(canary), `${what} shows what is another tenant's: ${said.slice(0, 200)}`).toBe(false);
}

/** So many at once as the harness has connections. */
async function each<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(Array.from({ length: 12 }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  }));
}

function optionsFor(op: Operation, headers: Record<string, string>, key?: string): Options {
  const schema = jsonBody(doc, op);
  const type = Object.keys(op.requestBody?.content ?? {}).find((t) => t === 'text/csv' || t === 'application/octet-stream');
  const base: Options = key === undefined ? { headers } : { headers, key };
  if (schema) return { ...base, body: sample(doc, schema) };
  return type ? { ...base, raw: 'label\n1\n', headers: { ...headers, 'content-type': type } } : base;
}

/** Every way in besides the plain one; each must change nothing. */
const ways = (victim: Side): [string, Record<string, string>, string?][] => [
  ['plain', {}], ['any ETag', { 'if-match': '*' }], ['a matching ETag', { 'if-match': '"v1"' }], ['conditionally', { 'if-none-match': '"v1"' }],
  ["the victim's Idempotency-Key", {}, victim.key], ['a range', { range: 'bytes=0-1' }], ["the victim's tenant in a header", { 'x-tenant-id': victim.ids['tenant_id']! }],
  ['a forwarded address', { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' }], ['a method override', { 'x-http-method-override': 'GET' }],
];

const titled = (list: Operation[]) => list.map((op) => [`${op.method} ${op.path}`, op] as const);

describe("another tenant's ids", () => {
  test.each(titled(withId))('%s', async (_name, op) => {
    const cases: { who: string; caller: Api; victim: Side; way: string; options: Options }[] = [];
    for (const [attacker, victim] of [[one, two], [two, one]] as const)
      for (const [way, headers, key] of ways(victim)) {
        for (const [who, caller] of Object.entries(attacker.callers)) cases.push({ who, caller, victim, way, options: optionsFor(op, headers, key) });
        if (!isShared(op)) cases.push({ who: 'platform-admin', caller: platform, victim, way, options: optionsFor(op, headers, key) });
      }
    await each(cases, async ({ who, caller, victim, way, options }) => {
      const what = `${who}, ${way}: ${op.method} ${op.path}`;
      // A machine or a zone is seen by whoever may: only what it shows is looked at, and nothing is done to it.
      if (isShared(op) && op.method !== 'GET' && !op.path.startsWith('/v1/tenants')) return;
      const theirs = await caller(op.method, fill(op, victim.ids, false), options);
      clean(theirs, victim.canary, what);
      if (isShared(op) && !op.path.startsWith('/v1/tenants')) return;
      const isEmpty = theirs.status === 200 && Array.isArray(theirs.json?.data) && theirs.json.data.length === 0;
      if (!isEmpty) expect([400, 403, 404, 405, 412, 422, 428], `${what}: ${theirs.status} ${theirs.text.slice(0, 200)}`).toContain(theirs.status);
      const nobodys = await caller(op.method, fill(op, victim.ids, true), options);
      expect(comparable(theirs), `${what}: another tenant's id must look like an absent one`).toBe(comparable(nobodys));
    });
  });
});

describe('nobody, and a tenant that is being deleted', () => {
  test.each(titled(routes))('%s', async (_name, op) => {
    const from = { ...one.ids };
    for (const [who, caller, allowed] of [['nobody', nobody, [401]], ['deleted', deleted, [401, 403]]] as const) {
      const reply = await caller(op.method, fill(op, from, false), optionsFor(op, { 'if-match': '*' }));
      clean(reply, one.canary, `${who}: ${op.method} ${op.path}`);
      expect(allowed as readonly number[], `${who}: ${reply.status} ${reply.text.slice(0, 200)}`).toContain(reply.status);
      const other = await caller(op.method, fill(op, from, true), optionsFor(op, { 'if-match': '*' }));
      expect(comparable(reply)).toBe(comparable(other));
      probes++;
    }
  });
});

describe('lists', () => {
  const lists = routes.filter((op) => op.method === 'GET' && !op.path.includes('{'));
  test.each(titled(lists))('%s', async (_name, op) => {
    const queries = ['', '?page_size=200'];
    for (const p of op.parameters.filter((x) => x.in === 'query')) {
      const schema = p.schema ?? {};
      if (schema.enum) for (const value of schema.enum) queries.push(`?${p.name}=${encodeURIComponent(String(value))}`);
      for (const side of [one, two]) {
        const byName = side.ids[p.name] ?? (p.name === 'requested_by' ? side.ids['user_id'] : undefined);
        queries.push(`?${p.name}=${encodeURIComponent(byName ?? side.canary)}`);
      }
    }
    const cases = [one, two].flatMap((attacker) => Object.values(attacker.callers).flatMap((caller) => queries.map((query) => ({ attacker, caller, query }))));
    await each(cases, async ({ attacker, caller, query }) => {
      const victim = attacker === one ? two : one;
      // What the query itself says may come back in an error's words; the canary of a filter is not data.
      const reply = await caller.get(op.path + query);
      probes++;
      const shown = reply.status === 200 ? reply.text : '';
      expect(shown.includes(victim.canary), `${op.path}${query} shows what is another tenant's: ${shown.slice(0, 300)}`).toBe(false);
    });
  });

  test('a page token of one tenant is worthless for another', async () => {
    for (let i = 0; i < 2; i++) must(await one.api.post('/v1/users', { name: `${one.canary}-${i}` }), 201);
    const token = must(await one.api.get('/v1/users?page_size=1'), 200).next_page_token;
    expect(token).toBeTruthy();
    const reply = await two.api.get(`/v1/users?page_size=1&page_token=${token}`);
    expect(reply.status).toBe(400);
    clean(reply, one.canary, 'page token');
  });
});

/** Members of a body that are ids, with the pointer to each. */
function idsIn(schema: Schema | undefined, path: string[] = []): { path: string[]; prefix: string }[] {
  if (!schema || path.length > 4) return [];
  const s = deref(doc, schema);
  const prefix = /^\^?([a-z]{2,5})_\[0-9a-f\]/.exec(s.pattern ?? '')?.[1];
  if (prefix) return [{ path, prefix }];
  return Object.entries(s.properties ?? {}).flatMap(([name, sub]) => idsIn(sub, [...path, name]));
}

function put(body: any, path: string[], value: string): any {
  const copy = structuredClone(body ?? {});
  let at = copy;
  for (const name of path.slice(0, -1)) at = at[name] ??= {};
  at[path[path.length - 1]!] = value;
  return copy;
}

/** What keeps the id it is given as a word, without asking whose it is: nothing is learned by that, and nothing is done. */
const FREE: Record<string, string> = {
  '/v1/jobs:check': 'a refusal is an answer there: see the test of a check below',
  '/v1/audit/hmac-test': 'answers how an id would be sealed in the own log', '/v1/audit/holds': 'a hold names whom it is about, who may be gone',
};

describe('foreign keys in bodies', () => {
  const bodies = routes.filter((op) => idsIn(jsonBody(doc, op)).length > 0 && !isShared(op));
  test.each(titled(bodies))('%s', async (_name, op) => {
    for (const [attacker, victim] of [[one, two], [two, one]] as const)
      for (const { path, prefix } of idsIn(jsonBody(doc, op))) {
        const id = Object.values(victim.ids).find((v) => v.startsWith(`${prefix}_`));
        if (!id) continue;
        const body = sample(doc, jsonBody(doc, op)!);
        await each(Object.entries(attacker.callers), async ([who, caller]) => {
          const what = `${who}: ${op.method} ${op.path} with ${path.join('.')} of another tenant`;
          const own = fill(op, attacker.ids, false);
          const theirs = await caller(op.method, own, { body: put(body, path, id), headers: { 'if-match': '*' } });
          const nobodys = await caller(op.method, own, { body: put(body, path, absentOf('', id)), headers: { 'if-match': '*' } });
          clean(theirs, victim.canary, what);
          if (FREE[op.path]) return expect(theirs.status, what).toBe(nobodys.status);
          expect(comparable(theirs), what).toBe(comparable(nobodys));
          expect(theirs.status, `${what}: ${theirs.text.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
          expect(theirs.status, `${what}: ${theirs.text.slice(0, 200)}`).toBeLessThan(500);
        });
      }
  });
  test("a check of a job in another tenant's project, or over its data", async () => {
    const ask = (over: object) => two.api.post('/v1/jobs:check', { name: 'x', kind: 'noop', ...over });
    for (const [id, body] of [[one.ids['project_id']!, (v: string) => ({ project_id: v })],
      [one.ids['dataset_id']!, (v: string) => ({ kind: 'train', spec: { dataset_id: v } })]] as const) {
      const theirs = await ask(body(id));
      expect(must(theirs, 200).verdict, theirs.text).toBe('not_found');
      expect(comparable(theirs)).toBe(comparable(await ask(body(absentOf('', id)))));
      clean(theirs, one.canary, id);
    }
  });
  test("a job and a batch over another tenant's data set", async () => {
    const job = { name: 'x', kind: 'train', spec: { dataset_id: one.ids['dataset_id'] } };
    const single = await two.api.post('/v1/jobs', job);
    expect(single.status, single.text).toBe(404);
    clean(single, one.canary, 'job');
    const batch = await two.api.post('/v1/jobs:batch', { jobs: [job] });
    clean(batch, one.canary, 'batch');
    expect(batch.json.data?.[0]?.code ?? batch.json.code).toBe('not_found');
  });
});

test('an Idempotency-Key of one tenant replays nothing for another', async () => {
  const first = must(await one.api.post('/v1/jobs', { name: 'same', kind: 'noop' }, { key: `k-${one.canary}` }), 201);
  const second = await two.api.post('/v1/jobs', { name: 'same', kind: 'noop' }, { key: `k-${one.canary}` });
  expect(second.status).toBe(201);
  expect(second.json.job_id).not.toBe(first.job_id);
  expect(second.headers.get('idempotency-replayed')).toBeNull();
});

test('enough was probed', () => {
  console.log(`${probes} probes`);
  expect(probes).toBeGreaterThan(5000);
});
