// SPDX-License-Identifier: Apache-2.0
// kept-draft.ts - a text that somebody is writing, kept in this tab until it is sent: leaving the page or loading it anew loses
// nothing. One entry for each person and place; what cannot be read is as if nothing had been kept. Signing out drops them all.
type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
export interface Kept {
  text: string;
  /** When it was last changed (RFC 3339). */
  at: string;
}
const PREFIX = 'falaj.draft.';
/** No request of the API is longer. */
export const DRAFT_MAX = 1 << 20;

const keyOf = (person: string, place: string): string => `${PREFIX}${person}.${place}`;

export function readDraft(store: Store, person: string, place: string): Kept | null {
  try {
    const raw = JSON.parse(store.getItem(keyOf(person, place)) ?? 'null') as Partial<Kept> | null;
    return raw && typeof raw.text === 'string' && typeof raw.at === 'string' ? { text: raw.text, at: raw.at } : null;
  } catch {
    return null;
  }
}
/** text null: there is nothing to keep. */
export function writeDraft(store: Store, person: string, place: string, text: string | null, now = new Date()): void {
  try {
    if (text === null || text.length > DRAFT_MAX) store.removeItem(keyOf(person, place));
    else store.setItem(keyOf(person, place), JSON.stringify({ text, at: now.toISOString() }));
  } catch {
    /* a browser without storage forgets */
  }
}
export function dropDrafts(store: Storage): void {
  for (const key of Object.keys(store)) if (key.startsWith(PREFIX)) store.removeItem(key);
}
