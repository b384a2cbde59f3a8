// SPDX-License-Identifier: Apache-2.0
// audit-verify-verdict.ts - what a verification is asked and what it answers: its options, the kinds of damage, the verdict.
import type { Bytes } from './audit-verify-hash.ts';

export type Damage =
  | 'edited'
  | 'deleted'
  | 'truncated'
  | 'inserted'
  | 'swapped'
  | 'duplicated'
  | 'spliced'
  | 'forked'
  | 'wrong_key'
  | 'malformed';
export interface Verdict {
  result: 'ok' | Damage;
  /** The first damaged entry; 0: no entry is to blame. */
  tseq: number;
  line: number;
  /** pinned: signed by a key that was given; own: by the key that the bundle brings; unchecked: this browser cannot check it. */
  signature: 'pinned' | 'own' | 'unchecked' | 'none';
  /** Whether the digest of the last line was compared. */
  digest: boolean;
  count: number;
  dropped: number;
  /** Of the dropped: those that no retention entry of the log lists. */
  unproved: number;
  bytes: number;
  from: number;
  to: number;
  some: boolean;
  filtered: boolean;
  /** Of a filtered range: entries that show that they do not fit. */
  withheld: number;
  tenant: string;
  zone: string;
  size: number;
  root: string;
  chain: string;
  key: string;
  signedAt: number;
}
export interface Options {
  /** Public keys, 32 bytes each, that were got some other way. */
  pinned?: readonly Bytes[];
  /** Without pinned keys: those of the bundle count, which shows only that it fits itself. */
  trustEmbedded?: boolean;
  /** A head kept from before; without sig it was kept by a program that threw the signature away. */
  previous?: { body: Bytes; sig: Bytes | null };
  /** Accept entries without body that no retention entry lists: anybody may have taken such a body. */
  allowUnproved?: boolean;
  digestMax?: number;
  /** Gets the file itself, when it was not longer than digestMax and was read to its end. */
  kept?: (file: Blob) => void;
}
/** What ends a verification: the first damage. */
export class Refused extends Error {
  readonly damage: Damage;
  readonly tseq: number;
  constructor(damage: Damage, tseq: number) {
    super(damage);
    this.damage = damage;
    this.tseq = tseq;
  }
}
export const refuse = (damage: Damage, tseq = 0): never => {
  throw new Refused(damage, tseq);
};

/** The verdict before the first line. */
export const unread = (): Verdict => ({
  result: 'ok',
  signature: 'none',
  digest: false,
  some: false,
  filtered: false,
  tseq: 0,
  line: 0,
  count: 0,
  dropped: 0,
  unproved: 0,
  withheld: 0,
  bytes: 0,
  from: 0,
  to: 0,
  size: 0,
  signedAt: 0,
  tenant: '',
  zone: '',
  root: '',
  chain: '',
  key: '',
});
