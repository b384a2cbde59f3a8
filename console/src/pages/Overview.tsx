// SPDX-License-Identifier: Apache-2.0
// Overview.tsx - how things stand, what waits for the reader, what is new and what is left; for each role what it may see.
import { Button } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Link } from '@tanstack/react-router';
import { useLive } from '../api/live.ts';
import { useSession } from '../shell/session.tsx';
import { Name } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Attention } from './overview/Attention.tsx';
import { Newest, Part, Served } from './overview/cards.tsx';
import { Spending } from './overview/Spending.tsx';
import { OfficerCards, OperatorCards } from './overview/roles.tsx';
import { Start } from './overview/Start.tsx';
import { Tiles } from './overview/Tiles.tsx';
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
        ...(can('job:read') ? ['GET /v1/jobs/counts', 'GET /v1/jobs?group=failed'] : []),
        ...(can('quota:read') ? ['GET /v1/quotas'] : []),
      ]}
      cli={[
        'falaj whoami',
        ...(can('job:read') ? ['falaj job list --group failed'] : []),
        ...(can('quota:read') ? ['falaj quota list'] : []),
      ]}
    >
      <Start />
      <Tiles />
      <Attention />
      <div className="masonry">
        {can('node:manage') && <OperatorCards />}
        {can('audit:hold') && <OfficerCards />}
        {can('job:read') && <Newest />}
        {can('deployment:read') && <Served />}
        {can('usage:read') && <Spending />}
        {can('quota:read') && (
          <Part title={t('nav.quotas')} to="/quotas">
            <QuotaBars />
          </Part>
        )}
      </div>
    </Page>
  );
}
