// SPDX-License-Identifier: Apache-2.0
// Groups.tsx - groups that the organisation's own directory provisions, and the role that each gives its members.
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { grantable, modestFirst } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import './members.css';

type Group = Schemas['user_group'];

export function Groups() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const forget = useForget();
  const done = async (): Promise<void> => {
    await forget('/v1/groups');
    await forget('/v1/role-bindings');
    await forget('/v1/users');
  };
  const roles = modestFirst(grantable(me.permissions, me.tenant === 'platform', 'person'));
  return (
    <ServerTable
      path="/v1/groups"
      label={t('members.groups')}
      rowKey={(g) => g.group_id!}
      columns={[
        { name: 'name', label: t('col.name'), cell: (g) => <Name>{g.name}</Name> },
        { name: 'external_id', label: t('members.external'), cell: (g) => <Code>{g.external_id}</Code> },
        { name: 'members', label: t('members.count'), cell: (g) => number(g.members) },
        {
          name: 'role',
          label: t('members.gives'),
          cell: (g) => (g.role ? t(`role.${g.role}`) : <span className="lead">{t('members.nothing')}</span>),
        },
        { name: 'updated_at', label: t('members.changed'), cell: (g) => <Time at={g.updated_at} ago /> },
      ]}
      {...(can('role:grant')
        ? {
            rowActions: (g: Group) => (
              <span className="acts">
                <FormButton
                  variant="link"
                  label={t('members.map')}
                  title={t('members.mapTo', { name: `\u2068${g.name ?? ''}\u2069` })}
                  lead={<p className="effect">{t('members.mapEffect', { count: g.members })}</p>}
                  {...(g.role ? { initial: { role: g.role } } : {})}
                  fields={[
                    {
                      name: 'role',
                      label: t('members.role'),
                      kind: 'select',
                      required: true,
                      options: roles.map((r) => ({ value: r, label: t(`role.${r}`) })),
                    },
                  ]}
                  lock={{ read: () => get(`/v1/groups/${g.group_id!}`), was: { ...g } }}
                  onSubmit={async (v, tag) => {
                    await change('PUT', `/v1/groups/${g.group_id!}/role`, v, { 'if-match': tag });
                    await done();
                  }}
                />
                {g.role && (
                  <TypedConfirm
                    variant="link"
                    label={t('members.takeBack')}
                    title={t('members.takeBack')}
                    name={g.name ?? ''}
                    effect={t('members.unmapEffect', { count: g.members })}
                    onConfirm={async () => {
                      await change('DELETE', `/v1/groups/${g.group_id!}/role`);
                      await done();
                    }}
                  />
                )}
              </span>
            ),
          }
        : {})}
      empty={<Empty title={t('members.noGroups')} body={t('members.noGroupsBody')} />}
    />
  );
}
