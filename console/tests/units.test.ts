// SPDX-License-Identifier: Apache-2.0
// units.test.ts - what can be judged without a browser: the catalogues, CSV, faults of the API at their fields, the address as
// state.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { placeFaults, pointerPath, Problem } from '../src/api/problem.ts';
import { csvCell, csvText } from '../src/lib/csv.ts';
import { readSearch, safeReturn, withFilter, writeSearch } from '../src/lib/search.ts';
import { ar, en } from './catalogues.ts';

const PLURAL = /_(zero|one|two|few|many|other)$/;
const flat = (of: Record<string, Record<string, string>>): Map<string, string> =>
  new Map(
    Object.entries(of).flatMap(([a, inner]) =>
      Object.entries(inner).map(([b, v]): [string, string] => [`${a}.${b}`, v]),
    ),
  );
const english = flat(en),
  arabic = flat(ar);
const stems = (of: Map<string, string>): string[] =>
  [...new Set([...of.keys()].map((k) => k.replace(PLURAL, '')))].sort();
const plurals = new Set([...english.keys()].filter((k) => PLURAL.test(k)).map((k) => k.replace(PLURAL, '')));
const variables = (s: string): string[] => (s.match(/{{\w+}}/g) ?? []).sort();

describe('the catalogues', () => {
  test('have the same keys', () => expect(stems(arabic)).toEqual(stems(english)));
  test.each([...plurals])('%s has every plural form of its language', (k) => {
    for (const form of new Intl.PluralRules('ar').resolvedOptions().pluralCategories)
      expect(arabic.has(`${k}_${form}`), form).toBe(true);
    for (const form of new Intl.PluralRules('en').resolvedOptions().pluralCategories)
      expect(english.has(`${k}_${form}`), form).toBe(true);
  });
  test('no English stands in the Arabic one', () => {
    const known =
      /\b(CSV|ONNX|OCI|NumPy|npy|JSON|YAML|SHA|API|falaj-verify cosignature|falaj audit head-proof|job:submit|job_submit|OCSF|CEF|RFC \d+|Syslog|HTTPS|PEM|SIGTERM|SIGKILL|Ed25519|falaj-verify|Redis)\b/g;
    for (const [k, v] of arabic)
      expect(v.replaceAll(/{{\w+}}|<\w+\/>|\/falaj(\/[a-z]+)+/g, '').replaceAll(known, ''), k).not.toMatch(
        /[A-Za-z]{2}/,
      );
  });
  test('each sentence has its variables in both', () => {
    for (const [k, v] of english) if (!PLURAL.test(k)) expect(variables(arabic.get(k) ?? ''), k).toEqual(variables(v));
  });
  test('every key that the code names is there', () => {
    const files = readdirSync(join(import.meta.dirname, '../src'), { recursive: true, encoding: 'utf8' }).filter(
      (f) => /\.tsx?$/.test(f) && !f.endsWith('schema.ts'),
    );
    const all = new Set([...english.keys(), ...stems(english)]);
    const named = files.flatMap((f) =>
      [
        ...readFileSync(join(import.meta.dirname, '../src', f), 'utf8').matchAll(/\bt\('([\w.]+)'|key: '([\w.]+)'/g),
      ].map((m) => m[1] ?? m[2]!),
    );
    expect(named.length).toBeGreaterThan(300);
    expect([...new Set(named)].filter((k) => !all.has(k))).toEqual([]);
  });
});

describe('the Arabic of an editor', () => {
  const MARKS = /[\u064B-\u0652]/g;
  const bare = (s: string): string => s.replaceAll(/{{\w+}}|<\w+\/>/g, '').replaceAll(MARKS, '');
  const holds = (word: string): RegExp =>
    new RegExp(`(?<!\\p{L})(?:و|ب|ل|ال|وال|بال|لل)?${bare(word)}(?:ين|ون|ات|ا)?(?!\\p{L})`, 'u');
  const glossary = readFileSync(join(import.meta.dirname, '../../docs/console-words.md'), 'utf8');
  // A word with a note in brackets is right in another sense.
  const refused = [...glossary.matchAll(/^\| [^|]+ \| [^|]+ \| ([^|]+) \|$/gm)]
    .slice(1)
    .flatMap((m) => m[1]!.split('،'))
    .map((w) => w.trim())
    .filter((w) => w !== '' && w !== 'صنف' && !w.includes('('));
  const faults = (wrong: (value: string, key: string) => boolean): string[] =>
    [...arabic].filter(([k, v]) => wrong(v, k)).map(([k, v]) => `${k}: ${v}`);
  test('has no word that the glossary refuses', () => {
    expect(refused.length).toBeGreaterThan(10);
    expect(faults((v) => refused.some((w) => holds(w).test(bare(v))))).toEqual([]);
  });
  test('names who did it after a colon, so that no verb makes the person a man', () =>
    expect(faults((v, k) => k.startsWith('says.') && v.includes('{{who}}') && !v.endsWith(': {{who}}'))).toEqual([]));
  test('heads a column and a sentence by a noun', () => {
    const verbs = /^(?:أنشأه|طلبه|غيره|طبعه|قرأه|رفعه هو|وافق عليه|أنشأ|غير|قرأ|طبع|نشر من قبل)(?: (?:\{\{|<)|$)/;
    expect(faults((v) => verbs.test(v.replaceAll(MARKS, '')))).toEqual([]);
  });
  test('writes the tanween before the alif', () => expect(faults((v) => /ا\u064B/.test(v))).toEqual([]));
  test('has the accusative and the dual in their construct forms', () =>
    expect(faults((v) => /(?:^| )(?:مفتاحًا بيانات|سطرًا خطأ)/.test(v))).toEqual([]));
});

describe('CSV', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['@x', "'@x"],
    ['-x', "'-x"],
    ['-12.5', '-12.5'],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['=a,b', '"\'=a,b"'],
    [undefined, ''],
    [{ a: 1 }, '"{""a"":1}"'],
    ['\tx', "'\tx"],
  ])('%j is written %j', (value, cell) => expect(csvCell(value)).toBe(cell));
  test('begins with the mark that makes Arabic readable', () =>
    expect(csvText(['a'], [{ a: 'ع' }])).toBe('\uFEFFa\r\nع\r\n'));
});

describe('a refusal of the API', () => {
  const problem = new Problem(400, {
    code: 'invalid_argument',
    title: 't',
    request_id: 'req_1',
    errors: [
      { pointer: '/spec/hidden/0', code: 'invalid_argument', detail: 'd' },
      { pointer: '/nowhere', detail: 'n' },
      {},
    ],
  });
  test('lands at the field that owns it, the rest is handed back', () => {
    const at: string[] = [];
    const loose = placeFaults(problem, ['name', 'spec', 'spec.hidden'], (name) => at.push(name));
    expect(at).toEqual(['spec.hidden']);
    expect(loose.map((f) => f.path)).toEqual(['nowhere']);
  });
  test.each([
    ['/a~1b/m~0n', 'a/b.m~n'],
    ['#/x%20y', 'x y'],
    ['page_size', 'page_size'],
    ['', ''],
  ])('pointer %j is field %j', (pointer, path) => expect(pointerPath(pointer)).toBe(path));
  test('of no known form is an internal fault, and silence is no connection', () => {
    expect(new Problem(502, '<html>').code).toBe('internal');
    expect(new Problem(0, undefined).code).toBe('offline');
  });
});

describe('the address', () => {
  test('is read and written without loss', () =>
    expect(writeSearch(readSearch('?state=RUNNING&page_token=a%2Bb'))).toBe('?page_token=a%2Bb&state=RUNNING'));
  test('takes no strange names and no endless values', () =>
    expect(readSearch(`?__proto__=1&UPPER=1&ok=1&long=${'x'.repeat(2049)}`)).toEqual({ ok: '1' }));
  test('begins the list anew when a filter changes', () =>
    expect(withFilter({ page_token: 't', after: '9', kind: 'train' }, 'state', 'FAILED')).toEqual({
      kind: 'train',
      state: 'FAILED',
    }));
  test('of a second list leaves the first one where it is', () =>
    expect(withFilter({ page_token: 't', b_page_token: 'u' }, 'b_page_size', '50', 'b_')).toEqual({
      page_token: 't',
      b_page_size: '50',
    }));
  test.each([
    ['//evil.example', '/'],
    ['https://evil.example', '/'],
    ['/\\evil', '/'],
    ['/jobs?state=FAILED', '/jobs?state=FAILED'],
    ['/login', '/'],
    [undefined, '/'],
  ])('a return to %j leads to %j', (to, where) => expect(safeReturn(to)).toBe(where));
});
