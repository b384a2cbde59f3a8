// SPDX-License-Identifier: Apache-2.0
// Flows.tsx - from which zone to which data of a class may go, by the laws on record and the policies in force.
import { FormSelect, FormSelectOption, Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { CLASSES, useLaws, useZones } from './data.ts';
import { flowOf, type Cell, type Flow } from './flows.ts';

const COLOUR: Record<Flow, 'green' | 'grey' | 'orange' | 'red'> = {
  own: 'grey',
  free: 'green',
  basis: 'orange',
  exception: 'red',
  barred: 'grey',
};
/** A table of more columns cannot be read; whoever has more zones picks them one by one on the other tab. */
const ZONES_MAX = 12;

function Flowing({ cell, ask }: { cell: Cell; ask: string | null }) {
  const { t } = useTranslation();
  const label = (
    <Label isCompact color={cell.policy ? 'green' : COLOUR[cell.flow]}>
      {cell.policy ? t('residency.byPolicy') : t(`residency.${cell.flow}`)}
    </Label>
  );
  return (
    <>
      {ask && cell.flow !== 'own' ? <To to={ask}>{label}</To> : label}
      {cell.regime && (
        <div className="subtle">
          <Code>{cell.regime}</Code>
        </div>
      )}
    </>
  );
}

export function FlowTable() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const dataClass = CLASSES.find((c) => c === search['class']) ?? 'personal';
  const zones = useZones();
  const codes = (zones.data ?? []).map((z) => z.code!).slice(0, ZONES_MAX);
  const laws = useLaws(codes);
  const nameOf = (code: string | undefined): string => zones.data?.find((z) => z.code === code)?.name ?? '';
  const tenant = Boolean(me.tenant_id);
  const policies = useGet(
    '/v1/transfer-policies',
    { state: 'ACTIVE', page_size: 200 },
    { enabled: tenant && can('transfer:read') },
  );
  return (
    <>
      <div className="flow-ask block">
        <FormSelect
          aria-label={t('col.class')}
          value={dataClass}
          onChange={(_e, v) => void navigate({ to: '.', search: withFilter(search, 'class', v) as never })}
        >
          {CLASSES.map((c) => (
            <FormSelectOption key={c} value={c} label={t('residency.dataOf', { what: t(`class.${c}`) })} />
          ))}
        </FormSelect>
      </div>
      <Answer of={laws}>
        {(all) => (
          <div className="flow-scroll">
            <Table
              aria-label={t('residency.caption', { what: t(`class.${dataClass}`) })}
              variant="compact"
              gridBreakPoint=""
            >
              <Thead>
                <Tr>
                  <Th>{t('residency.fromTo')}</Th>
                  {all.map((to) => (
                    <Th key={to.zone} modifier="nowrap" title={nameOf(to.zone)}>
                      <Code>{to.zone}</Code>
                    </Th>
                  ))}
                </Tr>
              </Thead>
              <Tbody>
                {all.map((from) => (
                  <Tr key={from.zone}>
                    <Th scope="row" modifier="nowrap">
                      <Code>{from.zone}</Code>
                      <div className="subtle flow-name">
                        <bdi>{nameOf(from.zone)}</bdi>
                      </div>
                    </Th>
                    {all.map((to) => (
                      <Td key={to.zone}>
                        <Flowing
                          cell={flowOf(from, to, dataClass, policies.data?.data ?? [])}
                          ask={
                            tenant ? `/residency?tab=ask&class=${dataClass}&from=${from.zone!}&to=${to.zone!}` : null
                          }
                        />
                      </Td>
                    ))}
                  </Tr>
                ))}
              </Tbody>
            </Table>
          </div>
        )}
      </Answer>
      {(zones.data?.length ?? 0) > ZONES_MAX && (
        <p className="subtle">{t('residency.firstOf', { count: ZONES_MAX })}</p>
      )}
      <p className="subtle block">{tenant ? t('residency.flowsNote') : t('residency.flowsNoteLaw')}</p>
    </>
  );
}
