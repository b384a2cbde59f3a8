// SPDX-License-Identifier: Apache-2.0
// checks.mjs - what is judged on every page: accessibility, width, language.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const COLOURS = ['color-contrast', 'link-in-text-block'];
/** Of any level: what is no breach of WCAG and only good practice too. */
export const EVERY_TAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** The page is there: its title, no skeleton, its fonts. */
export async function settled(page, wait = '#page-title') {
  await page.waitForSelector(wait, { timeout: 60_000 });
  await page.waitForFunction(
    () => document.querySelector('[role=status].waiting,.pf-v6-c-skeleton') === null,
    undefined,
    { timeout: 60_000 },
  );
  await page.evaluate(() => document.fonts.ready);
}

/** What was changed is on the screen, and what follows from its size has been measured. */
export const drawn = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(() => done()));
  });

const PATIENCE_MS = 2000;
/** Nothing is wider than the window, or soon no longer is (charts follow a new size in their own time); what scrolls inside a box of its own
 *  may be. Names the innermost thing that sticks out. */
export async function fits(t, page, where, inside = '.pf-v6-c-page__main') {
  for (const head of await cutHeads(page)) t.fault(where, `the head of a column is cut: ${head}`);
  let found = await wider(page, inside);
  for (const end = Date.now() + PATIENCE_MS; found && Date.now() < end; found = await wider(page, inside))
    await drawn(page);
  if (found) t.fault(where, `${found.by} px wider than the window: ${found.what}`);
}
/** Heads of tables that end in an ellipsis: a word that another language needs more room for. */
const cutHeads = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('thead th')]
      .filter((e) => e.checkVisibility() && getComputedStyle(e).textOverflow === 'ellipsis')
      .filter((e) => e.scrollWidth > e.clientWidth + 1)
      .map((e) => e.textContent.trim()),
  );
/** Nothing in the head of the page lies on another thing, is cut by the window or by its own box. */
export async function headFits(t, page, where) {
  const found = await page.evaluate(() => {
    const head = document.querySelector('.pf-v6-c-masthead');
    if (!head) return null;
    const seen = [...head.querySelectorAll('button, .brand, .who > *, .connection, .proof-chip')].filter(
      (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0 && !e.parentElement.closest('button'),
    );
    const name = (e) => e.getAttribute('aria-label') ?? e.textContent.trim().slice(0, 30);
    for (const [i, a] of seen.entries()) {
      const r = a.getBoundingClientRect();
      if (r.left < -0.5 || r.right > innerWidth + 0.5) return `${name(a)} stands outside the window`;
      for (const b of seen.slice(i + 1)) {
        if (a.contains(b) || b.contains(a)) continue;
        const s = b.getBoundingClientRect();
        const over = Math.min(r.right, s.right) - Math.max(r.left, s.left);
        const down = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
        if (over > 1 && down > 1) return `${name(a)} lies on ${name(b)}`;
      }
    }
    return null;
  });
  if (found) t.fault(where, `the head of the page: ${found}`);
}
// The boxes around a page clip, so nothing scrolls that could be measured: what stands beyond the window is looked for itself. What lies in
// a box that scrolls by itself, or that is drawn for a screen reader alone, may.
async function wider(page, inside) {
  return page.evaluate((selector) => {
    const root = document.documentElement;
    const main = [...document.querySelectorAll(selector)].at(-1) ?? document.body;
    const held = (e) => {
      for (let p = e.parentElement; p && p !== main; p = p.parentElement) {
        const s = getComputedStyle(p);
        if (['auto', 'scroll', 'hidden'].includes(s.overflowX) || s.clipPath !== 'none' || s.clip !== 'auto')
          return true;
      }
      return false;
    };
    const box = main.getBoundingClientRect();
    const [left, right] = [Math.max(0, box.left), Math.min(root.clientWidth, box.right)];
    const out = [main, ...main.querySelectorAll('*')].filter((e) => {
      const r = e.getBoundingClientRect();
      if (e.matches('.pf-v6-c-popover__arrow')) return false;
      if (r.width <= 1 || (r.right <= right + 0.5 && r.left >= left - 0.5)) return false;
      const s = getComputedStyle(e);
      return s.visibility !== 'hidden' && s.clip === 'auto' && s.clipPath === 'none' && !held(e);
    });
    const by = Math.max(
      root.scrollWidth - root.clientWidth,
      ...out.map((e) => {
        const r = e.getBoundingClientRect();
        return Math.ceil(Math.max(r.right - right, left - r.left));
      }),
    );
    if (by <= 0) return null;
    const last = out.filter((e) => !out.some((o) => o !== e && e.contains(o)))[0];
    return { by, what: last ? last.outerHTML.slice(0, 140) : '' };
  }, inside);
}

/**
 * coloursOnly: of a page that was judged whole and has only been given other colours since. impacts: only faults of these are
 * told.
 */
export async function accessible(t, page, where, coloursOnly = false, impacts = undefined, tags = TAGS) {
  // Half a megabyte of script: once for each document.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const found = await page.evaluate(
    (runOnly) =>
      globalThis.axe.run(document, { runOnly, resultTypes: ['violations'], preload: false, reporter: 'no-passes' }),
    coloursOnly ? { type: 'rule', values: COLOURS } : { type: 'tag', values: tags },
  );
  for (const v of found.violations.filter((f) => !impacts || impacts.includes(f.impact))) {
    const nodes = v.nodes.slice(0, 2).map((n) => `${n.target} ${n.html.slice(0, 160)}`);
    t.fault(where, `axe ${v.id}: ${nodes.join(' | ')}`);
  }
}

/** Runs of two English words on an Arabic page, but for what is marked as not to be translated or as another language. */
export async function arabic(t, page, where) {
  const runs = await page.evaluate(() => {
    const out = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const el = walk.currentNode.parentElement;
      if (!el || el.closest('[translate=no],[lang=en],bdi,script,style,input,textarea,pre,option[lang]')) continue;
      // What a sentence isolates (U+2068 to U+2069) is a name that somebody gave.
      const text = (walk.currentNode.textContent ?? '').replaceAll(/\u2068[^\u2069]*\u2069/g, '');
      const hit = /[A-Za-z]{2,}(\s+[A-Za-z]{2,}){1,}/.exec(text);
      if (hit && el.checkVisibility()) out.push(hit[0]);
    }
    return out;
  });
  for (const text of new Set(runs)) t.fault(where, `English on an Arabic page: ${text}`);
}
