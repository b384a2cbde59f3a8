// SPDX-License-Identifier: Apache-2.0
// Login.tsx - name and password, then the code of the second factor, or setting one up where the role demands it.
import { Alert, Button, Card, CardBody, CardTitle, ClipboardCopy, Content } from '@patternfly/react-core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, setCsrf, type Schemas, type Session } from '../api/client.ts';
import { ApiForm } from '../ui/form.tsx';
import { OnceSecret } from '../ui/dialogs.tsx';
import { LanguageButton } from './Prefs.tsx';

interface Props {
  onDone: (s: Session) => void;
  within?: boolean;
  tenant?: string;
  name?: string;
}

export function Login({ onDone, within = false, tenant = '', name = '' }: Props) {
  const { t } = useTranslation();
  const [step, setStep] = useState<'password' | 'code' | 'enrol'>('password');
  const go = (s: Session): void => {
    setCsrf(s.csrf_token ?? '');
    if (s.mfa_required) setStep('code');
    else if (s.mfa_enrol_required) setStep('enrol');
    else onDone(s);
  };
  useEffect(() => {
    if (!within) document.title = `${t('login.title')} · ${t('shell.product')}`;
  }, [t, within]);
  const form =
    step === 'password' ? (
      <ApiForm
        key="password"
        submit={t('login.go')}
        initial={{ tenant, name }}
        fields={[
          {
            name: 'tenant',
            label: t('login.tenant'),
            required: true,
            autoComplete: 'organization',
            pattern: /^[a-z0-9][a-z0-9-]{0,62}$/,
          },
          { name: 'name', label: t('login.name'), required: true, autoComplete: 'username' },
          {
            name: 'password',
            label: t('login.password'),
            kind: 'password',
            required: true,
            autoComplete: 'current-password',
          },
        ]}
        onSubmit={async (v) => go(await change<Session>('POST', '/v1/auth/login', v))}
      />
    ) : step === 'code' ? (
      <ApiForm
        key="code"
        submit={t('login.go')}
        fields={[
          {
            name: 'code',
            label: t('login.code'),
            kind: 'code',
            required: true,
            autoComplete: 'one-time-code',
            help: t('login.codeHelp'),
          },
        ]}
        onCancel={() => setStep('password')}
        onSubmit={async (v) => go(await change<Session>('POST', '/v1/auth/totp', v))}
      />
    ) : (
      <Enrol onDone={() => void change<Session>('GET', '/v1/auth/session').then(go)} />
    );
  if (within) return form;
  return (
    <main className="login">
      <div className="login-top">
        <LanguageButton />
      </div>
      <Card className="login-card">
        <CardTitle component="h1">
          <img src="/falaj.svg" alt="" width="32" height="32" /> {t('login.title')}
        </CardTitle>
        <CardBody>{form}</CardBody>
      </Card>
    </main>
  );
}

/** Setting up an authenticator: the secret, a first code, the ten recovery codes. */
export function Enrol({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<Schemas['totp_begin_out'] | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  if (!secret)
    return (
      <>
        <Content component="p">{t('login.enrolBody')}</Content>
        <Button onClick={() => void change<Schemas['totp_begin_out']>('POST', '/v1/auth/mfa/totp').then(setSecret)}>
          {t('login.enrol')}
        </Button>
      </>
    );
  return (
    <>
      <Alert isInline variant="info" title={t('login.secret')} />
      <div className="cli-line">
        <ClipboardCopy
          isReadOnly
          textAriaLabel={t('login.secretLabel')}
          hoverTip={t('act.copy')}
          clickTip={t('act.copied')}
          dir="ltr"
        >
          {secret.secret ?? ''}
        </ClipboardCopy>
      </div>
      <p>
        <a href={secret.otpauth_uri}>{t('login.openApp')}</a>
      </p>
      <ApiForm
        submit={t('login.confirm')}
        fields={[{ name: 'code', label: t('login.code'), kind: 'code', required: true, autoComplete: 'one-time-code' }]}
        onSubmit={async (v) => {
          const out = await change<Schemas['totp_confirm_out']>('POST', '/v1/auth/mfa/totp/confirm', v);
          if (out.csrf_token) setCsrf(out.csrf_token);
          setCodes(out.recovery_codes);
        }}
      />
      {codes && <OnceSecret title={t('login.recovery')} secrets={[codes.join(' ')]} onClose={onDone} />}
    </>
  );
}
