// SPDX-License-Identifier: Apache-2.0
// Jobs.tsx - the list of jobs.
import { Button } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { withQuery, type Schemas } from '../api/client.ts';
import { JOB_STATES } from '../lib/jobs.ts';
import { duration } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, State, Time, To } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';

type Job = Schemas['job'];
export { JOB_STATES, isBad, isEnded as isOver } from '../lib/jobs.ts';

export function Jobs() {
  const { t } = useTranslation();
  const { can } = useSession();
  const filters: Filter[] = [
    { name: 'state', label: t('col.state'), options: JOB_STATES.map((s) => ({ value: s, label: t(`value.${s}`) })) },
    {
      name: 'kind',
      label: t('col.kind'),
      options: ['train', 'serve', 'noop'].map((s) => ({ value: s, label: t(`kind.${s}`) })),
    },
  ];
  const query = useListSearch(filters);
  const submit = can('job:submit') && (
    <Button component={(p: object) => <Link {...p} to="/jobs/new" />}>{t('submit.title')}</Button>
  );
  const cli = [
    'falaj job list',
    query['state'] && `--state ${query['state']}`,
    query['kind'] && `--kind ${query['kind']}`,
  ]
    .filter(Boolean)
    .join(' ');
  return (
    <Page
      name={t('nav.jobs')}
      title={t('nav.jobs')}
      actions={submit}
      api={[`GET ${withQuery('/v1/jobs', query)}`]}
      cli={[cli]}
    >
      <ServerTable<Job>
        path="/v1/jobs"
        label={t('nav.jobs')}
        live={['jobs']}
        filters={filters}
        rowKey={(j) => j.job_id!}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            cell: (j) => (
              <To to={`/jobs/${j.job_id!}`}>
                <Name>{j.name}</Name>
              </To>
            ),
          },
          { name: 'state', label: t('col.state'), cell: (j) => <State value={j.state} /> },
          { name: 'kind', label: t('col.kind'), cell: (j) => t(`kind.${j.kind}`) },
          { name: 'zone', label: t('col.zone'), cell: (j) => <Code>{j.zone}</Code> },
          { name: 'submitted_at', label: t('col.submitted'), cell: (j) => <Time at={j.submitted_at} ago /> },
          { name: 'started_at', label: t('col.duration'), cell: (j) => duration(j.started_at, j.finished_at) },
        ]}
        empty={
          <Empty
            title={t('jobs.empty')}
            body={t('jobs.emptyBody')}
            action={submit}
            cli="falaj job submit first --dataset NAME"
          />
        }
      />
    </Page>
  );
}
