// SPDX-License-Identifier: Apache-2.0
// job_forecast.test.ts - what a check says is what a submission gets, at that moment; and why a job waits, in numbers.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, makeZone, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let tenant: Api;
let id: string;
const any = { headers: { 'if-match': '*' } };
const job = (over = {}) => ({ name: 'asked', kind: 'noop', spec: {}, ...over });

const check = async (body: unknown): Promise<any> => must(await tenant('POST', '/v1/jobs:check', { body }), 200);

/** Checks, then submits the same: the two must say the same. Returns both. */
async function both(body: unknown): Promise<{ checked: any; submitted: any }> {
  const checked = await check(body);
  const reply = await tenant.post('/v1/jobs', body);
  if (reply.status === 201) {
    expect(checked).toMatchObject({ verdict: 'ok', errors: [] });
  } else {
    const problem = problemOf(reply);
    expect(checked.verdict).toBe(problem.code);
    expect(checked.detail).toBe(reply.json.detail);
    expect(checked.errors).toEqual(problem.errors);
  }
  return { checked, submitted: reply };
}

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  const made = await makeTenant(ready);
  tenant = made.api;
  id = made.tenant.tenant_id;
  await makeZone(ready, 'ae-far-9');
});

describe('a check', () => {
  test('that is ok is followed by an accepted job, and stores nothing itself', async () => {
    const { checked, submitted } = await both(job());
    expect(submitted.status).toBe(201);
    await waitJob(tenant, submitted.json.job_id);
    const zone = checked.zones.find((z: any) => z.zone === ready.zone);
    expect(zone).toMatchObject({ allowed: true, ready_nodes: 1, fits_now: true });
    expect(zone.free_slots).toBeGreaterThan(0);
    expect(checked.quotas.find((q: any) => q.resource === 'jobs')).toMatchObject({ used: 0, after: 1, within: true });
    expect(checked.ahead).toBe(0);
    await check(job());
    expect(must(await tenant.get('/v1/jobs'), 200).data).toHaveLength(1);
    expect(must(await tenant.get('/v1/quotas'), 200).data.find((q: any) => q.resource === 'jobs').used).toBe(0);
  });

  test('says what a refused submission says', async () => {
    expect((await both(job({ slots: 4096 }))).checked).toMatchObject({ verdict: 'unplaceable', errors: [{ pointer: '/slots' }] });
    const far = await both(job({ zone: 'ae-far-9' }));
    expect(far.checked.verdict).toMatch(/^residency/);
    expect(far.checked.zones.find((z: any) => z.zone === 'ae-far-9')).toMatchObject({ allowed: false, fits_now: false });
    expect((await both(job({ spec: { sleep_ms: -1 } }))).checked).toMatchObject({ verdict: 'invalid_argument', errors: [{ pointer: '/spec/sleep_ms' }] });
    expect((await both(job({ kind: 'serve' }))).checked).toMatchObject({ errors: [{ pointer: '/kind' }] });
    expect((await both({ ...job({ kind: 'train' }), spec: { dataset_id: `dst_${'0'.repeat(31)}1` } })).checked.verdict).toBe('not_found');
  });

  test('of a full quota, of waiting jobs and of jobs', async () => {
    must(await admin.put(`/v1/tenants/${id}/quotas/pending_jobs`, { hard_limit: 0 }, any), 200);
    expect((await both(job())).checked).toMatchObject({ verdict: 'quota_exceeded', detail: expect.stringContaining('0 of 0 wait') });
    must(await admin.put(`/v1/tenants/${id}/quotas/pending_jobs`, { hard_limit: 100 }, any), 200);
    must(await admin.put(`/v1/tenants/${id}/quotas/jobs`, { hard_limit: 0 }, any), 200);
    const { checked } = await both(job());
    expect(checked.verdict).toBe('quota_exceeded');
    expect(checked.quotas.find((q: any) => q.resource === 'jobs')).toMatchObject({ used: 0, limit: 0, after: 1, within: false });
    must(await admin.put(`/v1/tenants/${id}/quotas/jobs`, { hard_limit: 100 }, any), 200);
  });

  test('what is no job at all is refused as a submission is, and there is no other key than the call', async () => {
    for (const body of [job({ slots: 0 }), job({ colour: 'red' }), { kind: 'noop' }]) {
      const [a, b] = [await tenant('POST', '/v1/jobs:check', { body }), await tenant.post('/v1/jobs', body)];
      expect([a.status, problemOf(a).code, problemOf(a).errors]).toEqual([b.status, problemOf(b).code, problemOf(b).errors]);
    }
    must(await tenant('POST', '/v1/jobs:check', { body: job(), key: false }), 200);
  });

  test('tells, constraint by constraint, how many machines are left, and what the nearest lacks', async () => {
    const left = (checked: any) => Object.fromEntries(checked.constraints.map((c: any) => [c.constraint, c.machines]));
    const fits = await check(job());
    expect(left(fits)).toMatchObject({ zone: 1, pool: 1, slots: 1, cpu_milli: 1, memory_bytes: 1, free_slots: 1, quota: 1 });
    expect(fits.nearest).toBeUndefined();
    const large = await check(job({ memory_bytes: 2 ** 50, force_queue: true }));
    expect(left(large)).toMatchObject({ pool: 1, slots: 1, memory_bytes: 0, quota: 0 });
    const lacks = expect.stringMatching(/^asked 1073741824 MiB of memory, it has \d+$/);
    expect(large.nearest).toMatchObject({ zone: ready.zone, never: true, lacks });
    expect(large.constraints.filter((c: any) => c.detail)).toHaveLength(1);
  });

  test('tells the price', async () => {
    must(await admin.post('/v1/prices', { flavor: 'cpu', currency: 'AED', slot_hour: 3600 }), 201);
    expect((await check(job({ slots: 2, max_runtime_seconds: 1800 }))).estimate).toEqual({ currency: 'AED', per_hour_minor: 7200, max_minor: 3600 });
  });

  test('needs the permission to submit', async () => {
    const user = must(await tenant.post('/v1/users', { name: 'viewer' }), 201).user_id;
    must(await tenant.post('/v1/role-bindings', { user_id: user, role: 'viewer' }), 201);
    const viewer = api(ready, must(await tenant.post('/v1/api-tokens', { name: 'x', user_id: user }), 201).token);
    expect((await viewer('POST', '/v1/jobs:check', { body: job() })).status).toBe(403);
  });
});

describe('why a job waits', () => {
  const why = async (jobId: string): Promise<any> => must(await tenant.get(`/v1/jobs/${jobId}/placement`), 200);

  test('for machines, with the number that is free and the jobs before it', async () => {
    const first = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines', gpus: 8 })), 201).job_id;
    const second = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines' })), 201).job_id;
    const urgent = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines', priority: 5 })), 201).job_id;
    const noGpu = 'no machine with a GPU is registered and ready in a zone that the tenant may use';
    expect(await why(first)).toMatchObject({ code: 'NoMatchingFlavor', detail: noGpu, position: 2, ahead: 1 });
    expect(await why(second)).toMatchObject({ detail: 'pool no-machines has no ready machine there', ahead: 2 });
    expect(await why(urgent)).toMatchObject({ position: 1, ahead: 0, zones: [{ zone: ready.zone, allowed: true, ready_nodes: 0, fits_now: false }] });
    must(await tenant.post(`/v1/jobs/${urgent}/cancel`, {}), 200);
    expect(await why(urgent)).toMatchObject({ code: 'not_waiting', detail: 'The job does not wait: it is CANCELLED', position: 0 });
  });

  test('of a class, which goes before priority, and of what no machine has', async () => {
    must(await admin.put('/v1/classes/forecast-first', { value: 7 }, any), 200);
    const plain = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines', priority: 1000 })), 201).job_id;
    const ahead = job({ pool: 'no-machines', class: 'forecast-first', priority: -1000 });
    const first = must(await tenant.post('/v1/jobs', ahead), 201).job_id;
    expect(await why(first)).toMatchObject({ position: 1, ahead: 0 });
    const said = await why(plain);
    expect(said.ahead).toBeGreaterThanOrEqual(1);
    expect(said.constraints.slice(0, 2)).toEqual([
      { constraint: 'zone', machines: 1 },
      { constraint: 'pool', machines: 0, detail: 'pool no-machines has no ready machine there' },
    ]);
    for (const id of [plain, first]) must(await tenant.post(`/v1/jobs/${id}/cancel`, {}), 200);
  });

  test('for quota, with both numbers', async () => {
    must(await admin.put(`/v1/tenants/${id}/quotas/slots`, { hard_limit: 0 }, any), 200);
    const waits = must(await tenant.post('/v1/jobs', job({ priority: 9 })), 201).job_id;
    expect(await why(waits)).toMatchObject({ code: 'QuotaExceeded', detail: "needs 1 slots, 0 of the tenant's 0 are in use", zones: [{ fits_now: true }] });
    const detail = "needs 1 slots, 0 of the tenant's 0 are in use";
    expect((await why(waits)).constraints.at(-1)).toEqual({ constraint: 'quota', machines: 0, detail });
    must(await admin.put(`/v1/tenants/${id}/quotas/slots`, { hard_limit: 64 }, any), 200);
    await waitJob(tenant, waits);
    expect((await why(waits)).code).toBe('not_waiting');
  });

  test("another tenant's job is not there", async () => {
    const mine = must(await tenant.get('/v1/jobs?page_size=1'), 200).data[0].job_id;
    const stranger = (await makeTenant(ready)).api;
    expect((await stranger.get(`/v1/jobs/${mine}/placement`)).status).toBe(404);
  });
});
