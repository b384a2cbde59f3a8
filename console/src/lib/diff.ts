// SPDX-License-Identifier: Apache-2.0
// diff.ts - what differs between an object as it was read, as a person wants it, and as it stands now. Pure.
export interface Difference {
  name: string;
  label: string;
  was: string;
  mine: string;
  theirs: string;
  /** Who changed it: only this person, only the others, or both and not to the same. */
  by: 'mine' | 'theirs' | 'both' | 'same';
}
type Values = Record<string, unknown>;

/** Members in the order of their names, so that equal objects have equal texts. */
function sorted(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(sorted);
  if (typeof v !== 'object' || v === null) return v;
  return Object.fromEntries(
    Object.entries(v)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, x]) => [k, sorted(x)]),
  );
}
export const asText = (v: unknown): string =>
  v === undefined || v === null ? '' : typeof v === 'object' ? JSON.stringify(sorted(v)) : String(v);

/** Only the fields named, and of these only what somebody changed. A field that is not in `mine` is as it was. */
export function differences(
  fields: readonly { name: string; label: string }[],
  was: Values,
  mine: Values,
  theirs: Values,
): Difference[] {
  return fields.flatMap(({ name, label }) => {
    const a = asText(was[name]),
      b = name in mine ? asText(mine[name]) : a,
      c = asText(theirs[name]);
    if (a === b && a === c) return [];
    const by = b === c ? 'same' : a === b ? 'theirs' : a === c ? 'mine' : 'both';
    return [{ name, label, was: a, mine: b, theirs: c, by }];
  });
}
