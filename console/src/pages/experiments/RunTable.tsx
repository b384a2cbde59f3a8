// SPDX-License-Identifier: Apache-2.0
// RunTable.tsx - runs with the columns that were chosen; in groups, with the mean of each result, where a parameter groups them.
// Only the rows in sight are in the document: a table of 200 runs took five times as long to draw as a list of 20 jobs.
import { Button } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { usePrefs } from '../../lib/prefs.ts';
import { cell, grouped, isResult, mean, nameOf, RUNS_MAX, type GroupOf, type Run } from '../../lib/runs.ts';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';

/** Before they are measured: a row in a wide window, dense or not. */
const ROW = { compact: 40, normal: 50 };
const OVERSCAN = 6;

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
  /** Absent: nobody here may register a model. */
  onRegister?: ((run: Run) => void) | undefined;
  /** The last rows are in sight. */
  onEnd: () => void;
}

export function RunTable(p: Props) {
  const { t } = useTranslation();
  const { density } = usePrefs();
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo<(Run | GroupOf)[]>(() => {
    if (p.group !== '') return grouped(p.runs, p.group).flatMap((g) => [g, ...g.runs]);
    return [...p.runs.filter((r) => p.pins.includes(r.id)), ...p.runs.filter((r) => !p.pins.includes(r.id))];
  }, [p.runs, p.group, p.pins]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW[density === 'compact' || p.columns.length > 4 ? 'compact' : 'normal'],
    getItemKey: (i) => {
      const line = lines[i]!;
      return 'runs' in line ? `group ${line.value}` : line.id;
    },
    overscan: OVERSCAN,
  });
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
  const row = (r: Run, index: number) => {
    const on = p.chosen.includes(r.id);
    const pinned = p.pins.includes(r.id);
    return (
      <Tr
        key={r.id}
        data-index={index}
        ref={rows.measureElement}
        {...(on ? { isRowSelected: true } : {})}
        className={pinned ? 'pinned' : ''}
      >
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
          {p.onRegister && r.state === 'COMPLETED' && (
            <Button variant="link" size="sm" onClick={() => p.onRegister?.(r)}>
              {t('runs.register')}
            </Button>
          )}
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
  const group = (g: GroupOf, index: number) => (
    <Tr key={`group ${g.value}`} className="group" data-index={index} ref={rows.measureElement}>
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
  );
  const drawn = rows.getVirtualItems();
  const before = drawn[0]?.start ?? 0;
  const after = rows.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  const atEnd = (drawn.at(-1)?.index ?? 0) >= lines.length - 1;
  const { onEnd } = p;
  useEffect(() => {
    if (atEnd && lines.length > 0) onEnd();
  }, [atEnd, lines.length, onEnd]);
  const gap = (blockSize: number) =>
    blockSize > 0 && (
      <tr aria-hidden="true" className="runs-gap">
        <td style={{ blockSize }} />
      </tr>
    );
  return (
    <div className="runs-scroll" ref={box} role="region" aria-label={t('nav.experiments')} tabIndex={0}>
      <Table
        aria-label={t('nav.experiments')}
        variant={density === 'compact' || p.columns.length > 4 ? 'compact' : (undefined as never)}
        gridBreakPoint="grid-md"
        isStickyHeader
        aria-rowcount={lines.length + 1}
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
        <Tbody>
          {gap(before)}
          {drawn.map((v) => {
            const line = lines[v.index]!;
            return 'runs' in line ? group(line, v.index) : row(line, v.index);
          })}
          {gap(after)}
        </Tbody>
      </Table>
    </div>
  );
}
