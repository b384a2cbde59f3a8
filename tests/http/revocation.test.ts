// SPDX-License-Identifier: Apache-2.0
// revocation.test.ts - two processes of falaj-api on one database and one Redis: a token that one of them revokes is dead in both within
// five seconds, in either direction, with Redis and without. About twenty seconds.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { until } from './client.ts';
import { api, binary, makeTenant, must, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const DEAD_MS = 5_000;
let other: Ready, child: ChildProcess, owner: string;

function freePort(): Promise<number> {
  return new Promise((give) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => give(port));
    });
  });
}

beforeAll(async () => {
  owner = (await makeTenant(ready)).token;
  const port = await freePort();
  other = { ...ready, api_url: `http://127.0.0.1:${port}` };
  child = spawn(binary('falaj-api'), [`--config=${resolve(ready.data_dir, 'etc/api.conf')}`, `--api.port=${port}`, '--api.worker_port=0'],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, FALAJ_RATE_PRINCIPAL_PER_MINUTE: '0', FALAJ_RATE_ADDRESS_PER_MINUTE: '0', FALAJ_LOG_LEVEL: 'error' } });
  await until(() => api(other, owner).get('/v1/me').catch(() => ({ status: 0 }) as any), 200, 120_000);
});

afterAll(async () => {
  child.kill('SIGTERM');
  expect(child.exitCode ?? (await new Promise((done) => child.once('exit', done)))).toBe(0);
});

/** Milliseconds until both refuse what one has revoked. Both have just believed it, so both have it in their memory. */
async function deadAfter(by: Ready): Promise<number> {
  const made = must(await api(by, owner).post('/v1/api-tokens', { name: 'short' }), 201);
  const both: Api[] = [api(ready, made.token), api(other, made.token)];
  for (const call of both) must(await call.get('/v1/me'), 200);
  must(await api(by, owner).delete(`/v1/api-tokens/${made.token_id}`), 204);
  const from = Date.now();
  for (const call of both)
    for (;;) {
      const asked = Date.now() - from; // its answer may take its time
      const { status } = await call.get('/v1/me');
      if (status === 401) break;
      expect([200, 401]).toContain(status);
      expect(asked, 'it is still believed').toBeLessThan(DEAD_MS);
      await sleep(50);
    }
  return Date.now() - from;
}

test('a revoked token is dead in both, whichever revoked it', async () => {
  const times = [await deadAfter(ready), await deadAfter(other)];
  console.log(`dead in both after ${times.join(' and ')} ms`);
});

test('without Redis too', async () => {
  let down = true;
  const pid = (): number => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids['redis'];
  const killed = (async () => {
    for (; down; await sleep(100)) {
      try {
        process.kill(pid(), 'SIGKILL');
      } catch {
        // It has ended already and is not back yet.
      }
    }
  })();
  try {
    const times = [await deadAfter(ready), await deadAfter(other)];
    console.log(`without Redis: dead in both after ${times.join(' and ')} ms`);
  } finally {
    down = false;
    await killed;
  }
});
