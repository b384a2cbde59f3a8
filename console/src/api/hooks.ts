// SPDX-License-Identifier: Apache-2.0
// hooks.ts - one reading of the API in a component, and forgetting what a change has made old.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';
import { getJson, withQuery, type Query } from './client.ts';
import { isFed } from './live.ts';

export function useGet<T>(
  path: string,
  query: Query = {},
  options: { everyMs?: number; enabled?: boolean } = {},
): UseQueryResult<T> {
  return useQuery({
    queryKey: [path, query],
    queryFn: () => getJson<T>(withQuery(path, query)),
    enabled: options.enabled ?? true,
    refetchInterval: () => (isFed(path) ? false : (options.everyMs ?? false)),
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
