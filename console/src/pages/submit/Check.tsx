// SPDX-License-Identifier: Apache-2.0
// Check.tsx - what would become of the request if it were submitted now: asked by itself once the writing rests, and on demand.
import { Button } from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { money, number, percent } from '../../lib/format.ts';
import { neverStarts } from '../../lib/jobs.ts';
import { Code } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { useRested } from '../../ui/rested.ts';
import { Loading, ServerWords, useProblemText } from '../../ui/states.tsx';
import type { Draft } from './draft.ts';

const REST_MS = 700;
type Outlook = Schemas['job_check_out'];

export function Check({ draft }: { draft: Draft }) {
  const { t } = useTranslation();
  const words = useProblemText();
  const isSound = draft.syntax.length === 0 && draft.faults.every((f) => f.words !== undefined);
  const now = JSON.stringify(draft.request);
  const rested = useRested(now, REST_MS);
  const look = useQuery({
    queryKey: ['/v1/jobs:check', rested],
    queryFn: () => change('POST', '/v1/jobs:check', JSON.parse(rested)),
    enabled: isSound && rested === now,
    staleTime: 5000,
    gcTime: 10_000,
  });
  return (
    <section aria-labelledby="check-title" className="check-part">
      <div className="yaml-head">
        <h2 id="check-title">{t('submit.check')}</h2>
        <Button
          variant="secondary"
          size="sm"
          isDisabled={!isSound}
          isLoading={look.isFetching}
          spinnerAriaValueText={t('state.loading')}
          onClick={() => void look.refetch()}
        >
          {t('submit.dryRun')}
        </Button>
      </div>
      <div aria-live="polite">
        {!isSound ? (
          <p className="lead">{t('submit.checkWaits')}</p>
        ) : look.data ? (
          <Verdict of={look.data} pool={poolOf(rested)} />
        ) : look.isError ? (
          <Note variant="warning" title={words(look.error)}>
            <ServerWords problem={look.error} />
          </Note>
        ) : (
          <Loading />
        )}
      </div>
    </section>
  );
}

/** The pool that a request names; the API's own otherwise. */
const poolOf = (request: string): string => (JSON.parse(request) as { pool?: string }).pool ?? 'default';

function Verdict({ of, pool }: { of: Outlook; pool: string }) {
  const { t, i18n } = useTranslation();
  const isGood = of.verdict === 'ok';
  const never = isGood && neverStarts(of.zones);
  const cost = (minor: number): string => money(minor, of.estimate?.currency ?? '');
  return (
    <>
      <Note
        variant={never ? 'warning' : isGood ? 'success' : 'danger'}
        title={
          isGood
            ? t(never ? 'submit.wouldWait' : 'submit.wouldGo')
            : i18n.exists(`problem.${of.verdict ?? ''}`)
              ? t(`problem.${of.verdict ?? ''}`)
              : t('problem.unprocessable')
        }
      >
        {!isGood && (
          <p>
            {of.errors[0]?.pointer && <Code>{of.errors[0].pointer}</Code>}{' '}
            <bdi lang="en" dir="ltr">
              {of.detail}
            </bdi>
          </p>
        )}
        {never ? (
          <p>{t('job.never', { pool: `\u2068${pool}\u2069` })}</p>
        ) : (
          <p>{t('submit.ahead', { count: of.ahead, n: number(of.ahead) })}</p>
        )}
        {of.estimate && (
          <p>
            {t('submit.cost', {
              hour: cost(of.estimate.per_hour_minor),
              most: cost(of.estimate.max_minor),
            })}
          </p>
        )}
      </Note>
      {of.quotas.length > 0 && (
        <>
          <h3 className="check-h">{t('submit.quotas')}</h3>
          <ul className="plain-list quota-list">
            {of.quotas.map((q) => (
              <li key={q.resource}>
                <span>
                  <strong>
                    {i18n.exists(`quota.${q.resource!}`) ? t(`quota.${q.resource!}`) : <Code>{q.resource}</Code>}
                  </strong>{' '}
                  {t('submit.quotaLine', { used: number(q.used), after: number(q.after), limit: number(q.limit) })}
                </span>
                <span
                  className="quota-bar"
                  role="img"
                  aria-label={t('submit.quotaLabel', {
                    before: percent(q.used / Math.max(1, q.limit)),
                    after: percent(q.after / Math.max(1, q.limit)),
                  })}
                >
                  <span className="quota-used" style={{ inlineSize: share(q.used, q.limit) }} />
                  <span
                    className={q.within ? 'quota-more' : 'quota-more is-over'}
                    style={{ inlineSize: share(q.after - q.used, q.limit - q.used, q) }}
                  />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {of.zones.length > 0 && (
        <>
          <h3 className="check-h">{t('submit.places')}</h3>
          <ul className="plain-list">
            {of.zones.map((z) => (
              <li key={z.zone}>
                <Code>{z.zone}</Code> ·{' '}
                {t(z.fits_now ? 'submit.fitsNow' : z.allowed ? 'submit.waits' : 'submit.mayNot')}{' '}
                {z.allowed ? (
                  <span className="lead">
                    {t('submit.room', {
                      nodes: number(z.ready_nodes),
                      slots: number(z.free_slots),
                      gpus: number(z.free_gpus),
                    })}
                  </span>
                ) : (
                  <bdi lang="en" dir="ltr" className="lead">
                    {z.reason}
                  </bdi>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
/** The bar is the limit; what comes on top is cut at its end. */
function share(part: number, room: number, of?: { limit: number }): string {
  const most = Math.max(0, Math.min(part, Math.max(0, room)));
  return `${(100 * most) / Math.max(1, of ? of.limit : room)}%`;
}
