// SPDX-License-Identifier: Apache-2.0
// runs.ts - training runs as rows of parameters and results: which columns there are, what differs, which is best. Pure.
import { flatten } from './beside.ts';

export interface Run {
  id: string;
  name: string;
  state: string;
  dataset: string;
  submitted: string;
  started?: string | undefined;
  finished?: string | undefined;
  params: Map<string, string>;
  results: Map<string, number>;
  spec: unknown;
}
export interface JobLike {
  job_id?: string;
  name?: string;
  state: string;
  spec?: unknown;
  result?: unknown;
  submitted_at?: string;
  started_at?: string;
  finished_at?: string;
}
/** What every run has of its data set, not of its making. */
const NOT_PARAMS = new Set(['dataset_id', 'label_column']);

export function runOf(job: JobLike): Run {
  const params = flatten(job.spec ?? {});
  const results = Object.entries((job.result ?? {}) as Record<string, unknown>).filter(
    (e): e is [string, number] => typeof e[1] === 'number' && Number.isFinite(e[1]) && !params.has(e[0]),
  );
  const dataset = params.get('dataset_id') ?? '';
  for (const name of NOT_PARAMS) params.delete(name);
  return {
    id: job.job_id ?? '',
    name: job.name ?? '',
    state: job.state,
    dataset,
    submitted: job.submitted_at ?? '',
    started: job.started_at,
    finished: job.finished_at,
    params,
    results: new Map(results),
    spec: job.spec,
  };
}

/** The results that people choose a run by. */
export const keyResults = (run: Run, most = 2): [string, number][] =>
  [...run.results].sort(([a], [b]) => quality(a) - quality(b)).slice(0, most);
/** A name for a model as its run is called: what a name of a model may not have is a hyphen. */
export const modelName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '') || 'model';

/** A column by its key: p:NAME a parameter, m:NAME a result. */
export function columnsOf(runs: readonly Run[]): string[] {
  const params = new Set(runs.flatMap((r) => [...r.params.keys()]));
  const results = new Set(runs.flatMap((r) => [...r.results.keys()]));
  return [...[...params].sort().map((k) => `p:${k}`), ...[...results].sort().map((k) => `m:${k}`)];
}
export const nameOf = (column: string): string => column.slice(2);
export const isResult = (column: string): boolean => column.startsWith('m:');

export function cell(run: Run, column: string): string | number | undefined {
  if (isResult(column)) return run.results.get(nameOf(column));
  const text = run.params.get(nameOf(column));
  return text !== undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
/** Results about quality come first: what is accurate, then what is lost, of data that was kept back before that of training. */
export const quality = (name: string): number =>
  (/accuracy|f1|auc/.test(name) ? 0 : /loss|error|perplexity/.test(name) ? 1 : 2) +
  (/holdout|valid|test/.test(name) ? 0 : 0.5);
/** Columns worth showing when nobody chose: results, those about quality first, then the parameters that differ. */
export function usual(runs: readonly Run[], most = 4): string[] {
  const all = columnsOf(runs);
  const differs = all.filter((c) => !isResult(c) && new Set(runs.map((r) => r.params.get(nameOf(c)))).size > 1);
  const results = all.filter(isResult).sort((a, b) => quality(a) - quality(b));
  return [...results.slice(0, most), ...differs.slice(0, most)];
}

/** Is more, or less, better? By the name, as people name such things; of what is neither, none is best. */
export const moreIsBetter = (name: string): boolean =>
  /accuracy|precision|recall|f1|auc|score|bleu|rouge|reward|r2|_per_s/i.test(name);
export const lessIsBetter = (name: string): boolean =>
  /loss|error|perplexity|latency|_ms$|rmse|mae|mse|wer|cer/i.test(name);
/** The runs with the best value of a result; several where they tie. */
export function best(runs: readonly Run[], result: string): Set<string> {
  const less = lessIsBetter(result);
  if (!less && !moreIsBetter(result)) return new Set();
  let top: number | undefined;
  for (const r of runs) {
    const v = r.results.get(result);
    if (v !== undefined && (top === undefined || (less ? v < top : v > top))) top = v;
  }
  return new Set(top === undefined ? [] : runs.filter((r) => r.results.get(result) === top).map((r) => r.id));
}

/** Empty cells stand last in both directions; numbers before text. sort: a column's key, or name, submitted, state; - in front: downwards. */
export function sorted(runs: readonly Run[], sort: string): Run[] {
  const down = sort.startsWith('-');
  const key = down ? sort.slice(1) : sort;
  const of = (r: Run): string | number | undefined =>
    key === 'name' ? r.name : key === 'state' ? r.state : key === 'submitted' ? r.submitted : cell(r, key);
  return [...runs].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? 1 : -1;
    const by =
      typeof x === 'number' && typeof y === 'number'
        ? x - y
        : typeof x !== typeof y
          ? typeof x === 'number'
            ? -1
            : 1
          : String(x).localeCompare(String(y));
    return down ? -by : by;
  });
}
export interface GroupOf {
  value: string;
  runs: Run[];
}
export function grouped(runs: readonly Run[], param: string): GroupOf[] {
  const out = new Map<string, Run[]>();
  for (const r of runs) {
    const v = r.params.get(param) ?? '';
    (out.get(v) ?? out.set(v, []).get(v)!).push(r);
  }
  return [...out].map(([value, list]) => ({ value, runs: list }));
}
export function mean(runs: readonly Run[], result: string): number | undefined {
  const all = runs.map((r) => r.results.get(result)).filter((v) => v !== undefined);
  return all.length === 0 ? undefined : all.reduce((a, b) => a + b, 0) / all.length;
}

/** Ids in an address without their prefix: fifty of them have to fit. */
export const RUNS_MAX = 50;
export const packIds = (ids: readonly string[]): string => ids.map((id) => id.replace(/^job_/, '')).join(',');
export const unpackIds = (text: string | undefined): string[] =>
  [...new Set((text ?? '').split(',').filter((x) => /^[0-9a-f]{32}$/.test(x)))].map((x) => `job_${x}`);
/** Names that tell runs apart: where two have the same one, the end of the id stands with it. */
export function labels(runs: readonly Run[]): Map<string, string> {
  const count = new Map<string, number>();
  for (const r of runs) count.set(r.name, (count.get(r.name) ?? 0) + 1);
  return new Map(runs.map((r) => [r.id, count.get(r.name)! > 1 ? `${r.name} …${r.id.slice(-4)}` : r.name]));
}
