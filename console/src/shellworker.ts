// SPDX-License-Identifier: Apache-2.0
// shellworker.ts - the service worker: keeps the console's own files, so that a click, a reload or a new tab on a dead network
// shows the console, which says that it is offline, instead of the browser's page. It is the file /shellworker.js.
//
// It never holds an answer of the API: it looks only at navigations and at files whose name is their content, and leaves every
// other request to the browser, unseen. A navigation asks the network first, so a new console and a new policy hold at once; only
// where no answer comes at all is the kept page given. The files are those of one build, named by its digest, and a new build's
// worker takes over when the tabs of the old one are closed: until then an open tab keeps the pieces that belong to it.
export {};

interface Extendable extends Event {
  waitUntil: (p: Promise<unknown>) => void;
}
interface Fetching extends Extendable {
  request: Request;
  respondWith: (r: Promise<Response>) => void;
}
interface Scope {
  addEventListener: ((type: 'install' | 'activate', f: (e: Extendable) => void) => void) &
    ((type: 'fetch', f: (e: Fetching) => void) => void);
}
const scope = self as unknown as Scope;

/** Written by the build (shellfiles.ts): the digest of all files, and their addresses. */
const shell = JSON.parse('__SHELL__') as { digest: string; files: string[] };
const PREFIX = 'falaj-shell-';
const NAME = PREFIX + shell.digest;
/** Addresses of the API: a download that somebody opens in a tab is no page of the console. */
const NOT_PAGES = /^\/(v1|v2|scim|healthz|readyz|version|metrics|openapi\.json)(\/|$)/;

const keep = async (): Promise<void> => {
  const cache = await caches.open(NAME);
  // The page itself is asked for anew: the browser's own cache may have the one before.
  await cache.add(new Request('/', { cache: 'reload' }));
  await cache.addAll(shell.files);
};
const dropOld = async (): Promise<void> => {
  const names = await caches.keys();
  await Promise.all(names.filter((n) => n.startsWith(PREFIX) && n !== NAME).map((n) => caches.delete(n)));
};
const page = async (request: Request): Promise<Response> => {
  try {
    return await fetch(request);
  } catch (away) {
    const kept = await caches.match('/', { cacheName: NAME });
    if (kept) return kept;
    throw away;
  }
};
const file = async (request: Request): Promise<Response> =>
  (await caches.match(request, { cacheName: NAME })) ?? fetch(request);

scope.addEventListener('install', (e) => e.waitUntil(keep()));
scope.addEventListener('activate', (e) => e.waitUntil(dropOld()));
scope.addEventListener('fetch', (e) => {
  const { request } = e;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (!NOT_PAGES.test(url.pathname)) e.respondWith(page(request));
  } else if (shell.files.includes(url.pathname)) e.respondWith(file(request));
});
