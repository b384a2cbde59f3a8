// SPDX-License-Identifier: Apache-2.0
// queues.test.ts - queues are declared, stopped and forgotten by those who may; a stopped one starts nothing and says so; the
// share names no other tenant.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const any = { headers: { 'if-match': '*' } };
let tenant: Api;
let other: Api;

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
  other = (await makeTenant(ready)).api;
});

describe('a queue', () => {
  test('is declared, changed, read and forgotten by its tenant alone', async () => {
    const made = must(await tenant.post('/v1/queues', { name: 'night', mode: 'StrictFIFO' }), 201);
    expect(made).toMatchObject({
      name: 'night', mode: 'StrictFIFO', stop_policy: 'None', within_cluster_queue: 'Never', reclaim_within_cohort: 'Never',
          version: 1 });
    expect(made.queue_id).toMatch(/^que_/);
    const path = `/v1/queues/${made.queue_id}`;
    const again = await tenant.post('/v1/queues', { name: 'night' });
    expect([again.status, problemOf(again).code]).toEqual([409, 'already_exists']);
    const strange = await tenant.post('/v1/queues', { name: 'day', mode: 'Fast' });
    expect([strange.status, problemOf(strange).errors?.[0]?.pointer]).toEqual([400, '/mode']);
    expect((await tenant('PATCH', path, { body: { mode: 'BestEffortFIFO' } })).status).toBe(428);
    expect(must(await tenant('PATCH', path, { body: { reclaim_within_cohort: 'Any' }, ...any }), 200)).toMatchObject({
      mode: 'StrictFIFO', reclaim_within_cohort: 'Any', version: 2 });
    for (const reply of [await other.get(path), await other.get(`${path}/share`), await other('PATCH', path, { body: {},
        ...any }),
      await other.delete(path, any)]) expect(reply.status).toBe(404);
    expect(must(await other.get('/v1/queues'), 200).data).toEqual([]);
    expect(must(await tenant.get('/v1/queues'), 200).data).toHaveLength(1);
    expect((await tenant.delete(path, any)).status).toBe(204);
    expect((await tenant.get(path)).status).toBe(404);
  });

  test('that nobody knows is refused with the nearest name', async () => {
    const ask = async (queue: string) => tenant.post('/v1/jobs', { name: 'lost', kind: 'noop', pool: 'no-machines', queue });
    must(await tenant.post('/v1/queues', { name: 'evening' }), 201);
    must(await tenant.post('/v1/quota-rules', { place: 'queue', queue: 'morning', resource: 'slots', nominal: 1 }), 201);
    const near = await ask('evenign');
    expect([near.status, near.json.errors[0].pointer]).toEqual([422, '/queue']);
    expect(near.json.detail).toBe('There is no queue evenign; did you mean evening?');
    expect((await ask('zzzzzz')).json.detail).toContain('There is no queue zzzzzz: declare it');
    for (const queue of ['evening', 'morning', 'default'])
      must(await tenant.post(`/v1/jobs/${must(await ask(queue), 201).job_id}/cancel`, {}), 200);
    const stranger = (await makeTenant(ready)).api;
    const foreign = await stranger.post('/v1/jobs', { name: 'lost', kind: 'noop', queue: 'evening' });
    expect(foreign.status).toBe(422);
    expect(foreign.json.detail).not.toContain('did you mean');
  });

  test('or a class that nobody knows refuses its own job alone, of those that come together', async () => {
    must(await tenant.post('/v1/queues', { name: 'together' }), 201);
    const job = (over: object) => ({ name: 'one of many', kind: 'noop', pool: 'no-machines', ...over });
    const jobs = [job({ queue: 'together' }), job({ queue: 'togehter' }), job({}), job({ queue: 'together', class: 'nobodys' }),
      job({ queue: 'together', priority: 7 })];
    const expected = [201, 422, 201, 400, 201];
    const many = await Promise.all([0, 1, 2, 3].flatMap(() => jobs.map((body) => tenant.post('/v1/jobs', body))));
    expect(many.map((r) => r.status)).toEqual([0, 1, 2, 3].flatMap(() => expected));
    expect([problemOf(many[1]!).errors?.[0]?.pointer, many[1]!.json.detail]).toEqual(
      ['/queue', 'There is no queue togehter; did you mean together?']);
    expect(problemOf(many[3]!).errors?.[0]?.pointer).toBe('/class');
    expect(many[4]!.json).toMatchObject({ queue: 'together', priority: 7 });
    const answer = must(await tenant.post('/v1/jobs:batch', { jobs }), 207).data;
    expect(answer.map((a: any) => [a.code, a.pointer])).toEqual([['ok', undefined], ['unprocessable', '/jobs/1/queue'],
      ['ok', undefined], ['invalid_argument', '/jobs/3/class'], ['ok', undefined]]);
    const stored = [...many.filter((r) => r.status === 201).map((r) => r.json.job_id),
      ...answer.filter((a: any) => a.code === 'ok').map((a: any) => a.job_id)];
    expect(stored).toHaveLength(15);
    for (const id of stored) must(await tenant.post(`/v1/jobs/${id}/cancel`, {}), 200);
  });

  test('of the tenant is known to jobs of who acts in one project, and is not told of', async () => {
    const project = must(await tenant.post('/v1/projects', { name: 'red' }), 201);
    const user_id = must(await tenant.post('/v1/users', { name: 'member' }), 201).user_id;
    must(await tenant.post('/v1/role-bindings', { user_id, role: 'ml-engineer', project_id: project.project_id }), 201);
    const member = api(ready, must(await tenant.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
    must(await tenant.post('/v1/queues', { name: 'wide' }), 201);
    must(await tenant.post('/v1/quota-rules', { place: 'queue', queue: 'ruled', resource: 'slots', nominal: 1 }), 201);
    const ask = (queue: string) => member.post('/v1/jobs', { name: 'mine', kind: 'noop', pool: 'no-machines', queue });
    for (const queue of ['wide', 'ruled'])
      expect(must(await ask(queue), 201).project_id).toBe(project.project_id);
    const slip = await ask('wied');
    expect(slip.status).toBe(422);
    expect(slip.json.detail).not.toContain('did you mean');
  });

  test('that is stopped starts nothing, says so, and goes on', async () => {
    const made = must(await tenant.post('/v1/queues', { name: 'stopped', stop_policy: 'Hold' }), 201);
    const job = must(await tenant.post('/v1/jobs', { name: 'waits', kind: 'noop', queue: 'stopped' }), 201);
    for (let tries = 0; ; tries++) {
      const seen = must(await tenant.get(`/v1/jobs/${job.job_id}`), 200);
      expect(seen.state).toBe('PENDING');
      if (seen.reason === 'QueueStopped') break;
      expect(tries).toBeLessThan(200);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(must(await tenant.get(`/v1/jobs/${job.job_id}/placement`), 200)).toMatchObject({ code: 'QueueStopped' });
    must(await tenant('PATCH', `/v1/queues/${made.queue_id}`, { body: { stop_policy: 'None' }, ...any }), 200);
    await waitJob(tenant, job.job_id);
  });

  test('tells its share', async () => {
    const made = must(await tenant.post('/v1/queues', { name: 'shared' }), 201);
    expect(must(await tenant.get(`/v1/queues/${made.queue_id}/share`), 200)).toMatchObject({ share: 0, parts: [],
        waiting_jobs: 0 });
    must(await tenant.post('/v1/quota-rules', { place: 'queue', queue: 'shared', resource: 'slots', nominal: 3 }), 201);
    const share = must(await tenant.get(`/v1/queues/${made.queue_id}/share`), 200);
    expect(share.sentence).toMatch(/^The queue shared uses 0 slots: its own are 3, /);
    expect(share.parts[0]).toMatchObject({ resource: 'slots', nominal: 3, used: 0, borrowed: 0, lent: 0, fair: 0, weight: 1000 });
  });
});
