// SPDX-License-Identifier: Apache-2.0
// notices.ts - what a person is told between visits, kept in this browser per person: at most NOTICES_MAX, newest first. Pure but for the storage.
export const NOTICES_MAX = 50;
export interface Notice {
  /** Of the thing and its state: the same is told once. */
  key: string;
  kind: 'job' | 'approval';
  id: string;
  name: string;
  state: string;
  at: number;
  read: boolean;
}
type Store = Pick<Storage, 'getItem' | 'setItem'>;
const keyOf = (user: string): string => `falaj.notices.${user}`;
const isNotice = (v: unknown): v is Notice => {
  const n = v as Notice;
  return (
    typeof n?.key === 'string' &&
    (n.kind === 'job' || n.kind === 'approval') &&
    typeof n.id === 'string' &&
    typeof n.name === 'string' &&
    typeof n.state === 'string' &&
    typeof n.at === 'number' &&
    typeof n.read === 'boolean'
  );
};

export function readNotices(user: string, store: Store): Notice[] {
  try {
    const raw: unknown = JSON.parse(store.getItem(keyOf(user)) ?? '[]');
    return Array.isArray(raw) ? raw.filter(isNotice).slice(0, NOTICES_MAX) : [];
  } catch {
    return [];
  }
}
export function writeNotices(user: string, list: readonly Notice[], store: Store): void {
  try {
    store.setItem(keyOf(user), JSON.stringify(list));
  } catch {
    /* a browser without storage forgets at reload */
  }
}
export const addNotice = (list: readonly Notice[], one: Notice): Notice[] =>
  list.some((n) => n.key === one.key) ? [...list] : [one, ...list].slice(0, NOTICES_MAX);
export const unread = (list: readonly Notice[]): number => list.filter((n) => !n.read).length;
