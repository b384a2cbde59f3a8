// SPDX-License-Identifier: Apache-2.0
// energy.test.ts - what a job took of electricity: sums of what was measured, and nothing where a part was not.
import { expect, test } from 'vitest';
import { energyOf, itemsOf } from '../src/pages/job/energy-sums.ts';

const attempt = (cpu_mj?: number, gpu_mj?: number, finished = true) => ({
  attempt_id: 'att_1',
  started_at: '2026-11-22T09:00:00Z',
  ...(finished ? { finished_at: '2026-11-22T09:00:10Z' } : {}),
  ...(cpu_mj === undefined ? {} : { cpu_mj }),
  ...(gpu_mj === undefined ? {} : { gpu_mj }),
});

test('attempts add up, and power is over their time', () => {
  expect(energyOf([attempt(500_000), attempt(1_500_000)], 0)).toEqual({ joules: 2000, watts: 100 });
  expect(energyOf([attempt(500_000, 9_500_000)], 1)).toEqual({ joules: 10_000, watts: 1000 });
  expect(energyOf([attempt(0)], 0)).toEqual({ joules: 0, watts: 0 });
});

test('a part that was not measured makes no sum', () => {
  expect(energyOf([], 0)).toBeNull();
  expect(energyOf([attempt()], 0)).toBeNull();
  expect(energyOf([attempt(500_000), attempt()], 0)).toBeNull();
  expect(energyOf([attempt(500_000)], 1)).toBeNull();
  expect(energyOf([attempt(undefined, 500_000)], 1)).toBeNull();
});

test('what is still under way, or never began, is left out', () => {
  expect(energyOf([attempt(500_000), attempt(undefined, undefined, false)], 0)).toEqual({ joules: 500, watts: 50 });
});
test.each([
  [{ items: 1500 }, 1500],
  [{ items: '1500' }, 0],
  [{ items: -1 }, 0],
  [{}, 0],
  [null, 0],
])('a result %j learnt from %d', (result, n) => expect(itemsOf(result)).toBe(n));
