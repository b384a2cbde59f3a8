// SPDX-License-Identifier: Apache-2.0
// Table.tsx - access tokens as a table: the own ones, or those of somebody else; rotating and revoking.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TOKEN_LIST_STATE } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, OnceSecret, TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, type Column, type Filter } from '../../ui/table.tsx';
import { CreateToken } from './Create.tsx';
import { listOf } from '../members/parts.tsx';
import { useNames } from '../members/names.ts';
import '../members/members.css';

export type Token = Schemas['api_token'];
const stateOf = (x: Token): string =>
  x.revoked_at ? 'revoked' : x.expires_at && new Date(x.expires_at) < new Date() ? 'expired' : 'active';
const HOUR = 3600;

export function useTokenFilters(): Filter[] {
  const { t } = useTranslation();
  return [
    { name: 'name', label: t('tokens.purpose') },
    {
      name: 'state',
      label: t('col.state'),
      options: TOKEN_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
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
}

function Rotate({ token, onSecret }: { token: Token; onSecret: (s: string) => void }) {
  const { t } = useTranslation();
  const forget = useForget();
  const overlaps = [0, HOUR, 24 * HOUR, 168 * HOUR];
  return (
    <FormButton
      variant="link"
      label={t('tokens.rotate')}
      title={t('tokens.rotateTitle', { name: `\u2068${token.name ?? ''}\u2069` })}
      lead={<p className="effect">{t('tokens.rotateBody')}</p>}
      initial={{ expires_in_days: '30', overlap_seconds: String(24 * HOUR) }}
      fields={[
        {
          name: 'overlap_seconds',
          label: t('tokens.overlap'),
          kind: 'select',
          options: overlaps.map((s) => ({
            value: String(s),
            label: s === 0 ? t('tokens.atOnce') : t('tokens.hours', { count: s / HOUR }),
          })),
        },
        { name: 'expires_in_days', label: t('tokens.days'), kind: 'number', required: true, min: 1, max: 90 },
      ]}
      onSubmit={async (v) => {
        const made = await change('POST', `/v1/api-tokens/${token.token_id!}/rotate`, {
          overlap_seconds: Number(v['overlap_seconds']),
          expires_in_days: Number(v['expires_in_days']),
        });
        await forget('/v1/api-tokens');
        onSecret(made.token ?? '');
      }}
    />
  );
}

interface Props {
  /** Whose tokens; absent: the own ones. */
  userId?: string;
  owner?: string;
  /** Of everybody: says whose each is. */
  everybody?: boolean;
}
export function TokenTable({ userId, owner, everybody = false }: Props) {
  const { t } = useTranslation();
  const forget = useForget();
  const names = useNames();
  const filters = useTokenFilters();
  const [secret, setSecret] = useState<string | null>(null);
  const columns: Column<Token>[] = [
    { name: 'name', label: t('tokens.purpose'), cell: (x) => <Name>{x.name}</Name> },
    { name: 'hint', label: t('tokens.hint'), cell: (x) => <Code>{x.hint}</Code> },
    { name: 'revoked_at', label: t('col.state'), cell: (x) => <State value={stateOf(x)} /> },
    {
      name: 'scopes',
      label: t('tokens.scopes'),
      cell: (x) => (listOf(x.scopes).length > 0 ? <Code>{listOf(x.scopes).join(', ')}</Code> : t('tokens.all')),
    },
    {
      name: 'cidrs',
      label: t('tokens.cidrs'),
      cell: (x) => (listOf(x.cidrs).length > 0 ? <Code>{listOf(x.cidrs).join(' ')}</Code> : t('tokens.anyNet')),
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
  ];
  if (everybody)
    columns.splice(1, 0, {
      name: 'user_id',
      label: t('tokens.owner'),
      cell: (x) => (
        <To to={`/members/${x.user_id!}`}>
          <bdi>{names.user(x.user_id!)}</bdi>
        </To>
      ),
    });
  const create = <CreateToken {...(userId ? { userId, owner: owner ?? '' } : {})} />;
  return (
    <>
      <ServerTable
        path="/v1/api-tokens"
        label={t('nav.tokens')}
        filters={filters}
        {...(userId ? { fixed: { user_id: userId } } : {})}
        rowKey={(x) => x.token_id!}
        rowName={(x) => x.name!}
        columns={columns}
        bulk={[
          {
            label: t('tokens.revoke'),
            danger: true,
            confirm: t('tokens.revokeMany'),
            fits: (x) => stateOf(x) === 'active',
            run: (x) => change('DELETE', `/v1/api-tokens/${x.token_id!}`),
          },
        ]}
        rowActions={(x) =>
          stateOf(x) !== 'active' ? null : (
            <span className="acts">
              {!x.successor_id && <Rotate token={x} onSecret={setSecret} />}
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
            </span>
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
    </>
  );
}
