// SPDX-License-Identifier: Apache-2.0
// worker.ts - lets the service worker keep the console's files (src/shellworker.ts), once the page has what it needs itself.

const AFTER_MS = 4000;

/** Without one (an old browser, a plain http address) the console works as before, and offline the browser's own page stands. */
export function keepShell(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const begin = (): void =>
    void setTimeout(() => void navigator.serviceWorker.register('/shellworker.js').catch(() => undefined), AFTER_MS);
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
}
