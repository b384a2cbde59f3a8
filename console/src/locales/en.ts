// SPDX-License-Identifier: Apache-2.0
// en.ts - the English catalogue: one file for each part of the console, named as the first word of its keys.
const files = import.meta.glob<Record<string, string>>('./en/*.json', { eager: true, import: 'default' });
export default Object.fromEntries(
  Object.entries(files).map(([path, words]) => [path.slice('./en/'.length, -'.json'.length), words]),
);
