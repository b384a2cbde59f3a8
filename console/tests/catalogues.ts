// SPDX-License-Identifier: Apache-2.0
// catalogues.ts - all words of both languages, for tests: an area is a file, named as the first word of its keys.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const LOCALES = join(import.meta.dirname, '../src/locales');
const read = (lang: string): Record<string, Record<string, string>> =>
  Object.fromEntries(
    readdirSync(join(LOCALES, lang), { encoding: 'utf8' }).map((f) => [
      f.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(LOCALES, lang, f), 'utf8')) as Record<string, string>,
    ]),
  );
export const en = read('en');
export const ar = read('ar');
