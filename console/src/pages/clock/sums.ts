// SPDX-License-Identifier: Apache-2.0
// sums.ts - the lines of a zone as areas upon each other, for one picture.
import type { Schemas } from '../../api/client.ts';

export type Measure = 'slots' | 'gpus';
export interface Step {
  at: number;
  low: number;
  high: number;
}
export interface Series {
  who: string;
  name: string | undefined;
  steps: Step[];
}

/** What a line holds at a moment: its last point not after it. */
export function heldAt(points: Schemas['clock_point'][], at: number, measure: Measure): number {
  let held = 0;
  for (const p of points) {
    if (Date.parse(p.at!) > at) break;
    held = p[measure];
  }
  return held;
}

/* * At most `most` areas; lines beyond them are one with the others. top: the height of the picture, of all that there is at
 * least. */
export function stack(
  zone: Schemas['clock_zone'],
  from: number,
  until: number,
  measure: Measure,
  most: number,
): { series: Series[]; top: number } {
  const lines = zone.lines;
  const named = lines.length > most ? lines.slice(0, most - 1) : lines;
  const rest = lines.slice(named.length);
  const groups = [
    ...named.map((l) => ({ who: l.who ?? 'others', name: l.name, points: [l.points] })),
    ...(rest.length > 0 ? [{ who: 'others', name: undefined, points: rest.map((l) => l.points) }] : []),
  ];
  const moments = [...new Set(lines.flatMap((l) => l.points.map((p) => Math.max(from, Date.parse(p.at!)))))]
    .filter((at) => at < until)
    .sort((a, b) => a - b);
  const series: Series[] = groups.map((g) => ({ who: g.who, name: g.name, steps: [] }));
  let top = Math.max(1, zone[measure]);
  for (const at of moments.length > 0 ? moments : [from]) {
    let sum = 0;
    groups.forEach((g, i) => {
      const low = sum;
      sum += g.points.reduce((n, points) => n + heldAt(points, at, measure), 0);
      series[i]!.steps.push({ at, low, high: sum });
    });
    top = Math.max(top, sum);
  }
  return { series, top };
}
