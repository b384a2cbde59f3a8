// SPDX-License-Identifier: Apache-2.0
// words.test.ts - every act that a log can hold has its sentence in both languages; a search's CSV is counted as it streams.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACTIONS, didKey, sentenceKey } from '../../src/lib/audit-actions.ts';
import { counter, CsvRows, ordered } from '../../src/lib/audit-summary.ts';
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
test.each([1, 2, 7, 1000])('CSV in pieces of %d is read as it was written', (size) => {
  const text = '\uFEFFat,action,actor_name\r\n1,"a ""b"", c",\u0639\r\n2,"x\r\ny",\r\n';
  const seen: string[][] = [];
  const rows = new CsvRows((r) => seen.push(r));
  for (let i = 0; i < text.length; i += size) rows.push(text.slice(i, i + size));
  expect(seen).toEqual([
    ['at', 'action', 'actor_name'],
    ['1', 'a "b", c', '\u0639'],
    ['2', 'x\r\ny', ''],
  ]);
});
test('events are counted by act, outcome and actor, most first', () => {
  const { counts, rows } = counter();
  rows.push('tseq,at,action,outcome,actor_kind,actor_id,actor_name\n');
  rows.push(
    '1,a,job.submit,success,user,usr_1,Omar\n2,b,job.submit,denied,user,usr_2,\n3,c,auth.login,success,system,,\n',
  );
  expect([counts.events, counts.first, counts.last]).toEqual([3, 'a', 'c']);
  expect(ordered(counts.actions)).toEqual([
    ['job.submit', 2],
    ['auth.login', 1],
  ]);
  expect([...counts.actors.keys()]).toEqual(['Omar', 'usr_2', 'system']);
});
