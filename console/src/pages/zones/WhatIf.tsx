// SPDX-License-Identifier: Apache-2.0
// WhatIf.tsx - what a change of a law, a list or a policy would make possible or forbid, tried out on the organisation's own
// things before anybody asks for it: each with the clause, and who would have to approve the change. Nothing is stored.
import { Label, ToggleGroup, ToggleGroupItem } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { oneOf } from '../../lib/oneof.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, To } from '../../ui/bits.tsx';
import { ApiForm, formFields } from '../../ui/form.tsx';
import { Note } from '../../ui/note.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Page } from '../../ui/page.tsx';
import { Remedy } from '../../ui/remedy.tsx';
import { CLASSES } from './data.ts';
import './zones.css';
import { titleOf } from '../../lib/titles.ts';

type Trial = Schemas['what_if'];
type Thing = Schemas['what_if_thing'];
const OUTCOMES = ['possible', 'forbidden', 'stays_possible', 'stays_forbidden'] as const;
const COLOUR = { possible: 'green', forbidden: 'red', stays_possible: 'grey', stays_forbidden: 'grey' } as const;
const PLACES: Record<string, [place: string, permission: string]> = {
  dst: ['/datasets', 'dataset:read'],
  job: ['/jobs', 'job:read'],
  dpl: ['/deployments', 'deployment:read'],
};

function Named({ of }: { of: Thing }) {
  const { t } = useTranslation();
  const { can } = useSession();
  if (!of.id) return <span className="subtle">{t('whatif.anyNew')}</span>;
  const [place, permission] = PLACES[of.id.slice(0, 3)] ?? ['', ''];
  const name = <Called of={of} />;
  return can(permission) ? <To to={`${place}/${of.id}`}>{name}</To> : name;
}

/** The reason in the reader's language: of a refusal what is missing, of a permission the judge's rule. */
function Why({ of, data, home }: { of: Thing; data: string; home: string }) {
  const { t, i18n } = useTranslation();
  const { rule, regime, source_text } = of.after;
  const known = i18n.exists(`residency.rule_${rule}`);
  return (
    <>
      {known ? (
        t(`residency.rule_${rule}`, {
          from: `\u2068${of.from ?? home}\u2069`,
          to: `\u2068${of.zone}\u2069`,
          what: t(`class.${data}`),
        })
      ) : (
        <Code>{rule}</Code>
      )}
      {regime && (
        <div className="subtle">
          <Code>{regime}</Code> <bdi lang="en">{source_text}</bdi>
        </div>
      )}
    </>
  );
}

function Things({ of, show }: { of: Trial; show: (typeof OUTCOMES)[number] | 'all' }) {
  const { t } = useTranslation();
  const heads = [
    t('whatif.outcome'),
    t('col.kind'),
    t('col.name'),
    t('residency.from'),
    t('whatif.where'),
    t('whatif.why'),
  ];
  const rows = of.things.filter((x) => show === 'all' || x.outcome === show);
  if (rows.length === 0) return <p className="subtle">{t('whatif.none')}</p>;
  return (
    <Grid
      label={t('whatif.things')}
      heads={heads}
      rows={rows.map((x, id) => {
        const outcome = oneOf(OUTCOMES, x.outcome)!;
        return {
          id,
          outcome,
          cells: [
            <Label key="o" isCompact color={COLOUR[outcome]}>
              {t(`whatif.${outcome}`)}
            </Label>,
            <span key="k">
              {t(`whatif.kind_${x.kind}`)} {x.purpose && <Code>{x.purpose}</Code>}
            </span>,
            <Named key="n" of={x} />,
            <Code key="f">{x.from ?? of.home_zone}</Code>,
            <Code key="z">{x.zone}</Code>,
            <Why key="w" of={x} data={of.data_class} home={of.home_zone} />,
          ],
        };
      })}
    />
  );
}

function Outcome({ of }: { of: Trial }) {
  const { t } = useTranslation();
  const [show, setShow] = useState<(typeof OUTCOMES)[number] | 'all'>('all');
  const count = (o: string): number => of.things.filter((x) => x.outcome === o).length;
  const changes = of.possible + of.forbidden;
  return (
    <section aria-labelledby="whatif-title" className="whatif-result">
      <h2 className="block" id="whatif-title">
        {t('whatif.would')}
      </h2>
      <Note
        variant={of.forbidden > 0 ? 'warning' : of.possible > 0 ? 'success' : 'info'}
        title={
          changes === 0
            ? t('whatif.nothing')
            : t('whatif.sum', { possible: number(of.possible), forbidden: number(of.forbidden) })
        }
      >
        {of.approvals.length > 0 && <p>{t('whatif.approvals')}</p>}
        {of.approvals.map((a) => (
          <Remedy key={a.operation} of={a} />
        ))}
      </Note>
      {of.is_cut && <Note variant="warning" title={t('whatif.cut')} />}
      <ToggleGroup aria-label={t('whatif.things')} className="block">
        {(['all', ...OUTCOMES] as const).map((o) => (
          <ToggleGroupItem
            key={o}
            buttonId={`show-${o}`}
            text={`${t(`whatif.${o}`)} ${number(o === 'all' ? of.things.length : count(o))}`}
            isSelected={show === o}
            onChange={() => setShow(o)}
          />
        ))}
      </ToggleGroup>
      <Things of={of} show={show} />
    </section>
  );
}

export function WhatIf() {
  const { t, i18n } = useTranslation();
  const { me, can } = useSession();
  const [trial, setTrial] = useState<Trial | null>(null);
  const zones = useGet('/v1/zones', { page_size: 200 });
  const sets = useGet('/v1/passports', { page_size: 200 }, { enabled: can('audit:read') });
  const laws = useGet('/v1/residency/templates', { page_size: 200 });
  const codes = (zones.data?.data ?? []).map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` }));
  const fields = formFields(
    {
      name: 'about',
      label: t('whatif.about'),
      kind: 'select',
      options: [
        ...CLASSES.map((c) => ({ value: `class ${c}`, label: t('whatif.allOf', { what: t(`class.${c}`) }) })),
        ...(sets.data?.data ?? []).map((d) => ({ value: d.dataset_id!, label: titleOf(d) })),
      ],
    },
    { name: 'zone', label: t('whatif.where'), kind: 'select', options: codes },
    {
      name: 'law',
      label: t('whatif.law'),
      help: t('whatif.lawHelp'),
      kind: 'select',
      options: [
        { value: '', label: t('whatif.lawSame') },
        ...(laws.data?.data ?? []).map((l) => ({
          value: l.template_id,
          label: i18n.language === 'ar' ? l.name_ar : l.name,
        })),
      ],
    },
    {
      name: 'law_of',
      label: t('whatif.lawOf'),
      kind: 'select',
      options: [{ value: '', label: t('whatif.lawOfSame') }, ...codes],
    },
    { name: 'allow', label: t('whatif.allow'), kind: 'check', group: t('whatif.also') },
    { name: 'policy', label: t('whatif.policy'), kind: 'check', group: t('whatif.also') },
    { name: 'exception', label: t('whatif.exception'), kind: 'check', group: t('whatif.also') },
  );
  const ready = zones.data && laws.data && (!can('audit:read') || sets.data);
  return (
    <Page
      name={t('whatif.title')}
      title={t('whatif.title')}
      lead={t('whatif.lead')}
      crumbs={[[t('nav.residency'), '/residency']]}
      api={['POST /v1/residency/simulate']}
      cli={['falaj zone what-if CLASS ZONE --policy']}
    >
      {ready && (
        <ApiForm
          fields={fields}
          submit={t('whatif.try')}
          casual
          initial={{ about: 'class personal', zone: me.home_zone ?? '', policy: true }}
          onSubmit={async (v) => {
            const one = oneOf(CLASSES, v.about.replace(/^class /, ''));
            setTrial(
              await change('POST', '/v1/residency/simulate', {
                ...(one ? { data_class: one } : { dataset_id: v.about }),
                zone: v.zone,
                ...(v.law === '' ? {} : { templates: [v.law] }),
                ...(v.law === '' || v.law_of === '' ? {} : { law_of: v.law_of }),
                allow: v.allow,
                policy: v.policy,
                exception: v.exception,
              }),
            );
          }}
        />
      )}
      <div aria-live="polite">{trial && <Outcome key={JSON.stringify(trial)} of={trial} />}</div>
    </Page>
  );
}
