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
    name: 'the indexes of an array',
    as: 'engineer',
    path: '/jobs/new',
    act: async (h) => {
      const field = h.page.locator('#f-array');
      const own = h.lang === 'ar' ? '٠-١%١' : '0-1%1';
      await h.page.fill('#yaml', `name: swept-${h.lang}\nkind: noop\nspec: {}\n`);
      await field.fill('0..9');
      await h.press('submit.go');
      await h.sees(h.word('field.pattern'));
      h.must(await field.evaluate((e) => e === document.activeElement), 'the focus is elsewhere');
      h.expect(422);
      await field.fill('9-0');
      await h.press('submit.go');
      await h.page.locator('#f-array-help', { hasText: '(0)' }).waitFor(); // what the API says of it
      h.expect();
      await field.fill(own);
      h.must((await field.getAttribute('aria-invalid')) === 'false', 'what is no longer written is still refused');
      h.must((await h.page.locator('#call-cli').innerText()).includes("--array '0-1%1'"), 'the command makes one job');
      h.page.once('dialog', (d) => void d.accept());
      await h.page.reload();
      await h.page.waitForSelector('#yaml');
      h.same('what was typed', await field.inputValue(), own);
      await h.press('submit.go');
      await h.page.waitForURL(/\/arrays\/arr_[0-9a-f]{32}/);
      await h.page.goto(new URL('/jobs/new', h.page.url()).href);
      await h.page.waitForSelector('#yaml');
      h.same('what was sent', await field.inputValue(), '');
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
