// SPDX-License-Identifier: Apache-2.0
// usage-sums.ts - sums of the ledger as series per day: every day of the span has its place, a day without use is a gap.
import type { BarRow } from '../../ui/bars.tsx';

export const MEASURES = ['slot_hours', 'gpu_hours', 'energy', 'cost'] as const;
export type Measure = (typeof MEASURES)[number];
export interface Used {
  day?: string;
  slot_ms: number;
  gpu_ms: number;
  energy_mj: number;
  amount_minor: number;
}
const MOST_SERIES = 6;

/** Hours, kWh (3.6e9 mJ), or units of the currency. */
export function shareOf(u: Used, m: Measure): number {
  const of = {
    slot_hours: u.slot_ms / 3.6e6,
    gpu_hours: u.gpu_ms / 3.6e6,
    energy: u.energy_mj / 3.6e9,
    cost: u.amount_minor / 100,
  };
  return of[m];
}

/** The largest five series and the rest together as "…", days counted back from today (UTC). */
export function perDay<T extends Used>(
  sums: readonly T[],
  nameOf: (u: T) => string,
  measure: Measure,
  days: number,
  today: Date,
): { series: string[]; rows: BarRow[] } {
  const totals = new Map<string, number>();
  for (const u of sums) totals.set(nameOf(u), (totals.get(nameOf(u)) ?? 0) + shareOf(u, measure));
  const sorted = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const series = sorted.length > MOST_SERIES ? [...sorted.slice(0, MOST_SERIES - 1), '…'] : sorted;
  const place = new Map(sorted.map((name, i) => [name, Math.min(i, series.length - 1)]));
  const rows = Array.from({ length: days }, (_x, i): BarRow => {
    const day = new Date(today.getTime() - (days - 1 - i) * 86_400_000).toISOString().slice(0, 10);
    return { day, amounts: Array<number>(series.length).fill(0) };
  });
  const at = new Map(rows.map((r) => [r.day, r]));
  for (const u of sums) {
    const row = at.get((u.day ?? '').slice(0, 10));
    if (row) row.amounts[place.get(nameOf(u))!]! += shareOf(u, measure);
  }
  return { series, rows };
}
