// SPDX-License-Identifier: Apache-2.0
// cards.tsx - the newest of each thing: jobs by state, what is served, machines, what waits for approval.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Page as ListOf, Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { Name, State, Time, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';

const EVERY = 10_000;

export function Jobs({ state, title }: { state: string; title: string }) {
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

export function Served() {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['deployment']>>('/v1/deployments', { page_size: 5 }, { everyMs: EVERY });
  return (
    <Card>
      <CardTitle component="h2">{t('nav.deployments')}</CardTitle>
      <CardBody>
        <Answer of={list}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('overview.noDeployments')}</p>
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
export function Fleet() {
  const { t } = useTranslation();
  const list = useGet<ListOf<Schemas['node']>>('/v1/nodes', { page_size: 5 }, { everyMs: EVERY });
  return (
    <Card>
      <CardTitle component="h2">{t('nav.workers')}</CardTitle>
      <CardBody>
        <Answer of={list}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="lead">{t('overview.noWorkers')}</p>
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
export function Waiting() {
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
              <p className="lead">{t('overview.noApprovals')}</p>
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
