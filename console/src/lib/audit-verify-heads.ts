// SPDX-License-Identifier: Apache-2.0
// audit-verify-heads.ts - heads of a log: by which key they are signed, and whether a later one goes on from an earlier one.
import { readHead, type Head, type Manifest, type Signed } from './audit-verify-format.ts';
import { extend, same, signedBy, type Bytes } from './audit-verify-hash.ts';
import { refuse, type Options } from './audit-verify-verdict.ts';

/** canSign false: this browser cannot check a signature, so none is refused. */
export async function trusts(o: Options, canSign: boolean, m: Manifest, signed: Signed, key: string): Promise<boolean> {
  if (!canSign) return true;
  const pinned = o.pinned ?? [];
  const own = o.trustEmbedded ? m.keys.filter((k) => k.id === key).map((k) => k.public) : [];
  const keys = pinned.length > 0 ? pinned : own;
  for (const k of keys) if (await signedBy(k, signed.body, signed.sig)) return true;
  return false;
}
/** A head of this very log, signed by a key that counts. */
export async function takeHead(
  o: Options,
  canSign: boolean,
  m: Manifest,
  signed: { body: Bytes; sig: Bytes | null },
): Promise<Head> {
  const head = readHead(signed.body);
  if (!head) return refuse('malformed');
  if (head.log !== m.tenant) refuse('spliced');
  if (signed.sig && !(await trusts(o, canSign, m, { body: signed.body, sig: signed.sig }, head.key)))
    refuse('wrong_key');
  return head;
}
/** Does the head go on from one that no line of the bundle met? previous: the head to which the manifest has a proof. */
export async function extendsTo(head: Head, known: Head, previous: Head | null, m: Manifest): Promise<void> {
  if (known.size > head.size) refuse('truncated', head.size + 1);
  if (known.size === head.size)
    return same(known.root, head.root) && same(known.chain, head.chain) ? undefined : refuse('forked');
  if (previous?.size !== known.size) return refuse('malformed');
  const isGood = await extend(known.size, known.root, head.size, head.root, m.previous!.proof);
  return isGood ? undefined : refuse('forked');
}
/** The manifest's own proof is looked at though the tree has shown the same: what stands in a bundle is right or refused. */
export async function closePrevious(head: Head, previous: Head, m: Manifest): Promise<void> {
  const { proof } = m.previous!;
  if (previous.size >= head.size) return proof.length === 0 ? undefined : refuse('malformed');
  const isGood = await extend(previous.size, previous.root, head.size, head.root, proof);
  return isGood ? undefined : refuse('forked');
}
