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

async function tour(t, who, rows) {
  const page = await t.open(who === 'nobody' ? undefined : who);
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang: 'en', theme: 'light' });
  for (let p = rows.shift(); p; p = rows.shift()) {
    page.where = p.name;
    page.expected = p.expected ?? [];
    try {
      await page.goto(t.base + p.address);
      await settled(page, p.act ? '#page-title, .login-card form' : p.wait);
      await accessible(t, page, p.name, false, ['serious', 'critical']);
      t.looked++;
    } catch (e) {
      t.fault(p.name, e instanceof Error ? e.message : String(e));
    }
  }
  await page.context().close();
}

await run('smoke', async (t) => {
  t.looked = 0;
  const rows = [];
  for (const file of readdirSync(join(import.meta.dirname, 'pages')).sort()) {
    const area = await import(`./pages/${file}`);
    if (area.seed) await area.seed(t);
    for (const p of area.default.filter((row) => !only || only.includes(row.name))) {
      const address = typeof p.path === 'function' ? p.path(t.ids) : p.path;
      if (!rows.some((r) => r.as === p.as && r.address === address)) rows.push({ ...p, address });
    }
  }
  for (const who of new Set(rows.map((p) => p.as))) {
    const queue = rows.filter((p) => p.as === who);
    await Promise.all(Array.from({ length: Math.min(WINDOWS, queue.length) }, () => tour(t, who, queue)));
  }
  console.log(`${t.looked} of ${rows.length} pages looked at`);
  if (rows.length < (only ? 1 : 60)) t.fault('smoke', `only ${rows.length} pages are known`);
});
