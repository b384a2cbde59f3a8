// SPDX-License-Identifier: Apache-2.0
// mainjob.test.ts - the main job over HTTP as a client lives it: upload, train and watch, register, deploy, infer, cancel; and
// what every call keeps on the way: a repeat has no second effect, what has not changed is not sent. Other rules: calls.test.ts.
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, events, train, until, upload } from './client.ts';
import { fetchDocument, isWorkerRoute, operations } from './contract.ts';
import { api, idempotencyKey, makePerson, makeTenant, makeZone, must, problemOf, waitJob, type Api, type Ready } from './harness.ts';
import { image } from './image.ts';

const ready: Ready = inject('falaj');
const admin: Api = api(ready, ready.admin_token);
let t: { tenant: any; token: string; api: Api };
let officer: Api;
let datasetId: string;
let done: any;      // a completed training job
let modelId: string;

beforeAll(async () => {
  t = await makeTenant(ready);
  officer = (await makePerson(ready, t.api, 'compliance-officer')).api;
  datasetId = (await upload(t.api, digitsCsv, 'digits')).dataset_id;
  done = await train(t.api, datasetId);
  modelId = must(await t.api.post('/v1/models', { name: 'digits', job_id: done.job_id }), 201).model_id;
});

describe('an upload', () => {
  const bad: [string, string, RegExp][] = [
    ['a word among numbers', 'a,b,label\n1,2,0\n3,oops,1\n', /row 3, column 2\b/],
    ['a label that is no class', 'a,b,label\n1,2,0\n3,4,7\n', /row 3, column 3\b/],
    ['a row too short', 'a,b,label\n1,2,0\n3,4\n', /row 3 has 2 columns/],
    ['a row too long', 'a,b,label\n1,2,0,9\n', /row 2 has more columns/],
    ['an empty field', 'a,b,label\n,2,0\n', /row 2, column 1\b/],
    ['an open quote', 'a,b,label\n"1,2,0\n', /row 2, column 1\b/],
    ['no label column', 'a,b,c\n1,2,0\n', /label/],
    ['no rows', 'a,b,label\n', /no data row/],
  ];
  test.each(bad)('with %s is refused where it is wrong, and nothing is stored', async (_name, csv, where) => {
    const set = must(await t.api.post('/v1/datasets', { name: `bad-${Math.random().toString(36).slice(2)}`, label_column: 'label', classes: 2 }), 201);
    const used = async () => must(await t.api.get('/v1/quotas'), 200).data.map((q: any) => `${q.resource} ${q.used}`);
    const before = await used();
    const reply = await t.api.post(`/v1/datasets/${set.dataset_id}/versions`, undefined, { raw: csv, headers: { 'content-type': 'text/csv' } });
    expect(reply.status, reply.text).toBe(422);
    problemOf(reply);
    expect(reply.json.detail).toMatch(where);
    expect(must(await t.api.get(`/v1/datasets/${set.dataset_id}/versions`), 200).data).toEqual([]);
    expect(await used()).toEqual(before);
  });

  test('comes back byte for byte, and says so by its digest', async () => {
    const [version] = must(await t.api.get(`/v1/datasets/${datasetId}/versions`), 200).data;
    const content = await t.api.get(`/v1/datasets/${datasetId}/versions/1/content`);
    expect(content.status).toBe(200);
    expect(content.text).toBe(digitsCsv);
    expect(content.headers.get('etag')).toBe(`"sha256:${version.sha256}"`);
    expect(version).toMatchObject({ version: 1, column_count: 64, size_bytes: digitsCsv.length, zone: ready.zone });
  });
});

describe('a training job', () => {
  test('is watched live to its end, and the stream resumes after any event', async () => {
    const job = must(await t.api.post('/v1/jobs', { name: 'watched', kind: 'train', spec: { dataset_id: datasetId, hidden: [16], epochs: 6, seed: 7 } }), 201);
    const all = await events(ready, t.token, job.job_id);
    const kinds = new Set(all.map((e) => e.event));
    for (const kind of ['state', 'log', 'metric', 'end']) expect([...kinds], kind).toContain(kind);
    expect(all.at(-1)!.event).toBe('end');
    expect(all.at(-1)!.data.state).toBe('COMPLETED');
    expect(all.filter((e) => e.event === 'state').map((e) => e.data.state)).toEqual(['PENDING', 'ADMITTED', 'STARTING', 'RUNNING', 'COMPLETED']);
    expect(all.filter((e) => e.event === 'metric').length).toBeGreaterThanOrEqual(6);
    for (const e of all) expect(e.id).toMatch(/^s\d+,l\d+,m\d+$/);
    const keys = all.map((e) => e.event + JSON.stringify(e.data));
    expect(new Set(keys).size, 'no event is told twice').toBe(keys.length);
    for (const at of [0, Math.floor(all.length / 2), all.length - 2]) {
      const rest = await events(ready, t.token, job.job_id, all[at]!.id);
      const told = new Set([...keys.slice(0, at + 1), ...rest.map((e) => e.event + JSON.stringify(e.data))]);
      expect([...told].sort(), `resumed after event ${at}`).toEqual([...new Set(keys)].sort());
      expect(rest.length, `events after ${at}`).toBe(all.length - at - 1);
    }
  });

  test('learns, and its result, attempts, logs and metrics say how', async () => {
    expect(done.result.holdout_accuracy).toBeGreaterThan(0.85);
    const attempts = must(await t.api.get(`/v1/jobs/${done.job_id}/attempts`), 200).data;
    expect(attempts).toHaveLength(1);
    const metrics = must(await t.api.get(`/v1/jobs/${done.job_id}/metrics`), 200).data;
    const taken = metrics.filter((m: any) => Object.keys(m.values).some((name) => name.startsWith('system.')));
    expect(taken.length).toBeGreaterThanOrEqual(1);
    for (const m of taken) {
      expect(Object.keys(m.values).sort()).toEqual(['system.cpu_percent', 'system.memory_bytes']); // apart from what was learnt
      expect(m.values['system.cpu_percent']).toBeGreaterThan(0);
      expect(m.values['system.memory_bytes']).toBeGreaterThan(1 << 20);
      expect(m.values['system.memory_bytes']).toBeLessThan(2 ** 34);
    }
    const epochs = metrics.filter((m: any) => 'train_loss' in m.values);
    expect(epochs.map((m: any) => m.values.epoch)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const m of epochs) expect(m.step).toBe(m.values.step);
    const after = must(await t.api.get(`/v1/jobs/${done.job_id}/metrics?after=${metrics[2].metric_id}`), 200).data;
    expect(after.map((m: any) => m.metric_id)).toEqual(metrics.slice(3).map((m: any) => m.metric_id));
    expect(must(await t.api.get(`/v1/jobs/${done.job_id}/logs`), 200).data.length).toBeGreaterThan(0);
    const states = must(await t.api.get(`/v1/jobs/${done.job_id}/events`), 200).data.map((e: any) => e.state);
    expect(states).toEqual(['PENDING', 'ADMITTED', 'STARTING', 'RUNNING', 'COMPLETED']);
  });

  test('over a version that is not there is refused at once', async () => {
    const reply = await t.api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: datasetId, dataset_version: 99 } });
    expect([reply.status, problemOf(reply).code]).toEqual([404, 'not_found']);
  });
});

describe('a served model', () => {
  let path: string;
  let input: string;
  beforeAll(async () => {
    const d = must(await t.api.post('/v1/deployments', { name: 'digits', model_id: modelId }), 201);
    path = '/v2/models/digits';
    await until(() => t.api.get(`${path}/ready`), 200, 120_000);
    expect(must(await t.api.get(`/v1/deployments/${d.deployment_id}`), 200)).toMatchObject({ ready: true, state: 'ACTIVE' });
    const meta = must(await t.api.get(path), 200);
    input = meta.inputs[0].name;
    expect(meta.name).toBeTruthy();
  });

  const ask = (inputs: unknown, extra: Record<string, unknown> = {}) => t.api('POST', `${path}/infer`, { body: { id: 'a1', inputs, ...extra } });
  const tensor = (rows: number[][], over: Record<string, unknown> = {}) => [{ name: input, shape: [rows.length, 64], datatype: 'FP32', data: rows.flat(), ...over }];

  test('tells the digits', async () => {
    const rows = digitRows(100);
    const reply = must(await ask(tensor(rows.map((r) => r.features))), 200);
    expect(reply.id).toBe('a1');
    const label = reply.outputs.find((o: any) => o.data.length === 100)!;
    const hits = label.data.filter((v: number, i: number) => v === rows[i]!.label).length;
    expect(hits).toBeGreaterThan(85);
    must(await t.api('POST', `${path}/versions/1/infer`, { body: { inputs: tensor([rows[0]!.features]) } }), 200);
    expect((await t.api('POST', `${path}/versions/2/infer`, { body: { inputs: tensor([rows[0]!.features]) } })).status).toBe(404);
  });

  test('answers what it cannot read with {"error"}', async () => {
    const row = digitRows(1)[0]!.features;
    const bad: [string, unknown][] = [
      ['too few columns', tensor([row], { shape: [1, 63], data: row.slice(1) })], ['shape against data', tensor([row], { shape: [2, 64] })],
      ['no shape', [{ name: input, datatype: 'FP32', data: row }]], ['negative shape', tensor([row], { shape: [-1, 64] })],
      ['zero rows', tensor([row], { shape: [0, 64], data: [] })], ['huge shape', tensor([row], { shape: [4294967296, 64] })],
      ['overflowing shape', tensor([row], { shape: [9007199254740992, 9007199254740992] })],
      ['three dimensions', tensor([row], { shape: [1, 8, 8, 1, 1] })], ['words', tensor([row], { data: row.map(() => 'x') })],
      ['null', tensor([row], { data: row.map(() => null) })], ['type of another world', tensor([row], { datatype: 'BYTES' })],
      ['unknown input', tensor([row], { name: 'no-such-input' })], ['no inputs', []], ['inputs no list', 7], ['nested null', [null]],
    ];
    for (const [what, inputs] of bad) {
      const reply = await ask(inputs);
      expect([400, 422], `${what}: ${reply.status} ${reply.text.slice(0, 200)}`).toContain(reply.status);
      expect(Object.keys(reply.json), what).toEqual(['error']);
      expect(typeof reply.json.error).toBe('string');
    }
    for (const raw of ['', '{', '[]', '{"inputs":', '\u0000', '['.repeat(50_000)]) {
      const reply = await t.api('POST', `${path}/infer`, { raw });
      expect(reply.status, `${JSON.stringify(raw.slice(0, 20))}: ${reply.text}`).toBe(400);
      expect(Object.keys(reply.json)).toEqual(['error']);
    }
    expect(must(await ask(tensor([row])), 200).outputs.length).toBeGreaterThan(0);
  });

  test('tells how it answered lately', async () => {
    const [d] = must(await t.api.get('/v1/deployments'), 200).data;
    const read = async (): Promise<any> => must(await t.api.get(`/v1/deployments/${d.deployment_id}/stats`), 200);
    const before = await read(), row = digitRows(1)[0]!.features;
    for (let i = 0; i < 10; i++) must(await ask(tensor([row])), 200);
    for (let i = 0; i < 3; i++) expect([400, 422]).toContain((await ask([])).status);
    const after = await read();
    expect(after.windows.map((w: any) => w.minutes)).toEqual([5, 60]);
    const hour = (s: any): any => s.windows[1];
    expect(hour(after).requests - hour(before).requests).toBe(13);
    expect(hour(after).refused - hour(before).refused).toBe(3);
    expect(hour(after).errors).toBe(0);
    expect(hour(after).p50_ms).toBeGreaterThan(0);
    expect(hour(after).p95_ms).toBeGreaterThanOrEqual(hour(after).p50_ms);
    expect(hour(after).p99_ms).toBeGreaterThanOrEqual(hour(after).p95_ms);
    expect(hour(after).p99_ms).toBeLessThan(60_000);
    expect(hour(after).per_second).toBeGreaterThan(0);
    expect(Date.parse(after.since)).toBeLessThan(Date.now());
    // By the minute it is the same calls, without a minute left out; a minute with no good answer has no times.
    const each: any[] = after.per_minute;
    expect(each.reduce((n, m) => n + m.requests, 0)).toBe(hour(after).requests);
    expect(each.reduce((n, m) => n + m.refused, 0)).toBe(hour(after).refused);
    each.forEach((m, i) => {
      expect(Date.parse(m.at)).toBe(Date.parse(each[0].at) + i * 60_000);
      expect(m.p50_ms !== undefined).toBe(m.requests > m.errors + m.refused);
    });
    expect(each[0].requests).toBeGreaterThan(0);
    expect(each.some((m) => m.per_second > 0)).toBe(true);
    expect((await (await makeTenant(ready)).api.get(`/v1/deployments/${d.deployment_id}/stats`)).status).toBe(404);
  });

  test('is gone when its deployment is deleted', async () => {
    const [d] = must(await t.api.get('/v1/deployments'), 200).data;
    expect([200, 204]).toContain((await t.api.delete(`/v1/deployments/${d.deployment_id}`)).status);
    const reply = await until(() => t.api.get(`${path}/ready`), 404, 120_000);
    expect(Object.keys(reply)).toEqual(['error']);
    await waitJob(t.api, d.job_id, ['CANCELLED', 'COMPLETED']);
  });
});

describe('cancelling', () => {
  test('a waiting job ends at once; again is a conflict', async () => {
    const job = must(await t.api.post('/v1/jobs', { name: 'waits', kind: 'noop', pool: 'no-such-pool' }), 201);
    expect(must(await t.api.post(`/v1/jobs/${job.job_id}/cancel`), 200)).toMatchObject({ state: 'CANCELLED' });
    const again = await t.api.post(`/v1/jobs/${job.job_id}/cancel`);
    expect(again.status).toBe(409);
    problemOf(again);
    expect((await events(ready, t.token, job.job_id)).at(-1)!.data.state).toBe('CANCELLED');
  });

  test('a running job is stopped by its worker, and its slots and quota come back', async () => {
    const spec = { dataset_id: datasetId, hidden: [256, 256], epochs: 5000 };
    const job = must(await t.api.post('/v1/jobs', { name: 'long', kind: 'train', spec }), 201);
    await waitJob(t.api, job.job_id, ['RUNNING']);
    expect(must(await t.api.post(`/v1/jobs/${job.job_id}/cancel`), 200).cancel_requested).toBe(true);
    expect((await waitJob(t.api, job.job_id, ['CANCELLED'])).finished_at).toBeTruthy();
    const quotas = must(await t.api.get('/v1/quotas'), 200).data;
    for (const resource of ['jobs', 'slots']) expect(quotas.find((q: any) => q.resource === resource).used, resource).toBe(0);
  });
});

describe('a repeated call', () => {
  const word = (): string => `r-${Math.random().toString(36).slice(2)}`;
  type Case = { who?: Api; path?: string; body?: () => unknown; raw?: () => string; secret?: boolean };
  /** Every POST that creates; a route that is not here fails the last test. Erasures come before a hold forbids them. */
  const cases: Record<string, () => Promise<Case>> = {
    '/v1/zones': async () => ({ who: admin, body: () => ({ code: word(), name: 'Z', country: 'AE' }) }),
    '/v1/tenants': async () => ({ who: admin, secret: true, body: () => ({ name: word(), home_zone: ready.zone }) }),
    '/v1/users': async () => ({ body: () => ({ name: word() }) }),
    '/v1/role-bindings': async () => {
      const make = async () => must(await t.api.post('/v1/users', { name: word() }), 201).user_id;
      const ids = [await make(), await make()];
      return { body: () => ({ user_id: ids.pop(), role: 'viewer' }) };
    },
    '/v1/api-tokens': async () => ({ secret: true, body: () => ({ name: word() }) }),
    '/v1/datasets': async () => ({ body: () => ({ name: word(), label_column: 'label', classes: 2 }) }),
    '/v1/datasets/{dataset_id}/versions': async () => {
      const set = must(await t.api.post('/v1/datasets', { name: word(), label_column: 'label', classes: 2 }), 201);
      let n = 0;
      return { path: `/v1/datasets/${set.dataset_id}/versions`, raw: () => `a,label\n${++n},0\n2,1\n` };
    },
    '/v1/uploads': async () => {
      const set = must(await t.api.post('/v1/datasets', { name: word(), label_column: 'label', classes: 2 }), 201);
      let n = 0;
      return { body: () => ({ dataset_id: set.dataset_id, size_bytes: ++n }) };
    },
    '/v1/jobs': async () => ({ body: () => ({ name: word(), kind: 'noop' }) }),
    '/v1/jobs:batch': async () => ({ body: () => ({ jobs: [{ name: word(), kind: 'noop' }, { name: word(), kind: 'noop' }] }) }),
    '/v1/arrays': async () => ({ body: () => ({ array: '0-1', job: { name: word(), kind: 'noop' } }) }),
    '/v1/models': async () => ({ body: () => ({ name: word(), job_id: done.job_id }) }),
    '/v1/deployments': async () => ({ body: () => ({ name: word(), model_id: modelId }) }),
    '/v1/projects': async () => ({ body: () => ({ name: word() }) }),
    '/v1/secrets': async () => ({ body: () => ({ name: word() }) }),
    '/v1/environments': async () => {
      const set = must(await t.api.post('/v1/datasets', { name: word(), target: 'none' }), 201).dataset_id;
      const raw = image([{ name: 'etc/os-release', text: 'ID=tiny' }]).bytes as any;
      must(await t.api('POST', `/v1/datasets/${set}/versions?format=oci`, { raw, headers: {
        'content-type': 'application/octet-stream' } }), 201);
      return { body: () => ({ name: word(), dataset_id: set, pool: 'nowhere' }) };
    },
    '/v1/environment-keys': async () => ({ body: () => ({ name: word(),
      public_key_pem: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) }) }),
    '/v1/notifications': async () => ({
      secret: true, body: () => ({ name: word(), kind: 'webhook', url: 'https://hooks.example/x', events: ['job-failed'] }) }),
    '/v1/queues': async () => ({ body: () => ({ name: word() }) }),
    '/v1/views': async () => ({ body: () => ({ list: '/v1/jobs', name: word(), query: '?state=FAILED' }) }),
    '/v1/invitations': async () => ({ secret: true, body: () => ({ name: word(), roles: ['viewer'] }) }),
    '/v1/service-accounts': async () => ({ body: () => ({ name: word() }) }),
    '/v1/service-accounts/{user_id}/tokens': async () => {
      const account = must(await t.api.post('/v1/service-accounts', { name: word() }), 201);
      return { path: `/v1/service-accounts/${account.user_id}/tokens`, secret: true, body: () => ({ name: word() }) };
    },
    '/v1/join-tokens': async () => ({ who: admin, secret: true, body: () => ({ zone: ready.zone, node_name: word() }) }),
    '/v1/budgets': async () => ({ body: () => ({ name: word(), measure: 'gpu_hours', amount: 1000, period: 'total' }) }),
    '/v1/reservations': async () => {
      const [node] = must(await admin.get('/v1/nodes'), 200).data;
      let day = 300;
      const at = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
      const nodes = [node.node_id];
      return { who: admin, body: () => ({ purpose: 'maintenance', nodes, from_at: at(++day), until_at: at(day + 0.5) }) };
    },
    '/v1/registries': async () => ({ who: admin, body: () => ({ zone: ready.zone, host: `${word()}.example` }) }),
    '/v1/engines': async () => ({ who: admin, body: () => ({ name: word(), zone: ready.zone, address: 'unix:/nowhere/s' }) }),
    '/v1/prices': async () => ({ who: admin, body: () => ({ flavor: word(), currency: 'AED', slot_hour: 1 }) }),
    '/v1/quota-rules': async () => ({ body: () => ({ place: 'queue', queue: word(), resource: 'slots', nominal: 0 }) }),
    '/v1/tenants/{tenant_id}/quota-rules': async () => ({ who: admin, path: `/v1/tenants/${t.tenant.tenant_id}/quota-rules`, body: () => ({ resource: 'gpus', flavor: word(), nominal: 1 }) }),
    '/v1/issuers': async () => ({ body: () => ({ name: word(), issuer: `https://${word()}.example`, audience: word(), algorithms: ['ES256'], jwks_uri: 'https://keys.example/jwks' }) }),
    '/v1/identity-providers': async () => ({ body: () => ({ name: word(), issuer: `https://${word()}.example`, client_id: 'falaj', client_secret: 'a secret of the provider' }) }),
    '/v1/audit/erasures': async () => {
      const ids = [must(await t.api.post('/v1/users', { name: word() }), 201).user_id, must(await t.api.post('/v1/users', { name: word() }), 201).user_id];
      return { who: officer, body: () => ({ user_id: ids.pop() }) };
    },
    '/v1/audit/holds': async () => ({ who: officer, body: () => ({ reason: word(), from: '2001-01-01T00:00:00Z', to: '2001-01-02T00:00:00Z' }) }),
    '/v1/legal-clocks': async () => {
      const term = { opened_at: '2026-01-01T00:00:00Z', due_at: '2026-02-01T00:00:00Z' };
      return { who: officer, body: () => ({ kind: 'access', zone: ready.zone, reference: word(), ...term }) };
    },
    '/v1/transfer-policies': async () => {
      const to = word();
      await makeZone(ready, to);
      return { body: () => ({ from_zone: ready.zone, to_zone: to, data_class: 'internal', purpose: word(), legal_basis: 'contract', document_sha256: 'a'.repeat(64),
        assessment_ref: 'DPIA-1', valid_until: new Date(Date.now() + 86_400_000).toISOString() }) };
    },
    '/v1/keys/{zone}/rotate': async () => {
      const bodies: unknown[] = [{}, { tier: 'wrapped' }];
      return { path: `/v1/keys/${ready.zone}/rotate`, body: () => bodies.pop() };
    },
  };
  /** What cannot be made twice from two bodies, and the test that makes it once. */
  const elsewhere: Record<string, string> = {
    '/v1/tenants/{tenant_id}/shared-environments': 'db/scheduler/jobs/test_environment_shared.c',
    '/v1/jobs/{job_id}/inside': 'e2e/inside.py', '/v1/api-tokens/{token_id}/rotate': 'tokens.test.ts', '/v1/keys/{zone}/import': 'db/registry/vault/test_key_life.c', '/v1/datasets/{dataset_id}/versions/{version}/transfer': 'residency.test.ts',
  };
  const time = (o: any): unknown => JSON.parse(JSON.stringify(o, (k, v) => (['state', 'reason', 'message', 'version', 'fence', 'started_at', 'finished_at', 'result'].includes(k) ? undefined : v)));

  test.each(Object.keys(cases))('POST %s keeps its promise', async (route) => {
    const c = await cases[route]!();
    const who = c.who ?? t.api;
    const one = c.raw ? { raw: c.raw(), headers: { 'content-type': 'text/csv' } } : { body: c.body!() };
    const two = c.raw ? { raw: c.raw(), headers: { 'content-type': 'text/csv' } } : { body: c.body!() };
    const path = c.path ?? route;
    const missing = await who('POST', path, { ...one, key: false });
    expect(problemOf(missing).code).toBe('idempotency_key_missing');
    expect(missing.status).toBe(400);
    const key = idempotencyKey();
    const first = await who('POST', path, { ...one, key });
    expect(first.status, first.text).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const again = await who('POST', path, { ...one, key });
    if (c.secret) {
      expect(again.status, again.text).toBe(409);
      expect(again.text).not.toContain('flj_');
    } else {
      expect(again.status, again.text).toBe(201);
      expect(again.headers.get('idempotency-replayed'), route).toBe('true');
      expect(time(again.json)).toEqual(time(first.json));
    }
    const reused = await who('POST', path, { ...two, key });
    expect(reused.status, reused.text).toBe(422);
    expect(problemOf(reused).code).toBe('idempotency_key_reused');
    const fresh = await who('POST', path, { ...two, key: idempotencyKey() });
    expect(fresh.status, fresh.text).toBe(201);
    if (route === '/v1/deployments') for (const d of [first, fresh]) await who.delete(`/v1/deployments/${d.json.deployment_id}`);
  });

  test('ten at once with one key have one effect', async () => {
    for (const [path, body, id] of [['/v1/jobs', { name: 'ten', kind: 'noop' }, 'job_id'], ['/v1/users', { name: word() }, 'user_id']] as const) {
      const key = idempotencyKey();
      const replies = await Promise.all(Array.from({ length: 10 }, () => t.api.post(path, body, { key })));
      const made = replies.filter((r) => r.status === 201);
      expect(made.length).toBeGreaterThan(0);
      for (const r of replies) expect([201, 409], r.text).toContain(r.status);
      expect(new Set(made.map((r) => r.json[id])).size, path).toBe(1);
    }
  });

  test('every POST that creates was tried', async () => {
    const creating = operations(await fetchDocument(ready)).filter((op) => op.method === 'POST' && op.path.startsWith('/v1/') && !isWorkerRoute(op) && '201' in op.responses);
    expect(creating.map((op) => op.path).sort()).toEqual([...Object.keys(cases), ...Object.keys(elsewhere)].sort());
  });
});

describe('conditions', () => {
  test('If-None-Match saves the body of what has not changed', async () => {
    for (const path of [`/v1/jobs/${done.job_id}`, `/v1/models/${modelId}`]) {
      const reply = await t.api.get(path);
      const tag = reply.headers.get('etag')!;
      expect(tag, path).toMatch(/^"v\d+"$/);
      const same = await t.api.get(path, { headers: { 'if-none-match': tag } });
      expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', tag]);
      expect((await t.api.get(path, { headers: { 'if-none-match': '"v0"' } })).status).toBe(200);
      expect((await t.api.get(path, { headers: { 'if-none-match': `"v0", ${tag}` } })).status, 'a list of tags').toBe(304);
      expect((await t.api.get(path, { headers: { 'if-none-match': `W/${tag}` } })).status, 'weak comparison').toBe(304);
      expect((await t.api.get(path, { headers: { 'if-none-match': '*' } })).status, 'any').toBe(304);
    }
  });
});
