// SPDX-License-Identifier: Apache-2.0
// table.tsx - a list of the API as a table. The address holds filters, order, page and size; the server filters, sorts and pages.
//
// CSV export reads every page of the same filters. What changes behind the reader's back is asked for every ten seconds, unless a
// stream tells.
import {
  Button,
  EmptyState,
  EmptyStateActions,
  EmptyStateFooter,
  FormSelect,
  FormSelectOption,
  SearchInput,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
} from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { getPage, type Query } from '../api/client.ts';
import { isFed } from '../api/live.ts';
import { csvText, saveAs } from '../lib/csv.ts';
import { usePrefs } from '../lib/prefs.ts';
import { withFilter, type Search } from '../lib/search.ts';
import { toast } from './toast.tsx';
import { Answer, useProblemText } from './states.tsx';

export interface Column<T> {
  name: keyof T & string;
  label: string;
  cell?: (row: T) => ReactNode;
  narrow?: boolean;
}
export interface Filter {
  name: string;
  label: string;
  options?: readonly { value: string; label: string }[];
}
interface Props<T> {
  path: string;
  label: string;
  columns: Column<T>[];
  filters?: Filter[];
  rowKey: (row: T) => string;
  rowActions?: (row: T) => ReactNode;
  empty: ReactNode;
  fixed?: Query;
  /** How a page's successor is named where it is not page_token: by the number of its last row. */
  after?: (row: T) => string;
  everyMs?: number;
  /** A list that the API gives whole. */
  noPages?: boolean;
  /** Of a page's second list: stands before its names in the address. */
  prefix?: string;
}

export function useListSearch(filters: readonly Filter[] = [], prefix = ''): Query {
  const search = useSearch({ strict: false }) as Search;
  const out: Query = { page_size: search[`${prefix}page_size`] ?? '20' };
  for (const name of [...filters.map((f) => f.name), 'page_token', 'after']) out[name] = search[prefix + name];
  return out;
}

function TextFilter({ filter, value, put }: { filter: Filter; value: string; put: (v: string) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <SearchInput
      aria-label={filter.label}
      placeholder={filter.label}
      value={text}
      onChange={(_e, v) => setText(v)}
      onSearch={() => put(text)}
      onClear={() => put('')}
      searchInputId={`filter-${filter.name}`}
      resetButtonLabel={t('act.clear')}
      submitSearchButtonLabel={t('act.search')}
    />
  );
}

export function ServerTable<T extends object>({
  path,
  label,
  columns,
  filters = [],
  rowKey,
  rowActions,
  empty,
  fixed = {},
  after,
  everyMs = 10_000,
  noPages = false,
  prefix = '',
}: Props<T>) {
  const { t } = useTranslation();
  const text = useProblemText();
  const { density } = usePrefs();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as Search;
  const paged = { ...fixed, ...useListSearch(filters, prefix) };
  const query: Query = noPages ? {} : paged;
  const [exporting, setExporting] = useState<number | null>(null);
  const go = (next: Search): void => void navigate({ to: '.', search: next as never });
  const put = (name: string, value: string): void => go(withFilter(search, prefix + name, value, prefix));
  const list = useQuery({
    queryKey: [path, query],
    queryFn: () => getPage<T>(path, query),
    refetchInterval: () => (isFed(path) ? false : everyMs),
    placeholderData: (old, q) => (q?.queryKey[0] === path ? old : undefined),
  });
  const filtered = filters.some((f) => f.name !== 'sort' && search[prefix + f.name]);
  const first = search[`${prefix}page_token`] === undefined && search[`${prefix}after`] === undefined;

  const exportAll = async (): Promise<void> => {
    const rows: T[] = [];
    let at: Query = noPages ? {} : { ...query, page_size: 200, page_token: undefined, after: undefined };
    try {
      for (;;) {
        setExporting(rows.length);
        const page = await getPage<T>(path, at);
        rows.push(...page.data);
        const last = page.data.at(-1);
        if (after ? last === undefined || page.data.length < 200 : page.next_page_token === undefined) break;
        at = { ...at, ...(after ? { after: after(last!) } : { page_token: page.next_page_token }) };
      }
      const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
      saveAs(`${path.split('/').filter(Boolean).at(-1)}.csv`, csvText(names, rows as Record<string, unknown>[]));
    } catch (p) {
      toast(text(p), 'danger');
    } finally {
      setExporting(null);
    }
  };

  return (
    <>
      <Toolbar className="list-tools">
        <ToolbarContent rowWrap={{ default: 'wrap' }}>
          <ToolbarGroup variant="filter-group" rowWrap={{ default: 'wrap' }}>
            {filters.map((f) => (
              <ToolbarItem key={f.name}>
                {f.options ? (
                  <FormSelect
                    aria-label={f.label}
                    value={search[prefix + f.name] ?? ''}
                    onChange={(_e, v) => put(f.name, v)}
                  >
                    <FormSelectOption
                      value=""
                      label={f.name === 'sort' ? t('list.defaultOrder') : t('list.any', { what: f.label })}
                    />
                    {f.options.map((o) => (
                      <FormSelectOption key={o.value} value={o.value} label={o.label} />
                    ))}
                  </FormSelect>
                ) : (
                  <TextFilter filter={f} value={search[prefix + f.name] ?? ''} put={(v) => put(f.name, v)} />
                )}
              </ToolbarItem>
            ))}
          </ToolbarGroup>
          <ToolbarItem>
            <Button
              variant="secondary"
              onClick={() => void exportAll()}
              isDisabled={exporting !== null}
              isLoading={exporting !== null}
              spinnerAriaValueText={t('state.loading')}
            >
              {exporting === null ? t('list.csv') : t('list.exporting', { count: exporting })}
            </Button>
          </ToolbarItem>
        </ToolbarContent>
      </Toolbar>
      <Answer of={list}>
        {(page) =>
          page.data.length === 0 && first ? (
            filtered ? (
              <EmptyState titleText={t('list.noMatch')} headingLevel="h2" variant="sm">
                <EmptyStateFooter>
                  <EmptyStateActions>
                    <Button variant="link" onClick={() => go({})}>
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
              <Table
                aria-label={label}
                variant={density === 'compact' ? 'compact' : (undefined as never)}
                gridBreakPoint="grid-lg"
              >
                <Thead>
                  <Tr>
                    {columns.map((c) => (
                      <Th key={c.name} modifier="wrap">
                        {c.label}
                      </Th>
                    ))}
                    {rowActions && <Th screenReaderText={t('list.acts')} />}
                  </Tr>
                </Thead>
                <Tbody>
                  {page.data.map((row) => (
                    <Tr key={rowKey(row)}>
                      {columns.map((c) => (
                        <Td key={c.name} dataLabel={c.label} {...(c.narrow ? { modifier: 'fitContent' as const } : {})}>
                          {c.cell ? c.cell(row) : <bdi>{String(row[c.name] ?? '')}</bdi>}
                        </Td>
                      ))}
                      {rowActions && <Td isActionCell>{rowActions(row)}</Td>}
                    </Tr>
                  ))}
                </Tbody>
              </Table>
              {!noPages && (
                <nav className="pager" aria-label={t('list.pages', { what: label })}>
                  <span>{t('list.shown', { count: page.data.length })}</span>
                  <FormSelect
                    aria-label={t('list.size')}
                    value={search[`${prefix}page_size`] ?? '20'}
                    onChange={(_e, v) => put('page_size', v === '20' ? '' : v)}
                  >
                    {['20', '50', '100', '200'].map((n) => (
                      <FormSelectOption key={n} value={n} label={t('list.sizeOf', { n })} />
                    ))}
                  </FormSelect>
                  <Button variant="secondary" isDisabled={first} onClick={() => put('after', '')}>
                    {t('list.first')}
                  </Button>
                  <Button
                    variant="secondary"
                    isDisabled={
                      after ? page.data.length < Number(query['page_size']) : page.next_page_token === undefined
                    }
                    onClick={() =>
                      go({
                        ...search,
                        ...(after
                          ? { [`${prefix}after`]: after(page.data.at(-1)!) }
                          : { [`${prefix}page_token`]: page.next_page_token! }),
                      })
                    }
                  >
                    {t('list.next')}
                  </Button>
                </nav>
              )}
            </>
          )
        }
      </Answer>
    </>
  );
}
