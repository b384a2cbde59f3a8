// SPDX-License-Identifier: Apache-2.0
// builder.tsx - a zone's law built from known laws: a template fills the rows, each row says its clause in words and can be
// edited, and below stands what all of them allow.
import {
  Button,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  Label,
  LabelGroup,
  TextArea,
  TextInput,
} from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { ZONE_RULE_MAY_LEAVE } from '../../api/gen/enums.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Code } from '../../ui/bits.tsx';
import type { Drawn } from '../../ui/form.tsx';
import { CLASSES } from './data.ts';
import { allowed, withoutRegime, withTemplate, type Clock, type Rows, type Rule, type Template } from './lawrows.ts';

/** A list in a form is text; what is no list is an empty one. */
export function readList<T>(text: unknown): T[] {
  try {
    const list: unknown = JSON.parse(String(text || '[]'));
    return Array.isArray(list) ? (list as T[]) : [];
  } catch {
    return [];
  }
}
const split = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);
const MANY = 4;

type Form = Drawn['form'];
function rowsOf(form: Form): Rows {
  const v = form.watch();
  return {
    regimes: split(String(v['legal_regimes'] ?? '')),
    classes: CLASSES.filter((c) => v[`class_${c}`] === true),
    rules: readList<Rule>(v['rules']),
    clocks: readList<Clock>(v['clocks']),
  };
}
function put(form: Form, rows: Rows): void {
  const set = (name: string, value: string | boolean): void =>
    form.setValue(name, value, { shouldDirty: true, shouldValidate: true });
  set('legal_regimes', rows.regimes.join(', '));
  for (const c of CLASSES) set(`class_${c}`, rows.classes.includes(c));
  set('rules', JSON.stringify(rows.rules));
  set('clocks', JSON.stringify(rows.clocks));
}

function useTemplates(): Template[] {
  return useGet('/v1/residency/templates', { page_size: 200 }).data?.data ?? [];
}
const nameIn = (of: Template, lang: string): string => (lang === 'ar' ? of.name_ar : of.name);

export function TemplatePicker({ id, form }: Drawn) {
  const { t, i18n } = useTranslation();
  const all = useTemplates();
  const rows = rowsOf(form);
  const pick = (of: Template): void => {
    put(form, withTemplate(rows, of));
    if (of.regulator && !form.getValues('regulator')) form.setValue('regulator', of.regulator, { shouldDirty: true });
  };
  return (
    <>
      <FormSelect
        id={id}
        name="template"
        value=""
        onChange={(_e, v) => {
          const of = all.find((x) => x.template_id === v);
          if (of) pick(of);
        }}
      >
        <FormSelectOption value="" label={t('zones.templateNone')} />
        {all.map((x) => (
          <FormSelectOption
            key={x.template_id}
            value={x.template_id}
            label={nameIn(x, i18n.language)}
            isDisabled={rows.regimes.includes(x.template_id)}
          />
        ))}
      </FormSelect>
      {rows.regimes.length > 0 && (
        <LabelGroup className="block" categoryName={t('zones.regimes')} numLabels={16}>
          {rows.regimes.map((r) => (
            <Label
              key={r}
              isCompact
              closeBtnAriaLabel={t('zones.dropLaw', { law: r })}
              onClose={() => put(form, withoutRegime(rows, r))}
            >
              <Code>{r}</Code>
            </Label>
          ))}
        </LabelGroup>
      )}
    </>
  );
}

/** Countries by their names while they are few. */
function useCountries(): (codes: readonly string[]) => string {
  const { t, i18n } = useTranslation();
  const names = new Intl.DisplayNames([i18n.language], { type: 'region' });
  const join = new Intl.ListFormat(i18n.language, { type: 'conjunction' });
  const name = (code: string): string => (/^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code);
  return (codes) =>
    codes.length === 0
      ? t('zones.ownCountry')
      : codes.length > MANY
        ? t('zones.countries', { count: codes.length })
        : join.format(codes.map(name));
}

/** The clause of a row in the reader's language: a template's own Arabic stands as long as nobody has changed its text. */
function useClause(): (regime: string, text: string) => string {
  const { i18n } = useTranslation();
  const all = useTemplates();
  return (regime, text) => {
    const of = all.find((x) => x.template_id === regime);
    const row = [...(of?.rules ?? []), ...(of?.clocks ?? [])].find((r) => r.source_text === text);
    return i18n.language === 'ar' && row ? row.source_text_ar : text;
  };
}

interface Part {
  label: string;
  name: string;
  value: string;
  choices?: { value: string; label: string }[];
  wide?: boolean;
  set: (value: string) => void;
}
function Part({ label, name, value, choices, wide = false, set }: Part) {
  const id = `f-${name.replaceAll('_', '-')}`;
  return (
    <FormGroup label={label} fieldId={id} className={wide ? 'law-wide' : ''}>
      {choices ? (
        <FormSelect id={id} name={name} value={value} onChange={(_e, v) => set(v)}>
          {choices.map((c) => (
            <FormSelectOption key={c.value} {...c} />
          ))}
        </FormSelect>
      ) : wide ? (
        <TextArea
          id={id}
          name={name}
          value={value}
          rows={2}
          dir="auto"
          autoResize={false}
          onChange={(_e, v) => set(v)}
        />
      ) : (
        <TextInput id={id} name={name} value={value} dir="ltr" onChange={(_e, v) => set(v)} />
      )}
    </FormGroup>
  );
}

const day = (at: string | undefined): string => (at ?? '').slice(0, 10);
const moment = (text: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
const TODAY = (): string => `${new Date().toISOString().slice(0, 10)}T00:00:00Z`;

export function RuleRows({ value, onChange }: Drawn) {
  const { t } = useTranslation();
  const countries = useCountries();
  const clause = useClause();
  const rules = readList<Rule>(value);
  const save = (list: Rule[]): void => onChange(JSON.stringify(list));
  const set = (at: number, change: Partial<Rule>): void =>
    save(rules.map((r, i) => (i === at ? { ...r, ...change } : r)));
  return (
    <div className="law-rows">
      {rules.map((r, i) => (
        <fieldset key={i} className="law-row" aria-label={t('zones.ruleOf', { n: number(i + 1) })}>
          <p className="law-says">
            {t(`zones.says_${r.may_leave}`, { what: t(`class.${r.data_class}`), inside: countries(r.countries ?? []) })}{' '}
            <bdi className="subtle">{clause(r.regime, r.source_text)}</bdi>
          </p>
          <div className="law-parts">
            <Part
              label={t('col.class')}
              name={`rule_${i}_data_class`}
              value={r.data_class}
              choices={CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) }))}
              set={(v) => set(i, { data_class: CLASSES.find((c) => c === v)! })}
            />
            <Part
              label={t('zones.mayLeave')}
              name={`rule_${i}_may_leave`}
              value={r.may_leave}
              choices={ZONE_RULE_MAY_LEAVE.map((c) => ({ value: c, label: t(`zones.${c}`) }))}
              set={(v) => set(i, { may_leave: ZONE_RULE_MAY_LEAVE.find((c) => c === v)! })}
            />
            <Part
              label={t('zones.inside')}
              name={`rule_${i}_countries`}
              value={(r.countries ?? []).join(' ')}
              set={(v) => set(i, { countries: v === '' ? [] : v.toUpperCase().split(/[\s,]/) })}
            />
            <Part
              label={t('zones.regime')}
              name={`rule_${i}_regime`}
              value={r.regime}
              set={(v) => set(i, { regime: v })}
            />
            <Part
              label={t('zones.inForce')}
              name={`rule_${i}_valid_from`}
              value={day(r.valid_from)}
              set={(v) => set(i, { valid_from: moment(v) })}
            />
            <Part
              wide
              label={t('zones.source')}
              name={`rule_${i}_source_text`}
              value={r.source_text}
              set={(v) => set(i, { source_text: v })}
            />
          </div>
          <Button variant="link" isInline isDanger onClick={() => save(rules.filter((_r, k) => k !== i))}>
            {t('zones.dropRow', { n: number(i + 1) })}
          </Button>
        </fieldset>
      ))}
      <Button
        variant="secondary"
        onClick={() =>
          save([
            ...rules,
            {
              regime: 'own-policy',
              data_class: 'personal',
              may_leave: 'with_basis',
              countries: [],
              source_text: '',
              valid_from: TODAY(),
            },
          ])
        }
      >
        {t('zones.addRule')}
      </Button>
    </div>
  );
}

export function ClockRows({ value, onChange }: Drawn) {
  const { t } = useTranslation();
  const clause = useClause();
  const clocks = readList<Clock>(value);
  const save = (list: Clock[]): void => onChange(JSON.stringify(list));
  const set = (at: number, change: Partial<Clock>): void =>
    save(clocks.map((c, i) => (i === at ? { ...c, ...change } : c)));
  const hours = (at: number, text: string): void =>
    save(
      clocks.map((c, i) => {
        if (i !== at) return c;
        const { regime, name, source_text, valid_from, valid_to } = c;
        return {
          ...{ regime, name, source_text, valid_from },
          ...(valid_to ? { valid_to } : {}),
          ...(/^\d{1,7}$/.test(text) ? { hours: Number(text) } : {}),
        };
      }),
    );
  return (
    <div className="law-rows">
      {clocks.map((c, i) => (
        <fieldset key={i} className="law-row" aria-label={t('zones.clockOf', { n: number(i + 1) })}>
          <p className="law-says">
            <Code>{c.name}</Code>: {c.hours === undefined ? t('zones.noHours') : t('zones.within', { count: c.hours })}{' '}
            <bdi className="subtle">{clause(c.regime, c.source_text)}</bdi>
          </p>
          <div className="law-parts">
            <Part label={t('zones.clock')} name={`clock_${i}_name`} value={c.name} set={(v) => set(i, { name: v })} />
            <Part
              label={t('zones.hours')}
              name={`clock_${i}_hours`}
              value={c.hours === undefined ? '' : String(c.hours)}
              set={(v) => hours(i, v)}
            />
            <Part
              label={t('zones.regime')}
              name={`clock_${i}_regime`}
              value={c.regime}
              set={(v) => set(i, { regime: v })}
            />
            <Part
              wide
              label={t('zones.source')}
              name={`clock_${i}_source_text`}
              value={c.source_text}
              set={(v) => set(i, { source_text: v })}
            />
          </div>
          <Button variant="link" isInline isDanger onClick={() => save(clocks.filter((_c, k) => k !== i))}>
            {t('zones.dropClock', { n: number(i + 1) })}
          </Button>
        </fieldset>
      ))}
      <Button
        variant="secondary"
        onClick={() =>
          save([...clocks, { regime: 'own-policy', name: 'breach-notify', source_text: '', valid_from: TODAY() }])
        }
      >
        {t('zones.addClock')}
      </Button>
    </div>
  );
}

/** What the rows allow together, before anything is made. */
export function LawPreview({ form }: { form: Form }) {
  const { t, i18n } = useTranslation();
  const groups = allowed(rowsOf(form));
  const join = new Intl.ListFormat(i18n.language, { type: 'conjunction' });
  return (
    <FormGroup role="group" label={t('zones.preview')} fieldId="law-preview">
      <ul id="law-preview" className="law-preview" aria-live="polite">
        {(['free', 'basis', 'exception', 'barred'] as const)
          .filter((g) => groups[g].length > 0)
          .map((g) => (
            <li key={g} data-flow={g}>
              {t(`zones.preview_${g}`, { what: join.format(groups[g].map((c) => t(`class.${c}`))) })}
            </li>
          ))}
      </ul>
      <FormHelperText>
        <HelperText>
          <HelperTextItem>{t('zones.counsel')}</HelperTextItem>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}
