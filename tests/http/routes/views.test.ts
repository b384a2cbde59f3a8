// SPDX-License-Identifier: Apache-2.0
// views.test.ts - saved views of lists: each person's own, shared ones for all of the tenant, gone with their owner's erasure.
import { beforeAll, expect, inject, test } from 'vitest';
import { makePerson, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let huda: Api;
let stranger: Api;
const names = async (of: Api, query = ''): Promise<string[]> =>
  must(await of.get(`/v1/views${query}`), 200).data.map((v: any) => v.name);
const view = (name: string, over = {}) => ({ list: '/v1/jobs', name, query: '?state=FAILED', ...over });

beforeAll(async () => {
  admin = (await makeTenant(ready)).api;
  huda = (await makePerson(ready, admin, 'ml-engineer')).api;
  stranger = (await makeTenant(ready)).api;
});

test('a view is seen by its owner, and by others once it is shared', async () => {
  const made = must(await huda.post('/v1/views', view('failed')), 201);
  expect(made).toMatchObject({ list: '/v1/jobs', name: 'failed', query: '?state=FAILED', shared: false });
  expect(await names(huda, '?list=/v1/jobs')).toEqual(['failed']);
  expect(await names(huda, '?list=/v1/models')).toEqual([]);
  expect(await names(admin)).toEqual([]);
  const again = must(await huda.post('/v1/views', view('failed', { shared: true, query: '?state=TIMEOUT' })), 201);
  expect(again.view_id).toBe(made.view_id);
  expect(must(await admin.get('/v1/views'), 200).data[0]).toMatchObject({ query: '?state=TIMEOUT',
                                                                          owner_name: expect.any(String) });
  expect(await names(stranger)).toEqual([]);
  expect((await stranger.delete(`/v1/views/${made.view_id}`)).status).toBe(404);
  expect((await admin.delete(`/v1/views/${made.view_id}`)).status).toBe(204);
  expect(await names(huda)).toEqual([]);
});

test('who manages no users takes only the own ones away, and what is no list is refused', async () => {
  const made = must(await admin.post('/v1/views', view('of the admin', { shared: true })), 201);
  expect((await huda.delete(`/v1/views/${made.view_id}`)).status).toBe(403);
  const bad = await huda.post('/v1/views', view('x', { list: 'jobs' }));
  expect(problemOf(bad)).toMatchObject({ code: 'invalid_argument', errors: [{ pointer: '/list' }] });
  expect((await huda.post('/v1/views', view('x', { query: 'a'.repeat(4097) }))).status).toBe(400);
});
