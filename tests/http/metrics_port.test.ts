// SPDX-License-Identifier: Apache-2.0
// metrics_port.test.ts - metrics that have a port of their own are there, and no longer for who may reach the API. About 8 s:
// it has a platform of its own. And each daemon has metrics of its own, of what it knows.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  api, binary, eventually, makeTenant, makeZone, must, problemOf, some, startPlatform, waitJob, waitNode, type Platform,
} from './harness.ts';

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
});
afterAll(() => platform.stop());

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

const PROGRAMS = ['', '-api', '-scheduler', '-keyd', '-worker', '-migrate', '-verify', '-backup'];
test.each(PROGRAMS)('falaj%s --help is an answer', (name) => {
  const said = spawnSync(binary(`falaj${name}`), ['--help'], { encoding: 'utf8' });
  expect([said.status, said.stderr]).toEqual([0, '']);
  expect(said.stdout).toMatch(new RegExp(`falaj${name}`));
});

/** The rows of docs/gen/metrics.md, which is printed from the table: whose each metric is. */
function owners(): Map<string, string[]> {
  const page = readFileSync(resolve(process.env['FALAJ_SRC']!, 'docs/gen/metrics.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(falaj_\w+)` \| ([^|]+) \|/gm)];
  return new Map(some(rows).map((r) => [r[1]!, r[2]!.trim().split(', ')]));
}

/** Value of a series, the sum of all of that name where labels are not said; undefined: it is not printed. */
function value(text: string, name: string, labels = ''): number | undefined {
  const found = [...text.matchAll(/^(falaj_\w+)(\{[^}]*\})? (\S+)$/gm)]
    .filter((m) => m[1] === name && (m[2] ?? '').includes(labels));
  return found.length === 0 ? undefined : found.reduce((sum, m) => sum + Number(m[3]), 0);
}

test('every daemon prints its own rows, and a job moves them', async () => {
  const ready = platform.ready;
  const read = async (daemon: string): Promise<string> => (await fetch(ready.metrics[daemon]!)).text();
  await makeZone(ready, ready.zone);
  const { api: tenant } = await makeTenant(ready);
  await waitNode(ready);
  const job = must(await tenant.post('/v1/jobs', { name: 'counted', kind: 'noop' }), 201);
  expect((await waitJob(tenant, job.job_id)).state).toBe('COMPLETED');
  const rows = owners();
  expect(Object.keys(ready.metrics).sort()).toEqual(['api', 'keyd', 'scheduler', 'worker']);
  for (const daemon of Object.keys(ready.metrics)) {
    const text = await read(daemon);
    expect(value(text, 'falaj_build_info', `program="falaj-${daemon}"`)).toBe(1);
    for (const [, name] of some([...text.matchAll(/^# TYPE (falaj_\w+) /gm)]))
      expect(['all', `falaj-${daemon}`].some((who) => rows.get(name!)?.includes(who)), `${name} of ${daemon}`).toBe(true);
  }
  const moved: [string, string, string][] = [
    ['api', 'falaj_http_requests_total', 'method="POST"'], ['api', 'falaj_finished_jobs_total', 'state="COMPLETED"'],
    ['scheduler', 'falaj_leases_granted_total', ''], ['scheduler', 'falaj_leader', ''],
    ['worker', 'falaj_worker_leases_taken_total', ''], ['worker', 'falaj_worker_reports_total', 'result="ok"'],
    ['worker', 'falaj_worker_report_seconds_count', ''], ['keyd', 'falaj_keyd_requests_total', 'result="ok"'],
  ];
  for (const [daemon, name, labels] of moved)
    await eventually(`${name} of ${daemon}`, async () => (value(await read(daemon), name, labels) ?? 0) >= 1);
  // Levels of another process are not printed, and those of one's own once they are known.
  const of_api = await read('api');
  for (const name of ['falaj_audit_lag_events', 'falaj_leader', 'falaj_leases_granted_total', 'falaj_worker_leases'])
    expect(value(of_api, name), name).toBeUndefined();
  expect(value(await read('keyd'), 'falaj_keyd_sealed')).toBe(0);
  expect(value(await read('worker'), 'falaj_worker_leases')).toBe(0);
  await eventually('the lag of the log', async () => value(await read('scheduler'), 'falaj_audit_lag_events') !== undefined);
  expect((await fetch(ready.metrics['keyd']!.replace('/metrics', '/readyz'))).status).toBe(200);
});
