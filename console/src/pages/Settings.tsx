// SPDX-License-Identifier: Apache-2.0
// Settings.tsx - the own look of the console, password, second factor and sessions.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, setCsrf, type Schemas, type Session } from '../api/client.ts';
import { useForget } from '../api/hooks.ts';
import { Enrol } from '../shell/login/Enrol.tsx';
import { PrefsForm } from '../shell/Prefs.tsx';
import { useSession } from '../shell/session.tsx';
import { Code, Time } from '../ui/bits.tsx';
import { TypedConfirm } from '../ui/dialogs.tsx';
import { ApiForm } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { ServerTable } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

type Live = Schemas['session'];

export function Settings() {
  const { t } = useTranslation();
  const { me, session } = useSession();
  const forget = useForget();
  const [enrolled, setEnrolled] = useState(Boolean(session.mfa_at));
  const [round, setRound] = useState(0);
  return (
    <Page
      name={t('nav.settings')}
      title={t('nav.settings')}
      api={['GET /v1/sessions', 'POST /v1/auth/mfa/totp']}
      cli={['falaj whoami', 'falaj api GET /v1/sessions']}
    >
      <div className="cards wide">
        <Card>
          <CardTitle component="h2">{t('prefs.title')}</CardTitle>
          <CardBody>
            <PrefsForm />
          </CardBody>
        </Card>
        <Card id="factor">
          <CardTitle component="h2">{t('settings.factor')}</CardTitle>
          <CardBody>
            {enrolled ? (
              <>
                <p>{t('settings.factorOn')}</p>
                <TypedConfirm
                  variant="secondary"
                  label={t('settings.factorOff')}
                  title={t('settings.factorOff')}
                  name={me.name ?? ''}
                  effect={t('settings.factorEffect')}
                  onConfirm={async () => {
                    await change('DELETE', '/v1/auth/mfa/totp');
                    setEnrolled(false);
                  }}
                />
              </>
            ) : (
              <Enrol onDone={() => setEnrolled(true)} />
            )}
          </CardBody>
        </Card>
        <Card>
          <CardTitle component="h2">{t('settings.password')}</CardTitle>
          <CardBody>
            <ApiForm
              key={round}
              submit={t('settings.change')}
              fields={[
                {
                  name: 'old',
                  label: t('settings.old'),
                  kind: 'password',
                  required: true,
                  autoComplete: 'current-password',
                },
                {
                  name: 'new',
                  label: t('settings.new'),
                  kind: 'password',
                  required: true,
                  max: 1024,
                  autoComplete: 'new-password',
                  help: t('settings.passwordHelp'),
                },
              ]}
              onSubmit={async (v) => {
                const s = await change<Session>('POST', '/v1/auth/password', v);
                setCsrf(s.csrf_token ?? '');
                setRound(round + 1);
                toast(t('settings.changed'));
                await forget('/v1/sessions');
              }}
            />
          </CardBody>
        </Card>
      </div>
      <h2 className="block">{t('settings.sessions')}</h2>
      <ServerTable<Live>
        path="/v1/sessions"
        label={t('settings.sessions')}
        rowKey={(s) => s.session_id!}
        columns={[
          { name: 'user_agent', label: t('settings.browser'), cell: (s) => <Code>{s.user_agent}</Code> },
          { name: 'ip', label: t('settings.address'), cell: (s) => <Code>{s.ip}</Code> },
          { name: 'created_at', label: t('settings.since'), cell: (s) => <Time at={s.created_at} /> },
          {
            name: 'last_seen',
            label: t('settings.seen'),
            cell: (s) => (s.is_current ? t('settings.here') : <Time at={s.last_seen} ago />),
          },
        ]}
        rowActions={(s) =>
          s.is_current ? null : (
            <TypedConfirm
              variant="link"
              label={t('settings.end')}
              title={t('settings.end')}
              name={s.ip ?? ''}
              effect={t('settings.endEffect')}
              onConfirm={async () => {
                await change('DELETE', `/v1/sessions/${s.session_id!}`);
                await forget('/v1/sessions');
              }}
            />
          )
        }
        empty={null}
      />
    </Page>
  );
}
