// SPDX-License-Identifier: Apache-2.0
// search.ts - the address of a page as its state: flat text values, unknown ones kept out, defaults not written.
export type Search = Record<string, string>;

/** Of one value; the fifty runs of a comparison are its longest. */
const VALUE_MAX = 2048;
export function readSearch(text: string): Search {
  const out: Search = {};
  for (const [k, v] of new URLSearchParams(text))
    if (/^[a-z][a-z_]{0,31}$/.test(k) && v.length <= VALUE_MAX) out[k] = v;
  return out;
}
export function writeSearch(search: Record<string, unknown>): string {
  const q = new URLSearchParams();
  for (const k of Object.keys(search).sort()) {
    const v = search[k];
    if (v !== undefined && v !== null && v !== '') q.set(k, String(v));
  }
  return q.size > 0 ? `?${q.toString()}` : '';
}
/** A changed filter begins the list anew: page tokens belong to the filters they were made for. prefix: of a page's second list. */
export function withFilter(search: Search, name: string, value: string, prefix = ''): Search {
  const out: Search = { ...search, [name]: value };
  for (const old of [`${prefix}page_token`, `${prefix}after`, ...(value === '' ? [name] : [])]) delete out[old];
  return out;
}
/** Only a place of this site may be returned to after a login. */
export function safeReturn(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[^\s\\]*$/.test(to) && !to.startsWith('/login') ? to : '/';
}
