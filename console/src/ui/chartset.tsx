// SPDX-License-Identifier: Apache-2.0
// chartset.tsx - the charts of a page under one set of choices, which stand in the address: axis, logarithm, smoothing. Their cursors go together.
import { FormSelect, FormSelectOption, SearchInput, Switch } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../lib/format.ts';
import type { Search } from '../lib/search.ts';
import type { Axis, Measure } from '../lib/series.ts';
import { Chart } from './chart.tsx';

const AXES: readonly Axis[] = ['step', 'relative', 'time'];
/** From here on a page of charts is searched, not scrolled. */
const MANY = 8;

export function ChartSet({ measures, axis = 'step' }: { measures: Measure[]; axis?: Axis }) {
  const { t } = useTranslation();
  const id = useId();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const [dragged, setDragged] = useState<number | null>(null);
  const [find, setFind] = useState('');
  const kept = Math.min(0.99, Math.max(0, Number(search['smooth']) || 0));
  const smooth = dragged ?? kept;
  const x = AXES.find((a) => a === search['x']) ?? axis;
  const log = search['log'] === '1';
  const view = useMemo(() => ({ x, log, smooth }), [x, log, smooth]);
  const put = (name: string, to: string): void => {
    const next: Search = { ...search, [name]: to };
    if (to === '') delete next[name];
    void navigate({ to: '.', search: next as never, replace: true });
  };
  const shown = measures.filter((m) => m.name.toLowerCase().includes(find.toLowerCase()));
  return (
    <>
      <div className="chart-tools">
        {measures.length > MANY && (
          <SearchInput
            aria-label={t('chart.find')}
            placeholder={t('chart.find')}
            value={find}
            onChange={(_e, v) => setFind(v)}
            onClear={() => setFind('')}
            resetButtonLabel={t('act.clear')}
          />
        )}
        <label htmlFor={`${id}x`}>
          <span>{t('chart.axis')}</span>
          <FormSelect id={`${id}x`} value={x} onChange={(_e, v) => put('x', v === axis ? '' : v)}>
            {AXES.map((a) => (
              <FormSelectOption key={a} value={a} label={t(`chart.x_${a}`)} />
            ))}
          </FormSelect>
        </label>
        <label htmlFor={`${id}s`}>
          <span>{t('chart.smooth')}</span>
          <input
            id={`${id}s`}
            type="range"
            min="0"
            max="0.99"
            step="0.01"
            value={smooth}
            onChange={(e) => setDragged(Number(e.target.value))}
            onPointerUp={() => put('smooth', smooth === 0 ? '' : String(smooth))}
            onKeyUp={() => put('smooth', smooth === 0 ? '' : String(smooth))}
            onBlur={() => put('smooth', smooth === 0 ? '' : String(smooth))}
          />
          <output htmlFor={`${id}s`}>{number(smooth)}</output>
        </label>
        <Switch label={t('chart.log')} isChecked={log} onChange={(_e, on) => put('log', on ? '1' : '')} />
      </div>
      {shown.length === 0 && <p className="lead">{t('list.noMatch')}</p>}
      <div className="cards charts">
        {shown.map((m) => (
          <Chart key={m.name} name={m.name} lines={m.lines} view={view} />
        ))}
      </div>
    </>
  );
}
