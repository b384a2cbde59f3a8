// SPDX-License-Identifier: Apache-2.0
// bars.tsx - amounts per day as stacked bars, drawn in the page's own colours; the same numbers stand in the table beside it.
//
// rows: days in order, each with one amount per series. Time runs from left to right in every language.
import { useTranslation } from 'react-i18next';
import { niceCeil } from '../lib/axis.ts';
import { number } from '../lib/format.ts';
import './bars.css';

export interface BarRow {
  day: string;
  amounts: number[];
}
const HEIGHT = 160;
const MOST_SERIES = 6;

export function Bars({ label, unit, series, rows }: { label: string; unit: string; series: string[]; rows: BarRow[] }) {
  const { t } = useTranslation();
  const top = niceCeil(Math.max(...rows.map((r) => r.amounts.reduce((a, b) => a + b, 0))));
  const step = 100 / Math.max(rows.length, 1);
  return (
    <figure className="bars" dir="ltr">
      <figcaption className="bars-legend">
        {series.slice(0, MOST_SERIES).map((s, i) => (
          <span key={s}>
            <span className={`bars-key bars-${i}`} />
            <bdi translate="no">{s}</bdi>
          </span>
        ))}
      </figcaption>
      <div className="bars-body">
        <div className="bars-axis" aria-hidden="true">
          <span>
            {number(top, 6)} <bdi>{unit}</bdi>
          </span>
          <span>{number(top / 2, 6)}</span>
          <span>{number(0)}</span>
        </div>
        <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {[0, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
            <line key={y} className="bars-grid" x1="0" x2="100" y1={y} y2={y} vectorEffect="non-scaling-stroke" />
          ))}
          {rows.map((r, i) => {
            let base = HEIGHT;
            return r.amounts.map((a, s) => {
              const h = (a / top) * HEIGHT;
              base -= h;
              return h <= 0 ? null : (
                <rect
                  key={`${r.day} ${series[s] ?? s}`}
                  className={`bars-${Math.min(s, MOST_SERIES - 1)}`}
                  x={i * step + step * 0.15}
                  y={base}
                  width={Math.min(step * 0.7, 6)}
                  height={h}
                >
                  <title>{t('chart.bar', { day: r.day, series: series[s] ?? '', amount: number(a, 6), unit })}</title>
                </rect>
              );
            });
          })}
        </svg>
      </div>
      <div className="bars-days" aria-hidden="true">
        {[rows[0], rows[Math.floor(rows.length / 2)], rows.at(-1)].map((r) => r && <span key={r.day}>{r.day}</span>)}
      </div>
    </figure>
  );
}
