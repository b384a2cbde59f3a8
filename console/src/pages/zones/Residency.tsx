// SPDX-License-Identifier: Apache-2.0
// Residency.tsx - where data may go: the laws and policies as a table, the policies, what crossed, what was refused, and the judge to ask.
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { withFilter, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Ask } from './Ask.tsx';
import { FlowTable } from './Flows.tsx';
import { Policies, ProposePolicy } from './Policies.tsx';
import { Refused, Transfers } from './Transfers.tsx';
import './zones.css';

export function Residency() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const tenant = Boolean(me.tenant_id);
  const register = tenant && can('transfer:read');
  const tabs: [key: string, draw: () => ReactNode, api: string[], cli: string[]][] = [
    ['flows', () => <FlowTable />, ['GET /v1/zones', 'GET /v1/zones/{code}/law'], ['falaj zone law ZONE']],
  ];
  if (tenant)
    tabs.push(['ask', () => <Ask />, ['POST /v1/residency/explain'], ['falaj zone explain CLASS ZONE --act transfer']]);
  if (register) {
    tabs.push(['policies', () => <Policies />, ['GET /v1/transfer-policies'], ['falaj transfer policies']]);
    tabs.push(['transfers', () => <Transfers />, ['GET /v1/transfers'], ['falaj transfer list']]);
  }
  if (tenant && can('audit:read'))
    tabs.push([
      'refused',
      () => <Refused />,
      ['GET /v1/audit/events?action=residency.deny'],
      ['falaj audit search --action residency.deny'],
    ]);
  const now = tabs.find(([k]) => k === search['tab']) ?? tabs[0]!;
  return (
    <Page
      name={t('nav.residency')}
      title={t('nav.residency')}
      lead={t('residency.lead')}
      api={now[2]}
      cli={now[3]}
      actions={
        tenant && (
          <>
            {can('evidence:read') && <To to="/residency/what-if">{t('whatif.title')}</To>}{' '}
            {register && can('transfer:propose') && <ProposePolicy />}
          </>
        )
      }
    >
      <Tabs
        mountOnEnter
        unmountOnExit
        activeKey={now[0]}
        aria-label={t('nav.residency')}
        onSelect={(_e, k) =>
          void navigate({ to: '.', search: withFilter({}, 'tab', k === 'flows' ? '' : String(k)) as never })
        }
      >
        {tabs.map(([k, draw]) => (
          <Tab key={k} eventKey={k} title={<TabTitleText>{t(`residency.${k}`)}</TabTitleText>}>
            <div className="block">{draw()}</div>
          </Tab>
        ))}
      </Tabs>
    </Page>
  );
}
