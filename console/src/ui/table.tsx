// SPDX-License-Identifier: Apache-2.0
// table.tsx - a list of the API as a table. The address holds filters, order, page, size and, where shared, columns; the server does the work.
//
// What changes behind the reader's back is told by the stream (live) or asked for every ten seconds. New rows of a live list wait behind a
// bar: nothing moves under a pointer.
import {
  Button,
  EmptyState,
  EmptyStateActions,
  EmptyStateFooter,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
} from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { getPage, withQuery, type FromAddress } from '../api/client.ts';
import { isFed, useLive } from '../api/live.ts';
import type { Asked, ItemOf } from '../api/paths.ts';
import { Problem } from '../api/problem.ts';
import { arrange, mergePage, readMemory, writeMemory, type Memory, type Since } from '../lib/lists.ts';
import { withFilter, type Search } from '../lib/search.ts';
import { Answer, useProblemText } from './states.tsx';
import './table/table.css';
import { BulkBar } from './table/BulkBar.tsx';
import { ColumnChooser } from './table/Columns.tsx';
import { exportRows } from './table/export.ts';
import { Filters } from './table/Filters.tsx';
import { Pager } from './table/Pager.tsx';
import { Rows } from './table/Rows.tsx';
import { listQuery, namesOf } from './table/search.ts';
import type { TableProps } from './table/types.ts';
import { Views } from './table/Views.tsx';
import { toast } from './toast.tsx';

export { useListSearch } from './table/search.ts';
export type { Bulk, Column, Filter } from './table/types.ts';

const NONE: ReadonlySet<string> = new Set();

export function ServerTable<A extends string>(props: TableProps<A>) {
  type T = ItemOf<A>;
  const {
    path,
    label,
    columns,
    filters = [],
    rowKey,
    rowActions,
    bulk,
    empty,
    fixed = {},
    after,
    live = [],
    csv,
  } = props;
  const { everyMs = 10_000, noPages = false, prefix = '', chips } = props;
  const { t } = useTranslation();
  const text = useProblemText();
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const query = (noPages ? {} : { ...fixed, ...listQuery(search, filters, prefix) }) as FromAddress;
  const list = path + prefix;
  const [memory, setMemory] = useState<Memory>(() => readMemory(list, localStorage));
  const [exporting, setExporting] = useState<number | null>(null);
  const [chosen, setChosen] = useState(NONE);
  useLive(live, [path]);

  const go = (next: Search, replace = false): void =>
    void navigate({ to: '.', search: next as never, replace, resetScroll: false });
  const put = (changes: Search): void =>
    go(Object.entries(changes).reduce((s, [name, v]) => withFilter(s, prefix + name, v, prefix), search));
  const remember = (next: Memory): void => {
    setMemory(next);
    writeMemory(list, next, localStorage);
  };

  // The range of time stays from visit to visit; an address that says more wins.
  const timed = filters.some((f) => f.kind === 'time');
  useEffect(() => {
    if (timed && memory.since && Object.keys(search).length === 0) go({ [`${prefix}since`]: memory.since }, true);
  }, []);
  const filter = (changes: Search): void => {
    if (changes['since'] !== undefined) {
      const { views, columns: kept } = memory;
      const rest = { views, ...(kept ? { columns: kept } : {}) };
      remember(changes['since'] === '' ? rest : { ...rest, since: changes['since'] as Since });
    }
    put(changes);
  };

  const key = JSON.stringify(query);
  const answer = useQuery({
    queryKey: [path, query],
    queryFn: () => getPage(path, ...([query] as Asked<A>)),
    refetchInterval: () => (isFed(path) ? false : everyMs),
    placeholderData: (old, q) => (q?.queryKey[0] === path ? old : undefined),
  });
  const first = search[`${prefix}page_token`] === undefined && search[`${prefix}after`] === undefined;
  // A token is made for its filters: one that fits no more leads to the first page.
  const stale = !first && answer.error instanceof Problem && answer.error.status === 400;
  useEffect(() => {
    if (stale) go(withFilter(search, `${prefix}page_size`, search[`${prefix}page_size`] ?? '', prefix), true);
    // Its inputs are fewer than it reads: once for each failure
  }, [stale]);

  const [held, setHeld] = useState<{ key: string; rows: T[] } | null>(null);
  const now = answer.data?.data;
  const merged = useMemo(
    () =>
      now && live.length > 0 && first && held?.key === key
        ? mergePage(held.rows, now, rowKey)
        : { rows: now ?? [], fresh: 0 },
    // Its inputs are fewer than it reads: rowKey and live are written anew at each drawing and mean the same
    [now, first, held, key],
  );
  const settled = answer.isFetchedAfterMount && !answer.isPlaceholderData;
  useEffect(() => {
    if (now && settled && (held?.key !== key || (merged.fresh === 0 && held.rows !== merged.rows)))
      setHeld((h) => (h?.key === key && h.rows === now ? h : { key, rows: now }));
    // Its inputs are fewer than it reads: only what was read makes rows stand
  }, [now, settled, key]);
  useEffect(() => setChosen(NONE), [key]);

  const nameOf = (row: T): string => props.rowName?.(row) ?? (row as { name?: string }).name ?? rowKey(row);
  const cols = search[`${prefix}cols`]?.split(',');
  const drawn = arrange(columns, cols ?? memory.columns);
  const setColumns = (names: string[] | undefined): void => {
    const { views, since } = memory;
    remember({ views, ...(since ? { since } : {}), ...(names ? { columns: names } : {}) });
    if (cols) put({ cols: '' });
  };
  const shared: Search = {
    ...search,
    ...(memory.columns && !cols ? { [`${prefix}cols`]: memory.columns.join(',') } : {}),
  };
  const filtered = namesOf(filters, prefix).some((n) => search[n]);
  const clear = (): void =>
    go(Object.fromEntries(Object.entries(search).filter(([n]) => !namesOf(filters, prefix).includes(n))));

  const exportAll = async (): Promise<void> => {
    try {
      await exportRows({ path, query, noPages, after, soFar: setExporting });
    } catch (p) {
      toast(text(p), 'danger');
    } finally {
      setExporting(null);
    }
  };
  const whole = { ...query, page_size: undefined, page_token: undefined, after: undefined, sort: undefined };
  const picked = merged.rows.filter((r) => chosen.has(rowKey(r)));

  return (
    <>
      <Toolbar className="list-tools">
        <ToolbarContent rowWrap={{ default: 'wrap' }}>
          {filters.length > 0 && (
            <ToolbarGroup variant="filter-group" rowWrap={{ default: 'wrap' }}>
              <Filters filters={filters} search={search} prefix={prefix} put={filter} />
            </ToolbarGroup>
          )}
          <ToolbarGroup align={{ default: 'alignEnd' }} className="list-acts">
            {filters.length > 0 && (
              <ToolbarItem>
                <Views list={list} memory={memory} search={shared} go={go} put={remember} />
              </ToolbarItem>
            )}
            <ToolbarItem>
              {csv ? (
                <a className="pf-v6-c-button pf-m-link" href={withQuery(csv, whole)} download={csv.split('/').at(-1)}>
                  {t('list.csv')}
                </a>
              ) : (
                <Button
                  variant="link"
                  onClick={() => void exportAll()}
                  isDisabled={exporting !== null}
                  isLoading={exporting !== null}
                  spinnerAriaValueText={t('state.loading')}
                >
                  {exporting === null ? t('list.csv') : t('list.exporting', { count: exporting })}
                </Button>
              )}
            </ToolbarItem>
            <ToolbarItem>
              <ColumnChooser all={columns} shown={drawn.map((c) => c.name)} put={setColumns} />
            </ToolbarItem>
          </ToolbarGroup>
        </ToolbarContent>
      </Toolbar>
      {chips}
      {bulk && chosen.size > 0 && (
        <BulkBar
          acts={bulk}
          rows={picked}
          nameOf={nameOf}
          clear={() => setChosen(NONE)}
          done={() => {
            setHeld(null);
            void answer.refetch();
          }}
        />
      )}
      <div aria-live="polite">
        {merged.fresh > 0 && (
          <Button variant="secondary" className="new-bar" isBlock onClick={() => now && setHeld({ key, rows: now })}>
            {t('list.fresh', { count: merged.fresh })}
          </Button>
        )}
      </div>
      <Answer of={answer}>
        {(page) =>
          page.data.length === 0 && first ? (
            filtered ? (
              <EmptyState titleText={t('list.noMatch')} headingLevel="h2" variant="sm">
                <EmptyStateFooter>
                  <EmptyStateActions>
                    <Button variant="link" onClick={clear}>
                      {t('list.clear')}
                    </Button>
                  </EmptyStateActions>
                </EmptyStateFooter>
              </EmptyState>
            ) : (
              empty
            )
          ) : (
            <>
              <Rows<T>
                label={label}
                columns={drawn}
                rows={merged.rows}
                rowKey={rowKey}
                nameOf={nameOf}
                rowActions={rowActions}
                sort={search[`${prefix}sort`] ?? ''}
                setSort={(sort) => put({ sort })}
                {...(bulk && bulk.length > 0 ? { chosen } : {})}
                choose={(keys, on) =>
                  setChosen((was) => {
                    const next = new Set(was);
                    for (const k of keys)
                      if (on) next.add(k);
                      else next.delete(k);
                    return next;
                  })
                }
              />
              {!noPages && (
                <Pager
                  label={label}
                  rows={merged.rows.length}
                  size={search[`${prefix}page_size`] ?? '20'}
                  first={first}
                  last={after ? page.data.length < Number(query['page_size']) : page.next_page_token === undefined}
                  toFirst={() => put({ after: '' })}
                  toNext={() =>
                    go({
                      ...search,
                      ...(after
                        ? { [`${prefix}after`]: after(page.data.at(-1)!) }
                        : { [`${prefix}page_token`]: page.next_page_token! }),
                    })
                  }
                  setSize={(v) => put({ page_size: v })}
                />
              )}
            </>
          )
        }
      </Answer>
    </>
  );
}
