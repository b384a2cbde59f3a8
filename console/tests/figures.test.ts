// SPDX-License-Identifier: Apache-2.0
// figures.test.ts - a count within words has the digits that the reader chose, and so has every other number.
import i18next from 'i18next';
import { beforeAll, expect, test, vi } from 'vitest';

let prefs: typeof import('../src/lib/prefs.ts');
const words = i18next.createInstance();

beforeAll(async () => {
  vi.stubGlobal('navigator', { language: 'en' });
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('window', { matchMedia: () => ({ matches: false, addEventListener: () => undefined }) });
  const html = { dir: '', lang: '', classList: { toggle: () => undefined }, dataset: {}, style: {} };
  vi.stubGlobal('document', { documentElement: html });
  prefs = await import('../src/lib/prefs.ts');
  const { figures } = await import('../src/lib/figures.ts');
  const translation = { row_few: '{{count}} صفوف', row_other: '{{count}} rows', min: 'at least {{min}}, not {{got}}' };
  await words.use(figures).init({
    lng: 'ar',
    resources: { ar: { translation }, en: { translation } },
    interpolation: { escapeValue: false, alwaysFormat: true },
  });
});

test('digits are those that were chosen', () => {
  prefs.setPrefs({ lang: 'ar', digits: 'arab' });
  expect(words.t('row', { count: 3 })).toBe('٣ صفوف');
  prefs.setPrefs({ digits: 'latn' });
  expect(words.t('row', { count: 3 })).toBe('3 صفوف');
});

test('thousands are apart, fractions stay, and words are words', () => {
  prefs.setPrefs({ lang: 'en' });
  expect(words.t('row', { count: 12_345, lng: 'en' })).toBe('12,345 rows');
  expect(words.t('min', { min: 0.0001, got: '07', lng: 'en' })).toBe('at least 0.0001, not 07');
});
