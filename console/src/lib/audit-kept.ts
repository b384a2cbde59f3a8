// SPDX-License-Identifier: Apache-2.0
// audit-kept.ts - a head that somebody kept, or that a witness co-signed (docs/audit-format.md §2, §7), to hold a log against.
//
// The head's own signature is checked by the verifier, with the keys that count there; the witness's is checked here.
import { readHead } from './audit-verify-format.ts';
import { canCheckSignatures, hex, join, signedBy, unbase64, unhex, type Bytes } from './audit-verify-hash.ts';

export interface Kept {
  /** For the verifier; without sig it was kept by a program that threw the signature away. */
  previous: { body: Bytes; sig: Bytes | null };
  size: number;
  /** Of a co-signature: the witness's public key in hex digits. */
  witness: string;
}
/** none: no such file. zone: a head of the zone, which no bundle has. stranger: no key was given, or another witness's. */
export type KeptFault = 'none' | 'zone' | 'stranger' | 'unsigned' | 'unchecked';

const B64 = '[A-Za-z0-9+/]*={0,2}';
const HEAD = `"body":"(${B64})","sig":"(${B64})"`;
const KEPT = new RegExp(`^\\{${HEAD}\\}\n?$`);
const COSIGNED = new RegExp(
  `^\\{"format":"falaj-cosignature-v1","head":\\{${HEAD}\\},"witness":"([0-9a-f]{64})","sig":"(${B64})"\\}\n?$`,
);
const LABEL = new TextEncoder().encode('falaj-witness-v1 ');

/** witness: the key that the witness gave; only a co-signature needs one. */
export async function readKept(text: string, witness: Bytes | null): Promise<Kept | KeptFault> {
  const kept = KEPT.exec(text),
    cosigned = COSIGNED.exec(text),
    m = kept ?? cosigned;
  const body = m ? unbase64(m[1]!) : new TextEncoder().encode(text.replace(/\n$/, '')),
    sig = m && unbase64(m[2]!),
    head = body && readHead(body);
  if (!body || !head || (m && sig?.length !== 64)) return 'none';
  if (head.log === 'zone') return 'zone';
  const previous = { body, sig };
  if (!cosigned) return { previous, size: head.size, witness: '' };
  const by = unhex(cosigned[3]!),
    theirs = unbase64(cosigned[4]!);
  if (!witness || hex(witness) !== hex(by)) return 'stranger';
  if (!(await canCheckSignatures())) return 'unchecked';
  if (theirs?.length !== 64 || !(await signedBy(by, join(LABEL, body), theirs))) return 'unsigned';
  return { previous, size: head.size, witness: cosigned[3]! };
}
