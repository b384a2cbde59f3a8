// SPDX-License-Identifier: Apache-2.0
// Services.tsx - service accounts: programs with roles and tokens of their own, that outlive who made them.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { ROLES } from '../../api/gen/roles.ts';
import { grantable, modestFirst } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Id, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { listOf, RolePicker, Roles } from '../members/parts.tsx';
import { CreateToken } from './Create.tsx';
import '../members/members.css';

export function CreateService() {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [roles, setRoles] = useState<string[]>([]);
  const offered = modestFirst(grantable(me.permissions, me.tenant === 'platform', 'service'));
  return (
    <FormButton
      opens="service"
      label={t('tokens.newService')}
      title={t('tokens.newService')}
      size="medium"
      lead={<p className="effect">{t('tokens.serviceBody')}</p>}
      fields={[{ name: 'name', label: t('col.name'), required: true, max: 128 }]}
      onOpen={() => setRoles(offered.includes('service-account') ? ['service-account'] : offered.slice(0, 1))}
      extra={() => <RolePicker required label={t('members.roles')} roles={offered} value={roles} onChange={setRoles} />}
      onSubmit={async (v) => {
        await change('POST', '/v1/service-accounts', { name: v['name'], roles });
        await forget('/v1/service-accounts');
        await forget('/v1/users');
      }}
    />
  );
}

export function Services() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  return (
    <ServerTable
      path="/v1/service-accounts"
      label={t('tokens.services')}
      rowKey={(u) => u.user_id!}
      columns={[
        {
          name: 'name',
          label: t('col.name'),
          cell: (u) =>
            can('user:read') ? (
              <To to={`/members/${u.user_id!}`}>
                <Name>{u.name}</Name>
              </To>
            ) : (
              <Name>{u.name}</Name>
            ),
        },
        { name: 'state', label: t('col.state'), cell: (u) => <State value={u.state} /> },
        { name: 'roles', label: t('members.roles'), cell: (u) => <Roles of={u.roles} /> },
        { name: 'created_at', label: t('col.created'), cell: (u) => <Time at={u.created_at} ago /> },
        { name: 'user_id', label: t('col.id'), cell: (u) => <Id value={u.user_id} /> },
      ]}
      rowName={(u) => u.name ?? ''}
      bulk={[
        {
          label: t('tokens.endService'),
          danger: true,
          confirm: t('bulk.services'),
          fits: (u) => u.state === 'ACTIVE',
          run: (u) => change('DELETE', `/v1/service-accounts/${u.user_id!}`),
        },
      ]}
      rowActions={(u) =>
        u.state !== 'ACTIVE' ? null : (
          <span className="acts">
            <CreateToken
              service
              variant="link"
              userId={u.user_id!}
              owner={u.name ?? ''}
              permissions={[...new Set(listOf(u.roles).flatMap((r) => ROLES[r]?.has ?? []))]}
            />
            <TypedConfirm
              variant="link"
              label={t('tokens.endService')}
              title={t('tokens.endService')}
              name={u.name ?? ''}
              effect={t('tokens.endServiceEffect')}
              onConfirm={async () => {
                await change('DELETE', `/v1/service-accounts/${u.user_id!}`);
                await forget('/v1/service-accounts');
                await forget('/v1/users');
              }}
            />
          </span>
        )
      }
      empty={
        <Empty
          title={t('tokens.noServices')}
          body={t('tokens.serviceBody')}
          action={<CreateService />}
          cli={`falaj api POST /v1/service-accounts '{"name":"NAME","roles":["service-account"]}'`}
        />
      }
    />
  );
}
