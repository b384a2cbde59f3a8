// SPDX-License-Identifier: Apache-2.0
// ar.ts - the Arabic catalogue: one file for each part of the console, named as the first word of its keys.
const files = import.meta.glob<Record<string, string>>('./ar/*.json', { eager: true, import: 'default' });
export default Object.fromEntries(
  Object.entries(files).map(([path, words]) => [path.slice('./ar/'.length, -'.json'.length), words]),
);
