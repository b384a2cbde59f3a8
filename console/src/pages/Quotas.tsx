// SPDX-License-Identifier: Apache-2.0
// Quotas.tsx - what may be used, what is used, and what it cost.
import { Card, CardBody, CardTitle, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Page as ListOf, Schemas } from '../api/client.ts';
import { useGet } from '../api/hooks.ts';
import { number } from '../lib/format.ts';
import { withFilter, type Search } from '../lib/search.ts';
import { useSession } from '../shell/session.tsx';
import { Code } from '../ui/bits.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { QuotaBars } from './Overview.tsx';

type Sum = Schemas['usage_sum'];

function Usage({ days }: { days: string }) {
  const { t } = useTranslation();
  const sums = useGet<ListOf<Sum>>('/v1/usage', { days, by: 'day,zone,pool' });
  return (
    <Answer of={sums}>
      {(page) =>
        page.data.length === 0 ? (
          <Empty title={t('usage.empty')} body={t('usage.emptyBody')} cli="falaj usage --by day,zone,pool" />
        ) : (
          <Table aria-label={t('usage.title')} variant="compact" gridBreakPoint="grid-md">
            <Thead>
              <Tr>
                <Th>{t('usage.day')}</Th>
                <Th>{t('col.zone')}</Th>
                <Th>{t('col.pool')}</Th>
                <Th>{t('usage.runs')}</Th>
                <Th>{t('usage.slotHours')}</Th>
                <Th>{t('usage.gpuHours')}</Th>
                <Th>{t('usage.energy')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {page.data.map((u) => (
                <Tr key={`${u.day!} ${u.zone!} ${u.pool!}`}>
                  <Td dataLabel={t('usage.day')}>
                    <Code>{u.day}</Code>
                  </Td>
                  <Td dataLabel={t('col.zone')}>
                    <Code>{u.zone}</Code>
                  </Td>
                  <Td dataLabel={t('col.pool')}>
                    <Code>{u.pool}</Code>
                  </Td>
                  <Td dataLabel={t('usage.runs')}>{number(u.attempts)}</Td>
                  <Td dataLabel={t('usage.slotHours')}>{number(u.slot_ms / 3.6e6, 3)}</Td>
                  <Td dataLabel={t('usage.gpuHours')}>{number(u.gpu_ms / 3.6e6, 3)}</Td>
                  <Td dataLabel={t('usage.energy')}>{number(u.energy_mj / 3.6e9, 4)}</Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )
      }
    </Answer>
  );
}

export function Quotas() {
  const { t } = useTranslation();
  const { can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const days = search['days'] ?? '30';
  return (
    <Page
      name={t('nav.quotas')}
      title={t('nav.quotas')}
      api={['GET /v1/quotas', ...(can('usage:read') ? [`GET /v1/usage?days=${days}&by=day,zone,pool`] : [])]}
      cli={['falaj quota list', ...(can('usage:read') ? [`falaj usage --days ${days}`] : [])]}
    >
      <Card>
        <CardTitle component="h2">{t('usage.limits')}</CardTitle>
        <CardBody>
          <QuotaBars />
        </CardBody>
      </Card>
      {can('usage:read') && (
        <>
          <h2 className="block">{t('usage.title')}</h2>
          <div className="log-tools">
            <FormSelect
              aria-label={t('usage.span')}
              value={days}
              onChange={(_e, v) => void navigate({ to: '.', search: withFilter(search, 'days', v) as never })}
            >
              {['7', '30', '90'].map((n) => (
                <FormSelectOption key={n} value={n} label={t('usage.days', { count: Number(n) })} />
              ))}
            </FormSelect>
            <a href="/v1/usage.csv" download="usage.csv">
              {t('usage.csv')}
            </a>
          </div>
          <Usage days={days} />
        </>
      )}
    </Page>
  );
}
