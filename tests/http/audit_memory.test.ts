// SPDX-License-Identifier: Apache-2.0
// audit_memory.test.ts - an export of 30,000 events (1,000,000 in the full tier), whole and filtered, does not grow falaj-api.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { psql } from './client.ts';
import { api, makePerson, makeTenant, makeZone, must, startPlatform, type Platform, type Ready } from './harness.ts';

const { part, full } = { part: 30_000, full: 1_000_000 };
const events = process.env['FALAJ_TIER'] === 'full' ? full : part;
console.log(`share: ${events} of ${full} events`);
const mostMb = events === full ? 64 : 12; // thirty thousand events are 19 MB
let platform: Platform, ready: Ready, proc: string;

// AddressSanitizer keeps freed memory to itself, 256 MB of it unless told otherwise: with that no export would be seen to grow anything.
beforeAll(async () => {
  platform = await startPlatform({ ASAN_OPTIONS: `${process.env['ASAN_OPTIONS'] ?? ''}:quarantine_size_mb=1:thread_local_quarantine_size_kb=16` });
  ready = platform.ready;
  proc = `/proc/${ready.pids['api']}`;
  await makeZone(ready, ready.zone);
}, 180_000);
afterAll(() => platform.stop());

const residentMb = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`${proc}/status`, 'utf8'))![1]) / 1024;

/** Reads it all and keeps nothing but its length, while the server is watched. */
function drain(path: string, token: string): Promise<{ bytes: number; mb: number; ms: number }> {
  const began = Date.now();
  return new Promise((done, fail) => {
    let bytes = 0, mb = residentMb();
    const watch = setInterval(() => (mb = Math.max(mb, residentMb())), 20);
    request(new URL(path, ready.api_url), { headers: { authorization: `Bearer ${token}` } }, (reply) => {
      reply.on('data', (piece: Buffer) => (bytes += piece.length));
      reply.on('end', () => (clearInterval(watch), done({ bytes, mb, ms: Date.now() - began })));
      reply.on('error', (e) => (clearInterval(watch), fail(e)));
    }).on('error', fail).end();
  });
}

test(`an export of ${events} events does not grow falaj-api`, async () => {
  const made = await makeTenant(ready);
  const { token } = await makePerson(ready, made.api, 'compliance-officer');
  const officer = api(ready, token), hex = made.tenant.tenant_id.slice(4);
  const small = must(await officer.post('/v1/audit/exports', { format: 'jsonl' }), 202);
  await drain(`/v1/audit/exports/${small.export_id}/content`, token);
  psql(ready, `SELECT count(audit_system_event('${hex}', '${ready.zone}', CASE WHEN i % 2 = 0 THEN 'FLJ-JOB-001S' ELSE 'FLJ-JOB-002S' END,
    CASE WHEN i % 2 = 0 THEN 'job.submit' ELSE 'job.cancel' END, '"i":' || i)::text) FROM generate_series(1, ${events}) i`);
  for (let size = 0; size <= events; await sleep(200))
    size = Number(psql(ready, `SELECT coalesce(max(size), 0) FROM audit_log_state WHERE tenant_id = '${hex}'`));
  for (const ask of [{ format: 'jsonl' }, { format: 'jsonl', action: 'job.submit' }, { format: 'csv' }]) {
    const job = must(await officer.post('/v1/audit/exports', ask), 202);
    const before = residentMb(), got = await drain(`/v1/audit/exports/${job.export_id}/content`, token);
    console.log(`${JSON.stringify(ask)}: ${(got.bytes / 1e6).toFixed(0)} MB in ${got.ms} ms, memory ${before.toFixed(0)} -> ${got.mb.toFixed(0)} MB`);
    expect(got.bytes).toBeGreaterThan(events * 150);
    expect(got.mb - before).toBeLessThan(mostMb);
  }
}, 1_800_000);
