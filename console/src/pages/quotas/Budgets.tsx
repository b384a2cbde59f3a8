// SPDX-License-Identifier: Apache-2.0
// Budgets.tsx - what may be spent in a month or in all, where it stands, and where it goes if it goes on like this.
import { Progress } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { BUDGET_NEW_MEASURE, BUDGET_NEW_PERIOD } from '../../api/gen/enums.ts';
import { change, get, ifMatch, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { money, number, percent } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Name, State } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { bodyOf, formFields } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { titleOf } from '../../lib/titles.ts';

type Budget = Schemas['budget'];
const PERCENTS = /^\s*\d{1,4}(\s*,\s*\d{1,4}){0,7}\s*$/;

export function useBudgetAmount(): (b: Budget, n: number) => string {
  const { t } = useTranslation();
  return (b, n) =>
    b.measure === 'money' ? money(n, b.currency ?? '') : t(`budgets.amount_${b.measure!}`, { n: number(n) });
}

export function BudgetMeter({ budget }: { budget: Budget }) {
  const { t } = useTranslation();
  const amount = useBudgetAmount();
  const share = budget.amount > 0 ? budget.used / budget.amount : 0;
  const label = t('overview.of', { used: amount(budget, budget.used), limit: amount(budget, budget.amount) });
  const state = share >= 1 ? ('danger' as const) : budget.forecast > budget.amount ? ('warning' as const) : undefined;
  return (
    <Progress
      size="sm"
      aria-label={budget.name ?? ''}
      value={Math.min(100, Math.round(100 * share))}
      label={label}
      valueText={label}
      measureLocation="top"
      {...(state ? { variant: state } : {})}
    />
  );
}

/** Budgets count money in minor units; people write dirhams. */
const amountOf = (measure: string | undefined, amount: number): number =>
  measure === 'money' ? Math.round(amount * 100) : amount;
const percents = (text: string | undefined): { warn_percent?: number[] } =>
  text ? { warn_percent: text.split(',').map(Number) } : {};

const formOf = (b: Budget): Record<string, string> => ({
  amount: String(b.measure === 'money' ? b.amount / 100 : b.amount),
  warn_percent: Array.isArray(b.warn_percent) ? b.warn_percent.join(',') : '',
  stop_percent: b.stop_percent ? String(b.stop_percent) : '',
});

export function Budgets() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const amount = useBudgetAmount();
  const setter = can('budget:set');
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: setter && can('project:read') });
  const thresholds = formFields(
    { name: 'warn_percent', label: t('budgets.warn'), help: t('budgets.warnHelp'), pattern: PERCENTS },
    {
      name: 'stop_percent',
      label: t('budgets.stop'),
      help: t('budgets.stopHelp'),
      kind: 'number',
      min: 1,
      max: 1000,
      pattern: /^\d+$/,
    },
  );
  const size = {
    name: 'amount',
    label: t('budgets.amount'),
    kind: 'number',
    required: true,
    min: 0.01,
    max: 1e7,
  } as const;
  const fresh = formFields(
    { name: 'name', label: t('col.name'), required: true, max: 128 },
    {
      name: 'measure',
      label: t('budgets.measure'),
      kind: 'select',
      options: BUDGET_NEW_MEASURE.map((m) => ({ value: m, label: t(`budgets.${m}`) })),
    },
    { ...size, help: t('budgets.amountHelp') },
    { name: 'currency', label: t('budgets.currency'), help: t('budgets.currencyHelp'), pattern: /^[A-Z]{3}$/ },
    {
      name: 'period',
      label: t('budgets.period'),
      kind: 'select',
      options: BUDGET_NEW_PERIOD.map((p) => ({ value: p, label: t(`budgets.${p}`) })),
    },
    {
      name: 'project_id',
      label: t('rules.project'),
      kind: 'select',
      options: [
        { value: '', label: t('rules.tenant') },
        ...(projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) })),
      ],
    },
    ...thresholds,
    { name: 'reserve', label: t('budgets.reserve'), kind: 'check' },
  );
  const changed = formFields(size, ...thresholds);
  return (
    <>
      {setter && (
        <div className="row-of-tools">
          <FormButton
            opens="budget"
            label={t('budgets.new')}
            title={t('budgets.new')}
            fields={fresh}
            initial={{ currency: 'AED', warn_percent: '80,100' }}
            onSubmit={async (v) => {
              const { currency, warn_percent, ...body } = bodyOf(fresh, v);
              await change('POST', '/v1/budgets', {
                ...body,
                amount: amountOf(body.measure, body.amount),
                ...(body.measure === 'money' && currency ? { currency } : {}),
                ...(body.project_id === '' ? { project_id: undefined } : {}),
                ...percents(warn_percent),
              });
              await forget('/v1/budgets');
            }}
          />
        </div>
      )}
      <ServerTable
        path="/v1/budgets"
        label={t('budgets.title')}
        rowKey={(b) => b.budget_id!}
        columns={[
          { name: 'name', label: t('col.name'), cell: (b) => <Name>{b.name}</Name> },
          { name: 'state', label: t('col.state'), cell: (b) => <State value={b.state} /> },
          { name: 'used', label: t('budgets.used'), cell: (b) => <BudgetMeter budget={b} /> },
          { name: 'forecast', label: t('budgets.forecast'), cell: (b) => amount(b, b.forecast) },
          { name: 'period', label: t('budgets.period'), cell: (b) => t(`budgets.${b.period!}`) },
          {
            name: 'stop_percent',
            label: t('budgets.stop'),
            cell: (b) => (b.stop_percent ? percent(b.stop_percent / 100) : t('budgets.warnsOnly')),
          },
        ]}
        {...(setter
          ? {
              rowName: (b: Budget) => b.name,
              bulk: [
                {
                  label: t('budgets.remove'),
                  danger: true,
                  confirm: t('budgets.removeEffect'),
                  run: (b: Budget) => change('DELETE', `/v1/budgets/${b.budget_id!}`, undefined, ifMatch(b.version)),
                },
              ],
              rowActions: (b: Budget) => (
                <>
                  <FormButton
                    variant="link"
                    label={t('budgets.edit')}
                    title={t('budgets.editOf', { name: b.name })}
                    submit={t('act.save')}
                    fields={changed}
                    initial={formOf(b)}
                    lock={{
                      read: () => get(`/v1/budgets/${b.budget_id!}`),
                      was: { ...b },
                      view: (o) => formOf(o as unknown as Budget),
                    }}
                    onSubmit={async (v, tag) => {
                      const { amount: n, stop_percent, warn_percent } = bodyOf(changed, v);
                      const body = {
                        amount: amountOf(b.measure, n),
                        // The API reads 0 as "only warns"; an emptied field means that.
                        stop_percent: stop_percent ?? 0,
                        ...percents(warn_percent),
                      };
                      await change('PATCH', `/v1/budgets/${b.budget_id!}`, body, { 'if-match': tag });
                      await forget('/v1/budgets');
                    }}
                  />{' '}
                  <TypedConfirm
                    variant="link"
                    label={t('budgets.remove')}
                    title={t('budgets.remove')}
                    name={b.name ?? ''}
                    effect={t('budgets.removeEffect')}
                    onConfirm={async () => {
                      await change('DELETE', `/v1/budgets/${b.budget_id!}`, undefined, ifMatch(b.version));
                      await forget('/v1/budgets');
                    }}
                  />
                </>
              ),
            }
          : {})}
        empty={
          <Empty
            title={t('budgets.none')}
            body={t('budgets.noneBody')}
            cli="falaj budget create team money 500000 month --currency AED"
          />
        }
      />
    </>
  );
}
