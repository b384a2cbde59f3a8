// SPDX-License-Identifier: Apache-2.0
// proof.ts - whether a newer head of the log continues the one that this browser holds (docs/audit-format.md §2): the key that
// was pinned signed it, and a proof leads from one tree to the other. Two logs shown to two people have no such proof.
import { readHead } from './audit-verify-format.ts';
import { canCheckSignatures, extend, hex, rootsOf, signedBy, unbase64, unhex } from './audit-verify-hash.ts';

/** A head as it was signed: its text, and the signature in hex digits. */
export interface Signed {
  body: string;
  sig: string;
}
/** What a browser holds of a log: the key that it saw first, and the newest head that it proved. */
export interface Pin {
  keyId: string;
  /** The public key in hex digits. */
  key: string;
  head: Signed;
  size: number;
  root: string;
  /** When the head was signed, in milliseconds. */
  at: number;
  since: string;
  checks: number;
}
/** forked: as large as the held one or larger, and not its continuation. short: smaller. stranger: signed by another key.
 *  unsigned: by none that is right. */
export type Break = 'forked' | 'short' | 'stranger' | 'unsigned';
export interface Fork {
  how: Break;
  held: Signed;
  seen: Signed;
  /** What the server gave as a proof from one to the other. */
  proof: string[];
  /** What the log of the larger head had for a root at the smaller one's size, as its own proof says; '': nobody can tell. */
  root: string;
  key: string;
  found: string;
}
export interface Offered {
  head?: unknown;
  signature?: string;
}
export interface Keys {
  key_id?: string;
  public_key?: string;
}
export type Result = { pin: Pin } | { fork: Fork } | { cannot: 'key' | 'browser' };

type Ask = (from: number, to: number) => Promise<string[]>;
const areHashes = (proof: string[]): boolean => proof.every((p) => /^[0-9a-f]{64}$/.test(p));

/** The root that the server's log had at this size. A proof from a size of 2^k leaves it out; one that leads to it ends there. */
async function rootAt(pin: Pin, size: number, proof: string[], consistency: Ask): Promise<string> {
  const held = unhex(pin.root);
  const isPower = Number.isInteger(Math.log2(pin.size));
  if (!isPower) return hex((await rootsOf(pin.size, held, size, proof.map(unhex)))?.[0] ?? new Uint8Array());
  if (pin.size < 4) return '';
  const there = await consistency(pin.size - 1, pin.size).catch(() => ['']);
  const ends = areHashes(there) ? await rootsOf(pin.size - 1, held, pin.size, there.map(unhex)) : null;
  return hex(ends?.[1] ?? new Uint8Array());
}

/** consistency: asks the server for the proof from one size to another. now: ISO 8601. */
export async function follow(
  pin: Pin | null,
  offered: Offered,
  keys: readonly Keys[],
  consistency: Ask,
  now: string,
): Promise<Result> {
  if (!(await canCheckSignatures())) return { cannot: 'browser' };
  const seen: Signed = { body: JSON.stringify(offered.head), sig: offered.signature ?? '' };
  const bytes = new TextEncoder().encode(seen.body);
  const head = readHead(bytes);
  const named = keys.find((k) => k.key_id === head?.key)?.public_key;
  const raw = unbase64(named ?? '');
  const key = pin?.key ?? (raw ? hex(raw.slice(-32)) : '');
  if (key === '') return { cannot: 'key' };
  const broken = (how: Break, proof: string[] = [], root = ''): Result => ({
    fork: { how, held: pin?.head ?? seen, seen, proof, root, key, found: now },
  });
  if (!head || !/^[0-9a-f]{128}$/.test(seen.sig)) return broken('unsigned');
  if (pin && head.key !== pin.keyId) return broken('stranger');
  if (!(await signedBy(unhex(key), bytes, unhex(seen.sig)))) return broken('unsigned');
  const root = hex(head.root);
  const next = (): Result => ({
    pin: {
      keyId: head.key,
      key,
      head: seen,
      size: head.size,
      root,
      at: Math.floor(head.at / 1000),
      since: pin?.since ?? now,
      checks: (pin?.checks ?? 0) + 1,
    },
  });
  if (!pin) return next();
  if (head.size < pin.size) return broken('short');
  if (head.size === pin.size) return root === pin.root ? next() : broken('forked', [], root);
  const proof = await consistency(pin.size, head.size);
  const sound = areHashes(proof);
  const does = sound && (await extend(pin.size, unhex(pin.root), head.size, head.root, proof.map(unhex)));
  return does
    ? next()
    : broken('forked', sound ? proof : [], sound ? await rootAt(pin, head.size, proof, consistency) : '');
}

const signed = ({ body, sig }: Signed): string =>
  `{"body":"${btoa(body)}","sig":"${btoa(String.fromCharCode(...unhex(sig)))}"}`;
/** The two heads that contradict each other as one file (docs/audit-format.md §7): `falaj-verify fork` says whether it convicts
 *  whoever has the key, or what is missing. The smaller head comes first. */
export function evidenceOf(f: Fork): string {
  const [a, b] = f.how === 'short' ? [f.seen, f.held] : [f.held, f.seen];
  const proof = f.proof.map((p) => `"${p}"`).join(',');
  return `{"format":"falaj-fork-v1","a":${signed(a)},"b":${signed(b)},"root":"${f.root || '0'.repeat(64)}","proof":[${proof}]}\n`;
}
