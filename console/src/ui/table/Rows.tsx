// SPDX-License-Identifier: Apache-2.0
// Rows.tsx - the rows of a list: heads that sort where the API does, boxes to choose rows by, the row that the keys stand on.
import { Checkbox } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { usePrefs } from '../../lib/prefs.ts';
import type { Column, TableProps } from './types.ts';

interface Props<T> extends Pick<TableProps<string, T>, 'label' | 'rowKey' | 'rowActions'> {
  columns: Column<T>[];
  rows: T[];
  nameOf: (row: T) => string;
  sort: string;
  setSort: (sort: string) => void;
  /** Keys of the chosen rows; absent: rows cannot be chosen. */
  chosen?: ReadonlySet<string>;
  choose: (keys: string[], on: boolean) => void;
}

/** Upwards, downwards, as usual; what the API cannot do is passed over. */
function nextSort(by: { asc?: string; desc?: string }, now: string): string {
  const round = [by.asc, by.desc].filter((v) => v !== undefined);
  const at = round.indexOf(now);
  return at < 0 ? round[0]! : (round[at + 1] ?? '');
}

export function Rows<T extends object>({
  label,
  columns,
  rows,
  rowKey,
  nameOf,
  rowActions,
  sort,
  setSort,
  chosen,
  choose,
}: Props<T>) {
  const { t } = useTranslation();
  const { density } = usePrefs();
  const keys = rows.map(rowKey);
  const all = chosen !== undefined && keys.length > 0 && keys.every((k) => chosen.has(k));
  const some = chosen !== undefined && keys.some((k) => chosen.has(k));
  const sortOf = (c: Column<T>, i: number) => {
    const by = c.sort;
    if (!by) return {};
    const mine = sort !== '' && (sort === by.asc || sort === by.desc);
    return {
      sort: {
        columnIndex: i,
        sortBy: mine ? { index: i, direction: sort === by.desc ? ('desc' as const) : ('asc' as const) } : {},
        onSort: () => setSort(nextSort(by, sort)),
      },
    };
  };
  return (
    <Table
      aria-label={label}
      variant={density === 'compact' ? 'compact' : (undefined as never)}
      gridBreakPoint="grid-lg"
      data-list
    >
      <Thead>
        <Tr>
          {chosen && (
            <Th screenReaderText={t('bulk.choose')} className="choose">
              <Checkbox
                id={`choose-all-${label}`}
                aria-label={t('bulk.all')}
                isChecked={all ? true : some ? null : false}
                onChange={() => choose(keys, !all)}
              />
            </Th>
          )}
          {columns.map((c, i) => (
            <Th key={c.name} modifier="wrap" {...sortOf(c, i)}>
              {c.label}
            </Th>
          ))}
          {rowActions && <Th screenReaderText={t('list.acts')} />}
        </Tr>
      </Thead>
      <Tbody>
        {rows.map((row, i) => (
          <Tr key={keys[i]!} tabIndex={-1} data-row className="list-row">
            {chosen && (
              <Td className="choose">
                <Checkbox
                  id={`choose-${keys[i]!}`}
                  aria-label={t('bulk.one', { what: nameOf(row) })}
                  isChecked={chosen.has(keys[i]!)}
                  onChange={(_e, on) => choose([keys[i]!], on)}
                />
              </Td>
            )}
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
  );
}
