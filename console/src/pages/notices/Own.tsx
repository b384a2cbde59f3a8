// SPDX-License-Identifier: Apache-2.0
// Own.tsx - mails of one's own jobs and approvals: where to, in which language, of what; and the code that proves the address.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { Problem } from '../../api/problem.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Pairs, Time } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { ApiForm, formFields } from '../../ui/form.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { eventFields, eventsOf, ticked } from './Notifications.tsx';

type Own = Schemas['notice_person'];
const PATH = '/v1/me/notifications';
const FOR_PEOPLE = ['job-failed', 'job-completed', 'job-waiting', 'job-idle', 'approval-waiting'] as const;
const FOR_OFFICERS = ['clock-due-soon', 'clock-overdue'] as const;

function Confirm({ onDone }: { onDone: (p: Own) => Promise<void> }) {
  const { t } = useTranslation();
  return (
    <Card>
      <CardTitle component="h2">{t('notify.confirm')}</CardTitle>
      <CardBody>
        <p className="block">{t('notify.confirmBody')}</p>
        <ApiForm
          casual
          submit={t('notify.confirm')}
          fields={[{ name: 'code', label: t('notify.code'), kind: 'code', required: true, pattern: /^\d{6}$/ }]}
          onSubmit={async (v) => {
            const p = await change('POST', `${PATH}/confirm`, { code: String(v.code) });
            toast(t(p.confirmed_at ? 'notify.confirmed' : 'notify.wrongCode'));
            await onDone(p);
          }}
        />
      </CardBody>
    </Card>
  );
}

export function OwnNotices({ events }: { events: readonly Own['events'][number][] }) {
  const { t, i18n } = useTranslation();
  const { me, can } = useSession();
  const forget = useForget();
  const [round, setRound] = useState(0);
  const own = useGet(PATH);
  if (own.isLoading) return <Loading />;
  // 404 says that nothing was chosen yet. Any other failure does not: an empty form would overwrite what is there.
  const isNone = own.error instanceof Problem && own.error.status === 404;
  if (own.isError && !isNone && !own.data) return <Failure problem={own.error} retry={() => void own.refetch()} />;
  const p = isNone ? undefined : own.data;
  const choice = [...FOR_PEOPLE, ...(can('clock:manage') ? FOR_OFFICERS : [])].filter((e) => events.includes(e));
  const fields = formFields(
    { name: 'address', label: t('notify.address'), required: true, ltr: true, max: 254, pattern: /^[^\s@]+@[^\s@]+$/ },
    {
      name: 'language',
      label: t('notify.language'),
      kind: 'select',
      options: [
        { value: 'en', label: t('notify.en') },
        { value: 'ar', label: t('notify.ar') },
      ],
    },
    ...eventFields(t, choice),
  );
  const again = async (): Promise<void> => {
    await forget(PATH);
    setRound(round + 1);
  };
  return (
    <div className="cards wide">
      <Card>
        <CardTitle component="h2">{t('notify.own')}</CardTitle>
        <CardBody>
          <p className="block">{t('notify.ownBody')}</p>
          {p && (
            <Pairs
              rows={[
                [t('notify.address'), <Code key="a">{p.address}</Code>],
                [t('notify.confirmedAt'), p.confirmed_at ? <Time key="c" at={p.confirmed_at} /> : t('notify.waits')],
              ]}
            />
          )}
          <ApiForm
            key={round}
            submit={t('act.save')}
            fields={fields}
            initial={{
              address: p?.address ?? '',
              language: p?.language ?? (i18n.language === 'ar' ? 'ar' : 'en'),
              ...ticked(p?.events ?? ['job-failed']),
            }}
            onSubmit={async (v) => {
              const w = v as Record<string, unknown>;
              await change('PUT', PATH, {
                address: String(w['address']),
                language: w['language'] === 'ar' ? 'ar' : 'en',
                events: eventsOf(w, choice),
              });
              toast(t('notify.saved'));
              await again();
            }}
          />
          {p && (
            <TypedConfirm
              variant="secondary"
              label={t('notify.forget')}
              title={t('notify.forget')}
              name={me.name ?? ''}
              effect={t('notify.forgetEffect')}
              onConfirm={async () => {
                await change('DELETE', PATH);
                await again();
              }}
            />
          )}
        </CardBody>
      </Card>
      {p && !p.confirmed_at && <Confirm onDone={again} />}
    </div>
  );
}
