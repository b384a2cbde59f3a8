// SPDX-License-Identifier: Apache-2.0
// Retention.tsx - how long the content of events is kept, class by class; hashes stay for ever.
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { ACTIONS } from '../../lib/audit-actions.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Time } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { formFields, type ValuesOf } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Frame } from './frame.tsx';
import { Person } from './Person.tsx';
import { useKnown } from './words.ts';

const CLASSES = 'APR ART AUD AUT DAT DEP IDP INF JOB KEY MOD NOD POL PRJ QUO RES ROL RUN SYS TEN TOK USR ZON'.split(
  ' ',
);
const YEAR = 365.25;

export function Retention() {
  const { t, i18n } = useTranslation();
  const { can, me } = useSession();
  const forget = useForget();
  const known = useKnown();
  const ofClass = (c: string | undefined): string =>
    c === '*' ? t('retention.others') : i18n.exists(`retention.c_${c}`) ? t(`retention.c_${c}`) : (c ?? '');
  const fields = (cls?: string) =>
    formFields(
      {
        name: 'class',
        label: t('retention.class'),
        kind: 'select',
        options: (cls ? [cls] : ['*', ...CLASSES]).map((c) => ({ value: c, label: ofClass(c) })),
      },
      { name: 'keep_days', label: t('retention.days'), kind: 'number', required: true, min: 30, max: 36_525 },
    );
  const set = async (v: ValuesOf<ReturnType<typeof fields>>): Promise<void> => {
    await change('PUT', '/v1/audit/retention', { class: v.class, keep_days: Number(v.keep_days) });
    toast(t('retention.set'));
    await forget('/v1/audit/retention');
  };
  const may = can('audit:retention');
  const lead = <p className="effect">{t('retention.setBody')}</p>;
  return (
    <Frame
      part="audit.retention"
      lead={t('retention.lead')}
      api={['GET /v1/audit/retention', 'PUT /v1/audit/retention']}
      cli={['falaj audit retention', 'falaj audit keep JOB 2557']}
      actions={
        may && (
          <FormButton
            label={t('retention.change')}
            title={t('retention.changeTitle')}
            fields={fields()}
            lead={lead}
            onSubmit={set}
          />
        )
      }
    >
      <ServerTable
        path="/v1/audit/retention"
        label={t('audit.retention')}
        noPages
        rowKey={(r) => `${r.class} ${r.zone ?? ''}`}
        columns={[
          { name: 'class', label: t('retention.class'), cell: (r) => ofClass(r.class) },
          {
            name: 'zone',
            label: t('retention.least'),
            cell: (r) => (r.zone ? <Code>{r.zone}</Code> : me.tenant ? t('retention.own') : t('retention.platform')),
          },
          {
            name: 'keep_days',
            label: t('retention.kept'),
            cell: (r) => t('retention.keptOf', { days: number(r.keep_days), years: number(r.keep_days / YEAR, 1) }),
          },
          {
            name: 'set_by',
            label: t('retention.by'),
            cell: (r) => (r.set_by ? <Person id={r.set_by} known={known} /> : t('retention.shipped')),
          },
          {
            name: 'set_at',
            label: t('col.at'),
            cell: (r) => (r.set_at ? <Time at={r.set_at} ago /> : t('state.dash')),
          },
        ]}
        rowActions={(r) =>
          may && !r.zone ? (
            <FormButton
              variant="link"
              label={t('retention.change')}
              title={ofClass(r.class)}
              fields={fields(r.class)}
              initial={{ class: r.class ?? '*', keep_days: String(r.keep_days) }}
              lead={lead}
              onSubmit={set}
            />
          ) : null
        }
        empty={<Empty title={t('retention.none')} body={t('retention.lead')} cli="falaj audit retention" />}
      />
      <p className="lead">{t('retention.acts', { count: ACTIONS.length })}</p>
    </Frame>
  );
}
