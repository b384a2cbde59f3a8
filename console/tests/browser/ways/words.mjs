// SPDX-License-Identifier: Apache-2.0
// words.mjs - a page reads the words that it draws, in the language in use; a change of language never shows a key, however slow the words come.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { arabic, settled } from '../checks.mjs';
import { setPrefs } from '../platform.mjs';
import { word } from '../steps.mjs';

const AREAS = readdirSync(join(import.meta.dirname, '../../../src/locales/en')).map((f) => f.slice(0, -'.json'.length));

const PACK = /\/assets\/(en|ar)-([a-z]+)-[\w-]+\.js$/;
const SLOW = 600;

/** Every text that the page ever shows and that looks like a key: area.name, with an area of the catalogues. */
async function watchKeys(page) {
  await page.addInitScript((known) => {
    const key = new RegExp(`^(?:${known.join('|')})\\.[a-z]\\w*$`);
    globalThis.keysSeen = [];
    const look = (text) => key.test((text ?? '').trim()) && globalThis.keysSeen.push(text);
    new MutationObserver((all) => {
      for (const m of all) {
        if (m.type === 'characterData') look(m.target.textContent);
        for (const n of m.addedNodes) {
          const walk = document.createTreeWalker(n, NodeFilter.SHOW_TEXT);
          look(n.nodeType === Node.TEXT_NODE ? n.textContent : '');
          while (walk.nextNode()) look(walk.currentNode.textContent);
        }
      }
    }).observe(document, { childList: true, subtree: true, characterData: true });
  }, AREAS);
}

export async function wordWays(t) {
  const page = await t.open('admin');
  page.where = 'words';
  await watchKeys(page);
  const read = new Set();
  page.on('request', (r) => {
    const pack = PACK.exec(r.url());
    if (pack) read.add(`${pack[1]} ${pack[2]}`);
  });
  const must = (is, what) => is || t.fault(page.where, what);
  await setPrefs(page, { lang: 'en', theme: 'light' });
  read.clear();
  await page.goto(`${t.base}/jobs`);
  await settled(page);
  // The words of the login are read ahead, a while later.
  const own = [...read].filter((p) => p !== 'en door');
  must(own.join() === 'en work', `the list of jobs read ${own.join(', ')}`);

  await page.route(PACK, async (route) => {
    await new Promise((done) => setTimeout(done, SLOW));
    await route.continue();
  });
  await page.click('button.language');
  // While the Arabic words of the open page are on their way, another page is opened.
  await page.click('nav a[href="/tokens"]');
  await page.waitForURL(/\/tokens$/);
  await page.locator('#page-title', { hasText: word('ar', 'nav.tokens') }).waitFor();
  await settled(page);
  await arabic(t, page, page.where);
  must(read.has('ar people') && read.has('ar work'), 'the other language was shown before its words were there');
  must(!read.has('ar audit') && !read.has('ar zones'), 'words were read that no open page draws');
  await page.click('button.language');
  await page.click('nav a[href="/datasets"]');
  await page.waitForFunction(() => document.documentElement.lang === 'en' && location.pathname === '/datasets');
  await settled(page);
  const seen = await page.evaluate(() => globalThis.keysSeen);
  must(seen.length === 0, `keys instead of words: ${seen.slice(0, 5).join(', ')}`);
  await page.context().close();
}
