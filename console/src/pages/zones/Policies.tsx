// SPDX-License-Identifier: Apache-2.0
// Policies.tsx - transfer policies: which there are, a new one, and the end of one.
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { TRANSFER_POLICY_LIST_STATE, TRANSFER_POLICY_NEW_LEGAL_BASIS } from '../../api/gen/enums.ts';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { CLASSES } from './data.ts';
import type { Policy } from './flows.ts';

const BASES = TRANSFER_POLICY_NEW_LEGAL_BASIS;
const DAY = 86_400_000;

/** Every zone may be named, also one where the tenant's data may not be yet: that is what a policy is for. */
export function ProposePolicy() {
  const { t } = useTranslation();
  const forget = useForget();
  const search = useSearch({ strict: false }) as Search;
  const zones = useGet('/v1/zones', { page_size: 200 });
  if (!zones.data) return null;
  const codes = zones.data.data.map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` }));
  return (
    <FormButton
      opens="policy"
      label={t('residency.propose')}
      title={t('residency.propose')}
      lead={<p className="effect">{t('residency.proposeEffect')}</p>}
      fields={[
        { name: 'from_zone', label: t('residency.from'), kind: 'select', options: codes },
        { name: 'to_zone', label: t('residency.to'), kind: 'select', options: codes },
        {
          name: 'data_class',
          label: t('col.class'),
          kind: 'select',
          options: CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) })),
        },
        {
          name: 'purpose',
          label: t('residency.purpose'),
          help: t('residency.purposeAny'),
          required: true,
          pattern: SLUG,
        },
        {
          name: 'legal_basis',
          label: t('residency.basisOf'),
          kind: 'select',
          options: BASES.map((b) => ({ value: b, label: t(`residency.basis_${b}`) })),
        },
        {
          name: 'document_sha256',
          label: t('residency.document'),
          help: t('residency.documentHelp'),
          required: true,
          pattern: /^[0-9a-f]{64}$/,
        },
        { name: 'assessment_ref', label: t('residency.assessment'), required: true, max: 256 },
        { name: 'exception_ref', label: t('residency.exceptionRef'), help: t('residency.exceptionHelp'), max: 256 },
        { name: 'recipients', label: t('residency.recipients'), help: t('residency.recipientsHelp') },
        { name: 'days', label: t('residency.days'), kind: 'number', required: true, min: 1, max: 366 },
      ]}
      initial={{
        purpose: 'training',
        days: '90',
        ...(search['from'] ? { from_zone: search['from'] } : {}),
        ...(search['to'] ? { to_zone: search['to'] } : {}),
        ...(search['class'] ? { data_class: search['class'] } : {}),
      }}
      onSubmit={async (v) => {
        const { days, recipients, exception_ref, ...rest } = v;
        const to = String(recipients ?? '')
          .split(/\s*,\s*/)
          .filter(Boolean);
        await change('POST', '/v1/transfer-policies', {
          ...rest,
          ...(exception_ref ? { exception_ref } : {}),
          ...(to.length > 0 ? { recipients: to } : {}),
          valid_until: new Date(Date.now() + Number(days) * DAY).toISOString(),
        });
        await forget('/v1/transfer-policies');
        await forget('/v1/approvals');
        toast(t('residency.proposed'));
      }}
    />
  );
}

export function Policies() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  return (
    <ServerTable
      path="/v1/transfer-policies"
      label={t('residency.policies')}
      filters={[
        {
          name: 'state',
          label: t('col.state'),
          options: TRANSFER_POLICY_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
        },
      ]}
      rowKey={(p) => p.policy_id!}
      columns={[
        { name: 'state', label: t('col.state'), cell: (p) => <State value={p.state} /> },
        { name: 'from_zone', label: t('residency.from'), cell: (p) => <Code>{p.from_zone}</Code> },
        { name: 'to_zone', label: t('residency.to'), cell: (p) => <Code>{p.to_zone}</Code> },
        { name: 'data_class', label: t('col.class'), cell: (p) => t(`class.${p.data_class!}`) },
        { name: 'purpose', label: t('residency.purpose'), cell: (p) => <Code>{p.purpose}</Code> },
        { name: 'legal_basis', label: t('residency.basisOf'), cell: (p) => t(`residency.basis_${p.legal_basis!}`) },
        { name: 'assessment_ref', label: t('residency.assessment'), cell: (p) => <Name>{p.assessment_ref}</Name> },
        { name: 'valid_until', label: t('residency.until'), cell: (p) => <Time at={p.valid_until} ago /> },
      ]}
      {...(can('transfer:revoke')
        ? {
            rowName: (p: Policy) => `${p.from_zone!} ${p.to_zone!}`,
            bulk: [
              {
                label: t('residency.revoke'),
                danger: true,
                confirm: t('bulk.policies'),
                fits: (p: Policy) => p.state !== 'REVOKED',
                run: (p: Policy) => change('POST', `/v1/transfer-policies/${p.policy_id!}/revoke`),
              },
            ],
            rowActions: (p: Policy) =>
              p.state !== 'REVOKED' && (
                <TypedConfirm
                  variant="secondary"
                  label={t('residency.revoke')}
                  title={t('residency.revoke')}
                  name={`${p.from_zone!} ${p.to_zone!}`}
                  effect={t('residency.revokeEffect')}
                  onConfirm={async () => {
                    await change('POST', `/v1/transfer-policies/${p.policy_id!}/revoke`);
                    await forget('/v1/transfer-policies');
                  }}
                />
              ),
          }
        : {})}
      empty={
        <Empty
          title={t('residency.noPolicies')}
          body={t('residency.proposeEffect')}
          cli="falaj transfer propose FROM TO CLASS"
        />
      }
    />
  );
}
