// SPDX-License-Identifier: Apache-2.0
// edges.test.ts - what a hostile or clumsy client meets at the edge: permission before input, limits that are readable, HEAD, headers.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { rawExchange, until } from './client.ts';
import { fetchDocument, isPublic, isWorkerRoute, operations, samplePath, speaksProblems, type Operation } from './contract.ts';
import { api, makeTenant, must, problemOf, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const doc = await fetchDocument(ready);
const routes: Operation[] = operations(doc).filter((op) => !isWorkerRoute(op));
const host = new URL(ready.api_url).host;

let t: { tenant: any; token: string; api: Api };
let viewer: Api, held: Set<string>;
beforeAll(async () => {
  t = await makeTenant(ready);
  const user = must(await t.api.post('/v1/users', { name: 'looks', roles: ['viewer'] }), 201);
  viewer = api(ready, must(await t.api.post('/v1/api-tokens', { name: 'looks', user_id: user.user_id }), 201).token);
  held = new Set(['signed-in', ...must(await viewer.get('/v1/me'), 200).permissions]);
});

describe('permission comes before input', () => {
  const writes = routes.filter((op) => op.method !== 'GET' && !isPublic(op) && speaksProblems(op));
  test.each(writes.map((op) => [`${op.method} ${op.path}`, op] as const))('%s', async (_name, op) => {
    const own = /Needs the permission (\S+)\./.exec((doc.paths[op.path] as any)[op.method.toLowerCase()].description)?.[1];
    if (own === undefined || held.has(own)) return;
    for (const options of [{ raw: 'garbage' }, { raw: '{"a":' }, { raw: '\u0000', headers: { 'content-type': 'nonsense' } }, { raw: '['.repeat(10_000), key: false as const }]) {
      const reply = await viewer(op.method, samplePath(op), options);
      expect(reply.status, `${own}: ${reply.text.slice(0, 200)}`).toBe(403);
      expect(problemOf(reply).code).toBe('forbidden');
      const nobody = await api(ready, null)(op.method, samplePath(op), options);
      expect(problemOf(nobody).code).toBe('unauthenticated');
    }
  });
});

describe('a body over the limit', () => {
  test('gets a readable 413, whether its length is told or it comes in chunks', async () => {
    const told = await t.api('POST', '/v1/jobs', { raw: `{"name":"${'x'.repeat(3 << 20)}"}` });
    expect([told.status, problemOf(told).code]).toEqual([413, 'too_large']);
    const head = `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${t.token}\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n`;
    const lie = await rawExchange(ready, `${head}Content-Length: 99999999999\r\n\r\n{`);
    expect(lie).toMatch(/^HTTP\/1\.1 413 /);
    expect(lie).toContain('"code":"too_large"');
    const piece = 'x'.repeat(65536);
    const chunked = await rawExchange(ready, `${head}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${piece}\r\n`.repeat(40)}0\r\n\r\n`);
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
    expect(chunked).toContain('"code":"too_large"');
  });

  test('to a caller without a token is not read at all', async () => {
    const reply = await rawExchange(ready, `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{`);
    expect(reply).toMatch(/^HTTP\/1\.1 (401|413) /);
  });
});

describe('OPTIONS', () => {
  test('names the methods of a path to anybody, and 405 names the same', async () => {
    const nobody = api(ready, null);
    const of = async (path: string, method = 'OPTIONS'): Promise<[number, string | null, string]> => {
      const reply = await nobody(method, path);
      return [reply.status, reply.headers.get('allow'), reply.text];
    };
    expect(await of('/v1/jobs')).toEqual([204, 'POST, GET, HEAD, OPTIONS', '']);
    expect(await of('/v1/jobs/job_x')).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    expect((await of('/v1/jobs', 'DELETE')).slice(0, 2)).toEqual([405, 'POST, GET, HEAD, OPTIONS']);
    expect((await of('/v1/no-such'))[0]).toBe(404);
    const reply = await nobody('OPTIONS', '/v1/jobs', { headers: { origin: 'https://evil.example',
      'access-control-request-method': 'POST' } });
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('HEAD', () => {
  const gets = routes.filter((op) => op.method === 'GET' && !op.path.includes('{') && !/export/.test(op.path));
  beforeAll(() => until(() => t.api.get('/v1/audit/head'), 200));      // a tenant's first head takes a moment

  test.each(gets.map((op) => op.path))('%s answers as GET does, without the body', async (path) => {
    const get = await t.api.get(path);
    const head = await t.api('HEAD', path);
    expect(head.status, path).toBe(get.status);
    expect(head.text).toBe('');
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
  });

  test('leaves the connection whole for the next call', async () => {
    const two = `HEAD /v1/me HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${t.token}\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const text = await rawExchange(ready, two);
    expect(text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  test.each(['/v1/usage.csv', '/v1/jobs.csv', '/v1/audit/events.csv'])('of %s, which has no length, ends with its headers', async (path) => {
    const text = await rawExchange(ready, `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${t.token}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
    expect(text.indexOf('\r\n\r\n')).toBe(text.length - 4);
  });
});

describe('headers', () => {
  test('X-Request-Id is echoed when it is one, and made when it is none', async () => {
    for (const [path, status] of [['/v1/me', 200], ['/v1/jobs/x', 404], ['/healthz', 200], ['/v1/nothing', 404], ['/v1/me?x=1', 400]] as const) {
      const reply = await t.api.get(path, { headers: { 'x-request-id': 'my-own.Id:1_2' } });
      expect([reply.status, reply.headers.get('x-request-id')], path).toEqual([status, 'my-own.Id:1_2']);
    }
    for (const odd of ['a b', 'x'.repeat(129), '"', '<script>', 'a,b']) {
      const id = (await t.api.get('/v1/me', { headers: { 'x-request-id': odd } })).headers.get('x-request-id');
      expect(id, odd).toMatch(/^req_[0-9a-f]{32}$/);
    }
  });

  test('say nothing of what runs here', async () => {
    for (const path of ['/v1/me', '/v1/nothing', '/healthz', '/', '/openapi.json', '/v2', '/%zz', '/\\']) {
      for (const call of [t.api, api(ready, null)]) {
        const reply = await call.get(path);
        expect(reply.headers.get('server'), path).toBeNull();
        expect(reply.headers.get('x-powered-by')).toBeNull();
        expect([...reply.headers].join('\n') + reply.text.replace(/^\{"openapi".*$/s, '')).not.toMatch(/microhttpd|gnutls|openssl|postgres|libpq/i);
        if (path.startsWith('/v1')) expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      }
    }
  });

  test('of a framing that is not HTTP get 400 and a closed connection, never another answer', async () => {
    const auth = `Authorization: Bearer ${t.token}\r\n`;
    const bad = [
      `POST /v1/jobs HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
      `POST /v1/jobs HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
      `POST /v1/jobs HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: -5\r\n\r\n`,
      `POST /v1/jobs HTTP/1.1\r\nHost: x\r\n${auth}Content-Length: +5\r\n\r\nhello`,
      `POST /v1/jobs HTTP/1.1\r\nHost: x\r\n${auth}Transfer-Encoding: gzip\r\n\r\n`,
      `GET /v1/me HTTP/1.1\r\n${auth}\r\n`,
      `GET /v1/me HTTP/1.1\r\nHost : x\r\n${auth}\r\n`,
      'nonsense\r\n\r\n', '\u0016\u0003\u0001\u0002\u0000\u0001', `GET /v1/me HTTP/9.9\r\nHost: x\r\n\r\n`,
    ];
    for (const text of bad) {
      const reply = await rawExchange(ready, text, 300);
      expect(reply === '' || /^HTTP\/1\.[01] (4\d\d|501|505) /.test(reply), `${JSON.stringify(text.slice(0, 120))} -> ${reply.slice(0, 100)}`).toBe(true);
      // libmicrohttpd writes the head of its own refusals twice; what matters is that nothing but a refusal comes.
      for (const [line] of reply.matchAll(/^HTTP\/1\.[01] \d+/gm)) expect(line, JSON.stringify(text.slice(0, 120))).toMatch(/ (4\d\d|501|505)$/);
      if (reply !== '') expect(reply.toLowerCase(), JSON.stringify(text.slice(0, 120))).toContain('connection: close');
    }
    must(await t.api.get('/v1/me'), 200);
  });
});

describe('the request line', () => {
  test('of great length is refused in words', async () => {
    for (const path of [`/v1/jobs/${'a'.repeat(3000)}`, `/v1/jobs?page_token=${'A'.repeat(5000)}`, '/v1' + '/a'.repeat(2000), `/${'a'.repeat(30_000)}`]) {
      const reply = await t.api.get(path);
      expect([400, 404, 414, 431], `${path.slice(0, 30)}… (${path.length}): ${reply.status}`).toContain(reply.status);
    }
    expect((await rawExchange(ready, `GET /${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)).slice(0, 12)).toMatch(/^(HTTP\/1\.1 4)?/);
    // More parameters than the connection has memory for: libmicrohttpd closes without a word, or waits for the deadline of headers.
    // What such a request had taken must be given back: an instrumented server tells at its end.
    for (const n of [1000, 2000, 5000]) {
      const crowd = await rawExchange(ready, `GET /v1/jobs?${'a=1&'.repeat(n)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(crowd === '' || /^HTTP\/1\.1 4\d\d /.test(crowd), crowd.slice(0, 60)).toBe(true);
    }
    const many = await rawExchange(ready, `GET /v1/me HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 5000 }, (_, i) => `X-${i}: 1\r\n`).join('')}\r\n`);
    expect(many === '' || /^HTTP\/1\.1 (4\d\d) /.test(many), many.slice(0, 60)).toBe(true);
  });

  test('with a query nobody asked for is refused on every route', async () => {
    for (const op of routes.filter((o) => speaksProblems(o) && !isPublic(o) && !o.path.includes('{') && o.method === 'GET')) {
      const reply = await t.api.get(`${op.path}?no_such_parameter_=1`);
      if (reply.status === 403) continue;
      expect([reply.status, problemOf(reply).code], op.path).toEqual([400, 'unknown_field']);
    }
    const post = await t.api.post('/v1/jobs?dry_run=1', { name: 'a', kind: 'noop' });
    expect([post.status, problemOf(post).code]).toEqual([400, 'unknown_field']);
  });
});
