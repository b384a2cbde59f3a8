// SPDX-License-Identifier: Apache-2.0
// flows.test.ts - what the table of flows says of data that would cross, by laws and policies as the API gives them.
import { expect, test } from 'vitest';
import type { Law } from '../src/pages/zones/data.ts';
import { flowOf, type Policy } from '../src/pages/zones/flows.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const ALL = ['public', 'internal', 'personal', 'sensitive', 'health', 'banking', 'gov'];
const rule = (data_class: string, may_leave: string, more = {}) => ({
  regime: 'uae-pdpl',
  data_class,
  may_leave,
  source_text: 's',
  valid_from: '2022-01-01T00:00:00Z',
  ...more,
});
const law = (zone: string, country: string, rules: unknown[] = [], data_classes = ALL): Law =>
  ({ zone, country, rules, data_classes, version: 1 }) as Law;
const policy = (more = {}): Policy =>
  ({
    policy_id: 'trp_1',
    state: 'ACTIVE',
    from_zone: 'ae-dxb-1',
    to_zone: 'de-fra-1',
    data_class: 'personal',
    valid_until: '2027-01-01T00:00:00Z',
    version: 1,
    ...more,
  }) as Policy;

const dxb = law('ae-dxb-1', 'AE', [rule('personal', 'with_basis', { countries: ['AE'] }), rule('health', 'never')]);
const auh = law('ae-auh-1', 'AE');
const fra = law('de-fra-1', 'DE', [], ALL);

test.each([
  ['its own zone', dxb, dxb, 'personal', 'own'],
  ['a zone of the same country', dxb, auh, 'personal', 'free'],
  ['abroad under a law that wants a basis', dxb, fra, 'personal', 'basis'],
  ['abroad under a law that forbids', dxb, fra, 'health', 'exception'],
  ['abroad without a law that speaks', auh, fra, 'personal', 'basis'],
  ['regulated data abroad without a law', auh, fra, 'gov', 'exception'],
  ['public data abroad without a law', auh, fra, 'public', 'free'],
  ['a zone that does not take the class', dxb, law('de-fra-1', 'DE', [], ['public']), 'personal', 'barred'],
])('%s', (_what, from, to, dataClass, flow) => expect(flowOf(from, to, dataClass, [], NOW).flow).toBe(flow));

test('a rule that is over or not yet in force does not count', () => {
  const over = law('ae-dxb-1', 'AE', [rule('public', 'never', { valid_to: '2026-01-01T00:00:00Z' })]);
  const later = law('ae-dxb-1', 'AE', [rule('public', 'never', { valid_from: '2026-12-01T00:00:00Z' })]);
  expect(flowOf(over, fra, 'public', [], NOW).flow).toBe('free');
  expect(flowOf(later, fra, 'public', [], NOW).flow).toBe('free');
});
test('the strictest law is named', () => {
  const two = law('ae-dxb-1', 'AE', [
    rule('health', 'with_basis'),
    rule('health', 'never', { regime: 'uae-health-ict' }),
  ]);
  expect(flowOf(two, fra, 'health', [], NOW)).toEqual({ flow: 'exception', regime: 'uae-health-ict' });
});
test('a policy counts while it is active and not over, and where an exception is needed only with one', () => {
  expect(flowOf(dxb, fra, 'personal', [policy()], NOW).policy?.policy_id).toBe('trp_1');
  expect(flowOf(dxb, fra, 'personal', [policy({ state: 'PROPOSED' })], NOW).policy).toBeUndefined();
  expect(flowOf(dxb, fra, 'personal', [policy({ valid_until: '2026-05-01T00:00:00Z' })], NOW).policy).toBeUndefined();
  expect(flowOf(dxb, fra, 'health', [policy({ data_class: 'health' })], NOW).policy).toBeUndefined();
  expect(
    flowOf(dxb, fra, 'health', [policy({ data_class: 'health', exception_ref: 'MD 51' })], NOW).policy,
  ).toBeDefined();
});
