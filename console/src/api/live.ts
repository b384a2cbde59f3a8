// SPDX-License-Identifier: Apache-2.0
// live.ts - the one stream of events of this tab (GET /v1/events): what pages show is read again when the API tells of a change.
//
//   useLive(['jobs'], ['/v1/jobs'])      // while this component stands, events of the topic read all of /v1/jobs… again
//
// Topics of all components are merged; a changed set opens the stream anew after MERGE_MS. Events read again at most every WAKE_MS.
// While the stream is away its topics are polled every POLL_MS, and it is tried again by itself. A tab that nobody looks at for HIDDEN_MS
// gives its connection back, for a browser has about six for a host; what it missed is read when it is looked at again.
// A topic of one job tells of its states, not of its log: a list whose path is exactly one of the prefixes is fed, others keep their pace.
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { mergeTopics, prefixesOf, suspects, type Want } from '../lib/topics.ts';
import { isUp, lost, watchConnection } from './client.ts';

const MERGE_MS = 150;
const WAKE_MS = 500;
const POLL_MS = 10_000;
const HIDDEN_MS = 60_000;
const GRACE_MS = 5000; // a stream ends every five minutes and comes back at once: nobody has to read of that
const REFUSED_MS = 60_000;
const AGAIN_MS = [2000, 5000, 15_000, 30_000];

export type LiveState = 'live' | 'polling' | 'offline' | 'idle';
export interface LiveEvent {
  topic: string;
  id: string | null;
  kind: string;
}

const wants = new Map<symbol, Want>();
const listeners = new Set<(e: LiveEvent) => void>();
const watchers = new Set<() => void>();
const refused = new Set<string>();
let can: (permission: string) => boolean = () => false;
let client: QueryClient | null = null;
let source: EventSource | null = null;
let carried: string[] = [];
let good: string[] = [];
let open = false;
let brokenAt = 0;
let tries = 0;
let state: LiveState = 'idle';
let old = new Set<string>();
let merging: ReturnType<typeof setTimeout> | undefined;
let waking: ReturnType<typeof setTimeout> | undefined;
let again: ReturnType<typeof setTimeout> | undefined;
let hiding: ReturnType<typeof setTimeout> | undefined;
let polling: ReturnType<typeof setInterval> | undefined;

function say(): void {
  const next: LiveState =
    carried.length === 0
      ? isUp()
        ? 'idle'
        : 'offline'
      : !isUp()
        ? 'offline'
        : open || Date.now() - brokenAt < GRACE_MS
          ? 'live'
          : 'polling';
  if (next === state) return;
  state = next;
  for (const f of watchers) f();
}
function wake(prefixes: readonly string[]): void {
  for (const p of prefixes) old.add(p);
  if (document.hidden || old.size === 0) return;
  waking ??= setTimeout(() => {
    waking = undefined;
    const now = [...old];
    old = new Set();
    void client?.invalidateQueries({
      predicate: (q) => now.some((p) => String(q.queryKey[0]).startsWith(p)),
    });
  }, WAKE_MS);
}
function close(): void {
  clearTimeout(again);
  source?.close();
  source = null;
  open = false;
}
function broken(): void {
  if (open) brokenAt = Date.now();
  open = false;
  setTimeout(say, GRACE_MS + 50);
  say();
}
/** Not for good: a busy API refuses too. */
function refuse(topics: readonly string[]): void {
  for (const x of topics) refused.add(x);
  if (topics.length > 0)
    setTimeout(() => {
      for (const x of topics) refused.delete(x);
      change();
    }, REFUSED_MS);
}
function connect(): void {
  close();
  if (carried.length === 0 || document.hidden) return say();
  const mine = new EventSource(`/v1/events?topics=${encodeURIComponent(carried.join(','))}`);
  source = mine;
  mine.onopen = () => {
    open = true;
    tries = 0;
    good = carried;
    say();
  };
  mine.onmessage = (m: MessageEvent<string>) => {
    let e: LiveEvent;
    try {
      e = JSON.parse(m.data) as LiveEvent;
    } catch {
      return;
    }
    wake(prefixesOf(wants.values(), e.topic));
    for (const f of listeners) f(e);
  };
  mine.onerror = () => {
    const never = !open;
    broken();
    if (mine.readyState !== EventSource.CLOSED) return; // comes back by itself
    if (never && isUp()) refuse(suspects(carried, good));
    again = setTimeout(settle, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
  };
  say();
}
function settle(): void {
  merging = undefined;
  const next = mergeTopics(wants.values(), can, refused);
  const dead = source === null || source.readyState === EventSource.CLOSED;
  if (!dead && next.every((x) => carried.includes(x)) && next.length > 0) return; // a wish less is no reason to begin anew
  carried = next;
  connect();
}
const change = (): void => void (merging ??= setTimeout(settle, MERGE_MS));

function watchWindow(): void {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(close, HIDDEN_MS);
    else {
      wake([]);
      if (source === null && carried.length > 0) connect();
    }
  });
  addEventListener('offline', () => {
    lost();
    broken();
  });
  watchConnection((up) => (up && !open ? connect() : say()));
  polling ??= setInterval(() => {
    if (open || document.hidden || carried.length === 0) return;
    say();
    for (const w of wants.values()) wake(w.prefixes);
  }, POLL_MS);
}

/** Who is signed in: what may be watched. Called at every login; the stream begins anew with it. */
export function startLive(queries: QueryClient, allowed: (permission: string) => boolean): () => void {
  if (client === null) watchWindow();
  client = queries;
  can = allowed;
  refused.clear();
  good = [];
  change();
  return () => {
    can = () => false;
    carried = [];
    clearTimeout(merging);
    merging = undefined;
    close();
    say();
  };
}

/** While the calling component stands, events of `topics` read again everything whose address begins with one of `prefixes`. */
export function useLive(topics: string[], prefixes: string[]): void {
  const key = JSON.stringify([topics, prefixes]);
  useEffect(() => {
    const [t, p] = JSON.parse(key) as [string[], string[]];
    if (t.length === 0) return undefined;
    const me = Symbol('live');
    wants.set(me, { topics: t, prefixes: p });
    change();
    return () => {
      wants.delete(me);
      change();
    };
  }, [key]);
}

/** Every event as it comes. */
export function useLiveEvents(hear: (e: LiveEvent) => void): void {
  useEffect(() => {
    listeners.add(hear);
    return () => void listeners.delete(hear);
  }, [hear]);
}

const watch = (f: () => void): (() => void) => {
  watchers.add(f);
  return () => void watchers.delete(f);
};
export const useLiveState = (): LiveState => useSyncExternalStore(watch, () => state);

/** Does a topic feed this address, so that it need not be asked for in its own pace? */
export function isFed(path: string): boolean {
  for (const w of wants.values())
    if (w.prefixes.includes(path) && w.topics.some((x) => carried.includes(x))) return true;
  return false;
}
