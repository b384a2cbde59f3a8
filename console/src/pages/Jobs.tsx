// SPDX-License-Identifier: Apache-2.0
// Jobs.tsx - the list of jobs: counts by group, filters of the server, why each waits, acts on many.
import { Button } from '@patternfly/react-core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { JOB_LIST_KIND } from '../api/gen/enums.ts';
import { change, withQuery, type Query, type Schemas } from '../api/client.ts';
import { useGet } from '../api/hooks.ts';
import { commandLine } from '../lib/calls.ts';
import { duration, number } from '../lib/format.ts';
import { isEnded, isWaiting, JOB_GROUPS, JOB_STATES, mayResume, maySuspend } from '../lib/jobs.ts';
import { withFilter, type Search } from '../lib/search.ts';
import { isSubmitted } from '../lib/jobtypes.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, State, Time, To } from '../ui/bits.tsx';
import { Cause } from '../ui/cause.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Bulk, type Column, type Filter } from '../ui/table.tsx';
import { useNameFilter } from '../ui/table/usual.ts';
import { titleOf } from '../lib/titles.ts';

type Job = Schemas['job'];
export { JOB_STATES, isBad, isEnded as isOver } from '../lib/jobs.ts';

/** Counts by group, with the same filters but for the state; each leads to its jobs. */
function Groups({ query }: { query: Query }) {
  const { t } = useTranslation();
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const left = ['page_size', 'page_token', 'after', 'sort', 'state'];
  const same: Query = Object.fromEntries(Object.entries(query).filter(([n]) => !left.includes(n)));
  const counts = useGet('/v1/jobs/counts', same, { everyMs: 10_000 });
  const chosen = search['group'] ?? '';
  const go = (group: string): void =>
    void navigate({
      to: '.',
      search: withFilter(withFilter(search, 'state', ''), 'group', chosen === group ? '' : group) as never,
    });
  const of = new Map(counts.data?.groups.map((g) => [g.group, g]));
  return (
    <div className="chips" role="group" aria-label={t('jobs.groups')}>
      {JOB_GROUPS.map((g) => {
        const n = of.get(g);
        return (
          <Button
            key={g}
            size="sm"
            variant={chosen === g ? 'primary' : 'secondary'}
            aria-pressed={chosen === g}
            className={`chip-${g}`}
            onClick={() => go(g)}
          >
            {t(`jobs.${g}`)}
            {n && (
              <span className="chip-count">
                {n.is_exact ? number(n.jobs) : t('jobs.atLeast', { n: number(n.jobs) })}
              </span>
            )}
          </Button>
        );
      })}
    </div>
  );
}

/** The short reason; where the console has no words for it, the server's own. */
function Why({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  if (!isWaiting(job.state) || !job.reason) return null;
  const key = `reason.${job.reason}`;
  return <span className="why">{i18n.exists(key) ? t(key) : <Code>{job.reason}</Code>}</span>;
}

/** The same work once more: what was asked for, without what became of it. */
const again = (j: Job): Schemas['job_create'] => ({
  name: j.name,
  kind: j.kind,
  ...Object.fromEntries(
    Object.entries({
      spec: j.spec,
      zone: j.zone,
      pool: j.pool,
      project_id: j.project_id,
      queue: j.queue,
      slots: j.slots,
      gpus: j.gpus,
      priority: j.priority,
      max_attempts: j.max_attempts,
      max_runtime_seconds: j.max_runtime_s,
    }).filter(([, v]) => v !== undefined && v !== null && v !== ''),
  ),
});

function useJobFilters(): Filter[] {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const named = (projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) }));
  return [
    useNameFilter(),
    { name: 'time', kind: 'time', label: t('col.submitted'), from: 'submitted_after', to: 'submitted_before' },
    { name: 'created_by', label: t('jobs.owner'), options: [{ value: me.user_id ?? '', label: t('jobs.mine') }] },
    {
      name: 'state',
      label: t('col.state'),
      more: true,
      options: JOB_STATES.map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    {
      name: 'kind',
      label: t('col.kind'),
      more: true,
      options: JOB_LIST_KIND.map((s) => ({ value: s, label: t(`kind.${s}`) })),
    },
    {
      name: 'zone',
      label: t('col.zone'),
      more: true,
      options: (me.allowed_zones ?? []).map((z) => ({ value: z, label: z })),
    },
    { name: 'pool', label: t('col.pool'), more: true },
    ...(named.length > 0 ? [{ name: 'project_id', label: t('jobs.project'), more: true, options: named }] : []),
  ];
}

export function Jobs() {
  const { t } = useTranslation();
  const { can } = useSession();
  const filters = useJobFilters();
  const search: Search = useSearch({ strict: false });
  const all: Query = useListSearch(filters);
  const group = search['group'];
  const query: Query = { ...all, ...(group ? { group } : {}) };
  const submit = can('job:submit') && (
    <Button component={(p: object) => <Link {...p} to="/jobs/new" />}>{t('nav.newJob')}</Button>
  );
  const columns: Column<Job>[] = [
    {
      name: 'name',
      label: t('col.name'),
      cell: (j) => (
        <To to={`/jobs/${j.job_id!}`}>
          <Name>{j.name}</Name>
        </To>
      ),
    },
    {
      name: 'state',
      label: t('col.state'),
      cell: (j) => (
        <>
          <State value={j.state} /> <Why job={j} />
        </>
      ),
    },
    { name: 'kind', label: t('col.kind'), narrow: true, cell: (j) => t(`kind.${j.kind}`) },
    { name: 'zone', label: t('col.zone'), narrow: true, cell: (j) => <Code>{j.zone}</Code> },
    { name: 'submitted_at', label: t('col.submitted'), narrow: true, cell: (j) => <Time at={j.submitted_at} ago /> },
    {
      name: 'started_at',
      label: t('col.duration'),
      narrow: true,
      cell: (j) => duration(j.started_at, j.finished_at),
    },
    { name: 'queue', label: t('jobs.queue'), extra: true, cell: (j) => <Name>{j.queue}</Name> },
    { name: 'pool', label: t('col.pool'), extra: true, cell: (j) => <Code>{j.pool}</Code> },
    { name: 'priority', label: t('col.priority'), extra: true, cell: (j) => number(j.priority) },
    { name: 'slots', label: t('col.slots'), extra: true, cell: (j) => number(j.slots) },
    { name: 'gpus', label: t('col.gpus'), extra: true, cell: (j) => number(j.gpus) },
    { name: 'message', label: t('col.message'), extra: true, cell: (j) => <Cause message={j.message} /> },
    { name: 'finished_at', label: t('jobs.finished'), extra: true, cell: (j) => <Time at={j.finished_at} ago /> },
    { name: 'job_id', label: t('col.id'), extra: true, cell: (j) => <Code>{j.job_id}</Code> },
  ];
  const bulk: Bulk<Job>[] = [
    ...(can('job:cancel')
      ? [
          {
            label: t('job.cancel'),
            danger: true,
            confirm: t('job.cancelEffect'),
            fits: (j: Job) => !isEnded(j.state) && !j.cancel_requested,
            run: (j: Job) => change('POST', `/v1/jobs/${j.job_id!}/cancel`),
          },
          {
            label: t('job.suspend'),
            confirm: t('job.suspendEffect'),
            fits: (j: Job) => isSubmitted(j.kind) && maySuspend(j),
            run: (j: Job) => change('POST', `/v1/jobs/${j.job_id!}/suspend`),
          },
          {
            label: t('job.resume'),
            confirm: t('job.resumeEffect'),
            fits: mayResume,
            run: (j: Job) => change('POST', `/v1/jobs/${j.job_id!}/resume`),
          },
        ]
      : []),
    ...(can('job:submit')
      ? [
          {
            label: t('job.hold'),
            confirm: t('job.holdEffect'),
            fits: (j: Job) => j.state === 'PENDING',
            run: (j: Job) => change('POST', `/v1/jobs/${j.job_id!}/hold`),
          },
          {
            label: t('job.release'),
            confirm: t('job.releaseEffect'),
            fits: (j: Job) => j.state === 'HELD',
            run: (j: Job) => change('POST', `/v1/jobs/${j.job_id!}/release`),
          },
          {
            label: t('job.again'),
            confirm: t('jobs.againEffect'),
            fits: (j: Job) => isSubmitted(j.kind),
            run: (j: Job) => change('POST', '/v1/jobs', again(j)),
          },
        ]
      : []),
  ];
  const cli = commandLine('falaj job list', {
    state: query['state'],
    kind: query['kind'],
    group,
    project: query['project_id'],
    'created-by': query['created_by'],
    zone: query['zone'],
    pool: query['pool'],
    name: query['q'],
    since: query['submitted_after'],
    until: query['submitted_before'],
  });
  return (
    <Page
      name={t('nav.jobs')}
      title={t('nav.jobs')}
      actions={submit}
      api={[`GET ${withQuery('/v1/jobs', query)}`, 'GET /v1/jobs/counts']}
      cli={[cli]}
    >
      <ServerTable
        path="/v1/jobs"
        label={t('nav.jobs')}
        live={['jobs']}
        csv="/v1/jobs.csv"
        filters={filters}
        fixed={group ? { group } : {}}
        chips={<Groups query={all} />}
        rowKey={(j) => j.job_id!}
        columns={columns}
        bulk={bulk}
        empty={
          group ? (
            <Empty title={t('list.noMatch')} body={t('jobs.noneInGroup')} />
          ) : (
            <Empty
              title={t('jobs.empty')}
              body={t('jobs.emptyBody')}
              action={submit}
              cli="falaj job submit first --dataset NAME"
            />
          )
        }
      />
    </Page>
  );
}
