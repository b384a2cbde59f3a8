// SPDX-License-Identifier: Apache-2.0
// typed.mjs - what somebody has typed is not lost: not by another page, a reload, an escape, nor by a dead network.
import { settled } from '../checks.mjs';
import { setPrefs } from '../platform.mjs';

const thought = (h) => `# half a thought ${h.lang}`;

export default [
  {
    name: 'a draft of a request',
    as: 'engineer',
    path: '/jobs/new',
    act: async (h) => {
      const text = () => h.page.inputValue('#yaml');
      const first = await text();
      await h.page.fill('#yaml', `${first}${thought(h)}\n`);
      await h.page.click('nav a[href="/datasets"]');
      await h.page.waitForURL(/\/datasets/);
      await h.page.goBack();
      await h.page.waitForSelector('#yaml');
      h.must((await text()).includes(thought(h)), 'leaving the page lost it');
      h.page.once('dialog', (d) => void d.accept());
      await h.page.reload();
      await h.page.waitForSelector('#yaml');
      h.must((await text()).includes(thought(h)), 'loading the page anew lost it');
      await h.press('submit.keptDrop');
      h.must((await text()) === first, 'what was given up is still there');
    },
  },
  {
    name: 'a dialog asks before it goes',
    as: 'engineer',
    path: '/datasets?new=dataset',
    act: async (h) => {
      await h.put('col.short', 'half-typed');
      await h.page.keyboard.press('Escape');
      await h.sees(h.word('unsaved.title'));
      await h.press('unsaved.stay');
      const field = h.field(h.word('col.short'), { inside: h.dialog });
      h.same('what was typed', await field.inputValue(), 'half-typed');
      await h.page.keyboard.press('Escape');
      await h.press('unsaved.leave');
      await h.gone();
    },
  },
  {
    name: 'a click on a dead network',
    as: 'engineer',
    path: '/jobs',
    act: async (h, t) => {
      const page = await t.open('engineer', { serviceWorkers: 'allow' });
      page.where = h.page.where;
      await setPrefs(page, { lang: h.lang, theme: 'light' });
      await page.goto(`${t.base}/jobs`);
      await settled(page);
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
      page.offline = true;
      await page.context().setOffline(true);
      await page.click('nav a[href="/datasets"]');
      await page.waitForSelector('.failure.offline');
      h.must(await page.isVisible('.pf-v6-c-masthead'), 'the shell is gone');
      await page.getByText(h.word('state.offlineDo')).first().waitFor();
      await page.context().setOffline(false);
      await page.waitForSelector('tr[data-row]', { timeout: 30_000 });
      await page.context().close();
    },
  },
];
