// SPDX-License-Identifier: Apache-2.0
// Energy.tsx - what a job took of electricity, as its machines measured it: in all, on average, for each thing that it learnt
// from.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Pairs } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { energyOf, itemsOf } from './energy-sums.ts';

type Job = Schemas['job'];
export function Energy({ job }: { job: Job }) {
  const { t } = useTranslation();
  // Only what has ended was measured to its end: what was read while it ran says less.
  const list = useGet(`/v1/jobs/${job.job_id!}/attempts`, {}, { enabled: job.finished_at !== undefined });
  const items = itemsOf(job.result);
  if (!job.finished_at) return null;
  return (
    <Answer of={list}>
      {(page) => {
        if (page.data.length === 0) return null; // it never ran
        const e = energyOf(page.data, job.gpus ?? 0);
        return (
          <>
            <h2 className="block">{t('job.energy')}</h2>
            <Pairs
              rows={[
                [t('job.energyAll'), e ? t('job.joules', { n: number(e.joules, 1) }) : t('job.notMeasured')],
                [t('job.power'), e && t('job.watts', { n: number(e.watts, 1) })],
                [t('job.energyEach'), e && items > 0 && t('job.joules', { n: number(e.joules / items, 6) })],
              ]}
            />
          </>
        );
      }}
    </Answer>
  );
}
