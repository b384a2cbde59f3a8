// SPDX-License-Identifier: Apache-2.0
// deployments.test.ts - a deployment moves to another version under load without one call that fails; a version that cannot
// be loaded
// leaves the old one serving and says why. The models are trained by the real worker.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, eventsWith, psql, train, until, upload } from '../client.ts';
import { makeTenant, must, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const VERSIONS = 3;
let t: { token: string; api: Api };
let other: Api;
let model: string;
let path: string;
let deployment: any;
let first: string;

beforeAll(async () => {
  t = await makeTenant(ready);
  other = (await makeTenant(ready)).api;
  const { dataset_id } = await upload(t.api, digitsCsv.split('\n').slice(0, 129).join('\n'), 'digits');
  for (let version = 1; version <= VERSIONS; version++) {
    const job = await train(t.api, dataset_id, { hidden: [8 * version], epochs: 1 });
    const made = must(await t.api.post('/v1/models', { name: 'rolls', job_id: job.job_id }), 201);
    expect(made.version).toBe(version);
    model = made.model_id;
  }
  deployment = must(await t.api.post('/v1/deployments', { name: 'rolls', model_id: model, model_version: 1 }), 201);
  path = `/v1/deployments/${deployment.deployment_id}`;
  first = deployment.job_id;
  await until(() => t.api.get('/v2/models/rolls/ready'), 200, 120_000);
}, 240_000);

const body = { inputs: [{ name: 'input', shape: [1, 64], datatype: 'FP32', data: digitRows(1)[0]!.features }] };
const ask = () => t.api('POST', '/v2/models/rolls/infer', { body });

async function untilRoll(want: string): Promise<any> {
  for (const end = Date.now() + 90_000; ; await sleep(50)) {
    const d = must(await t.api.get(path), 200);
    if (d.roll === want) return d;
    if (Date.now() > end) throw new Error(`the roll is ${d.roll}, not ${want}: ${JSON.stringify(d)}`);
  }
}

/** Six callers ask without a pause while `what` happens; every answer's version, in order of arrival. */
async function underLoad(what: () => Promise<void>): Promise<number[]> {
  const versions: number[] = [];
  let is_over = false;
  const callers = Array.from({ length: 6 }, async () => {
    while (!is_over) versions.push(Number(must(await ask(), 200).model_version));
  });
  const stop = () => {
    is_over = true;
  };
  await Promise.all([what().finally(stop), ...callers]);
  return versions;
}

test('a roll under load turns without one call that fails, and the old job ends', async () => {
  must(await other('PATCH', path, { body: { model_version: 2 } }), 404);
  const versions = await underLoad(async () => {
    const began = must(await t.api('PATCH', path, { body: { model_version: 2, max_queue_size: 100 } }), 200);
    expect(began).toMatchObject({ roll: 'LOADING', model_version: 1, next_version: 2, job_id: first, ready: true });
    expect(began.next_job_id).toBeTruthy();
    const turned = await untilRoll('NONE');
    expect(turned).toMatchObject({ model_version: 2, job_id: began.next_job_id, ready: true, max_queue_size: 100,
        next_version: 0 });
    await waitJob(t.api, first, ['CANCELLED']);
    for (let i = 0; i < 20; i++) must(await ask(), 200);
  });
  expect(new Set(versions)).toEqual(new Set([1, 2]));
  expect(versions.at(-1)).toBe(2);
  expect(versions.length).toBeGreaterThan(50);
  const told = eventsWith(ready, deployment.deployment_id)
    .filter((event) => event.action === 'deployment.roll')
    .map((event) => event.details);
  expect(told).toMatchObject([{ step: 'began', from_version: 1, to_version: 2 }, { step: 'turned', from_version: 1,
      to_version: 2 }]);
}, 180_000);

test('what serves already is no roll, and ends one that has not turned', async () => {
  const before = must(await t.api.get(path), 200);
  expect(must(await t.api('PATCH', path, { body: { model_version: 2 } }), 200)).toMatchObject({ roll: 'NONE', version:
      before.version });
  must(await t.api('PATCH', path, { body: { model_version: 99 } }), 404);
  // More slots than any machine has: it waits, and what serves goes on.
  const { next_job_id } = must(await t.api('PATCH', path, { body: { slots: 4000 } }), 200);
  const back = must(await t.api('PATCH', path, { body: { slots: 1 } }), 200);
  expect(back).toMatchObject({ roll: 'FAILED', model_version: 2, ready: true });
  expect(back.roll_error).toContain('taken back');
  await waitJob(t.api, next_job_id, ['CANCELLED']);
  must(await ask(), 200);
});

test('a version that cannot be loaded leaves the old one serving and says why', async () => {
  const which = `model_id = '${model.slice(4)}' AND version = 3`;
  const object = psql(ready, `SELECT object_id FROM model_version WHERE ${which}`).replaceAll('-', '');
  const found = execFileSync('find', [resolve(ready.data_dir), '-name', `*${object}*`, '-type', 'f'], { encoding: 'utf8' });
  const blob = found.trim().split('\n')[0];
  const good = readFileSync(blob!), bad = Buffer.from(good);
  bad[bad.length >> 1]! ^= 1;
  writeFileSync(blob!, bad);
  const versions = await underLoad(async () => {
    must(await t.api('PATCH', path, { body: { model_version: 3, deadline_s: 60 } }), 200);
    const d = await untilRoll('FAILED');
    expect(d).toMatchObject({ model_version: 2, ready: true });
    expect(d.roll_error).toMatch(/^Version 3 /);
  });
  expect(new Set(versions)).toEqual(new Set([2]));
  writeFileSync(blob!, good);
}, 180_000);
