// SPDX-License-Identifier: Apache-2.0
// Member.tsx - one person or program: who it is, its roles, sessions and tokens, and what may be done about it.
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, get, type Page as ListOf } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Id, Name, Pairs, State, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { PageTabs, type Part } from '../../ui/tabs.tsx';
import { TokenTable } from '../tokens/Table.tsx';
import { Bindings } from './Bindings.tsx';
import { GrantButton } from './Invite.tsx';
import { useSessionColumns } from '../settings/sessions.tsx';
import { Factor, Roles, type User } from './parts.tsx';

function Sessions({ user }: { user: User }) {
  const { t } = useTranslation();
  const columns = useSessionColumns();
  const forget = useForget();
  return (
    <ServerTable
      path="/v1/sessions"
      label={t('settings.sessions')}
      fixed={{ user_id: user.user_id }}
      rowKey={(s) => s.session_id!}
      columns={columns}
      rowActions={(s) => (
        <TypedConfirm
          variant="link"
          label={t('settings.end')}
          title={t('settings.end')}
          name={user.name ?? ''}
          effect={t('settings.endEffect')}
          onConfirm={async () => {
            await change('DELETE', `/v1/sessions/${s.session_id!}`);
            await forget('/v1/sessions');
          }}
        />
      )}
      empty={<Empty title={t('members.noSessions')} body={t('members.noSessionsBody')} />}
    />
  );
}

/** What stands to be lost, counted before somebody says yes. */
function Loss({ user, forever }: { user: User; forever: boolean }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const of = { user_id: user.user_id, page_size: 200 };
  const sessions = useGet('/v1/sessions', of, { enabled: can('session:manage') });
  const tokens = useGet('/v1/api-tokens', { ...of, state: 'active' }, { enabled: can('token:manage') });
  const roles = useGet('/v1/role-bindings', of);
  const count = (q: { data?: ListOf<unknown> | undefined }): string =>
    q.data ? `${number(q.data.data.length)}${q.data.next_page_token ? '+' : ''}` : '…';
  return (
    <>
      <p>{forever ? t('members.deactivateEffect') : t('members.disableEffect')}</p>
      <ul className="rows">
        {can('session:manage') && (
          <li>
            <span>{t('members.sessionsEnd')}</span> <strong>{count(sessions)}</strong>
          </li>
        )}
        {can('token:manage') && (
          <li>
            <span>{t('members.tokensEnd')}</span> <strong>{count(tokens)}</strong>
          </li>
        )}
        {forever && (
          <li>
            <span>{t('members.rolesEnd')}</span> <strong>{count(roles)}</strong>
          </li>
        )}
      </ul>
    </>
  );
}

function Acts({ user }: { user: User }) {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const forget = useForget();
  const path = `/v1/users/${user.user_id!}` as const;
  const done = async (): Promise<void> => {
    for (const p of ['/v1/users', '/v1/role-bindings', '/v1/sessions', '/v1/api-tokens']) await forget(p);
  };
  const patch = async (body: object): Promise<void> => {
    await change('PATCH', path, body, { 'if-match': `"v${user.version}"` });
    await done();
  };
  const self = user.user_id === me.user_id;
  const own = self ? { why: t('members.notSelf') } : {};
  if (user.state === 'DEACTIVATED') return null;
  return (
    <>
      {can('role:grant') && user.state === 'ACTIVE' && <GrantButton user={user} variant="secondary" />}
      {can('user:manage') && (
        <FormButton
          variant="secondary"
          label={t('act.rename')}
          title={t('act.rename')}
          initial={{ name: user.name ?? '' }}
          lock={{ read: () => get(path), was: { ...user } }}
          fields={[{ name: 'name', label: t('col.name'), required: true, max: 128 }]}
          onSubmit={async (v, tag) => {
            await change('PATCH', path, v, { 'if-match': tag });
            await done();
          }}
        />
      )}
      {can('session:manage') && user.kind === 'person' && user.has_second_factor && !self && (
        <TypedConfirm
          variant="secondary"
          label={t('members.dropFactor')}
          title={t('members.dropFactor')}
          name={user.name ?? ''}
          effect={t('members.dropFactorEffect')}
          onConfirm={async () => {
            await change('DELETE', `${path}/second-factor`);
            await done();
          }}
        />
      )}
      {can('user:manage') &&
        (user.state === 'ACTIVE' ? (
          <TypedConfirm
            variant="secondary"
            label={t('members.disable')}
            title={t('members.disable')}
            name={user.name ?? ''}
            effect={<Loss user={user} forever={false} />}
            {...own}
            onConfirm={() => patch({ state: 'DISABLED' })}
          />
        ) : (
          <FormButton
            variant="secondary"
            label={t('members.enable')}
            title={t('members.enable')}
            lead={<p>{t('members.enableEffect')}</p>}
            fields={[]}
            onSubmit={() => patch({ state: 'ACTIVE' })}
          />
        ))}
      {can('user:manage') && (
        <TypedConfirm
          variant="secondary"
          label={t('members.deactivate')}
          title={t('members.deactivate')}
          name={user.name ?? ''}
          effect={<Loss user={user} forever />}
          {...own}
          onConfirm={async () => {
            await change('DELETE', path);
            await done();
          }}
        />
      )}
    </>
  );
}

export function Member() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const found = useGet(`/v1/users/${id}`);
  const name = found.data?.name ?? '';
  const parts = (u: User): Part[] => [
    { id: 'roles', title: t('members.roles'), body: () => <Bindings userId={id} /> },
    ...(can('session:manage') && u.kind === 'person'
      ? [{ id: 'sessions', title: t('settings.sessions'), body: () => <Sessions user={u} /> }]
      : []),
    ...(can('token:manage')
      ? [{ id: 'tokens', title: t('nav.tokens'), body: () => <TokenTable userId={id} owner={u.name ?? ''} /> }]
      : []),
  ];
  return (
    <Page
      name={name || t('nav.members')}
      title={<Name>{name}</Name>}
      crumbs={[[t('nav.members'), '/members']]}
      actions={found.data && <Acts user={found.data} />}
      api={[`GET /v1/users/${id}`, `GET /v1/role-bindings?user_id=${id}`, `GET /v1/sessions?user_id=${id}`]}
      cli={[`falaj user get ${id}`, `falaj role list --user-id ${id}`]}
    >
      <Answer of={found}>
        {(u) => (
          <>
            <Pairs
              rows={[
                [t('col.kind'), t(`kind.${u.kind!}`)],
                [t('col.state'), <State key="s" value={u.state} />],
                [t('members.roles'), <Roles key="r" of={u.roles} />],
                [
                  t('settings.seen'),
                  u.last_seen_at ? <Time key="l" at={u.last_seen_at} ago /> : t('members.neverSeen'),
                ],
                [t('settings.factor'), u.kind === 'person' ? <Factor key="f" user={u} /> : null],
                [t('col.created'), <Time key="c" at={u.created_at} />],
                [t('col.id'), <Id key="i" value={u.user_id} />],
              ]}
            />
            <div className="block">
              <PageTabs parts={parts(u)} label={t('members.parts')} />
            </div>
          </>
        )}
      </Answer>
    </Page>
  );
}
