// SPDX-License-Identifier: Apache-2.0
// Evidence.tsx - the evidence report of a zone and a period: where data is, what crossed a border, who holds which key and role.
import { Form, FormGroup, FormSelect, FormSelectOption, Label } from '@patternfly/react-core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { withQuery } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { usePrefs } from '../../lib/prefs.ts';
import type { Search } from '../../lib/search.ts';
import { Code, Name, Pairs, State, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { Button } from '../audit/pieces.tsx';
import { rangeOf, WhenFields, type When } from '../audit/when.tsx';
import '../audit/audit.css';
import './evidence.css';
import { useMemo, useState } from 'react';

const PARTS = [
  'zones',
  'stored',
  'transfers',
  'policies',
  'denied',
  'workers',
  'keys',
  'heads',
  'access',
  'approvals',
] as const;
type Row = Record<string, unknown>;
/** Columns whose values have words of their own, and where these stand. */
const WORDED: Record<string, string> = {
  data_class: 'class',
  class: 'class',
  classes: 'class',
  role: 'role',
  legal_basis: 'residency.basis',
  basis: 'residency.basis',
};
/** Columns that people wrote in words of their own. */
const WRITTEN = new Set(['name', 'regulator', 'provider', 'providers', 'reason', 'subject', 'user', 'requested_by']);
/** Columns with several short names in one text. */
const LISTED = new Set(['classes', 'regimes']);

function Cell({ name, value }: { name: string; value: unknown }) {
  const { t, i18n } = useTranslation();
  if (value === null || value === undefined || value === '') return <span className="lead">–</span>;
  if (typeof value === 'number') return <>{name === 'bytes' ? bytes(value) : number(value)}</>;
  if (typeof value !== 'string') return <Code>{JSON.stringify(value)}</Code>;
  if (name === 'at' || name === 'since' || /_at$|^valid_/.test(name)) return <Time at={value} />;
  if (name === 'state') return <State value={value} />;
  const words = WORDED[name];
  const key = (v: string): string => `${words}${words?.includes('.') ? '_' : '.'}${v}`;
  if (LISTED.has(name))
    return (
      <span className="listed">
        {value.split(/[\s,]+/).map((v) => (
          <Label key={v} isCompact variant="outline">
            {words && i18n.exists(key(v)) ? t(key(v)) : <Code>{v}</Code>}
          </Label>
        ))}
      </span>
    );
  if (words && i18n.exists(key(value))) return <>{t(key(value))}</>;
  return WRITTEN.has(name) ? <Name>{value}</Name> : <Code>{value}</Code>;
}
function Rows({ title, rows }: { title: string; rows: Row[] }) {
  const { t, i18n } = useTranslation();
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  const label = (n: string): string => (i18n.exists(`evidence.f_${n}`) ? t(`evidence.f_${n}`) : n);
  return (
    <details className="evidence-part" open={rows.length > 0 && rows.length <= 20}>
      <summary>
        <h2>
          {title} <span className="lead">{t('list.shown', { count: rows.length })}</span>
        </h2>
      </summary>
      {rows.length > 0 && (
        <div className="wide-table" role="region" aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {names.map((n) => (
                  <th key={n} scope="col">
                    {i18n.exists(`evidence.f_${n}`) ? label(n) : <Code>{n}</Code>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r, i) => (
                <tr key={i}>
                  {names.map((n) => (
                    <td key={n}>
                      <Cell name={n} value={r[n]} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

export function EvidenceReport() {
  const { t } = useTranslation();
  const { lang } = usePrefs();
  const navigate = useNavigate();
  const s = useSearch({ strict: false }) as Search;
  const zones = useGet('/v1/zones', { page_size: 200 });
  const { zone = '', when = 'days30', from = '', to = '' } = s;
  const [draft, setDraft] = useState<When>({ when, from, to });
  const [place, setPlace] = useState(zone);
  const query = useMemo(() => ({ ...(zone ? { zone } : {}), ...rangeOf({ when, from, to }) }), [zone, when, from, to]);
  const report = useGet('/v1/evidence', query);
  const html = withQuery('/v1/evidence.html', { ...query, lang });
  return (
    <Page
      name={t('nav.evidence')}
      title={t('nav.evidence')}
      lead={t('evidence.lead')}
      api={[`GET ${withQuery('/v1/evidence', query)}`, `GET ${html}`]}
      cli={['falaj evidence']}
      actions={
        <>
          <Link to="/evidence/transfers" className="pf-v6-c-button pf-m-secondary">
            {t('evidence.register')}
          </Link>
          <a className="pf-v6-c-button pf-m-primary" href={html} target="_blank" rel="noreferrer">
            {t('evidence.sheet')}
          </a>
        </>
      }
    >
      <Form
        className="audit-filters"
        onSubmit={(e) => {
          e.preventDefault();
          const next = Object.entries({ zone: place, ...draft }).filter(([, v]) => v !== '');
          void navigate({ to: '.', search: Object.fromEntries(next) as never });
        }}
      >
        <FormGroup label={t('col.zone')} fieldId="ev-zone">
          <FormSelect id="ev-zone" value={place} onChange={(_e, v) => setPlace(v)}>
            <FormSelectOption value="" label={t('evidence.allZones')} />
            {(zones.data?.data ?? []).map((z) => (
              <FormSelectOption key={z.code} value={z.code} label={`${z.code} · ${z.name}`} lang="en" />
            ))}
          </FormSelect>
        </FormGroup>
        <WhenFields id="ev" value={draft} onChange={setDraft} />
        <div className="acts">
          <Button type="submit">{t('audit.show')}</Button>
        </div>
      </Form>
      <Answer of={report}>
        {(r) => (
          <>
            <Pairs
              rows={[
                [t('when.from'), <Time key="f" at={r.from} />],
                [t('when.to'), <Time key="t" at={r.to} />],
                [t('evidence.made'), <Time key="g" at={r.generated_at} />],
              ]}
            />
            {r.is_cut && <Note variant="warning" title={t('evidence.cut')} />}
            {PARTS.map((p) => (
              <Rows key={p} title={t(`evidence.${p}`)} rows={(r[p] as Row[] | undefined) ?? []} />
            ))}
          </>
        )}
      </Answer>
    </Page>
  );
}
