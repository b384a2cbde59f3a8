// SPDX-License-Identifier: Apache-2.0
// usage.test.ts - sums of the ledger as series per day, and the axis they stand on.
import { describe, expect, test } from 'vitest';
import { perDay, shareOf } from '../src/pages/quotas/usage-sums.ts';
import { niceCeil } from '../src/lib/axis.ts';

const used = (day: string, zone: string, hours: number) => ({
  day,
  zone,
  slot_ms: hours * 3.6e6,
  gpu_ms: 0,
  energy_mj: hours * 3.6e9,
  amount_minor: hours * 250,
});
const today = new Date('2026-11-22T09:00:00Z');

describe('usage per day', () => {
  test('every day of the span has its place, days without use are empty', () => {
    const { rows, series } = perDay([used('2026-11-21', 'a', 2)], (u) => u.zone, 'slot_hours', 3, today);
    expect(series).toEqual(['a']);
    expect(rows).toEqual([
      { day: '2026-11-20', amounts: [0] },
      { day: '2026-11-21', amounts: [2] },
      { day: '2026-11-22', amounts: [0] },
    ]);
  });
  test('the smaller of many series stand together, and nothing is lost', () => {
    const sums = Array.from({ length: 9 }, (_x, i) => used('2026-11-22', `z${i}`, i + 1));
    const { rows, series } = perDay(sums, (u) => u.zone, 'cost', 1, today);
    expect(series).toEqual(['z8', 'z7', 'z6', 'z5', 'z4', '…']);
    expect(rows[0]!.amounts.reduce((a, b) => a + b)).toBeCloseTo(45 * 2.5);
    expect(rows[0]!.amounts[5]).toBeCloseTo((1 + 2 + 3 + 4) * 2.5);
  });
  test('what is older than the span is left out', () =>
    expect(
      perDay([used('2026-10-01', 'a', 2)], (u) => u.zone, 'slot_hours', 2, today).rows.flatMap((r) => r.amounts),
    ).toEqual([0, 0]));
  test('units', () => {
    const u = used('2026-11-22', 'a', 3);
    expect([shareOf(u, 'slot_hours'), shareOf(u, 'energy'), shareOf(u, 'cost')]).toEqual([3, 3, 7.5]);
  });
});
test('an axis ends at the next round number', () =>
  expect([0, 0.013, 1, 1.2, 3, 7, 99, 100].map(niceCeil)).toEqual([1, 0.02, 1, 2, 5, 10, 100, 100]));
