// SPDX-License-Identifier: Apache-2.0
// outage.test.ts - PostgreSQL, Redis and the key daemon die under load and come back. Meanwhile every call is answered in time, with what
// was asked or with a 503 that says when to try again; afterwards all is as before, by itself, and what was acknowledged is there.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { digitsCsv, train, until, upload } from './client.ts';
import { eventually, idempotencyKey, makeTenant, must, problemOf, promised, some, waitJob, type Api, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const SLOWEST_MS = promised(35_000);
let t: { token: string; api: Api };
let datasetId: string;

beforeAll(async () => {
  t = await makeTenant(ready);
  datasetId = (await upload(t.api, digitsCsv, 'digits')).dataset_id;
});

/** Processes are started again under new ids; falaj dev writes them down. */
const pidOf = (name: string): number => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids[name];

function signal(name: string, which: NodeJS.Signals): void {
  const pid = pidOf(name);
  if (pid > 1) {
    try {
      process.kill(pid, which);
    } catch {
      // It has ended already and is not back yet.
    }
  }
}
/** A process that was told to stop goes on until its threads have seen it: one of them could still answer. */
async function halted(name: string): Promise<void> {
  const threads = `/proc/${pidOf(name)}/task`;
  const goes = (): boolean => readdirSync(threads).some((t) => !/^State:\s+T/m.test(readFileSync(`${threads}/${t}/status`, 'utf8')));
  for (let tries = 0; tries < 200 && goes(); tries++) await sleep(25);
  expect(goes()).toBe(false);
}

/** Down for `ms` at least, and until somebody has noticed: each time falaj dev has started it again, it goes once more. */
async function keepDown(name: string, which: NodeJS.Signals, ms: number, noticed = (): boolean => true): Promise<void> {
  for (const begun = Date.now(), end = begun + ms; Date.now() < end || (!noticed() && Date.now() < begun + 60_000); await sleep(150)) signal(name, which);
}

interface Seen { reply: Reply; ms: number; key: string }

/** Calls one after the other until told to stop. Every one must be answered, in time, with success or a 503 that says when to come back. */
interface Load { stop(): Promise<Seen[]>; more(calls: number): Promise<unknown>; saw(status: number): boolean }
function load(make: (key: string) => Promise<Reply>, allowed: number[]): Load {
  let running = true;
  const seen: Seen[] = [];
  const all = (async () => {
    while (running) {
      const key = idempotencyKey(), from = Date.now();
      const reply = await make(key);
      seen.push({ reply, ms: Date.now() - from, key });
      await sleep(20);
    }
    return seen;
  })();
  return {
    saw: (status) => seen.some((s) => s.reply.status === status),
    /** Once so many more calls have been answered. */
    more(calls) {
      const wanted = seen.length + calls;
      return eventually(`${calls} more calls answered`, () => seen.length >= wanted);
    },
    async stop() {
      running = false;
      const seen = await all;
      for (const { reply, ms } of seen) {
        expect(ms, `${reply.status} ${reply.text.slice(0, 200)}`).toBeLessThan(SLOWEST_MS);
        expect(allowed, reply.text.slice(0, 300)).toContain(reply.status);
        if (reply.status < 500) continue;
        problemOf(reply);
        expect(Number(reply.headers.get('retry-after')), reply.text).toBeGreaterThan(0);
        expect(reply.text).not.toMatch(/SQLSTATE|server closed the connection|\.sock|PQ|libpq/);
      }
      return seen;
    },
  };
}

const submit = (key: string) => t.api.post('/v1/jobs', { name: 'during', kind: 'noop' }, { key });
const send = (key: string) => t.api.post(`/v1/datasets/${datasetId}/versions`, undefined, { key, raw: 'p,label\n1,0\n2,1\n', headers: { 'content-type': 'text/csv' } });
const whole = async (): Promise<void> => {
  await until(() => t.api.get('/readyz'), 200);
  const job = must(await t.api.post('/v1/jobs', { name: 'after', kind: 'noop' }), 201);
  await waitJob(t.api, job.job_id, ['COMPLETED']);
};

test('/readyz tells sealed keys and a full disk from what is down, and goes on taking traffic', async () => {
  const part = async (name: string): Promise<any> => {
    const reply = must(await t.api.get('/readyz'), 200);
    return { ...reply.parts.find((p: any) => p.name === name), all: reply.status };
  };
  const keys = `keys ${ready.zone}`;
  expect(await part('blobs')).toMatchObject({ status: 'ok', all: 'ready' });
  const keyd: number = ready.pids[Object.keys(ready.pids).find((name) => name.startsWith('keyd'))!]!;
  process.kill(keyd, 'SIGUSR1');
  const sealed = await eventually('sealed keys', async () => { const p = await part(keys); return p.status === 'sealed' && p; });
  expect(sealed).toMatchObject({ detail: 'sealed by the operator', all: 'degraded' });
  // Who has another falaj-api that is whole asks so, and prefers it; what needs no key goes on here.
  const whole = await t.api.get('/readyz?whole=true');
  expect(whole).toMatchObject({ status: 503, json: { status: 'degraded' } });
  expect(whole.json.parts).toContainEqual({ name: keys, status: 'sealed', detail: 'sealed by the operator' });
  must(await t.api.post('/v1/jobs', { name: 'without keys', kind: 'noop' }), 201);
  expect((await send(idempotencyKey())).status).toBe(503);
  process.kill(keyd, 'SIGHUP');
  await eventually('open keys', async () => (await part(keys)).all === 'ready');
  must(await t.api.get('/readyz?whole=true'), 200);
  const conf = join(ready.data_dir, 'etc', 'api.conf'), was = readFileSync(conf, 'utf8');
  writeFileSync(conf, `${was}\nblob.min_free = 1099511627776\n`);
  process.kill(ready.pids['api']!, 'SIGHUP');
  const full = await eventually('a full disk', async () => { const p = await part('blobs'); return p.status === 'full' && p; });
  expect(full).toMatchObject({ all: 'degraded', detail: expect.stringContaining('blob.min_free asks for 1048576 MiB') });
  writeFileSync(conf, was);
  process.kill(ready.pids['api']!, 'SIGHUP');
  await eventually('room again', async () => (await part('blobs')).all === 'ready');
});

describe('PostgreSQL', () => {
  test.each([['is stopped', 'SIGINT'], ['is killed', 'SIGQUIT']] as const)('%s: calls are answered, and nothing acknowledged is lost', async (_what, which) => {
    const reads = load(() => t.api.get('/v1/jobs?page_size=1'), [200, 503]), writes = load(submit, [201, 503]);
    await Promise.all([reads.more(3), writes.more(3)]);
    await keepDown('postgres', which, 2500, () => reads.saw(503) || writes.saw(503));
    await until(() => t.api.get('/readyz'), 200);
    await until(() => submit(idempotencyKey()), 201);
    await Promise.all([reads.more(3), writes.more(3)]);
    const seen = [...(await reads.stop()), ...(await writes.stop())];
    expect(seen.some((s) => s.reply.status === 503), 'it was down').toBe(true);
    expect(seen.at(-1)!.reply.status, 'and is back').toBe(201);
    for (const { reply, key } of some(seen.filter((s) => s.reply.status === 201))) {
      const again = must(await submit(key), 201);
      expect(again.job_id, 'the same key finds the same job').toBe(reply.json.job_id);
    }
    await whole();
  }, 150_000);

  test('a job that runs meanwhile is finished by its worker', async () => {
    const job = must(await t.api.post('/v1/jobs', { name: 'through', kind: 'train', spec: { dataset_id: datasetId, dataset_version: 1, hidden: [64, 64], epochs: 150, seed: 3 } }), 201);
    await waitJob(t.api, job.job_id, ['RUNNING', 'COMPLETED']);
    await keepDown('postgres', 'SIGINT', 1500);
    await until(() => t.api.get(`/v1/jobs/${job.job_id}`), 200);
    const end = await waitJob(t.api, job.job_id, ['COMPLETED'], 240_000);
    expect(end.result.holdout_accuracy).toBeGreaterThan(0.9);
    expect(end.requeue_count).toBe(0);
  }, 180_000);
});

describe('Redis', () => {
  test('is killed: it holds hints alone, so no call notices', async () => {
    const reads = load(() => t.api.get('/v1/jobs?page_size=1'), [200]), writes = load(submit, [201]);
    await Promise.all([reads.more(3), writes.more(3)]);
    await keepDown('redis', 'SIGKILL', 2000);
    const job = must(await submit(idempotencyKey()), 201);
    await waitJob(t.api, job.job_id, ['COMPLETED']);
    await Promise.all([reads.more(3), writes.more(3)]);
    expect((await reads.stop()).length).toBeGreaterThan(5);
    expect((await writes.stop()).length).toBeGreaterThan(5);
    await whole();
  });
});

describe('The key daemon', () => {
  test.each([['is killed', 'SIGKILL'], ['is stopped', 'SIGTERM']] as const)('%s: uploads wait for it in words, the rest goes on', async (_what, which) => {
    const uploads = load(send, [201, 503]), reads = load(() => t.api.get('/v1/jobs?page_size=1'), [200]), writes = load(submit, [201]);
    await Promise.all([uploads.more(2), reads.more(3), writes.more(3)]);
    await keepDown('keyd', which, 2500, () => uploads.saw(503));
    await until(() => send(idempotencyKey()), 201);
    await Promise.all([uploads.more(2), reads.more(3), writes.more(3)]);
    await reads.stop();
    await writes.stop();
    const seen = await uploads.stop();
    expect(seen.some((s) => s.reply.status === 503), 'it was down').toBe(true);
    expect(seen.at(-1)!.reply.status, 'and is back').toBe(201);
    const listed = must(await t.api.get(`/v1/datasets/${datasetId}/versions?page_size=200`), 200).data.map((v: any) => v.version);
    for (const s of some(seen.filter((x) => x.reply.status === 201))) expect(listed).toContain(s.reply.json.version);
    const content = await t.api.get(`/v1/datasets/${datasetId}/versions/1/content`);
    expect(content.status, content.text.slice(0, 200)).toBe(200);
    expect(content.text === digitsCsv, 'the first version is as it was uploaded').toBe(true);
    await whole();
  });

  test('hangs: an upload gives up in time and says so', async () => {
    signal('keyd', 'SIGSTOP');
    await halted('keyd');
    try {
      // A balancer's look is answered though the key daemon is silent, and this falaj-api goes on with all else.
      await until(() => t.api.get('/readyz?whole=true'), 503);
      const seen = must(await t.api.get('/readyz'), 200), keys = seen.parts.find((p: any) => p.name === `keys ${ready.zone}`);
      expect(seen.status).toBe('degraded');
      expect(keys).toMatchObject({ status: 'down', detail: "The zone's falaj-keyd does not answer" });
      const from = Date.now();
      const reply = await send(idempotencyKey());
      expect(Date.now() - from).toBeLessThan(SLOWEST_MS);
      expect([503, 504], reply.text).toContain(reply.status);
      problemOf(reply);
      must(await t.api.get('/v1/me'), 200);
    } finally {
      signal('keyd', 'SIGCONT');
    }
    await until(() => send(idempotencyKey()), 201);
    await train(t.api, datasetId, { dataset_version: 1, epochs: 2 });
  });
});

test('the record of it all is signed, and no quota is held by what has ended', async () => {
  // A head is signed once a minute.
  const head = await until(() => t.api.get('/v1/audit/head'), 200, 100_000);
  expect(head.size).toBeGreaterThan(10);
  const quotas = must(await t.api.get('/v1/quotas'), 200).data;
  for (const resource of ['jobs', 'slots']) expect(quotas.find((q: any) => q.resource === resource).used, resource).toBe(0);
});
