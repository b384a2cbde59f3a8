// SPDX-License-Identifier: Apache-2.0
// Invite.tsx - inviting a person, and granting a role to who is here: only what the giver may give is offered.
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formFields } from '../../ui/form.tsx';
import { change } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { grantable, modestFirst, notHeld } from '../../lib/roles.ts';
import { invitationLink } from '../../shell/invitation.ts';
import { useSession } from '../../shell/session.tsx';
import { FormButton, OnceSecret } from '../../ui/dialogs.tsx';
import { bodyOfConditions, ConditionFields, NONE, type Conditions } from './conditions.tsx';
import { RolePicker, type User } from './parts.tsx';
import { titleOf } from '../../lib/titles.ts';

export function InviteButton({ opens }: { opens?: string }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [roles, setRoles] = useState<string[]>([]);
  const [link, setLink] = useState<string | null>(null);
  const offered = modestFirst(grantable(me.permissions, me.tenant === 'platform', 'person'));
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, max: 128, help: t('members.nameHelp') },
    { name: 'email_hint', label: t('members.mail'), help: t('members.mailHelp'), max: 254 },
    {
      name: 'hours',
      label: t('members.hours'),
      kind: 'select',
      options: [72, 24, 168].map((h) => ({ value: String(h), label: t('members.days', { count: h / 24 }) })),
    },
  );
  return (
    <>
      <FormButton
        {...(opens ? { opens } : {})}
        label={t('nav.invite')}
        title={t('nav.invite')}
        size="medium"
        fields={fields}
        onOpen={() => setRoles(offered.slice(0, 1))}
        extra={() => (
          <RolePicker required label={t('members.roles')} roles={offered} value={roles} onChange={setRoles} />
        )}
        onSubmit={async (v) => {
          const out = await change('POST', '/v1/invitations', {
            name: v['name'],
            roles,
            hours: Number(v['hours']),
            ...(v['email_hint'] ? { email_hint: v['email_hint'] } : {}),
          });
          await forget('/v1/invitations');
          setLink(invitationLink(me.tenant ?? '', out.token ?? ''));
        }}
      />
      {link !== null && <OnceSecret title={t('members.invitation')} secrets={[link]} onClose={() => setLink(null)} />}
    </>
  );
}

export function GrantButton({ user, variant = 'link' }: { user: User; variant?: 'link' | 'secondary' }) {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const forget = useForget();
  const [conditions, setConditions] = useState<Conditions>(NONE);
  const [open, setOpen] = useState(false);
  const platform = me.tenant === 'platform';
  const kind = user.kind === 'service' ? 'service' : 'person';
  const projects = useGet(
    '/v1/projects',
    { page_size: 200, state: 'ACTIVE', sort: 'name' },
    { enabled: open && !platform && can('project:read') },
  );
  const zones = useGet('/v1/zones', { page_size: 200 }, { enabled: open && platform });
  const places = platform
    ? (zones.data?.data ?? []).map((z) => ({
        value: `zone ${z.code!}`,
        label: `${t('place.zone')}: \u2066${z.code!}\u2069`,
      }))
    : (projects.data?.data ?? []).map((p) => ({
        value: `project ${p.project_id!}`,
        label: `${t('place.project')}: \u2068${titleOf(p)}\u2069`,
      }));
  const held = useGet('/v1/role-bindings', { user_id: user.user_id, page_size: 200 }, { enabled: open });
  const offered = notHeld(
    modestFirst(grantable(me.permissions, platform, kind)),
    held.data?.data ?? [],
    platform ? 'platform' : 'tenant',
  );
  const fields = formFields(
    {
      name: 'role',
      label: t('members.role'),
      kind: 'select',
      required: true,
      help: t('members.takesTwo'),
      options: offered.map((r) => ({ value: r, label: t(`role.${r}`) })),
    },
    {
      name: 'place',
      label: t('members.place'),
      kind: 'select',
      options: [{ value: '', label: platform ? t('place.platform') : t('place.tenant') }, ...places],
    },
  );
  return (
    <FormButton
      variant={variant}
      label={t('members.grant')}
      title={t('members.grantTo', { name: `\u2068${user.name ?? ''}\u2069` })}
      size="medium"
      fields={fields}
      ready={!held.isPending}
      onOpen={() => {
        setOpen(true);
        setConditions(NONE);
      }}
      extraNames={['cidrs']}
      extra={(form) => (
        <ConditionFields
          value={conditions}
          zones={me.allowed_zones}
          fault={form.formState.errors['cidrs']}
          onChange={setConditions}
        />
      )}
      onSubmit={async (v) => {
        const [place, id] = String(v['place']).split(' ');
        const at = place === 'project' ? { project_id: id } : place === 'zone' ? { zone: id } : {};
        const asked = { user_id: user.user_id, role: v['role'], ...at };
        try {
          await change('POST', '/v1/role-bindings', { ...asked, ...bodyOfConditions(conditions) });
        } catch (e) {
          if (!(e instanceof Problem) || e.code !== 'separation_of_duties') throw e;
          await change('POST', '/v1/appointments', { ...asked, reason: t('members.appointReason') });
          await forget('/v1/approvals');
        }
        await forget('/v1/users');
        await forget('/v1/role-bindings');
      }}
    />
  );
}
