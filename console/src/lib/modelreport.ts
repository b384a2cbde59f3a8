// SPDX-License-Identifier: Apache-2.0
// modelreport.ts - what a version of a model was made from, and what making it smaller changed: core/wire/job_result.h.

/** Of the spec of a job: the model that it makes another of. */
export function parentOf(spec: unknown): string | undefined {
  const id = (spec as { model_id?: unknown } | null | undefined)?.model_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

const ROWS = [
  ['accuracy', 'accuracy_before', 'accuracy_after'],
  ['latency', 'latency_us_before', 'latency_us_after'],
  ['file', 'model_bytes_before', 'model_bytes'],
  ['memory', 'memory_before', 'memory_bytes'],
] as const;
export interface Report {
  parent: { id: string; version: number };
  rows: { what: (typeof ROWS)[number][0]; before: number; after: number }[];
  agreement: number | undefined;
  evaluated: number | undefined;
  /** Figures that stand in the rows already. */
  told: ReadonlySet<string>;
}

/** Of the result of the job that made the version; undefined: it was not made from another one. */
export function reportOf(result: unknown): Report | undefined {
  const m = (result ?? {}) as Record<string, unknown>;
  const [, id, version] = /^(mdl_[0-9a-f]{32})@(\d+)$/.exec(String(m['parent'] ?? '')) ?? [];
  if (id === undefined) return undefined;
  const num = (name: string): number | undefined => (typeof m[name] === 'number' ? m[name] : undefined);
  const rows = ROWS.flatMap(([what, a, b]) => {
    const [before, after] = [num(a), num(b)];
    return before === undefined || after === undefined ? [] : [{ what, before, after }];
  });
  const told = new Set<string>([
    ...ROWS.flatMap(([, a, b]) => [a, b]),
    'accuracy_drop',
    'agreement',
    'evaluation_rows',
  ]);
  return {
    parent: { id, version: Number(version) },
    rows,
    agreement: num('agreement'),
    evaluated: num('evaluation_rows'),
    told,
  };
}
