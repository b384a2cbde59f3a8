// SPDX-License-Identifier: Apache-2.0
// job_lists.test.ts - lists of jobs by their filters, and how many there are of each state.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, some, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let second: Api;
let secondId: string;
const ids: Record<string, string> = {};
const between: Record<string, string> = {};

const names = async (query: string, by: Api = admin): Promise<string[]> =>
  must(await by.get(`/v1/jobs?${query}`), 200).data.map((job: any) => job.name);

beforeAll(async () => {
  const made = await makeTenant(ready);
  admin = made.api;
  secondId = must(await admin.post('/v1/users', { name: 'second' }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id: secondId, role: 'ml-engineer' }), 201);
  second = api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id: secondId }), 201).token);
  const submit = async (by: Api, name: string, more = {}): Promise<void> => {
    ids[name] = must(await by.post('/v1/jobs', { name, kind: 'noop', ...more }), 201).job_id;
  };
  await submit(admin, 'Ended Well');
  await waitJob(admin, ids['Ended Well']!);
  await submit(admin, 'broke', { spec: { fail: 'as asked' } });
  await waitJob(admin, ids['broke']!);
  between['t'] = must(await admin.get(`/v1/jobs/${ids['broke']}`), 200).submitted_at;
  await submit(admin, 'waits-1', { pool: 'no-machines' });
  await submit(second, 'waits-2', { pool: 'no-machines', zone: ready.zone });
  await submit(second, 'given up 100%', { pool: 'no-machines' });
  must(await second.post(`/v1/jobs/${ids['given up 100%']}/cancel`, {}), 200);
});

describe('the list of jobs', () => {
  test('by each filter', async () => {
    expect(await names('')).toEqual(['given up 100%', 'waits-2', 'waits-1', 'broke', 'Ended Well']);
    expect(await names('group=waiting')).toEqual(['waits-2', 'waits-1']);
    expect(await names('group=running')).toEqual([]);
    expect(await names('group=done')).toEqual(['given up 100%', 'Ended Well']);
    expect(await names('group=failed')).toEqual(['broke']);
    expect(await names('group=done&state=CANCELLED')).toEqual(['given up 100%']);
    expect(await names('group=failed&state=CANCELLED')).toEqual([]);
    expect(await names(`created_by=${secondId}`)).toEqual(['given up 100%', 'waits-2']);
    expect(await names(`zone=${ready.zone}`)).toEqual(['waits-2']);
    expect(await names('pool=default')).toEqual(['broke', 'Ended Well']);
    expect(await names('q=ENDED')).toEqual(['Ended Well']);
    expect(await names('q=00%25')).toEqual(['given up 100%']);
    expect(await names('q=up_10')).toEqual([]);
    expect(await names('kind=train')).toEqual([]);
    expect(await names(`created_by=${secondId}&group=waiting&q=wait`)).toEqual(['waits-2']);
  });

  test('by the time of submission', async () => {
    const t = encodeURIComponent(between['t']!);
    expect(await names(`submitted_after=${t}`)).toEqual(['given up 100%', 'waits-2', 'waits-1', 'broke']);
    expect(await names(`submitted_before=${t}`)).toEqual(['Ended Well']);
    expect(await names(`submitted_after=${t}&submitted_before=${t}`)).toEqual([]);
  });

  test('pages hold the filters', async () => {
    const first = must(await admin.get('/v1/jobs?group=waiting&page_size=1'), 200);
    expect(first.data.map((j: any) => j.name)).toEqual(['waits-2']);
    expect(await names(`group=waiting&page_size=1&page_token=${first.next_page_token}`)).toEqual(['waits-1']);
    expect(problemOf(await admin.get(`/v1/jobs?group=failed&page_size=1&page_token=${first.next_page_token}`)).code).toBe('invalid_page_token');
  });

  test('refuses what is no filter', async () => {
    for (const [query, pointer] of [['group=finished', '/group'], ['q=ab', '/q'], ['created_by=somebody', '/created_by'], ['submitted_after=yesterday', '/submitted_after']] as const) {
      const reply = await admin.get(`/v1/jobs?${query}`);
      expect(reply.status, query).toBe(400);
      expect(problemOf(reply).errors[0]?.pointer).toBe(pointer);
    }
  });

  test("another tenant's jobs are not among them", async () => {
    const stranger = (await makeTenant(ready)).api;
    for (const query of ['', 'q=waits', `created_by=${secondId}`, 'group=waiting']) expect(await names(query, stranger)).toEqual([]);
    for (const s of some<any>(must(await stranger.get('/v1/jobs/counts?q=waits'), 200).states)) expect(s.jobs, s.state).toBe(0);
  });
});

test('a job that has no checkpoint has an empty list, and a foreign one is not there', async () => {
  const id = must(await admin.get('/v1/jobs?q=waits'), 200).data[0].job_id;
  expect(must(await admin.get(`/v1/jobs/${id}/checkpoints`), 200)).toEqual({ data: [] });
  const stranger = (await makeTenant(ready)).api;
  expect(problemOf(await stranger.get(`/v1/jobs/${id}/checkpoints`)).code).toBe('not_found');
});

describe('the counts of jobs', () => {
  const counts = async (query: string): Promise<Record<string, number>> => {
    const answer = must(await admin.get(`/v1/jobs/counts?${query}`), 200);
    expect(answer.states).toHaveLength(15);
    for (const s of answer.states) expect(s.is_exact, s.state).toBe(true);
    expect(answer.cap).toBe(10_000);
    return Object.fromEntries([...answer.states, ...answer.groups].filter((s: any) => s.jobs > 0).map((s: any) => [s.state ?? s.group, s.jobs]));
  };

  test('are those of the list', async () => {
    expect(await counts('')).toEqual({ PENDING: 2, COMPLETED: 1, FAILED: 1, CANCELLED: 1, waiting: 2, done: 2, failed: 1 });
    expect(await counts(`created_by=${secondId}`)).toEqual({ PENDING: 1, CANCELLED: 1, waiting: 1, done: 1 });
    expect(await counts('q=well')).toEqual({ COMPLETED: 1, done: 1 });
  });
});
