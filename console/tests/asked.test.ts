// SPDX-License-Identifier: Apache-2.0
// asked.test.ts - a request shows each thing that it changes, and nothing that stays.
import { expect, test } from 'vitest';
import { changes, PARTS, replacedBy } from '../src/lib/asked.ts';

const rule = { regime: 'uae-pdpl', data_class: 'personal', may_leave: 'with_basis', countries: ['AE'] };
const law = {
  data_classes: ['public', 'gov'],
  rules: [rule],
  clocks: [],
  regulator: 'UAE Data Office',
  at: '2026-01-01',
};
const differing = (now: object, asked: Record<string, unknown>): string[] =>
  changes(now, asked, PARTS['zone.policy']!)
    .filter((r) => !r.same)
    .map((r) => `${r.path}: ${r.values.join(' > ')}`);

test('what stays, in another order or spelled out as empty, is no change', () => {
  const same = {
    regulator: 'UAE Data Office',
    provider: '',
    rules: [{ countries: ['AE'], may_leave: 'with_basis', data_class: 'personal', regime: 'uae-pdpl' }],
    data_classes: ['gov', 'public'],
    worker_cidrs: [],
  };
  expect(differing(law, same)).toEqual([]);
});
test('a stricter rule, a class less and a regulator left out are three changes', () => {
  const asked = { ...law, regulator: undefined, data_classes: ['public'], rules: [{ ...rule, may_leave: 'never' }] };
  expect(differing(law, asked)).toEqual([
    'data_classes: ["gov","public"] > ["public"]',
    'regulator: UAE Data Office > ',
    'rules.uae-pdpl personal.may_leave: with_basis > never',
  ]);
});
test('two rules of one name stay two', () => {
  const asked = { ...law, rules: [rule, { ...rule, may_leave: 'never' }] };
  expect(differing(law, asked).map((x) => x.split(':')[0])).toEqual([
    'rules.uae-pdpl personal 2.countries',
    'rules.uae-pdpl personal 2.may_leave',
  ]);
});
test('only acts that replace something are compared', () => {
  expect(replacedBy('zone.policy', { zone: 'ae-dxb-1', law }, undefined)).toEqual({
    path: '/v1/zones/ae-dxb-1/law',
    asked: law,
  });
  expect(replacedBy('tenant.zones', {}, '01a2-03')?.path).toBe('/v1/tenants/tnt_01a203/zones');
  expect(replacedBy('key.destroy', { zone: 'ae-dxb-1' }, undefined)).toBeNull();
});
