// SPDX-License-Identifier: Apache-2.0
// lists.test.ts - the lists of data sets, models, deployments, users, projects, tokens, tenants and machines by their filters and orders.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import {
  api, binary, makeTenant, must, problemOf, some, waitJob, waitNode, PATIENCE_MS, type Api, type Ready,
} from '../harness.ts';

const ready: Ready = inject('falaj');
const platform: Api = api(ready, ready.admin_token);
let admin: Api, stranger: Api, second: Api;
let secondId: string, projectId: string, token: string;
const modelIds: string[] = [];

const names = async (path: string, by: Api = admin): Promise<string[]> => must(await by.get(path), 200).data.map((x: any) => x.name);
const csv = `a,b,label\n${Array.from({ length: 40 }, (_, i) => `${i % 2 ? 9 : 1},${i % 3},${i % 2}`).join('\n')}\n`;

beforeAll(async () => {
  const made = await makeTenant(ready);
  admin = made.api;
  token = made.token;
  stranger = (await makeTenant(ready)).api;
  secondId = must(await admin.post('/v1/users', { name: 'Second Sultan' }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id: secondId, role: 'ml-engineer' }), 201);
  second = api(ready, must(await admin.post('/v1/api-tokens', { name: 'of the second', user_id: secondId }), 201).token);
  projectId = must(await admin.post('/v1/projects', { name: 'speech', display_name: 'الكلام' }), 201).project_id;
  must(await admin.post('/v1/projects', { name: 'vision' }), 201);
  for (const by of [admin, stranger])
    for (const [name, data_class] of [['digits-a', 'internal'], ['digits-b', 'health'], ['faces', 'personal']])
      must(await by.post('/v1/datasets', { name, data_class, label_column: 'label', classes: 2 }), 201);
  must(await second.post('/v1/datasets', { name: 'speech-digits', label_column: 'label', classes: 2, project_id: projectId }), 201);
  const faces = must(await admin.get('/v1/datasets?q=faces'), 200).data[0].dataset_id;
  must(await admin('POST', `/v1/datasets/${faces}/versions`, { raw: csv, headers: { 'content-type': 'text/csv' } }), 201);
  await waitNode(ready);
  const job = must(await admin.post('/v1/jobs', { name: 'learn', kind: 'train', spec: { dataset_id: faces, hidden: [4], epochs: 1, seed: 1 } }), 201);
  await waitJob(admin, job.job_id, ['COMPLETED']);
  for (const name of ['llama-base', 'llama-small']) modelIds.push(must(await admin.post('/v1/models', { name, job_id: job.job_id }), 201).model_id);
  must(await admin.post('/v1/deployments', { name: 'llama-live', model_id: modelIds[0] }), 201);
  must(await admin.post('/v1/deployments', { name: 'llama-waits', model_id: modelIds[1], slots: 4096 }), 201);
});

describe('data sets', () => {
  test('by each filter and in each order', async () => {
    expect(await names('/v1/datasets')).toEqual(['speech-digits', 'faces', 'digits-b', 'digits-a']);
    expect(await names('/v1/datasets?sort=created')).toEqual(['digits-a', 'digits-b', 'faces', 'speech-digits']);
    expect(await names('/v1/datasets?sort=name')).toEqual(['digits-a', 'digits-b', 'faces', 'speech-digits']);
    expect(await names('/v1/datasets?sort=-name')).toEqual(['speech-digits', 'faces', 'digits-b', 'digits-a']);
    expect(await names('/v1/datasets?q=DIGITS')).toEqual(['speech-digits', 'digits-b', 'digits-a']);
    expect(await names('/v1/datasets?data_class=health')).toEqual(['digits-b']);
    expect(await names(`/v1/datasets?project_id=${projectId}`)).toEqual(['speech-digits']);
    expect(await names(`/v1/datasets?created_by=${secondId}`)).toEqual(['speech-digits']);
    expect(await names(`/v1/datasets?zone=${ready.zone}`)).toEqual(['faces']);
    expect(await names('/v1/datasets?zone=nowhere')).toEqual([]);
    expect(await names('/v1/datasets?q=digits&data_class=internal&sort=name')).toEqual(['digits-a', 'speech-digits']);
    expect(await names('/v1/datasets?q=dig_ts')).toEqual([]);
  });

  test('pages hold filters and order, and their tokens belong to them', async () => {
    const first = must(await admin.get('/v1/datasets?q=digits&sort=name&page_size=2'), 200);
    expect(first.data.map((d: any) => d.name)).toEqual(['digits-a', 'digits-b']);
    const token = encodeURIComponent(first.next_page_token);
    expect(await names(`/v1/datasets?q=digits&sort=name&page_size=2&page_token=${token}`)).toEqual(['speech-digits']);
    for (const other of ['q=digits&sort=-name', 'q=faces&sort=name', 'sort=name', 'q=digits&sort=name&data_class=health'])
      expect(problemOf(await admin.get(`/v1/datasets?${other}&page_size=2&page_token=${token}`)).code, other).toBe('invalid_page_token');
    expect(problemOf(await stranger.get(`/v1/datasets?q=digits&sort=name&page_size=2&page_token=${token}`)).code).toBe('invalid_page_token');
  });

  test("another tenant's are not among them", async () => {
    for (const query of ['q=digits', 'data_class=health', 'sort=name'])
      expect(must(await stranger.get(`/v1/datasets?${query}`), 200).data.map((d: any) => d.dataset_id)).not.toContain(must(await admin.get('/v1/datasets?q=digits-b'), 200).data[0].dataset_id);
    for (const query of ['q=speech', `created_by=${secondId}`, `project_id=${projectId}`, `zone=${ready.zone}`]) expect(await names(`/v1/datasets?${query}`, stranger), query).toEqual([]);
  });

  test('the command line has the same filters', () => {
    const run = (...args: string[]): string[] =>
      JSON.parse(execFileSync(binary('falaj'), ['dataset', 'list', ...args, '-o', 'json'], { encoding: 'utf8', env: { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token } }))
        .data.map((d: any) => d.name);
    expect(run('--q', 'digits', '--sort', 'name')).toEqual(['digits-a', 'digits-b', 'speech-digits']);
    expect(run('--class', 'health')).toEqual(['digits-b']);
    expect(run('--created-by', secondId)).toEqual(['speech-digits']);
  });
});

describe('models and deployments', () => {
  test('models by each filter', async () => {
    expect(await names('/v1/models')).toEqual(['llama-small', 'llama-base']);
    expect(await names('/v1/models?sort=name')).toEqual(['llama-base', 'llama-small']);
    expect(await names('/v1/models?q=SMALL')).toEqual(['llama-small']);
    expect(await names(`/v1/models?zone=${ready.zone}&sort=name`)).toEqual(['llama-base', 'llama-small']);
    expect(await names('/v1/models?zone=nowhere')).toEqual([]);
    expect(await names(`/v1/models?created_by=${secondId}`)).toEqual([]);
    expect(await names('/v1/models?q=llama', stranger)).toEqual([]);
  });

  test('deployments by each filter', async () => {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(200)) if ((await names('/v1/deployments?ready=true')).length > 0) break;
    expect(await names('/v1/deployments?ready=true')).toEqual(['llama-live']);
    expect(await names('/v1/deployments?ready=false')).toEqual(['llama-waits']);
    expect(await names('/v1/deployments?sort=-name')).toEqual(['llama-waits', 'llama-live']);
    expect(await names('/v1/deployments?q=WAITS')).toEqual(['llama-waits']);
    expect(await names(`/v1/deployments?model_id=${modelIds[0]}`)).toEqual(['llama-live']);
    expect(await names(`/v1/deployments?created_by=${secondId}`)).toEqual([]);
    for (const query of ['', 'q=llama', 'ready=true', `model_id=${modelIds[0]}`]) expect(await names(`/v1/deployments?${query}`, stranger), query).toEqual([]);
  });
});

describe('people, projects, tokens, tenants and machines', () => {
  test('users by part of a name, kind, state and role', async () => {
    expect(await names('/v1/users?q=SULTAN')).toEqual(['Second Sultan']);
    expect(await names('/v1/users?role=ml-engineer')).toEqual(['Second Sultan']);
    expect(await names('/v1/users?q=sultan&kind=service')).toEqual([]);
    expect(await names('/v1/users?name=Second')).toEqual(['Second Sultan']);
    expect(await names('/v1/users?name=Sultan')).toEqual([]);
    expect(await names('/v1/users?q=sultan', stranger)).toEqual([]);
    expect(await names('/v1/users?q=sultan', platform)).toEqual([]);
  });

  test('projects by part of either name', async () => {
    expect(await names('/v1/projects?q=%D9%83%D9%84%D8%A7%D9%85')).toEqual(['speech']);
    expect(await names('/v1/projects?q=VIS')).toEqual(['vision']);
    expect(await names('/v1/projects?q=speech', stranger)).toEqual([]);
  });

  test('tokens by part of a name, and each sees its own', async () => {
    expect(await names('/v1/api-tokens?q=SECOND')).toEqual(['of the second']);
    expect(await names(`/v1/api-tokens?sort=expires_at&user_id=${secondId}`)).toEqual(['of the second']);
    expect(await names('/v1/api-tokens?q=second', stranger)).toEqual([]);
    const all = must(await second.get('/v1/api-tokens'), 200).data;
    for (const x of some<any>(all)) expect(x.user_id).toBe(secondId);
  });

  test('tenants and machines', async () => {
    const mine = must(await admin.get('/v1/me'), 200).tenant;
    expect(await names(`/v1/tenants?q=${mine.slice(3).toUpperCase()}`, platform)).toEqual([mine]);
    expect((await admin.get('/v1/tenants?q=ten')).status).toBe(403);
    const node = (await waitNode(ready)).name;
    expect(await names(`/v1/nodes?q=${node.slice(1, 4)}&sort=name`, platform)).toContain(node);
    expect(await names('/v1/nodes?q=no-such-machine', platform)).toEqual([]);
  });
});

test('what is no filter is refused where it stands', async () => {
  const bad: [string, string][] = [['datasets?q=ab', '/q'], ['datasets?data_class=secret', '/data_class'], ['datasets?zone=A+B', '/zone'], ['datasets?sort=size', '/sort'],
    ['datasets?created_by=somebody', '/created_by'], ['models?q=x', '/q'], ['models?sort=version', '/sort'], ['deployments?ready=maybe', '/ready'],
    ['deployments?model_id=m', '/model_id'], ['users?q=ab', '/q'], ['users?role=No+Role', '/role'], ['nodes?q=w', '/q'], ['projects?q=ab', '/q'], ['api-tokens?q=ab', '/q']];
  for (const [path, pointer] of bad) {
    const reply = await admin.get(`/v1/${path}`);
    expect(reply.status, path).toBe(400);
    expect(problemOf(reply).errors[0]?.pointer, path).toBe(pointer);
  }
});
