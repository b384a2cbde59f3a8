// SPDX-License-Identifier: Apache-2.0
// pressed.test.ts - what the browser tests press by its words, written /^(English|Arabic)$/, is called so in both catalogues: a label that got
// another name is found here at once, not after minutes in a browser.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ar, en } from './catalogues.ts';

const folder = join(import.meta.dirname, 'browser');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.mjs'));
const said = (catalogue: typeof en): Set<string> =>
  new Set(Object.values(catalogue).flatMap((area) => Object.values(area)));
const [english, arabic] = [said(en), said(ar)];

test('labels that are pressed are in the catalogues', () => {
  const missing: string[] = [];
  let seen = 0;
  for (const file of files)
    for (const [all, a, b] of readFileSync(join(folder, file), 'utf8').matchAll(
      /\/\^\(([^/()|\\.]+)\|([^/()|\\.]+)\)\$\//g,
    )) {
      if (!/[\u0600-\u06ff]/.test(b!)) continue;
      seen++;
      if (!english.has(a!) || !arabic.has(b!)) missing.push(`${file}: ${all}`);
    }
  expect(missing).toEqual([]);
  expect(seen).toBeGreaterThan(10);
});
