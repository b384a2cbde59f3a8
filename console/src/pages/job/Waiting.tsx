// SPDX-License-Identifier: Apache-2.0
// Waiting.tsx - why a job does not run yet, in the planner's words, and where it could run.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { neverStarts } from '../../lib/jobs.ts';
import { Alert } from '../../ui/alert.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Code, Time } from '../../ui/bits.tsx';
import { Changes } from '../clock/Changes.tsx';

const PACE_MS = 10_000;

/** A reason of a job by its name; one that this console does not know yet is shown as it is. */
export function Reason({ code }: { code: string | undefined }) {
  const { t, i18n } = useTranslation();
  if (!code) return null;
  return i18n.exists(`reason.${code}`) ? <span>{t(`reason.${code}`)}</span> : <Code>{code}</Code>;
}

/** What a node must have or grant, by its name; one that this console does not know yet is shown as it is. */
function Constraint({ name }: { name: string }) {
  const { t, i18n } = useTranslation();
  return i18n.exists(`job.c_${name}`) ? <span>{t(`job.c_${name}`)}</span> : <Code>{name}</Code>;
}

export function Waiting({ job }: { job: Schemas['job'] }) {
  const { t } = useTranslation();
  const { data: p } = useGet(`/v1/jobs/${job.job_id!}/placement`, {}, { everyMs: PACE_MS });
  if (!p) return null;
  const never = job.state === 'PENDING' && neverStarts(p.zones ?? []);
  return (
    <Alert
      isInline
      variant={never ? 'warning' : 'info'}
      variantLabel={t('value.PENDING')}
      title={<Reason code={p.code || job.reason} />}
      className="block"
    >
      {never && <p>{t('job.never', { pool: `\u2068${job.pool ?? ''}\u2069` })}</p>}
      {!never && p.position > 0 && (
        <p>
          {p.ahead === 0 ? (
            t('job.first')
          ) : (
            <>
              {t('job.position', { n: number(p.position) })} {t('job.ahead', { count: p.ahead, n: number(p.ahead) })}
            </>
          )}
        </p>
      )}
      {p.detail && (
        <p>
          <bdi lang="en" dir="ltr" translate="no">
            {p.detail}
          </bdi>
        </p>
      )}
      {p.nearest && (
        <p>
          {t(p.nearest.never ? 'job.nearestNever' : 'job.nearest')}{' '}
          <bdi lang="en" dir="ltr" translate="no">
            {p.nearest.flavor}, {p.nearest.zone}: {p.nearest.lacks}
          </bdi>
        </p>
      )}
      {p.start?.at && (
        <p>
          {t(p.start.basis === 'room' ? 'job.startsRoom' : 'job.startsNotBefore')} <Time at={p.start.at} />
        </p>
      )}
      {job.state === 'PENDING' && <Changes id={job.job_id!} />}
      {(p.constraints?.length ?? 0) > 0 && (
        <Grid
          label={t('job.constraints')}
          breakPoint="grid-md"
          heads={[t('job.constraint'), t('job.nodesLeft')]}
          rows={p.constraints!.map((c) => ({
            id: c.constraint!,
            cells: [<Constraint key="c" name={c.constraint!} />, number(c.machines)],
          }))}
        />
      )}
      {(p.zones?.length ?? 0) > 0 && (
        <Grid
          label={t('job.places')}
          breakPoint="grid-md"
          heads={[
            t('col.zone'),
            t('job.readyNodes'),
            t('job.freeSlots', { n: number(job.slots) }),
            t('job.freeGpus', { n: number(job.gpus) }),
            t('job.fits'),
          ]}
          rows={p.zones!.map((z) => ({
            id: z.zone!,
            cells: [
              <Code key="z">{z.zone}</Code>,
              number(z.ready_nodes),
              number(z.free_slots),
              number(z.free_gpus),
              z.allowed ? (
                t(z.fits_now ? 'job.fitsNow' : 'job.noRoom')
              ) : (
                <span key="f">
                  {t('job.notAllowed')}{' '}
                  <bdi lang="en" dir="ltr" translate="no">
                    {z.reason}
                  </bdi>
                </span>
              ),
            ],
          }))}
        />
      )}
    </Alert>
  );
}
