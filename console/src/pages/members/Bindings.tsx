// SPDX-License-Identifier: Apache-2.0
// Bindings.tsx - each role that somebody holds: where, under which conditions, given by whom.
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { rolesAt } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Time, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, type Column, type Filter } from '../../ui/table.tsx';
import { ConditionList } from './conditions.tsx';
import type { Binding } from './parts.tsx';
import { useNames } from './names.ts';

export function Bindings({ userId }: { userId?: string }) {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const forget = useForget();
  const names = useNames();
  const platform = me.tenant === 'platform';
  const filters: Filter[] = userId
    ? []
    : [
        {
          name: 'role',
          label: t('members.role'),
          options: rolesAt(platform).map((r) => ({ value: r, label: t(`role.${r}`) })),
        },
        {
          name: 'place',
          label: t('members.place'),
          options: (platform ? ['platform', 'zone'] : ['tenant', 'project']).map((p) => ({
            value: p,
            label: t(`place.${p}`),
          })),
        },
      ];
  const columns: Column<Binding>[] = [
    { name: 'role', label: t('members.role'), cell: (b) => t(`role.${b.role!}`) },
    {
      name: 'place',
      label: t('members.place'),
      cell: (b) => (
        <>
          {t(`place.${b.place!}`)} {b.zone && <Code>{b.zone}</Code>}{' '}
          {b.project_id && <bdi>{names.project(b.project_id)}</bdi>}
        </>
      ),
    },
    { name: 'mfa_age_seconds', label: t('members.conditions'), cell: (b) => <ConditionList of={b} /> },
    {
      name: 'source',
      label: t('members.source'),
      cell: (b) =>
        t(`members.source_${['direct', 'group', 'invitation'].includes(b.source ?? '') ? b.source! : 'else'}`),
    },
    {
      name: 'created_by',
      label: t('members.by'),
      cell: (b) =>
        b.created_by ? (
          <To to={`/members/${b.created_by}`}>
            <Name>{names.user(b.created_by)}</Name>
          </To>
        ) : null,
    },
    { name: 'created_at', label: t('members.since'), cell: (b) => <Time at={b.created_at} ago /> },
  ];
  if (!userId)
    columns.unshift({
      name: 'user_id',
      label: t('members.userId'),
      cell: (b) => (
        <To to={`/members/${b.user_id!}`}>
          <Name>{names.user(b.user_id!)}</Name>
        </To>
      ),
    });
  return (
    <ServerTable
      path="/v1/role-bindings"
      label={t('members.bindings')}
      filters={filters}
      {...(userId ? { fixed: { user_id: userId } } : {})}
      rowKey={(b) => b.binding_id!}
      columns={columns}
      {...(can('role:grant')
        ? {
            rowName: (b: Binding) => `${names.user(b.user_id!)} · ${t(`role.${b.role!}`)}`,
            bulk: [
              {
                label: t('members.takeBack'),
                danger: true,
                confirm: t('bulk.bindings'),
                run: (b: Binding) => change('DELETE', `/v1/role-bindings/${b.binding_id!}`),
              },
            ],
            rowActions: (b: Binding) => (
              <TypedConfirm
                variant="link"
                label={t('members.takeBack')}
                title={t('members.takeBack')}
                name={names.user(b.user_id!)}
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
      empty={<Empty title={t('members.noRoles')} body={t('members.noRolesBody')} />}
    />
  );
}
