// SPDX-License-Identifier: Apache-2.0
// serving.test.ts - a model that stalls costs no other route anything, and calls that come together are computed together. The serving child is
// stopped by a signal in the middle of its calls; more of them than the API has handlers wait for it.
import { readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, train, until, upload } from './client.ts';
import { api, makeTenant, must, waitJob, type Api, type Ready } from './harness.ts';
import { connected, pending, stalled as stallOne, untilPending } from './stall.ts';

const ready: Ready = inject('falaj');
const admin: Api = api(ready, ready.admin_token);
const CALLS = 12; // three times api.threads, and the harness has sockets left for other calls
const path = '/v2/models/wide';
let t: { token: string; api: Api };
let deployment: any;
let body: { inputs: unknown[] };

beforeAll(async () => {
  t = await makeTenant(ready);
  const { dataset_id } = await upload(t.api, digitsCsv.split('\n').slice(0, 129).join('\n'), 'digits');
  // So wide that a row takes longer to compute than a request to read: what comes together waits together.
  const job = await train(t.api, dataset_id, { hidden: [1536, 1536], epochs: 1 });
  const model = must(await t.api.post('/v1/models', { name: 'wide', job_id: job.job_id }), 201);
  deployment = must(await t.api.post('/v1/deployments', { name: 'wide', model_id: model.model_id }), 201);
  await until(() => t.api.get(`${path}/ready`), 200, 120_000);
  const name = must(await t.api.get(path), 200).inputs[0].name;
  body = { inputs: [{ name, shape: [1, 64], datatype: 'FP32', data: digitRows(1)[0]!.features }] };
}, 240_000);

const infer = () => t.api('POST', `${path}/infer`, { body });

/** The children of the worker: here it serves one model and runs nothing else. */
function children(): number[] {
  const worker: number = JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids.worker;
  return readdirSync(`/proc/${worker}/task`).flatMap((task) =>
    readFileSync(`/proc/${worker}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number));
}

/** Stops the one child. */
async function stalled(what: () => Promise<void>): Promise<void> {
  const pids = children();
  expect(pids).toHaveLength(1);
  await stallOne(pids[0]!, what);
}

test('a stalled model holds up no other route, and its calls are answered when it goes on', async () => {
  await connected(ready, deployment.job_id, CALLS, infer);
  let calls: Promise<any>[] = [];
  await stalled(async () => {
    calls = [...Array.from({ length: CALLS - 2 }, infer), t.api.get(path), t.api.get(`${path}/ready`)];
    await untilPending(admin, CALLS);
    for (let i = 0; i < 10; i++)
      for (const route of [`/v1/jobs/${deployment.job_id}`, '/v1/models', '/v1/me']) must(await t.api.get(route), 200);
    expect(await pending(admin), 'and all of them still wait').toBe(CALLS);
  });
  for (const reply of await Promise.all(calls)) must(reply, 200);
});

test('who leaves takes the call of the model along', async () => {
  await connected(ready, deployment.job_id, CALLS, infer);
  await stalled(async () => {
    const { hostname, port } = new URL(ready.api_url);
    const leaving = Array.from({ length: 5 }, () => {
      const call = request({ hostname, port, method: 'POST', path: `${path}/infer`, agent: false,
        headers: { authorization: `Bearer ${t.token}`, 'content-type': 'application/json' } });
      call.on('error', () => undefined).end(JSON.stringify(body));
      return call;
    });
    await untilPending(admin, 5);
    for (const call of leaving) call.destroy();
    await untilPending(admin, 0);
  });
  must(await infer(), 200);
});

test('a stop answers calls that wait for a model, and a SIGHUP meanwhile does not end it', async () => {
  await connected(ready, deployment.job_id, CALLS, infer);
  const pidOfApi = (): number => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids.api;
  const logged = (): number => readFileSync(resolve(ready.data_dir, 'log/api.log'), 'utf8').split('event=api.draining').length;
  const pid = pidOfApi(), before = logged();
  await stalled(async () => {
    const calls = Array.from({ length: CALLS }, infer);
    await untilPending(admin, CALLS);
    process.kill(pid, 'SIGTERM');
    for (let tries = 0; tries < 400 && logged() === before; tries++) await sleep(25);
    process.kill(pid, 'SIGHUP');
    for (const reply of await Promise.all(calls)) expect(reply.status, reply.text).toBe(503);
  });
  for (let tries = 0; tries < 1200 && pidOfApi() === pid; tries++) await sleep(25);
  await until(() => infer().catch((e: Error) => ({ status: 0, text: e.message })), 200, 120_000);
});

test('calls that come together are computed together, more than the API has handlers', async () => {
  await connected(ready, deployment.job_id, CALLS, infer);
  let calls: Promise<any>[] = [];
  await stalled(async () => {
    calls = Array.from({ length: CALLS }, infer);
    await untilPending(admin, CALLS);
  });
  for (const reply of await Promise.all(calls)) must(reply, 200);
  must(await t.api.delete(`/v1/deployments/${deployment.deployment_id}`), 204);
  await waitJob(t.api, deployment.job_id, ['CANCELLED', 'COMPLETED', 'FAILED']);
  const lines: string[] = must(await t.api.get(`/v1/jobs/${deployment.job_id}/logs?page_size=200`), 200).data.map((l: any) => l.text ?? l.line ?? JSON.stringify(l));
  const told = lines.map((l) => /answered (\d+) requests .* of at most (\d+) requests/.exec(l)).find((m) => m !== null);
  expect(told, lines.join('\n')).toBeTruthy();
  expect(Number(told![2])).toBeGreaterThan(4);
});
