// SPDX-License-Identifier: Apache-2.0
// words.test.ts - what a page draws finds its words in the packs that are read with it: the areas that its code names, through all that it
// imports, are those of its packs and of the core, and no pack is read for nothing.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { en, LOCALES } from './catalogues.ts';

const src = join(import.meta.dirname, '../src');
const packs = JSON.parse(readFileSync(join(LOCALES, 'packs.json'), 'utf8')) as Record<string, string[]>;
const packOf = new Map(Object.entries(packs).flatMap(([p, areas]) => areas.map((a): [string, string] => [a, p])));

interface File {
  imports: string[];
  areas: string[];
  roots: { words: string[]; to: string }[];
}
const words = (list: string): string[] => [...list.matchAll(/'(\w+)'/g)].map((m) => m[1]!);
const files = new Map<string, File>();
function read(at: string): File {
  const known = files.get(at);
  if (known) return known;
  const text = readFileSync(at, 'utf8').replaceAll(/^import type [^;]*;/gm, '');
  const path = (to: string): string => normalize(join(dirname(at), to));
  const roots = [
    ...text.matchAll(/(?:withWords\(|page\(\s*'[^']*',\s*)(\[[^\]]*\]),\s*\(\) => import\('(\.[^']+)'\)/g),
  ].map((m) => ({ words: words(m[1]!), to: path(m[2]!) }));
  const file = {
    roots,
    imports: [...text.matchAll(/(?:from |import |import\()'(\.[^']+\.tsx?)'/g)]
      .map((m) => path(m[1]!))
      .filter((p) => existsSync(p) && !roots.some((r) => r.to === p) && !p.endsWith('schema.ts')),
    areas: [...text.matchAll(/['"`]([a-z]+)\.(?=[\w$])/g)].map((m) => m[1]!).filter((a) => a in en),
  };
  files.set(at, file);
  return file;
}
/** All that a file draws and imports, lazily too, but for what is read with words of its own. */
function closure(start: string): Map<string, File> {
  const seen = new Map<string, File>();
  const queue = [start];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    if (seen.has(at)) continue;
    const file = read(at);
    seen.set(at, file);
    queue.push(...file.imports);
  }
  return seen;
}
const needs = (start: string): string[] =>
  [...new Set([...closure(start).values()].flatMap((f) => f.areas.map((a) => packOf.get(a)!)))]
    .filter((p) => p !== 'core')
    .sort();

const entry = closure(join(src, 'main.tsx'));
const roots = [...entry.values()].flatMap((f) => f.roots);
const inside = (to: string): { words: string[]; to: string }[] =>
  [...closure(to).values()].flatMap((f) => f.roots.filter((r) => !roots.some((x) => x.to === r.to)));
const all = [...roots, ...roots.flatMap((r) => inside(r.to))];

test('what is drawn around every page has its words in the core', () =>
  expect(
    [...entry].flatMap(([at, f]) =>
      f.areas.filter((a) => packOf.get(a) !== 'core').map((a) => `${at.slice(src.length + 1)}: ${a}`),
    ),
  ).toEqual([]));
test('pages are found', () => expect(all.length).toBeGreaterThan(40));
test.each(all.map((r) => [r.to.slice(src.length + 1), r] as const))('%s has its words', (_name, r) =>
  expect([...r.words].sort()).toEqual(needs(r.to)),
);
