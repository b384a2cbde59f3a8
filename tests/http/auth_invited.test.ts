// SPDX-License-Identifier: Apache-2.0
// auth_invited.test.ts - attacks on invitations and on devices that sign in.
// Every vector is a row; their number is printed at the end. Password hashing takes most of the time.
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect } from 'vitest';
import {
  anybody,
  as,
  boss,
  counted,
  jar,
  next,
  page,
  PASSWORD,
  person,
  ready,
  refusedAs,
  signIn,
  sql,
  uuid,
  vector,
  type Person,
  type Sign,
} from './auth_kit.ts';
import { api, makeTenant, must, problemOf, type Api, type Reply } from './harness.ts';

counted('auth_invited.test.ts', 43);

describe('an invitation', () => {
  const accept = (token: string, password: string | undefined = PASSWORD): Promise<Reply> =>
    anybody.post('/v1/auth/invitations/accept', { token, password });
  const invite = async (by: Api = boss, roles = ['viewer']): Promise<any> =>
    must(await by.post('/v1/invitations', { name: `guest ${next()}`, roles }), 201);
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
    const { token } = must(
      await anybody.post(
        '/v1/invitations',
        { name: `guest ${next()}`, roles: ['viewer'] },
        { headers: page(await signIn(admin)) },
      ),
      201,
    );
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(admin.user_id)}'`);
    refusedAs(await accept(token), 404, 'not_found');
  });
  vector('whose inviter holds less by now', async () => {
    const admin = await person(['tenant-admin']);
    const { token } = must(
      await anybody.post(
        '/v1/invitations',
        { name: `guest ${next()}`, roles: ['tenant-admin'] },
        { headers: page(await signIn(admin)) },
      ),
      201,
    );
    sql(`UPDATE role_binding SET role = 'viewer' WHERE user_id = '${uuid(admin.user_id)}'`);
    expect([403, 404]).toContain((await accept(token)).status);
  });
  vector('by who may not invite', async () => {
    const engineer = await person();
    refusedAs(
      await anybody.post('/v1/invitations', { name: 'x', roles: [] }, { headers: page(await signIn(engineer)) }),
      403,
      'forbidden',
    );
  });
  for (const [role, status] of [
    ['platform-admin', 422],
    ['zone-operator', 422],
    ['worker', 422],
    ['no-such-role', 400],
  ] as const)
    vector(`to ${role}`, async () => {
      expect((await boss.post('/v1/invitations', { name: `guest ${next()}`, roles: [role] })).status).toBe(status);
    });
  for (const [name, token] of [
    ['empty', ''],
    ['no token', 'x'],
    ['bent', `flj_inv_${'A'.repeat(30)}_000000`],
    ['long', 'A'.repeat(200)],
    ['an access token', '$boss'],
    ['SQL', "' OR 1=1 --"],
  ] as const)
    vector(`whose token is ${name}`, async () => {
      const reply = await accept(token === '$boss' ? must(await boss.post('/v1/api-tokens', { name: 'x' }), 201).token : token);
      expect([400, 404]).toContain(reply.status);
      problemOf(reply);
    });
  for (const password of ['short', '12345678901', 'password1234', 'aaaaaaaaaaaaaa', 'x'.repeat(1025)])
    vector(`with the password ${password.slice(0, 14)} (${password.length})`, async () =>
      refusedAs(await accept((await invite()).token, password), 400, 'invalid_argument'),
    );
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
  const decide = (s: Sign, user_code: string, approve = true): Promise<Reply> =>
    as(s, 'POST', '/v1/auth/device/approve', { user_code, approve });
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const relax = (d: any): string =>
    sql(`UPDATE device_grant SET polled_at = NULL, interval_s = 0 WHERE device_hash = '\\x${hash(d.device_code)}'`);
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
    expect([await error(d.device_code), await error(d.device_code), await error(d.device_code)]).toEqual([
      'authorization_pending',
      'slow_down',
      'slow_down',
    ]);
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
  vector('is not let in by a token', async () =>
    refusedAs(await boss.post('/v1/auth/device/approve', { user_code: (await start()).user_code }), 400, 'invalid_argument'),
  );
  vector('is not let in by nobody', async () =>
    refusedAs(await anybody.post('/v1/auth/device/approve', { user_code: (await start()).user_code }), 401, 'unauthenticated'),
  );
  vector('of a person who is disabled meanwhile', async () => {
    const leaver = await person();
    const d = await start();
    must(await decide(await signIn(leaver), d.user_code), 200);
    sql(`UPDATE app_user SET state = 'DISABLED' WHERE user_id = '${uuid(leaver.user_id)}'`);
    expect(await error(d.device_code)).toBe('access_denied');
  });
  for (const [name, code] of [
    ['empty', ''],
    ['short', 'x'],
    ['bent', `flj_dev_${'A'.repeat(30)}_000000`],
    ['the user code', 'BCDF-GHJK'],
    ['SQL', "' OR 1=1 --"],
  ] as const)
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
