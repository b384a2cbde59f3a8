// SPDX-License-Identifier: Apache-2.0
// Metrics.tsx - what a job measured of its work; and, under names that begin with "system.", of the machine it ran on.
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useSeries } from '../../api/series.ts';
import { number } from '../../lib/format.ts';
import { measures } from '../../lib/series.ts';
import { Answer, Loading } from '../../ui/states.tsx';
import { isOver } from '../Jobs.tsx';

const ChartSet = lazy(() => import('../../ui/chartset.tsx').then((m) => ({ default: m.ChartSet })));
const SYSTEM = 'system.';

export function Metrics({ job, system }: { job: Schemas['job']; system: boolean }) {
  const { t } = useTranslation();
  const rows = useSeries(job.job_id!, !isOver(job.state));
  const all = useMemo(
    () =>
      measures(rows.data ?? [], (n) => t('job.execution', { n: number(n) })).filter(
        (m) => m.name.startsWith(SYSTEM) === system,
      ),
    [rows.data, system, t],
  );
  return (
    <Answer of={rows}>
      {() =>
        all.length === 0 ? (
          <p className="lead">{t(system ? 'job.noSystem' : 'job.noMetrics')}</p>
        ) : (
          <Suspense fallback={<Loading />}>
            <ChartSet measures={all} axis={system ? 'time' : 'step'} />
          </Suspense>
        )
      }
    </Answer>
  );
}
