// SPDX-License-Identifier: Apache-2.0
// job_retry.test.ts - a job that says which of its failures are tried again: what it is given back, its attempts and their
// causes, and what is no such word.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
const broken = (over = {}) => ({ name: 'broken', kind: 'noop', spec: { fail: 'it broke' }, ...over });
const attempts = async (id: string): Promise<any[]> => must(await tenant.get(`/v1/jobs/${id}/attempts`), 200).data;

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
});

describe('a job with a retry', () => {
  test('is tried again after a cause that it lists, and says of each attempt why it failed', async () => {
    const retry = { max: 1, on: ['program', 'memory'], backoff_s: 0 };
    const made = must(await tenant.post('/v1/jobs', broken({ retry })), 201);
    expect(made.retry).toEqual(retry);
    const done = await waitJob(tenant, made.job_id);
    expect(done).toMatchObject({ state: 'FAILED', retry, requeue_count: 1 });
    const all = await attempts(made.job_id);
    expect(all.map((a) => [a.fence, a.state, a.cause])).toEqual([
      [1, 'FAILED', 'program'],
      [2, 'FAILED', 'program'],
    ]);
    const steps = must(await tenant.get(`/v1/jobs/${made.job_id}/events`), 200).data;
    expect(steps.filter((s: any) => s.reason === 'Backoff')).toHaveLength(1);
  });

  test('fails at once of any other cause, and so does one that says nothing', async () => {
    for (const over of [{ retry: { on: ['machine'] } }, {}]) {
      const made = must(await tenant.post('/v1/jobs', broken(over)), 201);
      expect(await waitJob(tenant, made.job_id)).toMatchObject({ state: 'FAILED', requeue_count: 0 });
      expect((await attempts(made.job_id)).map((a) => a.cause)).toEqual(['program']);
    }
  });

  test('is refused at its place where it cannot be read', async () => {
    const cases: [unknown, string][] = [
      [{ on: ['weather'] }, '/retry/on/0'],
      [{ on: [] }, '/retry/on'],
      [{ max: 2 }, '/retry/on'],
      [{ on: ['memory'], max: 101 }, '/retry/max'],
      [{ on: ['memory'], backoff_s: 3601 }, '/retry/backoff_s'],
      [{ on: ['memory'], colour: 1 }, '/retry/colour'],
    ];
    for (const [retry, pointer] of cases) {
      const reply = await tenant.post('/v1/jobs', broken({ retry }));
      expect([reply.status, problemOf(reply).errors?.[0]?.pointer]).toEqual([400, pointer]);
    }
  });

  test('is the same in a batch, and when its key is used again', async () => {
    const retry = { max: 7, on: ['program'], backoff_s: 10 };
    const jobs = [broken({ pool: 'no-machines', retry: { max: 7, on: ['program'] } }), broken({ pool: 'no-machines' })];
    const { data } = must(await tenant.post('/v1/jobs:batch', { jobs }), 201);
    const read = async (i: number): Promise<any> => must(await tenant.get(`/v1/jobs/${data[i].job_id}`), 200);
    expect([(await read(0)).retry, (await read(1)).retry]).toEqual([retry, undefined]);
    for (const row of data) must(await tenant.post(`/v1/jobs/${row.job_id}/cancel`, {}), 200);
  });
});
