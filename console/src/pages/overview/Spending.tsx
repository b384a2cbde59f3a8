// SPDX-License-Identifier: Apache-2.0
// Spending.tsx - what was spent of each budget, and what this month has cost so far.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Page as ListOf, Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { money } from '../../lib/format.ts';
import { Name } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { BudgetMeter } from '../quotas/Budgets.tsx';

export function Spending() {
  const { t } = useTranslation();
  const month = `${new Date().toISOString().slice(0, 7)}-01T00:00:00Z`;
  const budgets = useGet<ListOf<Schemas['budget']>>('/v1/budgets', { page_size: 20 }, { everyMs: 60_000 });
  const sums = useGet<ListOf<Schemas['usage_sum']>>('/v1/usage', { from: month, by: 'zone' }, { everyMs: 60_000 });
  return (
    <Card>
      <CardTitle component="h2">{t('overview.spending')}</CardTitle>
      <CardBody>
        <Answer of={sums}>
          {(page) => {
            const priced = Object.entries(
              page.data.reduce<Record<string, number>>((all, u) => {
                if (u.currency) all[u.currency] = (all[u.currency] ?? 0) + u.amount_minor;
                return all;
              }, {}),
            );
            return priced.length === 0 ? (
              <p className="lead">{t('overview.noPrices')}</p>
            ) : (
              priced.map(([currency, n]) => (
                <div key={currency}>
                  <span className="big">{money(n, currency)}</span> <span className="lead">{t('overview.month')}</span>
                </div>
              ))
            );
          }}
        </Answer>
        <Answer of={budgets}>
          {(page) => (
            <>
              {page.data.map((b) => (
                <div key={b.budget_id} className="meter">
                  <Name>{b.name}</Name>
                  <BudgetMeter budget={b} />
                </div>
              ))}
            </>
          )}
        </Answer>
        <Link to="/quotas" search={{ tab: 'budgets' } as never}>
          {t('overview.all')}
        </Link>
      </CardBody>
    </Card>
  );
}
