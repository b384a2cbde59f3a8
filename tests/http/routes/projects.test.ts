// SPDX-License-Identifier: Apache-2.0
// projects.test.ts - two projects of one tenant: who holds a role in one sees and touches that one, by every door.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, eventually, makeTenant, must, some, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let engineer: Api;
let engineerId: string;
let red: any;
let blue: any;
const jobs: Record<string, string> = {};
const datasets: Record<string, string> = {};

beforeAll(async () => {
  admin = (await makeTenant(ready)).api;
  red = must(await admin.post('/v1/projects', { name: 'red' }), 201);
  blue = must(await admin.post('/v1/projects', { name: 'blue' }), 201);
  engineerId = must(await admin.post('/v1/users', { name: 'engineer' }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id: engineerId, role: 'ml-engineer', project_id: red.project_id }), 201);
  engineer = api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id: engineerId }), 201).token);
  for (const [name, project] of [['red', red.project_id], ['blue', blue.project_id], ['none', undefined]] as const) {
    jobs[name] = must(await admin.post('/v1/jobs', { name, kind: 'noop', project_id: project }), 201).job_id;
    datasets[name] = must(await admin.post('/v1/datasets', { name: `${name}-data`, label_column: 'y', classes: 2, project_id: project }), 201).dataset_id;
  }
});

describe('one project', () => {
  test('sees its own rows and no other', async () => {
    for (const [path, id] of [['jobs', 'job_id'], ['datasets', 'dataset_id']] as const) {
      const own = path === 'jobs' ? jobs : datasets;
      expect(must(await engineer.get(`/v1/${path}`), 200).data.map((x: any) => x[id])).toEqual([own['red']]);
      must(await engineer.get(`/v1/${path}/${own['red']}`), 200);
      for (const other of ['blue', 'none']) must(await engineer.get(`/v1/${path}/${own[other]}`), 404);
    }
    for (const part of ['events', 'logs', 'metrics', 'attempts']) {
      const reply = await engineer.get(`/v1/jobs/${jobs['blue']}/${part}`);
      expect(reply.status === 404 || reply.json.data.length === 0, reply.text).toBe(true);
    }
    expect(must(await engineer.get('/v1/projects'), 200).data.map((p: any) => p.name)).toEqual(['red']);
    must(await engineer.get(`/v1/projects/${blue.project_id}`), 404);
    for (const b of some<any>(must(await engineer.get('/v1/role-bindings'), 200).data)) expect(b.project_id).toBe(red.project_id);
  });

  test('makes things in its own project only', async () => {
    const job = must(await engineer.post('/v1/jobs', { name: 'mine', kind: 'noop' }), 201);
    expect(job.project_id).toBe(red.project_id);
    must(await engineer.post('/v1/jobs', { name: 'x', kind: 'noop', project_id: blue.project_id }), 404);
    must(await engineer.post('/v1/datasets', { name: 'x', label_column: 'y', classes: 2, project_id: blue.project_id }), 404);
    must(await engineer.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: datasets['blue'] } }), 404);
    const batch = must(await engineer.post('/v1/jobs:batch', { jobs: [{ name: 'x', kind: 'noop', project_id: blue.project_id }] }), 207);
    expect(batch.data[0].code).toBe('not_found');
    must(await engineer.post(`/v1/jobs/${jobs['blue']}/cancel`, {}), 404);
    must(await engineer.post(`/v1/datasets/${datasets['none']}/versions`, undefined, { raw: 'y\n1\n', headers: { 'content-type': 'text/csv' } }), 404);
  });

  test('grants and administers nothing of the tenant', async () => {
    must(await engineer.post('/v1/users', { name: 'x' }), 403);
    must(await engineer.post('/v1/projects', { name: 'x' }), 403);
    must(await engineer.post('/v1/role-bindings', { user_id: engineerId, role: 'viewer' }), 403);
    must(await engineer.get('/v1/audit/events'), 403);
  });
});

describe('its administrator', () => {
  test('sees all, filters by project', async () => {
    expect(must(await admin.get(`/v1/jobs?project_id=${blue.project_id}`), 200).data.map((j: any) => j.job_id)).toEqual([jobs['blue']]);
    expect(must(await admin.get(`/v1/datasets?project_id=${red.project_id}`), 200).data.map((d: any) => d.dataset_id)).toEqual([datasets['red']]);
    expect(must(await admin.get('/v1/projects?sort=name'), 200).data.map((p: any) => p.name)).toEqual(['blue', 'red']);
    expect(must(await admin.get('/v1/projects?name=re&state=ACTIVE'), 200).data.length).toBe(1);
  });

  test('changes and closes with the ETag it has read', async () => {
    const made = must(await admin.post('/v1/projects', { name: 'green' }), 201);
    const path = `/v1/projects/${made.project_id}`;
    must(await admin('PATCH', path, { body: { name: 'lime' } }), 428);
    must(await admin('PATCH', path, { body: { name: 'lime' }, headers: { 'if-match': '"v7"' } }), 412);
    expect(must(await admin('PATCH', path, { body: { name: 'lime' }, headers: { 'if-match': '"v1"' } }), 200).name).toBe('lime');
    expect(must(await admin.post(`${path}/close`, {}, { headers: { 'if-match': '*' } }), 200).state).toBe('CLOSED');
    must(await admin.post('/v1/jobs', { name: 'late', kind: 'noop', project_id: made.project_id }), 409);
  });

  test('a condition holds at each use', async () => {
    const user = must(await admin.post('/v1/users', { name: 'guest' }), 201).user_id;
    const guest = api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id: user }), 201).token);
    const soon = new Date(Date.now() + 5000).toISOString();
    must(await admin.post('/v1/role-bindings', { user_id: user, role: 'viewer', valid_until: soon, cidrs: ['127.0.0.0/8', '::1/128'] }), 201);
    must(await guest.get('/v1/jobs'), 200);
    const late = await eventually('the binding has ended', async () => {
      const reply = await guest.get('/v1/jobs');
      return reply.status !== 200 && reply;
    });
    expect(late.status, late.text).toBe(403);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
    expect(late.json.detail).toContain('has ended');
    must(await admin.post('/v1/role-bindings', { user_id: user, role: 'ml-engineer', cidrs: ['192.0.2.0/24'] }), 201);
    expect((await guest.get('/v1/jobs')).json.detail).toContain('address');
  });
});
