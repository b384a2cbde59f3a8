// SPDX-License-Identifier: Apache-2.0
// smoke.mjs - every page once, in English and light, as the person who uses it: it is drawn, nothing is an error on the console,
// no policy is breached, no other origin is asked, and axe finds nothing serious. pages.mjs looks at them in all looks (full
// tier).
//
//   FALAJ_BIN=build/asan/bin node tests/browser/smoke.mjs     # PAGES=job,key only at these
//
// The rows are those of pages/AREA.mjs. What a row does before it is looked at (act) is left to the tour, so that rows of one
// address are one page here.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, settled } from './checks.mjs';
import { run, setPrefs } from './platform.mjs';

const only = process.env.PAGES?.split(',');
const WINDOWS = 2; // while one page waits for its answers, the other one is judged

/** Of one route: the console keeps such a page and gives it another thing to show. */
const alike = (a, b) => {
  const [x, y] = [a, b].map((address) => address.split('?')[0].split('/'));
  return x.length === y.length && x[1] === y[1];
};
/** Within the console where that draws another page, otherwise by loading it. */
async function go(t, page, from, to) {
  if (from === undefined || alike(from, to) || !(await page.$('#page-title'))) return page.goto(t.base + to);
  return page.evaluate((address) => {
    document.querySelector('#page-title').id = 'old-title';
    history.pushState({}, '', address);
    dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }, to);
}

async function tour(t, page, who, rows) {
  let from;
  for (let p = rows.shift(); p; p = rows.shift()) {
    const began = performance.now();
    page.where = p.name;
    page.expected = p.expected ?? [];
    try {
      await go(t, page, from, p.address);
      from = who === 'nobody' ? undefined : p.address;
      await settled(page, p.act ? '#page-title, .login-card form' : p.wait);
      await accessible(t, page, p.name, false, ['serious', 'critical']);
      t.looked++;
    } catch (e) {
      t.fault(p.name, e instanceof Error ? e.message : String(e));
      from = undefined;
    }
    if (process.env.TRACE) console.log(`${((performance.now() - began) / 1000).toFixed(1)} s ${p.name}`);
  }
}
/** All pages of one person, in windows of one login. */
async function visit(t, who, rows) {
  const page = await t.open(who === 'nobody' ? undefined : who);
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang: 'en', theme: 'light' });
  const pages = [page];
  while (pages.length < Math.min(WINDOWS, rows.length)) pages.push(await t.beside(page));
  await Promise.all(pages.map((p) => tour(t, p, who, rows)));
  await page.context().close();
}

await run('smoke', async (t) => {
  t.looked = 0;
  const rows = [];
  const began = performance.now();
  for (const file of readdirSync(join(import.meta.dirname, 'pages')).sort()) {
    const area = await import(`./pages/${file}`);
    if (area.seed) await area.seed(t);
    for (const p of area.default.filter((row) => !only || only.includes(row.name))) {
      const address = typeof p.path === 'function' ? p.path(t.ids) : p.path;
      if (!rows.some((r) => r.as === p.as && r.address === address)) rows.push({ ...p, address });
    }
  }
  const seeded = performance.now();
  for (const who of new Set(rows.map((p) => p.as))) {
    await visit(
      t,
      who,
      rows.filter((p) => p.as === who),
    );
  }
  const [seeds, looks] = [seeded - began, performance.now() - seeded].map((ms) => ms / 1000);
  const each = (looks / Math.max(1, t.looked)).toFixed(1);
  console.log(`what areas need: ${seeds.toFixed(0)} s; pages: ${looks.toFixed(0)} s, ${each} s for each`);
  console.log(`${t.looked} of ${rows.length} pages looked at`);
  if (rows.length < (only ? 1 : 60)) t.fault('smoke', `only ${rows.length} pages are known`);
});
