// SPDX-License-Identifier: Apache-2.0
// Settings.tsx - one's own look, proof and sessions; for who manages identity, the ways into the organisation.
import { useTranslation } from 'react-i18next';
import { useSession } from '../../shell/session.tsx';
import { Page } from '../../ui/page.tsx';
import { PageTabs, useTab, type Part } from '../../ui/tabs.tsx';
import { Glass } from './Glass.tsx';
import { AddIssuer, Issuers } from './Issuers.tsx';
import { OwnSessions, Profile, Security } from './Profile.tsx';
import { Scim } from './Scim.tsx';
import { AddProvider, SignOn } from './SignOn.tsx';

export function Settings() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const platform = me.tenant === 'platform';
  const parts: Part[] = [
    { id: 'profile', title: t('settings.profile'), body: () => <Profile /> },
    { id: 'security', title: t('settings.security'), body: () => <Security /> },
    { id: 'sessions', title: t('settings.sessions'), body: () => <OwnSessions /> },
    ...(can('identity:manage')
      ? [
          { id: 'sso', title: t('settings.signOn'), body: () => <SignOn /> },
          { id: 'issuers', title: t('settings.issuers'), body: () => <Issuers /> },
        ]
      : []),
    ...(can('identity:manage') && can('token:manage') && !platform
      ? [{ id: 'scim', title: t('settings.scim'), body: () => <Scim /> }]
      : []),
    ...(can('key:root') && platform ? [{ id: 'glass', title: t('settings.glass'), body: () => <Glass /> }] : []),
  ];
  const tab = useTab(parts);
  const calls: Record<string, [string, string]> = {
    profile: ['GET /v1/me', 'falaj whoami'],
    security: ['POST /v1/auth/mfa/totp', 'falaj whoami'],
    sessions: ['GET /v1/sessions', 'falaj api GET /v1/sessions'],
    sso: ['GET /v1/identity-providers', 'falaj idp list'],
    issuers: ['GET /v1/issuers', 'falaj issuer list'],
    scim: ['GET /scim/v2/ServiceProviderConfig', 'falaj api GET /scim/v2/ServiceProviderConfig'],
    glass: ['POST /v1/auth/break-glass', 'falaj approval list'],
  };
  const [api, cli] = calls[tab]!;
  return (
    <Page
      name={t('nav.settings')}
      title={t('nav.settings')}
      actions={tab === 'sso' ? <AddProvider /> : tab === 'issuers' ? <AddIssuer /> : null}
      api={[api]}
      cli={[cli]}
    >
      <PageTabs parts={parts} label={t('settings.parts')} />
    </Page>
  );
}
