// SPDX-License-Identifier: Apache-2.0
// jobs.test.ts - how the console reads what jobs write and measure: colours, levels, smoothing, gaps, differences.
import { describe, expect, test } from 'vitest';
import { marked, pieces, plain } from '../src/lib/ansi.ts';
import { diff } from '../src/lib/beside.ts';
import { firstError, levelOf } from '../src/lib/loglevel.ts';
import { ema, measures, placed, unitOf, withGaps, type Line } from '../src/lib/series.ts';

describe('colours of a terminal', () => {
  test('become pieces with class names', () =>
    expect(pieces('a\x1b[31mred\x1b[1;92mboth\x1b[0mno')).toEqual([
      { text: 'a', look: '' },
      { text: 'red', look: 'ansi-1' },
      { text: 'both', look: 'bold ansi-10' },
      { text: 'no', look: '' },
    ]));
  test('are read where an agent wrote ? for the escape', () =>
    expect(pieces('?[33mwarn?[m')).toEqual([{ text: 'warn', look: 'ansi-3' }]));
  test('of 256 and true colours are passed over with all their numbers', () =>
    expect(pieces('\x1b[38;5;196mx\x1b[48;2;1;31;4my')).toEqual([
      { text: 'x', look: '' },
      { text: 'y', look: '' },
    ]));
  test('and other sequences leave no trace, markup stays text', () => {
    expect(plain('\x1b[2K\x1b[1Gdone\x1b]0;title\x07')).toBe('done');
    expect(pieces('<b>[1]</b>')).toEqual([{ text: '<b>[1]</b>', look: '' }]);
  });
  test('are cut where a search hits, also over a border', () =>
    expect(marked(pieces('ab\x1b[31mcd'), /bc/gi)).toEqual([
      { text: 'a', look: '' },
      { text: 'b', look: 'hit' },
      { text: 'c', look: 'ansi-1 hit' },
      { text: 'd', look: 'ansi-1' },
    ]));
});

describe('a line of a log', () => {
  test.each([
    ['ValueError: shapes do not match', 'error'],
    ['Traceback (most recent call last):', 'error'],
    ['2026-01-01 12:00:00 ERROR no route', 'error'],
    ['level=error msg="x"', 'error'],
    ['{"level":"warning","msg":"error budget"}', 'warn'],
    ['E1122 12:00:00.1 1 a.cc:1] x', 'error'],
    ['?[31mfatal?[0m: out of disk', 'error'],
    ['CUDA out of memory. Tried to allocate 2 GiB', 'error'],
    ['UserWarning: lr_scheduler', 'warn'],
    ['[WARN] slow', 'warn'],
    ['epoch 3: loss 0.2, error 0.12, 0 errors', ''],
    ['error_rate=0.02 val_error: 1e-3', ''],
    ['INFO retry after failure is set to 3', ''],
    ['info: epoch 4: loss 0.3452, hold-out accuracy 0.9415', ''],
    ['error: the job failed: 1 row(s) are too few', 'error'],
    ['error: out of time: the job may run 60 s', 'error'],
    [undefined, ''],
  ])('%j says %j', (line, level) => expect(levelOf(line)).toBe(level));
  test('to begin at is the first error of the newest execution', () => {
    const say = (log_id: number, fence: number, text: string) => ({ log_id, fence, text });
    const lines = [say(1, 1, 'fatal: a'), say(2, 2, 'ok'), say(3, 2, 'fatal: b'), say(4, 2, 'fatal: c')];
    expect(firstError(lines)?.log_id).toBe(3);
    expect(firstError(lines.slice(0, 2))?.log_id).toBe(1);
    expect(firstError([say(1, 1, 'fine')])).toBeUndefined();
  });
});

describe('a series', () => {
  test('is smoothed without a pull to zero at its start', () => {
    expect(ema([4, 4, 4], 0.9).map((v) => Number(v!.toFixed(9)))).toEqual([4, 4, 4]);
    const [a, b] = ema([0, 1], 0.5) as [number, number];
    expect(a).toBe(0);
    expect(b).toBeCloseTo(2 / 3, 9);
  });
  test('keeps its gaps when smoothed, and is left alone by no weight', () => {
    expect(ema([1, null, 1], 0.5)).toEqual([1, null, 1]);
    expect(ema([1, 5, 2], 0)).toEqual([1, 5, 2]);
  });
  test('has a gap where points are missing', () => {
    const x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 101];
    const [xs, ys] = withGaps(
      x,
      x.map(() => 1),
    );
    expect(xs).toHaveLength(12);
    expect(ys[9]).toBeNull();
    expect(xs[9]).toBe(54);
  });
  test('goes forward on its axis, whatever order it came in', () => {
    const line: Line = { key: 'a', label: 'a', colour: 0, step: [2, 1], at: [5000, 3000], y: [20, 10] };
    expect(placed(line, 'step')).toEqual([
      [1, 2],
      [10, 20],
    ]);
    expect(placed(line, 'time')[0]).toEqual([3, 5]);
  });
  test('is one line for each execution, without counters and what is no number', () => {
    const series = [
      { name: 'loss', steps: [1, 2, 1, 2], at_ms: [0, 1, 2, 3], values: [1, 2, 3, null] },
      { name: 'epoch', steps: [1], at_ms: [0], values: [1] },
      { name: 'never', steps: [1], at_ms: [0], values: [null] },
    ];
    const all = measures(series, (n) => `run ${n}`);
    expect(all.map((m) => m.name)).toEqual(['loss']);
    expect(all[0]!.lines.map((l) => [l.label, l.y])).toEqual([
      ['run 1', [1, 2]],
      ['run 2', [3, null]],
    ]);
  });
  test.each([
    ['system.memory_bytes', 'B'],
    ['samples_per_s', '1/s'],
    ['system.cpu_percent', '%'],
    ['loss', ''],
  ])('%s is in %j', (name, unit) => expect(unitOf(name)).toBe(unit));
});

describe('values side by side', () => {
  test('differ row by row; lists are one value', () =>
    expect(
      diff([
        { a: 1, h: [16], o: { lr: 0.1 } },
        { a: 1, h: [16, 8], o: {} },
      ]),
    ).toEqual([
      { path: 'a', values: ['1', '1'], same: true },
      { path: 'h', values: ['[16]', '[16,8]'], same: false },
      { path: 'o', values: [undefined, '{}'], same: false },
      { path: 'o.lr', values: ['0.1', undefined], same: false },
    ]));
});
