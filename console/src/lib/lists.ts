// SPDX-License-Identifier: Apache-2.0
// lists.ts - what a person keeps of a list in this browser: its columns and the last range of time. Named views are kept by the
// server; those that an earlier console left here are read to be moved there. Pure but for the storage given.
//
// One entry per user and list. What cannot be read is as if nothing had been kept.
import { CALENDAR, calendarRange, type Calendar } from './calendar.ts';
import type { Search } from './search.ts';

export const VIEWS_MAX = 20;
export const NAME_MAX = 64;
export const SINCE = { '1h': 3600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const;
export type Since = keyof typeof SINCE | Calendar;
const isSince = (v: string): v is Since => v in SINCE || (CALENDAR as readonly string[]).includes(v);
export interface View {
  name: string;
  search: Search;
}
export interface Memory {
  /** Names of the columns that are shown, in their order; absent: as the page has them. */
  columns?: string[];
  /** Left by an earlier console. */
  views: View[];
  since?: Since;
}
type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

let user = 'nobody';
export const setListUser = (id: string): void => void (user = id);
const keyOf = (list: string): string => `falaj.list.${user}.${list}`;
const texts = (v: unknown): v is string[] => Array.isArray(v) && v.every((x) => typeof x === 'string');
const isView = (v: unknown): v is View => {
  const view = v as View;
  return (
    typeof view?.name === 'string' &&
    typeof view.search === 'object' &&
    view.search !== null &&
    texts(Object.values(view.search))
  );
};

export function readMemory(list: string, store: Store): Memory {
  try {
    const raw = JSON.parse(store.getItem(keyOf(list)) ?? '{}') as Partial<Memory>;
    return {
      views: Array.isArray(raw.views) ? raw.views.filter(isView).slice(0, VIEWS_MAX) : [],
      ...(texts(raw.columns) && raw.columns.length > 0 ? { columns: raw.columns } : {}),
      ...(raw.since !== undefined && isSince(raw.since) ? { since: raw.since } : {}),
    };
  } catch {
    return { views: [] };
  }
}
export function writeMemory(list: string, memory: Memory, store: Store): void {
  try {
    if (memory.views.length === 0 && !memory.columns && !memory.since) store.removeItem(keyOf(list));
    else store.setItem(keyOf(list), JSON.stringify(memory));
  } catch {
    /* a browser without storage forgets at reload */
  }
}

/** What a view keeps of an address: where in the list one is does not belong to it. */
export const viewOf = (search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([k]) => !/(page_token|after)$/.test(k)));

interface Col {
  name: string;
  extra?: boolean;
}
/** The columns to draw. The first one always stands: it names the row. Unknown names are passed over. */
export function arrange<C extends Col>(all: readonly C[], chosen: readonly string[] | undefined): C[] {
  if (chosen === undefined) return all.filter((c) => c.extra !== true);
  const known = chosen.map((n) => all.find((c) => c.name === n)).filter((c) => c !== undefined);
  const head = all[0];
  return head === undefined || known.includes(head) ? known : [head, ...known];
}
/** One column moved by one place; the first place is the name's. */
export function moved(names: readonly string[], name: string, by: 1 | -1): string[] {
  const at = names.indexOf(name),
    to = at + by;
  if (at < 1 || to < 1 || to >= names.length) return [...names];
  const out = [...names];
  [out[at], out[to]] = [out[to]!, out[at]!];
  return out;
}

/** What a page of live rows becomes: rows stay where they are while new ones wait to be asked for; those that are gone go. */
export function mergePage<T>(
  shown: readonly T[],
  now: readonly T[],
  keyOf: (row: T) => string,
): { rows: T[]; fresh: number } {
  const before = new Set(shown.map(keyOf));
  const last = now.findLastIndex((r) => before.has(keyOf(r)));
  const fresh = now.filter((r, i) => !before.has(keyOf(r)) && (i < last || last < 0)).length;
  if (shown.length === 0 || fresh === 0) return { rows: [...now], fresh: 0 };
  const newest = new Map(now.map((r) => [keyOf(r), r]));
  return { rows: shown.map((r) => newest.get(keyOf(r)) ?? r), fresh };
}

/** The row that a step leads to: from none to the first or the last, and never beyond the ends. */
export function step(count: number, at: number, by: 1 | -1): number {
  if (count === 0) return -1;
  if (at < 0) return by > 0 ? 0 : count - 1;
  return Math.min(count - 1, Math.max(0, at + by));
}

/** The start of a relative range. It stays the same while one pages on: page tokens belong to the filters they were made for. */
const starts = new Map<string, { at: number; from: string }>();
export function sinceStart(since: string, paging: boolean, utc: boolean, now = Date.now()): string | undefined {
  const calendar = calendarRange(since, utc, now);
  if (calendar) return calendar.from;
  if (!(since in SINCE)) return undefined;
  const known = starts.get(since);
  if (known && (paging || now - known.at < 600_000)) return known.from;
  const from = new Date(Math.floor(now / 60_000) * 60_000 - SINCE[since as keyof typeof SINCE] * 1000).toISOString();
  starts.set(since, { at: now, from });
  return from;
}
/** Its end, where it has one: a day or a month that is over. */
export const sinceEnd = (since: string, utc: boolean, now = Date.now()): string | undefined =>
  calendarRange(since, utc, now)?.to;
