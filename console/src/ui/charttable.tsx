// SPDX-License-Identifier: Apache-2.0
// charttable.tsx - the numbers of a chart as a table: the newest of each line; all of them are in the CSV.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { dateTime, number } from '../lib/format.ts';
import type { Line } from '../lib/series.ts';
import { value } from './plot.ts';

const SHOWN = 200;

export function ChartTable({ name, lines, unit }: { name: string; lines: readonly Line[]; unit: string }) {
  const { t } = useTranslation();
  const rows = lines.flatMap((l) =>
    l.y
      .map((y, i) => ({ l, y, i }))
      .slice(-Math.max(5, Math.floor(SHOWN / lines.length)))
      .reverse(),
  );
  const steps = lines.some((l) => l.step.length > 0);
  const total = lines.reduce((n, l) => n + l.y.length, 0);
  return (
    <>
      <div className="chart-table" role="region" aria-label={name} tabIndex={0}>
        <Table variant="compact" aria-label={name} isStickyHeader gridBreakPoint="">
          <Thead>
            <Tr>
              {lines.length > 1 && <Th>{t('chart.line')}</Th>}
              {steps && <Th>{t('chart.step')}</Th>}
              <Th>{t('col.at')}</Th>
              <Th>{t('chart.value')}</Th>
            </Tr>
          </Thead>
          <Tbody>
            {rows.map(({ l, y, i }) => (
              <Tr key={`${l.key} ${i}`}>
                {lines.length > 1 && (
                  <Td>
                    <bdi translate="no">{l.label}</bdi>
                  </Td>
                )}
                {steps && <Td>{number(l.step[i])}</Td>}
                <Td>{Number.isFinite(l.at[i]) ? dateTime(new Date(l.at[i]!).toISOString()) : ''}</Td>
                <Td>
                  <bdi dir="ltr">{y === null ? t('chart.none') : value(y, unit)}</bdi>
                </Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </div>
      {rows.length < total && (
        <p className="lead">{t('chart.lastRows', { n: number(rows.length), total: number(total) })}</p>
      )}
    </>
  );
}
