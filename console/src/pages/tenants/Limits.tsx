// SPDX-License-Identifier: Apache-2.0
// Limits.tsx - a tenant's hard limits with their use, each changed under its own version; and its quota rules.
import { Progress } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { bodyOf, formFields } from '../../ui/form.tsx';
import { RULE_TENANT_IN_RESOURCE } from '../../api/gen/enums.ts';
import { change, get, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { Problem } from '../../api/problem.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { tagOf } from '../../ui/conflict.tsx';
import { Code } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Answer } from '../../ui/states.tsx';

type Quota = Schemas['quota'];
const MOST = 1_000_000_000;

const amount = (q: Quota, n: number): string => (q.resource === 'stored_bytes' ? bytes(n) : number(n));

/** One of a list, read again: neither has an address of its own for the platform. */
function fresh<T>(list: { data: T[] }, is: (x: T) => boolean): T {
  const found = list.data.find(is);
  if (!found) throw new Problem(404, undefined);
  return found;
}

export function Quotas({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/tenants/${id}/quotas` as const;
  const quotas = useGet(path, {}, { everyMs: 10_000 });
  const heads = [t('tenants.resource'), t('tenants.used'), t('tenants.limit'), ...(can('quota:set') ? [''] : [])];
  return (
    <Answer of={quotas}>
      {(page) => (
        <Table aria-label={t('tenants.quotas')} variant="compact" gridBreakPoint="grid-md">
          <Thead>
            <Tr>
              {heads.map((h) => (h === '' ? <Th key="a" screenReaderText={t('list.acts')} /> : <Th key={h}>{h}</Th>))}
            </Tr>
          </Thead>
          <Tbody>
            {page.data.map((q) => (
              <Tr key={q.resource}>
                <Td dataLabel={heads[0]!}>{t(`quota.${q.resource!}`)}</Td>
                <Td dataLabel={heads[1]!}>
                  <Progress
                    aria-label={t(`quota.${q.resource!}`)}
                    size="sm"
                    measureLocation="outside"
                    value={q.hard_limit > 0 ? Math.min(100, Math.round((100 * q.used) / q.hard_limit)) : 0}
                    label={amount(q, q.used)}
                  />
                </Td>
                <Td dataLabel={heads[2]!}>{amount(q, q.hard_limit)}</Td>
                {can('quota:set') && (
                  <Td isActionCell>
                    <FormButton
                      variant="secondary"
                      label={t('tenants.setLimit')}
                      title={`${t('tenants.setLimit')}: ${t(`quota.${q.resource!}`)}`}
                      lead={<p className="effect">{t('tenants.limitEffect', { used: number(q.used) })}</p>}
                      fields={[
                        {
                          name: 'hard_limit',
                          label: t('tenants.limit'),
                          kind: 'number',
                          required: true,
                          min: q.used,
                          max: 2 ** 53 - 1,
                        },
                      ]}
                      initial={{ hard_limit: String(q.hard_limit) }}
                      lock={{ was: q, read: async () => fresh(await get(path), (x) => x.resource === q.resource) }}
                      onSubmit={async (v, tag) => {
                        const limit = { hard_limit: Number(v['hard_limit']) };
                        await change('PUT', `${path}/${q.resource!}`, limit, { 'if-match': tag });
                        await forget(path);
                      }}
                    />
                  </Td>
                )}
              </Tr>
            ))}
          </Tbody>
        </Table>
      )}
    </Answer>
  );
}

export function Rules({ id }: { id: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/tenants/${id}/quota-rules` as const;
  const rules = useGet(path, { page_size: 200 });
  const numbers = formFields(
    { name: 'nominal', label: t('tenants.nominal'), kind: 'number', required: true, min: 0, max: MOST },
    {
      name: 'borrowing_limit',
      label: t('tenants.borrow'),
      help: t('tenants.borrowHelp'),
      kind: 'number',
      min: 0,
      max: MOST,
    },
    { name: 'lending_limit', label: t('tenants.lend'), help: t('tenants.lendHelp'), kind: 'number', min: 0, max: MOST },
    { name: 'weight', label: t('tenants.weight'), kind: 'number', required: true, min: 0, max: 1_000_000 },
  );
  const text = (n: unknown): string => (typeof n === 'number' ? String(n) : '');
  const limit = (n: unknown): string => (typeof n === 'number' ? number(n) : t('tenants.noLimit'));
  const heads = [
    t('tenants.resource'),
    t('workers.flavor'),
    t('col.zone'),
    t('tenants.nominal'),
    t('tenants.used'),
    t('tenants.borrow'),
    t('tenants.lend'),
    t('tenants.weight'),
  ];
  return (
    <>
      {can('quota:set') && (
        <p className="block">
          <FormButton
            variant="secondary"
            label={t('tenants.newRule')}
            title={t('tenants.newRule')}
            fields={[
              {
                name: 'resource',
                label: t('tenants.resource'),
                kind: 'select',
                options: RULE_TENANT_IN_RESOURCE.map((r) => ({ value: r, label: t(`quota.${r}`) })),
              },
              { name: 'flavor', label: t('workers.flavor'), help: t('tenants.allTogether'), max: 63 },
              { name: 'zone', label: t('col.zone'), help: t('tenants.allTogether'), max: 31 },
              ...numbers,
            ]}
            initial={{ weight: '1000' }}
            onSubmit={async (v) => {
              const where = { resource: v['resource'], flavor: v['flavor'], zone: v['zone'] };
              await change('POST', path, { ...where, ...bodyOf(numbers, v) });
              await forget(path);
            }}
          />
        </p>
      )}
      <Answer of={rules}>
        {(page) =>
          page.data.length === 0 ? (
            <p className="lead">{t('tenants.noRules')}</p>
          ) : (
            <Table aria-label={t('tenants.rules')} variant="compact" gridBreakPoint="grid-lg">
              <Thead>
                <Tr>
                  {heads.map((h) => (
                    <Th key={h} modifier="wrap">
                      {h}
                    </Th>
                  ))}
                  {can('quota:set') && <Th screenReaderText={t('list.acts')} />}
                </Tr>
              </Thead>
              <Tbody>
                {page.data.map((r) => (
                  <Tr key={r.rule_id}>
                    {[
                      t(`quota.${r.resource!}`),
                      r.flavor ? <Code key="f">{r.flavor}</Code> : t('tenants.all'),
                      r.zone ? <Code key="z">{r.zone}</Code> : t('tenants.all'),
                      number(r.nominal),
                      number(r.used),
                      limit(r.borrowing_limit),
                      limit(r.lending_limit),
                      number(r.weight),
                    ].map((c, i) => (
                      <Td key={heads[i]} dataLabel={heads[i]!}>
                        {c}
                      </Td>
                    ))}
                    {can('quota:set') && (
                      <Td isActionCell>
                        {r.place === 'tenant' && (
                          <div className="acts">
                            <FormButton
                              variant="secondary"
                              label={t('tenants.editRule')}
                              title={t('tenants.editRule')}
                              fields={numbers}
                              initial={{
                                nominal: text(r.nominal),
                                borrowing_limit: text(r.borrowing_limit),
                                lending_limit: text(r.lending_limit),
                                weight: text(r.weight),
                              }}
                              lock={{
                                was: r,
                                read: async () => fresh(await get(path), (x) => x.rule_id === r.rule_id),
                              }}
                              onSubmit={async (v, tag) => {
                                await change('PUT', `${path}/${r.rule_id!}`, bodyOf(numbers, v), { 'if-match': tag });
                                await forget(path);
                              }}
                            />
                            <TypedConfirm
                              variant="secondary"
                              label={t('tenants.dropRule')}
                              title={t('tenants.dropRule')}
                              name={[r.resource, r.flavor, r.zone].filter(Boolean).join(' ')}
                              effect={t('tenants.dropRuleEffect')}
                              onConfirm={async () => {
                                await change('DELETE', `${path}/${r.rule_id!}`, undefined, { 'if-match': tagOf(r) });
                                await forget(path);
                              }}
                            />
                          </div>
                        )}
                      </Td>
                    )}
                  </Tr>
                ))}
              </Tbody>
            </Table>
          )
        }
      </Answer>
    </>
  );
}
