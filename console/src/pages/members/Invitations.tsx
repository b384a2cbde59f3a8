// SPDX-License-Identifier: Apache-2.0
// Invitations.tsx - who was invited and has not come yet, and what became of the others.
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { InviteButton } from './Invite.tsx';
import { useNames } from './names.ts';
import { Roles } from './parts.tsx';

export function Invitations() {
  const { t } = useTranslation();
  const forget = useForget();
  const names = useNames();
  return (
    <ServerTable
      path="/v1/invitations"
      label={t('members.invitations')}
      rowKey={(i) => i.invitation_id!}
      columns={[
        {
          name: 'name',
          label: t('col.name'),
          cell: (i) =>
            i.user_id ? (
              <To to={`/members/${i.user_id}`}>
                <Name>{i.name}</Name>
              </To>
            ) : (
              <Name>{i.name}</Name>
            ),
        },
        {
          name: 'email_hint',
          label: t('members.mail'),
          cell: (i) => (i.email_hint ? <Code>{i.email_hint}</Code> : t('state.dash')),
        },
        { name: 'roles', label: t('members.roles'), cell: (i) => <Roles of={i.roles} /> },
        { name: 'state', label: t('col.state'), cell: (i) => <State value={i.state} /> },
        {
          name: 'created_by',
          label: t('members.by'),
          cell: (i) => (i.created_by ? <Name>{names.user(i.created_by)}</Name> : null),
        },
        {
          name: 'expires_at',
          label: t('members.goodUntil'),
          cell: (i) => (i.state === 'OPEN' ? <Time at={i.expires_at} ago /> : t('state.dash')),
        },
      ]}
      rowName={(i) => i.name ?? ''}
      bulk={[
        {
          label: t('members.withdraw'),
          danger: true,
          confirm: t('bulk.withdraw'),
          fits: (i) => i.state === 'OPEN',
          run: (i) => change('DELETE', `/v1/invitations/${i.invitation_id!}`),
        },
      ]}
      rowActions={(i) =>
        i.state !== 'OPEN' ? null : (
          <TypedConfirm
            variant="link"
            label={t('members.withdraw')}
            title={t('members.withdraw')}
            name={i.name ?? ''}
            effect={t('members.withdrawEffect')}
            onConfirm={async () => {
              await change('DELETE', `/v1/invitations/${i.invitation_id!}`);
              await forget('/v1/invitations');
            }}
          />
        )
      }
      empty={
        <Empty
          title={t('members.noInvitations')}
          body={t('members.noInvitationsBody')}
          action={<InviteButton />}
          cli={`falaj api POST /v1/invitations '{"name":"NAME","roles":["viewer"]}'`}
        />
      }
    />
  );
}
