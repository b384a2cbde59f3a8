// SPDX-License-Identifier: Apache-2.0
// shell.test.ts - what lists, the stream and the lock work out: topics of one stream, kept columns, rows that stand, differences.
import { describe, expect, test } from 'vitest';
import { faceOf, Problem, waitOf } from '../src/api/problem.ts';
import { curl, commandLine } from '../src/lib/calls.ts';
import { calendarRange, isDay } from '../src/lib/calendar.ts';
import { fits, idPath } from '../src/lib/palette.ts';
import { differences } from '../src/lib/diff.ts';
import {
  arrange,
  mergePage,
  moved,
  readMemory,
  setListUser,
  sinceEnd,
  sinceStart,
  step,
  writeMemory,
  viewOf,
} from '../src/lib/lists.ts';
import { mergeTopics, prefixesOf, suspects, TOPICS_MAX } from '../src/lib/topics.ts';

const all = (): boolean => true;
const want = (topics: string[], prefixes: string[] = []) => ({ topics, prefixes });

describe('the topics of a tab', () => {
  test('are merged, each once, in an order that does not depend on who came first', () => {
    expect(mergeTopics([want(['jobs']), want(['job:job_1', 'jobs'])], all)).toEqual(['job:job_1', 'jobs']);
    expect(mergeTopics([want(['job:job_1', 'jobs']), want(['jobs'])], all)).toEqual(['job:job_1', 'jobs']);
  });
  test('are only those that this person may watch', () =>
    expect(mergeTopics([want(['jobs', 'nodes', 'approvals'])], (p) => p === 'job:read')).toEqual(['jobs']));
  test('are none that the API does not know or has refused', () =>
    expect(mergeTopics([want(['weather', 'jobs', 'job:gone'])], all, new Set(['job:gone']))).toEqual(['jobs']));
  test('are at most as many as the API takes, the first ones', () => {
    const many = Array.from({ length: 30 }, (_x, i) => `job:${String(i).padStart(2, '0')}`);
    expect(mergeTopics([want(['jobs']), want(many)], all)).toHaveLength(TOPICS_MAX);
    expect(mergeTopics([want(['jobs']), want(many)], all)).toContain('jobs');
  });
  test('suspected of a refusal are those that were not in the last good stream', () => {
    expect(suspects(['jobs', 'job:a'], ['jobs'])).toEqual(['job:a']);
    expect(suspects(['jobs'], ['jobs'])).toEqual([]);
    expect(suspects(['jobs', 'job:a'], [])).toEqual(['job:a']);
  });
  test('wake what was asked for under them and nothing else', () =>
    expect(
      prefixesOf(
        [want(['jobs'], ['/v1/jobs']), want(['nodes'], ['/v1/nodes']), want(['jobs'], ['/v1/quotas'])],
        'jobs',
      ),
    ).toEqual(['/v1/jobs', '/v1/quotas']));
});

class Store {
  readonly kept = new Map<string, string>();
  getItem(k: string): string | null {
    return this.kept.get(k) ?? null;
  }
  setItem(k: string, v: string): void {
    this.kept.set(k, v);
  }
  removeItem(k: string): void {
    this.kept.delete(k);
  }
}
describe('what is kept of a list', () => {
  test('belongs to one person and one list', () => {
    const store = new Store();
    setListUser('usr_a');
    writeMemory('/v1/jobs', { views: [], columns: ['name', 'state'] }, store);
    expect(readMemory('/v1/jobs', store).columns).toEqual(['name', 'state']);
    expect(readMemory('/v1/nodes', store).columns).toBeUndefined();
    setListUser('usr_b');
    expect(readMemory('/v1/jobs', store).columns).toBeUndefined();
  });
  test('leaves nothing behind when all is as the page has it', () => {
    const store = new Store();
    writeMemory('/v1/jobs', { views: [], since: '24h' }, store);
    writeMemory('/v1/jobs', { views: [] }, store);
    expect(store.kept.size).toBe(0);
  });
  test.each([
    'not json',
    '[]',
    '{"views":[{"name":1}],"columns":[1],"since":"9y"}',
    '{"views":[{"name":"a","search":{"x":1}}]}',
  ])('%s is as if nothing had been kept', (text) => {
    const store = new Store();
    setListUser('u');
    store.setItem('falaj.list.u./v1/jobs', text);
    expect(readMemory('/v1/jobs', store)).toEqual({ views: [] });
  });
  test('a view keeps filters, order and columns, not the page one was on', () => {
    const kept = viewOf({ state: 'FAILED', page_token: 't', b_after: '9', cols: 'name' });
    expect(kept).toEqual({ state: 'FAILED', cols: 'name' });
  });
  test('views of an earlier console are read, to be moved to the server', () => {
    const store = new Store();
    setListUser('u');
    store.setItem('falaj.list.u./v1/jobs', '{"views":[{"name":"a","search":{"state":"FAILED"}}]}');
    expect(readMemory('/v1/jobs', store).views).toEqual([{ name: 'a', search: { state: 'FAILED' } }]);
  });
});

describe('the columns', () => {
  const cols = [{ name: 'name' }, { name: 'state' }, { name: 'zone', extra: true }];
  const names = (chosen?: string[]): string[] => arrange(cols, chosen).map((c) => c.name);
  test('are the usual ones until others are chosen', () => expect(names()).toEqual(['name', 'state']));
  test('stand in the order chosen, unknown ones fall away, the first stays', () => {
    expect(names(['name', 'zone', 'gone', 'state'])).toEqual(['name', 'zone', 'state']);
    expect(names(['state'])).toEqual(['name', 'state']);
  });
  test('move by one place, never before the name', () => {
    expect(moved(['name', 'state', 'zone'], 'zone', -1)).toEqual(['name', 'zone', 'state']);
    expect(moved(['name', 'state', 'zone'], 'state', -1)).toEqual(['name', 'state', 'zone']);
    expect(moved(['name', 'state', 'zone'], 'zone', 1)).toEqual(['name', 'state', 'zone']);
  });
});

describe('rows of a live list', () => {
  const row = (id: string, v = 0) => ({ id, v });
  const ids = (rows: { id: string }[]): string => rows.map((r) => r.id).join('');
  const merge = (a: { id: string; v: number }[], b: { id: string; v: number }[]) => mergePage(a, b, (r) => r.id);
  test('stand while new ones wait, and are as new as what was read', () => {
    const m = merge([row('a'), row('b'), row('c')], [row('x'), row('a', 1), row('b')]);
    expect([ids(m.rows), m.fresh, m.rows[0]!.v]).toEqual(['abc', 1, 1]);
  });
  test('that are gone go, and what comes up at the end is not new', () => {
    const m = merge([row('a'), row('b')], [row('b'), row('c')]);
    expect([ids(m.rows), m.fresh]).toEqual(['bc', 0]);
  });
  test('that are all new wait too; into an empty list they come at once', () => {
    expect(merge([row('a')], [row('x'), row('y')]).fresh).toBe(2);
    expect(ids(merge([], [row('x')]).rows)).toBe('x');
  });
});

describe('the row that the keys stand on', () => {
  test.each([
    [0, -1, 1, -1],
    [3, -1, 1, 0],
    [3, -1, -1, 2],
    [3, 2, 1, 2],
    [3, 0, -1, 0],
    [3, 1, 1, 2],
  ] as const)('of %i rows at %i by %i is %i', (n, at, by, to) => expect(step(n, at, by)).toBe(to));
});

describe('a range that is relative', () => {
  const now = Date.parse('2026-11-22T08:00:30Z');
  test('begins at a whole minute and stays while one pages on', () => {
    const from = sinceStart('1h', false, false, now);
    expect(from).toBe('2026-11-22T07:00:00.000Z');
    expect(sinceStart('1h', true, false, now + 3_600_000)).toBe(from);
    expect(sinceStart('1h', false, false, now + 3_600_000)).toBe('2026-11-22T08:00:00.000Z');
  });
  test('is a day where the calendar has it', () => {
    expect(['2026-01-31', '2028-02-29', '2026-12-01'].filter((d) => !isDay(d))).toEqual([]);
    expect(
      ['2026-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '2026-1-1', '31/01/2026', ''].filter(isDay),
    ).toEqual([]);
  });
  test('of the calendar is a whole day or month of the zone that is shown', () => {
    expect(calendarRange('last_month', false, now)).toEqual({
      from: new Date(2026, 9, 1).toISOString(),
      to: new Date(2026, 10, 1).toISOString(),
    });
    expect(calendarRange('last_month', true, now)).toEqual({
      from: '2026-10-01T00:00:00.000Z',
      to: '2026-11-01T00:00:00.000Z',
    });
    expect(calendarRange('month', false, now)).toEqual({ from: new Date(2026, 10, 1).toISOString() });
    expect(calendarRange('yesterday', false, now)).toEqual({
      from: new Date(2026, 10, 21).toISOString(),
      to: new Date(2026, 10, 22).toISOString(),
    });
    expect(calendarRange('last_month', false, Date.parse('2026-01-15T12:00:00Z'))?.from).toBe(
      new Date(2025, 11, 1).toISOString(),
    );
    expect([
      sinceStart('yesterday', true, false, now),
      sinceEnd('yesterday', false, now),
      sinceEnd('1h', false, now),
    ]).toEqual([new Date(2026, 10, 21).toISOString(), new Date(2026, 10, 22).toISOString(), undefined]);
    const store = new Store();
    writeMemory('/v1/jobs', { views: [], since: 'last_month' }, store);
    expect(readMemory('/v1/jobs', store).since).toBe('last_month');
  });
  test('of no known name is none', () => expect(sinceStart('9y', false, false, now)).toBeUndefined());
});

describe('a failure', () => {
  test.each([
    [0, 0, 'offline', 0],
    [403, 0, 'forbidden', 0],
    [429, 0, 'busy', 1],
    [429, 12.2, 'busy', 13],
    [503, 30, 'maintenance', 30],
    [503, 99_999, 'maintenance', 600],
    [503, 0, 'failed', 0],
    [500, 5, 'failed', 0],
  ] as const)('%i with Retry-After %d is %s and waits %i s', (status, after, face, wait) => {
    const p = new Problem(status, undefined, after);
    expect([faceOf(p), waitOf(p)]).toEqual([face, wait]);
  });
});

describe('what was changed meanwhile', () => {
  const fields = ['name', 'amount', 'warn', 'note'].map((n) => ({ name: n, label: n }));
  test('is told by field, with who changed it', () => {
    const was = { name: 'a', amount: 1, warn: [50, 80], note: null, version: 1 };
    const out = differences(
      fields,
      was,
      { name: 'b', amount: 2, warn: [50, 80] },
      { ...was, amount: 3, warn: [90], version: 2 },
    );
    expect(out.map((d) => [d.name, d.was, d.mine, d.theirs, d.by])).toEqual([
      ['name', 'a', 'b', 'a', 'mine'],
      ['amount', '1', '2', '3', 'both'],
      ['warn', '[50,80]', '[50,80]', '[90]', 'theirs'],
    ]);
  });
  test('to the same by both is no quarrel, and objects are compared by what they hold', () => {
    expect(differences(fields, { name: 'a' }, { name: 'b' }, { name: 'b' })[0]!.by).toBe('same');
    expect(differences(fields, { note: { a: 1, b: 2 } }, {}, { note: { b: 2, a: 1 } })).toEqual([]);
  });
});

describe('the line for a shell', () => {
  test('quotes what a filter holds', () => {
    expect(curl("GET /v1/jobs?q=it's", 'http://x')).toBe(
      `curl -H "Authorization: Bearer $FALAJ_TOKEN" 'http://x/v1/jobs?q=it'\\''s'`,
    );
    expect(curl('POST /v1/jobs', 'http://x')).toContain('Idempotency-Key');
    expect(commandLine('falaj job list', { state: 'FAILED', name: 'a b; rm', zone: '' })).toBe(
      "falaj job list --state FAILED --name 'a b; rm'",
    );
  });
});

describe('the palette', () => {
  test.each([
    ['da se', 'Data sets', true],
    ['sets', 'Data sets', true],
    ['etc', 'Data sets', false],
    ['ata', 'Data sets', true],
    ['', 'Jobs', true],
  ])('%j and %j: %s', (text, line, is) => expect(fits(text, line)).toBe(is));
  test('knows which page shows an id', () => {
    expect(idPath(`job_${'0'.repeat(32)}`)).toBe(`/jobs/job_${'0'.repeat(32)}`);
    expect(idPath('job_1')).toBeUndefined();
    expect(idPath(`xyz_${'0'.repeat(32)}`)).toBeUndefined();
  });
});
