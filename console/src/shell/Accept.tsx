// SPDX-License-Identifier: Apache-2.0
// Accept.tsx - an invitation becomes a user: a password is chosen, or the organisation's own sign-in is used; then the login goes on.
import { Content } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, setCsrf } from '../api/client.ts';
import { Note } from '../ui/note.tsx';
import { ApiForm, SLUG, formFields } from '../ui/form.tsx';
import { Strength } from './login/NewPassword.tsx';
import { Providers } from './login/Providers.tsx';
import { invitation } from './invitation.ts';
import { Door, Login } from './Login.tsx';

/** Away from the address of the invitation, with nothing of it kept. */
const home = (): void => location.replace('/');

export default function Accept() {
  const { t } = useTranslation();
  const [accepted, setAccepted] = useState<{ name: string; tenant: string } | null>(null);
  const [token, setToken] = useState(invitation?.token ?? '');
  const tenant = invitation?.tenant ?? '';
  if (accepted)
    return (
      <Door title={t('accept.title')}>
        <Note variant="success" title={t('accept.done')} className="block" />
        <Login within tenant={accepted.tenant} name={accepted.name} onDone={home} />
      </Door>
    );
  const fields = formFields(
    ...(invitation?.token
      ? []
      : [
          {
            name: 'token',
            label: t('accept.token'),
            required: true,
            kind: 'password',
            help: t('accept.tokenHelp'),
          } as const,
        ]),
    ...(tenant === ''
      ? [
          {
            name: 'tenant',
            label: t('login.tenant'),
            required: true,
            pattern: SLUG,
            autoComplete: 'organization',
          } as const,
        ]
      : []),
    {
      name: 'password',
      label: t('accept.password'),
      kind: 'password',
      required: true,
      max: 1024,
      autoComplete: 'new-password',
      help: t('accept.passwordHelp'),
    },
    { name: 'again', label: t('accept.again'), kind: 'password', required: true, autoComplete: 'new-password' },
  );
  return (
    <Door title={t('accept.title')}>
      {tenant !== '' && (
        <Content component="p">
          {t('accept.to')} <bdi className="name">{tenant}</bdi>
        </Content>
      )}
      {token !== '' && (
        <Providers
          tenant={tenant}
          before={async () => void (await change('POST', '/v1/auth/invitations/accept', { token }))}
        />
      )}
      <ApiForm
        casual
        fields={fields}
        submit={t('accept.go')}
        extra={(form) => {
          const password = String(form.watch('password') ?? '');
          const again = String(form.watch('again') ?? '');
          return (
            <>
              <Strength password={password} />
              {again !== '' && again !== password && <Note isPlain variant="warning" title={t('accept.differ')} />}
            </>
          );
        }}
        onSubmit={async (v) => {
          // The two are compared where they are typed; a form that is sent with Enter must not slip past it.
          if (v['password'] !== v['again']) return;
          const made = await change('POST', '/v1/auth/invitations/accept', {
            token: token || v['token'],
            password: v['password'],
          });
          setToken('');
          const at = tenant || String(v['tenant']);
          try {
            const s = await change('POST', '/v1/auth/login', {
              tenant: at,
              name: made.name,
              password: v['password'],
            });
            setCsrf(s.csrf_token ?? '');
          } catch {
            // Accepted is accepted: the login that follows is asked for again, by hand.
            setAccepted({ name: made.name ?? '', tenant: at });
            return;
          }
          home();
        }}
      />
    </Door>
  );
}
