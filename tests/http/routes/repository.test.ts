// SPDX-License-Identifier: Apache-2.0
// repository.test.ts - the model repository of the Open Inference Protocol: the tenant's own deployments, rolled and taken down.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, eventsWith, train, until, upload } from '../client.ts';
import { makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let t: { token: string; api: Api };
let other: Api;
let deployment: any;
const ready_now = () => t.api.get('/v2/models/stored/ready');

beforeAll(async () => {
  t = await makeTenant(ready);
  other = (await makeTenant(ready)).api;
  const { dataset_id } = await upload(t.api, digitsCsv.split('\n').slice(0, 129).join('\n'), 'digits');
  const job = await train(t.api, dataset_id, { hidden: [8], epochs: 1 });
  const model = must(await t.api.post('/v1/models', { name: 'stored', job_id: job.job_id }), 201);
  must(await t.api.post('/v1/models', { name: 'stored', job_id: job.job_id }), 201);
  deployment = must(await t.api.post('/v1/deployments', { name: 'stored', model_id: model.model_id, model_version: 1 }), 201);
  await until(ready_now, 200, 120_000);
}, 240_000);

test('the repository lists, loads and unloads by the permissions of deployments', async () => {
  const index = async (call: Api, ready_only = false) => must(await call.post('/v2/repository/index', { ready: ready_only }),
      200);
  expect(await index(other)).toEqual([]);
  expect(await index(t.api, true)).toEqual([{ name: 'stored', version: '1', state: 'READY', reason: '' }]);
  for (const verb of ['load', 'unload']) {
    expect((await other.post(`/v2/repository/models/stored/${verb}`, {})).status).toBe(404);
    expect((await t.api.post(`/v2/repository/models/stored/${verb}`, { parameters: { config: '{}' } })).status).toBe(400);
  }
  must(await t.api.post('/v2/repository/models/stored/load', {}), 200);
  for (const end = Date.now() + 90_000; (await index(t.api))[0].version !==
      '2'; await sleep(50)) expect(Date.now()).toBeLessThan(end);
  must(await ready_now(), 200);
  must(await t.api.post('/v2/repository/models/stored/unload', {}), 200);
  expect(await index(t.api)).toEqual([]);
  await until(ready_now, 404);
  const events = eventsWith(ready, deployment.deployment_id);
  expect(events.filter((event) => event.action === 'deployment.delete')).toHaveLength(1);
});
