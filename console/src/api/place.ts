// SPDX-License-Identifier: Apache-2.0
// place.ts - an event's own hash, its path to the root of the newest head, and the head's signature: all worked out by this
// browser.
import { canCheckSignatures, hex, includes, signedBy, unbase64, unhex } from '../lib/audit-verify-hash.ts';
import { leafLike } from '../lib/audit-verify-leaf.ts';
import { get, type Schemas } from './client.ts';
import { hasSignedHead } from './proof.ts';

const utf8 = (v: unknown) => new TextEncoder().encode(JSON.stringify(v));
/** How many proofs are asked for at a time: a browser has about six connections. */
const AT_ONCE = 4;

export type Place = 'good' | 'unsigned' | 'leaf' | 'proof' | 'signature' | 'unchecked';
export interface Head {
  size: number;
  key: string;
  root: string;
  /** Is it signed by the log's key; null: this browser cannot tell. */
  signed: boolean | null;
}
/** The newest; of size 0, so that every event is younger, where none is signed yet. */
export async function readSignedHead(): Promise<Head> {
  if (!(await hasSignedHead())) return { size: 0, key: '', root: '', signed: null };
  const [head, keys] = await Promise.all([get('/v1/audit/head'), get('/v1/audit/keys')]);
  const said = head.head as { root?: string; size?: number };
  const root = said.size === head.size ? (said.root ?? '') : '';
  const at = { size: head.size, key: head.key_id ?? '', root };
  if (!(await canCheckSignatures())) return { ...at, signed: null };
  const raw = unbase64(keys.data.find((k) => k.key_id === head.key_id)?.public_key ?? '');
  const signed = raw !== null && (await signedBy(raw, utf8(head.head), unhex(head.signature ?? '')));
  return { ...at, signed };
}
export async function placeIn(head: Head, item: Schemas['audit_item']): Promise<Place> {
  if (item.tseq > head.size) return 'unsigned';
  const leaf = await leafLike(utf8(item.event), unhex(item.leaf));
  if (hex(leaf) !== item.leaf) return 'leaf';
  const { proof } = await get('/v1/audit/proofs/inclusion', { tseq: item.tseq, size: head.size });
  if (!(await includes(leaf, item.tseq - 1, head.size, proof.map(unhex), unhex(head.root)))) return 'proof';
  return head.signed === null ? 'unchecked' : head.signed ? 'good' : 'signature';
}
export interface Sealed {
  head: Head;
  good: number;
  /** Not under the newest head yet. */
  young: number;
  /** The body is gone by its retention: nothing to hash. */
  dropped: number;
  /** The first that is not what the log says. */
  bad: { tseq: number; place: Place } | null;
}
/** All of these events against one head. */
export async function sealOf(items: readonly Schemas['audit_item'][]): Promise<Sealed> {
  const head = await readSignedHead();
  const sum: Sealed = { head, good: 0, young: 0, dropped: 0, bad: null };
  const queue = items.filter((i) => i.event);
  sum.dropped = items.length - queue.length;
  const walk = async (): Promise<void> => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      const place = await placeIn(head, item);
      if (place === 'good') sum.good++;
      else if (place === 'unsigned') sum.young++;
      else sum.bad ??= { tseq: item.tseq, place };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  return sum;
}
