// SPDX-License-Identifier: Apache-2.0
// Logs.tsx - what a job wrote.
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useJobLog } from '../../api/uselog.ts';
import { Answer, Loading } from '../../ui/states.tsx';
import { isBad, isOver } from '../Jobs.tsx';

const Log = lazy(() => import('../../ui/log.tsx').then((m) => ({ default: m.Log })));

export function Logs({ job }: { job: Schemas['job'] }) {
  const { t } = useTranslation();
  const { log, query } = useJobLog(job.job_id!, !isOver(job.state), isBad(job.state));
  return (
    <Answer of={query}>
      {() =>
        log.lines.length === 0 ? (
          <p className="lead">{t(isOver(job.state) ? 'log.noneOver' : 'log.none')}</p>
        ) : (
          <Suspense fallback={<Loading />}>
            <Log log={log} name={job.job_id!} live={!isOver(job.state)} failed={isBad(job.state)} />
          </Suspense>
        )
      }
    </Answer>
  );
}
