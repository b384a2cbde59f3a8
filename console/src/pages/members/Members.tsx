// SPDX-License-Identifier: Apache-2.0
// Members.tsx - people and programs, the roles they hold, invitations, groups, and why somebody may or may not do something.
import { useTranslation } from 'react-i18next';
import { withQuery } from '../../api/client.ts';
import { useSession } from '../../shell/session.tsx';
import { Page } from '../../ui/page.tsx';
import { useListSearch } from '../../ui/table.tsx';
import { PageTabs, useTab, type Part } from '../../ui/tabs.tsx';
import { Bindings } from './Bindings.tsx';
import { Groups } from './Groups.tsx';
import { Invitations } from './Invitations.tsx';
import { InviteButton } from './Invite.tsx';
import { Matrix } from './Matrix.tsx';
import { People, usePeopleFilters } from './People.tsx';
import { Review } from './Review.tsx';
import { Why } from './Why.tsx';

export function Members() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const parts: Part[] = [
    { id: 'people', title: t('members.people'), body: () => <People /> },
    ...(can('user:manage')
      ? [{ id: 'invitations', title: t('members.invitations'), body: () => <Invitations /> }]
      : []),
    { id: 'bindings', title: t('members.bindings'), body: () => <Bindings /> },
    ...(me.tenant === 'platform' ? [] : [{ id: 'groups', title: t('members.groups'), body: () => <Groups /> }]),
    { id: 'matrix', title: t('members.matrix'), body: () => <Matrix /> },
    ...(can('access:explain') ? [{ id: 'why', title: t('members.whyTab'), body: () => <Why /> }] : []),
    { id: 'review', title: t('members.review'), body: () => <Review /> },
  ];
  const tab = useTab(parts);
  const people = withQuery('/v1/users', useListSearch(usePeopleFilters()));
  const calls: Record<string, [string, string]> = {
    people: [`GET ${people}`, 'falaj user list'],
    invitations: ['GET /v1/invitations', 'falaj api GET /v1/invitations'],
    bindings: ['GET /v1/role-bindings', 'falaj role list'],
    groups: ['GET /v1/groups', 'falaj api GET /v1/groups'],
    matrix: ['GET /v1/me', 'falaj whoami'],
    why: ['POST /v1/access/explain', 'falaj access explain --user USER --act job:submit'],
    review: ['GET /v1/role-bindings?page_size=200', 'falaj role list'],
  };
  const [api, cli] = calls[tab]!;
  return (
    <Page
      name={t('nav.members')}
      title={t('nav.members')}
      actions={can('user:manage') && <InviteButton opens="invitation" />}
      api={[api]}
      cli={[cli]}
    >
      <PageTabs parts={parts} label={t('nav.members')} />
    </Page>
  );
}
