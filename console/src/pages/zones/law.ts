// SPDX-License-Identifier: Apache-2.0
// law.ts - a zone's law in a form: what fields it has, and the law that its values say. Its rows are drawn by the builder.
import type { TFunction } from 'i18next';
import type { Schemas } from '../../api/client.ts';
import { formFields, type Values, type ValuesOf } from '../../ui/form.tsx';
import { ClockRows, readList, RuleRows, TemplatePicker } from './builder.tsx';
import { CLASSES, strings, type Law } from './data.ts';

const LIST = /^[^,]{1,63}(\s*,\s*[^,]{1,63})*$/;
const split = (v: unknown): string[] =>
  String(v ?? '')
    .split(/\s*,\s*|\s+/)
    .filter(Boolean);

export function lawFields(t: TFunction) {
  return formFields(
    { name: 'template', label: t('zones.template'), help: t('zones.templateHelp'), draw: TemplatePicker },
    { name: 'legal_regimes', label: t('zones.regimes'), help: t('zones.regimesHelp'), pattern: LIST },
    { name: 'regulator', label: t('zones.regulator'), max: 128 },
    { name: 'provider', label: t('zones.provider'), max: 128 },
    ...CLASSES.map((c) => ({
      name: `class_${c}` as const,
      label: t(`class.${c}`),
      kind: 'check' as const,
      group: t('zones.classes'),
    })),
    { name: 'worker_cidrs', label: t('zones.cidrs'), help: t('join.cidrsHelp'), pattern: /^[0-9a-fA-F.:/, ]+$/ },
    { name: 'rules', label: t('zones.rules'), kind: 'json', draw: RuleRows },
    { name: 'clocks', label: t('zones.clocks'), kind: 'json', draw: ClockRows },
  );
}
const text = (v: unknown): string => JSON.stringify(Array.isArray(v) ? v : [], null, 1);
export function lawValues(law: Partial<Law>): Values {
  const classes = strings(law.data_classes);
  return {
    legal_regimes: strings(law.legal_regimes).join(', '),
    regulator: law.regulator ?? '',
    provider: law.provider ?? '',
    worker_cidrs: strings(law.worker_cidrs).join(', '),
    rules: text(law.rules),
    clocks: text(law.clocks),
    ...Object.fromEntries(CLASSES.map((c) => [`class_${c}`, classes.includes(c)])),
  };
}
export function lawBody(v: ValuesOf<ReturnType<typeof lawFields>>): Schemas['zone_law'] {
  return {
    legal_regimes: split(v['legal_regimes']),
    regulator: v.regulator,
    provider: v.provider,
    data_classes: CLASSES.filter((c) => v[`class_${c}`] === true),
    worker_cidrs: split(v['worker_cidrs']),
    rules: readList(v.rules), // the API judges what stands in them
    clocks: readList(v.clocks),
  };
}
