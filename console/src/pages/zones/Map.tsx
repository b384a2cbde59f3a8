// SPDX-License-Identifier: Apache-2.0
// Map.tsx - zones on a schematic map of the Emirates, and those elsewhere in a column beside it. The table below says the same.
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { Code, To } from '../../ui/bits.tsx';
import type { Health, ZoneView } from './data.ts';
import { at, cityOf, EMIRATES, HEIGHT, WIDTH, type Emirate } from './places.ts';
import './zones.css';

/** Shape and colour both say the state. */
function Mark({ health, x = 0, y = 0 }: { health: Health; x?: number; y?: number }) {
  const cls = `zone-mark is-${health}`;
  return health === 'hurt' ? (
    <path className={cls} d={`M${x} ${y - 8} L${x + 8} ${y} L${x} ${y + 8} L${x - 8} ${y} Z`} />
  ) : (
    <circle className={cls} cx={x} cy={y} r={6.5} />
  );
}
function Capacity({ view }: { view: ZoneView }) {
  const { t } = useTranslation();
  if (view.nodes === undefined || view.nodes.length === 0) return null;
  const { used, of } = view.slots;
  return (
    <>
      {used === undefined
        ? t('zones.slots', { count: of, of: number(of) })
        : t('zones.slotsUsed', { used: number(used), of: number(of) })}
    </>
  );
}

function Outline({ emirate }: { emirate: Emirate }) {
  const { t } = useTranslation();
  const [x, y] = at(emirate.name);
  const line = emirate.from && at(emirate.from);
  const south = line && line[1] < y;
  return (
    <g>
      <polygon className="emirate" points={emirate.outline.map((p) => at(p).join(',')).join(' ')} />
      {line && (
        <line className="emirate-line" x1={south ? x : x + 4} y1={south ? y - 12 : y - 4} x2={line[0]} y2={line[1]} />
      )}
      <text className="emirate-name" x={x} y={y} textAnchor={line && !south ? 'end' : 'middle'}>
        {t(emirate.key)}
      </text>
    </g>
  );
}

export function ZoneMap({ views }: { views: ZoneView[] }) {
  const { t, i18n } = useTranslation();
  const placed = views.flatMap((v) => {
    const city = cityOf(v.zone.code!, v.zone.country!);
    return city ? [{ v, city }] : [];
  });
  const elsewhere = views.filter((v) => !placed.some((p) => p.v === v));
  const country = (code: string): string => new Intl.DisplayNames([i18n.language], { type: 'region' }).of(code) ?? code;
  const seen = new Map<string, number>();
  return (
    <div className="zone-map">
      <div className="zone-plan">
        <svg viewBox={`0 -12 ${WIDTH} ${HEIGHT + 24}`} role="group" aria-label={t('zones.map')} direction="ltr">
          {EMIRATES.map((e) => (
            <Outline key={e.key} emirate={e} />
          ))}
          {placed.map(({ v, city }) => {
            const [x, y0] = at(city);
            const n = seen.get(city.join()) ?? 0;
            seen.set(city.join(), n + 1);
            const y = y0 + n * 26;
            // A code beside its dot would lie under the next dot to its right: there it stands below.
            const crowded = placed.some((o) => {
              const [ox, oy] = at(o.city);
              return ox > x && ox - x < 96 && Math.abs(oy - y) < 18;
            });
            return (
              <Link
                key={v.zone.code}
                to={`/zones/${v.zone.code!}` as never}
                aria-label={`${v.zone.code!}: ${t(`zones.${v.health}`)}`}
                className="zone-point"
              >
                <circle className="zone-hit" cx={x} cy={y} r={14} />
                <Mark health={v.health} x={x} y={y} />
                <text
                  className="zone-code"
                  x={crowded ? x : x + 12}
                  y={crowded ? y + 22 : y + 4}
                  textAnchor={crowded ? 'middle' : 'start'}
                >
                  {v.zone.code}
                </text>
              </Link>
            );
          })}
        </svg>
      </div>
      <div className="zone-side">
        {elsewhere.length > 0 && (
          <>
            <h2>{t('zones.elsewhere')}</h2>
            <ul>
              {elsewhere.map((v) => (
                <li key={v.zone.code}>
                  <svg viewBox="-10 -10 20 20" aria-hidden="true">
                    <Mark health={v.health} />
                  </svg>
                  <span>
                    <To to={`/zones/${v.zone.code!}`}>
                      <Code>{v.zone.code}</Code>
                    </To>{' '}
                    <span className="subtle">
                      {country(v.zone.country!)} <Capacity view={v} />
                    </span>
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
        <h2>{t('zones.legend')}</h2>
        <ul>
          {(['sound', 'idle', 'hurt'] as const).map((h) => (
            <li key={h}>
              <svg viewBox="-10 -10 20 20" aria-hidden="true">
                <Mark health={h} />
              </svg>
              {t(`zones.${h}`)}
            </li>
          ))}
        </ul>
        <p className="subtle">{t('zones.schematic')}</p>
      </div>
    </div>
  );
}
