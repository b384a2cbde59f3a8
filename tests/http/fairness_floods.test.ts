// SPDX-License-Identifier: Apache-2.0
// fairness_floods.test.ts - what a tenant may hold open or try: its own are refused above its limit, and the other tenant's
// calls of the same kind are answered meanwhile. Nothing is judged by a clock. Its platform is its own, with low limits: about
// 15 s.
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api, eventually, makeTenant, makeZone, must, startPlatform, waitJob, waitNode, type Api, type Platform,
  type Ready } from './harness.ts';
import { machineCall, workerListener } from './pki.ts';

const STREAMS = 6, OPEN = 10, TRIES = 4, WRONG = 100, SILENT = 80, CONNECTIONS = 64, PLACES = 160, PROXY = '127.0.0.9';
const PASSWORD = 'a heron by the water wheel';
let platform: Platform;
let ready: Ready;
let flooding: { tenant: any; api: Api; token: string };
let other: { tenant: any; api: Api; token: string };

beforeAll(async () => {
  platform = await startPlatform({ FALAJ_API_STREAMS_PER_TENANT: String(STREAMS), FALAJ_API_OPEN_CALLS_PER_TENANT: String(OPEN),
    FALAJ_AUTH_TENANT_ATTEMPTS_PER_MINUTE: String(TRIES), FALAJ_RATE_ADDRESS_PER_MINUTE: String(WRONG),
    FALAJ_API_TOKEN_CACHE_MS: '0', FALAJ_API_TRUSTED_PROXIES: PROXY,
    FALAJ_API_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS), FALAJ_API_MAX_CONNECTIONS: String(PLACES),
    FALAJ_API_HEADER_DEADLINE_MS: '600000' });      // who is silent ends for want of room alone
  ready = platform.ready;
  await makeZone(ready, ready.zone);
  flooding = await makeTenant(ready);
  other = await makeTenant(ready);
});
afterAll(() => platform.stop());

/** A job that no machine takes, so its stream has no end. */
async function waitingJob(by: Api): Promise<string> {
  return must(await by.post('/v1/jobs', { name: 'waits', kind: 'noop', pool: 'no-machines' }), 201).job_id;
}

/** The answer of an event stream, which stays open. */
function opened(token: string, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  return new Promise((done, fail) => request(`${ready.api_url}${path}`, { headers, agent: false }, done).on('error', fail).end());
}
const follow = (token: string, jobId: string): Promise<IncomingMessage> => opened(token, `/v1/jobs/${jobId}/events`);

async function answered(by: Api, jobId: string): Promise<void> {
  for (let i = 0; i < 10; i++) must(await by.get(`/v1/jobs/${jobId}`), 200);
  must(await api(ready, null).get('/readyz'), 200);
}

test('streams of one tenant leave room for those of another, and their places are given back', async () => {
  const [own, others] = [await waitingJob(flooding.api), await waitingJob(other.api)];
  const open: IncomingMessage[] = [];
  for (let i = 0; i < STREAMS; i++) open.push(await follow(flooding.token, own));
  expect(open.map((r) => r.statusCode)).toEqual(open.map(() => 200));
  const refused = await follow(flooding.token, own);
  expect(refused.statusCode).toBe(429);
  refused.destroy();
  const stream = await follow(other.token, others);
  expect(stream.statusCode).toBe(200);
  await answered(other.api, others);
  for (const r of [...open, stream]) r.destroy();
  await eventually('a place that was given back', async () => {
    const again = await follow(flooding.token, own);
    again.destroy();
    return again.statusCode === 200;
  });
});

test('streams and calls of a tenant count together, and nobody else has less for it', async () => {
  const [own, others] = [await waitingJob(flooding.api), await waitingJob(other.api)];
  const open: IncomingMessage[] = [];
  await eventually('all of its places', async () => {     // those of streams that have just been left come back within a second
    const r = await opened(flooding.token, open.length < STREAMS ? `/v1/jobs/${own}/events` : '/v1/events?topics=jobs');
    if (r.statusCode === 200) open.push(r);
    else r.destroy();
    return open.length === OPEN;
  });
  const refused = await flooding.api.get(`/v1/jobs/${own}`);
  expect(must(refused, 429).detail).toContain(`${OPEN} calls and streams open`);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await answered(other.api, others);
  for (const r of open) r.destroy();
  await eventually('a place that was given back', async () => (await flooding.api.get(`/v1/jobs/${own}`)).status === 200);
});

test('a flood of sign-ins to one tenant stops its own, from wherever, and nobody else\'s', async () => {
  const nobody = api(ready, null);
  const login = (tenant: string, name: string, password: string) =>
    nobody.post('/v1/auth/login', { tenant, name, password });
  const invited = must(await other.api.post('/v1/invitations', { name: 'noora', roles: ['viewer'] }), 201);
  must(await nobody.post('/v1/auth/invitations/accept',
    { token: invited.token, password: PASSWORD }), 200);
  // Each for another account, so that no account is locked: the tenant's budget is what refuses.
  // One is given back every 15 s, far more slowly than they come.
  const flood = (tenant: string) =>
    Promise.all(Array.from({ length: 3 * TRIES }, (_, i) => login(tenant, `nobody-${i}`, PASSWORD)));
  const tries = await flood(flooding.tenant.name);
  expect(new Set(tries.map((r) => r.status))).toEqual(new Set([401, 429]));
  must(await login(other.tenant.name, 'noora', PASSWORD), 200);
  // A name that no tenant has is counted alike, and tells nothing.
  const unknown = await flood('no-such-tenant');
  expect(new Set(unknown.map((r) => r.status))).toEqual(new Set([401, 429]));
}, 240_000);

/** The status that a token gets that comes from this address of our own, for the client that it names. */
function statusFrom(localAddress: string, token: string, client?: string, path = '/v1/me'): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, ...(client ? { 'x-forwarded-for': client } : {}) };
  const options = { headers, localAddress, agent: false };
  return new Promise((done, fail) =>
    request(`${ready.api_url}${path}`, options, (r) => r.resume().on('end', () => done(r.statusCode!))).on('error', fail).end());
}

// No token is remembered here, so each costs a look into the database. Nobody who was let in pays for a neighbour.
test('wrong tokens of an address run out of tries, and stop nobody who was let in', async () => {
  expect(await statusFrom('127.0.0.2', other.token)).toBe(200);
  const wrong = `${other.token.slice(0, -8)}aaaaaaaa`;
  const seen = new Set<number>();
  for (let i = 0; i < 10 * WRONG && !seen.has(429); i++) seen.add(await statusFrom('127.0.0.2', wrong));
  expect(seen).toEqual(new Set([401, 429]));
  for (let i = 0; i < 5; i++) expect(await statusFrom('127.0.0.2', other.token)).toBe(200);
  expect(await statusFrom('127.0.0.3', wrong)).toBe(401);
}, 240_000);

test('behind a proxy each client has tries of its own, and who is no proxy names nobody', async () => {
  const wrong = `${other.token.slice(0, -8)}aaaaaaaa`;
  const seen = new Set<number>();
  for (let i = 0; i < 10 * WRONG && !seen.has(429); i++) seen.add(await statusFrom(PROXY, wrong, '203.0.113.1'));
  expect(seen).toEqual(new Set([401, 429]));
  expect(await statusFrom(PROXY, wrong, '203.0.113.2')).toBe(401);
  expect(await statusFrom(PROXY, wrong, '203.0.113.2, 203.0.113.1'), 'read from the right').toBe(429);
  expect(await statusFrom('127.0.0.5', wrong, '203.0.113.1')).toBe(401);
}, 240_000);

// Whom a network lets in is the client that the proxy names; what comes from elsewhere names nobody, whatever it says.
const FROM: [string, string, string | undefined, boolean][] = [
  ['the client that the proxy names', PROXY, '203.0.113.7', true],
  ['the same with what the client wrote itself before it', PROXY, '198.51.100.1, 203.0.113.7', true],
  ['another client', PROXY, '198.51.100.1', false],
  ['another client that writes a good one before it', PROXY, '203.0.113.7, 198.51.100.1', false],
  ['the proxy itself', PROXY, undefined, false],
  ['a header that is no address', PROXY, 'unknown', false],
  ['a stranger who says he is one', '127.0.0.5', '203.0.113.7', false],
];
test('networks of a token and of a role\'s condition judge the client behind the proxy, and no stranger\'s word', async () => {
  const { api: owner } = await makeTenant(ready);
  const account = async (name: string): Promise<string> =>
    must(await owner.post('/v1/service-accounts', { name, roles: ['viewer'] }), 201).user_id;
  const token = async (userId: string, more = {}): Promise<string> =>
    must(await owner.post(`/v1/service-accounts/${userId}/tokens`, { name: 'own', ...more }), 201).token;
  const bound = await token(await account('bound'), { cidrs: ['203.0.113.0/24'] });
  const keeper = await account('keeper'), keepers = await token(keeper);
  must(await owner.post('/v1/role-bindings', { user_id: keeper, role: 'ml-engineer', cidrs: ['203.0.113.0/24'] }), 201);
  for (const [who, address, client, isIn] of FROM) {
    expect(await statusFrom(address, bound, client), `token: ${who}`).toBe(isIn ? 200 : 401);
    expect(await statusFrom(address, keepers, client, '/v1/users'), `role: ${who}`).toBe(isIn ? 200 : 403);
    expect(await statusFrom(address, keepers, client), 'what has no condition').toBe(200);
  }
}, 240_000);

test('questions of a device count for the tenant that it asks to enter', async () => {
  const nobody = api(ready, null), password = PASSWORD;
  const invited = must(await flooding.api.post('/v1/invitations', { name: 'decides', roles: ['ml-engineer'] }), 201);
  must(await nobody.post('/v1/auth/invitations/accept', { token: invited.token, password }), 200);
  const signed = await eventually('a sign-in', async () => {
    const r = await nobody.post('/v1/auth/login', { tenant: flooding.tenant.name, name: 'decides', password });
    return r.status === 200 ? r : undefined;
  });
  const headers = { cookie: signed.headers.get('set-cookie')!.split(';')[0]!, 'x-csrf-token': signed.json.csrf_token,
    'sec-fetch-site': 'same-origin' };
  const { device_code, user_code } = must(await nobody.post('/v1/auth/device', { client: 'a laptop' }), 200);
  must(await nobody.post('/v1/auth/device/approve', { user_code, approve: false }, { headers }), 200);
  const seen = [];
  for (let i = 0; i < 3 * TRIES; i++) seen.push((await nobody.post('/v1/auth/device/token', { device_code })).status);
  expect(new Set(seen)).toEqual(new Set([400, 429]));
}, 240_000);

test('silent connections from one address close the door to nobody', async () => {
  const job = await waitingJob(other.api);
  const open: Socket[] = [];
  let ended = 0;
  for (let i = 0; i < SILENT; i++) {
    const { hostname, port } = new URL(ready.api_url);
    const s = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.2' });
    s.on('error', () => undefined).on('close', () => ended++);
    open.push(s);
  }
  await eventually('those above the limit are ended', () => ended >= SILENT - CONNECTIONS);
  await answered(other.api, job);
  for (const s of open) s.destroy();
});

/** A connection to the machines' listener that says nothing; `ended` counts those that the listener ends. */
function silentAtMachines(localAddress: string, ended: () => void): Socket {
  const { hostname, port } = new URL(workerListener(ready).url);
  return connect({ host: hostname, port: Number(port), localAddress }).on('error', () => undefined).on('close', ended);
}

/** The machine's reports that had any other end than a good one. */
async function refusedReports(): Promise<string[]> {
  const text = await (await fetch(ready.metrics['worker']!)).text();
  return text.split('\n').filter((line) => /^falaj_worker_reports_total/.test(line) && !line.includes('"ok"'));
}

// From one address more than it may have, then from others until every place is taken, and bursts that are gone at once.
test('silent connections and bursts at the machines\' listener keep no machine from its reports', async () => {
  const node = await waitNode(ready), before = await refusedReports();
  const open: Socket[] = [];
  let turnedAway = 0, ended = 0;
  for (let i = 0; i < SILENT; i++)
    open.push(silentAtMachines('127.0.0.2', () => turnedAway++));
  await eventually('those above the limit of an address are ended', () => turnedAway >= SILENT - CONNECTIONS);
  for (let i = 0; i < 2 * PLACES; i++) open.push(silentAtMachines(`127.0.1.${1 + (i % 8)}`, () => ended++));
  await eventually('the oldest silent ones make room', () => ended >= PLACES);
  for (let i = 0; i < 50; i++) silentAtMachines('127.0.0.3', () => undefined).destroy();
  for (let i = 0; i < 3; i++) {
    const job = must(await other.api.post('/v1/jobs', { name: `beside-${i}`, kind: 'noop' }), 201);
    expect((await waitJob(other.api, job.job_id)).state).toBe('COMPLETED');
  }
  const asked = await machineCall(ready, null, '/v1/nodes/register', {});
  expect([0, 401], 'a newcomer is heard').toContain(asked.status);
  expect(asked.why).not.toContain('no answer');
  expect(await refusedReports(), 'of the machine').toEqual(before);
  must(await api(ready, ready.admin_token).get(`/v1/nodes/${node.node_id}`), 200);
  for (const s of open) s.destroy();
}, 240_000);
