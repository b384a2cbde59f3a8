// SPDX-License-Identifier: Apache-2.0
// harness.ts - a real Falaj for a test, and short ways to talk to it.
//
// `falaj dev --ephemeral --json-ready` starts PostgreSQL, Redis and every daemon in a directory of its own, prints one line of
// JSON when all are ready, and runs until SIGTERM. Its standard error goes to $FALAJ_BIN/../http-logs/. stop() ends it and
// fails when it does not end by itself, ends badly (a sanitizer finding does) or leaves a process behind.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { missing } from './answers.ts';

export interface Ready {
  ready: true;
  api_url: string;
  admin_token: string;
  admin_login: { tenant: string; name: string; password: string };
  data_dir: string;
  pg: { socket_dir: string; port: number };
  redis_socket: string;
  zone: string; // of the worker; the zone itself is made by the caller
  pids: Record<string, number>;
  metrics: Record<string, string>; // where each daemon has them
}

export interface Platform {
  ready: Ready;
  stop(): Promise<void>;
}

const START_MS = 230_000;
const STOP_MS = 120_000;

export function binary(name: string): string {
  const dir = process.env['FALAJ_BIN'];
  if (!dir) throw new Error('FALAJ_BIN must name the directory of the built binaries, as CTest does');
  const path = resolve(dir, name);
  if (!existsSync(path)) throw new Error(`${path} is not built`);
  return path;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Settings are given as in the environment of a daemon: { FALAJ_LOG_LEVEL: 'debug' }. */
export async function startPlatform(settings: Record<string, string> = {}, args: string[] = []): Promise<Platform> {
  const program = binary('falaj');
  const logs = resolve(program, '../../http-logs');
  mkdirSync(logs, { recursive: true });
  const log = resolve(logs, `dev-${process.pid}-${Date.now()}.log`);
  const fd = openSync(log, 'w');
  const child = spawn(program, ['dev', '--ephemeral', '--port', '0', '--json-ready', ...args], {
    stdio: ['ignore', 'pipe', fd],
    env: {
      ...process.env,
      FALAJ_RATE_TENANT_PER_MINUTE: '0',
      FALAJ_RATE_PRINCIPAL_PER_MINUTE: '0',
      FALAJ_RATE_ADDRESS_PER_MINUTE: '0',
      FALAJ_AUTH_ATTEMPTS_PER_MINUTE: '0',
      FALAJ_RATE_ENROL_PER_MINUTE: '0',
      ...settings,
    },
  });
  closeSync(fd);
  const gone = new Promise<number>((done) => child.once('exit', (code, signal) => done(code ?? (signal ? 128 : 1))));
  const tail = (): string => readFileSync(log, 'utf8').split('\n').slice(-40).join('\n');

  const line = await new Promise<string>((done, fail) => {
    const timer = setTimeout(() => {
      child.kill('SIGTERM');
      fail(new Error(`falaj dev was not ready after ${START_MS} ms; ${log}:\n${tail()}`));
    }, START_MS);
    child.once('error', fail);
    void gone.then((code) => fail(new Error(`falaj dev ended with ${code} before it was ready; ${log}:\n${tail()}`)));
    createInterface({ input: child.stdout! }).on('line', (text) => {
      if (!text.startsWith('{')) return;
      clearTimeout(timer);
      done(text);
    });
  });
  const ready = JSON.parse(line) as Ready;
  if (ready.ready !== true) throw new Error(`falaj dev printed ${line}`);

  return {
    ready,
    async stop() {
      child.kill('SIGTERM');
      const code = await Promise.race([gone, sleep(STOP_MS, undefined, { ref: false })]);
      if (code === undefined) {
        child.kill('SIGKILL');
        for (const pid of Object.values(ready.pids)) if (alive(pid)) process.kill(pid, 'SIGKILL');
        throw new Error(`falaj dev did not end within ${STOP_MS} ms; ${log}:\n${tail()}`);
      }
      if (code !== 0) throw new Error(`falaj dev ended with ${code}; ${log}:\n${tail()}`);
      const left = Object.entries(ready.pids).filter(([, pid]) => alive(pid));
      for (const [, pid] of left) process.kill(pid, 'SIGKILL');
      if (left.length > 0) throw new Error(`falaj dev left processes behind: ${left.map(([name]) => name).join(', ')}`);
    },
  };
}

export interface Reply<T = any> {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined where it is none. */
  json: T;
}

export interface Options {
  body?: unknown;             // sent as JSON
  raw?: string | Uint8Array;  // sent as it is
  headers?: Record<string, string>;
  key?: string | false;       // Idempotency-Key; false: none. A POST without one gets a fresh key
  accept?: string;
}

export interface Api {
  (method: string, path: string, options?: Options): Promise<Reply>;
  get(path: string, options?: Options): Promise<Reply>;
  post(path: string, body?: unknown, options?: Options): Promise<Reply>;
  put(path: string, body?: unknown, options?: Options): Promise<Reply>;
  delete(path: string, options?: Options): Promise<Reply>;
}

export function idempotencyKey(): string {
  return `test-${randomUUID()}`;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** One exchange, the path sent as it is written: fetch would resolve its dot segments. */
function send(base: string, method: string, path: string, headers: Record<string, string>, body: string | Uint8Array | undefined):
  Promise<{ status: number; headers: Headers; text: string }> {
  const { hostname, port } = new URL(base);
  return new Promise((done, fail) => {
    const bytes = body === undefined ? undefined : Buffer.from(body as string);
    const length: Record<string, string> = bytes === undefined ? {} : { 'content-length': String(bytes.length) };
    const call = request({ hostname, port, method, path, headers: { ...headers, ...length }, agent, timeout: 3 * PATIENCE_MS });
    let answered = false;
    call.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const all = new Headers();
        for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) all.append(response.rawHeaders[i]!, response.rawHeaders[i + 1]!);
        done({ status: response.statusCode ?? 0, headers: all, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    call.on('timeout', () => call.destroy(new Error(`no answer within ${3 * PATIENCE_MS} ms to ${method} ${path}`)));
    // A server that refuses a body may close while we still write it; the answer counts.
    call.on('error', (error) => {
      if (!answered) fail(new Error(`${method} ${path}: ${error.message}`));
    });
    call.end(bytes);
  });
}

/** A caller that knows its platform and its token. `token` null sends no Authorization header. */
export function api(ready: Ready, token: string | null): Api {
  const call = async (method: string, path: string, options: Options = {}): Promise<Reply> => {
    const headers: Record<string, string> = { accept: options.accept ?? 'application/json, application/problem+json' };
    if (token !== null) headers['authorization'] = `Bearer ${token}`;
    if (method === 'POST' && options.key !== false) headers['idempotency-key'] = options.key ?? idempotencyKey();
    let body: string | Uint8Array | undefined = options.raw;
    if (options.body !== undefined) body = JSON.stringify(options.body);
    if (body !== undefined) headers['content-type'] = 'application/json';
    Object.assign(headers, options.headers);
    for (let attempt = 0; ; attempt++) {
      const response = await send(ready.api_url, method, path, headers, body);
      const text = response.text;
      const wait = Number(response.headers.get('retry-after') ?? '1');
      if (response.status === 429 && attempt < 3 && wait <= 5) {
        await sleep(wait * 1000);
        continue;
      }
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        json = undefined;
      }
      const lacking = json === undefined ? [] : missing(method, path, response.status, json);
      if (!response.headers.get('x-request-id') && !/^\/(healthz|assets)/.test(path) && response.status !== 304)
        throw new Error(`${method} ${path}: the answer (${response.status}) lacks X-Request-Id, which the document promises`);
      if (lacking.length > 0)
        throw new Error(`${method} ${path}: the answer lacks ${lacking.slice(0, 5).join(', ')}: ${text.slice(0, 600)}`);
      return { status: response.status, headers: response.headers, text, json };
    }
  };
  return Object.assign(call, {
    get: (path: string, options?: Options) => call('GET', path, options),
    post: (path: string, body?: unknown, options?: Options) => call('POST', path, { body, ...options }),
    put: (path: string, body?: unknown, options?: Options) => call('PUT', path, { body, ...options }),
    delete: (path: string, options?: Options) => call('DELETE', path, options),
  });
}

/** A reply that must have this status; the message shows what came instead. */
export function must<T = any>(reply: Reply, status: number): T {
  if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status}: ${reply.text.slice(0, 600)}`);
  return reply.json as T;
}

/** How long a test looks for something: for a machine that is slow and busy, not a promise. */
export const PATIENCE_MS = 100_000;
/** A time that is promised is judged in the full tier, where nothing runs beside; else only that it comes at all. */
export const promised = (ms: number): number => (process.env['FALAJ_TIER'] === 'full' ? ms : PATIENCE_MS);

/** Looks until there is something. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false, timeoutMs = PATIENCE_MS): Promise<T> {
  for (const until = Date.now() + timeoutMs; ; await sleep(50)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`);
  }
}

/** The list, which must have something in it: what holds for each of none says nothing. */
export function some<T>(list: T[]): T[] {
  if (list.length === 0) throw new Error('the list is empty, so nothing was checked');
  return list;
}

/** A residency zone; one that is there already is left as it is. */
export async function makeZone(ready: Ready, code: string): Promise<void> {
  const reply = await api(ready, ready.admin_token).post('/v1/zones', { code, name: `Zone ${code}`, country: 'AE', legal_regimes: ['uae-pdpl'] });
  if (reply.status !== 409) must(reply, 201);
}

/** The worker asks again and again until its zone is there; then it is a node. */
export async function waitNode(ready: Ready, timeoutMs = PATIENCE_MS): Promise<any> {
  for (const until = Date.now() + timeoutMs; ; await sleep(100)) {
    const nodes = must(await api(ready, ready.admin_token).get('/v1/nodes'), 200).data;
    if (nodes.length > 0) return nodes[0];
    if (Date.now() > until) throw new Error(`no worker has registered within ${timeoutMs} ms`);
  }
}

let tenants = 0;
/** Of the tenants that this file made (undeploy.ts). */
export const administrators: Api[] = [];

/** A new tenant in the worker's zone (or the one named) and the token of its administrator. */
export async function makeTenant(ready: Ready, name?: string, zone?: string): Promise<{ tenant: any; token: string; api: Api }> {
  const admin = api(ready, ready.admin_token);
  const home = zone ?? ready.zone;
  const unique = name ?? `t${process.pid}-${++tenants}-${randomUUID().slice(0, 8)}`;
  const tenant = must(await admin.post('/v1/tenants', { name: unique, display_name: `Tenant ${unique}`, home_zone: home }), 201);
  administrators.push(api(ready, tenant.admin_token));
  return { tenant, token: tenant.admin_token, api: api(ready, tenant.admin_token) };
}

/** A person as people come in: invited by `by`, with a password, signed in, and with a token made by themselves. Two password hashes.
 * `before`: what is done to the user before the sign-in. */
export async function makePerson(ready: Ready, by: Api, role: string, name = `${role}-${randomUUID().slice(0, 8)}`,
  before?: (userId: string) => Promise<unknown>): Promise<{ user_id: string; token: string; api: Api }> {
  const nobody = api(ready, null);
  const password = 'a heron by the water wheel';
  const { tenant } = must(await by.get('/v1/me'), 200);
  const invitation = must(await by.post('/v1/invitations', { name, roles: [role] }), 201);
  const { user_id } = must(await nobody.post('/v1/auth/invitations/accept', { token: invitation.token, password }), 200);
  await before?.(user_id);
  const login = await nobody.post('/v1/auth/login', { tenant, name, password });
  const headers = { cookie: login.headers.get('set-cookie')!.split(';')[0]!, 'x-csrf-token': must(login, 200).csrf_token, 'sec-fetch-site': 'same-origin' };
  const { token } = must(await nobody.post('/v1/api-tokens', { name: 'own' }, { headers }), 201);
  return { user_id, token, api: api(ready, token) };
}

export const TERMINAL = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'DEADLINE', 'OUT_OF_MEMORY', 'NODE_FAIL', 'REJECTED']);

/** The job once it is in one of `states` (default: any terminal state). */
export async function waitJob(
  call: Api, jobId: string, states: Iterable<string> = TERMINAL, timeoutMs = 2 * PATIENCE_MS,
): Promise<any> {
  const wanted = new Set(states);
  const until = Date.now() + timeoutMs;
  for (let pause = 25; ; pause = Math.min(pause * 2, 500)) {
    const job = must(await call.get(`/v1/jobs/${jobId}`), 200);
    if (wanted.has(job.state)) return job;
    if (TERMINAL.has(job.state) || Date.now() > until) {
      throw new Error(`job ${jobId} is ${job.state} (${job.reason} ${job.message}), not ${[...wanted].join(' or ')}`);
    }
    await sleep(pause);
  }
}

/** What every error reply must be (RFC 9457 and the project's own members). */
export function problemOf(reply: Reply): { code: string; request_id: string; errors: { pointer: string; code: string }[] } {
  const type = reply.headers.get('content-type') ?? '';
  const where = `${reply.status} ${reply.text.slice(0, 400)}`;
  if (!type.startsWith('application/problem+json')) throw new Error(`content type "${type}" on ${where}`);
  const p = reply.json;
  if (typeof p !== 'object' || p === null) throw new Error(`no JSON object in ${where}`);
  for (const member of ['type', 'title', 'code', 'request_id']) {
    if (typeof p[member] !== 'string' || p[member] === '') throw new Error(`no "${member}" in ${where}`);
  }
  if (p.status !== reply.status) throw new Error(`"status" is not the status in ${where}`);
  if (!/^[a-z][a-z0-9_]*$/.test(p.code)) throw new Error(`code "${p.code}" is not a stable word in ${where}`);
  if (reply.headers.get('x-request-id') !== p.request_id) throw new Error(`request_id differs from X-Request-Id in ${where}`);
  if (p.errors !== undefined && !Array.isArray(p.errors)) throw new Error(`"errors" is no list in ${where}`);
  return { code: p.code, request_id: p.request_id, errors: p.errors ?? [] };
}
