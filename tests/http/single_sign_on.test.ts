// SPDX-License-Identifier: Apache-2.0
// single_sign_on.test.ts - people sign in at their tenant's OpenID provider: at a certified one, and at one that lies in every way we know.
//
// Both run on loopback in this process. A refused sign-in lands on /login?error=CODE and opens no session. Takes 15 s.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { b64, Fake, hmacToken, makeKey, seconds, sha256url, token } from './federation.ts';
import { api, makeTenant, must, type Options, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const nobody = api(ready, null);
const key = makeKey('RS256', 'k1'), ecKey = makeKey('ES256', 'k2'), stranger = makeKey('RS256', 'k1');
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let fake: Fake;
let refused = 0;

const cookies = (r: Reply): Record<string, string> => Object.fromEntries(r.headers.getSetCookie().map((c) => { const [pair] = c.split(';'); const at = pair!.indexOf('='); return [pair!.slice(0, at), pair!.slice(at + 1)]; }));
const session = (r: Reply): string => cookies(r)['__Host-falaj'] ?? '';
const me = (cookie: string): Promise<Reply> => nobody.get('/v1/auth/session', { headers: { cookie: `__Host-falaj=${cookie}` } });

interface Begun { url: URL; cookie: string; state: string; nonce: string; challenge: string; redirect: string }
async function start(provider: string, more = ''): Promise<Begun> {
  const r = await nobody.get(`/v1/auth/oidc/start?tenant=${tenant.tenant.name}&provider=${provider}${more}`);
  expect(r.status, r.text).toBe(302);
  const url = new URL(r.headers.get('location')!, 'http://here');
  expect(url.pathname, url.href).not.toBe('/login');
  const q = url.searchParams;
  return { url, cookie: cookies(r)['__Host-falaj-login']!, state: q.get('state')!, nonce: q.get('nonce')!, challenge: q.get('code_challenge')!, redirect: q.get('redirect_uri')! };
}
const back = (query: string, cookie: string | null): Promise<Reply> => nobody.get(`/v1/auth/oidc/callback?${query}`, cookie === null ? {} : { headers: { cookie: `__Host-falaj-login=${cookie}` } });

function landed(r: Reply, what: string, codes: string[] = ['refused']): void {
  refused++;
  expect(r.status, `${what}: ${r.text}`).toBe(302);
  const where = r.headers.get('location')!;
  expect(where.startsWith('/login?error='), `${what}: ${where}`).toBe(true);
  expect(codes, what).toContain(where.slice('/login?error='.length));
  expect(session(r), what).toBe('');
}

// ------------------------------------------------------------------------------------------------------- the one that misbehaves
let idToken: (b: Begun) => string | undefined;
let current: Begun;
const claimsOf = (b: Begun, more: object = {}): Record<string, unknown> => {
  const all: Record<string, unknown> = { iss: fake.url, aud: 'console', sub: 'p-1', preferred_username: 'mallory', iat: seconds(), exp: seconds() + 300, nonce: b.nonce, ...more };
  for (const k of Object.keys(all)) if (all[k] === undefined) delete all[k];
  return all;
};
const metadata = (more: object = {}): object => ({ issuer: fake.url, authorization_endpoint: `${fake.url}/auth`, token_endpoint: `${fake.url}/token`, jwks_uri: `${fake.url}/jwks`,
  code_challenge_methods_supported: ['S256'], response_types_supported: ['code'], ...more });
const goodToken = (): unknown => fake.answers.set('/token', (_q, r) => {
  const t = idToken(current);
  r.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: 'x', token_type: 'Bearer', ...(t === undefined ? {} : { id_token: t }) }));
});
async function login(make: (b: Begun) => string | undefined, more = ''): Promise<Reply> {
  current = await start('fake');
  idToken = make;
  return back(`code=abc&state=${current.state}&iss=${encodeURIComponent(fake.url)}${more}`, current.cookie);
}

// ------------------------------------------------------------------------------------------------------- the certified one
let real: Server, realUrl: string;
let groups: string[] = ['engineers'], amr: string[] = ['pwd'];
async function startReal(): Promise<void> {
  real = createServer();
  await new Promise<void>((done) => real.listen(0, '127.0.0.1', done));
  realUrl = `http://127.0.0.1:${(real.address() as AddressInfo).port}`;
  const provider = new Provider(realUrl, {
    clients: [{ client_id: 'falaj', client_secret: 'a secret / with +odd% signs', redirect_uris: [`${ready.api_url}/v1/auth/oidc/callback`], grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'client_secret_basic' }],
    pkce: { required: () => true }, conformIdTokenClaims: false, scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub', 'groups', 'amr'], profile: ['preferred_username'] }, cookies: { keys: ['test'] },
    findAccount: (_c: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id, preferred_username: `user-${id}`, groups }) }),
    interactions: { url: (_c: unknown, i: { uid: string }) => `/interaction/${i.uid}` },
    features: { devInteractions: { enabled: false } },
  });
  provider.on('server_error', (_c: unknown, e: Error) => console.error(e));
  const callback = provider.callback();
  real.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return void callback(request, response);
    void (async () => {
      const details = await provider.interactionDetails(request, response);
      const account = details.params.login_hint ?? who;
      const grant = details.grantId ? await provider.Grant.find(details.grantId) : new provider.Grant({ accountId: account, clientId: details.params.client_id });
      grant.addOIDCScope('openid profile email');
      await provider.interactionFinished(request, response, { login: { accountId: account, amr }, consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: false });
    })();
  });
}
let who = 'amal';

/** A browser at the provider: follows its redirects with its cookies until it is sent back to us. */
async function atProvider(url: URL): Promise<URL> {
  const jar = new Map<string, string>();
  for (let i = 0; i < 12; i++) {
    if (url.href.startsWith(ready.api_url)) return url;
    const r = await fetch(url, { redirect: 'manual', headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') } });
    for (const c of r.headers.getSetCookie()) { const pair = c.split(';')[0]!; const at = pair.indexOf('='); jar.set(pair.slice(0, at), pair.slice(at + 1)); }
    if (!r.headers.get('location')) throw new Error(`the provider stopped at ${url.href}: ${r.status} ${(await r.text()).slice(0, 400)}`);
    url = new URL(r.headers.get('location')!, url);
  }
  throw new Error('the provider sends in circles');
}
async function fullLogin(more = ''): Promise<Reply> {
  const b = await start('real', more);
  const url = await atProvider(b.url);
  return back(url.search.slice(1), b.cookie);
}

beforeAll(async () => {
  tenant = await makeTenant(ready);
  fake = await Fake.start();
  await startReal();
  fake.json('/.well-known/openid-configuration', metadata());
  fake.json('/jwks', { keys: [key.jwk, ecKey.jwk] });
  goodToken();
  must(await tenant.api.post('/v1/identity-providers', { name: 'fake', issuer: fake.url, client_id: 'console', create_users: true }), 201);
  const made = must(await tenant.api.post('/v1/identity-providers', { name: 'real', issuer: realUrl, client_id: 'falaj', client_secret: 'a secret / with +odd% signs', create_users: true, mfa_values: ['mfa'],
    group_roles: [{ group: 'engineers', role: 'ml-engineer' }, { group: 'readers', role: 'viewer' }] }), 201);
  expect(JSON.stringify(made)).not.toContain('odd');
  expect(made.has_secret).toBe(true);
});

afterAll(async () => {
  await fake?.stop();
  real?.closeAllConnections();
  await new Promise((done) => real.close(done));
  console.log(`${refused} sign-ins refused`);
});

describe('at a certified provider', () => {
  test('a person signs in, is made a user with the roles of its groups, and signs out', async () => {
    const r = await fullLogin('&return_to=/jobs%3Fstate%3DRUNNING');
    expect(r.status, r.text).toBe(302);
    expect(r.headers.get('location')).toBe('/jobs?state=RUNNING');
    expect(cookies(r)['__Host-falaj-login']).toBe('');
    for (const c of r.headers.getSetCookie()) expect(c).toMatch(/Path=\/; Secure; HttpOnly; SameSite=Lax/);
    const shown = must(await me(session(r)), 200);
    expect(shown).toMatchObject({ name: 'user-amal', roles: ['ml-engineer'], stage: 'full', tenant: tenant.tenant.name });
    expect(r.text).toBe('');
    const out = await nobody.post('/v1/auth/logout', undefined, { headers: { cookie: `__Host-falaj=${session(r)}`, 'x-csrf-token': shown.csrf_token, 'sec-fetch-site': 'same-origin' } });
    expect(out.status, out.text).toBe(204);
    expect((await me(session(r))).status).toBe(401);
  });
  test('the same person is the same user; roles follow the groups, and only those that groups gave', async () => {
    groups = ['readers'];
    const first = must(await me(session(await fullLogin())), 200);
    expect(first.roles).toEqual(['viewer']);
    groups = ['readers', 'engineers'];
    expect(must(await me(session(await fullLogin())), 200).roles.sort()).toEqual(['ml-engineer', 'viewer']);
    groups = [];
    const last = must(await me(session(await fullLogin())), 200);
    expect(last.roles).toEqual([]);
    expect(last.user_id).toBe(first.user_id);
    must(await tenant.api.post('/v1/role-bindings', { user_id: last.user_id, role: 'viewer' }), 201);
    expect(must(await me(session(await fullLogin())), 200).roles).toEqual(['viewer']);
    groups = ['engineers'];
  });
  test('a code is good once, and only with the verifier of its login', async () => {
    const b = await start('real');
    const url = await atProvider(b.url);
    const first = await back(url.search.slice(1), b.cookie);
    expect(session(first)).not.toBe('');
    landed(await back(url.search.slice(1), b.cookie), 'the same answer again', ['state']);
    const other = await start('real');
    const code = url.searchParams.get('code')!;
    landed(await back(`code=${code}&state=${other.state}&iss=${encodeURIComponent(realUrl)}`, other.cookie), 'a used code with another login');
    const victim = await atProvider((await start('real')).url);
    const mine = await start('real');
    landed(await back(`code=${victim.searchParams.get('code')}&state=${mine.state}&iss=${encodeURIComponent(realUrl)}`, mine.cookie), "another login's code: the verifier does not fit");
  });
  test('the provider refuses what would weaken PKCE', async () => {
    for (const change of ['plain', 'none'] as const) {
      const b = await start('real');
      if (change === 'plain') b.url.searchParams.set('code_challenge_method', 'plain');
      else for (const n of ['code_challenge', 'code_challenge_method']) b.url.searchParams.delete(n);
      const url = await atProvider(b.url);
      expect(url.searchParams.get('error')).toBe('invalid_request');
      landed(await back(url.search.slice(1), b.cookie), `PKCE ${change}`, ['denied']);
    }
  });
  test('a second factor at the provider counts', async () => {
    amr = ['pwd', 'mfa'];
    who = 'basma';
    const shown = must(await me(session(await fullLogin())), 200);
    expect(shown.name).toBe('user-basma');
    amr = ['pwd'];
  });
  test('a disabled user does not get in', async () => {
    who = 'dana';
    const user = must(await me(session(await fullLogin())), 200);
    const row = await tenant.api.get(`/v1/users/${user.user_id}`);
    must(await tenant.api('PATCH', `/v1/users/${user.user_id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': row.headers.get('etag') ?? '*' } }), 200);
    landed(await fullLogin(), 'a disabled user');
    who = 'amal';
  });
  test('no rows of its tokens are kept, and it can be tried out', async () => {
    const id = must(await tenant.api.get('/v1/identity-providers'), 200).data.find((p: any) => p.name === 'real').provider_id;
    expect(must(await tenant.api.post(`/v1/identity-providers/${id}/test`), 200)).toMatchObject({ ok: true, issuer: realUrl });
    const events = JSON.stringify(must(await tenant.api.get('/v1/audit/events?page_size=200'), 200));
    expect(events).not.toMatch(/eyJ|odd%/);
  });
});

const at = (more: object) => (b: Begun) => token(key, claimsOf(b, more));
const tokens: [string, (b: Begun) => string | undefined][] = [
  ['no ID token', () => undefined], ['an empty one', () => ''], ['no token at all', () => 'x.y.z'],
  ['another nonce', at({ nonce: 'x'.repeat(43) })], ['no nonce', at({ nonce: undefined })], ['an empty nonce', at({ nonce: '' })],
  ['another audience', at({ aud: 'else' })], ['no audience', at({ aud: undefined })], ['two audiences without azp', at({ aud: ['console', 'else'] })], ['azp of another', at({ azp: 'else' })],
  ['another issuer', at({ iss: 'https://evil.example' })], ['a slash behind the issuer', (b) => token(key, claimsOf(b, { iss: `${fake.url}/` }))],
  ['expired', at({ iat: 1, exp: 2 })], ['of tomorrow', at({ iat: seconds() + 86400, exp: seconds() + 90000 })], ['without exp', at({ exp: undefined })], ['without iat', at({ iat: undefined })],
  ['without sub', at({ sub: undefined })], ['an empty sub', at({ sub: '' })], ['a sub that is a number', at({ sub: 7 })],
  ['a key of another', (b) => token(stranger, claimsOf(b))], ['a kid that is not known', (b) => token(key, claimsOf(b), { kid: 'else' })], ['alg none', (b) => `${b64('{"alg":"none","kid":"k1"}')}.${b64(JSON.stringify(claimsOf(b)))}.`],
  ['HS256 with the client id', (b) => hmacToken('console', claimsOf(b), { alg: 'HS256', kid: 'k1' })], ['HS256 with the public key', (b) => hmacToken(key.public.export({ type: 'spki', format: 'pem' }) as string, claimsOf(b), { alg: 'HS256', kid: 'k1' })],
  ['ES256 said of an RSA key', (b) => token(key, claimsOf(b), { alg: 'ES256' })], ['jwk in the header', (b) => token(stranger, claimsOf(b), { jwk: stranger.jwk })], ['a changed payload', (b) => { const [h, , s] = token(key, claimsOf(b)).split('.'); return `${h}.${b64(JSON.stringify(claimsOf(b, { sub: 'admin' })))}.${s}`; }],
  ['no name', at({ preferred_username: undefined })], ['a name with a line break', at({ preferred_username: 'a\nb' })], ['a name that is a list', at({ preferred_username: ['a'] })],
  ['groups that are no list', at({ groups: 'admins' })],
];
describe('an ID token is refused with', () => {
  test.each(tokens)('%s', async (what, make) => landed(await login(make), what));
});

describe('a callback is refused', () => {
  test('while a good one is not', async () => {
    const r = await login(at({ sub: 'good', preferred_username: 'good' }));
    expect(must(await me(session(r)), 200)).toMatchObject({ name: 'good', roles: [] });
    const e = await login((b) => token(ecKey, claimsOf(b, { sub: 'good' })));
    expect(session(e)).not.toBe('');
    const x = await login(at({ sub: 'good' }), '&session_state=abc&scope=openid&prompt=none');
    expect(session(x)).not.toBe('');
    const verifier = new URLSearchParams(fake.calls.filter((c) => c.path === '/token').at(-1)!.body).get('code_verifier')!;
    expect(sha256url(verifier)).toBe(current.challenge);
    expect(fake.calls.filter((c) => c.path === '/token').at(-1)!.authorization).toBe('');
  });
  test.each([
    ['without state', (_b: Begun) => 'code=a', ['state']], ['with an empty state', () => 'code=a&state=', ['state']], ['with a made-up state', () => `code=a&state=${'A'.repeat(43)}`, ['state']],
    ['with a short state', (b: Begun) => `code=a&state=${b.state.slice(1)}`, ['state']], ['with a bent state', (b: Begun) => `code=a&state=${b.state.slice(0, 42)}${b.state.endsWith('A') ? 'E' : 'A'}`, ['state']],
    ['without code', (b: Begun) => `state=${b.state}`, ['denied']], ['with an error', (b: Begun) => `state=${b.state}&error=access_denied&error_description=%3Cscript%3E`, ['denied']],
    ['with an error beside a code', (b: Begun) => `code=a&state=${b.state}&error=x`, ['denied']], ['with an empty code', (b: Begun) => `code=&state=${b.state}`, ['refused', 'denied']],
    ['from another issuer', (b: Begun) => `code=a&state=${b.state}&iss=https%3A%2F%2Fevil.example`, ['refused']], ['from the issuer with a slash', (b: Begun) => `code=a&state=${b.state}&iss=${encodeURIComponent(`${fake.url}/`)}`, ['refused']],
    ['with an empty iss', (b: Begun) => `code=a&state=${b.state}&iss=`, ['refused']], ['from the other provider of the tenant', (b: Begun) => `code=a&state=${b.state}&iss=${encodeURIComponent(realUrl)}`, ['refused']],
  ] as [string, (b: Begun) => string, string[]][])('%s', async (what, query, codes) => {
    current = await start('fake');
    idToken = at({});
    landed(await back(query(current), current.cookie), what, codes);
  });
  test.each([['without the cookie', () => null], ['with an empty cookie', () => ''], ['with a made-up cookie', () => 'A'.repeat(43)], ['with two cookies', (b: Begun) => `${b.cookie}; __Host-falaj-login=${b.cookie}`],
    ['with the cookie cut', (b: Begun) => b.cookie.slice(1)]] as [string, (b: Begun) => string | null][])('%s', async (what, cookie) => {
    current = await start('fake');
    idToken = at({});
    landed(await back(`code=a&state=${current.state}&iss=${encodeURIComponent(fake.url)}`, cookie(current)), what, ['cookie', 'state']);
  });
  test("in another browser: its cookie, the other's state; and the state is spent", async () => {
    const mine = await start('fake'), theirs = await start('fake');
    current = mine;
    idToken = at({});
    landed(await back(`code=a&state=${mine.state}&iss=${encodeURIComponent(fake.url)}`, theirs.cookie), "another browser's cookie", ['state']);
    landed(await back(`code=a&state=${mine.state}&iss=${encodeURIComponent(fake.url)}`, mine.cookie), 'a state that was shown elsewhere', ['state']);
  });
  test('a query twice', async () => {
    const b = await start('fake');
    expect((await back(`code=a&code=b&state=${b.state}`, b.cookie)).status).toBe(400);
    expect((await back(`code=a&state=${b.state}&state=${b.state}`, b.cookie)).status).toBe(400);
    refused += 2;
  });
});

describe('return_to is a path of this host, never', () => {
  test.each(['//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '\\/evil', 'https://evil.example', 'HTTPS:evil.example', 'https:/evil', 'javascript:alert(1)', 'data:text/html,x', 'evil.example', '',
    '/\t/evil.example', '/\n/evil', '/\r\nSet-Cookie: a=b', '/%2f/evil.example', '/%2Fevil.example', '/%5cevil.example', '/%5Cevil', '/%09/evil', '/%0d%0aX: y', '/%00', ' //evil', '/ü', `/${'a'.repeat(600)}`, '?x', '#x', '.', '@evil.example',
  ])('%j', async (path) => {
    const r = await nobody.get(`/v1/auth/oidc/start?tenant=${tenant.tenant.name}&provider=fake&return_to=${encodeURIComponent(path)}`);
    refused++;
    expect(r.status, `${r.headers.get('location')}`).toBe(400);
  });
  test.each(['/', '/jobs', '/jobs?a=b&c=//d', '/a/%2f/b', '/a//b', '/#x'])('but %j is one', async (path) => {
    expect((await start('fake', `&return_to=${encodeURIComponent(path)}`)).cookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe('a provider that answers', () => {
  const odd: [string, Parameters<Fake['answers']['set']>[1]][] = [
    ['HTML', (_q, r) => void r.writeHead(200, { 'content-type': 'text/html' }).end('<html>')], ['nothing', (_q, r) => void r.writeHead(200, { 'content-type': 'application/json' }).end()],
    ['a redirect', (_q, r) => void r.writeHead(302, { location: `${fake.url}/elsewhere`, 'content-type': 'application/json' }).end('{}')], ['400', (_q, r) => void r.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')],
    ['500', (_q, r) => void r.writeHead(500, { 'content-type': 'application/json' }).end('{}')], ['a list', (_q, r) => void r.writeHead(200, { 'content-type': 'application/json' }).end('[]')],
    ['1 MiB', (_q, r) => void r.writeHead(200, { 'content-type': 'application/json' }).end(`{"id_token":"${'a'.repeat(1 << 20)}"}`)], ['members twice', (_q, r) => void r.writeHead(200, { 'content-type': 'application/json' }).end('{"id_token":"a","id_token":"b"}')],
    ['and hangs up', (q) => void q.socket.destroy()], ['too slowly', (_q, r) => void setTimeout(() => r.end(), 7000)],
  ];
  test.each(odd)('to the token request with %s', async (what, answer) => {
    fake.answers.set('/token', answer);
    landed(await login(at({})), what, ['refused', 'provider']);
    expect(fake.count('/elsewhere')).toBe(0);
    goodToken();
  });
  test.each([
    ['another issuer', () => metadata({ issuer: 'https://evil.example' })], ['no issuer', () => metadata({ issuer: undefined })], ['no token endpoint', () => metadata({ token_endpoint: undefined })],
    ['an endpoint over plain HTTP elsewhere', () => metadata({ token_endpoint: 'http://192.0.2.1/t' })], ['a file', () => metadata({ jwks_uri: 'file:///etc/passwd' })], ['script', () => metadata({ authorization_endpoint: 'javascript:alert(1)' })],
    ['PKCE without S256', () => metadata({ code_challenge_methods_supported: ['plain'] })], ['no codes', () => metadata({ response_types_supported: ['id_token'] })], ['a list', () => []],
  ] as [string, () => object][])('to the question what it is with %s', async (what, doc) => {
    const path = `/${b64(what)}`, other = `${fake.url}${path}`;
    const value: any = doc();
    if (value.issuer === fake.url) value.issuer = other;
    fake.json(`${path}/.well-known/openid-configuration`, value);
    const name = `m${b64(what).toLowerCase().replace(/[^a-z0-9]/g, '')}`.slice(0, 60);
    const p = must(await tenant.api.post('/v1/identity-providers', { name, issuer: other, client_id: 'console' }), 201);
    landed(await nobody.get(`/v1/auth/oidc/start?tenant=${tenant.tenant.name}&provider=${name}`), what, ['provider']);
    expect(must(await tenant.api.post(`/v1/identity-providers/${p.provider_id}/test`), 200).ok).toBe(false);
  });
});

describe('a login page learns where its people may sign in', () => {
  const names = async (name: string): Promise<any[]> => must(await nobody.get(`/v1/auth/providers?tenant=${encodeURIComponent(name)}`), 200).data;
  test('by the name of the tenant, with the address to go to', async () => {
    const off = must(await tenant.api.post('/v1/identity-providers', { name: 'unused', issuer: fake.url, client_id: 'console' }), 201);
    must(await tenant.api('PATCH', `/v1/identity-providers/${off.provider_id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } } as Options), 200);
    const shown = await names(tenant.tenant.name);
    expect(shown.map((p) => p.name)).toEqual([...shown.map((p) => p.name)].sort());
    expect(shown.map((p) => p.name)).toEqual(expect.arrayContaining(['fake', 'real']));
    expect(shown.map((p) => p.name)).not.toContain('unused');
    const one = shown.find((p) => p.name === 'fake');
    expect(Object.keys(one).sort()).toEqual(['name', 'provider_id', 'start']);
    const gone = await nobody.get(one.start);
    expect(gone.status).toBe(302);
    expect(gone.headers.get('location')!.startsWith(`${fake.url}/auth?`)).toBe(true);
    must(await tenant.api.delete(`/v1/identity-providers/${off.provider_id}`), 204);
  });
  test('and nothing of tenants that are not there, or have none', async () => {
    const none = await nobody.get(`/v1/auth/providers?tenant=${(await makeTenant(ready)).tenant.name}`);
    for (const name of ['no-such-tenant', "x' OR true --", 'platform']) {
      const reply = await nobody.get(`/v1/auth/providers?tenant=${encodeURIComponent(name)}`);
      expect(reply.status).toBe(200);
      expect(reply.json).toEqual(none.json);
      expect([...reply.headers.keys()].sort()).toEqual([...none.headers.keys()].sort());
    }
    expect((await nobody.get('/v1/auth/providers')).status).toBe(400);
  });
});

describe('a sign-in cannot begin', () => {
  const go = (t: string, p: string): Promise<Reply> => nobody.get(`/v1/auth/oidc/start?tenant=${t}&provider=${p}`);
  test('at no such tenant or provider: one answer', async () => {
    landed(await go('no-such-tenant', 'fake'), 'tenant', ['unknown_provider']);
    landed(await go(tenant.tenant.name, 'no-such'), 'provider', ['unknown_provider']);
    landed(await go((await makeTenant(ready)).tenant.name, 'fake'), "another tenant's provider", ['unknown_provider']);
  });
  test('at one that is disabled, nor end there', async () => {
    const p = must(await tenant.api.post('/v1/identity-providers', { name: 'off', issuer: fake.url, client_id: 'console', create_users: true }), 201);
    current = await start('off');
    idToken = at({});
    const change = (body: object): Promise<Reply> => tenant.api('PATCH', `/v1/identity-providers/${p.provider_id}`, { body, headers: { 'if-match': '*' } } as Options);
    expect(must(await change({ state: 'DISABLED' }), 200)).toMatchObject({ state: 'DISABLED', create_users: true });
    landed(await back(`code=a&state=${current.state}`, current.cookie), 'disabled meanwhile');
    landed(await go(tenant.tenant.name, 'off'), 'disabled', ['unknown_provider']);
    must(await change({ state: 'ACTIVE', create_users: false }), 200);
    current = await start('off');
    landed(await back(`code=a&state=${current.state}`, current.cookie), 'a person nobody knows', ['unknown_user']);
    expect((await tenant.api('PATCH', `/v1/identity-providers/${p.provider_id}`, { body: { state: 'ACTIVE' }, headers: { 'if-match': '"v1"' } })).status).toBe(412);
    must(await tenant.api.delete(`/v1/identity-providers/${p.provider_id}`), 204);
  });
  test('as somebody whose name is taken', async () => {
    must(await tenant.api.post('/v1/users', { name: 'owner-of-the-name' }), 201);
    landed(await login(at({ sub: 'thief', preferred_username: 'owner-of-the-name' })), 'a taken name', ['name_taken']);
    const id = must(await tenant.api.get('/v1/identity-providers'), 200).data.find((p: any) => p.name === 'fake').provider_id;
    const link = (body: object): Promise<Reply> => tenant.api.post(`/v1/identity-providers/${id}/links`, body);
    const user = must(await tenant.api.get('/v1/users?page_size=200'), 200).data.find((u: any) => u.name === 'owner-of-the-name');
    const service = must(await tenant.api.post('/v1/users', { name: 'no-person', kind: 'service' }), 201);
    must(await link({ subject: 'owner', user_id: service.user_id }), 422);
    must(await link({ subject: 'owner', user_id: `usr_${'0'.repeat(31)}1` }), 404);
    must(await link({ subject: 'owner', user_id: user.user_id }), 204);
    must(await link({ subject: 'owner', user_id: user.user_id }), 409);
    expect(must(await me(session(await login(at({ sub: 'owner', preferred_username: 'whatever' })))), 200).user_id).toBe(user.user_id);
    landed(await login(at({ sub: 'thief', preferred_username: 'owner-of-the-name' })), 'still taken', ['name_taken']);
  });
  test('with roles nobody may give', async () => {
    const r = await tenant.api.post('/v1/identity-providers', { name: 'grab', issuer: fake.url, client_id: 'c', group_roles: [{ group: 'g', role: 'platform-admin' }] });
    expect(r.status, r.text).toBe(422);
  });
  test('and each refusal is in a log', async () => {
    const events = must(await tenant.api.get('/v1/audit/events?page_size=200'), 200).data;
    expect(JSON.stringify(events)).toContain('auth.login.failed');
    expect(refused).toBeGreaterThan(90);
  });
});
