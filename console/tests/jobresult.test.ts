// SPDX-License-Identifier: Apache-2.0
// jobresult.test.ts - a program's figures may be called as parts of a result are: they are no such part, and break no page.
import { expect, test } from 'vitest';
import { profileOf, tuningOf } from '../src/lib/jobresult.ts';

const tuning = {
  steps: 5,
  seconds: 1.5,
  ms_before: 4,
  ms_after: 2,
  bits_kept: true,
  rows: [{ setting: 'threads', value: '2', ms: 2, gain: 2, chosen: true }],
};
const row = { operation: 'conv', phase: 'forward', calls: 3, ms: 1, share: 0.5, gflops: 9, gbytes: 1, roof: 0.4 };
const profile = {
  steps: 5,
  ms: 4,
  data_wait: 0.1,
  peak_gflops: 100,
  peak_gbytes: 10,
  rows: [{ ...row, limit: 'memory' }],
};

test('what a training job tells is read whole', () => {
  expect(tuningOf({ tuning, accuracy: 0.9 })).toEqual(tuning);
  expect(profileOf({ profile })).toEqual(profile);
});

test.each([
  undefined,
  null,
  7,
  'words',
  {},
  { tuning: 0.5, profile: 3 },
  { tuning: { rows: 1 }, profile: { rows: [1] } },
])('a result of %j has neither', (result) => {
  expect(tuningOf(result)).toBeUndefined();
  expect(profileOf(result)).toBeUndefined();
});
