// SPDX-License-Identifier: Apache-2.0
// causes.test.ts - failures with one cause are one thing to deal with; a job without a node anywhere is told from one that waits.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES, causeOf } from '../src/lib/jobcause.ts';
import { byCause, neverStarts } from '../src/lib/jobs.ts';
import { ar, en } from './catalogues.ts';

const failed = (message: string, state = 'FAILED') => ({ state, reason: '', message });

it('puts jobs together that ended for the same cause, whatever its numbers', () => {
  const jobs = [failed('step 88: out of memory'), failed('3 row(s) are too few'), failed('step 9: out of memory')];
  expect(byCause(jobs)).toEqual([
    { first: jobs[0], count: 2 },
    { first: jobs[1], count: 1 },
  ]);
  expect(byCause([failed('x'), failed('x', 'TIMEOUT')])).toHaveLength(2);
  expect(byCause([])).toEqual([]);
});
it('knows a job that no node could take from one that waits for room', () => {
  const zone = (allowed: boolean, ready_nodes: number) => ({ allowed, ready_nodes });
  expect(neverStarts([zone(true, 0), zone(false, 4)])).toBe(true);
  expect(neverStarts([zone(true, 0), zone(true, 1)])).toBe(false);
  expect(neverStarts([zone(false, 4)])).toBe(false);
  expect(neverStarts([])).toBe(false);
});

it('names what the platform says of an end, with its numbers, and leaves the words of programs alone', () => {
  expect(causeOf('3 row(s) are too few to keep some for validation')).toEqual({ name: 'fewRows', values: { v1: '3' } });
  expect(
    causeOf('12 tokens make 1 sequence(s) of 9; two are needed, one to train on and one held out')?.values,
  ).toEqual({
    v1: '12',
    v2: '1',
    v3: '9',
  });
  expect(causeOf('The program failed')?.name).toBe('failed');
  expect(causeOf('The program failed: exit code 1')).toBeNull();
  expect(causeOf('3 rows')).toBeNull();
});
it('has each sentence as the platform has it, and in both languages', () => {
  const root = join(import.meta.dirname, '../..');
  const sources = ['scheduler', 'workers'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.c'))
      .map((f) => readFileSync(join(root, room, f), 'utf8')),
  );
  const all = sources.join('').replaceAll(/"\s*\n\s*"/g, '');
  expect(Object.values(CAUSES).filter((said) => !all.includes(`"${said}"`))).toEqual([]);
  expect(Object.keys(CAUSES).sort()).toEqual(Object.keys(en['cause']!).sort());
  for (const [name, said] of Object.entries(CAUSES))
    for (const words of [en, ar])
      for (const [variable] of words['cause']![name]!.matchAll(/{{\w+}}/g))
        expect(causeOf(said.replaceAll(/%(?:[zl]{0,2}[dug]|s)/g, '7'))?.values, name).toHaveProperty(
          variable.slice(2, -2),
        );
});
