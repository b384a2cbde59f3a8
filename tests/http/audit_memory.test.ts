// SPDX-License-Identifier: Apache-2.0
// audit_memory.test.ts - an export of 100,000 events (1,000,000 with FALAJ_AUDIT_FULL), whole and filtered, does not grow falaj-api.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { psql } from './client.ts';
import { api, makePerson, makeTenant, must, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const full = !!process.env['FALAJ_AUDIT_FULL'];
const events = full ? 1_000_000 : 100_000;
const proc = `/proc/${ready.pids['api'] ?? ready.pids['falaj-api']}`;
// AddressSanitizer keeps up to 256 MB of freed memory to itself, so only a build without it is held to the real bound.
const mostMb = /lib[al]san/.test(readFileSync(`${proc}/maps`, 'utf8')) ? 64 + 256 : 64;

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
}, full ? 600_000 : 400_000); // 25 s on an idle machine, most of it the making of the events
