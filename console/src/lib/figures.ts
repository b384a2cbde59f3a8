// SPDX-License-Identifier: Apache-2.0
// figures.ts - how i18next writes the numbers that stand within words.
import type { FormatterModule } from 'i18next';
import { number } from './format.ts';

/** Numbers within words, counts among them, are written with the reader's digits as those beside words are. */
export const figures: FormatterModule = {
  type: 'formatter',
  init: () => undefined,
  add: () => undefined,
  addCached: () => undefined,
  format: (value: unknown) => (typeof value === 'number' ? number(value, 10) : (value as string)),
};
