// SPDX-License-Identifier: Apache-2.0
// Members.tsx - people and programs, the roles they hold, invitations, and why somebody may or may not do something.
import { Alert, Card, CardBody, CardTitle, LabelGroup, Label } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget } from '../api/hooks.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Id, Name, State, Time } from '../ui/bits.tsx';
import { FormButton, OnceSecret, TypedConfirm } from '../ui/dialogs.tsx';
import { ApiForm, type Field } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../ui/table.tsx';

type User = Schemas['app_user'];
type Binding = Schemas['role_binding'];
const TENANT_ROLES = ['ml-engineer', 'viewer', 'tenant-admin', 'compliance-officer'];
const PLATFORM_ROLES = ['zone-operator', 'platform-admin', 'compliance-officer'];

function Why() {
  const { t } = useTranslation();
  const [out, setOut] = useState<Schemas['explanation'] | null>(null);
  return (
    <Card>
      <CardTitle component="h2">{t('members.why')}</CardTitle>
      <CardBody>
        <div className="split">
          <ApiForm
            casual
            submit={t('members.ask')}
            fields={[
              {
                name: 'user_id',
                label: t('members.userId'),
                help: t('members.userHelp'),
                pattern: /^usr_[0-9a-f]{32}$/,
              },
              { name: 'act', label: t('members.act'), required: true, help: t('members.actHelp') },
            ]}
            onSubmit={async (v) =>
              setOut(
                await change<Schemas['explanation']>('POST', '/v1/access/explain', {
                  act: v['act'],
                  ...(v['user_id'] ? { user_id: v['user_id'] } : {}),
                }),
              )
            }
          />
          <div aria-live="polite">
            {out && (
              <Alert
                isInline
                variant={out.allowed ? 'success' : 'warning'}
                title={out.allowed ? t('members.yes') : t('members.no')}
              >
                <p>
                  <Code>{out.permission}</Code>
                </p>
                <ul>
                  {out.bindings.map((b) => (
                    <li key={b.binding_id}>
                      <Code>{b.role}</Code>: <Code>{b.verdict}</Code>{' '}
                      <bdi lang="en" dir="ltr">
                        {b.why}
                      </bdi>
                    </li>
                  ))}
                </ul>
                {!out.allowed && out.who_may.length > 0 && (
                  <p>
                    {t('members.whoMay')}{' '}
                    {out.who_may.map((u) => (
                      <Name key={u.user_id}>{u.name}</Name>
                    ))}
                  </p>
                )}
              </Alert>
            )}
          </div>
        </div>
      </CardBody>
    </Card>
  );
}

export function Members() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const forget = useForget();
  const [link, setLink] = useState<string | null>(null);
  const roles = (me.tenant === 'platform' ? PLATFORM_ROLES : TENANT_ROLES).map((r) => ({
    value: r,
    label: t(`role.${r}`),
  }));
  const filters: Filter[] = [
    { name: 'name', label: t('col.name') },
    {
      name: 'kind',
      label: t('col.kind'),
      options: ['person', 'service'].map((k) => ({ value: k, label: t(`kind.${k}`) })),
    },
    {
      name: 'state',
      label: t('col.state'),
      options: ['ACTIVE', 'DISABLED', 'DEACTIVATED'].map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    {
      name: 'sort',
      label: t('list.order'),
      options: [
        { value: '-created', label: t('list.newest') },
        { value: 'name', label: t('col.name') },
      ],
    },
  ];
  const invite: Field[] = [
    { name: 'name', label: t('col.name'), required: true, max: 128 },
    { name: 'role', label: t('members.role'), kind: 'select', options: roles, required: true },
    { name: 'email_hint', label: t('members.mail'), help: t('members.mailHelp') },
  ];
  const grant = (u: User): Field[] => [
    { name: 'role', label: t('members.role'), kind: 'select', options: roles, required: true, help: u.name ?? '' },
  ];
  const button = can('user:manage') && (
    <FormButton
      label={t('members.invite')}
      title={t('members.invite')}
      fields={invite}
      onSubmit={async (v) => {
        const out = await change<Schemas['invite_out']>('POST', '/v1/invitations', {
          name: v['name'],
          roles: [v['role']],
          ...(v['email_hint'] ? { email_hint: v['email_hint'] } : {}),
        });
        setLink(out.token ?? '');
      }}
    />
  );
  return (
    <Page
      name={t('nav.members')}
      title={t('nav.members')}
      actions={button}
      api={[
        `GET ${withQuery('/v1/users', useListSearch(filters))}`,
        'GET /v1/role-bindings',
        'POST /v1/access/explain',
      ]}
      cli={['falaj user list', 'falaj role list', 'falaj access explain --user USER --act job:submit']}
    >
      <ServerTable<User>
        path="/v1/users"
        label={t('nav.members')}
        filters={filters}
        rowKey={(u) => u.user_id!}
        columns={[
          { name: 'name', label: t('col.name'), cell: (u) => <Name>{u.name}</Name> },
          { name: 'user_id', label: t('col.id'), cell: (u) => <Id value={u.user_id} /> },
          { name: 'kind', label: t('col.kind'), cell: (u) => t(`kind.${u.kind!}`) },
          { name: 'state', label: t('col.state'), cell: (u) => <State value={u.state} /> },
          {
            name: 'roles',
            label: t('members.roles'),
            cell: (u) => (
              <LabelGroup aria-label={t('members.roles')} numLabels={5}>
                {(Array.isArray(u.roles) ? (u.roles as string[]) : []).map((r) => (
                  <Label key={r} isCompact variant="outline">
                    {t(`role.${r}`)}
                  </Label>
                ))}
              </LabelGroup>
            ),
          },
          { name: 'created_at', label: t('col.created'), cell: (u) => <Time at={u.created_at} ago /> },
        ]}
        {...(can('role:grant')
          ? {
              rowActions: (u: User) =>
                u.state !== 'ACTIVE' ? null : (
                  <FormButton
                    variant="link"
                    label={t('members.grant')}
                    title={t('members.grant')}
                    fields={grant(u)}
                    onSubmit={async (v) => {
                      await change('POST', '/v1/role-bindings', { user_id: u.user_id, role: v['role'] });
                      await forget('/v1/users');
                      await forget('/v1/role-bindings');
                    }}
                  />
                ),
            }
          : {})}
        empty={<Empty title={t('members.none')} body={t('members.noneBody')} action={button} cli="falaj user list" />}
      />
      <h2 className="block">{t('members.bindings')}</h2>
      <ServerTable<Binding>
        prefix="b_"
        path="/v1/role-bindings"
        label={t('members.bindings')}
        rowKey={(b) => b.binding_id!}
        columns={[
          { name: 'user_id', label: t('members.userId'), cell: (b) => <Id value={b.user_id} /> },
          { name: 'role', label: t('members.role'), cell: (b) => t(`role.${b.role!}`) },
          {
            name: 'place',
            label: t('members.place'),
            cell: (b) => (
              <>
                {t(`place.${b.place!}`)} <Code>{b.zone ?? b.project_id}</Code>
              </>
            ),
          },
          { name: 'created_at', label: t('col.created'), cell: (b) => <Time at={b.created_at} ago /> },
        ]}
        {...(can('role:grant')
          ? {
              rowActions: (b: Binding) => (
                <TypedConfirm
                  variant="link"
                  label={t('members.takeBack')}
                  title={t('members.takeBack')}
                  name={b.role ?? ''}
                  effect={t('members.takeEffect')}
                  onConfirm={async () => {
                    await change('DELETE', `/v1/role-bindings/${b.binding_id!}`);
                    await forget('/v1/users');
                    await forget('/v1/role-bindings');
                  }}
                />
              ),
            }
          : {})}
        empty={<Empty title={t('members.none')} body={t('members.noneBody')} />}
      />
      {can('access:explain') && (
        <div className="block">
          <Why />
        </div>
      )}
      {link !== null && <OnceSecret title={t('members.invitation')} secrets={[link]} onClose={() => setLink(null)} />}
    </Page>
  );
}
