// SPDX-License-Identifier: Apache-2.0
// arrays.test.ts - an array of jobs from its submission to its end: each index once, few at a time; what the whole is told; who
// may; what is no array.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually, makePerson, makeTenant, must, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
const submit = async (array: string, job = {}): Promise<any> =>
  must(await tenant.post('/v1/arrays', { array, job: { name: 'sweep', kind: 'noop', spec: {}, ...job } }), 201);
const look = async (id: string): Promise<any> => must(await tenant.get(`/v1/arrays/${id}`), 200);
const act = (id: string, verb: string) => tenant.post(`/v1/arrays/${id}/${verb}`, {});
const tasks = async (id: string, query = ''): Promise<any[]> => must(await tenant.get(`/v1/arrays/${id}/tasks${query}`),
  200).data;
const reaches = (id: string, what: (a: any) => boolean): Promise<any> =>
  eventually(`array ${id}`, async () => {
    const a = await look(id);
    return what(a) ? a : undefined;
  });

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
});

describe('an array', () => {
  test('runs each index once, and says how far it is', async () => {
    const made = await submit('2-20:3%3');
    expect(made.array_id).toMatch(/^arr_/);
    expect(made).toMatchObject({ name: 'sweep', tasks: '2-20:3%3', state: 'OPEN', total: 7, most: 3 });
    const done = await reaches(made.array_id, a => a.state === 'ENDED');
    expect(done).toMatchObject({ waiting: 0, live: 0, completed: 7, failed: 0, again: 0 });
    const all = await tasks(made.array_id);
    expect(all.map(t => t.index)).toEqual([2, 5, 8, 11, 14, 17, 20]);
    expect(new Set(all.map(t => t.job_id)).size).toBe(7);
    const job = must(await tenant.get(`/v1/jobs/${all[1].job_id}`), 200);
    expect(job).toMatchObject({ name: 'sweep[5]', state: 'COMPLETED', array_id: made.array_id });
    const alone = must(await tenant.post('/v1/jobs', { name: 'sweep[5]', kind: 'noop' }), 201);
    expect(must(await tenant.get(`/v1/jobs/${alone.job_id}`), 200)).not.toHaveProperty('array_id');
    expect(must(await tenant.get(`/v1/arrays/${made.array_id}/counts`), 200).data).toEqual([{ state: 'COMPLETED', count: 7 }]);
    const first = must(await tenant.get(`/v1/arrays/${made.array_id}/tasks?page_size=5`), 200);
    expect(first.data).toHaveLength(5);
    expect((await tasks(made.array_id, `?page_size=5&page_token=${first.next_page_token}`)).map(t => t.index)).toEqual([17, 20]);
    expect(must(await tenant.get('/v1/arrays'), 200).data[0].array_id).toBe(made.array_id);
    expect((await act(made.array_id, 'hold')).status).toBe(409);
    expect((await act(made.array_id, 'retry')).status).toBe(409);
  });

  test('is held, let go on and cancelled as a whole, and tried again', async () => {
    const { array_id: id } = await submit('0-99%2', { pool: 'no-machines' });
    await reaches(id, a => a.live === 2);
    expect(must(await act(id, 'hold'), 200)).toMatchObject({ state: 'HELD', live: 2 });
    expect((await tasks(id, '?state=HELD')).map(t => t.index)).toEqual([0, 1]);
    expect((await act(id, 'suspend')).status).toBe(409);
    must(await act(id, 'release'), 200);
    expect(await tasks(id, '?state=PENDING')).toHaveLength(2);
    expect(must(await act(id, 'suspend'), 200)).toMatchObject({ state: 'SUSPENDED' });
    expect(await tasks(id, '?state=SUSPENDED')).toHaveLength(2);
    must(await act(id, 'resume'), 200);
    expect(must(await act(id, 'cancel'), 200)).toMatchObject({ state: 'CANCELLED', waiting: 98 });
    expect(await reaches(id, a => a.live === 0)).toMatchObject({ failed: 2, waiting: 98 });
    must(await act(id, 'cancel'), 200);
    expect(must(await act(id, 'retry'), 200)).toMatchObject({ state: 'OPEN' });
    await reaches(id, a => a.live === 2 && a.failed === 0);
    expect((await tasks(id)).map(t => t.tries)).toEqual([2, 2]);
    must(await act(id, 'cancel'), 200);
  });

  test('tells its tasks their index', async () => {
    const { array_id: id } = await submit('7%1', {
      kind: 'run', pool: 'no-machines', spec: { command: ['sh', '-c', 'echo {{index}}'], env: ['SEED={{index}}'] } });
    await reaches(id, a => a.live === 1);
    const [task] = await tasks(id);
    const { spec } = must(await tenant.get(`/v1/jobs/${task.job_id}`), 200);
    expect(spec.command).toEqual(['sh', '-c', 'echo 7']);
    expect(spec.env).toEqual(['SEED=7', 'FALAJ_ARRAY_INDEX=7']);
    must(await act(id, 'cancel'), 200);
  });

  test('is waited for as a whole', async () => {
    const behind = (type: string, arrayId: string) =>
      tenant.post('/v1/jobs', { name: 'behind', kind: 'noop', dependencies: [{ type, array_id: arrayId }] });
    const { array_id: id } = await submit('0-2%1', { spec: { sleep_ms: 200 } });
    const job = must(await behind('afterok', id), 201);
    expect(job).toMatchObject({ state: 'PENDING', reason: 'Dependency' });
    const [row] = must(await tenant.get(`/v1/jobs/${job.job_id}/dependencies`), 200).data;
    expect(row).toMatchObject({ type: 'afterok', array_id: id, open: true });
    expect(row).not.toHaveProperty('job_id');
    expect(await waitJob(tenant, job.job_id)).toMatchObject({ state: 'COMPLETED' });
    expect(await look(id)).toMatchObject({ state: 'ENDED', completed: 3 });
    const never = must(await behind('afternotok', id), 201);
    expect(await waitJob(tenant, never.job_id)).toMatchObject({ state: 'REJECTED' });
    expect((await behind('afterok', `arr_${'1'.repeat(32)}`)).json.errors[0].pointer).toBe('/dependencies/0/array_id');
    const both = [{ type: 'afterok', array_id: id, job_id: job.job_id }];
    const waiting = must(await tenant.post('/v1/jobs', { name: 'w', kind: 'noop', pool: 'no-machines' }), 201).job_id;
    expect((await tenant.post('/v1/jobs', { name: 'x', kind: 'noop', dependencies: both })).status).toBe(400);
    const late = { dependencies: [{ type: 'afterok', array_id: id }] };
    expect((await tenant.put(`/v1/jobs/${waiting}/dependencies`, late)).json.errors[0].pointer).toBe('/dependencies/0/array_id');
    must(await tenant.post(`/v1/jobs/${waiting}/cancel`, {}), 200);
  });

  const bad: [string, any, any, string, RegExp][] = [
    ['without an order of indexes', '9-0', {}, '/array', /before its first/],
    ['of too many tasks', '0-10000', {}, '/array', /at most 10000 tasks; 10001 were asked/],
    ['that lets nothing run', '0-9%0', {}, '/array', /at least 1 task/],
    ['in another form', '1,2', {}, '/array', /FIRST-LAST/],
    ['with an index where a number must be', '0-9', { spec: { sleep_ms: '{{index}}' } }, '/job/spec/sleep_ms', /./],
    ['of a queue that is not there', '0-9', { queue: 'nowhere' }, '/job/queue', /no queue nowhere/],
    ['with a name that leaves no room for the index', '0-9', { name: 'n'.repeat(119) }, '/job/name', /118/],
  ];
  test.each(bad)('%s is refused where it is wrong', async (_name, array, job, pointer, why) => {
    const reply = await tenant.post('/v1/arrays', { array, job: { name: 'sweep', kind: 'noop', ...job } });
    expect([400, 422], reply.text).toContain(reply.status);
    expect(reply.json.errors[0].pointer).toBe(pointer);
    expect(reply.json.detail + reply.json.errors[0].detail).toMatch(why);
  });

  test('of another tenant is not there, and a viewer only looks', async () => {
    const { array_id: id } = await submit('0-9%1', { pool: 'no-machines' });
    const stranger = (await makeTenant(ready)).api;
    expect((await stranger.get(`/v1/arrays/${id}`)).status).toBe(404);
    expect((await stranger.get(`/v1/arrays/${id}/tasks`)).status).toBe(404);
    for (const verb of ['cancel', 'hold', 'release', 'suspend', 'resume', 'retry'])
      expect((await stranger.post(`/v1/arrays/${id}/${verb}`, {})).status).toBe(404);
    const viewer = (await makePerson(ready, tenant, 'viewer')).api;
    expect((await viewer.get(`/v1/arrays/${id}`)).status).toBe(200);
    expect((await viewer.post(`/v1/arrays/${id}/cancel`, {})).status).toBe(403);
    must(await act(id, 'cancel'), 200);
  });
});
