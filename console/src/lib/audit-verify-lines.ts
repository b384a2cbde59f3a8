// SPDX-License-Identifier: Apache-2.0
// audit-verify-lines.ts - the lines of entries, read and hashed many at once: each against the chain value that the line before
// claims.
import { readEntry, readWithheld, type Entry, type Head, type Manifest, type Shown } from './audit-verify-format.ts';
import { chainOf, includes, leafOf, shownLeafOf, type Bytes } from './audit-verify-hash.ts';
import { leafLike } from './audit-verify-leaf.ts';

export interface Hashed {
  entry: Entry | null;
  leaf: Bytes | null;
  chain: Bytes | null;
  inTree: boolean;
}
type Read = Entry | (Omit<Entry, 'leaf'> & { shown: Shown });

const read = (m: Manifest, line: Bytes): Read | null => readEntry(line) ?? (m.filtered ? readWithheld(line) : null);
const withLeaf = async (e: Read): Promise<Entry> => ('leaf' in e ? e : { ...e, leaf: await shownLeafOf(e.shown) });

/** The entry of a line with its leaf, or null. */
export async function entryOf(m: Manifest, line: Bytes): Promise<Entry | null> {
  const e = read(m, line);
  return e && withLeaf(e);
}
/** skip: damage was seen, so no line is looked at any more. chain: the chain value before the first line. */
export async function hashLines(
  m: Manifest,
  head: Head,
  chain: Bytes,
  lines: readonly Bytes[],
  skip: boolean,
): Promise<Hashed[]> {
  let before: Bytes | null = chain;
  return Promise.all(
    lines.map(async (line) => {
      const claimed = before,
        found = line[2] === 0x74 && !skip ? read(m, line) : null; // {"tseq":
      if (found?.chain) before = found.chain;
      const entry = found && (await withLeaf(found));
      if (!entry) return { entry: null, leaf: null, chain: null, inTree: false };
      const [leaf, next, inTree] = await Promise.all([
        entry.event ? (m.version === 1 ? leafOf(entry.event) : leafLike(entry.event, entry.leaf)) : null,
        entry.chain && claimed ? chainOf(claimed, entry.leaf) : null,
        entry.proof !== null && includes(entry.leaf, entry.tseq - 1, head.size, entry.proof, head.root),
      ]);
      return { entry, leaf, chain: next, inTree };
    }),
  );
}
