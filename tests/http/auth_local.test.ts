// SPDX-License-Identifier: Apache-2.0
// auth_local.test.ts - attacks on the sign-in of people: cookies, pages of other origins, codes, invitations, devices, guesses, and sessions
// that are over. Every vector is a row; their number is printed at the end. About two minutes under AddressSanitizer: password hashing.
import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { psql, rawExchange } from './client.ts';
import { api, eventually, makeTenant, must, problemOf, type Api, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const anybody = api(ready, null);
const host = new URL(ready.api_url).host;
const PASSWORD = 'a heron by the water wheel';
const COOKIE = '__Host-falaj';

let vectors = 0;
function vector(name: string, run: () => Promise<void>): void {
  vectors++;
  test(name, run, 60_000);
}
afterAll(() => {
  console.log(`auth_local.test.ts: ${vectors} vectors`);
  expect(vectors).toBeGreaterThanOrEqual(110);
});

const sql = (text: string): string => psql(ready, text);
const uuid = (id: string): string => id.slice(id.indexOf('_') + 1);

/** RFC 6238, written again here so that the server does not check itself. */
function totp(secret: string, atMs = Date.now()): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map((c) => letters.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((b) => parseInt(b, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const at = mac[19]! & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

interface Person { tenant: string; name: string; user_id: string }
interface Sign { cookie: string; csrf: string; body: any }

const setCookie = (reply: Reply): string => /^__Host-falaj=([A-Za-z0-9_-]{43}); Path=\/; Secure; HttpOnly; SameSite=Lax$/.exec(reply.headers.get('set-cookie') ?? '')?.[1] ?? '';
const signOf = (reply: Reply): Sign => ({ cookie: setCookie(reply), csrf: reply.json.csrf_token, body: reply.json });
const login = (who: { tenant: string; name: string }, password = PASSWORD, more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  anybody.post('/v1/auth/login', { tenant: who.tenant, name: who.name, password, ...more }, { headers });
const jar = (s: Sign): Record<string, string> => ({ cookie: `${COOKIE}=${s.cookie}` });
const page = (s: Sign): Record<string, string> => ({ ...jar(s), 'x-csrf-token': s.csrf, 'sec-fetch-site': 'same-origin' });
const as = (s: Sign, method: string, path: string, body?: unknown): Promise<Reply> => anybody(method, path, { body, headers: page(s) });
async function signIn(who: Person): Promise<Sign> {
  const s = signOf({ ...(await login(who)) });
  expect(s.cookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
  return s;
}
const alive = async (cookie: string): Promise<number> => (await anybody.get('/v1/auth/session', { headers: { cookie: `${COOKIE}=${cookie}` } })).status;
function refusedAs(reply: Reply, status: number, code: string): void {
  expect(reply.status, reply.text.slice(0, 300)).toBe(status);
  expect(problemOf(reply).code).toBe(code);
}

let boss: Api, tenantName: string, tenantId: string, n = 0;
async function person(roles = ['ml-engineer'], by: Api = boss, tenant = tenantName): Promise<Person> {
  const name = `person AZaz-._09 ${++n}`;
  const invitation = must(await by.post('/v1/invitations', { name, roles }), 201);
  const user = must(await anybody.post('/v1/auth/invitations/accept', { token: invitation.token, password: PASSWORD }), 200);
  return { tenant, name, user_id: user.user_id };
}
async function withTotp(who: Person): Promise<{ sign: Sign; secret: string; codes: string[] }> {
  const s = await signIn(who);
  const begun = must(await as(s, 'POST', '/v1/auth/mfa/totp'), 200);
  const label = encodeURIComponent(`${who.tenant} ${who.name}`);
  const how = `secret=${begun.secret}&issuer=Falaj&algorithm=SHA1&digits=6&period=30`;
  expect(begun.otpauth_uri).toBe(`otpauth://totp/Falaj:${label}?${how}`);
  const done = await as(s, 'POST', '/v1/auth/mfa/totp/confirm', { code: totp(begun.secret, Date.now() - 30_000) });
  const codes = must(done, 200).recovery_codes as string[];
  expect(codes).toHaveLength(10);
  return { sign: signOf(done), secret: begun.secret, codes };
}

beforeAll(async () => {
  const made = await makeTenant(ready);
  boss = made.api;
  tenantName = made.tenant.name;
  tenantId = made.tenant.tenant_id;
});

describe('a change under a session', () => {
  let s: Sign, other: Sign;
  beforeAll(async () => {
    const admin = await person(['tenant-admin']);
    s = await signIn(admin);
    other = await signIn(admin);
  });
  const base = (): Record<string, string> => ({ ...jar(s), 'x-csrf-token': s.csrf, 'sec-fetch-site': 'same-origin', origin: `http://${host}` });
  const without = (...names: string[]): Record<string, string> => Object.fromEntries(Object.entries(base()).filter(([k]) => !names.includes(k)));
  const bad: [string, () => Record<string, string>][] = [
    ['no token', () => without('x-csrf-token')],
    ['an empty token', () => ({ ...base(), 'x-csrf-token': '' })],
    ['a wrong token', () => ({ ...base(), 'x-csrf-token': 'A'.repeat(43) })],
    ["another session's token", () => ({ ...base(), 'x-csrf-token': other.csrf })],
    ['a token cut short', () => ({ ...base(), 'x-csrf-token': s.csrf.slice(0, 42) })],
    ['a token with more behind it', () => ({ ...base(), 'x-csrf-token': `${s.csrf}A` })],
    ['the token in capitals', () => ({ ...base(), 'x-csrf-token': s.csrf.toUpperCase() === s.csrf ? 'x' : s.csrf.toUpperCase() })],
    ['the cookie as the token', () => ({ ...base(), 'x-csrf-token': s.cookie })],
    ['the token in another header', () => ({ ...without('x-csrf-token'), 'x-xsrf-token': s.csrf })],
    ['the token in a cookie', () => ({ ...without('x-csrf-token'), cookie: `${COOKIE}=${s.cookie}; X-CSRF-Token=${s.csrf}` })],
    ['a page of another site', () => ({ ...base(), 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })],
    ['cross-site though Origin is ours', () => ({ ...base(), 'sec-fetch-site': 'cross-site' })],
    ['a page of a neighbour (same-site)', () => ({ ...base(), 'sec-fetch-site': 'same-site' })],
    ['an address typed by hand (none)', () => ({ ...without('origin'), 'sec-fetch-site': 'none' })],
    ['two sites in one header', () => ({ ...base(), 'sec-fetch-site': 'same-origin, cross-site' })],
    ['Sec-Fetch-Site in capitals', () => ({ ...base(), 'sec-fetch-site': 'Same-Origin' })],
    ['Origin null', () => ({ ...base(), origin: 'null' })],
    ['Origin of another site', () => ({ ...base(), origin: 'https://evil.example' })],
    ['Origin of another port', () => ({ ...base(), origin: 'http://127.0.0.1:1' })],
    ['Origin with our name in front', () => ({ ...base(), origin: `http://${host}.evil.example` })],
    ['Origin with our name as its user', () => ({ ...base(), origin: `http://${host}@evil.example` })],
    ['Origin with a path', () => ({ ...base(), origin: `http://${host}/` })],
    ['Origin without a scheme', () => ({ ...base(), origin: host })],
    ['Origin with another scheme', () => ({ ...base(), origin: `file://${host}` })],
    ['neither Origin nor Sec-Fetch-Site', () => without('origin', 'sec-fetch-site')],
    ['Referer alone', () => ({ ...without('origin', 'sec-fetch-site'), referer: `http://${host}/` })],
  ];
  for (const [name, headers] of bad) {
    vector(`DELETE with ${name}`, async () => refusedAs(await anybody('DELETE', `/v1/sessions/ses_${'0'.repeat(32)}`, { headers: headers() }), 403, 'csrf_refused'));
    vector(`POST with ${name}`, async () => refusedAs(await anybody.post('/v1/invitations', { name: 'x', roles: [] }, { headers: headers() }), 403, 'csrf_refused'));
  }
  test('from our own page it goes through', async () => {
    for (const headers of [base(), without('origin'), without('sec-fetch-site')])
      expect((await anybody('DELETE', `/v1/sessions/ses_${'0'.repeat(32)}`, { headers })).status).toBe(404);
  });
  for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override'])
    vector(`GET with ${header} ends nothing`, async () => {
      const reply = await anybody.get(`/v1/sessions/${other.body.session_id}`, { headers: { ...base(), [header]: 'DELETE' } });
      expect(reply.status).toBe(405);
      expect(await alive(other.cookie)).toBe(200);
    });
  vector('a method in the query ends nothing', async () => {
    expect((await anybody('POST', `/v1/sessions/${other.body.session_id}?_method=DELETE`, { headers: base() })).status).toBe(405);
    expect(await alive(other.cookie)).toBe(200);
  });
  for (const [name, headers] of [['a page of another site', { origin: 'https://evil.example' }], ['a frame (null)', { origin: 'null' }],
    ['cross-site', { 'sec-fetch-site': 'cross-site' }], ['same-site', { 'sec-fetch-site': 'same-site' }]] as [string, Record<string, string>][])
    vector(`a login sent by ${name}`, async () => refusedAs(await login({ tenant: tenantName, name: 'x' }, PASSWORD, {}, headers), 403, 'csrf_refused'));
});

describe('a cookie', () => {
  let s: Sign, token: string;
  beforeAll(async () => {
    const who = await person();
    s = await signIn(who);
    token = must(await boss.post('/v1/api-tokens', { name: 't', user_id: who.user_id }), 201).token;
  });
  const flip = (at: number): string => s.cookie.slice(0, at) + (s.cookie[at] === 'A' ? 'B' : 'A') + s.cookie.slice(at + 1);
  const bad: [string, () => string][] = [
    ...[0, 1, 20, 41].map((at): [string, () => string] => [`bent at ${at}`, () => `${COOKIE}=${flip(at)}`]),
    ['cut short', () => `${COOKIE}=${s.cookie.slice(1)}`],
    ['with one more character', () => `${COOKIE}=${s.cookie}A`],
    ['with padding', () => `${COOKIE}=${s.cookie}=`],
    ['that is empty', () => `${COOKIE}=`],
    ['in quotes', () => `${COOKIE}="${s.cookie}"`],
    ['percent-encoded', () => `${COOKIE}=%${s.cookie.charCodeAt(0).toString(16)}${s.cookie.slice(1)}`],
    ['that is there twice', () => `${COOKIE}=${s.cookie}; ${COOKIE}=${s.cookie}`],
    ['that is there twice, another one first', () => `${COOKIE}=${'A'.repeat(43)}; ${COOKIE}=${s.cookie}`],
    ['that is there twice, another one last', () => `${COOKIE}=${s.cookie}; ${COOKIE}=`],
    ['without the prefix', () => `falaj=${s.cookie}`],
    ['with another prefix', () => `__Secure-falaj=${s.cookie}`],
    ['with the prefix in small letters', () => `__host-falaj=${s.cookie}`],
    ['with the name in other letters', () => `__Host-Falaj=${s.cookie}`],
    ['with a longer name', () => `__Host-falaj2=${s.cookie}`],
    ['with a space before the equals sign', () => `${COOKIE} =${s.cookie}`],
    ["inside another one's value", () => `a=${COOKIE}=${s.cookie}`],
    ['that is its own digest', () => `${COOKIE}=${createHash('sha256').update(s.cookie).digest('base64url')}`],
    ['that is an access token', () => `${COOKIE}=${token}`],
    ['that is the CSRF token', () => `${COOKIE}=${s.csrf}`],
    ["with SQL in it", () => `${COOKIE}=' OR 1=1 --`],
  ];
  for (const [name, cookie] of bad)
    vector(`a cookie ${name}`, async () => refusedAs(await anybody.get('/v1/auth/session', { headers: { cookie: cookie() } }), 401, 'unauthenticated'));
  vector('as a bearer token', async () => refusedAs(await api(ready, s.cookie).get('/v1/me'), 401, 'unauthenticated'));
  vector('beside a good token', async () => refusedAs(await api(ready, token).get('/v1/me', { headers: jar(s) }), 400, 'invalid_argument'));
  vector('a bent one beside a good token', async () => refusedAs(await api(ready, token).get('/v1/me', { headers: { cookie: `${COOKIE}=${flip(3)}` } }), 400, 'invalid_argument'));
  vector('beside Basic', async () => refusedAs(await anybody.get('/v1/me', { headers: { ...jar(s), authorization: 'Basic YTpi' } }), 400, 'invalid_argument'));
  vector('in two Cookie headers', async () => {
    const answer = await rawExchange(ready, `GET /v1/auth/session HTTP/1.1\r\nHost: ${host}\r\nCookie: a=b\r\nCookie: ${COOKIE}=${s.cookie}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[01]/);
  });
  vector('in the query', async () => refusedAs(await anybody.get(`/v1/auth/session?${COOKIE}=${s.cookie}`), 401, 'unauthenticated'));
  test('the good one is good, among others too', async () => {
    expect(await alive(s.cookie)).toBe(200);
    expect((await anybody.get('/v1/me', { headers: { cookie: `a=b; ${COOKIE}=${s.cookie}; c` } })).status).toBe(200);
    expect((await api(ready, token).get('/v1/me', { headers: { cookie: 'theme=dark' } })).status).toBe(200);
  });
});

describe('a planted cookie', () => {
  vector('is not taken over by a login', async () => {
    const who = await person();
    const planted = 'P'.repeat(43);
    const s = signOf(await login(who, PASSWORD, {}, { cookie: `${COOKIE}=${planted}` }));
    expect(s.cookie).not.toBe(planted);
    expect(await alive(planted)).toBe(401);
    expect(await alive(s.cookie)).toBe(200);
  });
  vector('of an own session is left behind by a login', async () => {
    const who = await person();
    const first = await signIn(who);
    const second = signOf(await login(who, PASSWORD, {}, jar(first)));
    expect(second.cookie).not.toBe(first.cookie);
    expect(second.body.session_id).not.toBe(first.body.session_id);
  });
  vector('is dead after a step-up', async () => {
    const before = await signIn(await person());
    const after = signOf(await as(before, 'POST', '/v1/auth/step-up', { password: PASSWORD }));
    expect(after.body.session_id).toBe(before.body.session_id);
    expect([await alive(before.cookie), await alive(after.cookie)]).toEqual([401, 200]);
  });
  vector('is dead after a new password', async () => {
    const before = await signIn(await person());
    const after = signOf(await as(before, 'POST', '/v1/auth/password', { old: PASSWORD, new: 'another heron by the water' }));
    expect([await alive(before.cookie), await alive(after.cookie)]).toEqual([401, 200]);
  });
});

describe('a second factor', () => {
  let who: Person, secret: string, codes: string[], sign: Sign;
  beforeAll(async () => {
    who = await person();
    ({ sign, secret, codes } = await withTotp(who));
  });
  const half = async (): Promise<Sign> => signOf(await login(who));
  vector('changes the cookie when it is set up', async () => {
    const fresh = await person();
    const before = await signIn(fresh);
    const begun = must(await as(before, 'POST', '/v1/auth/mfa/totp'), 200);
    refusedAs(await as(before, 'POST', '/v1/auth/mfa/totp/confirm', { code: '000000' === totp(begun.secret) ? '000001' : '000000' }), 403, 'mfa_required');
    const after = signOf(await as(before, 'POST', '/v1/auth/mfa/totp/confirm', { code: totp(begun.secret) }));
    expect([await alive(before.cookie), await alive(after.cookie)]).toEqual([401, 200]);
    expect((await as(after, 'POST', '/v1/auth/mfa/totp')).status).toBe(409);
  });
  vector('makes a login half done', async () => {
    const s = await half();
    expect(s.body).toMatchObject({ stage: 'code', mfa_required: true, permissions: [], roles: [] });
  });
  for (const [method, path] of [['GET', '/v1/me'], ['GET', '/v1/jobs'], ['GET', '/v1/sessions'], ['POST', '/v1/jobs'], ['POST', '/v1/api-tokens'],
    ['POST', '/v1/auth/password'], ['POST', '/v1/auth/step-up'], ['POST', '/v1/auth/mfa/totp'], ['DELETE', '/v1/auth/mfa/totp'], ['POST', '/v1/auth/device/approve']] as const)
    vector(`half done: ${method} ${path}`, async () => refusedAs(await as(await half(), method, path, method === 'POST' ? {} : undefined), 403, 'mfa_required'));
  for (const code of ['000000', '999999', '12345a', '      ', '-00001', '1234567890'])
    vector(`the code "${code}"`, async () => {
      const s = await half();
      sql('DELETE FROM login_guard');
      refusedAs(await as(s, 'POST', '/v1/auth/totp', { code }), 403, 'mfa_required');
      expect((await anybody.get('/v1/me', { headers: jar(s) })).status).toBe(403);
    });
  vector('a code works once, for one session only', async () => {
    sql('DELETE FROM login_guard');
    const [a, b] = [await half(), await half()];
    const code = totp(secret);
    const done = await as(a, 'POST', '/v1/auth/totp', { code });
    expect(must(done, 200)).toMatchObject({ stage: 'full', mfa_required: false });
    expect([await alive(a.cookie), await alive(setCookie(done))]).toEqual([401, 200]);
    refusedAs(await as(b, 'POST', '/v1/auth/totp', { code }), 403, 'mfa_required');
    refusedAs(await login(who, PASSWORD, { totp: code }), 401, 'unauthenticated');
  });
  vector('an older code than one that was used', async () => refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(secret, Date.now() - 30_000) }), 403, 'mfa_required'));
  vector('a code of two steps ahead', async () => refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(secret, Date.now() + 90_000) }), 403, 'mfa_required'));
  vector('a recovery code works once', async () => {
    sql('DELETE FROM login_guard');
    expect(must(await as(await half(), 'POST', '/v1/auth/totp', { code: codes[0]!.toUpperCase().replaceAll('-', ' ') }), 200).stage).toBe('full');
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: codes[0] }), 403, 'mfa_required');
  });
  vector("another person's code and recovery code", async () => {
    sql('DELETE FROM login_guard');
    const second = await person();
    const theirs = await withTotp(second);
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: theirs.codes[1] }), 403, 'mfa_required');
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(theirs.secret) }), 403, 'mfa_required');
  });
  vector('the password alone does not step up', async () => refusedAs(await as(sign, 'POST', '/v1/auth/step-up', { password: PASSWORD }), 400, 'missing_field'));
  vector('guesses at the code are counted', async () => {
    sql('DELETE FROM login_guard');
    const s = await half();
    const seen: number[] = [];
    for (let i = 0; i < 6; i++) seen.push((await as(s, 'POST', '/v1/auth/totp', { code: `00000${i}` })).status);
    expect(seen).toEqual([403, 403, 403, 403, 403, 429]);
    expect((await as(s, 'POST', '/v1/auth/totp', { code: codes[2] })).status).toBe(429);
    sql('DELETE FROM login_guard');
  });
  vector('taken away by an administrator, with the sessions', async () => {
    const mine = signOf(await as(await half(), 'POST', '/v1/auth/totp', { code: codes[3] }));
    must(await boss.delete(`/v1/users/${who.user_id}/second-factor`), 204);
    expect(await alive(mine.cookie)).toBe(401);
    expect(must(await login(who), 200).stage).toBe('full');
  });
});

describe('an invitation', () => {
  const accept = (token: string, password: string | undefined = PASSWORD): Promise<Reply> => anybody.post('/v1/auth/invitations/accept', { token, password });
  const invite = async (by: Api = boss, roles = ['viewer']): Promise<any> => must(await by.post('/v1/invitations', { name: `guest ${++n}`, roles }), 201);
  vector('that was used', async () => {
    const { token } = await invite();
    must(await accept(token), 200);
    refusedAs(await accept(token), 404, 'not_found');
  });
  vector('that was used at the same moment', async () => {
    const { token } = await invite();
    const seen = await Promise.all([accept(token), accept(token)]);
    expect(seen.filter((r) => r.status === 200)).toHaveLength(1);
  });
  vector('that has expired', async () => {
    const { token, invitation_id } = await invite();
    sql(`UPDATE invitation SET expires_at = now() WHERE invitation_id = '${uuid(invitation_id)}'`);
    refusedAs(await accept(token), 404, 'not_found');
  });
  vector('that was withdrawn', async () => {
    const { token, invitation_id } = await invite();
    must(await boss.delete(`/v1/invitations/${invitation_id}`), 204);
    refusedAs(await accept(token), 404, 'not_found');
  });
  vector('of another tenant cannot be seen or withdrawn', async () => {
    const foreign = await makeTenant(ready);
    const { invitation_id } = await invite(foreign.api);
    refusedAs(await boss.delete(`/v1/invitations/${invitation_id}`), 404, 'not_found');
    expect((await boss.get('/v1/invitations?page_size=200')).text).not.toContain(invitation_id);
  });
  vector('whose inviter is disabled', async () => {
    const admin = await person(['tenant-admin']);
    const { token } = must(await anybody.post('/v1/invitations', { name: `guest ${++n}`, roles: ['viewer'] }, { headers: page(await signIn(admin)) }), 201);
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(admin.user_id)}'`);
    refusedAs(await accept(token), 404, 'not_found');
  });
  vector('whose inviter holds less by now', async () => {
    const admin = await person(['tenant-admin']);
    const { token } = must(await anybody.post('/v1/invitations', { name: `guest ${++n}`, roles: ['tenant-admin'] }, { headers: page(await signIn(admin)) }), 201);
    sql(`UPDATE role_binding SET role = 'viewer' WHERE user_id = '${uuid(admin.user_id)}'`);
    expect([403, 404]).toContain((await accept(token)).status);
  });
  vector('by who may not invite', async () => {
    const engineer = await person();
    refusedAs(await anybody.post('/v1/invitations', { name: 'x', roles: [] }, { headers: page(await signIn(engineer)) }), 403, 'forbidden');
  });
  for (const [role, status] of [['platform-admin', 422], ['zone-operator', 422], ['worker', 422], ['no-such-role', 400]] as const)
    vector(`to ${role}`, async () => { expect((await boss.post('/v1/invitations', { name: `guest ${++n}`, roles: [role] })).status).toBe(status); });
  for (const [name, token] of [['empty', ''], ['no token', 'x'], ['bent', `flj_inv_${'A'.repeat(30)}_000000`], ['long', 'A'.repeat(200)], ["an access token", '$boss'], ['SQL', "' OR 1=1 --"]] as const)
    vector(`whose token is ${name}`, async () => {
      const reply = await accept(token === '$boss' ? must(await boss.post('/v1/api-tokens', { name: 'x' }), 201).token : token);
      expect([400, 404]).toContain(reply.status);
      problemOf(reply);
    });
  for (const password of ['short', '12345678901', 'password1234', 'aaaaaaaaaaaaaa', 'x'.repeat(1025)])
    vector(`with the password ${password.slice(0, 14)} (${password.length})`, async () => refusedAs(await accept((await invite()).token, password), 400, 'invalid_argument'));
});

describe('a device', () => {
  const start = async (): Promise<any> => must(await anybody.post('/v1/auth/device', { client: 'falaj on a laptop' }), 200);
  const poll = (device_code: string): Promise<Reply> => anybody.post('/v1/auth/device/token', { device_code });
  const error = async (code: string): Promise<string> => {
    const reply = await poll(code);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.json.access_token).toBeUndefined();
    return reply.json.error;
  };
  const decide = (s: Sign, user_code: string, approve = true): Promise<Reply> => as(s, 'POST', '/v1/auth/device/approve', { user_code, approve });
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const relax = (d: any): string => sql(`UPDATE device_grant SET polled_at = NULL, interval_s = 0 WHERE device_hash = '\\x${hash(d.device_code)}'`);
  let s: Sign, who: Person;
  beforeAll(async () => {
    who = await person();
    s = await signIn(who);
  });
  vector('is let in once, as the person who let it in', async () => {
    const d = await start();
    expect(d.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await error(d.device_code)).toBe('authorization_pending');
    const seen = await anybody.get(`/v1/auth/device?user_code=${d.user_code.toLowerCase()}`, { headers: jar(s) });
    expect(must(seen, 200)).toMatchObject({ client: 'falaj on a laptop', state: 'PENDING' });
    must(await decide(s, d.user_code), 200);
    relax(d);
    const token = must(await poll(d.device_code), 200).access_token;
    expect(must(await api(ready, token).get('/v1/me'), 200).user_id).toBe(who.user_id);
    relax(d);
    expect(await error(d.device_code)).toBe('invalid_grant');
  });
  vector('that asks too often is slowed down', async () => {
    const d = await start();
    expect([await error(d.device_code), await error(d.device_code), await error(d.device_code)]).toEqual(['authorization_pending', 'slow_down', 'slow_down']);
    must(await decide(s, d.user_code), 200);
    expect(await error(d.device_code)).toBe('slow_down');
  });
  vector('two polls at once give one token', async () => {
    const d = await start();
    must(await decide(s, d.user_code), 200);
    const seen = await Promise.all([poll(d.device_code), poll(d.device_code), poll(d.device_code)]);
    expect(seen.filter((r) => r.status === 200)).toHaveLength(1);
  });
  vector('that was refused', async () => {
    const d = await start();
    must(await decide(s, d.user_code, false), 200);
    expect(await error(d.device_code)).toBe('access_denied');
  });
  vector('that came too late', async () => {
    const d = await start();
    must(await decide(s, d.user_code), 200);
    sql(`UPDATE device_grant SET expires_at = now() WHERE device_hash = '\\x${hash(d.device_code)}'`);
    expect(await error(d.device_code)).toBe('expired_token');
  });
  vector('whose code was entered too late', async () => {
    const d = await start();
    sql(`UPDATE device_grant SET expires_at = now() WHERE device_hash = '\\x${hash(d.device_code)}'`);
    refusedAs(await decide(s, d.user_code), 404, 'not_found');
  });
  vector('cannot be decided twice', async () => {
    const d = await start();
    must(await decide(s, d.user_code, false), 200);
    refusedAs(await decide(s, d.user_code), 404, 'not_found');
  });
  vector('is not let in by a token', async () => refusedAs(await boss.post('/v1/auth/device/approve', { user_code: (await start()).user_code }), 400, 'invalid_argument'));
  vector('is not let in by nobody', async () => refusedAs(await anybody.post('/v1/auth/device/approve', { user_code: (await start()).user_code }), 401, 'unauthenticated'));
  vector('of a person who is disabled meanwhile', async () => {
    const leaver = await person();
    const d = await start();
    must(await decide(await signIn(leaver), d.user_code), 200);
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(leaver.user_id)}'`);
    expect(await error(d.device_code)).toBe('access_denied');
  });
  for (const [name, code] of [['empty', ''], ['short', 'x'], ['bent', `flj_dev_${'A'.repeat(30)}_000000`], ['the user code', 'BCDF-GHJK'], ['SQL', "' OR 1=1 --"]] as const)
    vector(`whose device code is ${name}`, async () => {
      const reply = await poll(code);
      expect(reply.status).toBe(400);
      expect(reply.json.access_token).toBeUndefined();
    });
  for (const code of ['BCDF-GHJ', 'AAAA-AAAA', 'BCDF-GHJK-L', '????-????'])
    vector(`whose user code is ${code}`, async () => {
      sql('DELETE FROM login_guard');
      refusedAs(await decide(s, code), 404, 'not_found');
    });
  vector('guesses at the user code are counted', async () => {
    sql('DELETE FROM login_guard');
    const d = await start();
    const seen: number[] = [];
    for (let i = 0; i < 6; i++) seen.push((await decide(s, `BCDF-GHJ${'BCDFGH'[i]}`)).status);
    expect(seen).toEqual([404, 404, 404, 404, 404, 429]);
    expect((await decide(s, d.user_code)).status).toBe(429);
    sql('DELETE FROM login_guard');
  });
});

describe('a person who is disabled', () => {
  vector('is out within 5 s, whatever was let in before, and enabling gives nothing back', async () => {
    const leaver = await person(['tenant-admin']);
    const s = await signIn(leaver);
    const token = must(await boss.post('/v1/api-tokens', { name: 'leaver', user_id: leaver.user_id }), 201).token;
    const d = must(await anybody.post('/v1/auth/device', { client: 'falaj on a laptop' }), 200);
    must(await as(s, 'POST', '/v1/auth/device/approve', { user_code: d.user_code, approve: true }), 200);
    const invitation = must(await anybody.post('/v1/invitations', { name: `guest ${++n}`, roles: ['viewer'] }, { headers: page(s) }), 201);
    const uses: [string, () => Promise<Reply>, number][] = [
      ['session', () => anybody.get('/v1/auth/session', { headers: jar(s) }), 401], ['token', () => api(ready, token).get('/v1/me'), 401],
      ['device', () => anybody.post('/v1/auth/device/token', { device_code: d.device_code }), 400],
      ['invitation', () => anybody.post('/v1/auth/invitations/accept', { token: invitation.token, password: PASSWORD }), 404], ['password', () => login(leaver), 401],
    ];
    expect([(await uses[0]![1]()).status, (await uses[1]![1]()).status]).toEqual([200, 200]);
    const set = async (state: string): Promise<Reply> => boss('PATCH', `/v1/users/${leaver.user_id}`, { body: { state }, headers: { 'if-match': '*' } });
    must(await set('DISABLED'), 200);
    const began = Date.now();
    for (const [what, use, status] of uses) await expect.poll(async () => (await use()).status, { timeout: 5000 - (Date.now() - began), message: what }).toBe(status);
    must(await set('ACTIVE'), 200);
    for (const [what, use, status] of uses.slice(0, 4)) expect((await use()).status, what).toBe(status);
  });
});

describe('guessing at passwords', () => {
  const shape = (r: Reply): string => JSON.stringify([r.status, { ...r.json, request_id: '' }]);
  vector('one answer for all that is wrong', async () => {
    const who = await person(), gone = await person();
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(gone.user_id)}'`);
    const bare = must(await boss.post('/v1/users', { name: `bare ${++n}` }), 201);
    const service = must(await boss.post('/v1/users', { name: `bot ${++n}`, kind: 'service' }), 201);
    const seen = [await login(who, 'not the password'), await login({ tenant: tenantName, name: 'nobody' }), await login({ tenant: 'no-such-tenant', name: who.name }),
      await login({ tenant: tenantName, name: bare.name }), await login({ tenant: tenantName, name: service.name }), await login(gone),
      await login({ tenant: 'platform', name: who.name }), await login({ tenant: tenantName.toUpperCase(), name: who.name })];
    expect(new Set(seen.map(shape)).size).toBe(1);
    expect(seen[0]!.status).toBe(401);
    expect(seen.every((r) => !r.headers.get('set-cookie'))).toBe(true);
  });
  for (const [name, exists] of [['an account', true], ['an account that does not exist', false]] as const)
    vector(`${name} waits after five`, async () => {
      const who = exists ? await person() : { tenant: tenantName, name: `ghost ${++n}`, user_id: '' };
      const open = exists ? await signIn(who) : undefined;
      const seen: number[] = [];
      for (let i = 0; i < 6; i++) seen.push((await login(who, `wrong password ${i}`)).status);
      expect(seen).toEqual([401, 401, 401, 401, 401, 429]);
      const right = await login(who);
      refusedAs(right, 429, 'rate_limited');
      expect(right.json.detail).toMatch(/\d+ s$/);
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(20);
      if (open) expect(await alive(open.cookie)).toBe(200);
    });
  vector('guesses in parallel are counted one by one', async () => {
    const who = await person();
    const seen = await Promise.all(Array.from({ length: 12 }, (_, i) => login(who, `wrong password ${i}`)));
    expect(seen.filter((r) => r.status === 401).length).toBeLessThanOrEqual(5);
    expect(new Set(seen.map((r) => r.status))).toEqual(new Set([401, 429]));
  });
  vector('through the change of the own password', async () => {
    const who = await person();
    const s = await signIn(who);
    for (let i = 0; i < 5; i++) refusedAs(await as(s, 'POST', '/v1/auth/password', { old: `wrong password ${i}`, new: 'a better heron, by the water' }), 403, 'mfa_required');
    expect((await as(s, 'POST', '/v1/auth/password', { old: PASSWORD, new: 'a better heron, by the water' })).status).toBe(429);
  });
  vector('through the step-up', async () => {
    const who = await person();
    const s = await signIn(who);
    for (let i = 0; i < 5; i++) refusedAs(await as(s, 'POST', '/v1/auth/step-up', { password: `wrong password ${i}` }), 403, 'mfa_required');
    expect((await as(s, 'POST', '/v1/auth/step-up', { password: PASSWORD })).status).toBe(429);
    expect((await login(who)).status).toBe(429);
  });
  vector('every outcome is in the log', async () => {
    const who = await person();
    await login(who, 'not the password');
    await signIn(who);
    const events = (code: string): string => sql(`SELECT count(*) FROM audit_event WHERE tenant_id = '${uuid(tenantId)}' AND convert_from(body, 'UTF8') LIKE '%${code}%' AND convert_from(body, 'UTF8') LIKE '%${who.user_id}%'`);
    expect(Number(events('auth.login.failed'))).toBe(1);
    expect(Number(events('"auth.login"'))).toBe(1);
    expect(sql(`SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%${PASSWORD}%'`)).toBe('0');
  });
});

describe('a session that is over', () => {
  const over: { name: string; sign: Sign; status: number; code: string }[] = [];
  const stepped: { name: string; sign: Sign; who: Person }[] = [];
  const names = ['idle for 16 minutes', 'past its absolute end', 'of a disabled user', 'of a tenant that is suspended', 'that was revoked in the database'];
  const dangerous: [string, string][] = [['POST', '/v1/role-bindings'], ['POST', '/v1/api-tokens'], ['POST', '/v1/auth/mfa/totp'], ['DELETE', `/v1/role-bindings/rlb_${'0'.repeat(32)}`],
    ['DELETE', `/v1/users/usr_${'0'.repeat(32)}/second-factor`]];
  beforeAll(async () => {
    const add = async (i: number, change: (s: Sign, p: Person) => string, status = 401, code = 'unauthenticated', who?: Person): Promise<void> => {
      const p = who ?? (await person());
      const sign = await signIn(p);
      expect(await alive(sign.cookie)).toBe(200);
      sql(change(sign, p));
      over.push({ name: names[i]!, sign, status, code });
    };
    const session = (s: Sign): string => `session_id = '${uuid(s.body.session_id)}'`;
    await add(0, (s) => `UPDATE session SET last_seen = now() - interval '16 minutes' WHERE ${session(s)}`);
    await add(1, (s) => `UPDATE session SET until = now() WHERE ${session(s)}`);
    await add(2, (_s, p) => `UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(p.user_id)}'`);
    const other = await makeTenant(ready);
    const guest = await person(['viewer'], other.api, other.tenant.name);
    await add(3, () => `UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '${uuid(other.tenant.tenant_id)}'`, 403, 'tenant_suspended', guest);
    await add(4, (s) => `UPDATE session SET ended_at = now(), reason = 'revoked' WHERE ${session(s)}`);
    const admin = await person(['tenant-admin']);
    const old = await signIn(admin);
    sql(`UPDATE session SET proved_at = now() - interval '11 minutes' WHERE ${session(old)}`);
    stepped.push({ name: 'old', sign: old, who: admin });
    // Its one use is still to be written down by falaj-api's housekeeping, over whatever stands there; only after that does the row stay.
    const isWritten = (): boolean => sql(`SELECT last_seen > now() - interval '1 minute' FROM session WHERE ${session(over[0]!.sign)}`) === 't';
    for (let tries = 0; tries < 160 && !isWritten(); tries++) await sleep(250);
    expect(isWritten()).toBe(true);
    sql(`UPDATE session SET last_seen = now() - interval '16 minutes' WHERE ${session(over[0]!.sign)}`);
    // Nothing is asked again while it is believed: when the last that was believed is refused, so is what was believed before it.
    const last = await signIn(await person());
    expect(await alive(last.cookie)).toBe(200);
    sql(`UPDATE session SET ended_at = now(), reason = 'revoked' WHERE ${session(last)}`);
    await eventually('the last session is refused', async () => (await alive(last.cookie)) === 401);
  });
  names.forEach((name, i) => vector(name, async () => {
    const o = over[i]!;
    refusedAs(await anybody.get('/v1/auth/session', { headers: jar(o.sign) }), o.status, o.code);
  }));
  vector('after logout, at once', async () => {
    const s = await signIn(await person());
    const out = await as(s, 'POST', '/v1/auth/logout');
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toMatch(/^__Host-falaj=; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=0$/);
    expect(await alive(s.cookie)).toBe(401);
    refusedAs(await as(s, 'POST', '/v1/auth/logout'), 401, 'unauthenticated');
  });
  vector('ended by its owner on another browser', async () => {
    const who = await person();
    const [a, b] = [await signIn(who), await signIn(who)];
    must(await as(a, 'DELETE', `/v1/sessions/${b.body.session_id}`), 204);
    expect([await alive(a.cookie), await alive(b.cookie)]).toEqual([200, 401]);
  });
  vector('of somebody else is not ended', async () => {
    const [a, b] = [await signIn(await person()), await signIn(await person())];
    refusedAs(await as(a, 'DELETE', `/v1/sessions/${b.body.session_id}`), 404, 'not_found');
    refusedAs(await anybody.get(`/v1/sessions?user_id=${b.body.user_id}`, { headers: jar(a) }), 403, 'forbidden');
    expect(await alive(b.cookie)).toBe(200);
  });
  vector('of another tenant is not ended by an administrator', async () => {
    const b = await signIn(await person());
    const foreign = await makeTenant(ready);
    refusedAs(await foreign.api.delete(`/v1/sessions/${b.body.session_id}`), 404, 'not_found');
    expect(must(await foreign.api.get(`/v1/sessions?user_id=${b.body.user_id}`), 200).data).toEqual([]);
    expect(await alive(b.cookie)).toBe(200);
  });
  vector('all others end with a new password', async () => {
    const who = await person();
    const [a, b] = [await signIn(who), await signIn(who)];
    const after = signOf(await as(a, 'POST', '/v1/auth/password', { old: PASSWORD, new: 'a heron far from the wheel' }));
    expect([await alive(a.cookie), await alive(b.cookie), await alive(after.cookie)]).toEqual([401, 401, 200]);
    refusedAs(await login(who), 401, 'unauthenticated');
    must(await login(who, 'a heron far from the wheel'), 200);
  });
  for (const [method, path] of dangerous)
    vector(`that was proved too long ago: ${method} ${path.slice(0, 40)}`, async () => {
      refusedAs(await as(stepped[0]!.sign, method, path, method === 'POST' ? {} : undefined), 403, 'mfa_required');
    });
  test('and after a step-up the same acts are judged', async () => {
    const fresh = signOf(await as(stepped[0]!.sign, 'POST', '/v1/auth/step-up', { password: PASSWORD }));
    for (const [method, path] of dangerous) {
      const reply = await as(fresh, method, path, method === 'POST' ? {} : undefined);
      expect(reply.json?.code, `${method} ${path}: ${reply.text}`).not.toBe('mfa_required');
    }
  });
});

test('a list of people tells who has a second factor, and when they were last seen', async () => {
  const careful = await person(), careless = await person(), absent = must(await boss.post('/v1/users', { name: 'never here' }), 201);
  await withTotp(careful);
  await signIn(careless);
  const program = must(await boss.post('/v1/users', { name: 'a program', kind: 'service', roles: ['viewer'] }), 201);
  const token = must(await boss.post('/v1/api-tokens', { name: 'p', user_id: program.user_id }), 201).token;
  must(await api(ready, token).get('/v1/me'), 200);
  const one = async (id: string): Promise<any> => must(await boss.get(`/v1/users/${id}`), 200);
  expect((await one(careful.user_id)).has_second_factor).toBe(true);
  for (const id of [careless.user_id, absent.user_id, program.user_id]) expect((await one(id)).has_second_factor).toBe(false);
  expect(await one(absent.user_id)).not.toHaveProperty('last_seen_at');
  for (let tries = 0; tries < 200 && !(await one(program.user_id)).last_seen_at; tries++) await new Promise((done) => setTimeout(done, 500));
  for (const id of [careful.user_id, careless.user_id, program.user_id])
    expect(Math.abs(Date.parse((await one(id)).last_seen_at) - Date.now()), id).toBeLessThan(120_000);
  const listed = must(await boss.get('/v1/users?page_size=200'), 200).data;
  for (const id of [careful.user_id, absent.user_id]) {
    const { last_seen_at: _a, ...got } = listed.find((u: any) => u.user_id === id), { last_seen_at: _b, ...want } = await one(id);
    expect(got).toEqual(want);
  }
  expect(must(await boss.get('/v1/service-accounts'), 200).data.find((u: any) => u.user_id === program.user_id)).toHaveProperty('last_seen_at');
});
