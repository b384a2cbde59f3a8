// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { organisationOf, titleOf } from '../src/lib/titles.ts';

test('a reader sees the name in the own language, else the other, else the short one', () => {
  const both = { name: 'q3-claims', display_name: 'Claims', display_name_ar: 'المطالبات' };
  expect([titleOf(both, 'en'), titleOf(both, 'ar')]).toEqual(['Claims', 'المطالبات']);
  const english = { name: 'q3-claims', display_name: 'Claims', display_name_ar: '' };
  expect([titleOf(english, 'en'), titleOf(english, 'ar')]).toEqual(['Claims', 'Claims']);
  const arabic = { name: 'q3-claims', display_name: '', display_name_ar: 'المطالبات' };
  expect([titleOf(arabic, 'en'), titleOf(arabic, 'ar')]).toEqual(['q3-claims', 'المطالبات']);
  expect([titleOf({ name: 'q3-claims' }, 'ar'), titleOf(undefined, 'ar')]).toEqual(['q3-claims', '']);
});

test('the platform has no organisation', () => {
  expect(organisationOf({ tenant: 'platform' })).toBe('platform');
  expect(organisationOf({ tenant: 'palm', tenant_display_name: 'Palm Bank' })).toBe('Palm Bank');
});
