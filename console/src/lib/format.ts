// SPDX-License-Identifier: Apache-2.0
// format.ts - numbers, sizes and times as the reader's language writes them; the zone always stands with the time.
import { getPrefs } from './prefs.ts';

const locale = (): string => {
  const p = getPrefs();
  return p.lang === 'ar' ? `ar-AE-u-nu-${p.digits}` : 'en-GB';
};
// A formatter costs a hundred times what it formats with; pages draw thousands of numbers and times.
const made = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();
function once<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  key: string,
  make: () => T,
): T {
  const had = made.get(key);
  if (had) return had as T;
  const fresh = make();
  made.set(key, fresh);
  return fresh;
}
const numbers = (o: Intl.NumberFormatOptions): Intl.NumberFormat =>
  once(`n ${locale()} ${JSON.stringify(o)}`, () => new Intl.NumberFormat(locale(), o));
const times = (at: string, o: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  once(`t ${at} ${JSON.stringify(o)}`, () => new Intl.DateTimeFormat(at, o));
const relatives = (): Intl.RelativeTimeFormat =>
  once(`r ${locale()}`, () => new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }));

export const showsUtc = (): boolean => getPrefs().zone === 'utc';
export const timeZone = (): string =>
  getPrefs().zone === 'utc' ? 'UTC' : times('en-GB', {}).resolvedOptions().timeZone;
const parse = (at: string | undefined | null): Date | null => {
  const d = at ? new Date(at) : null;
  return d && !Number.isNaN(d.getTime()) ? d : null;
};
export const number = (n: number | undefined, digits = 2): string =>
  n === undefined ? '' : numbers({ maximumFractionDigits: digits }).format(n);
export const percent = (share: number): string => numbers({ style: 'percent', maximumFractionDigits: 1 }).format(share);
/** An amount in minor units (two decimals, as AED, USD and EUR have) of an ISO 4217 currency. */
export function money(minor: number, currency: string): string {
  return /^[A-Z]{3}$/.test(currency)
    ? numbers({ style: 'currency', currency, maximumFractionDigits: 2 }).format(minor / 100)
    : number(minor / 100);
}
export function bytes(n: number | undefined): string {
  if (n === undefined) return '';
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  let i = 0,
    v = n;
  for (; v >= 1000 && i < units.length - 1; i++) v /= 1000;
  return numbers({
    style: 'unit',
    unit: units[i]!,
    unitDisplay: i === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(v);
}
/** Arabic has no short date that two readers write alike: the month by its name, and 24 hours. */
const inArabic = (): boolean => getPrefs().lang === 'ar';
const daySet = (): Intl.DateTimeFormatOptions =>
  inArabic() ? { day: 'numeric', month: 'long', year: 'numeric' } : { dateStyle: 'medium' };
const hours = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const timeSet = (): Intl.DateTimeFormatOptions => (inArabic() ? hours : { timeStyle: 'medium' });
const written = (at: string | undefined | null, o: Intl.DateTimeFormatOptions): string => {
  const d = parse(at);
  return d ? times(locale(), { ...o, timeZone: timeZone() }).format(d) : '';
};
export function dateTime(at: string | undefined | null): string {
  if (inArabic()) return parse(at) ? `${day(at)}، ${timeOfDay(at)}` : '';
  return written(at, { ...daySet(), ...timeSet() });
}
export const day = (at: string | undefined | null): string => written(at, daySet());
/** The time of day as the reader writes it, where the day is said beside it. */
export const timeOfDay = (at: string | undefined | null): string => written(at, timeSet());
export function clock(at: string | undefined): string {
  const d = parse(at);
  return d ? times('en-GB', { timeStyle: 'medium', timeZone: timeZone() }).format(d) : '';
}
export const millis = (n: number): string =>
  numbers({ style: 'unit', unit: 'millisecond', unitDisplay: 'short', maximumFractionDigits: 1 }).format(n);
export const seconds = (n: number): string =>
  numbers({
    style: 'unit',
    unit: 'second',
    unitDisplay: 'narrow',
    maximumFractionDigits: n < 1 ? 2 : 1,
  }).format(n);
/** For the axis of a chart: the time of day, with the day where `days` asks for it. */
export function shortTime(ms: number, days = false): string {
  return times(locale(), {
    ...(days ? { month: 'short', day: 'numeric' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(days ? {} : { second: '2-digit' }),
    timeZone: timeZone(),
  }).format(ms);
}
export const utc = (at: string | undefined | null): string => parse(at)?.toISOString() ?? '';
export function zoneLabel(): string {
  const part = times('en-GB', { timeZone: timeZone(), timeZoneName: 'longOffset' })
    .formatToParts(new Date())
    .find((p) => p.type === 'timeZoneName');
  const offset = (part?.value ?? 'GMT').replace('GMT', '') || '+00:00';
  return `${timeZone()} (${offset})`;
}
export function relative(at: string | undefined | null, now = Date.now()): string {
  const d = parse(at);
  if (!d) return '';
  const s = (d.getTime() - now) / 1000;
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ['day', 86400],
    ['hour', 3600],
    ['minute', 60],
  ];
  const [unit, size] = steps.find(([, n]) => Math.abs(s) >= n) ?? ['second', 1];
  return relatives().format(Math.round(s / size), unit);
}
/** Below ten seconds with its tenths: most states of a job last no longer. */
export function duration(from: string | undefined, to: string | undefined): string {
  const a = parse(from),
    b = parse(to) ?? new Date();
  if (!a) return '';
  const ms = Math.max(0, b.getTime() - a.getTime());
  if (ms < 10_000) return seconds(ms / 1000);
  const s = Math.round(ms / 1000);
  const f = (v: number, unit: string): string => numbers({ style: 'unit', unit, unitDisplay: 'narrow' }).format(v);
  const both = (v: number, unit: string, rest: number, less: string): string =>
    rest === 0 ? f(v, unit) : `${f(v, unit)} ${f(rest, less)}`;
  return s < 60
    ? f(s, 'second')
    : s < 3600
      ? both(Math.floor(s / 60), 'minute', s % 60, 'second')
      : both(Math.floor(s / 3600), 'hour', Math.floor((s % 3600) / 60), 'minute');
}

/** An instant as the text of a field for date and time, in the zone that the page shows; and back. */
export function toLocalInput(at: string | undefined): string {
  const d = parse(at);
  if (!d) return '';
  const shift = getPrefs().zone === 'utc' ? 0 : d.getTimezoneOffset();
  return new Date(d.getTime() - shift * 60_000).toISOString().slice(0, 16);
}
export function fromLocalInput(text: string): string {
  const d = parse(text === '' ? undefined : getPrefs().zone === 'utc' ? `${text}Z` : text);
  return d ? d.toISOString() : '';
}
