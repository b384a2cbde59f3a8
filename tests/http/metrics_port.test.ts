// SPDX-License-Identifier: Apache-2.0
// metrics_port.test.ts - metrics that have a port of their own are there, and no longer for who may reach the API. About 8 s:
// it has a platform of its own.
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api, must, problemOf, startPlatform, type Platform } from './harness.ts';

let platform: Platform;
let port: number;

beforeAll(async () => {
  port = await new Promise<number>((done) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const free = (s.address() as AddressInfo).port;
      s.close(() => done(free));
    });
  });
  platform = await startPlatform({ FALAJ_API_OPS_PORT: String(port) });
}, 120_000);
afterAll(() => platform.stop(), 60_000);

test('/metrics is on the port of its own, and not on the people\'s', async () => {
  const nobody = api(platform.ready, null);
  const refused = await nobody.get('/metrics');
  expect([refused.status, problemOf(refused).code]).toEqual([404, 'not_found']);
  must(await nobody.get('/healthz'), 200);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toMatch(/^falaj_http_requests_total\{[^}]*route="\/metrics"[^}]*status="404"[^}]*\} 1$/m);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/v1/jobs`)).status).toBe(404);
});
