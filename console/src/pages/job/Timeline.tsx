// SPDX-License-Identifier: Apache-2.0
// Timeline.tsx - the states that a job went through, in the reading direction, each with how long it lasted and why.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { day, duration } from '../../lib/format.ts';
import { State, Time, To } from '../../ui/bits.tsx';
import { isOver } from '../Jobs.tsx';
import { Reason } from './Waiting.tsx';
import './job.css';

/** So many stand in the header at most: the first, then the newest. */
const SHOWN = 8;
/** Why these wait stands in a box of its own. */
const SAID_BELOW = new Set(['PENDING', 'HELD', 'SUSPENDED']);

export function Timeline({ job }: { job: Schemas['job'] }) {
  const { t } = useTranslation();
  const list = useGet(`/v1/jobs/${job.job_id!}/events`);
  const all = list.data?.data ?? [];
  if (all.length === 0) return null;
  const left = Math.max(0, all.length - SHOWN);
  const shown = left > 0 ? [all[0]!, ...all.slice(-(SHOWN - 1))] : all;
  return (
    <ol className="timeline" aria-label={t('job.timeline')}>
      {shown.map((e, i) => {
        const next = all[all.indexOf(e) + 1];
        const now = next === undefined;
        const over = now && isOver(e.state ?? '');
        return [
          i === 1 && left > 0 && (
            <li key="left" className="left">
              <To to={`/jobs/${job.job_id!}?tab=events`}>{t('job.moreStates', { count: left })}</To>
            </li>
          ),
          <li key={e.version} {...(now ? { 'aria-current': 'step' as const } : {})}>
            <span className="what">
              <State value={e.state} />
              {!over && <strong className="lasted">{duration(e.at, next?.at)}</strong>}
            </span>
            <span className="when">
              <Time at={e.at} clock={i > 0 && day(shown[i - 1]!.at) === day(e.at)} />
            </span>
            {now && e.reason && !SAID_BELOW.has(e.state ?? '') && (
              <span className="why">
                <Reason code={e.reason} />
              </span>
            )}
          </li>,
        ];
      })}
    </ol>
  );
}
