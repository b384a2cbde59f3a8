// SPDX-License-Identifier: Apache-2.0
// chart.tsx - a line over steps, drawn by uPlot in the colours of the page; the same numbers as a table on demand. Always left to right.
import { Button, Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { csvText, saveAs } from '../lib/csv.ts';
import { number } from '../lib/format.ts';
import { isDark, usePrefs } from '../lib/prefs.ts';

export interface Point {
  step: number;
  value: number;
}

export function Chart({ name, points }: { name: string; points: Point[] }) {
  const { t } = useTranslation();
  const prefs = usePrefs();
  const box = useRef<HTMLDivElement>(null);
  const [table, setTable] = useState(false);
  useEffect(() => {
    const at = box.current;
    if (!at || table) return undefined;
    const style = getComputedStyle(document.documentElement);
    const ink =
      style.getPropertyValue('--pf-t--global--text--color--subtle').trim() || (isDark() ? '#c7c7c7' : '#4d4d4d');
    const axis = {
      stroke: ink,
      grid: { stroke: isDark() ? '#ffffff22' : '#00000018' },
      ticks: { stroke: ink },
      values: (_u: uPlot, v: number[]) => v.map((x) => number(x, 4)),
    };
    const plot = new uPlot(
      {
        width: Math.max(200, at.clientWidth),
        height: 230,
        legend: { show: false },
        scales: { x: { time: false } },
        cursor: { y: false },
        axes: [axis, { ...axis, size: 62 }],
        series: [
          {},
          { label: name, stroke: isDark() ? '#6fcfe0' : '#0b5c6b', width: 2, points: { show: points.length < 60 } },
        ],
      },
      [points.map((p) => p.step), points.map((p) => p.value)],
      at,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, at.clientWidth), height: 230 }));
    watch.observe(at);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [points, table, name, prefs]);
  const last = points.at(-1);
  return (
    <Card className="chart-card" isCompact>
      <CardHeader
        actions={{
          actions: (
            <>
              <Button variant="link" size="sm" aria-pressed={table} onClick={() => setTable(!table)}>
                {table ? t('chart.line') : t('chart.table')}
              </Button>
              <Button
                variant="link"
                size="sm"
                onClick={() => saveAs(`${name}.csv`, csvText(['step', 'value'], points as never))}
              >
                {t('list.csv')}
              </Button>
            </>
          ),
        }}
      >
        <CardTitle component="h3">
          <bdi dir="ltr">{name}</bdi>
        </CardTitle>
      </CardHeader>
      <CardBody>
        {table ? (
          <div className="json">
            <Table variant="compact" aria-label={name}>
              <Thead>
                <Tr>
                  <Th>{t('chart.step')}</Th>
                  <Th>{t('chart.value')}</Th>
                </Tr>
              </Thead>
              <Tbody>
                {points.slice(-500).map((p) => (
                  <Tr key={p.step}>
                    <Td>{number(p.step)}</Td>
                    <Td>{number(p.value, 6)}</Td>
                  </Tr>
                ))}
              </Tbody>
            </Table>
          </div>
        ) : (
          <div
            ref={box}
            className="plot"
            role="img"
            aria-label={t('chart.label', { name, points: points.length, last: number(last?.value, 4) })}
          />
        )}
      </CardBody>
    </Card>
  );
}
