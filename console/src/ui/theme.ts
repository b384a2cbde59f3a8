// SPDX-License-Identifier: Apache-2.0
// theme.ts - the colours of the page for what is drawn on a canvas, read anew when the page turns dark or light.
import { useSyncExternalStore } from 'react';

const html = document.documentElement;
const watch = (f: () => void): (() => void) => {
  const seen = new MutationObserver(f);
  seen.observe(html, { attributes: true, attributeFilter: ['class', 'lang'] });
  return () => seen.disconnect();
};
/** Changes when the page's classes or language do; what is drawn by hand has to be drawn again then. */
export const useTheme = (): string => useSyncExternalStore(watch, () => `${html.className} ${html.lang}`);

export interface Ink {
  text: string;
  grid: string;
  ground: string;
  lines: string[];
}
export const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
/** Eight colours that stay apart for eyes that see fewer; from the ninth line on the dash tells them apart. */
export const COLOURS = 8;
export const dashOf = (i: number): readonly number[] =>
  DASHES[(Math.floor(i / COLOURS) + (i % COLOURS)) % DASHES.length]!;

export function ink(): Ink {
  const style = getComputedStyle(html);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: read('--chart-text'),
    grid: read('--chart-grid'),
    ground: read('--chart-ground'),
    lines: Array.from({ length: COLOURS }, (_x, i) => read(`--chart-${i + 1}`)),
  };
}
