// SPDX-License-Identifier: Apache-2.0
// tokens.test.ts - access tokens that must not work, every one sent to the real listener, and what a limited token may not make.
// About five seconds.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { api, eventually, makeTenant, makeZone, must, PATIENCE_MS, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
let tenant: { tenant: any; token: string; api: Api };
let good = '';
let vectors = 0;

beforeAll(async () => {
  await makeZone(ready, 'other-zone');
  tenant = await makeTenant(ready);
  good = must(await tenant.api.post('/v1/api-tokens', { name: 'good' }), 201).token;
});
afterAll(() => void process.stdout.write(`tokens.test.ts: ${vectors} vectors\n`));

/** GET /v1/me with these Authorization headers, as they are. */
function me(...headers: string[]): Promise<number> {
  const at = new URL(ready.api_url);
  const list = ['Host', at.host, 'Connection', 'close'];
  for (const h of headers) list.push('Authorization', h);
  return new Promise((done) => {
    const call = request({ hostname: at.hostname, port: at.port, path: '/v1/me', agent: false, headers: list as any, setHost: false }, (r) => {
      r.resume();
      r.on('end', () => done(r.statusCode ?? 0));
    });
    call.on('error', () => done(0));
    call.end();
  });
}

const other = (c: string): string => (c === 'A' ? 'B' : 'A');
const flip = (t: string, i: number): string => t.slice(0, i) + other(t[i]!) + t.slice(i + 1);
const CRC = (): string[] => Array.from({ length: 6 }, (_x, i) => `Bearer ${flip(good, good.length - 1 - i)}`);
const SECRET = (): string[] => Array.from({ length: 30 }, (_x, i) => `Bearer ${flip(good, good.indexOf('_', 4) + 1 + i)}`);
const SHAPES: [string, () => string[]][] = [
  ['nothing', () => []], ['an empty header', () => ['']], ['the scheme alone', () => ['Bearer']], ['the scheme and a space', () => ['Bearer ']],
  ['no scheme', () => [good]], ['lower-case bearer', () => [`bearer ${good}`]], ['upper-case BEARER', () => [`BEARER ${good}`]], ['Token', () => [`Token ${good}`]],
  ['Basic', () => [`Basic ${Buffer.from(`x:${good}`).toString('base64')}`]], ['Basic with the token as user', () => [`Basic ${Buffer.from(`${good}:`).toString('base64')}`]],
  ['Digest', () => [`Digest username="${good}"`]], ['quotes', () => [`Bearer "${good}"`]], ['a tab', () => [`Bearer\t${good}`]],
  ['two tokens in one', () => [`Bearer ${good} ${good}`]], ['two by comma', () => [`Bearer ${good}, Bearer ${good}`]], ['two headers', () => [`Bearer ${good}`, `Bearer ${good}`]],
  ['a good and a bad header', () => [`Bearer ${good}`, 'Bearer x']], ['a bad and a good header', () => ['Bearer x', `Bearer ${good}`]],
  ['trailing bytes', () => [`Bearer ${good}x`]], ['trailing zero', () => [`Bearer ${good}0`]], ['a trailing dot', () => [`Bearer ${good}.`]], ['a leading byte', () => [`Bearer x${good}`]],
  ['a cut token', () => [`Bearer ${good.slice(0, -1)}`]], ['half a token', () => [`Bearer ${good.slice(0, 20)}`]], ['lower case', () => [`Bearer ${good.toLowerCase()}`]],
  ['upper case', () => [`Bearer ${good.toUpperCase()}`]], ['prefix svc', () => [`Bearer ${good.replace('flj_user_', 'flj_svc_')}`]], ['prefix join', () => [`Bearer ${good.replace('flj_user_', 'flj_join_')}`]],
  ['prefix ghp', () => [`Bearer ${good.replace('flj_', 'ghp_')}`]], ['no prefix', () => [`Bearer ${good.slice(4)}`]], ['a dash for the underscore', () => [`Bearer ${good.replaceAll('_', '-')}`]],
  ['escapes', () => [`Bearer ${encodeURIComponent(`${good}%00`)}`]], ['unsigned JWT', () => ['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.']], ['SQL', () => ["Bearer ' OR 1=1 --"]],
  ['a hash', () => [`Bearer ${'0'.repeat(64)}`]], ['8000 bytes', () => [`Bearer ${'A'.repeat(8000)}`]],
];

describe('what does not look like a token of ours', () => {
  test('the good one works', async () => expect(await me(`Bearer ${good}`)).toBe(200));
  test.each(SHAPES)('%s', async (_name, make) => {
    vectors++;
    expect([400, 401]).toContain(await me(...make()));
  });
  test('every digit of checksum and secret counts', async () => {
    for (const header of [...CRC(), ...SECRET()]) {
      vectors++;
      expect(await me(header), header).toBe(401);
    }
  });
});

const status = async (token: string): Promise<number> => (await api(ready, token).get('/v1/me')).status;

describe('what has ended, or is used where it may not be', () => {
  test('revoked: at once in the process that was told', async () => {
    const t = must(await tenant.api.post('/v1/api-tokens', { name: 'r' }), 201);
    expect(await status(t.token)).toBe(200);
    must(await tenant.api.delete(`/v1/api-tokens/${t.token_id}`), 204);
    vectors++;
    expect(await status(t.token)).toBe(401);
  });

  test('of a disabled and of a deactivated user', async () => {
    for (const how of ['PATCH', 'DELETE']) {
      const user = must(await tenant.api.post('/v1/users', { name: `u-${how}`, roles: ['viewer'] }), 201);
      const t = must(await tenant.api.post('/v1/api-tokens', { name: 'u', user_id: user.user_id }), 201);
      expect(await status(t.token)).toBe(200);
      const done = how === 'PATCH' ? await tenant.api('PATCH', `/v1/users/${user.user_id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } })
        : await tenant.api.delete(`/v1/users/${user.user_id}`);
      expect([200, 204], done.text).toContain(done.status);
      vectors++;
      expect(await status(t.token)).toBe(401);
    }
  });

  const ELSEWHERE = [['10.0.0.0/8'], ['127.0.0.2/32'], ['192.0.2.0/24', '198.51.100.0/24'], ['2001:db8::/32'], ['::1/128'], ['::ffff:10.0.0.0/104'], ['126.0.0.0/8'], ['128.0.0.0/1']];
  test.each(ELSEWHERE.map((c) => [c]))('bound to %j it is not taken from here', async (cidrs) => {
    vectors++;
    const made = await tenant.api.post('/v1/api-tokens', { name: 'net', cidrs });
    if (made.status === 201) expect(await status(made.json.token)).toBe(401);
    else expect([400, 422], made.text).toContain(made.status);
  });

  test('bound to its own network it works, and tells from where', async () => {
    const t = must(await tenant.api.post('/v1/api-tokens', { name: 'home', cidrs: ['127.0.0.0/8'] }), 201);
    expect(await status(t.token)).toBe(200);
    expect(await status(t.token)).toBe(200);
  });

  test.each([['127.0.0.1/8'], ['10.0.0.0/33'], ['10.0.0'], ['x'], ['10.0.0.0/-1'], ['::/129'], ['']])('%s is no network', async (bad) => {
    vectors++;
    expect([400, 422]).toContain((await tenant.api.post('/v1/api-tokens', { name: 'bad', cidrs: [bad] })).status);
  });

  test('rotated: both work for the overlap, then the new one alone', async () => {
    const old = must(await tenant.api.post('/v1/api-tokens', { name: 'rot', scopes: ['job:read'], cidrs: ['127.0.0.0/8'] }), 201);
    const kept = must(await tenant.api.post(`/v1/api-tokens/${old.token_id}/rotate`, { overlap_seconds: 3600 }), 201);
    expect(kept).toMatchObject({ scopes: ['job:read'], cidrs: ['127.0.0.0/8'], name: 'rot' });
    expect([await status(old.token), await status(kept.token)]).toEqual([200, 200]);
    expect((await tenant.api.post(`/v1/api-tokens/${old.token_id}/rotate`, { overlap_seconds: 0 })).status).toBe(409);
    const next = must(await tenant.api.post(`/v1/api-tokens/${kept.token_id}/rotate`, { overlap_seconds: 0 }), 201);
    vectors++;
    await eventually('the old token is not believed any more', async () => (await status(kept.token)) === 401);
    expect(await status(next.token)).toBe(200);
  });
});

describe('a limited token widens nothing', () => {
  const WIDER: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['without scopes', { scopes: ['token:own'] }, {}], ['with another scope', { scopes: ['token:own'] }, { scopes: ['job:submit'] }],
    ['with one more scope', { scopes: ['token:own', 'job:read'] }, { scopes: ['job:read', 'job:submit'] }],
    ['without networks', { cidrs: ['127.0.0.0/16'] }, {}], ['with a wider network', { cidrs: ['127.0.0.0/16'] }, { cidrs: ['127.0.0.0/8'] }],
    ['with everywhere', { cidrs: ['127.0.0.0/16'] }, { cidrs: ['0.0.0.0/0'] }], ['with everywhere of IPv6', { cidrs: ['127.0.0.0/16'] }, { cidrs: ['::/0'] }],
    ['with one network more', { cidrs: ['127.0.0.0/16'] }, { cidrs: ['127.0.0.0/24', '10.0.0.0/8'] }],
    ['without zones', { zones: [ready.zone] }, {}], ['with another zone', { zones: [ready.zone] }, { zones: ['other-zone'] }],
  ];
  test.each(WIDER)('%s', async (_name, limits, wanted) => {
    vectors++;
    const t = must(await tenant.api.post('/v1/api-tokens', { name: 'limited', ...limits }), 201);
    const reply = await api(ready, t.token).post('/v1/api-tokens', { name: 'wide', ...wanted });
    expect([400, 403, 422], reply.text).toContain(reply.status);
  });

  test('nor by rotating a wider one of the same user', async () => {
    const wide = must(await tenant.api.post('/v1/api-tokens', { name: 'wide' }), 201);
    const t = must(await tenant.api.post('/v1/api-tokens', { name: 'limited', scopes: ['token:own'] }), 201);
    vectors++;
    expect((await api(ready, t.token).post(`/v1/api-tokens/${wide.token_id}/rotate`, { overlap_seconds: 60 })).status).toBe(403);
  });

  test('a longer life than 90 days is not given', async () => {
    vectors++;
    expect([400, 422]).toContain((await tenant.api.post('/v1/api-tokens', { name: 'old', expires_in_days: 91 })).status);
  });
});

describe('service accounts', () => {
  test('an engineer makes its own, with tokens, and finds no other', async () => {
    const engineer = async (name: string): Promise<Api> => {
      const user = must(await tenant.api.post('/v1/users', { name, roles: ['ml-engineer'] }), 201);
      return api(ready, must(await tenant.api.post('/v1/api-tokens', { name: 'e', user_id: user.user_id }), 201).token);
    };
    const a = await engineer('eng-a'), b = await engineer('eng-b');
    const bot = must(await a.post('/v1/service-accounts', { name: 'bot', roles: ['service-account'] }), 201);
    expect(bot.kind).toBe('service');
    const t = must(await a.post(`/v1/service-accounts/${bot.user_id}/tokens`, { name: 'ci', scopes: ['job:read'] }), 201);
    expect(t.token).toMatch(/^flj_svc_/);
    expect(await status(t.token)).toBe(200);
    vectors += 5;
    expect((await a.post('/v1/service-accounts', { name: 'boss', roles: ['tenant-admin'] })).status).toBe(403);
    expect((await b.post(`/v1/service-accounts/${bot.user_id}/tokens`, { name: 'x' })).status).toBe(403);
    expect((await b.delete(`/v1/service-accounts/${bot.user_id}`)).status).toBe(404);
    expect((await b.delete(`/v1/api-tokens/${t.token_id}`)).status).toBe(404);
    expect(must(await b.get('/v1/service-accounts'), 200).data).toEqual([]);
    expect(must(await a.get(`/v1/api-tokens?user_id=${bot.user_id}&state=active&name=c&sort=expires_at`), 200).data.map((x: any) => x.token_id)).toEqual([t.token_id]);
    must(await a.delete(`/v1/service-accounts/${bot.user_id}`), 204);
    expect(await status(t.token)).toBe(401);
  });

  test('refusals stand in the log, counted and not one by one', async () => {
    const t = must(await tenant.api.post('/v1/api-tokens', { name: 'counted', cidrs: ['10.0.0.0/8'] }), 201);
    for (let i = 0; i < 20; i++) expect(await status(t.token)).toBe(401);
    for (const end = Date.now() + PATIENCE_MS; ; await new Promise((done) => setTimeout(done, 500))) {
      const all = must(await tenant.api.get('/v1/audit/events?page_size=200'), 200).data;
      const mine = all.filter((x: any) => JSON.stringify(x).includes('authn.refuse') && JSON.stringify(x).includes(t.token_id));
      if (mine.length > 0) {
        expect(mine.length).toBeLessThanOrEqual(2);
        break;
      }
      if (Date.now() > end) throw new Error('no event of the refused token in time');
    }
  });
});
