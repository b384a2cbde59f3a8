// SPDX-License-Identifier: Apache-2.0
// both.mjs - what pages say and do for each kind of person, in English and in Arabic: the rows of both/AREA.mjs.
// ONLY=names LANGS=ar runs some.
//
// A row: { name, as, path, act(s, t) }; s is a hand (hand.mjs) in the language of the turn, s.must(is, what) a fault
// where it is not so.
// seed(t) of an area makes what its rows need, once.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { arabic, settled } from './checks.mjs';
import { Hand } from './hand.mjs';
import { run, setPrefs } from './platform.mjs';
import { list } from './steps.mjs';

const only = process.env.ONLY?.split(',');

await run('both', async (t) => {
  const rows = [];
  for (const file of readdirSync(join(import.meta.dirname, 'both')).sort()) {
    const area = await import(`./both/${file}`);
    const own = area.default.filter((r) => !only || only.includes(r.name) || only.includes(file.slice(0, -4)));
    if (own.length > 0) await area.seed?.(t);
    rows.push(...own);
  }
  for (const who of new Set(rows.map((r) => r.as))) {
    const h = await Hand.of(t, who);
    for (const lang of list('LANGS', ['en', 'ar']))
      for (const row of rows.filter((r) => r.as === who)) {
        h.lang = lang;
        h.must = (is, what) => is || h.fault(what);
        h.page.where = `${row.name} ${lang}`;
        try {
          await h.page.goto(`${t.base}/falaj.svg`);
          await setPrefs(h.page, { lang, theme: 'light' });
          h.page.expected = row.expected ?? [];
          await h.page.goto(t.base + (typeof row.path === 'function' ? row.path(t.ids) : row.path));
          await settled(h.page);
          await row.act(h, t);
          if (lang === 'ar') await arabic(t, h.page, h.page.where);
        } catch (e) {
          h.fault(e instanceof Error ? (e.stack ?? e.message).split('\n').slice(0, 6).join('\n') : String(e));
          const file = `both-${row.name}-${lang}.png`.replaceAll(/[^a-z0-9.-]+/gi, '-');
          await h.page.screenshot({ path: join(t.shots, file) }).catch(() => undefined);
        }
      }
    await h.page.context().close();
  }
  console.log(`${rows.length} rows, each in ${list('LANGS', ['en', 'ar']).length} languages`);
});
