// SPDX-License-Identifier: Apache-2.0
// digits.ts - numbers as a person of the region types them, in the signs that programs read.

const ARABIC = '٠١٢٣٤٥٦٧٨٩';
const PERSIAN = '۰۱۲۳۴۵۶۷۸۹';
/** Digits and signs as a person of the region types them, as programs read them. */
export const latin = (text: string): string =>
  text
    .replace(/[٠-٩]/g, (d) => String(ARABIC.indexOf(d)))
    .replace(/[۰-۹]/g, (d) => String(PERSIAN.indexOf(d)))
    .replaceAll('٫', '.')
    .replaceAll('−', '-');
