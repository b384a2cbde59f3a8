// SPDX-License-Identifier: Apache-2.0
// Holds.tsx - legal holds: what may not be dropped, erased or destroyed, and the asking for an end of it.
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formFields } from '../../ui/form.tsx';
import { AUDIT_HOLD_LIST_STATE } from '../../api/gen/enums.ts';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { State, Time } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { toast } from '../../ui/toast.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Frame } from './frame.tsx';
import { useKnown } from './words.ts';
import { momentOf } from './when.tsx';
import { Person } from './Person.tsx';

const DAY = /^\d{4}-\d\d-\d\d$/;

export function Holds() {
  const { t } = useTranslation();
  const forget = useForget();
  const known = useKnown();
  const people = [
    { value: '', label: t('holds.everybody') },
    ...known.people.map((p) => ({ value: p.id, label: p.name })),
  ];
  const fields = formFields(
    { name: 'reason', label: t('holds.reason'), kind: 'area', required: true, max: 1024, help: t('holds.reasonHelp') },
    { name: 'subject_id', label: t('holds.whose'), kind: 'select', options: people },
    { name: 'from', label: t('holds.from'), pattern: DAY, help: t('holds.day') },
    { name: 'to', label: t('holds.to'), pattern: DAY, help: t('holds.day') },
  );
  const lift = formFields({ name: 'reason', label: t('col.reason'), kind: 'area', required: true, max: 1024 });
  return (
    <Frame
      part="audit.holds"
      lead={t('holds.lead')}
      api={['GET /v1/audit/holds', 'POST /v1/audit/holds', 'POST /v1/audit/holds/{hold_id}/lift']}
      cli={['falaj audit holds', 'falaj audit hold --reason …', 'falaj audit lift hld_… --reason …']}
      actions={
        <FormButton
          opens="hold"
          label={t('holds.place')}
          title={t('holds.place')}
          fields={fields}
          lead={<p className="effect">{t('holds.placeBody')}</p>}
          onSubmit={async (v) => {
            const day = (x: string): string => momentOf(`${x}T00:00`);
            await change('POST', '/v1/audit/holds', {
              reason: v.reason,
              ...(v.subject_id ? { subject_id: v.subject_id } : {}),
              ...(v.from ? { from: day(v.from) } : {}),
              ...(v.to ? { to: day(v.to) } : {}),
            });
            toast(t('holds.placed'));
            await forget('/v1/audit/holds');
          }}
        />
      }
    >
      <ServerTable
        path="/v1/audit/holds"
        label={t('audit.holds')}
        rowKey={(h) => h.hold_id!}
        filters={[
          {
            name: 'state',
            label: t('col.state'),
            options: AUDIT_HOLD_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
          },
        ]}
        columns={[
          { name: 'reason', label: t('col.reason'), cell: (h) => <bdi>{h.reason}</bdi> },
          {
            name: 'subject_id',
            label: t('holds.whose'),
            cell: (h) => (h.subject_id ? <Person id={h.subject_id} known={known} /> : t('holds.everybody')),
          },
          {
            name: 'from_at',
            label: t('holds.from'),
            cell: (h) => (h.from_at ? <Time at={h.from_at} /> : t('summary.begin')),
          },
          {
            name: 'until_at',
            label: t('holds.to'),
            cell: (h) => (h.until_at ? <Time at={h.until_at} /> : t('holds.noEnd')),
          },
          { name: 'state', label: t('col.state'), cell: (h) => <State value={h.state} /> },
          { name: 'placed_by', label: t('holds.by'), cell: (h) => <Person id={h.placed_by} known={known} /> },
          { name: 'created_at', label: t('col.created'), cell: (h) => <Time at={h.created_at} ago /> },
        ]}
        rowName={(h) => h.reason ?? ''}
        bulk={[
          {
            label: t('holds.lift'),
            reason: true,
            confirm: t('holds.liftBody'),
            fits: (h) => h.state === 'ACTIVE',
            run: (h, reason) => change('POST', `/v1/audit/holds/${h.hold_id}/lift`, { reason }),
          },
        ]}
        rowActions={(h) =>
          h.state === 'ACTIVE' ? (
            <FormButton
              variant="link"
              label={t('holds.lift')}
              title={t('holds.liftOf', { reason: `\u2068${h.reason ?? ''}\u2069` })}
              fields={lift}
              lead={
                <p className="effect">
                  {t('holds.liftBody')} <Link to="/approvals">{t('nav.approvals')}</Link>
                </p>
              }
              onSubmit={async (v) => {
                await change('POST', `/v1/audit/holds/${h.hold_id}/lift`, { reason: v['reason'] });
                toast(t('holds.asked'));
                await forget('/v1/approvals');
              }}
            />
          ) : null
        }
        empty={<Empty title={t('holds.none')} body={t('holds.lead')} cli="falaj audit hold --reason …" />}
      />
    </Frame>
  );
}
