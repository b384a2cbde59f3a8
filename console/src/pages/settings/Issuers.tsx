// SPDX-License-Identifier: Apache-2.0
// Issuers.tsx - outside issuers whose tokens are believed, for programs only.
import { useTranslation } from 'react-i18next';
import { ISSUER_IN_ALGORITHMS, type ISSUER_PATCH_STATE } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, formFields } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import '../members/members.css';

type Issuer = Schemas['issuer'];
const subjectsOf = (i: Issuer): { subject: string }[] =>
  Array.isArray(i.subjects) ? (i.subjects as { subject: string }[]) : [];

export function AddIssuer() {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const services = useGet('/v1/users', { kind: 'service', state: 'ACTIVE', page_size: 200 });
  const accounts = (services.data?.data ?? []).map((u) => ({ value: u.user_id!, label: u.name ?? '' }));
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG },
    { name: 'issuer', label: t('settings.idpIssuer'), required: true, pattern: /^https?:\/\/\S+$/ },
    {
      name: 'audience',
      label: t('settings.issAudience'),
      required: true,
      ltr: true,
      help: t('settings.issAudienceHelp'),
    },
    {
      name: 'algorithm',
      label: t('settings.issAlg'),
      kind: 'select',
      options: ISSUER_IN_ALGORITHMS.map((a) => ({ value: a, label: a })),
    },
    { name: 'jwks_uri', label: t('settings.issJwks'), required: true, pattern: /^https?:\/\/\S+$/ },
    { name: 'subject', label: t('settings.issSubject'), required: true, ltr: true, max: 255 },
    {
      name: 'user_id',
      label: t('settings.issAccount'),
      kind: 'select',
      required: true,
      options: accounts.length > 0 ? accounts : [{ value: '', label: t('settings.noServicesYet') }],
    },
    { name: 'single_use', label: t('settings.issOnce'), kind: 'check' },
  );
  return (
    <FormButton
      label={t('settings.issAdd')}
      title={t('settings.issAdd')}
      size="medium"
      lead={<p className="effect">{t('settings.issBody')}</p>}
      fields={fields}
      initial={{ audience: `falaj:${String(me.tenant_id ?? '')}:` }}
      onSubmit={async (v) => {
        await change('POST', '/v1/issuers', {
          name: v['name'],
          issuer: v['issuer'],
          audience: v['audience'],
          algorithms: [v['algorithm']],
          jwks_uri: v['jwks_uri'],
          subjects: [{ subject: v['subject'], user_id: v['user_id'] }],
          single_use: v['single_use'] === true,
        });
        await forget('/v1/issuers');
      }}
    />
  );
}

export function Issuers() {
  const { t } = useTranslation();
  const forget = useForget();
  const put = async (i: Issuer, state: (typeof ISSUER_PATCH_STATE)[number]): Promise<void> => {
    await change('PATCH', `/v1/issuers/${i.issuer_id!}`, { state }, { 'if-match': `"v${i.version}"` });
    await forget('/v1/issuers');
  };
  return (
    <ServerTable
      path="/v1/issuers"
      label={t('settings.issuers')}
      rowKey={(i) => i.issuer_id!}
      columns={[
        { name: 'name', label: t('col.name'), cell: (i) => <Name>{i.name}</Name> },
        { name: 'issuer', label: t('settings.idpIssuer'), cell: (i) => <Code>{i.issuer}</Code> },
        { name: 'audience', label: t('settings.issAudience'), cell: (i) => <Code>{i.audience}</Code> },
        {
          name: 'subjects',
          label: t('settings.issSubjects'),
          cell: (i) => (
            <Code>
              {subjectsOf(i)
                .map((s) => s.subject)
                .join(' ')}
            </Code>
          ),
        },
        { name: 'state', label: t('col.state'), cell: (i) => <State value={i.state} /> },
      ]}
      rowName={(i) => i.name ?? ''}
      bulk={[
        {
          label: t('settings.off'),
          confirm: t('bulk.issuersOff'),
          fits: (i) => i.state === 'ACTIVE',
          run: (i) => put(i, 'DISABLED'),
        },
        { label: t('settings.on'), fits: (i) => i.state !== 'ACTIVE', run: (i) => put(i, 'ACTIVE') },
      ]}
      rowActions={(i) => (
        <span className="acts">
          {i.state === 'ACTIVE' ? (
            <TypedConfirm
              variant="link"
              label={t('settings.off')}
              title={t('settings.off')}
              name={i.name ?? ''}
              effect={t('settings.issOffEffect')}
              onConfirm={() => put(i, 'DISABLED')}
            />
          ) : (
            <FormButton
              variant="link"
              label={t('settings.on')}
              title={i.name ?? ''}
              fields={[]}
              onSubmit={() => put(i, 'ACTIVE')}
            />
          )}
          <TypedConfirm
            variant="link"
            label={t('settings.idpRemove')}
            title={t('settings.idpRemove')}
            name={i.name ?? ''}
            effect={t('settings.issRemoveEffect')}
            onConfirm={async () => {
              await change('DELETE', `/v1/issuers/${i.issuer_id!}`);
              await forget('/v1/issuers');
            }}
          />
        </span>
      )}
      empty={
        <Empty
          title={t('settings.issNone')}
          body={t('settings.issBody')}
          action={<AddIssuer />}
          cli="falaj issuer create NAME ISSUER AUDIENCE --algorithms RS256 --jwks-uri URI"
        />
      }
    />
  );
}
