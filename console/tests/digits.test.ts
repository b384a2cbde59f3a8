// SPDX-License-Identifier: Apache-2.0
// digits.test.ts - digits and signs of the region become those that programs read; all else stays.
import { expect, test } from 'vitest';
import { latin } from '../src/lib/digits.ts';

test.each([
  ['٦٠', '60'],
  ['۱۲٫۵', '12.5'],
  ['−٣', '-3'],
  ['1.5e3', '1.5e3'],
  ['ستون', 'ستون'],
])('%s is %s', (typed, read) => expect(latin(typed)).toBe(read));
