// SPDX-License-Identifier: Apache-2.0
// Spending.tsx - what was spent of each budget.
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { Name } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { BudgetMeter } from '../quotas/Budgets.tsx';
import { Part } from './cards.tsx';

export function Spending() {
  const { t } = useTranslation();
  const budgets = useGet('/v1/budgets', { page_size: 20 }, { everyMs: 60_000 });
  return (
    <Part title={t('overview.spending')} to="/quotas" search={{ tab: 'budgets' }}>
      <Answer of={budgets}>
        {(page) =>
          page.data.length === 0 ? (
            <p className="lead">{t('overview.noBudget')}</p>
          ) : (
            <>
              {page.data.map((b) => (
                <div key={b.budget_id} className="meter">
                  <Name>{b.name}</Name>
                  <BudgetMeter budget={b} />
                </div>
              ))}
            </>
          )
        }
      </Answer>
    </Part>
  );
}
