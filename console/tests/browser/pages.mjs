// SPDX-License-Identifier: Apache-2.0
// pages.mjs - every page of the console in both languages, light and dark, as the person who uses it.
//
//   FALAJ_BIN=build/asan/bin node tests/browser/pages.mjs [SHOTS]
//
// For each page: no breach of WCAG 2.2 AA that axe finds, none of the content security policy, no error on the console, no missing key,
// no request to another origin, nothing wider than the window at 390, 768, 1024, 1280, 1440 and 2560 pixels, nothing in the head
// on another thing, and on Arabic pages no run of English words.
// AREA=jobs,audit looks only at the pages of pages/jobs.mjs and pages/audit.mjs, PAGES=job,key only at these, LOOKS=ar-dark only so.
// ALL_SHOTS=1 makes pictures of the narrow and the forced looks too.
// With the light look in English goes the window at 200 %, with the dark one the compact tables and, after it, colours forced by the system.
//
// A row of pages/AREA.mjs: { name, path: text or (ids) => text, as: person, wait: selector, expected: [codes], act: async (page), fresh }.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, arabic, drawn, fits, headFits, settled } from './checks.mjs';
import { run, setPrefs } from './platform.mjs';
import { word } from './steps.mjs';

const list = (name) => process.env[name]?.split(',');
// In this order each look is one change from the one before it, and the last is that of the first narrow window.
const LOOKS = ['en-light', 'en-dark', 'ar-dark', 'ar-light'].filter((l) => (list('LOOKS') ?? [l]).includes(l));
// A window of 1280 by 800 pixels at 200 % has this many of CSS.
const ZOOMED = { width: 640, height: 400 };
const areas = readdirSync(join(import.meta.dirname, 'pages'))
  .sort()
  .filter((f) => f.endsWith('.mjs'))
  .filter((f) => !list('AREA') || list('AREA').includes(f.slice(0, -4)));

const WIDE = { width: 1280, height: 800 };
/** From the widest: the last is a phone's. */
const WIDTHS = [2560, 1440, 1024, 768, 390];
/** Where the menu is put away by itself. */
const FOLDS = 1200;
const ALL_SHOTS = process.env.ALL_SHOTS === '1';
const shot = (t, page, name, look) => page.screenshot({ path: join(t.shots, `${name}-${look}.png`) });

const prefsOf = (look) => {
  const [lang, theme] = look.split('-');
  return { lang, theme, density: look === 'en-dark' ? 'compact' : 'normal' };
};

/** As if the reader had chosen it in another tab: the page follows without being loaded again. Its words come after its direction, all at once:
 *  those of the link over the shell, or where nobody is signed in of the title, say that they are there. */
async function wear(page, look) {
  if (page.look === look) return;
  const { lang, theme } = prefsOf(look);
  await setPrefs(page, prefsOf(look));
  await page.evaluate(() => dispatchEvent(new StorageEvent('storage', { key: 'falaj.prefs' })));
  await page.waitForFunction(
    ([l, dark, skip, product]) => {
      const html = document.documentElement;
      const link = document.querySelector('.pf-v6-c-skip-to-content');
      if (html.lang !== l || html.classList.contains('pf-v6-theme-dark') !== dark) return false;
      return link ? link.textContent.trim() === skip : document.title.endsWith(` ${product}`);
    },
    [lang, theme === 'dark', word(lang, 'shell.skip'), word(lang, 'shell.product')],
    { timeout: 30_000 },
  );
  page.look = look;
  await drawn(page);
  await settled(page, 'body');
}

async function open(t, page, p) {
  await page.setViewportSize(WIDE);
  await page.goto(t.base + (typeof p.path === 'function' ? p.path(t.ids) : p.path), { waitUntil: 'load' });
  await settled(page, p.wait);
  if (p.act) await p.act(page, t);
}

async function judge(t, page, p, look) {
  page.where = `${p.name} ${look}`;
  // The page was not loaded again since the other look in this language: nothing but its colours is new.
  const first = LOOKS.find((l) => l.startsWith(look.slice(0, 2)));
  await accessible(t, page, page.where, look !== first);
  if (look.startsWith('ar')) await arabic(t, page, page.where);
  await fits(t, page, page.where);
  await shot(t, page, p.name, look);
  if (look !== 'en-dark') return;
  await page.emulateMedia({ forcedColors: 'active' });
  await fits(t, page, `${page.where} forced`);
  if (ALL_SHOTS) await shot(t, page, p.name, `${look}-forced`);
  await page.emulateMedia({ forcedColors: 'none' });
}

async function narrow(t, page, p, look, size, name) {
  await page.setViewportSize(size);
  if (p.as !== 'nobody' && size.width < FOLDS)
    await page.waitForSelector('.pf-v6-c-page__sidebar.pf-m-expanded', { state: 'detached' });
  await drawn(page);
  await fits(t, page, `${p.name} ${look} ${name}`);
  await headFits(t, page, `${p.name} ${look} ${name}`);
  if (ALL_SHOTS) await shot(t, page, p.name, `${look}-${name}`);
}

/** One page in all looks. fresh: what its act opens does not outlive a change of the window, so it is opened anew for each. */
async function visit(t, page, p) {
  page.where = `${p.name} ${LOOKS[0]}`;
  page.expected = p.expected ?? [];
  await setPrefs(page, prefsOf(LOOKS[0]));
  page.look = LOOKS[0];
  await open(t, page, p);
  for (const look of LOOKS) {
    if (look !== LOOKS[0]) {
      await wear(page, look);
      if (p.fresh) await open(t, page, p);
    }
    await judge(t, page, p, look);
  }
  for (const look of ['ar-light', 'en-light'].filter((l) => LOOKS.includes(l))) {
    await wear(page, look);
    if (look === 'en-light') await narrow(t, page, p, look, ZOOMED, 'zoom');
    for (const width of WIDTHS) await narrow(t, page, p, look, { width, height: 800 }, String(width));
  }
}

/** Pages of one person by one browser window, from the common queue. */
async function tour(t, who, rows) {
  const page = await t.open(who === 'nobody' ? undefined : who);
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang: 'en', theme: 'light' });
  page.expected = [401, 403, 404];
  await page.goto(`${t.base}/`);
  await settled(page, 'body');
  for (let p = rows.shift(); p; p = rows.shift()) {
    await visit(t, page, p).catch((e) => t.fault(page.where, e instanceof Error ? e.message : String(e)));
    t.looked = (t.looked ?? 0) + LOOKS.length;
  }
  await page.context().close();
}

await run('pages', async (t) => {
  const rows = [];
  for (const file of areas) {
    const area = await import(`./pages/${file}`);
    if (area.seed) await area.seed(t);
    rows.push(...area.default.filter((p) => !list('PAGES') || list('PAGES').includes(p.name)));
  }
  for (const who of new Set(rows.map((p) => p.as))) {
    const queue = rows.filter((p) => p.as === who);
    // Two at a time: while one page waits for its answers, the other one is judged.
    await Promise.all([tour(t, who, queue), ...(queue.length > 3 ? [tour(t, who, queue)] : [])]);
  }
  console.log(`${t.looked ?? 0} pages looked at`);
  if (!t.looked) t.fault('pages', 'none was looked at');
});
