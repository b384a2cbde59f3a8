// SPDX-License-Identifier: Apache-2.0
// Overview.tsx - what runs, what failed, what is left of the quotas; for each role what it may see.
import { Button, Card, CardBody, CardTitle, Progress } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Link } from '@tanstack/react-router';
import type { Page as ListOf, Schemas } from '../api/client.ts';
import { useGet } from '../api/hooks.ts';
import { number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Name, State, Time, To } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Answer } from '../ui/states.tsx';

const EVERY = 10_000;

function Jobs({ state, title }: { state: string; title: string }) {
  const { t } = useTranslation();
  const jobs = useGet<ListOf<Schemas['job']>>('/v1/jobs', { state, page_size: 5 }, { everyMs: EVERY });
  return (
    <Card>
      <CardTitle component="h2">{title}</CardTitle>
      <CardBody>
        <Answer of={jobs}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('overview.noJobs')}</p>
            ) : (
              <ul className="rows">
                {page.data.map((j) => (
                  <li key={j.job_id}>
                    <To to={`/jobs/${j.job_id!}`}>
                      <Name>{j.name}</Name>
                    </To>
                    <span>
                      <State value={j.state} /> <Time at={j.submitted_at} ago />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
        <Link to="/jobs" search={{ state } as never}>
          {t('overview.all')}
        </Link>
      </CardBody>
    </Card>
  );
}

export function QuotaBars() {
  const { t, i18n } = useTranslation();
  const quotas = useGet<ListOf<Schemas['quota']>>('/v1/quotas', {}, { everyMs: EVERY });
  return (
    <Answer of={quotas}>
      {(page) => (
        <>
          {page.data.map((q) => {
            const key = `quota.${q.resource!}`;
            const name = i18n.exists(key) ? t(key) : q.resource!;
            return (
              <Progress
                key={q.resource}
                className="meter"
                title={name}
                size="sm"
                value={q.hard_limit > 0 ? Math.min(100, (100 * q.used) / q.hard_limit) : 0}
                label={t('overview.of', { used: number(q.used), limit: number(q.hard_limit) })}
                measureLocation="top"
                aria-label={name}
                {...(q.used >= q.hard_limit ? { variant: 'warning' as const } : {})}
              />
            );
          })}
        </>
      )}
    </Answer>
  );
}

function Served() {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['deployment']>>('/v1/deployments', { page_size: 5 }, { everyMs: EVERY });
  return (
    <Card>
      <CardTitle component="h2">{t('nav.deployments')}</CardTitle>
      <CardBody>
        <Answer of={list}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('deploy.empty')}</p>
            ) : (
              <ul className="rows">
                {page.data.map((d) => (
                  <li key={d.deployment_id}>
                    <To to={`/deployments/${d.deployment_id!}`}>
                      <Name>{d.name}</Name>
                    </To>
                    <State value={d.ready ? 'READY' : d.job_state} />
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
      </CardBody>
    </Card>
  );
}
function Fleet() {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['node']>>('/v1/nodes', { page_size: 5 }, { everyMs: EVERY });
  return (
    <Card>
      <CardTitle component="h2">{t('nav.workers')}</CardTitle>
      <CardBody>
        <Answer of={list}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('workers.empty')}</p>
            ) : (
              <ul className="rows">
                {page.data.map((n) => (
                  <li key={n.node_id}>
                    <Name>{n.name}</Name>
                    <State value={n.state} />
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
        <Link to="/workers">{t('overview.all')}</Link>
      </CardBody>
    </Card>
  );
}
function Waiting() {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['approval']>>(
    '/v1/approvals',
    { state: 'PENDING', page_size: 5 },
    { everyMs: EVERY },
  );
  return (
    <Card>
      <CardTitle component="h2">{t('overview.approvals')}</CardTitle>
      <CardBody>
        <Answer of={list}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('approvals.none')}</p>
            ) : (
              <ul className="rows">
                {page.data.map((a) => (
                  <li key={a.approval_id}>
                    <Name>{a.subject ?? a.kind}</Name>
                    <Time at={a.created_at} ago />
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
        <Link to="/approvals">{t('overview.all')}</Link>
      </CardBody>
    </Card>
  );
}

export function Overview() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  return (
    <Page
      name={t('nav.overview')}
      title={t('nav.overview')}
      lead={
        <>
          {t('overview.hello')} <Name>{me.name}</Name>
        </>
      }
      actions={
        can('job:submit') && (
          <Button component={(p: object) => <Link {...p} to="/jobs/new" />}>{t('submit.title')}</Button>
        )
      }
      api={[
        'GET /v1/me',
        ...(can('job:read') ? ['GET /v1/jobs?state=RUNNING&page_size=5'] : []),
        ...(can('quota:read') ? ['GET /v1/quotas'] : []),
      ]}
      cli={[
        'falaj whoami',
        ...(can('job:read') ? ['falaj job list --state RUNNING'] : []),
        ...(can('quota:read') ? ['falaj quota list'] : []),
      ]}
    >
      <div className="cards">
        {can('job:read') && (
          <>
            <Jobs state="RUNNING" title={t('overview.running')} />
            <Jobs state="PENDING" title={t('overview.waiting')} />
            <Jobs state="FAILED" title={t('overview.failed')} />
          </>
        )}
        {can('quota:read') && (
          <Card>
            <CardTitle component="h2">{t('nav.quotas')}</CardTitle>
            <CardBody>
              <QuotaBars />
            </CardBody>
          </Card>
        )}
        {can('deployment:read') && <Served />}
        {can('node:read') && <Fleet />}
        {can('approval:read') && <Waiting />}
      </div>
    </Page>
  );
}
