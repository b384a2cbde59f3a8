// SPDX-License-Identifier: Apache-2.0
// Job.tsx - one job: how it stands, its states, log, metrics, executions and what was asked for. Its states come by the tab's stream.
import { Alert, Button, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change, getJson, type Page as ListOf, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { useLive } from '../api/live.ts';
import { duration, number } from '../lib/format.ts';
import type { Search } from '../lib/search.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Id, Json, Name, Pairs, State, Time } from '../ui/bits.tsx';
import { TypedConfirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Loading } from '../ui/states.tsx';
import { isOver } from './Jobs.tsx';

const Chart = lazy(() => import('../ui/chart.tsx').then((m) => ({ default: m.Chart })));
const Log = lazy(() => import('../ui/log.tsx').then((m) => ({ default: m.Log })));
type Job = Schemas['job'];
type Line = Schemas['job_log_line'];
type Metric = Schemas['job_metric'];

/** Rows that only ever grow: what is known is kept, and only what is newer is asked for. */
function useGrowing<T>(path: string, idOf: (row: T) => number, live: boolean) {
  const client = useQueryClient();
  return useQuery({
    queryKey: [path, 'all'],
    refetchInterval: live ? 3000 : false, // the stream tells of states, not of lines
    queryFn: async () => {
      const have = client.getQueryData<T[]>([path, 'all']) ?? [];
      const all = [...have];
      for (;;) {
        const last = all.at(-1);
        const page = await getJson<ListOf<T>>(
          `${path}?page_size=200${last === undefined ? '' : `&after=${idOf(last)}`}`,
        );
        all.push(...page.data);
        if (page.data.length < 200) return all;
      }
    },
  });
}

function Logs({ job }: { job: Job }) {
  const { t } = useTranslation();
  const live = !isOver(job.state);
  const lines = useGrowing<Line>(`/v1/jobs/${job.job_id!}/logs`, (l) => l.log_id, live);
  return (
    <Answer of={lines}>
      {(all) =>
        all.length === 0 ? (
          <p className="lead">{t('log.none')}</p>
        ) : (
          <Suspense fallback={<Loading />}>
            <Log lines={all} name={job.job_id!} live={live} />
          </Suspense>
        )
      }
    </Answer>
  );
}

function Metrics({ job }: { job: Job }) {
  const { t } = useTranslation();
  const rows = useGrowing<Metric>(`/v1/jobs/${job.job_id!}/metrics`, (m) => m.metric_id, !isOver(job.state));
  const series = useMemo(() => {
    const out = new Map<string, { step: number; value: number }[]>();
    for (const m of rows.data ?? [])
      for (const [k, v] of Object.entries((m.values ?? {}) as Record<string, unknown>))
        if (typeof v === 'number') (out.get(k) ?? out.set(k, []).get(k)!).push({ step: m.step, value: v });
    return [...out];
  }, [rows.data]);
  return (
    <Answer of={rows}>
      {() =>
        series.length === 0 ? (
          <p className="lead">{t('job.noMetrics')}</p>
        ) : (
          <div className="cards wide">
            <Suspense fallback={<Loading />}>
              {series.map(([k, points]) => (
                <Chart key={k} name={k} points={points} />
              ))}
            </Suspense>
          </div>
        )
      }
    </Answer>
  );
}

function Events({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['job_event']>>(`/v1/jobs/${id}/events`);
  return (
    <Answer of={list}>
      {(page) => (
        <Table variant="compact" aria-label={t('job.events')} gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              <Th>{t('col.at')}</Th>
              <Th>{t('col.state')}</Th>
              <Th>{t('col.reason')}</Th>
              <Th>{t('col.message')}</Th>
            </Tr>
          </Thead>
          <Tbody>
            {page.data.map((e) => (
              <Tr key={e.version}>
                <Td dataLabel={t('col.at')}>
                  <Time at={e.at} />
                </Td>
                <Td dataLabel={t('col.state')}>
                  <State value={e.state} />
                </Td>
                <Td dataLabel={t('col.reason')}>
                  <Code>{e.reason}</Code>
                </Td>
                <Td dataLabel={t('col.message')}>
                  <Code>{e.message}</Code>
                </Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      )}
    </Answer>
  );
}

function Attempts({ id }: { id: string }) {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['attempt_view']>>(`/v1/jobs/${id}/attempts`);
  return (
    <Answer of={list}>
      {(page) =>
        page.data.length === 0 ? (
          <p className="lead">{t('job.noAttempts')}</p>
        ) : (
          <Table variant="compact" aria-label={t('job.attempts')} gridBreakPoint="grid-md">
            <Thead>
              <Tr>
                <Th>{t('col.fence')}</Th>
                <Th>{t('col.state')}</Th>
                <Th>{t('col.started')}</Th>
                <Th>{t('col.duration')}</Th>
                <Th>{t('col.node')}</Th>
                <Th>{t('col.message')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {page.data.map((a) => (
                <Tr key={a.attempt_id}>
                  <Td dataLabel={t('col.fence')}>{number(a.fence)}</Td>
                  <Td dataLabel={t('col.state')}>
                    <State value={a.state} />
                  </Td>
                  <Td dataLabel={t('col.started')}>
                    <Time at={a.started_at} />
                  </Td>
                  <Td dataLabel={t('col.duration')}>{duration(a.started_at, a.finished_at)}</Td>
                  <Td dataLabel={t('col.node')}>
                    <Id value={a.node_id} />
                  </Td>
                  <Td dataLabel={t('col.message')}>
                    <Code>{a.message}</Code>
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )
      }
    </Answer>
  );
}

const TABS = ['logs', 'metrics', 'events', 'attempts', 'config'] as const;

export function JobDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const forget = useForget();
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const query = useGet<Job>(path, {}, { everyMs: 10_000 });
  const job = query.data;
  useLive(job && !isOver(job.state) ? [`job:${id}`] : [], [path]);
  const tab = TABS.find((x) => x === search['tab']) ?? 'logs';
  const panes: Record<(typeof TABS)[number], (j: Job) => ReactNode> = {
    logs: (j) => <Logs job={j} />,
    metrics: (j) => <Metrics job={j} />,
    events: (j) => <Events id={j.job_id!} />,
    attempts: (j) => <Attempts id={j.job_id!} />,
    config: (j) => (
      <>
        <Json value={j.spec} label={t('job.config')} />
        {j.result != null && (
          <>
            <h2 className="block">{t('job.result')}</h2>
            <Json value={j.result} label={t('job.result')} />
          </>
        )}
      </>
    ),
  };
  const actions = job && (
    <>
      {can('job:submit') && job.kind !== 'serve' && (
        <Button
          variant="secondary"
          component={(p: object) => <Link {...p} to="/jobs/new" search={{ from: job.job_id! } as never} />}
        >
          {t('job.again')}
        </Button>
      )}
      {can('job:cancel') && !isOver(job.state) && (
        <TypedConfirm
          label={t('job.cancel')}
          title={t('job.cancelTitle')}
          name={job.name ?? ''}
          effect={t('job.cancelEffect')}
          {...(job.cancel_requested ? { why: t('job.cancelling') } : {})}
          onConfirm={async () => {
            await change('POST', `${path}/cancel`);
            await forget('/v1/jobs');
          }}
        />
      )}
    </>
  );
  const sub = tab === 'config' ? '' : `/${tab}`;
  return (
    <Page
      name={job?.name ?? t('nav.jobs')}
      title={<Name>{job?.name ?? id}</Name>}
      crumbs={[[t('nav.jobs'), '/jobs']]}
      actions={actions}
      api={[`GET ${path}`, ...(sub ? [`GET ${path}${sub}`] : [])]}
      cli={[`falaj job get ${id}`, ...(tab === 'logs' || tab === 'events' ? [`falaj job ${tab} ${id}`] : [])]}
    >
      <Answer of={query}>
        {(j) => (
          <>
            {j.message && (
              <Alert
                isInline
                variant={j.state === 'FAILED' ? 'danger' : 'info'}
                title={
                  <>
                    <State value={j.state} /> <Code>{j.reason}</Code>
                  </>
                }
                className="block"
              >
                <bdi lang="en" dir="ltr">
                  {j.message}
                </bdi>
              </Alert>
            )}
            <Pairs
              rows={[
                [t('col.state'), <State key="s" value={j.state} />],
                [t('col.id'), <Id key="i" value={j.job_id} />],
                [t('col.kind'), t(`kind.${j.kind}`)],
                [t('col.submitted'), <Time key="t" at={j.submitted_at} />],
                [t('col.started'), j.started_at && <Time key="a" at={j.started_at} />],
                [t('col.duration'), duration(j.started_at, j.finished_at)],
                [t('col.zone'), j.zone && <Code key="z">{j.zone}</Code>],
                [t('col.pool'), <Code key="p">{j.pool}</Code>],
                [t('col.slots'), number(j.slots)],
                [t('col.gpus'), number(j.gpus)],
                [t('col.priority'), number(j.priority)],
                [t('col.tries'), t('job.tries', { n: number(j.requeue_count), max: number(j.max_attempts) })],
              ]}
            />
            <Tabs
              className="block"
              activeKey={tab}
              onSelect={(_e, key) => void navigate({ to: '.', search: { ...search, tab: String(key) } as never })}
              aria-label={t('job.parts')}
              mountOnEnter
              unmountOnExit
              leftScrollAriaLabel={t('act.before')}
              rightScrollAriaLabel={t('act.after')}
            >
              {TABS.map((x) => (
                <Tab key={x} eventKey={x} title={<TabTitleText>{t(`job.${x}`)}</TabTitleText>}>
                  <div className="block">{panes[x](j)}</div>
                </Tab>
              ))}
            </Tabs>
          </>
        )}
      </Answer>
    </Page>
  );
}
