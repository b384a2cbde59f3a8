// SPDX-License-Identifier: Apache-2.0
// words.test.ts - every act that a log can hold has its sentence in both languages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACTIONS, didKey, sentenceKey } from '../../src/lib/audit-actions.ts';
import { ar, en } from '../catalogues.ts';

test('the acts are those of audit/event_code.def', () => {
  const def = readFileSync(join(import.meta.dirname, '../../../audit/event_code.def'), 'utf8');
  const there = [...def.matchAll(/^EVENT\(\w+, "FLJ-[A-Z]{3}-\d{3}", "([a-z_.]+)"/gm)].map((m) => m[1]!);
  expect(there.length).toBeGreaterThan(80);
  expect([...ACTIONS].sort()).toEqual([...new Set(there)].sort());
});
test.each(ACTIONS)('%s has a sentence in both languages', (a) => {
  const key = sentenceKey(a).slice('says.'.length);
  expect(en['says']?.[key]).toBeTruthy();
  expect(ar['says']?.[key]).toBeTruthy();
});
test.each(['en', 'ar'])('every act, and every beginning that acts share, has a name of its own in %s', (lang) => {
  const did = (lang === 'ar' ? ar : en)['did']!;
  const keys = [...ACTIONS, ...ACTIONS.map((a) => `${a.split('.')[0]}.`)].map((a) => didKey(a).slice('did.'.length));
  expect(keys.filter((k) => !did[k])).toEqual([]);
  expect(new Set(Object.values(did)).size).toBe(Object.keys(did).length);
});
