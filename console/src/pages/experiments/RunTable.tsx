// SPDX-License-Identifier: Apache-2.0
// RunTable.tsx - runs with the columns that were chosen; in groups, with the mean of each result, where a parameter groups them.
import { Button } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { usePrefs } from '../../lib/prefs.ts';
import { cell, grouped, isResult, mean, nameOf, RUNS_MAX, type Run } from '../../lib/runs.ts';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';

/** Drawn at once; the next ones come when asked for. */
const DRAWN = 200;

interface Props {
  runs: Run[];
  columns: string[];
  sort: string;
  onSort: (sort: string) => void;
  group: string;
  chosen: string[];
  onChoose: (ids: string[]) => void;
  pins: string[];
  hidden: string[];
  onPin: (id: string) => void;
  onHide: (id: string) => void;
}

export function RunTable(p: Props) {
  const { t } = useTranslation();
  const { density } = usePrefs();
  const [drawn, setDrawn] = useState(DRAWN);
  const fixed = ['name', 'state', 'submitted'] as const;
  const keys: string[] = [...fixed, ...p.columns];
  const down = p.sort.startsWith('-');
  const sortKey = down ? p.sort.slice(1) : p.sort;
  const sortOf = (key: string, index: number) => ({
    sortBy: { index: keys.indexOf(sortKey), direction: (down ? 'desc' : 'asc') as 'desc' | 'asc' },
    columnIndex: index,
    onSort: () => p.onSort(sortKey === key && !down ? `-${key}` : key),
  });
  const show = (v: string | number | undefined) =>
    v === undefined ? null : <Code>{typeof v === 'number' ? number(v, 5) : v}</Code>;
  const row = (r: Run) => {
    const on = p.chosen.includes(r.id);
    const pinned = p.pins.includes(r.id);
    return (
      <Tr key={r.id} {...(on ? { isRowSelected: true } : {})} className={pinned ? 'pinned' : ''}>
        <Td
          select={{
            rowIndex: 0,
            isSelected: on,
            isDisabled: !on && p.chosen.length >= RUNS_MAX,
            onSelect: () => p.onChoose(on ? p.chosen.filter((x) => x !== r.id) : [...p.chosen, r.id]),
          }}
        />
        <Td dataLabel={t('col.name')}>
          <To to={`/jobs/${r.id}?tab=metrics`}>
            <Name>{r.name}</Name>
          </To>
        </Td>
        <Td dataLabel={t('col.state')}>
          <State value={r.state} />
        </Td>
        <Td dataLabel={t('col.submitted')}>
          <Time at={r.submitted} ago />
        </Td>
        {p.columns.map((c) => (
          <Td key={c} dataLabel={nameOf(c)}>
            {show(cell(r, c))}
          </Td>
        ))}
        <Td isActionCell>
          <Button variant="link" size="sm" aria-pressed={pinned} onClick={() => p.onPin(r.id)}>
            {t(pinned ? 'runs.unpin' : 'runs.pin')}
          </Button>
          <Button variant="link" size="sm" onClick={() => p.onHide(r.id)}>
            {t(p.hidden.includes(r.id) ? 'runs.unhide' : 'runs.hide')}
          </Button>
        </Td>
      </Tr>
    );
  };
  const shown = p.runs.slice(0, drawn);
  const first = shown.filter((r) => p.pins.includes(r.id));
  const rest = shown.filter((r) => !p.pins.includes(r.id));
  return (
    <>
      <div className="runs-scroll" role="region" aria-label={t('nav.experiments')} tabIndex={0}>
        <Table
          aria-label={t('nav.experiments')}
          variant={density === 'compact' || p.columns.length > 4 ? 'compact' : (undefined as never)}
          gridBreakPoint="grid-md"
        >
          <Thead>
            <Tr>
              <Th screenReaderText={t('runs.choose')} />
              <Th modifier="nowrap" sort={sortOf('name', 0)}>
                {t('col.name')}
              </Th>
              <Th modifier="nowrap" sort={sortOf('state', 1)}>
                {t('col.state')}
              </Th>
              <Th modifier="nowrap" sort={sortOf('submitted', 2)}>
                {t('col.submitted')}
              </Th>
              {p.columns.map((c, i) => (
                <Th key={c} modifier="nowrap" sort={sortOf(c, i + fixed.length)}>
                  <bdi dir="ltr" translate="no" className={isResult(c) ? 'result' : ''}>
                    {nameOf(c)}
                  </bdi>
                </Th>
              ))}
              <Th screenReaderText={t('list.acts')} />
            </Tr>
          </Thead>
          {p.group === '' ? (
            <Tbody>{[...first, ...rest].map(row)}</Tbody>
          ) : (
            grouped(shown, p.group).map((g) => (
              <Tbody key={g.value}>
                <Tr className="group">
                  <Th scope="rowgroup" colSpan={keys.length - p.columns.length + 1}>
                    <Code>{`${p.group} = ${g.value}`}</Code>{' '}
                    <span className="lead">{t('runs.count', { count: g.runs.length, n: number(g.runs.length) })}</span>
                  </Th>
                  {p.columns.map((c) => (
                    <Td key={c}>
                      {isResult(c) && mean(g.runs, nameOf(c)) !== undefined && (
                        <span className="lead">{t('runs.mean', { v: number(mean(g.runs, nameOf(c)), 5) })}</span>
                      )}
                    </Td>
                  ))}
                  <Td />
                </Tr>
                {g.runs.map(row)}
              </Tbody>
            ))
          )}
        </Table>
      </div>
      {shown.length < p.runs.length && (
        <Button variant="link" onClick={() => setDrawn(drawn + DRAWN)}>
          {t('runs.drawMore', { n: number(shown.length), total: number(p.runs.length) })}
        </Button>
      )}
    </>
  );
}
