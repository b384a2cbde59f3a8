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

/** Sections with their columns in the order of reading, as on the printed sheet (registry/evidence/evidence_html.c). */
const PARTS = {
  zones: ['zone', 'country', 'regulator', 'provider', 'regimes', 'classes', 'law_version'],
  stored: ['zone', 'data_class', 'tenants', 'objects', 'bytes', 'key_versions', 'providers'],
  transfers: [
    'at',
    'who',
    'from_zone',
    'to_zone',
    'data_class',
    'purpose',
    'transfers',
    'bytes',
    'basis',
    'assessment_ref',
    'document',
    'transfer',
  ],
  policies: [
    'from_zone',
    'to_zone',
    'data_class',
    'purpose',
    'legal_basis',
    'state',
    'requested_by',
    'approved_by',
    'valid_from',
    'valid_until',
    'revoked_at',
    'revoked_by',
    'exception_ref',
  ],
  denied: ['at', 'who', 'act', 'data_class', 'zone', 'rule'],
  workers: ['zone', 'name', 'pool', 'state', 'slots', 'gpus', 'backend', 'last_seen_at'],
  keys: ['zone', 'version', 'state', 'provider', 'root_version', 'created_at'],
  tokens: ['zone', 'provider', 'maker', 'model', 'label', 'serial', 'firmware'],
  heads: ['size', 'at', 'root', 'key_id', 'zone'],
  access: ['name', 'kind', 'role', 'place', 'state', 'since', 'valid_until'],
  approvals: ['kind', 'subject', 'state', 'requested_by', 'created_at', 'approved_by', 'decided_at'],
} as const;
type Part = keyof typeof PARTS;
type Row = Record<string, unknown>;
/** Columns whose values are codes, and how the keys of their words begin; the first that there is. */
const WORDED: Record<string, string[]> = {
  data_class: ['class.'],
  classes: ['class.'],
  role: ['role.'],
  legal_basis: ['residency.basis_'],
  basis: ['residency.basis_', 'evidence.rule_'],
  rule: ['evidence.rule_'],
  act: ['residency.act_'],
  place: ['place.'],
  provider: ['keyring.provider_'],
  providers: ['keyring.provider_'],
  kind: ['kind.', 'approvals.kind_'],
  actor: ['audit.by_'],
};
/** Columns that people wrote in words of their own, and names of people. */
const WRITTEN = new Set([
  'name',
  'regulator',
  'provider',
  'purpose',
  'subject',
  'who',
  'requested_by',
  'approved_by',
  'revoked_by',
]);
/** Columns with several short names in one text. */
const LISTED = new Set(['classes', 'providers', 'regimes']);

function Cell({ name, value }: { name: string; value: unknown }) {
  const { t, i18n } = useTranslation();
  if (value === null || value === undefined || value === '') return <span className="lead">–</span>;
  if (typeof value === 'number') return <>{name === 'bytes' ? bytes(value) : number(value)}</>;
  if (typeof value !== 'string') return <Code>{String(value)}</Code>;
  if (name === 'at' || name === 'since' || /_at$|^valid_/.test(name)) return <Time at={value} />;
  if (name === 'state') return <State value={value} />;
  const word = (v: string): string | undefined =>
    WORDED[name]?.map((begins) => `${begins}${v.replaceAll('.', '_')}`).find((k) => i18n.exists(k));
  if (LISTED.has(name))
    return (
      <span className="listed">
        {value.split(/[\s,]+/).map((v) => (
          <Label key={v} isCompact variant="outline">
            {word(v) ? t(word(v)!) : <Code>{v}</Code>}
          </Label>
        ))}
      </span>
    );
  const said = word(value);
  if (said) return <>{t(said)}</>;
  return WRITTEN.has(name) ? <Name>{value}</Name> : <Code>{value}</Code>;
}
function Rows({ part, rows }: { part: Part; rows: Row[] }) {
  const { t } = useTranslation();
  const title = t(`evidence.${part}`);
  // Of the platform a section has other columns than of a tenant.
  const names = PARTS[part].filter((n) => rows.some((r) => n in r));
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
                    {t(`evidence.f_${n}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r, i) => (
                <tr key={i}>
                  {names.map((n) => (
                    <td key={n}>
                      {n === 'who' && !r[n] ? <Cell name="actor" value={r['actor']} /> : <Cell name={n} value={r[n]} />}
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
            {(Object.keys(PARTS) as Part[]).map((p) => (
              <Rows key={p} part={p} rows={(r[p] as Row[] | undefined) ?? []} />
            ))}
          </>
        )}
      </Answer>
    </Page>
  );
}
