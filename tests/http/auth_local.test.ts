// SPDX-License-Identifier: Apache-2.0
// auth_local.test.ts - attacks on the sign-in of people: cookies, pages of other origins, people who are disabled,
// and sessions that are over.
// Every vector is a row; their number is printed at the end. Password hashing takes most of the time.
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  alive,
  anybody,
  as,
  boss,
  COOKIE,
  counted,
  host,
  jar,
  login,
  next,
  page,
  PASSWORD,
  person,
  ready,
  refusedAs,
  signIn,
  signOf,
  sql,
  tenantName,
  uuid,
  vector,
  withTotp,
  type Person,
  type Sign,
} from './auth_kit.ts';
import { rawExchange } from './client.ts';
import { api, eventually, makeTenant, must, promised, type Reply } from './harness.ts';

counted('auth_local.test.ts', 110);

describe('a change under a session', () => {
  let s: Sign, other: Sign;
  beforeAll(async () => {
    const admin = await person(['tenant-admin']);
    s = await signIn(admin);
    other = await signIn(admin);
  });
  const base = (): Record<string, string> => ({
    ...jar(s),
    'x-csrf-token': s.csrf,
    'sec-fetch-site': 'same-origin',
    origin: `http://${host}`,
  });
  const without = (...names: string[]): Record<string, string> =>
    Object.fromEntries(Object.entries(base()).filter(([k]) => !names.includes(k)));
  const bad: [string, () => Record<string, string>][] = [
    ['no token', () => without('x-csrf-token')],
    ['an empty token', () => ({ ...base(), 'x-csrf-token': '' })],
    ['a wrong token', () => ({ ...base(), 'x-csrf-token': 'A'.repeat(43) })],
    ["another session's token", () => ({ ...base(), 'x-csrf-token': other.csrf })],
    ['a token cut short', () => ({ ...base(), 'x-csrf-token': s.csrf.slice(0, 42) })],
    ['a token with more behind it', () => ({ ...base(), 'x-csrf-token': `${s.csrf}A` })],
    [
      'the token in capitals',
      () => ({ ...base(), 'x-csrf-token': s.csrf.toUpperCase() === s.csrf ? 'x' : s.csrf.toUpperCase() }),
    ],
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
    vector(`DELETE with ${name}`, async () =>
      refusedAs(await anybody('DELETE', `/v1/sessions/ses_${'0'.repeat(32)}`, { headers: headers() }), 403, 'csrf_refused'),
    );
    vector(`POST with ${name}`, async () =>
      refusedAs(await anybody.post('/v1/invitations', { name: 'x', roles: [] }, { headers: headers() }), 403, 'csrf_refused'),
    );
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
  for (const [name, headers] of [
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a frame (null)', { origin: 'null' }],
    ['cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['same-site', { 'sec-fetch-site': 'same-site' }],
  ] as [string, Record<string, string>][])
    vector(`a login sent by ${name}`, async () =>
      refusedAs(await login({ tenant: tenantName, name: 'x' }, PASSWORD, {}, headers), 403, 'csrf_refused'),
    );
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
    ['with SQL in it', () => `${COOKIE}=' OR 1=1 --`],
  ];
  for (const [name, cookie] of bad)
    vector(`a cookie ${name}`, async () =>
      refusedAs(await anybody.get('/v1/auth/session', { headers: { cookie: cookie() } }), 401, 'unauthenticated'),
    );
  vector('as a bearer token', async () => refusedAs(await api(ready, s.cookie).get('/v1/me'), 401, 'unauthenticated'));
  vector('beside a good token', async () =>
    refusedAs(await api(ready, token).get('/v1/me', { headers: jar(s) }), 400, 'invalid_argument'),
  );
  vector('a bent one beside a good token', async () =>
    refusedAs(await api(ready, token).get('/v1/me', { headers: { cookie: `${COOKIE}=${flip(3)}` } }), 400, 'invalid_argument'),
  );
  vector('beside Basic', async () =>
    refusedAs(await anybody.get('/v1/me', { headers: { ...jar(s), authorization: 'Basic YTpi' } }), 400, 'invalid_argument'),
  );
  vector('in two Cookie headers', async () => {
    const answer = await rawExchange(
      ready,
      `GET /v1/auth/session HTTP/1.1\r\nHost: ${host}\r\nCookie: a=b\r\nCookie: ${COOKIE}=${s.cookie}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[01]/);
  });
  vector('in the query', async () =>
    refusedAs(await anybody.get(`/v1/auth/session?${COOKIE}=${s.cookie}`), 401, 'unauthenticated'),
  );
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

describe('a person who is disabled', () => {
  vector('is out within 5 s, whatever was let in before, and enabling gives nothing back', async () => {
    const leaver = await person(['tenant-admin']);
    const s = await signIn(leaver);
    const token = must(await boss.post('/v1/api-tokens', { name: 'leaver', user_id: leaver.user_id }), 201).token;
    const d = must(await anybody.post('/v1/auth/device', { client: 'falaj on a laptop' }), 200);
    must(await as(s, 'POST', '/v1/auth/device/approve', { user_code: d.user_code, approve: true }), 200);
    const invitation = must(
      await anybody.post('/v1/invitations', { name: `guest ${next()}`, roles: ['viewer'] }, { headers: page(s) }),
      201,
    );
    const uses: [string, () => Promise<Reply>, number][] = [
      ['session', () => anybody.get('/v1/auth/session', { headers: jar(s) }), 401],
      ['token', () => api(ready, token).get('/v1/me'), 401],
      ['device', () => anybody.post('/v1/auth/device/token', { device_code: d.device_code }), 400],
      ['invitation', () => anybody.post('/v1/auth/invitations/accept', { token: invitation.token, password: PASSWORD }), 404],
      ['password', () => login(leaver), 401],
    ];
    expect([(await uses[0]![1]()).status, (await uses[1]![1]()).status]).toEqual([200, 200]);
    const set = async (state: string): Promise<Reply> =>
      boss('PATCH', `/v1/users/${leaver.user_id}`, { body: { state }, headers: { 'if-match': '*' } });
    must(await set('DISABLED'), 200);
    const end = Date.now() + promised(5000);
    for (const [what, use, status] of uses)
      await expect.poll(async () => (await use()).status, { timeout: end - Date.now(), message: what }).toBe(status);
    must(await set('ACTIVE'), 200);
    for (const [what, use, status] of uses.slice(0, 4)) expect((await use()).status, what).toBe(status);
  });
});

describe('a session that is over', () => {
  const over: { name: string; sign: Sign; status: number; code: string }[] = [];
  const stepped: { name: string; sign: Sign; who: Person }[] = [];
  const names = [
    'idle for 16 minutes',
    'past its absolute end',
    'of a disabled user',
    'of a tenant that is suspended',
    'that was revoked in the database',
  ];
  const dangerous: [string, string][] = [
    ['POST', '/v1/role-bindings'],
    ['POST', '/v1/api-tokens'],
    ['POST', '/v1/auth/mfa/totp'],
    ['DELETE', `/v1/role-bindings/rlb_${'0'.repeat(32)}`],
    ['DELETE', `/v1/users/usr_${'0'.repeat(32)}/second-factor`],
  ];
  beforeAll(async () => {
    const add = async (
      i: number,
      change: (s: Sign, p: Person) => string,
      status = 401,
      code = 'unauthenticated',
      who?: Person,
    ): Promise<void> => {
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
    await add(
      3,
      () => `UPDATE tenant SET state = 'SUSPENDED' WHERE tenant_id = '${uuid(other.tenant.tenant_id)}'`,
      403,
      'tenant_suspended',
      guest,
    );
    await add(4, (s) => `UPDATE session SET ended_at = now(), reason = 'revoked' WHERE ${session(s)}`);
    const admin = await person(['tenant-admin']);
    const old = await signIn(admin);
    sql(`UPDATE session SET proved_at = now() - interval '11 minutes' WHERE ${session(old)}`);
    stepped.push({ name: 'old', sign: old, who: admin });
    // Its one use may still have to be written down by falaj-api's housekeeping, over whatever stands there; only after that the row
    // stays. All uses are written at once: when one that came later is, so is this one.
    const later = await signIn(await person());
    sql(`UPDATE session SET last_seen = last_seen - interval '5 minutes' WHERE ${session(later)}`);
    await eventually('a later use is written down', async () =>
      (await alive(later.cookie)) === 200 &&
      sql(`SELECT last_seen > now() - interval '4 minutes' FROM session WHERE ${session(later)}`) === 't');
    sql(`UPDATE session SET last_seen = now() - interval '16 minutes' WHERE ${session(over[0]!.sign)}`);
    // Nothing is asked again while it is believed: when the last that was believed is refused, so is what was believed before it.
    const last = await signIn(await person());
    expect(await alive(last.cookie)).toBe(200);
    sql(`UPDATE session SET ended_at = now(), reason = 'revoked' WHERE ${session(last)}`);
    await eventually('the last session is refused', async () => (await alive(last.cookie)) === 401);
  });
  names.forEach((name, i) =>
    vector(name, async () => {
      const o = over[i]!;
      refusedAs(await anybody.get('/v1/auth/session', { headers: jar(o.sign) }), o.status, o.code);
    }),
  );
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
  const careful = await person(),
    careless = await person(),
    absent = must(await boss.post('/v1/users', { name: 'never here' }), 201);
  await withTotp(careful);
  await signIn(careless);
  const program = must(await boss.post('/v1/users', { name: 'a program', kind: 'service', roles: ['viewer'] }), 201);
  const token = must(await boss.post('/v1/api-tokens', { name: 'p', user_id: program.user_id }), 201).token;
  must(await api(ready, token).get('/v1/me'), 200);
  const one = async (id: string): Promise<any> => must(await boss.get(`/v1/users/${id}`), 200);
  expect((await one(careful.user_id)).has_second_factor).toBe(true);
  for (const id of [careless.user_id, absent.user_id, program.user_id]) expect((await one(id)).has_second_factor).toBe(false);
  expect(await one(absent.user_id)).not.toHaveProperty('last_seen_at');
  for (let tries = 0; tries < 200 && !(await one(program.user_id)).last_seen_at; tries++)
    await new Promise((done) => setTimeout(done, 500));
  for (const id of [careful.user_id, careless.user_id, program.user_id])
    expect(Math.abs(Date.parse((await one(id)).last_seen_at) - Date.now()), id).toBeLessThan(120_000);
  const listed = must(await boss.get('/v1/users?page_size=200'), 200).data;
  for (const id of [careful.user_id, absent.user_id]) {
    const { last_seen_at: _a, ...got } = listed.find((u: any) => u.user_id === id),
      { last_seen_at: _b, ...want } = await one(id);
    expect(got).toEqual(want);
  }
  expect(must(await boss.get('/v1/service-accounts'), 200).data.find((u: any) => u.user_id === program.user_id)).toHaveProperty(
    'last_seen_at',
  );
});
