// SPDX-License-Identifier: Apache-2.0
// causes.test.ts - failures with one cause are one thing to deal with; a job without a node anywhere is told from one that waits.
import { expect, it } from 'vitest';
import { byCause, neverStarts } from '../src/lib/jobs.ts';

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
