// SPDX-License-Identifier: Apache-2.0
// paper.mjs - pages on paper: what they say and whose they are, black on white from any theme, without navigation, nothing cut off.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settled } from '../checks.mjs';
import { setPrefs } from '../platform.mjs';
import { word } from '../steps.mjs';

/** What stands on the sheet: seen text, the darkest ink on the page's ground, and the widest thing against the sheet. */
function sheet() {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true });
  const ink = getComputedStyle(document.querySelector('#page-title'))
    .color.match(/[\d.]+/g)
    .map(Number);
  const wide = [...document.querySelectorAll('.pf-v6-c-page__main *')].filter(seen).filter((e) => {
    const r = e.getBoundingClientRect();
    return r.width > 0 && (r.right > innerWidth + 1 || r.left < -1);
  });
  return {
    text: document.body.innerText,
    nav: [...document.querySelectorAll('nav, .pf-v6-c-masthead, .page-acts, .parts')].filter(seen).length,
    dark: Math.max(...ink.slice(0, 3)) < 100,
    wide: wide.at(-1)?.outerHTML.slice(0, 160) ?? '',
  };
}

export async function paperWays(t) {
  const pages = [
    ['compliance', 'summary', '/audit/summary?when=days30', 'table tbody tr'],
    ['compliance', 'evidence', '/evidence', 'table tbody tr'],
    ['engineer', 'job', `/jobs/${t.ids.job}`, '.pairs dd'],
    ['compliance', 'passport', `/datasets/${t.ids.set}/passport`, 'tbody tr:not(.no-print)'],
  ];
  for (const [as, name, path, rows] of pages)
    for (const [lang, theme] of [
      ['en', 'dark'],
      ['ar', 'light'],
    ]) {
      const page = await t.open(as);
      page.where = `${name} on paper, ${lang} ${theme}`;
      const must = (is, what) => is || t.fault(page.where, what);
      await setPrefs(page, { lang, theme });
      await page.goto(t.base + path);
      await settled(page);
      if (name === 'summary') {
        const exports = () =>
          t.tenant('GET', '/v1/audit/events?action=audit.export&page_size=200').then((p) => p.data.length);
        const before = await exports();
        const pressed = page.locator('.sheet button').first();
        await pressed.waitFor();
        must((await exports()) === before, 'was recorded as an export before anything was verified');
        await pressed.click();
        await page.waitForSelector('.verdict dl', { timeout: 30_000 });
      }
      if (name === 'passport') await page.waitForSelector('.seal.is-verified', { timeout: 30_000 });
      const shown = await page.locator(rows).allInnerTexts();
      // A4 less its margins, at 96 dots an inch.
      await page.setViewportSize({ width: 688, height: 1017 });
      await page.emulateMedia({ media: 'print' });
      await page
        .waitForFunction(() => !document.documentElement.classList.contains('pf-v6-theme-dark'), undefined, {
          timeout: 5000,
        })
        .catch(() => must(false, 'keeps the dark theme'));
      await page.waitForTimeout(300);
      const on = await page.evaluate(sheet);
      const flat = (text) => text.replaceAll(/\s+/g, ' ').trim();
      const text = flat(on.text);
      for (const row of shown.filter((r) => r.trim() !== ''))
        for (const cell of row.split(/\t|\n/).map(flat))
          must(text.includes(cell), `does not say: ${cell.slice(0, 80)}`);
      must(shown.length > 0, 'has no rows');
      must(on.nav === 0, 'has navigation or actions');
      must(on.dark, 'its ink is not dark');
      must(on.wide === '', `is cut: ${on.wide}`);
      must(
        text.startsWith(word(lang, 'shell.product')) && text.includes(t.people[as].name),
        'does not say whose it is',
      );
      if (name === 'summary') must(text.includes(word(lang, 'audit.summary')), 'has no title');
      await page.emulateMedia({ media: null });
      const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
      writeFileSync(join(t.shots, `paper-${name}-${lang}.pdf`), pdf);
      const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      if (name === 'passport') must(sheets === 1, `takes ${sheets} sheets`);
      must(
        (await page.evaluate(() => document.documentElement.classList.contains('pf-v6-theme-dark'))) ===
          (theme === 'dark'),
        'the theme of the screen did not come back',
      );
      await page.context().close();
    }
}
