// SPDX-License-Identifier: Apache-2.0
// Quotas.tsx - what may be used and by whom, what it may cost, what it did: limits, rules, budgets, usage, prices.
import { Card, CardBody, CardTitle, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Search } from '../lib/search.ts';
import { useSession } from '../shell/session.tsx';
import { Page } from '../ui/page.tsx';
import { Budgets } from './quotas/Budgets.tsx';
import { Idle } from './quotas/Idle.tsx';
import { QuotaBars } from './quotas/Limits.tsx';
import { Prices } from './quotas/Prices.tsx';
import { Rules } from './quotas/Rules.tsx';
import { Usage } from './quotas/Usage.tsx';

interface Part {
  name: string;
  perm: string;
  api: string;
  cli: string;
  draw: () => ReactNode;
}

export function Quotas() {
  const { t } = useTranslation();
  const { can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const limits = (): ReactNode => (
    <Card>
      <CardTitle component="h2">{t('usage.limits')}</CardTitle>
      <CardBody>
        <QuotaBars />
        <p className="lead">{t('usage.limitsBody')}</p>
      </CardBody>
    </Card>
  );
  const parts: Part[] = [
    { name: 'limits', perm: 'quota:read', api: 'GET /v1/quotas', cli: 'falaj quota list', draw: limits },
    { name: 'rules', perm: 'quota:read', api: 'GET /v1/quota-rules', cli: 'falaj rule list', draw: () => <Rules /> },
    { name: 'budgets', perm: 'usage:read', api: 'GET /v1/budgets', cli: 'falaj budget list', draw: () => <Budgets /> },
    { name: 'idle', perm: 'job:read', api: 'GET /v1/idle-policy', cli: 'falaj idle show', draw: () => <Idle /> },
    {
      name: 'usage',
      perm: 'usage:read',
      api: 'GET /v1/usage?by=day,zone',
      cli: 'falaj usage --by day,zone',
      draw: () => <Usage />,
    },
    { name: 'prices', perm: 'usage:read', api: 'GET /v1/prices', cli: 'falaj price list', draw: () => <Prices /> },
  ];
  const seen = parts.filter((p) => can(p.perm) || (p.name === 'prices' && can('price:set')));
  const open = seen.find((p) => p.name === search['tab']) ?? seen[0];
  return (
    <Page
      name={t('nav.quotas')}
      title={t('nav.quotas')}
      lead={t('usage.lead')}
      api={open ? [open.api] : []}
      cli={open ? [open.cli] : []}
    >
      <Tabs
        activeKey={open?.name ?? ''}
        onSelect={(_e, key) => void navigate({ to: '.', search: { tab: String(key) } as never })}
        aria-label={t('nav.quotas')}
        mountOnEnter
        unmountOnExit
        leftScrollAriaLabel={t('act.before')}
        rightScrollAriaLabel={t('act.after')}
      >
        {seen.map((p) => (
          <Tab key={p.name} eventKey={p.name} title={<TabTitleText>{t(`usage.tab_${p.name}`)}</TabTitleText>}>
            <div className="block">{p.draw()}</div>
          </Tab>
        ))}
      </Tabs>
    </Page>
  );
}

/** The price book by itself, for the operator, who has no quotas of his own. */
export function PriceBook() {
  const { t } = useTranslation();
  return (
    <Page name={t('nav.prices')} title={t('nav.prices')} api={['GET /v1/prices']} cli={['falaj price list']}>
      <Prices />
    </Page>
  );
}
