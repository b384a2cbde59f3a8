// SPDX-License-Identifier: Apache-2.0
// errors.test.ts - every error code of the program is documented, every documented code exists, and the codes that a client
// can provoke at will have the status that the document says.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, problemOf, type Api, type Ready, type Reply } from './harness.ts';

const root = resolve(import.meta.dirname, '../..');
type Row = { code: string; status: number };

/** ERR(NAME, "wire_code", STATUS, RETRY, "title") */
function rowsOfTable(): Row[] {
  const text = readFileSync(resolve(root, 'core/base/err.def'), 'utf8');
  return [...text.matchAll(/^ERR\(\s*\w+\s*,\s*"([a-z0-9_]+)"\s*,\s*(\d+)/gm)].map((m) => ({ code: m[1]!, status: Number(m[2]) }));
}

describe('error codes', () => {
  let ready: Ready;
  let tenant: Api;
  const rows = rowsOfTable();
  const document = (): string => readFileSync(resolve(root, 'docs/gen/errors.md'), 'utf8');

  beforeAll(async () => {
    ready = inject('falaj');
    tenant = (await makeTenant(ready)).api;
  });

  test('the table has codes, each once', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(new Set(rows.map((r) => r.code)).size).toBe(rows.length);
  });

  test('every code of the table is in docs/gen/errors.md, with its status', () => {
    const lines = document().split('\n');
    const missing = rows.filter((r) => r.code !== 'ok').filter((r) => !lines.some((l) => l.includes(`\`${r.code}\``) && l.includes(String(r.status))));
    expect(missing).toEqual([]);
  });

  test('every code of docs/gen/errors.md is in the table', () => {
    const known = new Set(rows.map((r) => r.code));
    const documented = [...document().matchAll(/^\|\s*`([a-z0-9_]+)`/gm)].map((m) => m[1]!);
    expect(documented.length).toBeGreaterThan(30);
    expect(documented.filter((code) => !known.has(code))).toEqual([]);
  });

  const provoke: [string, (t: Api) => Promise<Reply>][] = [
    ['unauthenticated', () => api(ready, null).get('/v1/me')],
    ['not_found', (t) => t.get(`/v1/jobs/job_${'0'.repeat(31)}1`)],
    ['not_found', (t) => t.get('/v1/no-such-collection')],
    ['method_not_allowed', (t) => t('PUT', '/v1/jobs', { body: {} })],
    ['malformed_body', (t) => t('POST', '/v1/jobs', { raw: '{"name":' })],
    ['unknown_field', (t) => t.post('/v1/jobs', { name: 'a', kind: 'noop', spec: {}, colour: 'red' })],
    ['missing_field', (t) => t.post('/v1/jobs', { kind: 'noop', spec: {} })],
    ['invalid_argument', (t) => t.post('/v1/jobs', { name: 'a', kind: 'noop', spec: {}, priority: 1_000_000 })],
    ['idempotency_key_missing', (t) => t.post('/v1/jobs', { name: 'a', kind: 'noop', spec: {} }, { key: false })],
    ['unsupported_media_type', (t) => t('POST', '/v1/jobs', { raw: '<job/>', headers: { 'content-type': 'text/xml' } })],
    ['too_large', (t) => t('POST', '/v1/jobs', { raw: JSON.stringify({ name: 'x'.repeat(2 << 20) }) })],
    ['forbidden', (t) => t.post('/v1/tenants', { name: 'not-mine', home_zone: 'nowhere' })],
    ['invalid_page_token', (t) => t.get('/v1/jobs?page_token=AAAA')],
  ];
  for (const [code, call] of provoke) {
    test(`${code} can be provoked and has its status`, async () => {
      const reply = await call(tenant);
      expect(problemOf(reply).code).toBe(code);
      expect(reply.status).toBe(rows.find((r) => r.code === code)?.status);
    });
  }

  test('the same key with another body is refused and stores nothing', async () => {
    const key = `reuse-${Date.now()}`;
    const first = await tenant.post('/v1/jobs', { name: 'first', kind: 'noop', spec: {} }, { key });
    expect(first.status).toBe(201);
    const again = await tenant.post('/v1/jobs', { name: 'first', kind: 'noop', spec: {} }, { key });
    expect(again.status).toBe(201);
    expect(again.json.job_id).toBe(first.json.job_id);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await tenant.post('/v1/jobs', { name: 'second', kind: 'noop', spec: {} }, { key });
    expect(problemOf(other).code).toBe('idempotency_key_reused');
    expect(other.status).toBe(422);
  });
});
