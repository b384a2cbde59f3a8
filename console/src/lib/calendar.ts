// SPDX-License-Identifier: Apache-2.0
// calendar.ts - days and months as people say them, as moments in the zone that the page shows. Pure but for that zone.
import { timeZone } from './format.ts';

export const CALENDAR = ['yesterday', 'month', 'last_month'] as const;
export type Calendar = (typeof CALENDAR)[number];

/** Wall-clock parts in the reader's zone as a moment; an hour that does not exist or exists twice is taken by its first offset. */
export function moment(year: number, month: number, day: number, hour = 0, minute = 0): Date {
  return timeZone() === 'UTC'
    ? new Date(Date.UTC(year, month, day, hour, minute))
    : new Date(year, month, day, hour, minute);
}
const parts = (d: Date): [number, number, number] =>
  timeZone() === 'UTC'
    ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()]
    : [d.getFullYear(), d.getMonth(), d.getDate()];

/** From its first moment up to, without it, the first moment after; the month that is not over has no end. Another word: undefined. */
export function calendarRange(word: string, now = Date.now()): { from: string; to?: string } | undefined {
  const [year, month, day] = parts(new Date(now));
  const range = (from: Date, to?: Date) => ({ from: from.toISOString(), ...(to ? { to: to.toISOString() } : {}) });
  if (word === 'yesterday') return range(moment(year, month, day - 1), moment(year, month, day));
  if (word === 'month') return range(moment(year, month, 1));
  if (word === 'last_month') return range(moment(year, month - 1, 1), moment(year, month, 1));
  return undefined;
}
