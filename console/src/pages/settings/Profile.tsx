// SPDX-License-Identifier: Apache-2.0
// Profile.tsx - who one is, and how the console looks; password and second factor; the own sessions.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, setCsrf } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { organisationOf } from '../../lib/titles.ts';
import { Enrol } from '../../shell/login/Enrol.tsx';
import { Strength } from '../../shell/login/NewPassword.tsx';
import { PrefsForm } from '../../shell/Prefs.tsx';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { ApiForm } from '../../ui/form.tsx';
import { RenameButton } from '../../ui/naming.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Roles } from '../members/parts.tsx';
import { useSessionColumns } from './sessions.tsx';

export function Profile() {
  const { t } = useTranslation();
  const { me, can, readMe } = useSession();
  return (
    <div className="cards wide">
      <Card>
        <CardTitle component="h2">{t('prefs.title')}</CardTitle>
        <CardBody>
          <PrefsForm />
        </CardBody>
      </Card>
      <Card>
        <CardTitle component="h2">{t('settings.who')}</CardTitle>
        <CardBody>
          <Pairs
            rows={[
              [t('col.name'), <Name key="n">{me.name}</Name>],
              [t('login.tenant'), <Name key="t">{organisationOf(me)}</Name>],
              [t('col.short'), organisationOf(me) !== me.tenant && <Code key="c">{me.tenant}</Code>],
              [t('settings.roles'), <Roles key="r" of={me.roles} />],
              [t('col.id'), <Id key="i" value={me.user_id} />],
            ]}
          />
          {can('tenant:name') && me.tenant_id && (
            <RenameButton
              of={{ display_name: me.tenant_display_name, display_name_ar: me.tenant_display_name_ar }}
              label={t('settings.renameTenant')}
              forgets="/v1/tenants"
              save={async (body) => {
                await change('PATCH', `/v1/tenants/${me.tenant_id!}`, body, { 'if-match': '*' });
                await readMe();
              }}
            />
          )}
          {can('audit:read') && (
            <>
              <h3 className="block">{t('settings.related')}</h3>
              <p>
                <To to="/audit">{t('settings.auditLink')}</To>
              </p>
            </>
          )}
        </CardBody>
      </Card>
    </div>
  );
}

export function Security() {
  const { t } = useTranslation();
  const { me, session, can } = useSession();
  const forget = useForget();
  const own = useGet(`/v1/users/${me.user_id ?? ''}`, {}, { enabled: can('user:read') && Boolean(me.user_id) });
  const [changed, setChanged] = useState<boolean | null>(null);
  const [round, setRound] = useState(0);
  const enrolled = changed ?? own.data?.has_second_factor ?? Boolean(session.mfa_at);
  return (
    <div className="cards wide">
      <Card id="factor">
        <CardTitle component="h2">{t('settings.factor')}</CardTitle>
        <CardBody>
          {enrolled ? (
            <>
              <p className="block">{session.mfa_at || changed ? t('settings.factorOn') : t('settings.neverMfa')}</p>
              <TypedConfirm
                variant="secondary"
                label={t('settings.factorOff')}
                title={t('settings.factorOff')}
                name={me.name ?? ''}
                effect={t('settings.factorEffect')}
                onConfirm={async () => {
                  await change('DELETE', '/v1/auth/mfa/totp');
                  setChanged(false);
                  await forget('/v1/users');
                }}
              />
            </>
          ) : (
            <Enrol
              onDone={() => {
                setChanged(true);
                void forget('/v1/users');
              }}
            />
          )}
        </CardBody>
      </Card>
      <Card>
        <CardTitle component="h2">{t('settings.password')}</CardTitle>
        <CardBody>
          <ApiForm
            key={round}
            casual
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
            extra={(form) => <Strength password={String(form.watch('new') ?? '')} name={me.name ?? ''} />}
            onSubmit={async (v) => {
              const s = await change('POST', '/v1/auth/password', v);
              setCsrf(s.csrf_token ?? '');
              setRound(round + 1);
              toast(t('settings.changed'));
              await forget('/v1/sessions');
            }}
          />
        </CardBody>
      </Card>
    </div>
  );
}

export function OwnSessions() {
  const { t } = useTranslation();
  const columns = useSessionColumns();
  const forget = useForget();
  return (
    <ServerTable
      path="/v1/sessions"
      label={t('settings.sessions')}
      rowKey={(s) => s.session_id!}
      columns={columns}
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
  );
}
