// SPDX-License-Identifier: Apache-2.0
// palette.ts - does a line fit what was typed, and which page shows an id. Pure.
const PAGES: Record<string, string> = {
  job: '/jobs',
  dst: '/datasets',
  mdl: '/models',
  dpl: '/deployments',
  nod: '/workers',
};

/** Every word typed begins a word of the line, in any case. */
export function fits(text: string, line: string): boolean {
  const words = line.toLocaleLowerCase().split(/[\s_./-]+/);
  const whole = line.toLocaleLowerCase();
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((part) => words.some((w) => w.startsWith(part)) || (part.length >= 3 && whole.includes(part)));
}
export function idPath(text: string): string | undefined {
  const kind = /^([a-z]{3})_[0-9a-z]{20,}$/.exec(text)?.[1];
  const page = kind === undefined ? undefined : PAGES[kind];
  return page === undefined ? undefined : `${page}/${text}`;
}
