// SPDX-License-Identifier: Apache-2.0
// beside.ts - values as rows of dotted paths, and two or more of them side by side.
export interface DiffRow {
  path: string;
  values: (string | undefined)[];
  same: boolean;
}
const text = (v: unknown): string => (typeof v === 'string' ? v : JSON.stringify(v));

/** Lists stay whole: [16, 8] against [16] is one changed value, not a changed length. */
export function flatten(value: unknown, path = '', out: Map<string, string> = new Map()): Map<string, string> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0)
    for (const [k, v] of Object.entries(value)) flatten(v, path === '' ? k : `${path}.${k}`, out);
  else if (value !== undefined) out.set(path, text(value));
  return out;
}
export function diff(values: readonly unknown[]): DiffRow[] {
  const flat = values.map((v) => flatten(v));
  const paths = [...new Set(flat.flatMap((m) => [...m.keys()]))].sort();
  return paths.map((path) => {
    const cells = flat.map((m) => m.get(path));
    return { path, values: cells, same: cells.every((c) => c === cells[0]) };
  });
}
