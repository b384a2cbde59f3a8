// SPDX-License-Identifier: Apache-2.0
// place.ts - where to after the login. A provider's refusal lands on /login, which is not where anybody wanted to be.
import { safeReturn } from '../../lib/search.ts';

const KEPT = 'falaj.return';
/** The most that the API takes as return_to. */
const LONGEST = 512;

export function placeToReturn(): string {
  if (location.pathname !== '/login' && location.pathname !== '/accept') {
    const here = safeReturn(location.pathname + location.search + location.hash);
    return here.length <= LONGEST ? here : '/';
  }
  try {
    return safeReturn(sessionStorage.getItem(KEPT) ?? undefined);
  } catch {
    return '/';
  }
}
export function keepPlace(to: string): void {
  try {
    sessionStorage.setItem(KEPT, to);
  } catch {
    /* without storage a refusal leads to the first page */
  }
}
