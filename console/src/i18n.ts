// SPDX-License-Identifier: Apache-2.0
// i18n.ts - the catalogues, read in packs: a page's words come with its code, in the language in use. A missing key is an error that tests see.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import packs, { core } from 'virtual:words';
import { figures } from './lib/figures.ts';
import { getPrefs, watchPrefs, type Prefs } from './lib/prefs.ts';

type Lang = Prefs['lang'];
export type Pack = keyof (typeof packs)['en'];

/** What the open pages use, so that the other language has it all before it is shown. */
const used = new Set<Pack>(['core']);
const reading = new Map<string, Promise<void>>([['en core', Promise.resolve()]]);

function read(lang: Lang, pack: Pack): Promise<void> {
  const key = `${lang} ${pack}`;
  const begun = reading.get(key);
  if (begun) return begun;
  const now = packs[lang][pack]().then(
    (m) => void i18next.addResourceBundle(lang, 'translation', m.default, true, true),
    (failed: unknown) => {
      reading.delete(key);
      throw failed;
    },
  );
  reading.set(key, now);
  return now;
}
/** `load` with the words of what it loads; a language that changes meanwhile waits for these too. */
export function withWords<T>(names: readonly Pack[], load: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (const n of names) used.add(n);
    const langs = new Set([i18next.language as Lang, getPrefs().lang]);
    const [loaded] = await Promise.all([load(), ...[...langs].flatMap((l) => names.map((n) => read(l, n)))]);
    return loaded;
  };
}
async function follow(): Promise<void> {
  const { lang } = getPrefs();
  for (let n = -1; n !== used.size;) {
    n = used.size;
    await Promise.all([...used].map((p) => read(lang, p)));
  }
  if (getPrefs().lang === lang && i18next.language !== lang) await i18next.changeLanguage(lang);
}
export async function startI18n(): Promise<void> {
  await i18next
    .use(figures)
    .use(initReactI18next)
    .init({
      lng: 'en',
      fallbackLng: false,
      resources: { en: { translation: core } },
      returnNull: false,
      interpolation: { escapeValue: false, alwaysFormat: true },
      saveMissing: true,
      missingKeyHandler: (_l, _n, key) => console.error(`missing key: ${key}`),
    });
  await follow();
  watchPrefs(() => void follow());
}
