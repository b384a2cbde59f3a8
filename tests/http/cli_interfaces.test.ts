// SPDX-License-Identifier: Apache-2.0
// cli_interfaces.test.ts - falaj as it meets the world around it: an authority of one's own, proxies, pipes and full disks,
// templates, completion,
// profiles; and the commands of people, groups, sessions, uploads, zones of a tenant and batches.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as plainServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as tlsServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, psql, upload } from './client.ts';
import { binary, makeTenant, must, PATIENCE_MS, type Api, type Ready } from './harness.ts';
import { Pki } from './pki.ts';

const ready: Ready = inject('falaj');
const dir = mkdtempSync(join(tmpdir(), 'falaj-cli-'));
const pki = new Pki();
const servers: Server[] = [];
let tenant: Api, token: string, tenantName: string;
let waiting: string;

type Said = { code: number; out: string; err: string };
const clean = { FALAJ_CONFIG_DIR: dir, XDG_CACHE_HOME: join(dir, 'cache'), FALAJ_PROFILE: '', FALAJ_CACERT: '',
  FALAJ_OUTPUT: '', https_proxy: '', HTTPS_PROXY: '',
  http_proxy: '', ALL_PROXY: '', all_proxy: '', NO_PROXY: '', no_proxy: '' };
function env(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...clean, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token, ...more };
}
function run(program: string, args: string[], more: Record<string, string> = {}, input = ''): Promise<Said> {
  return new Promise((done) => {
    const child = execFile(program, args, { env: env(more), timeout: 2 * PATIENCE_MS }, (e, out,
      err) => done({ code: e ? Number(e.code ?? 255) : 0, out, err }));
    child.stdin!.end(input);
  });
}
const falaj = (...args: string[]): Promise<Said> => run(binary('falaj'), args);
async function good(...args: string[]): Promise<any> {
  const said = await falaj(...args, '-o', 'json');
  expect(said.code, `${args.join(' ')}: ${said.err}`).toBe(0);
  return said.out ? JSON.parse(said.out) : undefined;
}
const bash = (text: string, more: Record<string, string> = {}): Promise<Said> =>
  run('bash', ['-c', text], { PATH: `${dirname(binary('falaj'))}:${process.env['PATH']}`, ...more });
const listen = (s: Server): Promise<number> => new Promise((done) => {
  servers.push(s);
  s.listen(0, '127.0.0.1', () => done((s.address() as AddressInfo).port));
});
/** Passes a call on to the API. */
function forward(from: IncomingMessage, to: ServerResponse, path = from.url!): void {
  const { hostname, port } = new URL(ready.api_url);
  from.pipe(request({ hostname, port, method: from.method, path, headers: from.headers }, (r) => {
    to.writeHead(r.statusCode!, r.headers);
    r.pipe(to);
  }));
}

beforeAll(async () => {
  const made = await makeTenant(ready);
  ({ api: tenant, token } = made);
  tenantName = made.tenant.name;
  for (const name of ['reeds-a', 'reeds-b'])
    waiting = must(await tenant.post('/v1/jobs', { name, kind: 'noop', pool: 'no-machines' }), 201).job_id;
});
afterAll(() => {
  for (const s of servers) s.close();
  rmSync(dir, { recursive: true, force: true });
  pki.close();
});

test('an authority of one\'s own: --ca-cert, FALAJ_CACERT, and the profile that login wrote', async () => {
  const ca = pki.ca(), leaf = pki.leaf(ca, ['subjectAltName=IP:127.0.0.1']), file = join(dir, 'ca.pem'), other = join(dir,
    'other.pem');
  writeFileSync(file, ca.cert);
  writeFileSync(other, pki.ca().cert);
  const url = `https://127.0.0.1:${await listen(tlsServer(leaf, forward))}`;
  const whoami = (more: Record<string, string>, ...args: string[]): Promise<Said> => run(binary('falaj'), ['whoami', ...args],
    { FALAJ_URL: url, ...more });
  const none = await whoami({});
  expect(none.code).toBe(10);
  expect(none.err).toContain('--ca-cert');
  expect((await whoami({ FALAJ_CACERT: other })).code).toBe(10);
  expect((await whoami({}, '--ca-cert', file)).code).toBe(0);
  expect((await whoami({ FALAJ_CACERT: file })).code).toBe(0);
  expect((await whoami({ FALAJ_CACERT: other }, '--ca-cert', file)).code).toBe(0);
  const missing = await whoami({ FALAJ_CACERT: join(dir, 'nowhere.pem') });
  expect(missing.code).toBe(2);
  expect(missing.err).toContain('nowhere.pem');
  const login = await run(binary('falaj'), ['login', '--with-token', '--name', 'tls', '--url', url, '--ca-cert', file],
    { FALAJ_URL: '', FALAJ_TOKEN: '' }, token);
  expect(login.code, login.err).toBe(0);
  expect((await whoami({ FALAJ_URL: '', FALAJ_TOKEN: '' }, '--profile', 'tls')).code).toBe(0);
});

test('proxies are those of curl', async () => {
  const seen: string[] = [];
  const proxy = plainServer((q, r) => {
    seen.push(q.url!);
    forward(q, r, new URL(q.url!).pathname + new URL(q.url!).search);
  });
  proxy.on('connect', (q: IncomingMessage, socket) => {
    seen.push(`CONNECT ${q.url}`);
    const [host, port] = q.url!.split(':');
    const on = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(on).pipe(socket);
    });
    on.on('error', () => socket.destroy());
    socket.on('error', () => on.destroy());
  });
  const at = `http://127.0.0.1:${await listen(proxy)}`;
  expect((await run(binary('falaj'), ['whoami'], { http_proxy: at })).code).toBe(0);
  expect(seen).toEqual([`${ready.api_url}/v1/me`]);
  expect((await run(binary('falaj'), ['whoami'], { http_proxy: at, NO_PROXY: '127.0.0.1' })).code).toBe(0);
  expect((await run(binary('falaj'), ['whoami'], { HTTPS_PROXY: at })).code).toBe(0);
  expect(seen.length).toBe(1);
  const ca = pki.ca(), file = join(dir, 'proxied.pem');
  writeFileSync(file, ca.cert);
  const port = await listen(tlsServer(pki.leaf(ca, ['subjectAltName=IP:127.0.0.1']), forward));
  expect((await run(binary('falaj'), ['whoami', '--ca-cert', file], { FALAJ_URL: `https://127.0.0.1:${port}`,
    HTTPS_PROXY: at })).code).toBe(0);
  expect(seen.slice(1)).toEqual([`CONNECT 127.0.0.1:${port}`]);
});

test('what cannot be written is a failure', async () => {
  for (const command of ['help', 'job list', 'job list -o json', 'completion bash', `job get ${waiting} -o yaml`]) {
    const full = await bash(`falaj ${command} >/dev/full`);
    expect(full.code, command).toBe(1);
    expect(full.err, command).toContain('standard output cannot be written: No space left on device');
    const closed = await bash(`falaj ${command} >&-`);
    expect(closed.code, command).toBe(1);
  }
  const gone = await bash('exec 3> >(true); wait $!; falaj help >&3; echo "$?"');
  expect(gone.out.trim().split('\n').at(-1)).toBe('1');
  expect(gone.err).toBe('');
});

test('job logs -f | head ends while the job waits', async () => {
  const child = spawn('bash', ['-c', `"${binary('falaj')}" job logs -f ${waiting} | head -0; echo "\${PIPESTATUS[0]}"`],
    { env: env(), stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  expect(await new Promise((done) => child.once('exit', done))).toBe(0);
  expect(out.trim()).toBe('1');
  expect(must(await tenant.get(`/v1/jobs/${waiting}`), 200).state).toBe('PENDING');
});

test('templates of lists are kubectl\'s', async () => {
  const of = async (template: string, ...args: string[]): Promise<string> => (await falaj('job', 'list', '--name', 'reeds',
    ...args, '-o', `jsonpath=${template}`)).out;
  expect(await of('{.items[*].name}')).toBe('reeds-b reeds-a');
  expect(await of('{range .items[*]}{.name}{"\\t"}{.state}{"\\n"}{end}')).toBe('reeds-b\tPENDING\nreeds-a\tPENDING\n');
  expect(await of('{.items[?(@.name=="reeds-a")].pool}')).toBe('no-machines');
  expect(await of('{.items[-1:].name}', '--limit', '0')).toBe('reeds-a');
  const bad = await falaj('job', 'list', '-o', 'jsonpath={.items[*');
  expect(bad.code).toBe(2);
});

test('profile use, list; and what is stronger', async () => {
  for (const name of ['one', 'two'])
    expect((await run(binary('falaj'), ['login', '--with-token', '--name', name, '--url', ready.api_url], { FALAJ_URL: '',
      FALAJ_TOKEN: '' }, token)).code).toBe(0);
  const current = async (): Promise<string> => (await falaj('profile', 'list', '-o',
    'jsonpath={.data[?(@.current==true)].name}')).out;
  expect(await current()).toBe('two');
  expect((await falaj('profile', 'use', 'one')).code).toBe(0);
  expect(await current()).toBe('one');
  const none = await falaj('profile', 'use', 'three');
  expect(none.code).toBe(5);
  expect(await current()).toBe('one');
  expect((await run(binary('falaj'), ['profile', 'use', 'two'], { FALAJ_PROFILE: 'one' })).err).toContain('FALAJ_PROFILE=one');
});

test('completion knows names, ids, profiles and values', async () => {
  const words = async (...of: string[]): Promise<string[]> => (await falaj('__complete',
    ...of)).out.split('\n').filter(Boolean).sort();
  expect(await words('job', 'get', 'reeds')).toEqual(['reeds-a', 'reeds-b']);
  expect(await words('job', 'cancel', waiting.slice(0, 12))).toContain(waiting);
  expect(await words('job', 'list', '--group', 'w')).toEqual(['waiting']);
  expect(await words('--profile', 'o')).toContain('one');
  expect(await words('profile', 'use', '')).toContain('two');
  expect(await words('role', 'grant', '')).toContain('admin');
  expect(await words('job', 'get', 'reeds-a', '')).toEqual([]);
  const shell = await bash('source <(falaj completion bash); COMP_WORDS=(falaj job get reeds-); COMP_CWORD=3; _falaj; ' +
    'printf "%s\\n" "${COMPREPLY[@]}" | sort');
  expect(shell.out).toBe('reeds-a\nreeds-b\n');
  const unreachable = await run(binary('falaj'), ['__complete', 'model', 'get', ''], { FALAJ_URL: 'http://127.0.0.1:1' });
  expect(unreachable).toEqual({ code: 0, out: '', err: '' });
});

test('people: invited, in, shut out, back, out; their sessions and groups', async () => {
  const invited = await good('invitation', 'create', 'amina', '--roles', 'ml-engineer', '--hours', '5');
  expect((await good('invitation', 'list')).data.map((i: any) => i.invitation_id)).toEqual([invited.invitation_id]);
  const joined = await run(binary('falaj'), ['invitation', 'accept', '-o', 'json', '--debug'], { FALAJ_TOKEN: '' },
    `${invited.token}\na heron by the water wheel\n`);
  expect(joined.code, joined.err).toBe(0);
  expect(joined.err).not.toContain('heron');
  const user = JSON.parse(joined.out).user_id;
  must(await tenant.post('/v1/auth/login', { tenant: tenantName, name: 'amina', password: 'a heron by the water wheel' }), 200);
  const sessions = (await good('session', 'list', '--user', 'amina')).data;
  expect(sessions.length).toBe(1);
  expect((await falaj('session', 'end', sessions[0].session_id)).code).toBe(0);
  expect((await good('session', 'list', '--user', user)).data).toEqual([]);
  expect((await good('user', 'disable', 'amina')).state).toBe('DISABLED');
  expect((await good('user', 'enable', user)).state).toBe('ACTIVE');
  expect((await good('user', 'rename', 'amina', 'amina-2')).name).toBe('amina-2');
  expect((await falaj('user', 'reset-factor', 'amina-2')).err).toBeTruthy();
  expect((await falaj('user', 'delete', 'amina-2')).code).toBe(0);
  expect((await good('user', 'get', user)).state).toBe('DEACTIVATED');
  const second = await good('invitation', 'create', 'badr', '--roles', 'viewer');
  expect((await falaj('invitation', 'withdraw', second.invitation_id)).code).toBe(0);
  psql(ready, `INSERT INTO user_group (tenant_id, group_id, name)
    SELECT tenant_id, gen_random_uuid(), 'readers' FROM tenant WHERE name = '${tenantName}'`);
  expect((await good('group', 'list')).data.map((g: any) => g.name)).toEqual(['readers']);
  expect((await good('group', 'role', 'readers', 'viewer')).role).toBe('viewer');
  expect((await falaj('group', 'clear-role', 'readers')).code).toBe(0);
  expect((await good('group', 'get', 'readers')).role).toBeUndefined();
});

test('uploads under way, zones of a tenant, and a provider\'s failed test', async () => {
  const { dataset_id } = await upload(tenant, digitsCsv, 'reeds');
  const begun = must(await tenant.post('/v1/uploads', { dataset_id, size_bytes: 5_000_000, sha256: '0'.repeat(64) }), 201);
  expect((await good('upload', 'list', '--dataset', 'reeds')).data.map((u: any) => u.upload_id)).toEqual([begun.upload_id]);
  expect((await good('upload', 'get', begun.upload_id)).offset).toBe(0);
  expect((await falaj('upload', 'cancel', begun.upload_id)).code).toBe(0);
  const admin = { FALAJ_TOKEN: ready.admin_token };
  const zones = await run(binary('falaj'), ['tenant', 'zones', tenantName, '-o', 'jsonpath={.home_zone}'], admin);
  expect(zones.out, zones.err).toBe(ready.zone);
  const asked = await run(binary('falaj'), ['tenant', 'set-zones', tenantName, ready.zone, '--reason', 'trial', '-o', 'json'],
    admin);
  expect(asked.code, asked.err).toBe(0);
  expect(JSON.parse(asked.out).state).toBe('PENDING');
  must(await tenant.post('/v1/identity-providers', { name: 'nobody', issuer: 'https://login.invalid', client_id: 'falaj' }), 201);
  const tested = await falaj('idp', 'test', 'nobody', '-o', 'json');
  expect(JSON.parse(tested.out).ok).toBe(false);
  expect(tested.code).toBe(1);
});

test('job batch: verdicts in order, and a number that tells', async () => {
  const job = (name: string): string => JSON.stringify({ name, kind: 'noop', pool: 'no-machines' });
  const lines = `${job('b-1')}\n\n${job('b-2')}\n`;
  const all = await run(binary('falaj'), ['job', 'batch', '-', '-o', 'json'], {}, lines);
  expect(all.code, all.err).toBe(0);
  expect(JSON.parse(all.out).data.map((v: any) => v.code)).toEqual(['ok', 'ok']);
  const refused = { name: 'b-4', kind: 'train', spec: { dataset_id: `dst_${'0'.repeat(32)}` } }, key = `once-${Date.now()}`;
  const first = await tenant.post('/v1/jobs:batch', { jobs: [JSON.parse(job('b-6')), refused] }, { key });
  expect(must(first, 207).data.map((v: any) => v.code)).toEqual(['ok', 'not_found']);
  const again = await tenant.post('/v1/jobs:batch', { jobs: [JSON.parse(job('b-6')), refused] }, { key });
  expect([again.status, again.text]).toEqual([207, first.text]);
  const mixed = await run(binary('falaj'), ['job', 'batch', '-'], {}, `[${job('b-3')},${JSON.stringify(refused)}]`);
  expect(mixed.code, mixed.err).toBe(1);
  expect(mixed.out).toContain('/jobs/1');
  expect(mixed.err).toContain('1 of 2 jobs');
  const bad = await run(binary('falaj'), ['job', 'batch', '-'], {}, `${job('b-5')}\nnot JSON\n`);
  expect(bad.code).toBe(2);
  expect(bad.err).toContain(':2 ');
  mkdirSync(join(dir, 'empty'));
  expect((await falaj('job', 'batch', join(dir, 'empty'))).code).toBe(2);
});
