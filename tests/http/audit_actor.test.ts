// SPDX-License-Identifier: Apache-2.0
// audit_actor.test.ts - who did it is written the same at every door: routes that write their own event (a job's submission, content, exports)
// keep of a caller what every other route keeps, whether a token, a session, an outside JWT or an account behind glass. A few seconds.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { psql, upload } from './client.ts';
import { Fake, makeKey, seconds, token } from './federation.ts';
import { api, makeZone, must, type Api, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const nobody = api(ready, null), PASSWORD = 'a heron by the water wheel', AUD = `actor-${randomUUID()}`, FAR = `far-${randomUUID().slice(0, 8)}`;
const key = makeKey('RS256', 'k1');
let fake: Fake, tenant: any, owner: Api, dataset: string;

type Caller = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
interface Written { actor: { type: string; id: string; roles: string[]; token_id: string | null }; zone: string | null; details: Record<string, unknown> }

/** The event of one request, as it is stored. */
function eventOf(requestId: string): Written {
  const lines = psql(ready, `SELECT convert_from(body, 'UTF8') FROM audit_event WHERE convert_from(body, 'UTF8') LIKE '%"${requestId}"%'`).split('\n').filter(Boolean);
  expect(lines.length, `events of ${requestId}`).toBe(1);
  return JSON.parse(lines[0]!);
}

/** What stands in an event about its actor, wherever in it. */
function actorOf(event: Written): object {
  const { issuer, session, break_glass } = event.details as any;
  const { src_ip: _sealedAnew, ...actor } = event.actor as any;
  return { ...actor, issuer, session, break_glass };
}

async function done(call: Caller, method: string, path: string, body?: unknown): Promise<Written> {
  const requestId = `test-${randomUUID()}`;
  const reply = await call(method, path, body, { 'x-request-id': requestId });
  expect(reply.status, `${method} ${path}: ${reply.text.slice(0, 300)}`).toBeLessThan(300);
  return eventOf(requestId);
}

const bearer = (made: () => string): Caller => (method, path, body, headers = {}) => api(ready, made())(method, path, { body, headers });

/** A person of two roles who is signed in; `glass`: as if the account had been behind glass. */
async function signedIn(glass: boolean): Promise<{ user_id: string; call: Caller }> {
  const name = `person-${randomUUID().slice(0, 8)}`;
  const invitation = must(await owner.post('/v1/invitations', { name, roles: ['tenant-admin', 'viewer'] }), 201);
  const { user_id } = must(await nobody.post('/v1/auth/invitations/accept', { token: invitation.token, password: PASSWORD }), 200);
  const login = await nobody.post('/v1/auth/login', { tenant: tenant.name, name, password: PASSWORD });
  const proof = { cookie: login.headers.get('set-cookie')!.split(';')[0]!, 'x-csrf-token': must(login, 200).csrf_token, 'sec-fetch-site': 'same-origin' };
  if (glass) psql(ready, `UPDATE session SET method = 'break-glass' WHERE user_id = '${user_id.replace('usr_', '')}'`);
  return { user_id, call: (method, path, body, headers = {}) => nobody(method, path, { body, headers: { ...proof, ...headers } }) };
}

beforeAll(async () => {
  fake = await Fake.start();
  await makeZone(ready, FAR);
  const admin = api(ready, ready.admin_token);
  tenant = must(await admin.post('/v1/tenants', { name: `t-${randomUUID().slice(0, 8)}`, home_zone: ready.zone, allowed_zones: [ready.zone, FAR] }), 201);
  owner = api(ready, tenant.admin_token);
  dataset = (await upload(owner, 'a,label\n1,0\n2,1\n', 'rows', 2)).dataset_id;
});
afterAll(() => fake?.stop());

const doors: [string, string, () => [string, unknown?]][] = [
  ['a job', 'POST', () => ['/v1/jobs', { name: 'j', kind: 'noop' }]],
  ['content', 'GET', () => [`/v1/datasets/${dataset}/versions/1/content`]],
  ['the usage as CSV', 'GET', () => [`/v1/usage.csv?from=${new Date(Date.now() - 3600_000).toISOString()}&to=${new Date().toISOString()}`]],
  ['the log as CSV', 'GET', () => ['/v1/audit/events.csv?from=2020-01-01T00:00:00Z']],
  ['the log as a bundle', 'GET', () => ['/v1/audit/export']],
];

/** Each door's event says of the caller what an ordinary route's says. */
async function sameEverywhere(call: Caller): Promise<Written> {
  const ordinary = await done(call, 'POST', '/v1/projects', { name: `p-${randomUUID().slice(0, 8)}` });
  for (const [what, method, where] of doors) {
    const [path, body] = where();
    expect(actorOf(await done(call, method, path, body)), what).toEqual(actorOf(ordinary));
  }
  return ordinary;
}
const bare = (id: string): string => id.replaceAll('-', '').slice(-32);

describe('every door writes the same actor', () => {
  test('for a token', async () => {
    const event = await sameEverywhere(bearer(() => tenant.admin_token));
    expect(event.actor).toMatchObject({ type: 'user', roles: ['tenant-admin'] });
    expect(event.actor.token_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(actorOf(event)).toMatchObject({ issuer: undefined, session: undefined, break_glass: undefined });
  });

  test('for a session: its id, and no token', async () => {
    const { user_id, call } = await signedIn(false);
    const event = await sameEverywhere(call);
    expect(bare(event.actor.id)).toBe(bare(user_id));
    expect([...event.actor.roles].sort()).toEqual(['tenant-admin', 'viewer']);
    expect(event.actor.token_id).toBeNull();
    expect(event.details['session']).toMatch(/^ses_[0-9a-f]{32}$/);
  });

  test('for an account behind glass: flagged', async () => {
    const { call } = await signedIn(true);
    expect((await sameEverywhere(call)).details['break_glass']).toBe(1);
  });

  test('for a JWT of an outside issuer: the issuer, which is no token', async () => {
    const { user_id } = must(await owner.post('/v1/users', { name: 'program', kind: 'service', roles: ['tenant-admin'] }), 201);
    const issuer = must(await owner.post('/v1/issuers', { name: 'outside', issuer: fake.url, audience: AUD, algorithms: ['RS256'], jwks: { keys: [key.jwk] },
      subjects: [{ subject: 'builder', user_id }] }), 201);
    const jwt = (): string => token(key, { iss: fake.url, aud: AUD, sub: 'builder', iat: seconds(), exp: seconds() + 300, jti: randomUUID() });
    const event = await sameEverywhere(bearer(jwt));
    expect(bare(event.actor.id)).toBe(bare(user_id));
    expect(event.actor.token_id).toBeNull();
    expect(event.details['issuer']).toBe(issuer.issuer_id);
  });
});

test('the zone of a submission is the zone of the job', async () => {
  const call = bearer(() => tenant.admin_token);
  expect((await done(call, 'POST', '/v1/jobs', { name: 'far', kind: 'noop', zone: FAR })).zone).toBe(FAR);
  expect((await done(call, 'POST', '/v1/jobs', { name: 'home', kind: 'noop', zone: ready.zone })).zone).toBe(ready.zone);
});
