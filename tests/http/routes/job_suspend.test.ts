// SPDX-License-Identifier: Apache-2.0
// job_suspend.test.ts - a job is put aside and goes on: one that waits, and one that a machine runs; who may, and when it
// is too late.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { makeTenant, must, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
const submit = async (over = {}): Promise<any> =>
  must(await tenant.post('/v1/jobs', { name: 'aside', kind: 'noop', spec: {}, ...over }), 201);
const act = (id: string, verb: string) => tenant.post(`/v1/jobs/${id}/${verb}`, {});

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
});

describe('a job', () => {
  test('that waits is put aside at once, says so, and goes on', async () => {
    const { job_id: id } = await submit({ pool: 'no-machines' });
    expect(must(await act(id, 'suspend'), 200)).toMatchObject({ state: 'SUSPENDED', reason: 'Suspended' });
    expect(must(await act(id, 'suspend'), 200)).toMatchObject({ state: 'SUSPENDED' });
    const why = must(await tenant.get(`/v1/jobs/${id}/placement`), 200);
    expect(why).toMatchObject({ code: 'Suspended', position: 0 });
    expect(why.constraints.at(-1)).toMatchObject({ constraint: 'suspended', machines: 0 });
    const waiting = must(await tenant.get('/v1/jobs?group=waiting'), 200).data;
    expect(waiting.map((j: any) => j.job_id)).toContain(id);
    expect(must(await act(id, 'resume'), 200)).toMatchObject({ state: 'PENDING', reason: 'Resources' });
    must(await act(id, 'cancel'), 200);
    for (const verb of ['suspend', 'resume']) expect((await act(id, verb)).status).toBe(409);
  });

  test('that a machine runs is sent away, and runs again when it is resumed', async () => {
    const { job_id: id } = await submit({ spec: { sleep_ms: 600_000 } });
    await waitJob(tenant, id, ['RUNNING']);
    expect(must(await act(id, 'suspend'), 200)).toMatchObject({ suspend_requested: true });
    expect(await waitJob(tenant, id, ['SUSPENDED'])).toMatchObject({ reason: 'Suspended', suspend_requested: false });
    const states = must(await tenant.get(`/v1/jobs/${id}/events`), 200).data.map((e: any) => e.state);
    expect(states.slice(-2)).toEqual(['PREEMPTING', 'SUSPENDED']);
    must(await act(id, 'resume'), 200);
    expect((await waitJob(tenant, id, ['RUNNING'])).fence).toBe(2);
    must(await act(id, 'cancel'), 200);
    expect((await waitJob(tenant, id)).state).toBe('CANCELLED');
  });

  test('that waits for one that is put aside goes on waiting', async () => {
    const { job_id: id } = await submit({ pool: 'no-machines' });
    must(await act(id, 'suspend'), 200);
    const behind = await submit({ dependencies: [{ type: 'afterany', job_id: id }] });
    const why = must(await tenant.get(`/v1/jobs/${behind.job_id}/placement`), 200);
    expect(why).toMatchObject({ code: 'Dependency', detail: `waits for afterany ${id} (SUSPENDED)` });
    must(await act(id, 'cancel'), 200);
    expect((await waitJob(tenant, behind.job_id)).state).toBe('COMPLETED');
  });

  test('of another tenant is not there', async () => {
    const { job_id: id } = await submit({ pool: 'no-machines' });
    const stranger = (await makeTenant(ready)).api;
    for (const verb of ['suspend', 'resume']) expect((await stranger.post(`/v1/jobs/${id}/${verb}`, {})).status).toBe(404);
    must(await act(id, 'cancel'), 200);
  });
});
