// SPDX-License-Identifier: Apache-2.0
// console_files.test.ts - the files of the web console over the wire: exact headers, codings, 304, the page for addresses of its own, and
// nothing that a path could reach beyond the folder or in front of the API. A console of five files; about ten seconds.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { rawExchange } from './client.ts';
import { api, problemOf, startPlatform, type Platform, type Ready } from './harness.ts';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const SECURITY = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
};
const JS = '/assets/main-Bx3_9aQk.js';

let platform: Platform;
let ready: Ready & { console_url?: string };
const dir = mkdtempSync(join(tmpdir(), 'falaj-console-'));

beforeAll(async () => {
  cpSync(resolve(import.meta.dirname, 'fixtures/console'), dir, { recursive: true });
  writeFileSync(join(dir, JS), `${readFileSync(join(dir, JS), 'utf8')}// ${'long enough to be worth it '.repeat(40)}\n`);
  writeFileSync(join(dir, 'index.html'), `${readFileSync(join(dir, 'index.html'), 'utf8')}<!-- ${'and this one too '.repeat(40)}-->\n`);
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../deploy/compress-console.mjs'), dir]);
  execFileSync('chmod', ['-R', 'a+rX', dir]);
  platform = await startPlatform({}, ['--console', dir]);
  ready = platform.ready;
});
afterAll(async () => {
  await platform?.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Got { status: number; headers: Record<string, string>; body: Buffer }
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const { hostname, port } = new URL(ready.api_url);
  return new Promise((done, fail) => {
    const call = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body: Buffer.concat(chunks) }));
    });
    call.on('error', fail);
    call.end();
  });
}

const file = (path: string): Buffer => readFileSync(join(dir, path));
const tagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('hex')}"`;
/** All headers but those of the connection, so that none comes or goes unseen. */
function headersOf(got: Got): Record<string, string> {
  const rest = { ...got.headers };
  expect(rest['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/);
  for (const name of ['x-request-id', 'date', 'connection', 'keep-alive']) delete rest[name];
  return rest;
}

describe('files', () => {
  test.each([
    ['/', 'index.html', 'text/html; charset=utf-8', 'no-cache', true],
    ['/index.html', 'index.html', 'text/html; charset=utf-8', 'no-cache', true],
    [JS, JS, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', true],
    ['/assets/main-Cq0aZ_19.css', 'assets/main-Cq0aZ_19.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable', false],
    ['/assets/logo.svg', 'assets/logo.svg', 'image/svg+xml', 'no-cache', false],
    ['/robots.txt', 'robots.txt', 'text/plain; charset=utf-8', 'no-cache', false],
  ])('%s with exactly these headers', async (path, name, type, cache, coded) => {
    const got = await get(path);
    expect(got.status).toBe(200);
    expect(got.body.equals(file(name))).toBe(true);
    expect(headersOf(got)).toEqual({
      'content-type': type, 'content-length': String(file(name).length), etag: tagOf(file(name)), 'cache-control': cache, ...SECURITY,
      ...(coded ? { vary: 'Accept-Encoding' } : {}),
    });
    const head = await get(path, {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.body.length).toBe(0);
    expect(headersOf(head)).toEqual(headersOf(got));
  });

  test('in the coding that the browser likes best', async () => {
    const plain = file(JS);
    const br = await get(JS, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.body).equals(plain)).toBe(true);
    expect(br.headers['etag']).toBe(tagOf(file(`${JS}.br`)));
    const gzip = await get(JS, { 'accept-encoding': 'br;q=0, gzip' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body).equals(plain)).toBe(true);
    const none = await get(JS, { 'accept-encoding': 'identity' });
    expect(none.headers['content-encoding']).toBeUndefined();
    expect(new Set([br, gzip, none].map((g) => g.headers['etag'])).size).toBe(3);
    expect([br, gzip, none].map((g) => g.headers['vary'])).toEqual(Array(3).fill('Accept-Encoding'));
    for (const other of ['.br', '.gz']) expect((await get(JS + other)).status).toBe(404);
  });

  test('304 for what is there already, with the same headers and no body', async () => {
    const headers = { 'accept-encoding': 'br' };
    const first = await get(JS, headers);
    for (const tag of [first.headers['etag']!, `W/${first.headers['etag']}`, `"x", ${first.headers['etag']}`, '*']) {
      const got = await get(JS, { ...headers, 'if-none-match': tag });
      expect(got.status).toBe(304);
      expect(got.body.length).toBe(0);
      expect(got.headers['etag']).toBe(first.headers['etag']);
      expect(got.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(got.headers['content-security-policy']).toBe(CSP);
      expect(got.headers['vary']).toBe('Accept-Encoding');
    }
    expect((await get(JS, { ...headers, 'if-none-match': tagOf(file(JS)) })).status, 'the tag of another coding').toBe(200);
    expect((await get('/', { 'if-none-match': tagOf(file('index.html')) })).status).toBe(304);
  });

  test('only by GET and HEAD', async () => {
    expect((await get(JS, {}, 'OPTIONS')).status).toBe(204);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const got = await api(ready, null)(method, JS);
      expect(got.status, method).toBe(405);
      expect(got.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(problemOf(got).code).toBe('method_not_allowed');
    }
  });
});

describe('addresses of the console', () => {
  test.each(['/jobs', '/login?error=state', '/jobs/job_0198/logs', '/tenants/%D9%81%D9%84%D8%AC', '/metrics-of-mine', '/v1x'])('%s is the page', async (path) => {
    const got = await get(path, { accept: PAGE, 'accept-encoding': 'br' });
    expect(got.status).toBe(200);
    expect(brotliDecompressSync(got.body).equals(file('index.html'))).toBe(true);
    expect(got.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(got.headers['cache-control']).toBe('no-cache');
    expect(got.headers['vary']).toBe('Accept, Accept-Encoding');
    expect(got.headers['content-security-policy']).toBe(CSP);
    for (const accept of ['*/*', 'application/json', 'text/html;q=0']) expect((await get(path, { accept })).status).toBe(404);
    expect((await get(path, {})).status).toBe(404);
    expect((await get(path, { accept: PAGE }, 'POST')).status).toBe(404);
  });

  test.each(['/v1', '/v1/', '/v1/nothing', '/V1/me', '/v2/nothing', '/scim/v9/nothing', '/healthz/x', '/readyz/x', '/metrics/x', '/version/x',
    '/openapi.json/x', '/assets/gone-12345678.js', '/%761/me', '/v1/console', '/assets/'])('%s is never the page', async (path) => {
    const got = await api(ready, null).get(path, { accept: PAGE });
    expect(got.status).toBe(404);
    if (path.startsWith('/scim/')) expect(got.headers.get('content-type')).toBe('application/scim+json'); // with errors of its own form
    else if (path.startsWith('/v2/')) expect(got.json).toEqual({ error: 'There is no such resource' });
    else expect(problemOf(got).code).toBe('not_found');
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('the API answers as it did', async () => {
    for (const [path, status, type] of [['/v1/me', 401, 'application/problem+json'], ['/healthz', 200, 'application/json'],
      ['/readyz', 200, 'application/json'], ['/version', 200, 'application/json'], ['/openapi.json', 200, 'application/json']] as const) {
      const got = await get(path, { accept: PAGE });
      expect(got.status, path).toBe(status);
      expect(got.headers['content-type'], path).toMatch(type);
      expect(got.headers['x-content-type-options'], path).toBe('nosniff');
      expect(got.headers['content-security-policy'] ?? '', path).not.toContain('script-src');
    }
  });
});

describe('no way out of the folder', () => {
  const secret = 'root:';
  test.each(['/../../../../etc/passwd', '/assets/../../../etc/passwd', '/./index.html', '/assets/./logo.svg', '/%2e%2e/%2e%2e/etc/passwd',
    '/assets/%2e%2e/index.html', '/..%2f..%2fetc/passwd', '/assets%2flogo.svg', '/assets%2Flogo.svg', '/assets\\logo.svg', '/assets%5clogo.svg',
    '/assets/..%5c..%5cetc%5cpasswd', '/index.html%00', '/index.html%00.js', '/%00', '//etc/passwd', '/%zz', '/index.html%', '/assets/logo.svg%0d%0aX-A:b'])(
    '%s is refused', async (path) => {
      const got = await get(path, { accept: PAGE });
      expect(got.status, got.body.toString().slice(0, 200)).toBe(400);
      expect(got.body.toString()).not.toContain(secret);
    });
  test.each(['/assets', '/assets//logo.svg', '/index.html/', '/etc/passwd', '/%69ndex.html', '/assets/logo.svg/..a', '/.../etc/passwd', '/index.html;x'])(
    '%s is no file', async (path) => {
      expect((await get(path)).status).toBe(404);
    });
  test('absolute targets and raw NULs are refused', async () => {
    for (const line of ['GET http://evil.example/index.html HTTP/1.1', 'GET /index\0.html HTTP/1.1', 'GET index.html HTTP/1.1'])
      expect(await rawExchange(ready, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`), line).toMatch(/^HTTP\/1\.1 400 /);
  });
  test('what is changed on disk later is not served', async () => {
    writeFileSync(join(dir, 'later.txt'), 'x');
    expect((await get('/later.txt')).status).toBe(404);
  });
});

test('falaj dev tells the address', () => {
  expect(ready.console_url).toBe(`${ready.api_url}/`);
});

test('a platform without a console has no page anywhere', async () => {
  const bare: Ready & { console_url?: string } = inject('falaj');
  if (bare.console_url !== undefined) return; // one was built beside these binaries
  for (const path of ['/', '/index.html', '/jobs']) {
    const got = await api(bare, null).get(path, { accept: PAGE });
    expect(got.status).toBe(404);
    expect(problemOf(got).code).toBe('not_found');
  }
});
