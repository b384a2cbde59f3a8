// SPDX-License-Identifier: Apache-2.0
// kept.test.ts - each column that a person is shown (audit/pii.def) has its words in both languages, in English the table's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ar, en } from '../catalogues.ts';

const table = readFileSync(join(import.meta.dirname, '../../../audit/pii.def'), 'utf8');
const rows = [...table.matchAll(/^PII\((\w+), (\w+), .*SHOWN, "(.*)"\)$/gm)].map((m): [string, string] => [
  `${m[1]!}_${m[2]!}`,
  m[3]!,
]);
const columns = (words: object): string[] =>
  Object.keys(words)
    .filter((k) => k.includes('_'))
    .sort();

test('what is kept of a person has its words', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(en['kept']!).filter(([k]) => k.includes('_'))),
  );
  expect(columns(ar['kept']!)).toEqual(rows.map(([k]) => k).sort());
});
