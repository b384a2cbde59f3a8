// SPDX-License-Identifier: Apache-2.0
// The printed evidence report (registry/evidence) says what the page says: its words are those of the catalogues.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (lang: string, area: string): Record<string, string> =>
  JSON.parse(readFileSync(join(root, `console/src/locales/${lang}/${area}.json`), 'utf8')) as Record<string, string>;
/** How a word's key begins, and where the console has it. */
const PLACES: [begins: string, area: string, key: string][] = [
  ['class_', 'class', ''],
  ['role_', 'role', ''],
  ['value_', 'value', ''],
  ['place_', 'place', ''],
  ['kind_', 'kind', ''],
  ['by_', 'audit', 'by_'],
  ['act_', 'residency', 'act_'],
  ['basis_', 'residency', 'basis_'],
  ['approval_', 'approvals', 'kind_'],
  ['provider_', 'keyring', 'provider_'],
];

test.each([
  ['en', 2],
  ['ar', 3],
])('in %s', (lang, column) => {
  const source = readFileSync(join(root, 'registry/evidence/evidence_word.def'), 'utf8');
  const words = [...source.matchAll(/WORD\("([^"]+)",\s+"([^"]+)",\s+"([^"]+)"\)/g)];
  expect(words.length).toBeGreaterThan(150);
  const differ = words.filter((w) => {
    const [begins, area, key] = PLACES.find(([p]) => w[1]!.startsWith(p)) ?? ['', 'evidence', ''];
    return read(lang, area)[key + w[1]!.slice(begins.length)] !== w[column];
  });
  expect(differ.map((w) => w[1])).toEqual([]);
});

test('every column has a name', () => {
  const sheet = readFileSync(join(root, 'registry/evidence/evidence_html.c'), 'utf8');
  const layouts = sheet.slice(sheet.indexOf('layouts[] = {'), sheet.indexOf('coded[] = {'));
  const columns = [...layouts.matchAll(/"([a-z_ ]+)"/g)].flatMap((m) => m[1]!.split(' ')).filter((c) => c !== '');
  const en = read('en', 'evidence');
  expect(columns.length).toBeGreaterThan(60);
  expect(columns.filter((c) => !(`f_${c}` in en) && !(c in en))).toEqual([]);
});
