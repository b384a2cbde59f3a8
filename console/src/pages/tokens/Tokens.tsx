// SPDX-License-Identifier: Apache-2.0
// Tokens.tsx - access tokens: the own ones, those of everybody for who manages them, and programs with tokens of their own.
import { useTranslation } from 'react-i18next';
import { withQuery } from '../../api/client.ts';
import { useSession } from '../../shell/session.tsx';
import { Page } from '../../ui/page.tsx';
import { useListSearch } from '../../ui/table.tsx';
import { PageTabs, useTab, type Part } from '../../ui/tabs.tsx';
import { CreateToken } from './Create.tsx';
import { CreateService, Services } from './Services.tsx';
import { TokenTable, useTokenFilters } from './Table.tsx';

export function Tokens() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const parts: Part[] = [
    {
      id: 'mine',
      title: t('tokens.mine'),
      body: () => <TokenTable {...(me.user_id ? { userId: me.user_id } : {})} />,
    },
    ...(can('token:manage') ? [{ id: 'all', title: t('tokens.everybody'), body: () => <TokenTable everybody /> }] : []),
    ...(can('token:service') ? [{ id: 'services', title: t('tokens.services'), body: () => <Services /> }] : []),
  ];
  const tab = useTab(parts);
  const query = useListSearch(useTokenFilters());
  const services = tab === 'services';
  return (
    <Page
      name={t('nav.tokens')}
      title={t('nav.tokens')}
      actions={services ? <CreateService /> : <CreateToken opens="token" />}
      api={[services ? 'GET /v1/service-accounts' : `GET ${withQuery('/v1/api-tokens', query)}`]}
      cli={services ? ['falaj user list --kind service'] : ['falaj token list', 'falaj token create NAME --days 30']}
    >
      <PageTabs parts={parts} label={t('nav.tokens')} />
    </Page>
  );
}
