// SPDX-License-Identifier: Apache-2.0
// export.ts - all rows of a list as CSV, read page by page, where the server has no export of its own.
import { getPage, type Query } from '../../api/client.ts';
import { csvText, saveAs } from '../../lib/csv.ts';

interface Source<T> {
  path: string;
  query: Query;
  noPages: boolean;
  after: ((row: T) => string) | undefined;
  soFar: (rows: number) => void;
}

export async function exportRows<T extends object>({ path, query, noPages, after, soFar }: Source<T>): Promise<void> {
  const rows: T[] = [];
  let at: Query = noPages ? {} : { ...query, page_size: 200, page_token: undefined, after: undefined };
  for (;;) {
    soFar(rows.length);
    const page = await getPage<T>(path, at);
    rows.push(...page.data);
    const last = page.data.at(-1);
    if (after ? last === undefined || page.data.length < 200 : page.next_page_token === undefined) break;
    at = { ...at, ...(after ? { after: after(last!) } : { page_token: page.next_page_token }) };
  }
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  saveAs(`${path.split('/').filter(Boolean).at(-1)}.csv`, csvText(names, rows as Record<string, unknown>[]));
}
