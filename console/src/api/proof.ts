// SPDX-License-Identifier: Apache-2.0
// proof.ts - in the background of every page: each new head of the log is held against the one that this browser proved last.
//
// What is held lies in the browser's own storage, by tenant, and all tabs share it: a server that changes the past has to change
// it in every browser that ever looked. A break stays until a person puts it away.
import { useSyncExternalStore } from 'react';
import type { Fork, Pin } from '../lib/proof.ts';
import { get } from './client.ts';

const FIRST_MS = 2500; // not beside what the first page reads
const EVERY_MS = 60_000;

export interface Proof {
  /** off: nobody here reads the log. waiting: no head is signed or read yet. unable: this browser or its key cannot. */
  state: 'off' | 'waiting' | 'proved' | 'broken' | 'unable';
  pin: Pin | null;
  fork: Fork | null;
  /** When the log was looked at last, whatever came of it. */
  looked: string;
}
const OFF: Proof = { state: 'off', pin: null, fork: null, looked: '' };
let now: Proof = OFF;
let place = '';
const watchers = new Set<() => void>();

function say(next: Proof): void {
  now = next;
  for (const f of watchers) f();
}
interface Held {
  pin: Pin | null;
  fork: Fork | null;
}
function held(): Held {
  try {
    return { pin: null, fork: null, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Held>) };
  } catch {
    return { pin: null, fork: null };
  }
}
function hold(h: Held): void {
  try {
    localStorage.setItem(place, JSON.stringify(h));
  } catch {
    /* a browser without storage proves from page to page only */
  }
}
const stateOf = (h: Held): Proof['state'] => (h.fork ? 'broken' : h.pin ? 'proved' : 'waiting');

/** Is any head of this log signed yet? The list says so without a failure; GET /v1/audit/head answers 404 until then. */
export const hasSignedHead = async (): Promise<boolean> =>
  (await get('/v1/audit/heads', { page_size: 1 })).data.length > 0;

export async function look(): Promise<void> {
  const at = place;
  const before = held();
  if (at === '' || before.fork) return;
  try {
    if (!before.pin && !(await hasSignedHead())) return say({ ...now, looked: new Date().toISOString() });
    const [{ follow }, head, keys] = await Promise.all([
      import('../lib/proof.ts'),
      get('/v1/audit/head'),
      get('/v1/audit/keys'),
    ]);
    const looked = new Date().toISOString();
    const result = await follow(
      before.pin,
      head,
      keys.data,
      async (from, to) => ((await get('/v1/audit/proofs/consistency', { from, to })).proof ?? []) as string[],
      looked,
    );
    if (at !== place) return;
    if ('cannot' in result) return say({ ...before, state: 'unable', looked });
    const next = 'pin' in result ? { pin: result.pin, fork: null } : { pin: before.pin, fork: result.fork };
    hold(next);
    say({ ...next, state: stateOf(next), looked });
  } catch {
    // Nobody answers, or the reader is offline and the check itself cannot be read: that proves nothing, and is no break.
    say({ ...now, looked: new Date().toISOString() });
  }
}
/** For whom may read a log; ends with the session. */
export function startProof(tenant: string): () => void {
  place = `falaj.proof.${tenant}`;
  const h = held();
  say({ ...h, state: stateOf(h), looked: '' });
  const first = setTimeout(() => void look(), FIRST_MS);
  const every = setInterval(() => void (document.visibilityState === 'visible' && look()), EVERY_MS);
  return () => {
    clearTimeout(first);
    clearInterval(every);
    place = '';
    say(OFF);
  };
}
/** What was held is let go: the next head that is seen is the first one. */
export async function forget(): Promise<void> {
  hold({ pin: null, fork: null });
  say({ ...OFF, state: 'waiting' });
  await look();
}
export const useProof = (): Proof =>
  useSyncExternalStore(
    (f) => {
      watchers.add(f);
      return () => void watchers.delete(f);
    },
    () => now,
  );
