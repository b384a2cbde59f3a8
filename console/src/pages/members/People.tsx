// SPDX-License-Identifier: Apache-2.0
// People.tsx - who is here: people and programs, their state and their roles.
import { useTranslation } from 'react-i18next';
import { USER_LIST_KIND, USER_LIST_STATE } from '../../api/gen/enums.ts';
import { rolesAt } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Name, State, Time, To } from '../../ui/bits.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, type Filter } from '../../ui/table.tsx';
import { useNameFilter } from '../../ui/table/usual.ts';
import { GrantButton, InviteButton } from './Invite.tsx';
import { Factor, Roles, type User } from './parts.tsx';

export function usePeopleFilters(): Filter[] {
  const { t } = useTranslation();
  const { me } = useSession();
  return [
    useNameFilter(),
    {
      name: 'kind',
      label: t('col.kind'),
      options: USER_LIST_KIND.map((k) => ({ value: k, label: t(`kind.${k}`) })),
    },
    {
      name: 'state',
      label: t('col.state'),
      options: USER_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
    },
    {
      name: 'role',
      label: t('members.role'),
      options: rolesAt(me.tenant === 'platform').map((r) => ({ value: r, label: t(`role.${r}`) })),
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
}

export function People() {
  const { t } = useTranslation();
  const { can } = useSession();
  const filters = usePeopleFilters();
  return (
    <ServerTable
      path="/v1/users"
      label={t('nav.members')}
      filters={filters}
      rowKey={(u) => u.user_id!}
      columns={[
        {
          name: 'name',
          label: t('col.name'),
          cell: (u) => (
            <To to={`/members/${u.user_id!}`}>
              <Name>{u.name}</Name>
            </To>
          ),
        },
        { name: 'kind', label: t('col.kind'), cell: (u) => t(`kind.${u.kind!}`) },
        { name: 'state', label: t('col.state'), cell: (u) => <State value={u.state} /> },
        { name: 'roles', label: t('members.roles'), cell: (u) => <Roles of={u.roles} /> },
        {
          name: 'last_seen_at',
          label: t('settings.seen'),
          cell: (u) => (u.last_seen_at ? <Time at={u.last_seen_at} ago /> : t('members.neverSeen')),
        },
        {
          name: 'has_second_factor',
          label: t('settings.factor'),
          cell: (u) => (u.kind === 'person' ? <Factor user={u} /> : null),
        },
        { name: 'created_at', label: t('col.created'), cell: (u) => <Time at={u.created_at} ago /> },
      ]}
      {...(can('role:grant')
        ? { rowActions: (u: User) => (u.state !== 'ACTIVE' ? null : <GrantButton user={u} />) }
        : {})}
      empty={
        <Empty
          title={t('members.none')}
          body={t('members.noneBody')}
          action={can('user:manage') && <InviteButton />}
          cli="falaj user list"
        />
      }
    />
  );
}
