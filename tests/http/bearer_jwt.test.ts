// SPDX-License-Identifier: Apache-2.0
// bearer_jwt.test.ts - programs with tokens of an outside issuer: what is let in, and a table of everything that is not.
//
// Every row of the table is sent over HTTP and must be answered 401 with the same body but for the request's own members. Takes 10 s.
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { b64, Fake, hmacToken, makeKey, seconds, signature, token, type Key } from './federation.ts';
import { api, eventually, makeTenant, must, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const rsa = makeKey('RS256', 'rsa-1'), ec = makeKey('ES256', 'ec-1'), stranger = makeKey('RS256', 'rsa-1'), strangerEc = makeKey('ES256', 'ec-1');
const AUD = `aud-${Math.random()}`, ONCE = `once-${Math.random()}`, FETCHED = `fetched-${Math.random()}`, OFF = `off-${Math.random()}`, OTHER = `other-${Math.random()}`;
let fake: Fake;
let a: Awaited<ReturnType<typeof makeTenant>>;
let b: Awaited<ReturnType<typeof makeTenant>>;
let service: string, disabled: string;
let sent = 0;
const otherKey = makeKey('RS256', 'other-1');

const claims = (more: object = {}): Record<string, unknown> => {
  const now = seconds();
  const all: Record<string, unknown> = { iss: fake.url, aud: AUD, sub: 'builder', iat: now, exp: now + 300, jti: `${Math.random()}`, ...more };
  for (const k of Object.keys(all)) if (all[k] === undefined) delete all[k];
  return all;
};
const me = (t: string) => api(ready, t).get('/v1/me');

async function refused(t: string, what: string): Promise<void> {
  const reply = await me(t);
  sent++;
  expect(reply.status, `${what}: ${reply.text.slice(0, 200)}`).toBe(401);
  if (/^[\x21-\x7e]+$/.test(t) && t.split('.').length === 3) expect(reply.json.detail, what).toBe('The token is not known, has expired or was revoked');
}

async function makeIssuer(call: Api, name: string, audience: string, more: object = {}, subject = 'builder', user = service): Promise<any> {
  return must(await call.post('/v1/issuers', { name, issuer: fake.url, audience, algorithms: ['RS256', 'ES256'], jwks: { keys: [rsa.jwk, ec.jwk] },
    subjects: [{ subject, user_id: user }], ...more }), 201);
}

beforeAll(async () => {
  fake = await Fake.start();
  a = await makeTenant(ready);
  b = await makeTenant(ready);
  const user = async (call: Api, name: string) => must(await call.post('/v1/users', { name, kind: 'service', roles: ['ml-engineer'] }), 201).user_id;
  service = await user(a.api, 'builder');
  await makeIssuer(a.api, 'pinned', AUD);
  await makeIssuer(a.api, 'once', ONCE, { single_use: true });
  await makeIssuer(b.api, 'others', OTHER, { jwks: { keys: [otherKey.jwk] } }, 'builder', await user(b.api, 'builder'));
  const off = await makeIssuer(a.api, 'off', OFF);
  must(await a.api('PATCH', `/v1/issuers/${off.issuer_id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } }), 200);
  disabled = OFF;
});

afterAll(async () => {
  await fake.stop();
  console.log(`${sent} tokens refused`);
});

describe('let in', () => {
  test.each([['RS256', rsa], ['ES256', ec]] as [string, Key][])('a token of %s, as its service account', async (_n, key) => {
    const who = must(await me(token(key, claims())), 200);
    expect(who.name).toBe('builder');
    expect(who.tenant_id).toBe(a.tenant.tenant_id);
    const call = api(ready, token(key, claims()));
    must(await call.post('/v1/jobs', { name: 'by-jwt', kind: 'noop' }), 201);
    expect((await call.post('/v1/users', { name: 'x' })).status).toBe(403);
  });
  test('audiences as a list with azp; a little skew', async () => {
    must(await me(token(rsa, claims({ aud: [AUD, 'else'], azp: AUD }))), 200);
    must(await me(token(rsa, claims({ iat: seconds() + 30, nbf: seconds() + 30, exp: seconds() + 330 }))), 200);
    must(await me(token(ec, claims(), { typ: undefined })), 200);
  });
  test('one that is good once, once: at the same time and later', async () => {
    const t = token(rsa, claims({ aud: ONCE }));
    const replies = await Promise.all(Array.from({ length: 8 }, () => me(t)));
    expect(replies.filter((r) => r.status === 200).length).toBe(1);
    for (let i = 0; i < 3; i++) await refused(t, 'replayed');
    await refused(token(rsa, claims({ aud: ONCE, jti: undefined })), 'without jti');
    await refused(token(rsa, claims({ aud: ONCE, jti: 7 })), 'a jti that is no text');
    await refused(token(rsa, claims({ aud: ONCE, jti: 'j'.repeat(256) })), 'a jti too long');
    const events = must(await a.api.get('/v1/audit/events?page_size=200'), 200).data;
    expect(events.length).toBeGreaterThan(0);
  });
});

describe('keys that are fetched', () => {
  test('are asked for again when a new one is used, at most once a minute, and hold when the issuer is gone', async () => {
    const first = makeKey('RS256', 'first'), second = makeKey('RS256', 'second');
    fake.json('/keys', { keys: [first.jwk] });
    await makeIssuer(a.api, 'fetched', FETCHED, { jwks: undefined, jwks_uri: `${fake.url}/keys` });
    must(await me(token(first, claims({ aud: FETCHED }))), 200);
    expect(fake.count('/keys')).toBe(1);
    for (let i = 0; i < 20; i++) await refused(token(second, claims({ aud: FETCHED })), 'a key that is not published');
    expect(fake.count('/keys')).toBe(1);
    fake.answers.delete('/keys');
    must(await me(token(first, claims({ aud: FETCHED }))), 200);
  });
  test.each([
    ['HTML', (r: any) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>')], ['a redirect', (r: any) => r.writeHead(302, { location: `${'http://127.0.0.1:1'}/` }).end()],
    ['500', (r: any) => r.writeHead(500, { 'content-type': 'application/json' }).end('{}')], ['1 MiB', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'a'.repeat(1 << 20)}"}`)],
    ['no keys', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}')], ['a list', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end('[]')],
    ['private keys', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [rsa.private.export({ format: 'jwk' })] }))],
    ['a symmetric key', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [{ ...rsa.jwk, k: 'AAAA' }] }))],
    ['two keys of one kid', (r: any) => r.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [rsa.jwk, rsa.jwk] }))],
    ['nothing, slowly', (r: any) => setTimeout(() => r.end(), 8000)],
  ] as [string, (r: any) => void][])('are not %s', async (name, answer) => {
    const audience = `bad-${Math.random()}`;
    const path = `/bad/${b64(name)}`;
    fake.answers.set(path, (_q, r) => answer(r));
    await makeIssuer(a.api, `bad-${b64(name).toLowerCase().replace(/[^a-z0-9]/g, '')}`.slice(0, 60), audience, { jwks: undefined, jwks_uri: `${fake.url}${path}` });
    const reply = await me(token(rsa, claims({ aud: audience })));
    sent++;
    expect([401, 413, 502, 503, 504], reply.text).toContain(reply.status);
  });
});

describe('an issuer cannot be set up', () => {
  const base = () => ({ name: `n${Math.random()}`.replace('.', ''), issuer: fake.url, audience: `x${Math.random()}`, algorithms: ['RS256'], jwks: { keys: [rsa.jwk] } });
  test.each([
    ['another\'s audience', () => ({ audience: `falaj:${b.tenant.tenant_id}` }), 422], ['that pair twice', () => ({ audience: AUD }), 409],
    ['keys of another algorithm only', () => ({ algorithms: ['ES256'] }), 422], ['HS256', () => ({ algorithms: ['HS256'] }), 400], ['none', () => ({ algorithms: ['none'] }), 400],
    ['both kinds of keys', () => ({ jwks_uri: 'https://x.example/k' }), 422], ['no keys', () => ({ jwks: undefined }), 422],
    ['plain HTTP', () => ({ jwks: undefined, jwks_uri: 'http://x.example/k' }), 400], ['a file', () => ({ jwks: undefined, jwks_uri: 'file:///etc/passwd' }), 400],
    ['a URL with a user', () => ({ jwks: undefined, jwks_uri: 'https://a@x.example/k' }), 400], ['gopher', () => ({ jwks: undefined, jwks_uri: 'gopher://127.0.0.1/' }), 400],
    ['HTTP to a name like loopback', () => ({ jwks: undefined, jwks_uri: 'http://127.0.0.1.example/k' }), 400],
    ['a private key', () => ({ jwks: { keys: [{ ...rsa.private.export({ format: 'jwk' }), kid: 'x' }] } }), 422],
    ['a person', () => ({ subjects: [{ subject: 's', user_id: `usr_${'0'.repeat(31)}1` }] }), 422],
  ] as [string, () => object, number][])('%s', async (_n, more, status) => {
    const reply = await a.api.post('/v1/issuers', { ...base(), ...more() });
    expect(reply.status, reply.text).toBe(status);
  });
  test("another tenant's service account", async () => {
    const reply = await b.api.post('/v1/issuers', { ...base(), subjects: [{ subject: 's', user_id: service }] });
    expect(reply.status, reply.text).toBe(422);
  });
});

const pem = rsa.public.export({ type: 'spki', format: 'pem' }) as string;
const der = rsa.public.export({ type: 'spki', format: 'der' });
const pkcs1 = rsa.public.export({ type: 'pkcs1', format: 'pem' }) as string;
const n = rsa.jwk['n'] as string;
const raw = (header: string, payload: string, sig: string): string => `${header}.${payload}.${sig}`;
const good = (): string[] => token(rsa, claims()).split('.');
const resign = (key: Key, header: string, payload: string): string => `${header}.${payload}.${b64(signature(key, `${header}.${payload}`))}`;
const esSig = (r: Buffer, s: Buffer): string => {
  const [h, p] = token(ec, claims()).split('.');
  return raw(h!, p!, b64(Buffer.concat([r, s])));
};
const zero = Buffer.alloc(32), order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
const der64 = (): string => {
  const [h, p] = token(ec, claims()).split('.');
  const sig = signature(ec, `${h}.${p}`);
  const int = (x: Buffer): Buffer => { const y = x[0]! & 0x80 ? Buffer.concat([Buffer.alloc(1), x]) : x; return Buffer.concat([Buffer.from([2, y.length]), y]); };
  const body = Buffer.concat([int(sig.subarray(0, 32)), int(sig.subarray(32))]);
  return raw(h!, p!, b64(Buffer.concat([Buffer.from([0x30, body.length]), body])));
};
const negated = (): string => {
  // s and order - s both verify in ECDSA: what must not pass is a changed message or r; so r is negated.
  const [h, p] = token(ec, claims()).split('.');
  const sig = signature(ec, `${h}.${p}`);
  const r = (BigInt(`0x${order.toString('hex')}`) - BigInt(`0x${sig.subarray(0, 32).toString('hex')}`)).toString(16).padStart(64, '0');
  return raw(h!, p!, b64(Buffer.concat([Buffer.from(r, 'hex'), sig.subarray(32)])));
};

const table: [string, () => string][] = [
  ...(['HS256', 'HS384', 'HS512'] as const).flatMap((alg) => ([['PEM', pem], ['PEM without its last line end', pem.trim()], ['PKCS#1 PEM', pkcs1], ['DER', der], ['n', n], ['n as bytes', Buffer.from(n, 'base64url')],
    ['nothing', '']] as [string, string | Buffer][]).map(([what, secret]): [string, () => string] => [`${alg} keyed with ${what}`, () => hmacToken(secret, claims(), { alg, kid: 'rsa-1', typ: 'JWT' })])),
  ...['none', 'None', 'NONE', 'nOnE', 'none ', ' none', '', 'null'].flatMap((alg): [string, () => string][] => [
    [`alg "${alg}" without signature`, () => raw(b64(JSON.stringify({ alg, kid: 'rsa-1' })), b64(JSON.stringify(claims())), '')],
    [`alg "${alg}" with one`, () => token(rsa, claims(), { alg })]]),
  ...[null, 7, true, ['RS256'], { a: 1 }, undefined].map((alg): [string, () => string] => [`alg ${JSON.stringify(alg)}`, () => token(rsa, claims(), { alg })]),
  ...['rs256', 'RS384', 'RS512', 'PS256', 'ES384', 'EdDSA', 'ES256', 'RS256 ', 'RS256\u0000'].map((alg): [string, () => string] => [`an RSA key with alg ${JSON.stringify(alg)}`, () => token(rsa, claims(), { alg })]),
  ['an EC key with alg RS256', () => token(ec, claims(), { alg: 'RS256' })],
  ...['../../dev/null', '/etc/passwd', "rsa-1' OR '1'='1", 'rsa-1;--', 'rsa-1\u0000', 'rsa-1 ', 'RSA-1', '', 'k'.repeat(65), 'k'.repeat(5000), '%72sa-1', 'rsa-1|ls', 'ec-1'].map(
    (kid): [string, () => string] => [`kid ${JSON.stringify(kid).slice(0, 30)}`, () => token(rsa, claims(), { kid })]),
  ...[undefined, null, 1, ['rsa-1'], {}].map((kid): [string, () => string] => [`kid ${JSON.stringify(kid)}`, () => token(rsa, claims(), { kid })]),
  ['kid twice', () => token(rsa, claims(), '{"alg":"RS256","kid":"other","kid":"rsa-1","typ":"JWT"}')],
  ['alg twice', () => token(rsa, claims(), '{"alg":"none","alg":"RS256","kid":"rsa-1"}')],
  ...(['jku', 'x5u'] as const).map((m): [string, () => string] => [m, () => token(stranger, claims(), { [m]: `${fake.url}/evil` })]),
  ...(['jku', 'x5u', 'x5c', 'jwk', 'crit', 'b64', 'zip', 'enc'] as const).map((m): [string, () => string] => [`${m} beside a good signature`, () => token(rsa, claims(), { [m]: m === 'jwk' ? stranger.jwk : m === 'b64' ? false : ['exp'] })]),
  ['its own key in the header', () => token(stranger, claims(), { jwk: stranger.jwk })],
  ...['at+jwt', 'JWE', 'logout+jwt', 'dpop+jwt', '', 7].map((typ): [string, () => string] => [`typ ${typ}`, () => token(rsa, claims(), { typ })]),
  ['expired', () => token(rsa, claims({ iat: seconds() - 400, exp: seconds() - 100 }))], ['expired by a year', () => token(rsa, claims({ iat: 1, exp: 300 }))],
  ['nbf in the future', () => token(rsa, claims({ nbf: seconds() + 200 }))], ['iat in the future', () => token(rsa, claims({ iat: seconds() + 200, exp: seconds() + 400 }))],
  ['good for two hours', () => token(rsa, claims({ exp: seconds() + 7200 }))], ['good for ever', () => token(rsa, claims({ exp: 253402300799 }))], ['exp before iat', () => token(rsa, claims({ iat: seconds() + 50, exp: seconds() + 40 }))],
  ...['exp', 'iat', 'iss', 'aud', 'sub'].flatMap((name): [string, () => string][] => [[`without ${name}`, () => token(rsa, claims({ [name]: undefined }))], [`${name} null`, () => token(rsa, claims({ [name]: null }))],
    [`${name} an object`, () => token(rsa, claims({ [name]: {} }))]]),
  ...['exp', 'iat', 'nbf'].flatMap((name): [string, () => string][] => [[`${name} as text`, () => token(rsa, claims({ [name]: `${seconds() + 100}` }))], [`${name} negative`, () => token(rsa, claims({ [name]: -1 }))],
    [`${name} huge`, () => token(rsa, JSON.stringify(claims()).replace(/\}$/, `,"${name}":1e999}`))]]),
  ...['https://evil.example', '/', ' ', 'HTTP'].map((iss): [string, () => string] => [`iss ${iss}`, () => token(rsa, claims({ iss: iss === '/' ? `${fake.url}/` : iss === 'HTTP' ? fake.url.toUpperCase() : iss }))]),
  ...['nobody', '', AUD.toUpperCase(), `${AUD} `].map((aud): [string, () => string] => [`aud ${aud}`, () => token(rsa, claims({ aud }))]),
  ['aud an empty list', () => token(rsa, claims({ aud: [] }))], ['aud of another tenant', () => token(rsa, claims({ aud: OTHER }))], ['aud of two tenants', () => token(rsa, claims({ aud: [AUD, OTHER], azp: AUD }))],
  ['nine audiences', () => token(rsa, claims({ aud: [...'abcdefgh', AUD], azp: AUD }))],
  ['two audiences without azp', () => token(rsa, claims({ aud: [AUD, 'x'] }))], ['azp of another', () => token(rsa, claims({ azp: 'x' }))],
  ["another tenant's issuer", () => token(otherKey, claims())], ["another tenant's key with ours", () => token({ ...otherKey, kid: 'rsa-1' }, claims())],
  ['a disabled issuer', () => token(rsa, claims({ aud: disabled }))],
  ['an unmapped subject', () => token(rsa, claims({ sub: 'stranger' }))], ['a subject in other letters', () => token(rsa, claims({ sub: 'Builder' }))], ['a long subject', () => token(rsa, claims({ sub: 's'.repeat(300) }))],
  ['a key of another', () => token(stranger, claims())], ['an EC key of another', () => token(strangerEc, claims())],
  ['no signature', () => raw(good()[0]!, good()[1]!, '')], ['a signature of zeros', () => { const [h, p] = good(); return raw(h!, p!, b64(Buffer.alloc(256))); }],
  ['one bit of the signature', () => { const [h, p, s] = good(); const x = Buffer.from(s!, 'base64url'); x[7]! ^= 1; return raw(h!, p!, b64(x)); }],
  ['a short signature', () => { const [h, p, s] = good(); return raw(h!, p!, b64(Buffer.from(s!, 'base64url').subarray(0, 255))); }],
  ['a long signature', () => { const [h, p, s] = good(); return raw(h!, p!, b64(Buffer.concat([Buffer.from(s!, 'base64url'), Buffer.alloc(1)]))); }],
  ['another payload', () => { const [h, , s] = good(); return raw(h!, b64(JSON.stringify(claims({ sub: 'admin' }))), s!); }], ['another header', () => { const [, p, s] = good(); return raw(b64('{"alg":"RS256","kid":"rsa-1"}'), p!, s!); }],
  ['ES256 of zeros', () => esSig(zero, zero)], ['ES256 with r zero', () => esSig(zero, Buffer.alloc(32, 1))], ['ES256 with s zero', () => esSig(Buffer.alloc(32, 1), zero)],
  ['ES256 with the order', () => esSig(order, order)], ['ES256 of ones', () => esSig(Buffer.alloc(32, 255), Buffer.alloc(32, 255))], ['ES256 one byte long', () => esSig(Buffer.alloc(1), Buffer.alloc(0))],
  ['ES256 of 63 bytes', () => esSig(Buffer.alloc(31, 1), Buffer.alloc(32, 1))], ['ES256 of 65 bytes', () => esSig(Buffer.alloc(33, 1), Buffer.alloc(32, 1))], ['ES256 as DER', der64], ['ES256 with r negated', negated],
  ['four parts', () => `${token(rsa, claims())}.x`], ['two parts', () => good().slice(0, 2).join('.')], ['an empty header', () => `.${good()[1]}.${good()[2]}`], ['an empty payload', () => `${good()[0]}..${good()[2]}`], ['dots', () => '..'],
  ['five parts', () => `${token(rsa, claims())}.a.b`], ['a padded part', () => { const [h, p, s] = good(); return `${h}=.${p}.${s}`; }], ['a padded signature', () => `${token(rsa, claims())}==`],
  ['plain base64', () => { const [h, p, s] = good(); return `${h}.${p}.${Buffer.from(s!, 'base64url').toString('base64')}`; }], ['a percent sign', () => good().join('.').replace('e', '%65')],
  ['a blank within', () => good().join('. ')], ['a tab within', () => good().join('.\t')], ['a comma', () => good().join(',')],
  ['a payload member twice', () => resign(rsa, good()[0]!, b64(JSON.stringify(claims()).replace('{', '{"sub":"x",')))], ['sub twice by escapes', () => resign(rsa, good()[0]!, b64(JSON.stringify(claims()).replace('{', '{"\\u0073ub":"x",')))],
  ['a payload that is a list', () => token(rsa, '[]')], ['a payload that is null', () => token(rsa, 'null')], ['a payload with a tail', () => token(rsa, `${JSON.stringify(claims())}{}`)], ['a BOM', () => token(rsa, `\ufeff${JSON.stringify(claims())}`)],
  ['a payload that is no JSON', () => token(rsa, 'sub=builder')], ['deep', () => token(rsa, JSON.stringify(claims()).replace('{', `{"x":${'['.repeat(200)}${']'.repeat(200)},`))],
  ['65 members', () => token(rsa, claims(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`m${i}`, i]))))], ['9 KiB', () => token(rsa, claims({ x: 'x'.repeat(9000) }))],
  ['a NUL in the subject', () => token(rsa, claims({ sub: 'builder\u0000' }))], ['a lone surrogate', () => token(rsa, JSON.stringify(claims()).replace('builder', '\\ud800'))], ['a header that is a list', () => token(rsa, claims(), '["RS256"]')],
  ['a prefix of a token of ours', () => `flj_${token(rsa, claims())}`],
];

describe('refused', () => {
  test.each(table)('%s', async (what, make) => refused(make(), what));
  test('jku and x5u were not followed', () => expect(fake.count('/evil')).toBe(0));
});

describe('ends', () => {
  test('with its issuer', async () => {
    const audience = `gone-${Math.random()}`;
    const row = await makeIssuer(a.api, 'gone', audience);
    const t = token(rsa, claims({ aud: audience }));
    must(await me(t), 200);
    expect((await b.api.delete(`/v1/issuers/${row.issuer_id}`)).status).toBe(404);
    must(await a.api.delete(`/v1/issuers/${row.issuer_id}`), 204);
    await eventually('the issuer is not believed any more', async () => (await me(t)).status !== 200);
    await refused(t, 'of a removed issuer');
  });
  test('a key is known to its own kid only', () => expect(createPublicKey(pem).asymmetricKeyType).toBe('rsa'));
  test('enough was tried', () => expect(sent).toBeGreaterThan(150));
});
