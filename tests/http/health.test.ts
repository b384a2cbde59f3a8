// SPDX-License-Identifier: Apache-2.0
// health.test.ts - the platform at one look: every part asked, what stands still told, and an answer whatever is down.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, upload } from './client.ts';
import { api, binary, makePerson, makeTenant, must, promised, waitNode, PATIENCE_MS, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const admin: Api = api(ready, ready.admin_token);
const pidOf = (name: string): number => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids[name];
const stopped: number[] = [];
afterAll(() => stopped.forEach((pid) => process.kill(pid, 'SIGCONT')));

const health = async (): Promise<any> => must(await admin.get('/v1/system/health'), 200);
const part = (h: any, name: string): any => h.components.find((c: any) => c.name === name);
const fact = (h: any, name: string, of: string): number | undefined => part(h, name).facts.find((f: any) => f.name === of)?.value;
async function until(what: string, ok: (h: any) => boolean, ms = PATIENCE_MS): Promise<any> {
  for (const end = Date.now() + ms; ; await sleep(250)) {
    const h = await health();
    if (ok(h)) return h;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}: ${JSON.stringify(h)}`);
  }
}

beforeAll(async () => void (await waitNode(ready)));

test('all is well and measured', async () => {
  const h = await until('all ok', (x) => x.state === 'ok');
  expect(h.components.map((c: any) => c.name)).toEqual(['postgresql', 'redis', 'keys', 'scheduler', 'audit', 'queue', 'workers']);
  expect(part(h, 'postgresql').version).toMatch(/^\d+\.\d+/);
  for (const name of ['postgresql', 'redis', 'keys']) {
    expect(part(h, name).latency_ms, name).toBeGreaterThan(0);
    expect(part(h, name).latency_ms, name).toBeLessThan(promised(2000));
  }
  for (const name of ['scheduler', 'audit', 'queue', 'workers']) expect(part(h, name), name).not.toHaveProperty('latency_ms');
  expect(part(h, 'keys').zone).toBe(ready.zone);
  expect(fact(h, 'scheduler', 'round_age_ms')).toBeLessThan(promised(10_000));
  expect(part(h, 'scheduler').version).toBe(h.version);
  expect(fact(h, 'workers', 'ready')).toBe(1);
  const first = h.uptime_s;
  await until('the uptime grows', (x) => x.uptime_s > first);
  expect(first).toBeLessThan(600);
});

test('the queue is counted', async () => {
  const owner = (await makeTenant(ready)).api;
  const before = fact(await health(), 'queue', 'waiting')!;
  for (let i = 0; i < 3; i++) must(await owner.post('/v1/jobs', { name: `w${i}`, kind: 'noop', pool: 'no-such-pool' }), 201);
  expect(fact(await health(), 'queue', 'waiting')).toBe(before + 3);
});

test('it is for the platform alone', async () => {
  const { api: owner } = await makeTenant(ready);
  expect((await owner.get('/v1/system/health')).status).toBe(403);
  expect((await (await makePerson(ready, owner, 'compliance-officer')).api.get('/v1/system/health')).status).toBe(403);
  expect((await api(ready, null).get('/v1/system/health')).status).toBe(401);
  must(await (await makePerson(ready, admin, 'zone-operator')).api.get('/v1/system/health'), 200);
});

test('a Redis that stands still is down, and the route answers', async () => {
  const pid = pidOf('redis');
  process.kill(pid, 'SIGSTOP');
  stopped.push(pid);
  const from = Date.now(), h = await health();
  expect(Date.now() - from).toBeLessThan(PATIENCE_MS / 2); // it would stand still for ever
  expect(part(h, 'redis')).toMatchObject({ state: 'down' });
  expect(part(h, 'redis')).not.toHaveProperty('latency_ms');
  expect(h.state).toBe('degraded');
  expect(part(h, 'postgresql').state).toBe('ok');
  const cli = await new Promise<{ code: number; out: string }>((done) => execFile(binary('falaj'), ['system', 'health'],
    { env: { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: ready.admin_token } }, (e, out) => done({ code: e ? Number(e.code) : 0, out })));
  expect(cli.code).toBe(1);
  expect(cli.out).toMatch(/redis\s.*down/);
  process.kill(pid, 'SIGCONT');
  await until('Redis is back', (x) => part(x, 'redis').state === 'ok');
});

test('keys and a scheduler that stand still are told', async () => {
  const keyd = pidOf(`keyd-${ready.zone}`) ?? pidOf('keyd'), scheduler = pidOf('scheduler');
  for (const pid of [keyd, scheduler]) {
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  }
  const h = await until('the scheduler is late', (x) => part(x, 'scheduler').state === 'degraded');
  expect(part(h, 'keys').state).toBe('down');
  expect(fact(h, 'scheduler', 'round_age_ms')).toBeGreaterThanOrEqual(10_000);
  for (const pid of [keyd, scheduler]) process.kill(pid, 'SIGCONT');
  await until('all is back', (x) => x.state === 'ok');
});

test('no thread but the one that waits for signals takes one that would end falaj-api', () => {
  const asked = 0x4003n; // SIGHUP, SIGINT, SIGTERM
  const pid = pidOf('api');
  for (const thread of readdirSync(`/proc/${pid}/task`).filter((t) => t !== String(pid))) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    const blocked = BigInt(`0x${/^SigBlk:\s+([0-9a-f]+)/m.exec(status)![1]}`);
    expect(blocked & asked, /^Name:\s+(.*)/m.exec(status)![1]).toBe(asked);
  }
});

test('on SIGHUP the settings that may change are read again, all of them or none', async () => {
  const owner = (await makeTenant(ready)).api;
  await upload(owner, digitsCsv, 'under-a-key');
  const days = async (): Promise<number> => {
    const key = must(await owner.get('/v1/keys'), 200).data[0];
    return Math.round((Date.parse(key.rotate_before) - Date.parse(key.rotated_at)) / 86_400_000);
  };
  const file = resolve(ready.data_dir, 'etc/api.conf'), text = readFileSync(file, 'utf8');
  const read = (...lines: string[]): void => {
    writeFileSync(file, [text, ...lines, ''].join('\n'));
    process.kill(pidOf('api'), 'SIGHUP');
  };
  const becomes = async (wanted: number): Promise<void> => {
    for (const end = Date.now() + PATIENCE_MS; (await days()) !== wanted; await sleep(50))
      if (Date.now() > end) throw new Error(`${await days()} days, not ${wanted}, after 30 s`);
  };
  await becomes(365);
  read('keys.rotate_days = 90');
  await becomes(90);
  const log = resolve(ready.data_dir, 'log/api.log');
  read('keys.rotate_days = 30', 'keys.destroy_days = soon');
  for (const end = Date.now() + PATIENCE_MS; !readFileSync(log, 'utf8').includes('config.refused'); await sleep(50))
    if (Date.now() > end) throw new Error(`not refused: ${readFileSync(log, 'utf8').split('\n').filter((l) => !l.includes('http.request')).slice(-8).join('\n')}`);
  expect(await days()).toBe(90);
  read();
  await becomes(365);
}, 180_000);
