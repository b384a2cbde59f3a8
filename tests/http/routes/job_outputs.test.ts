// SPDX-License-Identifier: Apache-2.0
// job_outputs.test.ts - what a job left: nothing of one that made nothing, and nothing under names that are none.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let other: Api;
let job: string;

beforeAll(async () => {
  admin = (await makeTenant(ready)).api;
  other = (await makeTenant(ready)).api;
  job = must(await admin.post('/v1/jobs', { name: 'nothing', kind: 'noop' }), 201).job_id;
  await waitJob(admin, job);
});

describe('the outputs of a job', () => {
  test('are none where it made nothing', async () => {
    expect(must(await admin.get(`/v1/jobs/${job}/outputs`), 200).data).toEqual([]);
    expect((await admin.get(`/v1/jobs/${job}/outputs/model`)).status).toBe(404);
  });
  test('are nobody else’s', async () => {
    expect((await other.get(`/v1/jobs/${job}/outputs`)).status).toBe(404);
    expect((await other.get(`/v1/jobs/${job}/outputs/model`)).status).toBe(404);
  });
  test('are not found under a name that none can have', async () => {
    const refused = await admin.get(`/v1/jobs/${job}/outputs/No%20Name`);
    expect([refused.status, problemOf(refused).code]).toEqual([404, 'not_found']);
  });
});
