// SPDX-License-Identifier: Apache-2.0
// Figures.tsx - how a deployment answered lately: calls, what got no answer, and how long answers took, by the minute and as sums.
//
// All processes of falaj-api are summed, over an hour or since the deployment was made: the page says since when, and a minute without calls is
// a gap in times.
import { Title } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import type { TFunction } from 'i18next';
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { millis, number } from '../../lib/format.ts';
import type { Line } from '../../lib/series.ts';
import { Time } from '../../ui/bits.tsx';
import { Answer, Empty, Loading } from '../../ui/states.tsx';
import './play.css';

const Chart = lazy(() => import('../../ui/chart.tsx').then((m) => ({ default: m.Chart })));
type Stats = Schemas['deployment_stats'];
type Minute = Schemas['infer_minute'];
const PACE_MS = 5000; // no topic tells of calls: there may be thousands in a second
// What a setting of 0 means.
const QUEUE = 4096;
const TEXTS = 8;
const VIEW = { x: 'time', log: false, smooth: 0 } as const;

function line(label: string, colour: number, minutes: readonly Minute[], of: (m: Minute) => number | undefined): Line {
  const at = minutes.map((m) => Date.parse(m.at!));
  return { key: label, label, colour, step: [], at, y: minutes.map((m) => of(m) ?? null) };
}

function Charts({ minutes }: { minutes: readonly Minute[] }) {
  const { t } = useTranslation();
  const [rate, bad, times] = useMemo(
    () => [
      [line(t('deploy.requests'), 0, minutes, (m) => m.per_second)],
      [line(t('deploy.errors'), 1, minutes, (m) => m.errors), line(t('deploy.refused'), 2, minutes, (m) => m.refused)],
      [
        line(t('deploy.p50'), 0, minutes, (m) => m.p50_ms),
        line(t('deploy.p95'), 1, minutes, (m) => m.p95_ms),
        line(t('deploy.p99'), 2, minutes, (m) => m.p99_ms),
      ],
    ],
    [minutes, t],
  );
  return (
    <div className="cards block">
      <Chart name="requests_per_s" title={t('deploy.chartRate')} lines={rate!} view={VIEW} />
      <Chart name="answer_ms" title={t('deploy.chartTimes')} lines={times!} view={VIEW} />
      <Chart name="calls_per_minute" title={t('deploy.chartBad')} lines={bad!} view={VIEW} />
    </div>
  );
}

/** How it stands at a glance: the last minutes, and beside them what its settings allow. What it computes together and lets
 *  wait is counted on its machine; here stands the most of it. */
function Tiles({ of, stats }: { of: Schemas['deployment']; stats: Stats }) {
  const { t } = useTranslation();
  const [near, far] = [stats.windows[0], stats.windows.at(-1)];
  if (!near || !far) return null;
  const ms = (v: number | undefined): string => (v === undefined ? t('chart.none') : millis(v));
  const writes = of.max_sequences !== undefined && (far.tokens ?? 0) > 0;
  const waits = of.max_queue_size || QUEUE;
  const tiles: [key: string, value: string, more: string][] = [
    writes
      ? [
          'latency',
          ms(near.first_p50_ms),
          near.gap_p50_ms === undefined ? '' : t('deploy.tileGap', { gap: ms(near.gap_p50_ms) }),
        ]
      : ['latency', ms(near.p50_ms), near.p95_ms === undefined ? '' : t('deploy.tileP95', { ms: ms(near.p95_ms) })],
    ['queue', t('deploy.tileWaits', { count: waits, n: number(waits) }), refusedOf(t, far.refused)],
    writes
      ? [
          'together',
          t('deploy.tileTexts', { count: of.max_sequences || TEXTS, n: number(of.max_sequences || TEXTS) }),
          '',
        ]
      : ['together', of.max_batch_size ? number(of.max_batch_size) : t('deploy.tileAsPays'), t('deploy.tileRows')],
    ...(writes
      ? [
          ['tokens', number(near.tokens_per_second, 1), t('deploy.tileTokens', { n: number(far.tokens) })] as [
            string,
            string,
            string,
          ],
        ]
      : []),
  ];
  return (
    <ul className="figure-tiles" aria-label={t('deploy.tiles')}>
      {tiles.map(([key, value, more]) => (
        <li key={key}>
          <span className="lead">{t(`deploy.tile_${key}`)}</span>
          <strong>{value}</strong>
          <span className="lead">{more}</span>
        </li>
      ))}
    </ul>
  );
}
const refusedOf = (t: TFunction, n: number | undefined): string =>
  t('deploy.tileRefused', { count: n ?? 0, n: number(n ?? 0) });

function Sums({ of }: { of: Stats }) {
  const { t } = useTranslation();
  const ms = (v: number | undefined): string => (v === undefined ? t('chart.none') : millis(v));
  const heads = ['requests', 'perSecond', 'errors', 'refused', 'p50', 'p95', 'p99'].map((k) => t(`deploy.${k}`));
  return (
    <Table variant="compact" aria-label={t('deploy.traffic')} gridBreakPoint="grid-md">
      <Thead>
        <Tr>
          <Th screenReaderText={t('deploy.window')} />
          {heads.map((h) => (
            <Th key={h}>{h}</Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>
        {of.windows.map((w) => (
          <Tr key={w.minutes}>
            <Th scope="row">{t('deploy.lastMinutes', { count: w.minutes, n: number(w.minutes) })}</Th>
            {[
              number(w.requests),
              number(w.per_second, 3),
              number(w.errors),
              number(w.refused),
              ms(w.p50_ms),
              ms(w.p95_ms),
              ms(w.p99_ms),
            ].map((v, i) => (
              <Td key={heads[i]} dataLabel={heads[i]!}>
                {v}
              </Td>
            ))}
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}

/** cli: how it is asked from a terminal. */
export function Figures({ of, cli }: { of: Schemas['deployment']; cli: string }) {
  const { t } = useTranslation();
  const stats = useGet(`/v1/deployments/${encodeURIComponent(of.deployment_id!)}/stats`, {}, { everyMs: PACE_MS });
  if (!of.ready && !stats.data?.per_minute.length) return null;
  return (
    <section className="block" aria-labelledby="traffic">
      <Title headingLevel="h2" size="lg" id="traffic">
        {t('deploy.traffic')}
      </Title>
      <Answer of={stats}>
        {(s) =>
          s.per_minute.length === 0 ? (
            <Empty title={t('deploy.noTraffic')} body={t('deploy.noTrafficBody')} cli={cli} />
          ) : (
            <>
              <p className="lead">
                {t('deploy.since')} <Time at={s.since} />
              </p>
              <Tiles of={of} stats={s} />
              <Sums of={s} />
              <Suspense fallback={<Loading />}>
                <Charts minutes={s.per_minute} />
              </Suspense>
            </>
          )
        }
      </Answer>
    </section>
  );
}
