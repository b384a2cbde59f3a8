// SPDX-License-Identifier: Apache-2.0
// fairness.test.ts - one tenant floods; what it floods stands still on a lock that is held in the database, and another
// tenant's calls, the machines' reports and the platform's health are answered
// meanwhile. Nothing is judged by a clock: the lock is let go at the end.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv } from './client.ts';
import { api, eventually, makeTenant, must, waitJob, waitNode, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const UPLOADS = 6;
let flooding: { tenant: any; api: Api; token: string };
let other: { tenant: any; api: Api; token: string };
let holder: ChildProcess | null = null;

/** Holds what the statement locks until release(). */
async function hold(statement: string): Promise<void> {
  const secret = ['postgres', 'pg-superuser', 'pg-postgres', 'postgres.password'].map((n) => resolve(ready.data_dir, 'secrets',
      n)).find(existsSync);
  const env = { ...process.env, PGHOST: ready.pg.socket_dir, PGPORT: String(ready.pg.port), PGUSER: 'postgres',
      PGDATABASE: 'falaj',
    ...(secret ? { PGPASSWORD: readFileSync(secret, 'utf8').trim() } : {}) };
  holder = spawn('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  holder.stdin!.write(`BEGIN;\n${statement};\n\\echo held\n`);
  for await (const line of createInterface({ input: holder.stdout! })) if (line === 'held') return;
  throw new Error('psql ended without the lock');
}
function release(): void {
  holder?.stdin?.end('ROLLBACK;\n');
  holder = null;
}
const raw = (id: string): string => id.slice(4);

async function filledUpload(datasetId: string): Promise<string> {
  const bytes = Buffer.from(digitsCsv);
  const { upload_id: id } = must(await flooding.api.post('/v1/uploads', { dataset_id: datasetId, size_bytes: bytes.length }),
      201);
  must(await flooding.api('PUT', `/v1/uploads/${id}/parts?offset=0`, { raw: bytes,
      headers: { 'content-type': 'application/octet-stream' } }), 200);
  return id;
}

/** Every kind of call that the other tenant lives on, and a job of its that a machine runs and reports. */
async function othersLive(): Promise<void> {
  await waitNode(ready);
  const job = must(await other.api.post('/v1/jobs', { name: 'quiet', kind: 'noop' }), 201);
  for (let i = 0; i < 20; i++) must(await other.api.get(`/v1/jobs/${job.job_id}`), 200);
  must(await other.api.get('/v1/jobs?q=quiet'), 200);
  must(await other.api.get('/v1/jobs/counts'), 200);
  const set = must(await other.api.post('/v1/datasets', { name: `set-${job.job_id.slice(-8)}`, label_column: 'label',
      classes: 10 }), 201);
  must(await other.api.post(`/v1/datasets/${set.dataset_id}/versions`, undefined,
    { raw: Buffer.from(digitsCsv), headers: { 'content-type': 'text/csv' } }), 201);
  must(await api(ready, null).get('/readyz'), 200);
  expect((await waitJob(other.api, job.job_id)).state).toBe('COMPLETED');
}

beforeAll(async () => {
  flooding = await makeTenant(ready);
  other = await makeTenant(ready);
});
afterEach(release);

test('completions that stand still hold up nobody, and say how far they are', async () => {
  const set = must(await flooding.api.post('/v1/datasets', { name: 'digits', label_column: 'label', classes: 10 }), 201);
  const ids: string[] = [];
  for (let i = 0; i < UPLOADS; i++) ids.push(await filledUpload(set.dataset_id));
  await hold(`SELECT FROM quota WHERE tenant_id = '${raw(flooding.tenant.tenant_id)}' FOR UPDATE`);
  for (const id of ids.slice(1)) expect(must(await flooding.api.post(`/v1/uploads/${id}/completion`),
      202).state).toBe('COMPLETING');
  const waiting = flooding.api.post(`/v1/uploads/${ids[0]}/complete`);
  const look = async (id: string): Promise<any> => must(await flooding.api.get(`/v1/uploads/${id}`), 200);
  await eventually('two completions at their end', async () =>
    (await Promise.all(ids.map(look))).filter((u) => u.completed_bytes === u.size_bytes || u.state === 'COMPLETING').length >= 2);
  await othersLive();
  for (const id of ids.slice(1)) expect((await look(id)).state, 'still standing').toBe('COMPLETING');
  release();
  expect(must(await waiting, 200).sha256).toBeTruthy();
  const versions = await Promise.all(ids.slice(1).map(async (id) =>
    (await eventually('a version', async () => ((await look(id)).state === 'COMPLETED' ? look(id) : undefined))).version));
  expect(new Set(versions).size).toBe(UPLOADS - 1);
}, 240_000);

test('a content that is refused in the background says why', async () => {
  const set = must(await flooding.api.post('/v1/datasets', { name: 'bad', label_column: 'label', classes: 2 }), 201);
  const bytes = Buffer.from('a,label\n1,0\nx,1\n');
  const { upload_id: id } = must(await flooding.api.post('/v1/uploads', { dataset_id: set.dataset_id,
      size_bytes: bytes.length }), 201);
  must(await flooding.api.post(`/v1/uploads/${id}/completion`), 409);
  must(await flooding.api('PUT', `/v1/uploads/${id}/parts?offset=0`, { raw: bytes,
      headers: { 'content-type': 'application/octet-stream' } }), 200);
  must(await other.api.post(`/v1/uploads/${id}/completion`), 404);
  must(await flooding.api.post(`/v1/uploads/${id}/completion`), 202);
  const end = await eventually('its end', async () => {
    const u = must(await flooding.api.get(`/v1/uploads/${id}`), 200);
    return u.state === 'COMPLETING' ? undefined : u;
  });
  expect(end).toMatchObject({ state: 'REFUSED', version: 0 });
  expect(end.failure).toContain('row 3');
  must(await flooding.api.post(`/v1/uploads/${id}/completion`), 409);
});

test('calls that stand still hold up nobody', async () => {
  const project = must(await flooding.api.post('/v1/projects', { name: 'held' }), 201);
  await hold(`SELECT FROM project WHERE tenant_id = '${raw(flooding.tenant.tenant_id)}' FOR UPDATE`);
  const standing = Array.from({ length: 12 }, () =>
    flooding.api('PATCH', `/v1/projects/${project.project_id}`, { body: { display_name: 'x' }, headers: { 'if-match': '*' } }));
  await othersLive();
  release();
  await Promise.all(standing);
}, 240_000);

test('submissions that stand still hold up those of nobody else', async () => {
  const names = Array.from({ length: 6 }, (_, i) => `stands-${i}`);
  await hold(`SELECT FROM quota WHERE tenant_id = '${raw(flooding.tenant.tenant_id)}' FOR UPDATE`);
  let answered = 0;
  const standing = names.map(async (name) => {
    const job = must(await flooding.api.post('/v1/jobs', { name, kind: 'noop', pool: 'no-machines' }), 201);
    answered += 1;
    return job;
  });
  for (let i = 0; i < 2; i++) await othersLive();
  expect(answered, 'still standing').toBe(0);
  release();
  expect((await Promise.all(standing)).map((j) => j.name).sort()).toEqual(names);
}, 240_000);
