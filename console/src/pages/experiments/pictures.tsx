// SPDX-License-Identifier: Apache-2.0
// pictures.tsx - runs as lines over parallel axes of their parameters and results, and as points over two of them.
import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { cell, columnsOf, isResult, nameOf, usual, type Run } from '../../lib/runs.ts';
import type { Search } from '../../lib/search.ts';
import { Picture } from '../../ui/echart.tsx';
import { COLOURS, DASHES, dashOf, ink } from '../../ui/theme.ts';

/** More axes than these nobody can follow. */
const AXES_MAX = 8;
const MARKS = ['circle', 'rect', 'triangle', 'diamond'] as const;

function useChoice(name: string, usual: string, all: readonly string[]): [string, (v: string) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const value = all.find((c) => c === search[name]) ?? usual;
  return [value, (v) => void navigate({ to: '.', search: { ...search, [name]: v } as never, replace: true })];
}
function Choice({ label, all, value, put }: { label: string; all: string[]; value: string; put: (v: string) => void }) {
  return (
    <FormSelect aria-label={label} value={value} onChange={(_e, v) => put(v)} translate="no">
      {all.map((c) => (
        <FormSelectOption key={c} value={c} label={`${label}: ${nameOf(c)}`} />
      ))}
    </FormSelect>
  );
}
const textual = (runs: readonly Run[], c: string): boolean => runs.some((r) => typeof cell(r, c) === 'string');
const values = (runs: readonly Run[], c: string): string[] => [...new Set(runs.map((r) => String(cell(r, c) ?? '')))];

export default function Pictures({ runs, names }: { runs: Run[]; names: Map<string, string> }) {
  const { t } = useTranslation();
  const all = columnsOf(runs);
  const axes = usual(runs, AXES_MAX / 2);
  const firstParam = axes.find((c) => !isResult(c)) ?? all[0] ?? '';
  const firstResult = axes.find(isResult) ?? all[0] ?? '';
  const [x, putX] = useChoice('across', firstParam, all);
  const [y, putY] = useChoice('up', firstResult, all);

  const parallel = useCallback(() => {
    const c = ink();
    return {
      parallel: { left: 50, right: 90, top: 50, bottom: 30 },
      parallelAxis: axes.map((a, dim) => ({
        dim,
        name: nameOf(a),
        type: textual(runs, a) ? 'category' : 'value',
        ...(textual(runs, a) ? { data: values(runs, a) } : { scale: true }),
        nameTextStyle: { color: c.text },
        axisLabel: { color: c.text, formatter: (v: number | string) => (typeof v === 'number' ? number(v, 4) : v) },
        axisLine: { lineStyle: { color: c.text } },
      })),
      tooltip: { renderMode: 'richText', formatter: (p: { seriesName: string }) => p.seriesName },
      series: runs.map((r, i) => ({
        type: 'parallel',
        name: names.get(r.id),
        lineStyle: {
          color: c.lines[i % COLOURS],
          width: 2.5,
          opacity: 0.9,
          type: dashOf(i).length ? [...dashOf(i)] : 'solid',
        },
        data: [axes.map((a) => (textual(runs, a) ? String(cell(r, a) ?? '') : (cell(r, a) ?? '-')))],
      })),
    };
  }, [runs, names, axes.join()]);
  const scatter = useCallback(() => {
    const c = ink();
    const axis = (a: string) => ({
      name: nameOf(a),
      nameLocation: 'middle',
      nameGap: 34,
      type: textual(runs, a) ? 'category' : 'value',
      ...(textual(runs, a) ? { data: values(runs, a) } : { scale: true }),
      nameTextStyle: { color: c.text },
      axisLabel: { color: c.text },
      axisLine: { lineStyle: { color: c.text } },
      splitLine: { lineStyle: { color: c.grid } },
    });
    return {
      grid: { left: 80, right: 30, top: 20, bottom: 60 },
      xAxis: axis(x),
      yAxis: { ...axis(y), nameGap: 55 },
      tooltip: {
        renderMode: 'richText',
        formatter: (p: { seriesName: string; value: unknown[] }) => `${p.seriesName}\n${p.value.join(' · ')}`,
      },
      series: runs.map((r, i) => ({
        type: 'scatter',
        name: names.get(r.id),
        symbol: MARKS[i % DASHES.length],
        symbolSize: 13,
        itemStyle: { color: c.lines[i % COLOURS] },
        data: cell(r, x) === undefined || cell(r, y) === undefined ? [] : [[cell(r, x), cell(r, y)]],
      })),
    };
  }, [runs, names, x, y]);
  return (
    <>
      <h2 className="block">{t('runs.parallel')}</h2>
      <p className="lead">{t('runs.twin')}</p>
      {axes.length > 1 && <Picture option={parallel} />}
      <h2 className="block">{t('runs.scatter')}</h2>
      <div className="runs-tools">
        <Choice label={t('runs.across')} all={all} value={x} put={putX} />
        <Choice label={t('runs.up')} all={all} value={y} put={putY} />
      </div>
      {all.length > 1 && <Picture option={scatter} />}
    </>
  );
}
