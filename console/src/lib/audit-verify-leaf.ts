// SPDX-License-Identifier: Apache-2.0
// audit-verify-leaf.ts - the leaf of an event (docs/audit-format.md §2): entries have one of two, and the event makes both.
import { membersOf } from './audit-verify-format.ts';
import { leafOf, openLeafOf, same, type Bytes } from './audit-verify-hash.ts';

/** Both leaves that an entry with this event may have, the plain one first. */
export async function leavesOf(event: Bytes): Promise<Bytes[]> {
  const plain = await leafOf(event),
    members = membersOf(event);
  return members ? [plain, await openLeafOf(plain, members)] : [plain];
}
/** Of the two the one that is claimed; the plain one where neither is. */
export async function leafLike(event: Bytes, claimed: Bytes): Promise<Bytes> {
  const plain = await leafOf(event);
  if (same(plain, claimed)) return plain;
  return (await leavesOf(event)).find((leaf) => same(leaf, claimed)) ?? plain;
}
