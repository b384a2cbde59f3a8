// SPDX-License-Identifier: Apache-2.0
// clock.test.ts - the lines of the queue clock stand upon each other, and what is too many is one with the others.
import { describe, expect, test } from 'vitest';
import { heldAt, stack } from '../src/pages/clock/sums.ts';

const at = (s: number): string => new Date(s * 1000).toISOString();
const line = (who: string, ...points: [s: number, slots: number][]) => ({
  who,
  points: points.map(([s, slots]) => ({ at: at(s), slots, gpus: 0 })),
});

describe('the lines of a zone', () => {
  test('hold what their last point says', () => {
    const { points } = line('own', [0, 4], [60, 1]);
    expect([0, 59, 60, 600].map((s) => heldAt(points, s * 1000, 'slots'))).toEqual([4, 4, 1, 1]);
    expect(heldAt(points, 0, 'gpus')).toBe(0);
  });
  test('stand upon each other, step by step', () => {
    const zone = {
      zone: 'z',
      slots: 8,
      gpus: 0,
      lines: [line('own', [0, 4], [60, 1]), line('others', [0, 2], [30, 6])],
    };
    const { series, top } = stack(zone, 0, 100_000, 'slots', 6);
    expect(series[0]!.steps).toEqual([
      { at: 0, low: 0, high: 4 },
      { at: 30_000, low: 0, high: 4 },
      { at: 60_000, low: 0, high: 1 },
    ]);
    expect(series[1]!.steps.map((s) => [s.low, s.high])).toEqual([
      [4, 6],
      [4, 10],
      [1, 7],
    ]);
    expect(top).toBe(10);
  });
  test('beyond the colours there are, are the others', () => {
    const lines = Array.from({ length: 9 }, (_x, i) => line('tenant', [0, i + 1]));
    const { series } = stack({ zone: 'z', slots: 1, gpus: 0, lines }, 0, 1000, 'slots', 6);
    expect(series).toHaveLength(6);
    expect(series[5]!.who).toBe('others');
    expect(series[5]!.steps[0]).toEqual({ at: 0, low: 15, high: 45 });
  });
});
