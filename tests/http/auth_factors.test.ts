// SPDX-License-Identifier: Apache-2.0
// auth_factors.test.ts - attacks on second factors, and guesses at passwords.
// Every vector is a row; their number is printed at the end. Password hashing takes most of the time.
import { beforeAll, describe, expect } from 'vitest';
import {
  alive,
  anybody,
  as,
  boss,
  counted,
  jar,
  login,
  next,
  PASSWORD,
  person,
  refusedAs,
  setCookie,
  signIn,
  signOf,
  sql,
  tenantId,
  tenantName,
  totp,
  uuid,
  vector,
  withTotp,
  type Person,
  type Sign,
} from './auth_kit.ts';
import { must, type Reply } from './harness.ts';

counted('auth_factors.test.ts', 33);

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
    refusedAs(
      await as(before, 'POST', '/v1/auth/mfa/totp/confirm', { code: '000000' === totp(begun.secret) ? '000001' : '000000' }),
      403,
      'mfa_required',
    );
    const after = signOf(await as(before, 'POST', '/v1/auth/mfa/totp/confirm', { code: totp(begun.secret) }));
    expect([await alive(before.cookie), await alive(after.cookie)]).toEqual([401, 200]);
    expect((await as(after, 'POST', '/v1/auth/mfa/totp')).status).toBe(409);
  });
  vector('makes a login half done', async () => {
    const s = await half();
    expect(s.body).toMatchObject({ stage: 'code', mfa_required: true, permissions: [], roles: [] });
  });
  for (const [method, path] of [
    ['GET', '/v1/me'],
    ['GET', '/v1/jobs'],
    ['GET', '/v1/sessions'],
    ['POST', '/v1/jobs'],
    ['POST', '/v1/api-tokens'],
    ['POST', '/v1/auth/password'],
    ['POST', '/v1/auth/step-up'],
    ['POST', '/v1/auth/mfa/totp'],
    ['DELETE', '/v1/auth/mfa/totp'],
    ['POST', '/v1/auth/device/approve'],
  ] as const)
    vector(`half done: ${method} ${path}`, async () =>
      refusedAs(await as(await half(), method, path, method === 'POST' ? {} : undefined), 403, 'mfa_required'),
    );
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
  vector('an older code than one that was used', async () =>
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(secret, Date.now() - 30_000) }), 403, 'mfa_required'),
  );
  vector('a code of two steps ahead', async () =>
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(secret, Date.now() + 90_000) }), 403, 'mfa_required'),
  );
  vector('a recovery code works once', async () => {
    sql('DELETE FROM login_guard');
    expect(
      must(await as(await half(), 'POST', '/v1/auth/totp', { code: codes[0]!.toUpperCase().replaceAll('-', ' ') }), 200).stage,
    ).toBe('full');
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: codes[0] }), 403, 'mfa_required');
  });
  vector("another person's code and recovery code", async () => {
    sql('DELETE FROM login_guard');
    const second = await person();
    const theirs = await withTotp(second);
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: theirs.codes[1] }), 403, 'mfa_required');
    refusedAs(await as(await half(), 'POST', '/v1/auth/totp', { code: totp(theirs.secret) }), 403, 'mfa_required');
  });
  vector('the password alone does not step up', async () =>
    refusedAs(await as(sign, 'POST', '/v1/auth/step-up', { password: PASSWORD }), 400, 'missing_field'),
  );
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

describe('guessing at passwords', () => {
  const shape = (r: Reply): string => JSON.stringify([r.status, { ...r.json, request_id: '' }]);
  vector('one answer for all that is wrong', async () => {
    const who = await person(),
      gone = await person();
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(gone.user_id)}'`);
    const bare = must(await boss.post('/v1/users', { name: `bare ${next()}` }), 201);
    const service = must(await boss.post('/v1/users', { name: `bot ${next()}`, kind: 'service' }), 201);
    const seen = [
      await login(who, 'not the password'),
      await login({ tenant: tenantName, name: 'nobody' }),
      await login({ tenant: 'no-such-tenant', name: who.name }),
      await login({ tenant: tenantName, name: bare.name }),
      await login({ tenant: tenantName, name: service.name }),
      await login(gone),
      await login({ tenant: 'platform', name: who.name }),
      await login({ tenant: tenantName.toUpperCase(), name: who.name }),
    ];
    expect(new Set(seen.map(shape)).size).toBe(1);
    expect(seen[0]!.status).toBe(401);
    expect(seen.every((r) => !r.headers.get('set-cookie'))).toBe(true);
  });
  for (const [name, exists] of [
    ['an account', true],
    ['an account that does not exist', false],
  ] as const)
    vector(`${name} waits after five`, async () => {
      const who = exists ? await person() : { tenant: tenantName, name: `ghost ${next()}`, user_id: '' };
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
    for (let i = 0; i < 5; i++)
      refusedAs(
        await as(s, 'POST', '/v1/auth/password', { old: `wrong password ${i}`, new: 'a better heron, by the water' }),
        403,
        'mfa_required',
      );
    expect((await as(s, 'POST', '/v1/auth/password', { old: PASSWORD, new: 'a better heron, by the water' })).status).toBe(429);
  });
  vector('through the step-up', async () => {
    const who = await person();
    const s = await signIn(who);
    for (let i = 0; i < 5; i++)
      refusedAs(await as(s, 'POST', '/v1/auth/step-up', { password: `wrong password ${i}` }), 403, 'mfa_required');
    expect((await as(s, 'POST', '/v1/auth/step-up', { password: PASSWORD })).status).toBe(429);
    expect((await login(who)).status).toBe(429);
  });
  vector('every outcome is in the log', async () => {
    const who = await person();
    await login(who, 'not the password');
    await signIn(who);
    const events = (code: string): string =>
      sql(
        `SELECT count(*) FROM audit_event WHERE tenant_id = '${uuid(tenantId)}' AND convert_from(body, 'UTF8') LIKE '%${code}%' AND convert_from(body, 'UTF8') LIKE '%${who.user_id}%'`,
      );
    expect(Number(events('auth.login.failed'))).toBe(1);
    expect(Number(events('"auth.login"'))).toBe(1);
    expect(sql(`SELECT count(*) FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%${PASSWORD}%'`)).toBe('0');
  });
});
