// SPDX-License-Identifier: Apache-2.0
// Tokens.tsx - access tokens: the secret is shown once, at its making.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget } from '../api/hooks.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, State, Time } from '../ui/bits.tsx';
import { FormButton, OnceSecret, TypedConfirm } from '../ui/dialogs.tsx';
import { bodyOf, type Field } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';

type Token = Schemas['api_token'];
const stateOf = (x: Token): string =>
  x.revoked_at ? 'revoked' : x.expires_at && new Date(x.expires_at) < new Date() ? 'expired' : 'active';
const list = (text: unknown): string[] =>
  String(text ?? '')
    .split(/[\s,،]+/)
    .filter((x) => x !== '');

export function Tokens() {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [secret, setSecret] = useState<string | null>(null);
  const filters: Filter[] = [
    { name: 'name', label: t('col.name') },
    {
      name: 'state',
      label: t('col.state'),
      options: ['active', 'expired', 'revoked'].map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    {
      name: 'sort',
      label: t('list.order'),
      options: [
        { value: '-created_at', label: t('list.newest') },
        { value: 'expires_at', label: t('tokens.soonest') },
      ],
    },
  ];
  const fields: Field[] = [
    { name: 'name', label: t('tokens.purpose'), required: true, max: 128 },
    { name: 'expires_in_days', label: t('tokens.days'), kind: 'number', required: true, min: 1, max: 90 },
    {
      name: 'scopes',
      label: t('tokens.scopes'),
      kind: 'area',
      help: t('tokens.scopesHelp', { example: me.permissions.slice(0, 2).join(', ') }),
    },
    { name: 'cidrs', label: t('tokens.cidrs'), help: t('tokens.cidrsHelp') },
  ];
  const create = (
    <FormButton
      label={t('tokens.create')}
      title={t('tokens.create')}
      fields={fields}
      initial={{ expires_in_days: '30' }}
      onSubmit={async (v) => {
        const body = bodyOf(fields, v);
        const made = await change<Schemas['token_create_out']>('POST', '/v1/api-tokens', {
          ...body,
          scopes: list(v['scopes']),
          cidrs: list(v['cidrs']),
        });
        await forget('/v1/api-tokens');
        setSecret(made.token ?? '');
      }}
    />
  );
  return (
    <Page
      name={t('nav.tokens')}
      title={t('nav.tokens')}
      actions={create}
      api={[`GET ${withQuery('/v1/api-tokens', useListSearch(filters))}`]}
      cli={['falaj token list', 'falaj token create NAME --days 30']}
    >
      <ServerTable<Token>
        path="/v1/api-tokens"
        label={t('nav.tokens')}
        filters={filters}
        rowKey={(x) => x.token_id!}
        columns={[
          { name: 'name', label: t('tokens.purpose'), cell: (x) => <Name>{x.name}</Name> },
          { name: 'hint', label: t('tokens.hint'), cell: (x) => <Code>{x.hint}</Code> },
          { name: 'revoked_at', label: t('col.state'), cell: (x) => <State value={stateOf(x)} /> },
          {
            name: 'scopes',
            label: t('tokens.scopes'),
            cell: (x) =>
              Array.isArray(x.scopes) && x.scopes.length > 0 ? <Code>{x.scopes.join(', ')}</Code> : t('tokens.all'),
          },
          { name: 'expires_at', label: t('tokens.expires'), cell: (x) => <Time at={x.expires_at} ago /> },
          {
            name: 'last_used_at',
            label: t('tokens.used'),
            cell: (x) =>
              x.last_used_at ? (
                <>
                  <Time at={x.last_used_at} ago /> <Code>{x.last_used_ip}</Code>
                </>
              ) : (
                t('tokens.never')
              ),
          },
        ]}
        rowActions={(x) =>
          stateOf(x) !== 'active' ? null : (
            <TypedConfirm
              variant="link"
              label={t('tokens.revoke')}
              title={t('tokens.revokeTitle')}
              name={x.name ?? ''}
              effect={t('tokens.revokeEffect')}
              onConfirm={async () => {
                await change('DELETE', `/v1/api-tokens/${x.token_id!}`);
                await forget('/v1/api-tokens');
              }}
            />
          )
        }
        empty={
          <Empty
            title={t('tokens.empty')}
            body={t('tokens.emptyBody')}
            action={create}
            cli="falaj token create NAME --days 30"
          />
        }
      />
      {secret !== null && <OnceSecret title={t('tokens.secret')} secrets={[secret]} onClose={() => setSecret(null)} />}
    </Page>
  );
}
