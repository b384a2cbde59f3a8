// SPDX-License-Identifier: Apache-2.0
// Steps.tsx - who holds how much of a zone from when on, as areas stacked in steps below the line of all that there
// is. Time runs from left to right in every language; the same numbers stand in the tables of the page.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { number, shortTime } from '../../lib/format.ts';
import { stack, type Measure } from './sums.ts';
import '../../ui/bars.css';

const WIDTH = 1000,
  HEIGHT = 160,
  MOST_SERIES = 6;

type Zone = Schemas['clock_zone'];
export function Steps({ zone, from, until, measure }: { zone: Zone; from: number; until: number; measure: Measure }) {
  const { t } = useTranslation();
  const all = zone[measure];
  const { series, top } = stack(zone, from, until, measure, MOST_SERIES);
  const x = (at: number): number => ((at - from) / (until - from)) * WIDTH;
  const y = (n: number): number => HEIGHT - (n / top) * (HEIGHT - 4);
  const nameOf = (who: string, name: string | undefined): string =>
    who === 'tenant' ? (name ?? '') : t(`clock.${who}`);
  return (
    <figure className="bars clock-steps" dir="ltr">
      <figcaption className="bars-legend">
        {series.map((s, i) => (
          <span key={`${s.who} ${s.name ?? ''}`}>
            <span className={`bars-key bars-${i}`} />
            <bdi>{nameOf(s.who, s.name)}</bdi>
          </span>
        ))}
        <span>
          <span className="bars-key clock-all" />
          <bdi>{t('clock.capacity', { n: number(all) })}</bdi>
        </span>
      </figcaption>
      <div className="bars-body">
        <div className="bars-axis" aria-hidden="true">
          <span>{number(top)}</span>
          <span>{number(top / 2, 1)}</span>
          <span>{number(0)}</span>
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t('clock.drawn', { zone: zone.zone, what: t(`clock.${measure}`) })}
        >
          {series.map((s, i) => {
            const steps = s.steps.map((p, k) => {
              const end = x(s.steps[k + 1]?.at ?? until);
              return { from: x(p.at), end, low: y(p.low), high: y(p.high) };
            });
            const upper = steps.map((p) => `${p.from},${p.high} ${p.end},${p.high}`).join(' ');
            const lower = [...steps]
              .reverse()
              .map((p) => `${p.end},${p.low} ${p.from},${p.low}`)
              .join(' ');
            return <polygon key={`${s.who} ${s.name ?? ''}`} className={`bars-${i}`} points={`${upper} ${lower}`} />;
          })}
          <line className="clock-line" x1="0" x2={WIDTH} y1={y(all)} y2={y(all)} vectorEffect="non-scaling-stroke" />
        </svg>
      </div>
      <div className="bars-days" aria-hidden="true">
        {[0, 0.5, 1].map((part) => (
          <bdi key={part}>{shortTime(from + part * (until - from), true)}</bdi>
        ))}
      </div>
    </figure>
  );
}
