// SPDX-License-Identifier: Apache-2.0
// useruns.ts - the training runs that are loaded, page by page; and what a person pinned, hid and chose, kept in this browser.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { getPage, type Page, type Schemas } from '../../api/client.ts';
import { runOf, type Run } from '../../lib/runs.ts';
import { MODEL_MAKER } from '../../lib/jobtypes.ts';

type Job = Schemas['job'];
const PAGE = 100;
/** Of all runs at once in this page: sorting and grouping happen here. */
export const LOADED_MAX = 2000;

/** q: a part of the name, which the API looks for among all runs. */
export function useRuns(state: Job['state'] | '', q: string) {
  const query = useInfiniteQuery({
    queryKey: ['/v1/jobs', 'experiments', state, q],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      getPage('/v1/jobs', {
        kind: MODEL_MAKER,
        page_size: PAGE,
        ...(state === '' ? {} : { state }),
        ...(q === '' ? {} : { q }),
        ...(pageParam === '' ? {} : { page_token: pageParam }),
      }),
    placeholderData: keepPreviousData,
    getNextPageParam: (last: Page<Job>, all) => (all.length * PAGE < LOADED_MAX ? last.next_page_token : undefined),
  });
  const runs = useMemo<Run[]>(
    () => (query.data?.pages ?? []).flatMap((p) => p.data).map((j) => runOf(j)),
    [query.data],
  );
  return { query, runs };
}

export interface Kept {
  pins: string[];
  hidden: string[];
  columns: string[] | null;
}
const KEY = 'falaj.experiments';
const none: Kept = { pins: [], hidden: [], columns: null };
const NAMED_MAX = 200; // pinned and hidden runs that are remembered

export function useKept(who: string): [Kept, (change: Partial<Kept>) => void] {
  const [kept, set] = useState<Kept>(() => {
    try {
      return { ...none, ...(JSON.parse(localStorage.getItem(`${KEY}.${who}`) ?? '{}') as Partial<Kept>) };
    } catch {
      return none;
    }
  });
  return [
    kept,
    (change) => {
      const next = { ...kept, ...change };
      next.pins = next.pins.slice(-NAMED_MAX);
      next.hidden = next.hidden.slice(-NAMED_MAX);
      set(next);
      try {
        localStorage.setItem(`${KEY}.${who}`, JSON.stringify(next));
      } catch {
        /* a browser without storage forgets at reload */
      }
    },
  ];
}
