// SPDX-License-Identifier: Apache-2.0
// classes.test.ts - priority classes, and what jobs ask of a machine beside slots.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let tenant: Api;
const job = (over = {}) => ({ name: 'asked', kind: 'noop', pool: 'no-such-pool', ...over });
const refused = async (over: object): Promise<any> => {
  const reply = await tenant.post('/v1/jobs', job(over));
  return [reply.status, problemOf(reply).code, problemOf(reply).errors?.[0]?.pointer];
};

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  tenant = (await makeTenant(ready)).api;
});

describe('a priority class', () => {
  test('is made, changed, read and removed by the platform alone; jobs name one that is there', async () => {
    expect(await refused({ class: 'urgent-now' })).toEqual([400, 'invalid_argument', '/class']);
    const made = must(await admin.put('/v1/classes/urgent-now', { value: 10, grace_s: 5 }), 200);
    expect(made).toMatchObject({ class: 'urgent-now', value: 10, preemptible: true, grace_s: 5, min_runtime_s: 0 });
    expect(must(await admin.put('/v1/classes/urgent-now', { value: 20, preemptible: false }), 200)).toMatchObject({ value: 20 });
    expect((await tenant.put('/v1/classes/urgent-now', { value: 30 })).status).toBe(403);
    expect(must(await tenant.get('/v1/classes/urgent-now'), 200)).toMatchObject({ value: 20, preemptible: false });
    const all = must(await tenant.get('/v1/classes'), 200).data.map((c: any) => c.class);
    expect(all).toEqual(expect.arrayContaining(['default', 'urgent-now']));
    expect(must(await tenant.post('/v1/jobs', job({ class: 'urgent-now' })), 201)).toMatchObject({ class: 'urgent-now' });
    expect((await admin.put('/v1/classes/default', { value: 1 })).status).toBe(400);
    expect((await admin.delete('/v1/classes/default')).status).toBe(409);
    expect((await admin.delete('/v1/classes/urgent-now')).status).toBe(204);
    expect((await admin.delete('/v1/classes/urgent-now')).status).toBe(404);
  });
});

describe('what a job asks', () => {
  test('is kept as asked; processors count as slots', async () => {
    const asked = { cpu_milli: 2500, memory_bytes: 3 * 2 ** 30, gpu_models: 'H100,A100', gpus: 2 };
    const made = must(await tenant.post('/v1/jobs', job(asked)), 201);
    expect(made).toMatchObject({ ...asked, slots: 3, gpu_milli: 1000, class: 'default' });
    expect(must(await tenant.get(`/v1/jobs/${made.job_id}`), 200)).toMatchObject({ ...asked, slots: 3 });
    expect(must(await tenant.post('/v1/jobs', job({ gpu_milli: 250 })), 201)).toMatchObject({ gpus: 1, gpu_milli: 250 });
    expect(await refused({ gpu_milli: 250, gpus: 2 })).toEqual([400, 'invalid_argument', '/gpu_milli']);
    expect(await refused({ gpu_milli: 1001 })).toEqual([400, 'invalid_argument', '/gpu_milli']);
    expect(await refused({ gpu_models: 'A100' })).toEqual([400, 'invalid_argument', '/gpu_models']);
    expect(await refused({ gpu_models: 'A 100', gpus: 1 })).toEqual([400, 'invalid_argument', '/gpu_models']);
  });

  test('that no machine could hold is refused with what the nearest lacks, unless it may wait', async () => {
    const wide = { pool: 'default', memory_bytes: 2 ** 50 };
    const reply = await tenant.post('/v1/jobs', job(wide));
    expect(await refused(wide)).toEqual([422, 'unplaceable', '/memory_bytes']);
    expect(reply.json.detail).toMatch(/nearest, flavor \S+, zone \S+: asked 1073741824 MiB of memory, it has \d+/);
    expect(must(await tenant.post('/v1/jobs:check', job(wide)), 200)).toMatchObject({ verdict: 'unplaceable' });
    const waits = must(await tenant.post('/v1/jobs', job({ ...wide, force_queue: true })), 201);
    expect(must(await tenant.get(`/v1/jobs/${waits.job_id}/placement`), 200).code).toBe('NoMatchingFlavor');
    must(await tenant.post(`/v1/jobs/${waits.job_id}/cancel`, {}), 200);
  });
});
