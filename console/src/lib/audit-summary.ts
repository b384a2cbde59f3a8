// SPDX-License-Identifier: Apache-2.0
// audit-summary.ts - counts over a search's CSV as it streams in: rows are read one after the other and only the counts are kept.
export interface Counts {
  events: number;
  first: string;
  last: string;
  actions: Map<string, number>;
  outcomes: Map<string, number>;
  actors: Map<string, number>;
}

/** Rows of RFC 4180 from pieces of text; quoted cells may hold commas, quotes and line ends. */
export class CsvRows {
  private cell = '';
  private row: string[] = [];
  private state: 'plain' | 'quoted' | 'quote' = 'plain';
  private readonly take: (row: string[]) => void;
  constructor(take: (row: string[]) => void) {
    this.take = take;
  }
  push(text: string): void {
    for (const c of text) {
      if (this.state === 'quoted') {
        if (c === '"') this.state = 'quote';
        else this.cell += c;
      } else if (c === '"') {
        if (this.state === 'quote') this.cell += c;
        this.state = 'quoted';
      } else {
        this.state = 'plain';
        if (c === ',' || c === '\n') {
          this.row.push(this.cell);
          this.cell = '';
          if (c === '\n') this.end();
        } else if (c !== '\r' && c !== '\uFEFF') this.cell += c;
      }
    }
  }
  private end(): void {
    const row = this.row;
    this.row = [];
    this.take(row);
  }
}

export function counter(): { counts: Counts; rows: CsvRows } {
  const counts: Counts = { events: 0, first: '', last: '', actions: new Map(), outcomes: new Map(), actors: new Map() };
  const add = (m: Map<string, number>, k: string): void => void m.set(k, (m.get(k) ?? 0) + 1);
  let names: string[] | null = null;
  const rows = new CsvRows((row) => {
    if (names === null) {
      names = row;
      return;
    }
    const of = (n: string): string => row[names!.indexOf(n)] ?? '';
    counts.events++;
    counts.first ||= of('at');
    counts.last = of('at') || counts.last;
    add(counts.actions, of('action'));
    add(counts.outcomes, of('outcome'));
    add(counts.actors, of('actor_name') || of('actor_id') || of('actor_kind'));
  });
  return { counts, rows };
}
export const ordered = (m: Map<string, number>): [string, number][] =>
  [...m].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
