// SPDX-License-Identifier: Apache-2.0
// calendar.ts - days and months as people say them, as moments in the zone that the page shows: UTC or the machine's own. Pure.

export const CALENDAR = ['yesterday', 'month', 'last_month'] as const;
export type Calendar = (typeof CALENDAR)[number];

/** Wall-clock parts in the reader's zone as a moment; an hour that does not exist or exists twice is taken by its first offset. */
export function moment(utc: boolean, year: number, month: number, day: number, hour = 0, minute = 0): Date {
  return utc ? new Date(Date.UTC(year, month, day, hour, minute)) : new Date(year, month, day, hour, minute);
}
const parts = (utc: boolean, d: Date): [number, number, number] =>
  utc ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()] : [d.getFullYear(), d.getMonth(), d.getDate()];

/** From its first moment up to, without it, the first moment after; the month that is not over has no end. Another word: undefined. */
export function calendarRange(word: string, utc: boolean, now = Date.now()): { from: string; to?: string } | undefined {
  const [year, month, day] = parts(utc, new Date(now));
  const range = (from: Date, to?: Date) => ({ from: from.toISOString(), ...(to ? { to: to.toISOString() } : {}) });
  if (word === 'yesterday') return range(moment(utc, year, month, day - 1), moment(utc, year, month, day));
  if (word === 'month') return range(moment(utc, year, month, 1));
  if (word === 'last_month') return range(moment(utc, year, month - 1, 1), moment(utc, year, month, 1));
  return undefined;
}

/** A day that the calendar has, as 2026-01-31: the thirtieth of February would quietly become one of March. */
export function isDay(text: string): boolean {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!m) return false;
  const [year, month, day] = [+m[1]!, +m[2]! - 1, +m[3]!];
  return parts(true, moment(true, year, month, day)).join() === [year, month, day].join();
}
