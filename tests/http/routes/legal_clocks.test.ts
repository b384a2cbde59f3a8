// SPDX-License-Identifier: Apache-2.0
// legal_clocks.test.ts - the life of a legal clock: due by the zone's law, overdue, extended once, closed once; its tenant's
// officers alone see it, and each act is in the log.
import { beforeAll, expect, inject, test } from 'vitest';
import { execFileSync } from 'node:child_process';
import { api, binary, eventually, makePerson, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const LAWFUL = 'ae-clk-1';
const OPENED = '2026-01-31T10:00:00.000Z';
const MONTH = '2026-02-28T10:00:00.000Z';
let admin: Api;
let officer: Api;
let stranger: Api;
let token: string;

beforeAll(async () => {
  const platform = api(ready, ready.admin_token);
  const clocks = [
    { regime: 'gdpr', name: 'dsar', hours: 720, source_text: 'GDPR Art 12(3)', valid_from: '2018-05-25T00:00:00Z' },
    { regime: 'gdpr', name: 'breach-notify', hours: 72, source_text: 'GDPR Art 33', valid_from: '2018-05-25T00:00:00Z' },
  ];
  must(await platform.post('/v1/zones', { code: LAWFUL, name: 'Clocks', country: 'AE', law: { clocks } }), 201);
  const tenant = await makeTenant(ready);
  admin = tenant.api;
  const person = await makePerson(ready, admin, 'compliance-officer');
  officer = person.api;
  token = person.token;
  stranger = (await makePerson(ready, (await makeTenant(ready)).api, 'compliance-officer')).api;
});

const opened = async (more: object = {}): Promise<any> =>
  must(await officer.post('/v1/legal-clocks', { kind: 'access', zone: LAWFUL, reference: 'case 1', ...more }), 201);
const refused = async (more: object): Promise<[number, string, string | undefined]> => {
  const reply = await officer.post('/v1/legal-clocks', { kind: 'access', zone: LAWFUL, reference: 'case 1', ...more });
  const problem = problemOf(reply);
  return [reply.status, problem.code, problem.errors?.[0]?.pointer];
};
const after = (at: string, days: number): string => new Date(Date.parse(at) + days * 86_400_000).toISOString();

test('is due by the law of its zone, and by the officer where that names no term', async () => {
  const late = await opened({ opened_at: OPENED });
  const due = { due_at: MONTH, first_due_at: MONTH };
  expect(late).toMatchObject({ kind: 'access', state: 'OVERDUE', ...due, law: 'gdpr: GDPR Art 12(3)' });
  expect(late.clock_id).toMatch(/^clk_/);
  const breach = await opened({ kind: 'breach' });
  expect(breach.state).toBe('OPEN');
  expect(Date.parse(breach.due_at) - Date.parse(breach.opened_at)).toBe(72 * 3_600_000);
  const own = { kind: 'retention', due_at: after(new Date().toISOString(), 400), law: 'contract 7' };
  expect(await opened(own)).toMatchObject({ state: 'OPEN', due_at: own.due_at, law: 'contract 7' });
});

test('refuses what it cannot open, and says where', async () => {
  expect(await refused({ kind: 'retention' })).toEqual([422, 'unprocessable', '/due_at']);
  expect(await refused({ due_at: after(OPENED, 300) })).toEqual([422, 'unprocessable', '/due_at']);
  expect(await refused({ law: 'mine' })).toEqual([422, 'unprocessable', '/law']);
  expect(await refused({ zone: 'xx-yyy-1' })).toEqual([422, 'unprocessable', '/zone']);
  expect(await refused({ opened_at: after(new Date().toISOString(), 1) })).toEqual([422, 'unprocessable', '/opened_at']);
  expect((await refused({ kind: 'other' })).slice(0, 3)).toEqual([400, 'invalid_argument', '/kind']);
  expect((await refused({ reference: 'x'.repeat(129) })).slice(0, 3)).toEqual([400, 'invalid_argument', '/reference']);
});

test('is extended once, closed once, and then stays', async () => {
  const clock = await opened();
  const path = `/v1/legal-clocks/${clock.clock_id}`;
  const to = after(clock.due_at, 30);
  const long = await officer.post(`${path}/extend`, { due_at: after(clock.due_at, 63), reason: 'too long' });
  expect([long.status, problemOf(long).errors?.[0]?.pointer]).toEqual([422, '/due_at']);
  expect(must(await officer.post(`${path}/extend`, { due_at: to, reason: 'many requests' }), 200)).toMatchObject({
    state: 'OPEN', due_at: to, first_due_at: clock.due_at, extension_reason: 'many requests' });
  for (let i = 0; i < 2; i++) {
    const again = await officer.post(`${path}/extend`, { due_at: to, reason: 'again' });
    expect([again.status, problemOf(again).code]).toEqual([409, 'conflict']);
  }
  const answered = { state: 'CLOSED', note: 'answered' };
  expect(must(await officer.post(`${path}/close`, { note: 'answered' }), 200)).toMatchObject(answered);
  expect((await officer.post(`${path}/close`, { note: 'twice' })).status).toBe(409);
  expect((await officer.post(`${path}/extend`, { due_at: to, reason: 'r' })).status).toBe(409);
  expect(must(await officer.get(path), 200)).toMatchObject({ state: 'CLOSED', note: 'answered' });
  const breach = await opened({ kind: 'breach' });
  const more = { due_at: after(breach.due_at, 1), reason: 'r' };
  expect((await officer.post(`/v1/legal-clocks/${breach.clock_id}/extend`, more)).status).toBe(422);
  const late = await opened({ opened_at: OPENED });
  const lateMore = { due_at: after(MONTH, 1), reason: 'r' };
  expect((await officer.post(`/v1/legal-clocks/${late.clock_id}/extend`, lateMore)).status).toBe(409);
  for (const action of ['clock.open', 'clock.extend', 'clock.close']) {
    const of = `/v1/audit/events?action=${action}&resource=${clock.clock_id}&outcome=success`;
    const found = await eventually(action, async () => {
      const events = must(await officer.get(of), 200).data;
      return events.length > 0 && events;
    });
    expect(found.map((x: any) => x.event.details.zone)).toEqual([LAWFUL]);
  }
});

test('is seen by the officers of its tenant alone', async () => {
  const { clock_id } = await opened();
  const path = `/v1/legal-clocks/${clock_id}`;
  const to = { due_at: after(new Date().toISOString(), 40), reason: 'r' };
  for (const [who, status] of [[stranger, 404], [admin, 403]] as const)
    for (const [part, body] of [['/extend', to], ['/close', { note: 'n' }]] as const)
      expect((await who.post(`${path}${part}`, body)).status).toBe(status);
  expect((await stranger.get(path)).status).toBe(404);
  expect((await admin.get(path)).status).toBe(403);
  expect((await admin.get('/v1/legal-clocks')).status).toBe(403);
  expect(must(await stranger.get('/v1/legal-clocks'), 200).data).toEqual([]);
});

test('is listed by state and by pages, the first due first; the command does the same', async () => {
  const all: any[] = [];
  for (let page = ''; ;) {
    const reply = must(await officer.get(`/v1/legal-clocks?page_size=2${page}`), 200);
    all.push(...reply.data);
    if (!reply.next_page_token) break;
    page = `&page_token=${encodeURIComponent(reply.next_page_token)}`;
  }
  expect(all.map((c) => c.due_at)).toEqual(all.map((c) => c.due_at).sort());
  expect(new Set(all.map((c) => c.clock_id)).size).toBe(all.length);
  for (const state of ['OPEN', 'OVERDUE', 'CLOSED']) {
    const some = must(await officer.get(`/v1/legal-clocks?state=${state}`), 200).data;
    expect(some.map((c: any) => c.clock_id)).toEqual(all.filter((c) => c.state === state).map((c) => c.clock_id));
    expect(some.length).toBeGreaterThan(0);
  }
  const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token };
  const falaj = (...words: string[]): string =>
    execFileSync(binary('falaj'), ['legal-clock', ...words], { env, encoding: 'utf8' });
  const made = JSON.parse(falaj('open', 'erasure', LAWFUL, 'case 12', '-o', 'json'));
  expect(falaj('extend', made.clock_id, after(made.due_at, 10), 'more to read')).toContain('case 12');
  expect(falaj('close', made.clock_id, 'done')).toContain('CLOSED');
  expect(falaj('list', '--state', 'CLOSED')).toContain('case 12');
});
