// SPDX-License-Identifier: Apache-2.0
// pages.mjs - every page of the console in both languages, light and dark, as the person who uses it.
//
//   FALAJ_BIN=build/asan/bin node tests/browser/pages.mjs [SHOTS]
//
// For each page: no breach of WCAG 2.2 AA that axe finds, none of the content security policy, no error on the console, no missing key,
// no request to another origin, nothing wider than the window at 1280 and at 390 pixels, and on Arabic pages no run of English words.
// AREA=jobs,audit looks only at the pages of pages/jobs.mjs and pages/audit.mjs, PAGES=job,key only at these, LOOKS=ar-dark only so. Three more
// looks in English: at 200 % (zoom), with colours forced by the system (forced), and compact.
//
// A row of pages/AREA.mjs: { name, path: text or (ids) => text, as: person, wait: selector, expected: [codes], act: async (page) }.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, arabic, fits, settled } from './checks.mjs';
import { run, setPrefs } from './platform.mjs';

const list = (name) => process.env[name]?.split(',');
const LOOKS = list('LOOKS') ?? ['en-light', 'en-dark', 'ar-light', 'ar-dark', 'en-zoom', 'en-forced', 'en-compact'];
// What a browser makes of a window of 1280 by 800 at 200 %; colours that the reader's system forces on every page.
const SPECIAL = {
  zoom: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  forced: { forcedColors: 'active' },
  compact: {},
};
const areas = readdirSync(join(import.meta.dirname, 'pages'))
  .sort()
  .filter((f) => f.endsWith('.mjs'))
  .filter((f) => !list('AREA') || list('AREA').includes(f.slice(0, -4)));

/** The looks that are no colours: only what is too wide and what goes wrong is judged. */
async function special(t, rows) {
  let n = 0;
  for (const look of LOOKS.filter((l) => l.split('-')[1] in SPECIAL)) {
    const [lang, kind] = look.split('-');
    for (const who of new Set(rows.map((p) => p.as))) {
      const page = await t.open(who === 'nobody' ? undefined : who, SPECIAL[kind]);
      await page.goto(`${t.base}/falaj.svg`);
      await setPrefs(page, { lang, theme: 'light', density: kind === 'compact' ? 'compact' : 'normal' });
      for (const p of rows.filter((r) => r.as === who)) {
        page.where = `${p.name} ${look}`;
        page.expected = p.expected ?? [];
        await page.goto(t.base + (typeof p.path === 'function' ? p.path(t.ids) : p.path), { waitUntil: 'load' });
        await settled(page, p.wait);
        if (p.act && kind !== 'zoom') await p.act(page, t);
        await fits(t, page, page.where);
        await page.screenshot({ path: join(t.shots, `${p.name}-${look}.png`) });
        n++;
      }
      await page.context().close();
    }
  }
  return n;
}

await run('pages', async (t) => {
  const rows = [];
  for (const file of areas) {
    const area = await import(`./pages/${file}`);
    if (area.seed) await area.seed(t);
    rows.push(...area.default.filter((p) => !list('PAGES') || list('PAGES').includes(p.name)));
  }
  let n = 0;
  n += await special(t, rows);
  for (const who of new Set(rows.map((p) => p.as))) {
    const page = await t.open(who === 'nobody' ? undefined : who);
    for (const look of LOOKS.filter((l) => !(l.split('-')[1] in SPECIAL))) {
      const [lang, theme] = look.split('-');
      await page.goto(`${t.base}/falaj.svg`);
      await setPrefs(page, { lang, theme });
      for (const p of rows.filter((r) => r.as === who)) {
        page.where = `${p.name} ${look}`;
        page.expected = p.expected ?? [];
        const path = typeof p.path === 'function' ? p.path(t.ids) : p.path;
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(t.base + path, { waitUntil: 'load' });
        await settled(page, p.wait);
        if (p.act) await p.act(page, t);
        await accessible(t, page, page.where);
        if (lang === 'ar') await arabic(t, page, page.where);
        await fits(t, page, page.where);
        await page.screenshot({ path: join(t.shots, `${p.name}-${look}.png`) });
        n++;
        if (theme !== 'light') continue;
        await page.setViewportSize({ width: 390, height: 800 });
        if (who !== 'nobody') await page.waitForSelector('.pf-v6-c-page__sidebar.pf-m-expanded', { state: 'detached' });
        await page.waitForTimeout(100);
        await fits(t, page, `${page.where} 390`);
        await page.screenshot({ path: join(t.shots, `${p.name}-${look}-390.png`) });
      }
    }
    await page.context().close();
  }
  console.log(`${n} pages looked at`);
  if (n === 0) t.fault('pages', 'none was looked at');
});
