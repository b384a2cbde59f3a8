// SPDX-License-Identifier: Apache-2.0
// badinput.test.ts - what no client should send, generated for every route from the OpenAPI document.
//
// Always: the status the case asks for, application/problem+json with a stable code and the request id, never a 5xx, and
// nothing stored: the lists of both tenants are as long afterwards as before.
import { beforeAll, afterAll, describe, expect, inject, test } from 'vitest';
import {
  deref, fetchDocument, isPublic, isWorkerRoute, jsonBody, operations, sample, samplePath, speaksProblems, typeOf,
  type Document, type Operation, type Schema,
} from './contract.ts';
import { api, makePerson, makeTenant, problemOf, type Api, type Options, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const doc: Document = await fetchDocument(ready);
const routes: Operation[] = operations(doc).filter((op) => !isWorkerRoute(op));
const REJECTED = [400, 413, 415, 422];

let admin: Api;
let tenant: Api;
let officer: Api;
let before: Record<string, number>;

/** How long every list is, but for those that record the calls themselves or the passing of time. */
async function counts(): Promise<Record<string, number>> {
  const result: Record<string, number> = {};
  const lists = routes.filter((op) => op.method === 'GET' && !op.path.includes('{') && op.parameters.some((p) => p.name === 'page_size'));
  for (const op of lists.filter((o) => !o.path.startsWith('/v1/audit') && !o.path.startsWith('/v1/usage'))) {
    for (const [who, call] of [['tenant', tenant], ['admin', admin]] as const) {
      const reply = await call.get(`${op.path}?page_size=200`);
      if (reply.status === 200) result[`${who} ${op.path}`] = reply.json.data.length;
    }
  }
  return result;
}

/** The caller whom the route lets in: a refused permission would hide what is looked for. */
const callers = new Map<string, Api>();
async function callerOf(op: Operation): Promise<Api> {
  const key = `${op.method} ${op.path}`;
  const known = callers.get(key);
  if (known) return known;
  let chosen = tenant;
  for (const call of [tenant, officer, admin]) {
    const reply = await call(op.method, samplePath(op), op.method === 'GET' || op.method === 'DELETE' ? {} : { raw: '{' });
    if (reply.status !== 403) {
      chosen = call;
      break;
    }
  }
  callers.set(key, chosen);
  return chosen;
}

function expectProblem(reply: Reply, statuses: number[], what: string): void {
  expect(statuses, `${what}: ${reply.status} ${reply.text.slice(0, 300)}`).toContain(reply.status);
  problemOf(reply);
}

async function refused(op: Operation, options: Options, what: string, statuses: number[] = REJECTED): Promise<Reply> {
  const reply = await (await callerOf(op))(op.method, samplePath(op), options);
  expectProblem(reply, statuses, `${op.method} ${op.path}, ${what}`);
  return reply;
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** A value of another type than the schema's. */
function wrongFor(type: string | undefined): unknown[] {
  switch (type) {
    case 'string': return [7, true, {}, []];
    case 'integer': return ['7', 1.5, true, {}];
    case 'number': return ['7', true, []];
    case 'boolean': return ['true', 1, {}];
    case 'array': return ['x', {}, 1];
    case 'object': return ['x', [], 1];
    default: return [];
  }
}

/** Values of the right type that lie outside what the schema allows. */
function outsideOf(schema: Schema): unknown[] {
  const out: unknown[] = [];
  const type = typeOf(schema);
  if (type === 'integer' || type === 'number') {
    if (schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER) out.push(schema.maximum + 1);
    if (schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER) out.push(schema.minimum - 1);
    if (schema.maximum !== undefined) out.push(1e300);
  }
  if (type === 'string') {
    if (schema.maxLength !== undefined && schema.maxLength < 500_000) out.push('a'.repeat(schema.maxLength + 1));
    if ((schema.minLength ?? 0) > 0) out.push('');
    if (schema.enum) out.push('no-such-choice');
    if (schema.pattern || schema.format === 'uuid') {
      const fits = (v: string): boolean => schema.pattern !== undefined && new RegExp(schema.pattern, 'u').test(v);
      out.push(...['not an id', '../../etc/passwd', "x' OR '1'='1"].filter((v) => !fits(v)));
    }
    if (schema.format === 'date-time') out.push('yesterday', '2030-13-45T99:99:99Z');
  }
  if (type === 'array' && schema.maxItems !== undefined && schema.maxItems <= 2000 && schema.items) {
    out.push(Array.from({ length: schema.maxItems + 1 }, () => sample(doc, schema.items!)));
  }
  return out;
}

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  tenant = (await makeTenant(ready)).api;
  officer = (await makePerson(ready, tenant, 'compliance-officer', 'officer')).api;
  before = await counts();
  expect(Object.keys(before).length).toBeGreaterThan(5);
});

afterAll(async () => {
  expect(await counts()).toEqual(before);
});

const bodies = routes.filter((op) => speaksProblems(op) && jsonBody(doc, op));

describe.each(bodies.map((op) => [`${op.method} ${op.path}`, op] as const))('%s refuses', (_name, op) => {
  const schema = jsonBody(doc, op)!;
  const properties = Object.entries(schema.properties ?? {}).map(([name, s]) => [name, deref(doc, s)] as const);
  const valid = (): Record<string, unknown> => sample(doc, schema) as Record<string, unknown>;

  test('what is not JSON', async () => {
    for (const raw of ['{"a":', '{', 'nonsense', "{'a':1}", '{"a":1}}', '{"a":01}', '{"a":NaN}', '\u0000', '{"a":"\u0001"}', '{"a":"\\ud800"}']) {
      await refused(op, { raw }, `body ${JSON.stringify(raw)}`, [400]);
    }
    await refused(op, { raw: Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) }, 'bytes that are no UTF-8', [400]);
  });

  test('an empty body and what is no object', async () => {
    // Where nothing is required, no body says nothing.
    if ((schema.required ?? []).length > 0) await refused(op, { raw: '' }, 'an empty body', [400, 415]);
    for (const raw of ['[]', '[{}]', '1', '"x"', 'null', 'true']) await refused(op, { raw }, `body ${raw}`, [400]);
  });

  test('an unknown member and a member given twice', async () => {
    const reply = await refused(op, { body: { ...valid(), no_such_member_: 1 } }, 'an unknown member', [400]);
    expect(problemOf(reply).errors.map((e) => e.pointer)).toContain('/no_such_member_');
    const name = properties[0]?.[0] ?? 'a';
    await refused(op, { raw: `{"${name}":"a","${name}":"b"}` }, 'a member given twice', [400]);
    await refused(op, { raw: '{"__proto__":{"a":1}}' }, 'a member named __proto__', [400]);
  });

  test('a body without a required member', async () => {
    for (const name of schema.required ?? []) {
      const body = valid();
      delete body[name];
      const reply = await refused(op, { body }, `without ${name}`, [400]);
      expect(reply.text, `the pointer of ${name}`).toContain(name);
    }
  });

  test('a member of a wrong type', async () => {
    for (const [name, s] of properties) {
      for (const value of wrongFor(typeOf(s))) {
        await refused(op, { body: { ...valid(), [name]: value } }, `${name} = ${JSON.stringify(value)}`, [400, 422]);
      }
    }
  });

  test('a value outside its range', async () => {
    for (const [name, s] of properties) {
      for (const value of outsideOf(s)) {
        await refused(op, { body: { ...valid(), [name]: value } }, `${name} = ${JSON.stringify(value).slice(0, 40)}`);
      }
    }
    for (const [name, s] of properties.filter(([, p]) => typeOf(p) === 'integer')) {
      const raw = JSON.stringify({ ...valid(), [name]: '@' }).replace('"@"', '9223372036854775808');
      await refused(op, { raw }, `${name} beyond 64 bits`, [400]);
      if (s.minimum !== undefined) await refused(op, { raw: raw.replace('9223372036854775808', '1e999') }, `${name} = 1e999`, [400]);
    }
  });

  test('text with NUL', async () => {
    for (const [name] of properties.filter(([, s]) => typeOf(s) === 'string' && !s.enum)) {
      await refused(op, { body: { ...valid(), [name]: 'a\u0000b' } }, `NUL in ${name}`, [400, 422]);
    }
  });

  test('a body that is too deep or too large', async () => {
    const name = properties[0]?.[0] ?? 'a';
    await refused(op, { raw: `{"${name}":${nested(40)}}` }, '40 levels', [400, 413]);
    await refused(op, { raw: `{"${name}":${nested(100_000)}}` }, '100,000 levels', [400, 413]);
    await refused(op, { raw: `{"${name}":"${'a'.repeat(2 << 20)}"}` }, '2 MiB', [413]);
  });

  test('another content type', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense']) {
      await refused(op, { raw: JSON.stringify(valid()), headers: { 'content-type': type } }, `content type ${type}`, [415]);
    }
  });

  if (op.parameters.some((p) => p.in === 'header' && p.name.toLowerCase() === 'idempotency-key' && p.required)) {
    test('a call without a usable Idempotency-Key', async () => {
      await refused(op, { body: valid(), key: false }, 'no key', [400]);
      await refused(op, { body: valid(), key: 'k'.repeat(256) }, 'a key of 256 characters', [400]);
    });
  }
});

const problems = routes.filter(speaksProblems);

/* Of an open route without a capture there is nothing to refuse here, and a suite without a test fails the run. */
const refusing = problems.filter(
  (op) => !isPublic(op) || op.path.includes('{') || (op.method === 'GET' && !op.path.endsWith('/oidc/callback')),
);

describe.each(refusing.map((op) => [`${op.method} ${op.path}`, op] as const))('%s', (_name, op) => {
  when(!isPublic(op))('is closed to callers without a token', async () => {
    const tokens: (string | null)[] = [null, '', 'x', 'flj_', `flj_${'A'.repeat(40)}`, 'eyJhbGciOiJub25lIn0.e30.', 'a'.repeat(4000)];
    for (const token of tokens) {
      const reply = await api(ready, token)(op.method, samplePath(op), op.method === 'GET' ? {} : { body: {} });
      expectProblem(reply, [401], `${op.method} ${op.path} with token ${String(token).slice(0, 40)}`);
      expect(reply.headers.get('www-authenticate') ?? '').toMatch(/^Bearer/);
    }
    for (const scheme of ['Basic YTpi', 'Bearer', 'Bearer  ', 'bearer\tx', 'Token abc']) {
      const reply = await api(ready, null)(op.method, samplePath(op), { headers: { authorization: scheme } });
      expectProblem(reply, [401, 400], `${op.method} ${op.path} with "${scheme}"`);
    }
  });

  when(op.path.includes('{'))('refuses ids that are none', async () => {
    const call = await callerOf(op);
    for (const id of ['x', 'job_', `job_${'g'.repeat(32)}`, `tnt_${'0'.repeat(33)}`, '%00', '..%2f..%2fetc', '%ff%fe', "1'--", 'a'.repeat(500), '-1', '%20']) {
      const path = op.path.replace(/\{[^}]+\}/g, id);
      const reply = await call(op.method, path, op.method === 'GET' || op.method === 'DELETE' ? {} : { raw: '{}' });
      // A route whose capture is a free word may take it and miss a member, or find nothing.
      expectProblem(reply, [400, 404, 412, 414, 415, 422, 428], `${op.method} ${path}`);
    }
  });

  const query = op.parameters.filter((p) => p.in === 'query');
  // A provider's answer may have parameters that nobody here knows (RFC 6749, 4.1.2).
  when(op.method === 'GET' && !op.path.endsWith('/oidc/callback'))('refuses queries that are wrong', async () => {
    const call = await callerOf(op);
    const cases = ['no_such_parameter_=1', '%', '=', 'a=%zz', '&'.repeat(300) + 'x=1'];
    for (const p of query) {
      const s = deref(doc, p.schema ?? {});
      if (typeOf(s) === 'integer') cases.push(`${p.name}=x`, `${p.name}=1.5`, `${p.name}=99999999999999999999`, `${p.name}=1&${p.name}=2`);
      if (s.enum) cases.push(`${p.name}=no-such-choice`);
      if (p.name === 'page_token') cases.push('page_token=x', `page_token=${'A'.repeat(64)}`, 'page_token=%00');
      if (p.name === 'page_size') cases.push('page_size=0', 'page_size=-1', 'page_size=201');
    }
    for (const q of cases) {
      const reply = await call.get(`${samplePath(op)}?${q}`);
      // On an object that does not exist the answer may be that instead.
      expectProblem(reply, op.path.includes('{') ? [400, 404] : [400], `GET ${op.path}?${q}`);
    }
  });
});

/* A test that does not apply to a route is not there: one that is skipped fails the run. */
const when = (applies: boolean): ((name: string, run: () => Promise<void>) => void) => (applies ? (name, run) => test(name, run) : () => {});

describe('every path', () => {
  const paths = new Map<string, string[]>();
  for (const op of problems) paths.set(op.path, [...(paths.get(op.path) ?? []), op.method]);
  test.each([...paths])('%s names its methods when another is used', async (path, methods) => {
    const op = problems.find((o) => o.path === path)!;
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((m) => !methods.includes(m))) {
      const reply = await tenant(method, samplePath(op), method === 'GET' || method === 'DELETE' ? {} : { body: {} });
      expectProblem(reply, [405], `${method} ${path}`);
      const allow = (reply.headers.get('allow') ?? '').split(/\s*,\s*/);
      for (const m of methods) expect(allow, `Allow of ${path}`).toContain(m);
      expect(allow).not.toContain(method);
    }
  });

  test('an unknown path is not found, whatever its form', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/jobs/', '/v1//jobs', '/v1/jobs/%2e%2e/tenants', '/v3/jobs', '/V1/jobs', '/.env', '/v1/jobs;x=1']) {
      const reply = await tenant.get(path);
      expect([400, 404], `GET ${path}: ${reply.status}`).toContain(reply.status);
      if (path.startsWith('/v1/')) problemOf(reply);
    }
  });

  test('a reply never shows what is inside', async () => {
    for (const raw of ['{"name":"x\\u0000"}', '{"name":"\'; DROP TABLE job; --","kind":"noop","spec":{},"zone":"\'"}']) {
      const reply = await tenant('POST', '/v1/jobs', { raw });
      expect(reply.status).toBeLessThan(500);
      expect(reply.text).not.toMatch(/SQLSTATE|SELECT |INSERT |pg_|\.c:\d+|0x[0-9a-f]{6,}/);
    }
  });
});
