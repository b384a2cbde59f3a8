// SPDX-License-Identifier: Apache-2.0
// prefs.ts - what a person chose about the look of the console, kept in this browser only.
import { useSyncExternalStore } from 'react';

export interface Prefs {
  lang: 'en' | 'ar';
  theme: 'system' | 'light' | 'dark';
  density: 'normal' | 'compact';
  zone: 'local' | 'utc';
  digits: 'latn' | 'arab';
  keys: 'on' | 'off';
}
const KEY = 'falaj.prefs';
const start = (): Prefs => {
  const base: Prefs = {
    lang: navigator.language.startsWith('ar') ? 'ar' : 'en',
    theme: 'system',
    density: 'normal',
    zone: 'local',
    digits: 'latn',
    keys: 'on',
  };
  try {
    return { ...base, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Prefs>) };
  } catch {
    return base;
  }
};
let prefs = start();
const watchers = new Set<() => void>();

export const getPrefs = (): Prefs => prefs;
export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    /* a browser without storage forgets at reload */
  }
  for (const f of watchers) f();
}
const watch = (f: () => void): (() => void) => {
  watchers.add(f);
  return () => void watchers.delete(f);
};
// What is chosen in one tab holds in all.
addEventListener('storage', (e) => {
  if (e.key !== KEY) return;
  prefs = start();
  for (const f of watchers) f();
});
export const usePrefs = (): Prefs => useSyncExternalStore(watch, getPrefs);
export const watchPrefs = watch;

const dark = window.matchMedia('(prefers-color-scheme: dark)');
/** Paper is white whatever the screen is. */
export const paper = window.matchMedia('print');
export const isDark = (): boolean =>
  !paper.matches && (prefs.theme === 'dark' || (prefs.theme === 'system' && dark.matches));
/** Writes the choices to <html>, where the styles read them. */
export function applyPrefs(): void {
  const html = document.documentElement;
  html.lang = prefs.lang;
  html.dir = prefs.lang === 'ar' ? 'rtl' : 'ltr';
  html.classList.toggle('pf-v6-theme-dark', isDark());
  html.classList.toggle('compact', prefs.density === 'compact');
}
watchers.add(applyPrefs);
for (const media of [dark, paper])
  media.addEventListener('change', () => {
    for (const f of watchers) f();
  });
