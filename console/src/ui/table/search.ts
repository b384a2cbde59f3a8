// SPDX-License-Identifier: Apache-2.0
// search.ts - the address of a list as the query of its call.
import { useSearch } from '@tanstack/react-router';
import type { FromAddress, Query } from '../../api/client.ts';
import { showsUtc } from '../../lib/format.ts';
import { sinceEnd, sinceStart } from '../../lib/lists.ts';
import type { Search } from '../../lib/search.ts';
import type { Filter } from './types.ts';

export const timeNames = (f: Filter): { from: string; to: string } => ({ from: f.from ?? 'from', to: f.to ?? 'to' });

export function listQuery(search: Search, filters: readonly Filter[], prefix: string): FromAddress {
  const out: Query = { page_size: search[`${prefix}page_size`] ?? '20' };
  const get = (name: string): string | undefined => search[prefix + name];
  for (const f of filters) {
    if (f.kind !== 'time') {
      out[f.name] = get(f.name);
      continue;
    }
    const { from, to } = timeNames(f);
    const since = get('since');
    out[from] = since
      ? sinceStart(since, get('page_token') !== undefined || get('after') !== undefined, showsUtc())
      : get(from);
    out[to] = since ? sinceEnd(since, showsUtc()) : get(to);
  }
  for (const name of ['sort', 'page_token', 'after']) out[name] = get(name);
  return out as FromAddress;
}
/** The query of a list as it stands in the address: for the calls that a page shows. */
export function useListSearch(filters: readonly Filter[] = [], prefix = ''): FromAddress {
  return listQuery(useSearch({ strict: false }), filters, prefix);
}
/** The names in the address that narrow a list. */
export const namesOf = (filters: readonly Filter[], prefix: string): string[] =>
  filters
    .flatMap((f) => (f.kind === 'time' ? ['since', timeNames(f).from, timeNames(f).to] : [f.name]))
    .filter((n) => n !== 'sort')
    .map((n) => prefix + n);
