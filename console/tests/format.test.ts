// SPDX-License-Identifier: Apache-2.0
// format.test.ts - times and sizes as a reader of each language writes them.
import { beforeAll, describe, expect, test, vi } from 'vitest';

type Format = typeof import('../src/lib/format.ts');
type Prefs = typeof import('../src/lib/prefs.ts');
let format: Format, prefs: Prefs;
const AT = '2026-11-22T19:02:41Z';

beforeAll(async () => {
  vi.stubGlobal('navigator', { language: 'en' });
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal('addEventListener', () => undefined);
  const query = { matches: false, addEventListener: () => undefined };
  vi.stubGlobal('window', { matchMedia: () => query });
  const html = { dir: '', lang: '', classList: { toggle: () => undefined }, dataset: {}, style: {} };
  vi.stubGlobal('document', { documentElement: html });
  prefs = await import('../src/lib/prefs.ts');
  format = await import('../src/lib/format.ts');
  prefs.setPrefs({ zone: 'utc' });
});

describe.each([
  ['ar', '22 نوفمبر 2026، 19:02:41', '22 نوفمبر 2026', '19:02:41', '0 بايت'],
  ['en', '22 Nov 2026, 19:02:41', '22 Nov 2026', '19:02:41', '0 bytes'],
] as const)('in %s', (lang, both, day, time, nothing) => {
  test('a time has its day, the month by name and 24 hours', () => {
    prefs.setPrefs({ lang });
    expect(format.dateTime(AT)).toBe(both);
    expect(format.day(AT)).toBe(day);
    expect(format.timeOfDay(AT)).toBe(time);
    expect(format.dateTime(undefined)).toBe('');
    expect(format.dateTime('never')).toBe('');
  });
  test('the axis of a chart has 24 hours too', () => {
    prefs.setPrefs({ lang });
    expect(format.shortTime(Date.parse(AT))).toBe(time);
    expect(format.shortTime(Date.parse(AT), true)).toContain('19:02');
  });
  test('no bytes are written as such', () => {
    prefs.setPrefs({ lang });
    expect(format.bytes(0)).toBe(nothing);
  });
});
