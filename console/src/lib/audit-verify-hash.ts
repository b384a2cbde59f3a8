// SPDX-License-Identifier: Apache-2.0
// audit-verify-hash.ts - the hashes of a log (docs/audit-format.md §2) by the browser's own WebCrypto: leaves, chain, tree, proofs.
//
// WebCrypto answers each digest later, so whatever does not wait for something else is asked for at once, a batch at a time.
export type Bytes = Uint8Array<ArrayBuffer>;

const LEAF = Uint8Array.of(0),
  NODE = Uint8Array.of(1),
  CHAIN = Uint8Array.of(2),
  OPEN = Uint8Array.of(3),
  SEAL = Uint8Array.of(5);

export function join(...parts: readonly Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
export const sha256 = async (data: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', data));
export const leafOf = (event: Uint8Array): Promise<Bytes> => sha256(join(LEAF, event));
/** The leaf whose members can be shown one by one (§2), from the plain one. */
export async function openLeafOf(plain: Bytes, members: readonly Bytes[]): Promise<Bytes> {
  const salts = join(...(await Promise.all([0, 1].map((n) => sha256(join(Uint8Array.of(4, n), plain))))));
  const seals = members.map((m, i) => sha256(join(SEAL, salts.subarray(16 * i, 16 * i + 16), m)));
  return sha256(join(OPEN, ...(await Promise.all(seals))));
}
/** The same from one member and the seals of the others. */
export async function shownLeafOf(s: { member: Bytes; salt: Bytes; others: Bytes; at: number }): Promise<Bytes> {
  const cut = 32 * s.at,
    seal = await sha256(join(SEAL, s.salt, s.member));
  return sha256(join(OPEN, s.others.subarray(0, cut), seal, s.others.subarray(cut)));
}
export const nodeOf = (left: Uint8Array, right: Uint8Array): Promise<Bytes> => sha256(join(NODE, left, right));
export const chainOf = (before: Uint8Array, leaf: Uint8Array): Promise<Bytes> => sha256(join(CHAIN, before, leaf));
export const chainStart = (tenant: string): Promise<Bytes> =>
  sha256(join(new TextEncoder().encode('falaj-audit-v1'), unhex(tenant.replaceAll('-', ''))));

export const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((v, i) => v === b[i]);
export const hex = (b: Uint8Array): string => Array.from(b, (v) => v.toString(16).padStart(2, '0')).join('');
export function unhex(text: string): Bytes {
  const out = new Uint8Array(text.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return out;
}
/** Base64 of RFC 4648 §4 with padding, spelled in the one right way; null for anything else. */
export function unbase64(text: string): Bytes | null {
  try {
    const raw = atob(text);
    return btoa(raw) === text ? Uint8Array.from(raw, (c) => c.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

let hasEd25519: Promise<boolean> | undefined;
/** Whether this browser can check Ed25519 signatures: a public key (RFC 8032 §7.1, test 1) is read for a try. */
export const canCheckSignatures = (): Promise<boolean> =>
  (hasEd25519 ??= readKey(unhex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')).then(
    (key) => key !== null,
  ));
async function readKey(raw: Bytes): Promise<CryptoKey | null> {
  try {
    return await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    return null;
  }
}
export async function signedBy(publicKey: Bytes, body: Bytes, signature: Bytes): Promise<boolean> {
  const key = await readKey(publicKey);
  return key !== null && (await crypto.subtle.verify({ name: 'Ed25519' }, key, signature, body));
}

/** Whole perfect subtrees that cover the leaves start … size, as levels; sizes stay below 2^53, so bits are counted by division. */
export function coverLevels(start: number, size: number): number[] {
  const out: number[] = [];
  for (let at = start; at < size;) {
    let level = 0;
    while (2 ** (level + 1) <= size - at && at % 2 ** (level + 1) === 0) level++;
    out.push(level);
    at += 2 ** level;
  }
  return out;
}

/** The frontier of a tree of RFC 9162 §2.1: for each bit of the size the root of a perfect subtree. */
export class Tree {
  size = 0;
  private readonly at: (Bytes | undefined)[] = [];

  /** The tree of size leaves from the roots of its subtrees, largest first; null when their number does not fit. */
  static of(size: number, roots: readonly Bytes[]): Tree | null {
    const tree = new Tree();
    let rest = size,
      used = 0;
    for (let level = 52; level >= 0; level--)
      if (rest >= 2 ** level) {
        rest -= 2 ** level;
        tree.at[level] = roots[used++]!;
      }
    tree.size = size;
    return used === roots.length ? tree : null;
  }
  async addSubtree(root: Bytes, level: number): Promise<void> {
    let node = root,
      up = level;
    for (; this.at[up] !== undefined; up++) {
      node = await nodeOf(this.at[up]!, node);
      this.at[up] = undefined;
    }
    this.at[up] = node;
    this.size += 2 ** level;
  }
  /** Many leaves at once: the nodes of one level do not wait for each other. */
  async addLeaves(leaves: readonly Bytes[]): Promise<void> {
    this.size += leaves.length;
    let row = [...leaves];
    for (let level = 0; row.length > 0; level++) {
      if (this.at[level] !== undefined) {
        row.unshift(this.at[level]!);
        this.at[level] = undefined;
      }
      if (row.length % 2 === 1) this.at[level] = row.pop();
      const pairs: Promise<Bytes>[] = [];
      for (let i = 0; i < row.length; i += 2) pairs.push(nodeOf(row[i]!, row[i + 1]!));
      row = await Promise.all(pairs);
    }
  }
  async root(): Promise<Bytes> {
    let root: Bytes | undefined;
    for (const node of this.at) if (node !== undefined) root = root === undefined ? node : await nodeOf(node, root);
    return root ?? (await sha256(new Uint8Array()));
  }
}

/** RFC 9162 §2.1.3.2 and §2.1.4.2 in one: the old and the new root that a proof leads to; null when it has a wrong length. */
async function walk(from: number, to: number, first: Bytes, proof: readonly Bytes[]): Promise<[Bytes, Bytes] | null> {
  let fn = from,
    sn = to,
    old = first,
    now = first;
  for (const node of proof) {
    if (sn === 0) return null;
    if (fn % 2 === 1 || fn === sn) {
      // Where both ways are still one, so are their nodes.
      const newer = nodeOf(node, now);
      old = same(old, now) ? await newer : await nodeOf(node, old);
      now = await newer;
      while (fn !== 0 && fn % 2 === 0) {
        fn = fn / 2;
        sn = Math.floor(sn / 2);
      }
    } else now = await nodeOf(now, node);
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? [old, now] : null;
}
export async function includes(
  leaf: Bytes,
  index: number,
  size: number,
  proof: readonly Bytes[],
  root: Uint8Array,
): Promise<boolean> {
  if (index >= size) return false;
  const ends = await walk(index, size - 1, leaf, proof);
  return ends !== null && same(ends[1], root);
}
/** The roots of both sizes that a consistency proof leads to; null when it has a wrong length. Of a size of 2^k the old one is
 *  what it starts from: oldRoot. */
export async function rootsOf(
  oldSize: number,
  oldRoot: Bytes,
  size: number,
  proof: readonly Bytes[],
): Promise<[Bytes, Bytes] | null> {
  if (oldSize === 0 || oldSize >= size) return null;
  let fn = oldSize - 1,
    sn = size - 1;
  while (fn % 2 === 1) {
    fn = (fn - 1) / 2;
    sn = Math.floor(sn / 2);
  }
  // A tree of 2^k leaves is a node of the newer one, and its root is not sent again.
  const nodes = fn === 0 ? [oldRoot, ...proof] : proof;
  return nodes.length === 0 ? null : walk(fn, sn, nodes[0]!, nodes.slice(1));
}
export async function extend(
  oldSize: number,
  oldRoot: Bytes,
  size: number,
  root: Uint8Array,
  proof: readonly Bytes[],
): Promise<boolean> {
  const ends = await rootsOf(oldSize, oldRoot, size, proof);
  return ends !== null && same(ends[0], oldRoot) && same(ends[1], root);
}
