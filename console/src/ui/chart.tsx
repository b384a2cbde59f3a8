// SPDX-License-Identifier: Apache-2.0
// chart.tsx - one measure as lines: drawn while it is in sight, read point by point with the arrow keys, as a table, as CSV and as PNG.
import { Button, Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { csvText, saveAs } from '../lib/csv.ts';
import { number, zoneLabel } from '../lib/format.ts';
import { unitOf, type Line } from '../lib/series.ts';
import { usePrefs } from '../lib/prefs.ts';
import { ChartTable } from './charttable.tsx';
import { columns, draw, HEIGHT, png, pointTo, position, value, type View } from './plot.ts';
import { COLOURS, dashOf, useTheme } from './theme.ts';
import './chart.css';

function Swatch({ colour }: { colour: number }) {
  return (
    <svg width="24" height="10" aria-hidden="true">
      <line
        x1="0"
        x2="24"
        y1="5"
        y2="5"
        stroke={`var(--chart-${(colour % COLOURS) + 1})`}
        strokeWidth="2.5"
        strokeDasharray={dashOf(colour).join(' ')}
      />
    </svg>
  );
}

/** Is it in sight, or nearly? Before, only its place is kept. */
function useSeen(): [(e: HTMLDivElement | null) => void, boolean] {
  const [seen, setSeen] = useState(false);
  const [at, setAt] = useState<HTMLDivElement | null>(null);
  useEffect(() => {
    if (!at) return undefined;
    const watch = new IntersectionObserver((all) => setSeen(all.at(-1)!.isIntersecting), { rootMargin: '120px' });
    watch.observe(at);
    return () => watch.disconnect();
  }, [at]);
  return [setAt, seen];
}

/** name: as the API has it, with its unit at the end. title: in the reader's language, where the name is ours and not the job's. */
export function Chart({ name, title, lines, view }: { name: string; title?: string; lines: Line[]; view: View }) {
  const { t } = useTranslation();
  const theme = useTheme();
  const { zone, digits } = usePrefs();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [place, seen] = useSeen();
  const [table, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [index, setIndex] = useState<number | null>(null);
  const drawn = useMemo(() => (seen || table ? columns(lines, view) : null), [lines, view, seen, table]);
  const unit = unitOf(name);
  const shown = title ?? name;
  const axisLabel = view.x === 'time' ? t('chart.xTime', { zone: zoneLabel() }) : t(`chart.x_${view.x}`);
  useEffect(() => {
    const at = box.current;
    if (!at || table || !seen || !drawn) return undefined;
    let frame = 0;
    const made = draw(at, drawn, {
      lines,
      view,
      name,
      hidden,
      axisLabel,
      onCursor: (i) => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => setIndex(i));
      },
    });
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(200, at.clientWidth), height: HEIGHT }));
    watch.observe(at);
    return () => {
      cancelAnimationFrame(frame);
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [drawn, table, seen, name, theme, zone, digits, hidden, axisLabel, lines, view]);

  const step = view.smooth > 0 ? 2 : 1;
  const data = drawn?.data;
  const size = data?.[0].length ?? 0;
  const at = index === null || index >= size ? null : index;
  const readOf = (i: number): string => (at === null ? '' : value(data?.[1 + i * step]?.[at], unit));
  const where = at === null ? '' : position(data![0][at]!, view.x);
  const spoken =
    at === null
      ? ''
      : t('chart.reading', {
          where,
          values: lines
            .map((l, i) => [l, readOf(i)] as const)
            .filter(([l, v]) => v !== '' && !hidden.has(l.key))
            .map(([l, v]) => `${l.label}: ${v}`)
            .join(', '),
        });
  const go = (e: KeyboardEvent): void => {
    const u = plot.current;
    if (!u || size === 0) return;
    const page = Math.max(1, Math.round(size / 20));
    const now = at ?? -1;
    const moves: Record<string, number> = {
      ArrowRight: now + 1,
      ArrowLeft: at === null ? size - 1 : now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: size - 1,
    };
    const to = moves[e.key];
    if (to !== undefined) pointTo(u, Math.min(size - 1, Math.max(0, to)));
    else if (e.key === '+' || e.key === '-') {
      const { min, max } = u.scales['x']!;
      const half = (((max ?? 0) - (min ?? 0)) / 2) * (e.key === '+' ? 0.5 : 2);
      const mid = at === null ? ((min ?? 0) + (max ?? 0)) / 2 : data![0][at]!;
      u.setScale('x', { min: mid - half, max: mid + half });
    } else if (e.key === '0') u.setScale('x', { min: data![0][0]!, max: data![0].at(-1)! });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const rows = (): Record<string, unknown>[] =>
    lines.flatMap((l) =>
      l.y.map((y, i) => ({
        line: l.label,
        step: l.step[i] ?? '',
        at: Number.isFinite(l.at[i]) ? new Date(l.at[i]!).toISOString() : '',
        [name]: y,
      })),
    );
  const save = (): void => {
    if (plot.current) void png(plot.current, shown).then((blob) => blob && saveAs(`${name}.png`, blob, 'image/png'));
  };
  const points = lines.reduce((n, l) => n + l.y.length, 0);
  return (
    <Card className="chart-card" isCompact>
      <CardHeader
        actions={{
          actions: (
            <>
              <Button variant="link" size="sm" aria-pressed={table} onClick={() => setTable(!table)}>
                {t('chart.table')}
              </Button>
              <Button
                variant="link"
                size="sm"
                aria-label={t('chart.csvOf', { name: shown })}
                onClick={() => saveAs(`${name}.csv`, csvText(['line', 'step', 'at', name], rows()))}
              >
                {t('list.csv')}
              </Button>
              <Button
                variant="link"
                size="sm"
                isDisabled={table}
                aria-label={t('chart.pngOf', { name: shown })}
                onClick={save}
              >
                {t('chart.png')}
              </Button>
            </>
          ),
        }}
      >
        <CardTitle component="h3">
          {title ?? (
            <bdi dir="ltr" translate="no">
              {name}
            </bdi>
          )}
          {unit !== '' && (
            <>
              {' '}
              <bdi dir="ltr" className="unit" translate="no">{`(${unit})`}</bdi>
            </>
          )}
        </CardTitle>
      </CardHeader>
      <CardBody>
        {table ? (
          <ChartTable name={shown} lines={lines} unit={unit} />
        ) : (
          <div
            ref={(e) => {
              box.current = e;
              place(e);
            }}
            className="plot"
            tabIndex={0}
            role="slider"
            aria-orientation="horizontal"
            aria-label={t('chart.label', { name: shown, points: number(points), lines: number(lines.length) })}
            aria-valuemin={0}
            aria-valuemax={Math.max(0, size - 1)}
            aria-valuenow={at ?? 0}
            aria-valuetext={where === '' ? t('chart.noPoint') : where}
            onKeyDown={go}
          />
        )}
        {!table && (
          <>
            <ul className="legend" aria-label={t('chart.legend', { name: shown })}>
              {lines.map((l, i) => (
                <li key={l.key}>
                  <button
                    type="button"
                    aria-pressed={!hidden.has(l.key)}
                    title={t('chart.toggle')}
                    onClick={() => {
                      const next = new Set(hidden);
                      if (!next.delete(l.key)) next.add(l.key);
                      setHidden(next);
                    }}
                  >
                    <Swatch colour={l.colour} />
                    <bdi translate="no">{l.label}</bdi>
                  </button>
                  <strong>
                    <bdi dir="ltr">{readOf(i)}</bdi>
                  </strong>
                </li>
              ))}
              {where !== '' && (
                <li>
                  <bdi dir="ltr">{where}</bdi>
                </li>
              )}
            </ul>
            <p className="pf-v6-screen-reader" aria-live="polite">
              {document.activeElement === box.current ? spoken : ''}
            </p>
            {(drawn?.left ?? 0) > 0 && (
              <p className="lead">{t('chart.notPositive', { count: drawn!.left, n: number(drawn!.left) })}</p>
            )}
          </>
        )}
      </CardBody>
    </Card>
  );
}
