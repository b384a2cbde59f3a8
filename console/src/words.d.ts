// SPDX-License-Identifier: Apache-2.0
// words.d.ts - what wordpacks.ts makes of the catalogues.
declare module 'virtual:words' {
  type Words = Record<string, Record<string, string>>;
  type Packs = keyof typeof import('./locales/packs.json');
  const packs: Record<'en' | 'ar', Record<Packs, () => Promise<{ default: Words }>>>;
  /** The words in English of what stands around every page. */
  export const core: Words;
  export default packs;
}
