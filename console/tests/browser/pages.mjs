// SPDX-License-Identifier: Apache-2.0
// pages.mjs - every page of the console in both languages, light and dark, as the person who uses it.
//
//   FALAJ_BIN=build/asan/bin node tests/browser/pages.mjs [SHOTS]
//
// For each page: no breach of WCAG 2.2 AA that axe finds, none of the content security policy, no error on the console, no missing key,
// no request to another origin, nothing wider than the window at 1280 and at 390 pixels, and on Arabic pages no run of English words.
// AREA=jobs,audit looks only at the pages of pages/jobs.mjs and pages/audit.mjs, PAGES=job,key only at these, LOOKS=ar-dark only so.
// With the light look in English goes the window at 200 %, with the dark one the compact tables and, after it, colours forced by the system.
//
// A row of pages/AREA.mjs: { name, path: text or (ids) => text, as: person, wait: selector, expected: [codes], act: async (page) }.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, arabic, fits, settled } from './checks.mjs';
import { run, setPrefs } from './platform.mjs';

const list = (name) => process.env[name]?.split(',');
const LOOKS = list('LOOKS') ?? ['en-light', 'en-dark', 'ar-light', 'ar-dark'];
// A window of 1280 by 800 pixels at 200 % has this many of CSS.
const ZOOMED = { width: 640, height: 400 };
const areas = readdirSync(join(import.meta.dirname, 'pages'))
  .sort()
  .filter((f) => f.endsWith('.mjs'))
  .filter((f) => !list('AREA') || list('AREA').includes(f.slice(0, -4)));

const shot = (t, page, name, look) => page.screenshot({ path: join(t.shots, `${name}-${look}.png`) });

async function narrow(t, page, p, look, size, name) {
  await page.setViewportSize(size);
  if (p.as !== 'nobody') await page.waitForSelector('.pf-v6-c-page__sidebar.pf-m-expanded', { state: 'detached' });
  await page.waitForTimeout(100);
  await fits(t, page, `${page.where} ${name}`);
  await shot(t, page, p.name, `${look}-${name}`);
}

async function visit(t, page, p, look) {
  const [lang, theme] = look.split('-');
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
  await shot(t, page, p.name, look);
  if (look === 'en-light') await narrow(t, page, p, look, ZOOMED, 'zoom');
  if (theme === 'light') await narrow(t, page, p, look, { width: 390, height: 800 }, '390');
  if (look !== 'en-dark') return;
  await page.emulateMedia({ forcedColors: 'active' });
  await fits(t, page, `${page.where} forced`);
  await shot(t, page, p.name, `${look}-forced`);
  await page.emulateMedia({ forcedColors: 'none' });
}

/** All pages of each person in one look. */
async function tour(t, rows, look) {
  const [lang, theme] = look.split('-');
  for (const who of new Set(rows.map((p) => p.as))) {
    const page = await t.open(who === 'nobody' ? undefined : who);
    await page.goto(`${t.base}/falaj.svg`);
    await setPrefs(page, { lang, theme, density: look === 'en-dark' ? 'compact' : 'normal' });
    for (const p of rows.filter((r) => r.as === who)) {
      await visit(t, page, p, look).catch((e) => t.fault(page.where, e instanceof Error ? e.message : String(e)));
      t.looked = (t.looked ?? 0) + 1;
    }
    await page.context().close();
  }
}

await run('pages', async (t) => {
  const rows = [];
  for (const file of areas) {
    const area = await import(`./pages/${file}`);
    if (area.seed) await area.seed(t);
    rows.push(...area.default.filter((p) => !list('PAGES') || list('PAGES').includes(p.name)));
  }
  // Two at a time: while one page waits for its answers, the other one is judged.
  const waiting = [...LOOKS];
  const some = async () => {
    for (let look = waiting.shift(); look; look = waiting.shift()) await tour(t, rows, look);
  };
  await Promise.all([some(), some()]);
  console.log(`${t.looked ?? 0} pages looked at`);
  if (!t.looked) t.fault('pages', 'none was looked at');
});
