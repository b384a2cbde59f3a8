// SPDX-License-Identifier: Apache-2.0
// Overview.tsx - the facts of a job, and the numbers it reported at its end.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { duration, number } from '../../lib/format.ts';
import { Code, Id, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { useNames } from '../members/names.ts';
import { Energy } from './Energy.tsx';
import { Outputs } from './Outputs.tsx';
import { Profile } from './Profile.tsx';
import { Tuning } from './Tuning.tsx';

type Job = Schemas['job'];
export const numbersOf = (of: unknown): [string, number][] =>
  Object.entries((of ?? {}) as Record<string, unknown>).filter(
    (e): e is [string, number] => typeof e[1] === 'number' && Number.isFinite(e[1]),
  );

interface Retry {
  max: number;
  on: string[];
  backoff_s: number;
}
/** Which failures are tried again, and how often. */
function Retried({ of }: { of: unknown }) {
  const { t, i18n } = useTranslation();
  const r = of as Retry;
  const list = new Intl.ListFormat(i18n.language, { type: 'disjunction' });
  return t('job.retriedOn', { on: list.format(r.on.map((c) => t(`job.failed_${c}`))), count: r.max, n: number(r.max) });
}

export function Overview({ job }: { job: Job }) {
  const { t } = useTranslation();
  const numbers = numbersOf(job.result);
  const names = useNames();
  return (
    <>
      <Pairs
        rows={[
          [t('col.state'), <State key="s" value={job.state} />],
          [t('col.id'), <Id key="i" value={job.job_id} />],
          [t('col.kind'), t(`kind.${job.kind}`)],
          [t('col.submitted'), <Time key="t" at={job.submitted_at} />],
          [t('col.started'), job.started_at && <Time key="a" at={job.started_at} />],
          [t('col.duration'), duration(job.started_at, job.finished_at)],
          [t('col.zone'), job.zone && <Code key="z">{job.zone}</Code>],
          [t('col.pool'), <Code key="p">{job.pool}</Code>],
          [
            t('job.array'),
            job.array_id && (
              <To key="y" to={`/arrays/${job.array_id}`}>
                <Code>{job.array_id}</Code>
              </To>
            ),
          ],
          [t('job.queue'), job.queue && <Code key="q">{job.queue}</Code>],
          [t('col.class'), job.data_class && t(`class.${job.data_class}`)],
          [
            t('submit.f_nodes_max'),
            Math.max(job.nodes!, job.nodes_max!) > 1 &&
              (job.nodes_max! > job.nodes! ? `${number(job.nodes)}–${number(job.nodes_max)}` : number(job.nodes)),
          ],
          [t('models.engine'), job.engine && <Code key="e">{job.engine}</Code>],
          [t('col.slots'), number(job.slots)],
          [t('col.gpus'), number(job.gpus)],
          [t('col.priority'), number(job.priority)],
          [t('col.tries'), t('job.tries', { n: number(job.requeue_count), max: number(job.max_attempts) })],
          [t('job.retried'), job.retry !== undefined && <Retried key="r" of={job.retry} />],
          [t('job.maxRuntime'), duration('1970-01-01', new Date((job.max_runtime_s ?? 0) * 1000).toISOString())],
          [t('job.by'), job.created_by && <bdi key="b">{names.user(job.created_by)}</bdi>],
        ]}
      />
      {numbers.length > 0 && (
        <>
          <h2 className="block">{t('job.result')}</h2>
          <Pairs rows={numbers.map(([k, v]) => [k, <Code key={k}>{number(v, 6)}</Code>])} />
        </>
      )}
      <Energy job={job} />
      <Outputs job={job} />
      <Profile result={job.result} />
      <Tuning result={job.result} />
    </>
  );
}
