// SPDX-License-Identifier: Apache-2.0
// lawrows.test.ts - templates add their rows once, a law goes with its rows, and the strictest row says what all allow.
import { expect, test } from 'vitest';
import { allowed, withTemplate, withoutRegime, type Rows, type Template } from '../src/pages/zones/lawrows.ts';

const from = { source_text: 'Art 1', source_text_ar: 'المادة 1', valid_from: '2020-01-01T00:00:00Z' };
const pdpl: Template = {
  template_id: 'pdpl',
  name: 'P',
  name_ar: 'ب',
  data_classes: ['public', 'personal', 'sensitive'],
  rules: [{ ...from, data_class: 'personal', may_leave: 'with_basis', countries: ['AE'] }],
  clocks: [{ ...from, name: 'breach-notify' }],
};
const health: Template = {
  ...pdpl,
  template_id: 'health',
  data_classes: ['health'],
  rules: [{ ...from, data_class: 'health', may_leave: 'never', countries: [] }],
  clocks: [{ ...from, name: 'retention', hours: 10 }],
};
const none: Rows = { regimes: [], classes: ['internal'], rules: [], clocks: [] };

test('a template adds its rows once, and a law goes with them', () => {
  const one = withTemplate(none, pdpl);
  const two = withTemplate(one, health);
  expect(two.classes).toEqual(['public', 'internal', 'personal', 'sensitive', 'health']);
  expect(two.rules.map((r) => [r.regime, r.data_class, r.may_leave])).toEqual([
    ['pdpl', 'personal', 'with_basis'],
    ['health', 'health', 'never'],
  ]);
  expect(two.rules[0]).not.toHaveProperty('source_text_ar');
  expect(two.clocks.map((c) => c.hours)).toEqual([undefined, 10]);
  const edited = { ...two, rules: two.rules.map((r) => ({ ...r, may_leave: 'never' as const })) };
  expect(withTemplate(edited, pdpl)).toEqual(edited);
  expect(withoutRegime(two, 'health')).toEqual({ ...one, classes: two.classes });
});

test('classes stand where the strictest rule puts them, by the judge of flows', () => {
  const rows = withTemplate(withTemplate(none, pdpl), health);
  expect(allowed(rows)).toEqual({
    own: [],
    free: ['public', 'internal'],
    basis: ['personal', 'sensitive'], // no rule speaks of sensitive data: a basis is needed all the same
    exception: ['health'],
    barred: ['banking', 'gov'],
  });
  const stricter = { ...rows, rules: [...rows.rules, { ...rows.rules[0]!, may_leave: 'never' as const }] };
  expect(allowed(stricter).exception).toEqual(['personal', 'health']);
  expect(allowed(rows, Date.parse('2019-01-01')).exception).toEqual(['health']); // before its law, health is regulated still
});
