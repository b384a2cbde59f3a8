// SPDX-License-Identifier: Apache-2.0
// enums.test.ts - a list of names that the API knows stands in src/api/gen/enums.ts and nowhere else in the console.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as enums from '../src/api/gen/enums.ts';

const src = join(import.meta.dirname, '../src');
const keyOf = (names: readonly string[]): string => [...new Set(names)].sort().join();
const known = new Map(Object.entries(enums).map(([name, names]) => [keyOf(names), name]));
/** What else is called so by chance. */
const OTHER = new Set(['pages/fleet/Grid.tsx: RULE_TENANT_IN_RESOURCE']); // what a machine has

const copies = (text: string): string[] =>
  [...text.matchAll(/\[((?:\s*'[\w-]+'\s*,?){2,})\s*\]/g)]
    .map((m) => known.get(keyOf([...m[1]!.matchAll(/'([\w-]+)'/g)].map((x) => x[1]!))))
    .filter((name) => name !== undefined);

test('a copy is seen, in any order', () =>
  expect(copies(`const x = ['COMPLETED', 'a'], s = [\n  'DRAINING',\n  'READY', 'LOST', 'QUARANTINED',\n];`)).toEqual([
    known.get(keyOf(enums.NODE_LIST_STATE)),
  ]));
test('no list is copied by hand', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (f) => /\.tsx?$/.test(f) && !f.startsWith('api/gen/'),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(
    files
      .flatMap((f) => copies(readFileSync(join(src, f), 'utf8')).map((name) => `${f}: ${name}`))
      .filter((x) => !OTHER.has(x)),
  ).toEqual([]);
});
