// SPDX-License-Identifier: Apache-2.0
// i18n.ts - the catalogues. Arabic is fetched when somebody reads Arabic; a missing key is an error that tests see.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { getPrefs, watchPrefs } from './lib/prefs.ts';
import en from './locales/en.ts';

async function load(lang: string): Promise<void> {
  if (lang === 'ar' && !i18next.hasResourceBundle('ar', 'translation'))
    i18next.addResourceBundle('ar', 'translation', (await import('./locales/ar.ts')).default);
}
export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: false,
    resources: { en: { translation: en } },
    returnNull: false,
    interpolation: { escapeValue: false },
    saveMissing: true,
    missingKeyHandler: (_l, _n, key) => console.error(`missing key: ${key}`),
  });
  const follow = async (): Promise<void> => {
    const lang = getPrefs().lang;
    await load(lang);
    if (i18next.language !== lang) await i18next.changeLanguage(lang);
  };
  await follow();
  watchPrefs(() => void follow());
}
