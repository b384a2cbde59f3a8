// SPDX-License-Identifier: Apache-2.0
// stall.ts - a serving child stopped by a signal while calls to it come together: they wait at it by a condition and not by
// how long it computes, however busy the machine is.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { psql } from './client.ts';
import { type Api, PATIENCE_MS, type Ready, type Reply } from './harness.ts';

const ESTABLISHED = '01';

/** As many calls can be under way at the child of this job without a handshake, for which a machine has two seconds only: on a
 *  busy one some of those made here end with 504, and what counts are the connections that are there. */
export async function connected(ready: Ready, job: string, calls: number, infer: () => Promise<Reply>): Promise<void> {
  const of = `live AND endpoint IS NOT NULL AND job_id = '${job.split('_')[1]}'`;
  const port = Number(psql(ready, `SELECT endpoint FROM attempt WHERE ${of}`).split(':').at(-1));
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const count = (): number =>
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .filter((l) => l.trim().split(/\s+/)[3] === ESTABLISHED && l.slice(0, 22).includes(local)).length;
  for (let tries = 0; tries < 50 && count() < calls; tries++)
    for (const r of await Promise.all(Array.from({ length: calls }, infer)))
      expect([200, 429, 503, 504], r.text).toContain(r.status);
  expect(count()).toBeGreaterThanOrEqual(calls);
}

/** The process is stopped while `what` runs. */
export async function stalled(pid: number, what: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    const stopped = (): boolean => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    for (let tries = 0; tries < 400 && !stopped(); tries++) await sleep(25);
    await what();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Calls of models that are under way in falaj-api. */
export async function pending(admin: Api): Promise<number> {
  const reply = await admin.get('/metrics');
  expect(reply.status, reply.text).toBe(200);
  return Number(/^falaj_inference_pending_requests (\d+)/m.exec(reply.text)?.[1] ?? NaN);
}

export async function untilPending(admin: Api, n: number): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(50)) {
    const now = await pending(admin);
    if (now === n) return;
    if (Date.now() > end) throw new Error(`${now} calls of models are under way, not ${n}`);
  }
}
