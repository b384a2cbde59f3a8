// SPDX-License-Identifier: Apache-2.0
// hooks.ts - one reading of the API in a component, and forgetting what a change has made old.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';
import { get } from './client.ts';
import { isFed } from './live.ts';
import type { Answer, Asked } from './paths.ts';

interface Pace {
  everyMs?: number;
  enabled?: boolean;
}
export function useGet<A extends string>(
  path: A,
  ...[query, options]: Asked<A, [Pace]>
): UseQueryResult<Answer<'GET', A>> {
  return useQuery({
    queryKey: [path, query ?? {}],
    queryFn: () => get(path, ...([query] as Asked<A>)),
    enabled: options?.enabled ?? true,
    refetchInterval: () => (isFed(path) ? false : (options?.everyMs ?? false)),
  });
}
/** Everything whose address begins so is read again. */
export function useForget(): (prefix: string) => Promise<void> {
  const client = useQueryClient();
  return useCallback(
    (prefix) => client.invalidateQueries({ predicate: (q) => String(q.queryKey[0]).startsWith(prefix) }),
    [client],
  );
}
