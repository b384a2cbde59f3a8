// SPDX-License-Identifier: Apache-2.0
// cards.tsx - the newest work and what is served.
import { Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Name, State, Time, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';

const EVERY = 10_000;

/** A card with the way to all of what it shows beside its title. */
export function Part({
  title,
  to,
  search = {},
  children,
}: {
  title: string;
  to: string;
  search?: Record<string, string>;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Card>
      <CardHeader
        actions={{
          actions: (
            <Link to={to} search={search as never} className="to" aria-label={t('overview.allOf', { what: title })}>
              {t('overview.all')}
            </Link>
          ),
          hasNoOffset: true,
        }}
      >
        <CardTitle component="h2">{title}</CardTitle>
      </CardHeader>
      <CardBody>{children}</CardBody>
    </Card>
  );
}

export function Newest() {
  const { t } = useTranslation();
  const { can } = useSession();
  const jobs = useGet('/v1/jobs', { page_size: 6 }, { everyMs: EVERY });
  return (
    <Part title={t('overview.newest')} to="/jobs">
      <Answer of={jobs}>
        {(page) =>
          page.data.length === 0 ? (
            <p className="lead">
              {t('overview.noJobs')} {can('job:submit') && <To to="/jobs/new">{t('nav.newJob')}</To>}
            </p>
          ) : (
            <ul className="rows">
              {page.data.map((j) => (
                <li key={j.job_id}>
                  <To to={`/jobs/${j.job_id!}`}>
                    <Name>{j.name}</Name>
                  </To>
                  <span className="row-end">
                    <State value={j.state} /> <Time at={j.submitted_at} ago />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Part>
  );
}

export function Served() {
  const { t } = useTranslation();
  const list = useGet('/v1/deployments', { page_size: 5 }, { everyMs: EVERY });
  return (
    <Part title={t('nav.deployments')} to="/deployments">
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
                  <span className="row-end">
                    <State value={d.ready ? 'READY' : d.job_state} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Part>
  );
}
