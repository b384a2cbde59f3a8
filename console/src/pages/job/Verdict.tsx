// SPDX-License-Identifier: Apache-2.0
// Verdict.tsx - why a job stands where it stands: its message, and of one that ended badly the line of its log that says why.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useJobLog } from '../../api/uselog.ts';
import { plain } from '../../lib/ansi.ts';
import { Alert } from '../../ui/alert.tsx';
import { State, To } from '../../ui/bits.tsx';
import { Cause } from '../../ui/cause.tsx';
import { isWaiting } from '../../lib/jobs.ts';
import { isBad } from '../Jobs.tsx';
import { hasNotice } from './Idle.tsx';
import { Reason, Waiting } from './Waiting.tsx';

type Job = Schemas['job'];

function ErrorLine({ id, said }: { id: string; said: string | undefined }) {
  const { t } = useTranslation();
  const { log } = useJobLog(id, false, true);
  const line = log.error ?? log.lines.at(-1);
  if (!line) return null;
  const text = plain(line.text ?? '');
  const number = log.numberOf(line.log_id);
  return (
    <div className="job-line">
      <To to={`/jobs/${id}?tab=logs#L${line.log_id}`}>
        {number === undefined ? t('job.atItsLine') : t('job.atLine', { n: `\u2066${number}\u2069` })}
      </To>{' '}
      {(!said || !text.endsWith(said)) && (
        <bdi dir="ltr" translate="no">
          {text.slice(0, 400)}
        </bdi>
      )}
    </div>
  );
}

export function Verdict({ job }: { job: Job }) {
  const { t } = useTranslation();
  const bad = isBad(job.state);
  if (isWaiting(job.state)) return <Waiting job={job} />;
  if ((!job.message && !bad) || hasNotice(job)) return null;
  return (
    <Alert
      isInline
      variant={bad ? 'danger' : 'info'}
      variantLabel={t(`value.${job.state}`)}
      title={
        <>
          <State value={job.state} /> <Reason code={job.reason} />
        </>
      }
      className="block"
    >
      <Cause message={job.message} />
      {bad && <ErrorLine id={job.job_id!} said={job.message} />}
    </Alert>
  );
}
