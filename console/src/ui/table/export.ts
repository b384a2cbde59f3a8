// SPDX-License-Identifier: Apache-2.0
// export.ts - all rows of a list as CSV, read page by page, where the server has no export of its own.
import { getPage, type FromAddress } from '../../api/client.ts';
import type { Asked, ItemOf } from '../../api/paths.ts';
import { csvText, saveAs } from '../../lib/csv.ts';

interface Source<A extends string, T> {
  path: A;
  query: FromAddress;
  noPages: boolean;
  after: ((row: T) => string) | undefined;
  soFar: (rows: number) => void;
}

export async function exportRows<A extends string>({
  path,
  query,
  noPages,
  after,
  soFar,
}: Source<A, ItemOf<A>>): Promise<void> {
  const rows: ItemOf<A>[] = [];
  let at: FromAddress = noPages ? query : { ...query, page_size: 200, page_token: undefined, after: undefined };
  for (;;) {
    soFar(rows.length);
    const page = await getPage(path, ...([at] as Asked<A>));
    rows.push(...page.data);
    const last = page.data.at(-1);
    if (after ? last === undefined || page.data.length < 200 : page.next_page_token === undefined) break;
    at = { ...at, ...(after ? { after: after(last!) } : { page_token: page.next_page_token }) };
  }
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  saveAs(`${path.split('/').filter(Boolean).at(-1)}.csv`, csvText(names, rows as Record<string, unknown>[]));
}
