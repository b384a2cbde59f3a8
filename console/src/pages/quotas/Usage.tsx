// SPDX-License-Identifier: Apache-2.0
// Usage.tsx - what was used and what it cost: per day as bars, and summed by what the reader picks. The address keeps both choices.
import { Button, FormSelect, FormSelectOption } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CALENDAR, calendarRange } from '../../lib/calendar.ts';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { csvText, saveAs } from '../../lib/csv.ts';
import { money, number, showsUtc } from '../../lib/format.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { Bars } from '../../ui/bars.tsx';
import { Code, Name } from '../../ui/bits.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { MEASURES, perDay, shareOf, type Measure } from './usage-sums.ts';

type Sum = Schemas['usage_sum'];
const KEYS = ['project_id', 'queue', 'flavor', 'zone', 'pool'] as const;
type Key = (typeof KEYS)[number];
const BY: Record<Key, string> = { project_id: 'project', queue: 'queue', flavor: 'flavor', zone: 'zone', pool: 'pool' };

/** Sums are of UTC days: a span of another zone begins and ends within one. */
const dayOf = (ms: number): number => Math.floor(ms / 86_400_000);

export function Usage() {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const days = search['days'] ?? '30';
  const key: Key = KEYS.find((k) => k === search['by']) ?? 'zone';
  const measure: Measure = MEASURES.find((m) => m === search['measure']) ?? 'slot_hours';
  // A span of the calendar has a first and a last day; the number of days that the API counts goes back from now.
  const span = calendarRange(days, showsUtc());
  const end = span?.to ? new Date(Date.parse(span.to) - 1) : new Date();
  const drawnDays = span ? dayOf(end.getTime()) - dayOf(Date.parse(span.from)) + 1 : Number(days);
  const sums = useGet('/v1/usage', { ...(span ?? { days: Number(days) }), by: `day,${BY[key]}` });
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: key === 'project_id' });
  const nameOf = (id: string): string =>
    (key === 'project_id' ? projects.data?.data.find((p) => p.project_id === id)?.name : id) ||
    (id === '' ? t('usage.none') : id);
  const put = (name: string, value: string): void =>
    void navigate({ to: '.', search: withFilter(search, name, value) as never });
  const pick = (name: string, label: string, value: string, options: [string, string][]) => (
    <FormSelect aria-label={label} value={value} onChange={(_e, v) => put(name, v)}>
      {options.map(([v, text]) => (
        <FormSelectOption key={v} value={v} label={text} />
      ))}
    </FormSelect>
  );
  const exportCsv = (rows: Sum[]): void =>
    saveAs(
      'usage-sums.csv',
      csvText(['day', key, 'attempts', 'slot_ms', 'gpu_ms', 'energy_mj', 'amount_minor', 'currency'], rows),
    );
  return (
    <>
      <div className="row-of-tools">
        {pick('days', t('usage.span'), days, [
          ...['7', '30', '90'].map((n): [string, string] => [n, t('usage.days', { count: Number(n) })]),
          ...CALENDAR.map((c): [string, string] => [c, t(`range.${c}`)]),
        ])}
        {pick(
          'by',
          t('usage.by'),
          key,
          KEYS.map((k) => [k, t(`usage.by_${BY[k]}`)]),
        )}
        {pick(
          'measure',
          t('usage.measure'),
          measure,
          MEASURES.map((m) => [m, t(`usage.m_${m}`)]),
        )}
      </div>
      <Answer of={sums}>
        {(page) => {
          if (page.data.length === 0)
            return (
              <Empty title={t('usage.empty')} body={t('usage.emptyBody')} cli={`falaj usage --by day,${BY[key]}`} />
            );
          const drawn = perDay(page.data, (u) => nameOf(u[key] ?? ''), measure, drawnDays, end);
          return (
            <>
              <Bars
                label={t('usage.chart', { measure: t(`usage.m_${measure}`) })}
                unit={t(`usage.u_${measure}`)}
                {...drawn}
              />
              <div className="row-of-tools">
                <Button variant="secondary" onClick={() => exportCsv(page.data)}>
                  {t('usage.sumsCsv')}
                </Button>
                <a className="to" href="/v1/usage.csv" download="usage.csv">
                  {t('usage.csv')}
                </a>
              </div>
              <Table aria-label={t('usage.title')} variant="compact" gridBreakPoint="grid-md">
                <Thead>
                  <Tr>
                    <Th>{t('usage.day')}</Th>
                    <Th>{t(`usage.by_${BY[key]}`)}</Th>
                    <Th modifier="wrap">{t('usage.runs')}</Th>
                    {(['slot_hours', 'gpu_hours', 'energy'] as const).map((m) => (
                      <Th key={m} modifier="wrap">
                        {t(`usage.m_${m}`)}
                      </Th>
                    ))}
                    <Th>{t('usage.m_cost')}</Th>
                  </Tr>
                </Thead>
                <Tbody>
                  {page.data.map((u) => (
                    <Tr key={`${u.day!} ${u[key] ?? ''} ${u.currency ?? ''}`}>
                      <Td dataLabel={t('usage.day')}>
                        <Code>{u.day}</Code>
                      </Td>
                      <Td dataLabel={t(`usage.by_${BY[key]}`)}>
                        <Name>{nameOf(u[key] ?? '')}</Name>
                      </Td>
                      <Td dataLabel={t('usage.runs')}>{number(u.attempts)}</Td>
                      {(['slot_hours', 'gpu_hours', 'energy'] as const).map((m) => (
                        <Td key={m} dataLabel={t(`usage.m_${m}`)}>
                          {number(shareOf(u, m), 4)}
                        </Td>
                      ))}
                      <Td dataLabel={t('usage.m_cost')}>
                        {u.currency ? money(u.amount_minor, u.currency) : t('usage.noPrice')}
                      </Td>
                    </Tr>
                  ))}
                </Tbody>
              </Table>
            </>
          );
        }}
      </Answer>
    </>
  );
}
