// SPDX-License-Identifier: Apache-2.0
// Login.tsx - name and password, then the code of the second factor, or setting one up where the role demands it.
import { Button, Card, CardBody, CardTitle } from '@patternfly/react-core';
import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, setCsrf, type Session } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { Note } from '../ui/note.tsx';
import { ApiForm, SLUG } from '../ui/form.tsx';
import { Loading } from '../ui/states.tsx';
import { Providers, Watch } from './login/Providers.tsx';
import { Wait } from './login/Wait.tsx';
import { LanguageButton } from './Prefs.tsx';

const Enrol = lazy(() => import('./login/Enrol.tsx').then((m) => ({ default: m.Enrol })));

type Step = 'password' | 'code' | 'enrol';
const stepOf = (s: Session): Step | null => (s.mfa_required ? 'code' : s.mfa_enrol_required ? 'enrol' : null);

interface Props {
  onDone: (s: Session) => void;
  /** A sign-in that waits for its code, or for a second factor to be set up: after a reload, or an accepted invitation. */
  begun?: Session;
  within?: boolean;
  tenant?: string;
  name?: string;
}

/** The frame of what is shown to who is not signed in: the language can be chosen before anything else. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useEffect(() => void (document.title = `${title} · ${t('shell.product')}`), [t, title]);
  return (
    <main className="login">
      <div className="login-top">
        <LanguageButton />
      </div>
      <Card className="login-card">
        <CardTitle component="h1">
          <img src="/falaj.svg" alt="" width="32" height="32" /> {title}
        </CardTitle>
        <CardBody>{children}</CardBody>
      </Card>
    </main>
  );
}

/** Why the organisation's own sign-in sent somebody back: /login?error=CODE. */
function Refused() {
  const { t, i18n } = useTranslation();
  const code = location.pathname === '/login' ? new URLSearchParams(location.search).get('error') : null;
  if (code === null) return null;
  return (
    <Note variant="danger" title={t('login.refused')} className="block">
      {i18n.exists(`login.error_${code}`) ? t(`login.error_${code}`) : t('login.error_refused')}
    </Note>
  );
}

export function Login({ onDone, begun, within = false, tenant, name = '' }: Props) {
  const { t } = useTranslation();
  const [step, setStep] = useState<Step>((begun && stepOf(begun)) ?? 'password');
  useEffect(() => {
    if (begun) setCsrf(begun.csrf_token ?? '');
  }, [begun]);
  const [until, setUntil] = useState(0);
  const over = useCallback(() => setUntil(0), []);
  const [found, setFound] = useState('');
  const org = tenant ?? new URLSearchParams(location.search).get('tenant') ?? '';
  const go = (s: Session): void => {
    setCsrf(s.csrf_token ?? '');
    const next = stepOf(s);
    if (next) setStep(next);
    else onDone(s);
  };
  /** A refusal that names a time is shown as that time, not as a fault of what was typed. */
  const ask = async (answer: Promise<Session>): Promise<void> => {
    try {
      go(await answer);
      setUntil(0);
    } catch (p) {
      if (!(p instanceof Problem) || p.status !== 429 || p.retryAfter <= 0) throw p;
      setUntil(Date.now() + p.retryAfter * 1000);
    }
  };
  const form =
    step === 'password' ? (
      <ApiForm
        key="password"
        casual
        submit={t('login.go')}
        initial={{ tenant: org, name }}
        extra={(form) => <Watch value={String(form.watch('tenant') ?? '')} onRest={setFound} />}
        fields={[
          { name: 'tenant', label: t('login.tenant'), required: true, autoComplete: 'organization', pattern: SLUG },
          { name: 'name', label: t('login.name'), required: true, autoComplete: 'username' },
          {
            name: 'password',
            label: t('login.password'),
            kind: 'password',
            required: true,
            autoComplete: 'current-password',
          },
        ]}
        onSubmit={(v) => ask(change('POST', '/v1/auth/login', v))}
      />
    ) : step === 'code' ? (
      <ApiForm
        key="code"
        casual
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
        onSubmit={(v) => ask(change('POST', '/v1/auth/totp', v))}
      />
    ) : (
      <Suspense fallback={<Loading />}>
        <Enrol onDone={() => void get('/v1/auth/session').then(go)} />
      </Suspense>
    );
  const all = (
    <>
      {until > 0 && <Wait until={until} onOver={over} />}
      {step === 'password' && !within && <Providers tenant={found} />}
      {form}
    </>
  );
  if (within) return all;
  return (
    <Door title={t('login.title')}>
      <Refused />
      {all}
      {step === 'password' && <p className="lead">{t('login.help')}</p>}
      {step === 'enrol' && (
        <Button
          variant="link"
          isInline
          onClick={() => void change('POST', '/v1/auth/logout').then(() => setStep('password'))}
        >
          {t('shell.out')}
        </Button>
      )}
    </Door>
  );
}
