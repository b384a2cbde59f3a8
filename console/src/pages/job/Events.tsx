// SPDX-License-Identifier: Apache-2.0
// Events.tsx - the states of a job and its executions as tables.
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, duration, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Cause } from '../../ui/cause.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Answer } from '../../ui/states.tsx';
import { Reason } from './Waiting.tsx';

export function Events({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet(`/v1/jobs/${id}/events`);
  return (
    <Answer of={list}>
      {(page) => (
        <Grid
          label={t('job.events')}
          heads={[
            t('col.at'),
            t('col.state'),
            t('job.lasted'),
            t('col.fence'),
            t('col.reason'),
            ...(page.data.some((x) => x.message) ? [t('col.message')] : []),
          ]}
          rows={page.data.map((e, i) => ({
            id: e.version!,
            cells: [
              <Time key="t" at={e.at} />,
              <State key="s" value={e.state} />,
              page.data[i + 1] ? duration(e.at, page.data[i + 1]!.at) : '',
              e.fence > 0 ? number(e.fence) : '',
              <Reason key="r" code={e.reason} />,
              ...(page.data.some((x) => x.message) ? [<Cause key="m" message={e.message} />] : []),
            ],
          }))}
        />
      )}
    </Answer>
  );
}

/** What the next attempt would go on from; nothing where there is none. */
function Checkpoints({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet(`/v1/jobs/${id}/checkpoints`);
  const rows = list.data?.data ?? [];
  if (rows.length === 0) return null;
  return (
    <>
      <h2 className="lead">{t('job.checkpoints')}</h2>
      <Grid
        label={t('job.checkpoints')}
        heads={[
          t('job.checkpointStep'),
          t('job.checkpointKept'),
          t('col.size'),
          t('col.fence'),
          t('job.checkpointUse'),
        ]}
        rows={rows.map((c) => ({
          id: c.object_id!,
          cells: [
            number(c.step),
            <Time key="k" at={c.kept_at} />,
            bytes(c.size_bytes),
            number(c.fence),
            t(c.place === 1 ? 'job.checkpointNext' : 'job.checkpointSpare'),
          ],
        }))}
      />
    </>
  );
}

export function Attempts({ id }: { id: string }) {
  return (
    <>
      <Executions id={id} />
      <Checkpoints id={id} />
    </>
  );
}

/** Which nodes an execution on several had, by rank; nothing where there was one. */
function Members({ of }: { of: Schemas['attempt_view'][] }) {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <>
      {of.map(
        (a) =>
          a.members && (
            <Fragment key={a.attempt_id}>
              <h2 className="lead">{t('job.members', { n: number(a.fence) })}</h2>
              <Grid
                label={t('job.members', { n: number(a.fence) })}
                heads={[t('job.rank'), t('col.state'), t('col.started'), t('col.duration'), t('col.node')]}
                rows={a.members.map((m) => ({
                  id: m.node_id!,
                  cells: [
                    number(m.rank),
                    <State key="s" value={m.state} />,
                    <Time key="t" at={m.started_at} />,
                    duration(m.started_at, m.finished_at),
                    can('node:read') ? (
                      <To key="n" to={`/workers/${m.node_id!}`}>
                        <Code>{shortId(m.node_id)}</Code>
                      </To>
                    ) : (
                      <Code key="n">{shortId(m.node_id)}</Code>
                    ),
                  ],
                }))}
              />
            </Fragment>
          ),
      )}
    </>
  );
}

function Executions({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const list = useGet(`/v1/jobs/${id}/attempts`);
  return (
    <Answer of={list}>
      {(page) =>
        page.data.length === 0 ? (
          <p className="lead">{t('job.noAttempts')}</p>
        ) : (
          <>
            <Grid
              label={t('job.attempts')}
              heads={[
                t('col.fence'),
                t('col.state'),
                t('col.started'),
                t('col.duration'),
                ...(page.data.some((x) => x.cause) ? [t('job.failedBy')] : []),
                t('job.exitCode'),
                t('col.node'),
                ...(page.data.some((x) => x.message) ? [t('col.message')] : []),
                t('job.logs'),
              ]}
              rows={page.data.map((a) => ({
                id: a.attempt_id!,
                cells: [
                  number(a.fence),
                  <State key="s" value={a.state} />,
                  <Time key="t" at={a.started_at ?? a.leased_at} />,
                  duration(a.started_at, a.finished_at),
                  ...(page.data.some((x) => x.cause) ? [a.cause ? t(`job.failed_${a.cause}`) : ''] : []),
                  number(a.exit_code),
                  can('node:read') ? (
                    <To key="n" to={`/workers/${a.node_id!}`}>
                      <Code>{shortId(a.node_id)}</Code>
                    </To>
                  ) : (
                    <Code key="n">{shortId(a.node_id)}</Code>
                  ),
                  ...(page.data.some((x) => x.message) ? [<Cause key="m" message={a.message} />] : []),
                  <To key="l" to={`/jobs/${id}?fence=${a.fence}&tab=logs`}>
                    {t('job.itsLog')}
                  </To>,
                ],
              }))}
            />
            <Members of={page.data} />
          </>
        )
      }
    </Answer>
  );
}
