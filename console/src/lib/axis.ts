// SPDX-License-Identifier: Apache-2.0
// axis.ts - where an axis ends.

/** The next of 1, 2, 5, 10, 20 … that is not below: where an axis ends. */
export function niceCeil(n: number): number {
  if (!(n > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((f) => f * ten >= n * (1 - 1e-9)) ?? 10) * ten;
}
