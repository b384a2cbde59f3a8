// SPDX-License-Identifier: Apache-2.0
// series.ts - what a job measured as lines over a step or a time: smoothing, gaps, units.
/** A measure as the API gives it. */
export interface Columns {
  name?: string;
  steps: number[];
  at_ms: number[];
  values: (number | null)[];
}
/** One line of a chart. at: milliseconds. step: empty where time is all there is. */
export interface Line {
  key: string;
  label: string;
  /** Place in the palette: the same run has the same colour in every chart. */
  colour: number;
  step: number[];
  at: number[];
  y: (number | null)[];
}
export interface Measure {
  name: string;
  lines: Line[];
}
export type Axis = 'step' | 'relative' | 'time';

const COUNTERS = new Set(['epoch', 'step']);
/** label: of an execution, by its number. Where the steps begin again, another execution began: it is a line of its own. */
export function measures(columns: readonly Columns[], label: (execution: number) => string): Measure[] {
  const out: Measure[] = [];
  for (const c of columns) {
    const name = c.name ?? '';
    if (COUNTERS.has(name)) continue;
    const lines: Line[] = [];
    c.values.forEach((v, i) => {
      if (i === 0 || c.steps[i]! < c.steps[i - 1]!)
        lines.push({ key: String(lines.length + 1), label: name, colour: lines.length, step: [], at: [], y: [] });
      const line = lines.at(-1)!;
      line.step.push(c.steps[i]!);
      line.at.push(c.at_ms[i] ?? NaN);
      line.y.push(v !== null && Number.isFinite(v) ? v : null);
    });
    if (lines.length > 1) for (const l of lines) l.label = label(Number(l.key));
    if (lines.some((l) => l.y.some((v) => v !== null))) out.push({ name, lines });
  }
  return out.sort((a, b) => a.name.localeCompare(b.name));
}

/** Exponential moving average without the pull of its start towards zero; a gap stays a gap and does not count. weight: 0 (none) to < 1. */
export function ema(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values];
  let sum = 0,
    mass = 0;
  return values.map((v) => {
    if (v === null) return null;
    sum = sum * weight + v * (1 - weight);
    mass = mass * weight + (1 - weight);
    return sum / mass;
  });
}

/** More than this many usual distances without a point is a gap: no line is drawn over it. */
const GAP = 8;
export function withGaps(x: readonly number[], y: readonly (number | null)[]): [number[], (number | null)[]] {
  if (x.length < 8) return [[...x], [...y]];
  const apart = x.slice(1).map((v, i) => v - x[i]!);
  const usual = [...apart].filter((d) => d > 0).sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? 0;
  const far = usual > 0 ? usual * GAP : Infinity;
  if (!apart.some((d) => d > far)) return [[...x], [...y]];
  const xs: number[] = [x[0]!],
    ys: (number | null)[] = [y[0]!];
  for (let i = 1; i < x.length; i++) {
    if (x[i]! - x[i - 1]! > far) {
      xs.push((x[i]! + x[i - 1]!) / 2);
      ys.push(null);
    }
    xs.push(x[i]!);
    ys.push(y[i]!);
  }
  return [xs, ys];
}

/** Positions of a line on the axis, with its values in the axis' order; what has no time has no place on a time axis. */
export function placed(line: Line, axis: Axis, weight = 0): [number[], (number | null)[]] {
  const start = line.at.find((v) => Number.isFinite(v)) ?? 0;
  const x =
    axis === 'step'
      ? line.step
      : axis === 'time'
        ? line.at.map((v) => v / 1000)
        : line.at.map((v) => (v - start) / 1000);
  const order = x.map((_v, i) => i).filter((i) => Number.isFinite(x[i]));
  if (order.some((k, i) => i > 0 && x[k]! < x[order[i - 1]!]!)) order.sort((a, b) => x[a]! - x[b]!);
  return withGaps(
    order.map((i) => x[i]!),
    ema(
      order.map((i) => line.y[i]!),
      weight,
    ),
  );
}

const UNITS: [RegExp, string][] = [
  [/_percent$|_pct$|_util(ization)?$/, '%'],
  [/_bytes_per_s(econd)?$/, 'B/s'],
  [/_bytes$/, 'B'],
  [/(samples|rows|tokens)_per_s(econd)?$|_per_s(econd)?$/, '1/s'],
  [/_ms$|_milliseconds$/, 'ms'],
  [/_seconds$|_s$/, 's'],
  [/_celsius$|_temp(erature)?$/, '°C'],
  [/_watts$|_power$/, 'W'],
  [/_mhz$/, 'MHz'],
];
/** The unit by the name's ending, as the API's own names have it; '' where there is none. */
export const unitOf = (name: string): string => UNITS.find(([end]) => end.test(name))?.[1] ?? '';
