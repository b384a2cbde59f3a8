// SPDX-License-Identifier: Apache-2.0
// growing.ts - rows that only ever grow: what is known is kept, and only what is newer is asked for.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getJson, type Page } from './client.ts';

const PAGE = 200;
const PACE_MS = 3000; // the stream of a job tells of its states, not of its rows

export function useGrowing<T>(path: string, idOf: (row: T) => number, live: boolean) {
  const client = useQueryClient();
  return useQuery({
    queryKey: [path, 'all'],
    refetchInterval: live ? PACE_MS : false,
    queryFn: async ({ signal }) => {
      const have = client.getQueryData<T[]>([path, 'all']) ?? [];
      const all = [...have];
      for (;;) {
        const last = all.at(-1);
        const after = last === undefined ? '' : `&after=${idOf(last)}`;
        const page = await getJson<Page<T>>(`${path}?page_size=${PAGE}${after}`, { signal });
        all.push(...page.data);
        if (page.data.length < PAGE) return page.data.length === 0 && have.length === all.length ? have : all;
      }
    },
  });
}
