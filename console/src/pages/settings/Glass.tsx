// SPDX-License-Identifier: Apache-2.0
// Glass.tsx - the account behind glass of a zone: asked for by one custodian, approved by another, opened once by the first.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, State, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Answer } from '../../ui/states.tsx';
import '../members/members.css';

export function Glass() {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [asked, setAsked] = useState(false);
  const zones = useGet('/v1/zones', { page_size: 200 });
  const requests = useGet('/v1/approvals', { page_size: 200 }, { everyMs: 10_000 });
  return (
    <Card>
      <CardTitle component="h2">{t('settings.glass')}</CardTitle>
      <CardBody>
        <p className="block">{t('settings.glassBody')}</p>
        <FormButton
          variant="secondary"
          label={t('settings.glassAsk')}
          title={t('settings.glassAsk')}
          fields={[
            {
              name: 'zone',
              label: t('col.zone'),
              kind: 'select',
              required: true,
              options: (zones.data?.data ?? []).map((z) => ({ value: z.code!, label: z.code! })),
            },
            {
              name: 'reason',
              label: t('settings.glassReason'),
              kind: 'area',
              required: true,
              max: 1024,
              help: t('settings.glassReasonHelp'),
            },
          ]}
          onSubmit={async (v) => {
            await change('POST', '/v1/auth/break-glass', v);
            setAsked(true);
            await forget('/v1/approvals');
          }}
        />
        {asked && <Note variant="info" title={t('settings.glassAsked')} className="block" />}
        <h3 className="block">{t('settings.glassMine')}</h3>
        <Answer of={requests}>
          {(page) => {
            const own = page.data.filter((a) => a.kind?.startsWith('break') && a.requested_by === me.user_id);
            return own.length === 0 ? (
              <p className="lead">{t('settings.glassNone')}</p>
            ) : (
              <ul className="rows">
                {own.map((a) => (
                  <li key={a.approval_id}>
                    <span>
                      <Code>{a.subject}</Code> <State value={a.state} /> <Time at={a.created_at} ago />
                    </span>
                    {a.state === 'EXECUTED' && (
                      <TypedConfirm
                        variant="secondary"
                        label={t('settings.glassOpen')}
                        title={t('settings.glassOpen')}
                        name={a.subject ?? ''}
                        effect={t('settings.glassOpenEffect')}
                        onConfirm={async () => {
                          await change('POST', '/v1/auth/break-glass/open', { approval_id: a.approval_id });
                          location.assign('/');
                        }}
                      />
                    )}
                  </li>
                ))}
              </ul>
            );
          }}
        </Answer>
      </CardBody>
    </Card>
  );
}
