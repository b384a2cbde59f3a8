// SPDX-License-Identifier: Apache-2.0
// auth_kit.ts - what the attacks on the sign-in of people share: people, their cookies and codes, and rows that are counted.
// Each file has a tenant of its own.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { psql } from './client.ts';
import { api, makeTenant, must, problemOf, type Api, type Ready, type Reply } from './harness.ts';

export const ready: Ready = inject('falaj');
export const anybody = api(ready, null);
export const host = new URL(ready.api_url).host;
export const PASSWORD = 'a heron by the water wheel';
export const COOKIE = '__Host-falaj';

let vectors = 0;
export function vector(name: string, run: () => Promise<void>): void {
  vectors++;
  test(name, run);
}
/** Prints at the end how many vectors the file has, of which there are so many at least. */
export function counted(file: string, least: number): void {
  afterAll(() => {
    console.log(`${file}: ${vectors} vectors`);
    expect(vectors).toBeGreaterThanOrEqual(least);
  });
}

export const sql = (text: string): string => psql(ready, text);
export const uuid = (id: string): string => id.slice(id.indexOf('_') + 1);

/** RFC 6238, written again here so that the server does not check itself. */
export function totp(secret: string, atMs = Date.now()): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret].map((c) => letters.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((b) => parseInt(b, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const at = mac[19]! & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

export interface Person {
  tenant: string;
  name: string;
  user_id: string;
}
export interface Sign {
  cookie: string;
  csrf: string;
  body: any;
}

export const setCookie = (reply: Reply): string =>
  /^__Host-falaj=([A-Za-z0-9_-]{43}); Path=\/; Secure; HttpOnly; SameSite=Lax$/.exec(
    reply.headers.get('set-cookie') ?? '',
  )?.[1] ?? '';
export const signOf = (reply: Reply): Sign => ({ cookie: setCookie(reply), csrf: reply.json.csrf_token, body: reply.json });
export const login = (
  who: { tenant: string; name: string },
  password = PASSWORD,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Reply> => anybody.post('/v1/auth/login', { tenant: who.tenant, name: who.name, password, ...more }, { headers });
export const jar = (s: Sign): Record<string, string> => ({ cookie: `${COOKIE}=${s.cookie}` });
export const page = (s: Sign): Record<string, string> => ({ ...jar(s), 'x-csrf-token': s.csrf, 'sec-fetch-site': 'same-origin' });
export const as = (s: Sign, method: string, path: string, body?: unknown): Promise<Reply> =>
  anybody(method, path, { body, headers: page(s) });
export async function signIn(who: Person): Promise<Sign> {
  const s = signOf({ ...(await login(who)) });
  expect(s.cookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
  return s;
}
export const alive = async (cookie: string): Promise<number> =>
  (await anybody.get('/v1/auth/session', { headers: { cookie: `${COOKIE}=${cookie}` } })).status;
export function refusedAs(reply: Reply, status: number, code: string): void {
  expect(reply.status, reply.text.slice(0, 300)).toBe(status);
  expect(problemOf(reply).code).toBe(code);
}

let n = 0;
/** The next number for a name. */
export const next = (): number => ++n;
/** The tenant of the file, and its administrator. */
export let boss: Api, tenantName: string, tenantId: string;
export async function person(roles = ['ml-engineer'], by: Api = boss, tenant = tenantName): Promise<Person> {
  const name = `person AZaz-._09 ${next()}`;
  const invitation = must(await by.post('/v1/invitations', { name, roles }), 201);
  const user = must(await anybody.post('/v1/auth/invitations/accept', { token: invitation.token, password: PASSWORD }), 200);
  return { tenant, name, user_id: user.user_id };
}
export async function withTotp(who: Person): Promise<{ sign: Sign; secret: string; codes: string[] }> {
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
