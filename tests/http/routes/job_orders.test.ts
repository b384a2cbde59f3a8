// SPDX-License-Identifier: Apache-2.0
// job_orders.test.ts - a job that begins later, has a deadline, is held back and released.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
const job = (over = {}) => ({ name: 'ordered', kind: 'noop', spec: {}, ...over });
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const submit = async (over = {}): Promise<any> => must(await tenant.post('/v1/jobs', job(over)), 201);
const state = async (id: string): Promise<any> => must(await tenant.get(`/v1/jobs/${id}`), 200);

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
});

describe('a job', () => {
  test('that begins later waits for its time, and says so', async () => {
    const at = inMs(3_600_000);
    const made = await submit({ begin_at: at });
    expect(made).toMatchObject({ state: 'PENDING', reason: 'BeginTime' });
    expect(Date.parse((await state(made.job_id)).begin_at)).toBe(Date.parse(at));
    const why = must(await tenant.get(`/v1/jobs/${made.job_id}/placement`), 200);
    expect(why).toMatchObject({ code: 'BeginTime', start: { basis: 'not_before' } });
    expect(Date.parse(why.start.at)).toBe(Date.parse(at));
    must(await tenant.post(`/v1/jobs/${made.job_id}/cancel`, {}), 200);
    const soon = await submit({ begin_at: inMs(1_500) });
    expect((await state(soon.job_id)).state).toBe('PENDING');
    const done = await waitJob(tenant, soon.job_id);
    expect(done.state).toBe('COMPLETED');
    expect(Date.parse(done.started_at)).toBeGreaterThanOrEqual(Date.parse(done.begin_at));
  });

  test('that still waits at its deadline ends there', async () => {
    const made = await submit({ pool: 'no-machines', deadline_at: inMs(500) });
    const message = 'It had not started by its deadline';
    expect(await waitJob(tenant, made.job_id)).toMatchObject({ state: 'DEADLINE', message });
  });

  test('with a deadline that has passed, or comes before it may begin, is refused with the place', async () => {
    for (const over of [{ deadline_at: '2020-01-01T00:00:00Z' }, { begin_at: inMs(7_200_000), deadline_at: inMs(3_600_000) }]) {
      const reply = await tenant.post('/v1/jobs', job(over));
      expect([reply.status, problemOf(reply).errors?.[0]?.pointer]).toEqual([400, '/deadline_at']);
    }
  });

  test('is held back and released; what waits no more is not', async () => {
    const made = await submit({ pool: 'no-machines' });
    const act = (what: string) => tenant.post(`/v1/jobs/${made.job_id}/${what}`, {});
    expect(must(await act('release'), 200)).toMatchObject({ state: 'PENDING' });
    expect(must(await act('hold'), 200)).toMatchObject({ state: 'HELD', reason: 'HeldByUser' });
    expect(must(await act('hold'), 200)).toMatchObject({ state: 'HELD' });
    const why = must(await tenant.get(`/v1/jobs/${made.job_id}/placement`), 200);
    expect(why).toMatchObject({ code: 'HeldByUser', position: 0 });
    expect(why.constraints.at(-1)).toMatchObject({ constraint: 'hold', machines: 0 });
    expect(must(await act('release'), 200)).toMatchObject({ state: 'PENDING', reason: 'Resources' });
    must(await act('cancel'), 200);
    for (const what of ['hold', 'release']) expect((await act(what)).status).toBe(409);
    const stranger = (await makeTenant(ready)).api;
    expect((await stranger.post(`/v1/jobs/${made.job_id}/hold`, {})).status).toBe(404);
  });
});

describe('a job that waits for others', () => {
  const row = (id: string) => tenant.get(`/v1/jobs/${id}/dependencies`);

  test('goes when they have ended so, and says until then whom it waits for', async () => {
    const first = await submit({ begin_at: inMs(1_500) });
    const made = await submit({ dependencies: [{ type: 'afterok', job_id: first.job_id }] });
    expect(made).toMatchObject({ state: 'PENDING', reason: 'Dependency' });
    const why = must(await tenant.get(`/v1/jobs/${made.job_id}/placement`), 200);
    expect(why).toMatchObject({ code: 'Dependency', detail: `waits for afterok ${first.job_id} (PENDING)` });
    const open = { type: 'afterok', job_id: first.job_id, state: 'PENDING', open: true };
    expect(must(await row(made.job_id), 200).data).toEqual([open]);
    const done = await waitJob(tenant, made.job_id);
    expect(done.state).toBe('COMPLETED');
    const before = await state(first.job_id);
    expect(Date.parse(done.started_at)).toBeGreaterThanOrEqual(Date.parse(before.finished_at));
    expect(must(await row(made.job_id), 200).data[0]).toMatchObject({ open: false, state: 'COMPLETED' });
  });

  test('ends as REJECTED with the reason when that can never be', async () => {
    const first = await submit({ pool: 'no-machines' });
    const made = await submit({ dependencies: [{ type: 'afterok', job_id: first.job_id }] });
    const behind = await submit({ dependencies: [{ type: 'afterok', job_id: made.job_id }] });
    must(await tenant.post(`/v1/jobs/${first.job_id}/cancel`, {}), 200);
    const message = `afterok ${first.job_id} can never be met: that job ended as CANCELLED`;
    expect(await waitJob(tenant, made.job_id)).toMatchObject({ state: 'REJECTED', message });
    expect((await waitJob(tenant, behind.job_id)).message).toContain('ended as REJECTED');
  });

  test('is refused where there is no such job, or it would wait for itself', async () => {
    const nobody = `job_${'0'.repeat(31)}1`;
    const refused = await tenant.post('/v1/jobs', job({ dependencies: [{ type: 'after', job_id: nobody }] }));
    expect([refused.status, problemOf(refused).errors?.[0]?.pointer]).toEqual([400, '/dependencies/0/job_id']);
    const a = await submit({ pool: 'no-machines' });
    const b = await submit({ pool: 'no-machines', dependencies: [{ type: 'afterany', job_id: a.job_id }] });
    const round = await tenant.put(`/v1/jobs/${a.job_id}/dependencies`, { dependencies: [{ type: 'after', job_id: b.job_id }] });
    expect(round.status).toBe(400);
    expect(round.json.detail).toBe(`The job would wait for itself: ${a.job_id} -> ${b.job_id} -> ${a.job_id}`);
    expect(must(await tenant.put(`/v1/jobs/${b.job_id}/dependencies`, { dependencies: [] }), 200).data).toEqual([]);
    expect((await state(b.job_id)).reason).not.toBe('Dependency');
    for (const id of [a.job_id, b.job_id]) must(await tenant.post(`/v1/jobs/${id}/cancel`, {}), 200);
  });
});
