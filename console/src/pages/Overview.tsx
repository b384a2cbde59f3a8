// SPDX-License-Identifier: Apache-2.0
// Overview.tsx - what runs, what failed, what is left, what ends soon; for each role what it may see.
import { Button, Card, CardBody, CardTitle } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Link } from '@tanstack/react-router';
import { useLive } from '../api/live.ts';
import { useSession } from '../shell/session.tsx';
import { Name } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Fleet, Jobs, Served, Waiting } from './overview/cards.tsx';
import { Expiring } from './overview/Expiring.tsx';
import { Spending } from './overview/Spending.tsx';
import { Start } from './overview/Start.tsx';
import { QuotaBars } from './quotas/Limits.tsx';
import './overview/overview.css';

const TOPICS = [
  ['jobs', 'job:read'],
  ['deployments', 'deployment:read'],
  ['nodes', 'node:read'],
  ['approvals', 'approval:read'],
] as const;

export function Overview() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const topics = TOPICS.filter(([, perm]) => can(perm)).map(([topic]) => topic);
  useLive(
    topics,
    topics.map((topic) => `/v1/${topic}`),
  );
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
          <Button component={(p: object) => <Link {...p} to="/jobs/new" />}>{t('nav.newJob')}</Button>
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
      {can('dataset:write') && can('job:submit') && <Start />}
      <div className="masonry">
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
        {can('usage:read') && <Spending />}
        {can('deployment:read') && <Served />}
        {can('node:read') && <Fleet />}
        {can('approval:read') && <Waiting />}
        {(can('token:own') || can('key:read')) && <Expiring />}
      </div>
    </Page>
  );
}
