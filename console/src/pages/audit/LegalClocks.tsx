// SPDX-License-Identifier: Apache-2.0
// LegalClocks.tsx - terms that a law sets: opened under a zone's law, extended once, closed; what is due first stands first.
import { useTranslation } from 'react-i18next';
import { LEGAL_CLOCK_LIST_STATE, LEGAL_CLOCK_NEW_KIND } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, State, Time } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { formFields } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Frame } from './frame.tsx';
import { momentOf } from './when.tsx';

type Clock = Schemas['legal_clock'];
const PATH = '/v1/legal-clocks';
const day = (x: string): string => momentOf(`${x}T00:00`);
/** Who writes a day has until its end. */
const endOf = (x: string): string => momentOf(`${x}T23:59`);
const FIXED = ['breach', 'retention'];

function Acts({ clock }: { clock: Clock }) {
  const { t } = useTranslation();
  const forget = useForget();
  const extend = formFields(
    { name: 'due_at', label: t('terms.newDue'), kind: 'day', required: true, help: t('terms.newDueHelp') },
    { name: 'reason', label: t('col.reason'), kind: 'area', required: true, max: 1024, help: t('terms.noNames') },
  );
  const close = formFields({
    name: 'note',
    label: t('terms.note'),
    kind: 'area',
    required: true,
    max: 1024,
    help: t('terms.noNames'),
  });
  if (clock.state === 'CLOSED') return null;
  const reference = `\u2068${clock.reference}\u2069`;
  const at = `${PATH}/${clock.clock_id}` as const;
  return (
    <>
      {clock.state === 'OPEN' && !clock.extended_at && !FIXED.includes(clock.kind) && (
        <FormButton
          variant="link"
          label={t('terms.extend')}
          title={t('terms.extendOf', { reference })}
          fields={extend}
          lead={<p className="effect">{t('terms.extendBody')}</p>}
          onSubmit={async (v) => {
            await change('POST', `${at}/extend`, { due_at: endOf(v.due_at), reason: v.reason });
            toast(t('terms.extended'));
            await forget(PATH);
          }}
        />
      )}
      <FormButton
        variant="link"
        label={t('terms.close')}
        title={t('terms.closeOf', { reference })}
        fields={close}
        lead={<p className="effect">{t('terms.closeBody')}</p>}
        onSubmit={async (v) => {
          await change('POST', `${at}/close`, { note: v.note });
          toast(t('terms.closed'));
          await forget(PATH);
        }}
      />
    </>
  );
}

export function LegalClocks() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const zones = useGet('/v1/zones', { page_size: 200 });
  const kinds = LEGAL_CLOCK_NEW_KIND.map((k) => ({ value: k, label: t(`terms.kind_${k}`) }));
  const fields = formFields(
    { name: 'kind', label: t('terms.kind'), kind: 'select', options: kinds },
    {
      name: 'zone',
      label: t('terms.zone'),
      kind: 'select',
      options: (zones.data?.data ?? []).map((z) => ({ value: z.code!, label: z.code! })),
    },
    { name: 'reference', label: t('terms.reference'), required: true, max: 128, help: t('terms.referenceHelp') },
    { name: 'opened_at', label: t('terms.began'), kind: 'day', help: t('terms.beganHelp') },
    { name: 'due_at', label: t('terms.due'), kind: 'day', help: t('terms.dueHelp') },
    { name: 'law', label: t('terms.law'), kind: 'area', max: 1024, help: t('terms.lawHelp') },
  );
  return (
    <Frame
      part="audit.legalClocks"
      lead={t('terms.lead')}
      api={[`GET ${PATH}`, `POST ${PATH}`, `POST ${PATH}/{clock_id}/extend`, `POST ${PATH}/{clock_id}/close`]}
      cli={['falaj legal-clock list', 'falaj legal-clock open access ZONE CASE', 'falaj legal-clock close clk_… NOTE']}
      actions={
        can('clock:manage') &&
        zones.data && (
          <FormButton
            opens="clock"
            label={t('terms.open')}
            title={t('terms.open')}
            fields={fields}
            initial={{ kind: 'access', zone: zones.data.data[0]?.code ?? '' }}
            lead={<p className="effect">{t('terms.openBody')}</p>}
            onSubmit={async (v) => {
              await change('POST', PATH, {
                kind: v.kind,
                zone: v.zone,
                reference: v.reference,
                ...(v.opened_at ? { opened_at: day(v.opened_at) } : {}),
                ...(v.due_at ? { due_at: endOf(v.due_at) } : {}),
                ...(v.law ? { law: v.law } : {}),
              });
              toast(t('terms.opened'));
              await forget(PATH);
            }}
          />
        )
      }
    >
      <ServerTable
        path={PATH}
        label={t('audit.legalClocks')}
        rowKey={(c) => c.clock_id}
        rowName={(c) => c.reference}
        filters={[
          {
            name: 'state',
            label: t('col.state'),
            options: LEGAL_CLOCK_LIST_STATE.map((s) => ({ value: s, label: t(`value.${s}`) })),
          },
        ]}
        columns={[
          { name: 'reference', label: t('terms.reference'), cell: (c) => <bdi>{c.reference}</bdi> },
          { name: 'kind', label: t('terms.kind'), cell: (c) => t(`terms.kind_${c.kind}`) },
          { name: 'state', label: t('col.state'), cell: (c) => <State value={c.state} /> },
          {
            name: 'due_at',
            label: t('terms.due'),
            cell: (c) => (
              <>
                <Time at={c.due_at} />
                {c.state !== 'CLOSED' && (
                  <>
                    {' '}
                    · <Time at={c.due_at} ago />
                  </>
                )}
              </>
            ),
          },
          { name: 'zone', label: t('col.zone'), cell: (c) => <Code>{c.zone}</Code> },
          { name: 'law', label: t('terms.law'), cell: (c) => <bdi>{c.law}</bdi>, extra: true },
          { name: 'opened_at', label: t('terms.began'), cell: (c) => <Time at={c.opened_at} />, extra: true },
          { name: 'extended_at', label: t('terms.extendedOn'), cell: (c) => <Time at={c.extended_at} />, extra: true },
          { name: 'closed_at', label: t('terms.closedOn'), cell: (c) => <Time at={c.closed_at} />, extra: true },
          { name: 'note', label: t('terms.note'), cell: (c) => <bdi>{c.note}</bdi>, extra: true },
        ]}
        rowActions={(c) => (can('clock:manage') ? <Acts clock={c} /> : null)}
        empty={<Empty title={t('terms.none')} body={t('terms.lead')} cli="falaj legal-clock open access ZONE CASE" />}
      />
    </Frame>
  );
}
