// SPDX-License-Identifier: Apache-2.0
// shell.mjs - ways through lists, the stream, forms and the palette.
import { join } from 'node:path';
import { accessible, settled } from '../checks.mjs';
import { setPrefs, until } from '../platform.mjs';
import { word } from '../steps.mjs';
import { groups } from './groups.mjs';

const LONG = { hidden: [256, 256], epochs: 1000, seed: 3 };
const train = (t, name, spec = {}) =>
  t.tenant('POST', '/v1/jobs', {
    name,
    kind: 'train',
    spec: { dataset_id: t.ids.set, hidden: [8], epochs: 1, ...spec },
  });
const rowOf = (page, name) => page.locator('tr[data-row]', { hasText: name });
const must = (t, page, is, what) => is || t.fault(page.where, what);

/** What is submitted elsewhere comes by the one stream of the tab; the rows stand until they are asked to move. */
async function stream(t, page) {
  page.where = 'stream';
  let streams = 0,
    open = 0;
  page.on('request', (r) => {
    if (new URL(r.url()).pathname !== '/v1/events') return;
    streams++;
    open++;
  });
  for (const end of ['requestfinished', 'requestfailed'])
    page.on(end, (r) => void (new URL(r.url()).pathname === '/v1/events' && open--));
  await page.goto(`${t.base}/jobs`);
  await settled(page);
  await page.waitForSelector('.connection.live');
  await page.waitForTimeout(1500);
  const first = await page.locator('tr[data-row]').first().innerText();
  await train(t, 'by the stream');
  await page.waitForSelector('.new-bar', { timeout: 30_000 });
  must(
    t,
    page,
    (await page.locator('tr[data-row]').first().innerText()).split('\n')[0] === first.split('\n')[0],
    'rows moved',
  );
  await page.screenshot({ path: join(t.shots, 'new-bar.png') });
  await page.click('.new-bar');
  await rowOf(page, 'by the stream').waitFor();
  must(t, page, streams === 1, `${streams} streams for one page`);
  await rowOf(page, 'by the stream').locator('a').first().click();
  await page.waitForURL(/\/jobs\/job_/);
  await page.waitForTimeout(1000);
  must(t, page, open <= 1, `${open} streams open at once`);
}

async function lost(t, page) {
  page.where = 'lost connection';
  await page.goto(`${t.base}/jobs`);
  await settled(page);
  await page.waitForSelector('.connection.live');
  page.offline = true;
  await page.context().setOffline(true);
  await page.waitForSelector('.connection.offline', { timeout: 30_000 });
  await page.screenshot({ path: join(t.shots, 'offline.png') });
  await train(t, 'while away');
  await page.context().setOffline(false);
  await page.waitForSelector('.connection.live', { timeout: 30_000 });
  await page.waitForSelector('.new-bar', { timeout: 30_000 });
  page.offline = false;
}

async function bulk(t, page) {
  page.where = 'bulk';
  const made = [];
  for (const name of ['long one', 'long two', 'long three']) made.push(await train(t, name, LONG));
  await page.goto(`${t.base}/jobs?q=long`);
  await rowOf(page, 'long three').waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.waitForSelector('.bulk-bar');
  must(t, page, (await page.locator('td.choose input:checked').count()) === 2, 'the keys did not choose two rows');
  await page.locator('th.choose input').click();
  await page.locator('.bulk-bar .pf-m-danger').click();
  await page.locator('[role=dialog] .pf-m-danger').click();
  await page.waitForSelector('.bulk-told');
  await accessible(t, page, page.where);
  await page.screenshot({ path: join(t.shots, 'bulk.png') });
  await until('cancelled', async () => {
    const states = await Promise.all(made.map(async (j) => (await t.tenant('GET', `/v1/jobs/${j.job_id}`)).state));
    return states.every((s) => s === 'CANCELLED');
  });
}

async function kept(t, page) {
  page.where = 'kept view';
  await page.goto(`${t.base}/jobs?created_by=`);
  await settled(page);
  await page.click('.chip-done');
  await page.waitForURL(/group=done/);
  await page.click('.columns-button');
  await page.locator('#column-zone').uncheck();
  await page.locator('#column-priority').check();
  await page.keyboard.press('Escape');
  await page.waitForSelector('.columns-list', { state: 'detached' });
  const inPlace = await page.evaluate(
    () => document.querySelector('#main').getBoundingClientRect().right > innerWidth - 100,
  );
  must(t, page, inPlace, 'the page was scrolled aside');
  await page.click('.views-button');
  await page.locator('[role=menuitem]').first().click();
  await page.fill('#f-name', 'done ones');
  await page.press('#f-name', 'Enter');
  await page.waitForSelector('[role=dialog]', { state: 'detached' });
  await page.goto(`${t.base}/jobs`);
  await settled(page);
  const heads = await page.locator('thead th').allInnerTexts();
  must(t, page, heads.includes('Priority') && !heads.includes('Zone'), `columns are ${heads}`);
  await page.click('.views-button');
  await page.locator('[role=menuitem]', { hasText: 'done ones' }).click();
  await page.waitForURL(/group=done/);
  must(t, page, page.url().includes('cols='), 'the shared address lacks the columns');
}

/** Another administrator changes the budget while the form stands open. */
async function conflict(t, admin) {
  admin.where = 'conflict';
  const budget = await t.tenant('POST', '/v1/budgets', {
    name: 'team',
    measure: 'money',
    currency: 'AED',
    amount: 100_000,
    period: 'month',
    warn_percent: [80],
  });
  const path = `/v1/budgets/${budget.budget_id}`;
  await admin.goto(`${t.base}/quotas?tab=budgets`);
  await rowOf(admin, 'team').locator('button').first().click();
  await admin.fill('#f-amount', '3000');
  const changed = await fetch(new URL(path, t.base), {
    method: 'PATCH',
    headers: { authorization: `Bearer ${t.tenantToken}`, 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ amount: 200_000 }),
  });
  if (!changed.ok) throw new Error(`the budget was not changed: ${changed.status}`);
  admin.expected = [412];
  await admin.locator('[role=dialog] button[type=submit]').click();
  await admin.waitForSelector('.conflict');
  const text = await admin.innerText('.conflict');
  for (const n of ['1000', '2000', '3000']) must(t, admin, text.includes(n), `${n} is not told: ${text}`);
  const by = await admin.innerText('.conflict .changed-by');
  const who = (await t.tenant('GET', '/v1/me')).name;
  must(
    t,
    admin,
    by.startsWith('Changed by ') && (by.includes(who) || by.includes('yourself')),
    `who changed it is not told: ${by}`,
  );
  must(t, admin, /\d{4}/.test(by) && /\d\d:\d\d/.test(by), `when it was changed is not told: ${by}`);
  await accessible(t, admin, admin.where);
  await admin.screenshot({ path: join(t.shots, 'conflict.png') });
  must(t, admin, (await t.tenant('GET', path)).amount === 200_000, 'it was overwritten unseen');
  await admin.locator('.conflict .pf-m-danger').click();
  await until('overwritten', async () => (await t.tenant('GET', path)).amount === 300_000, 10_000);
  admin.expected = [];
}

/** What belongs to another organisation and what is not there cannot be told apart. */
async function others(t, admin) {
  admin.where = 'of others';
  const other = await t.platform('POST', '/v1/tenants', {
    name: 'oasis',
    display_name: 'Oasis',
    home_zone: t.ids.zone,
  });
  const body = { name: 'theirs', label_column: 'y', classes: 2 };
  const set = await t.call(other.admin_token, 'POST', '/v1/datasets', body);
  admin.expected = [404];
  const seen = async (id) => {
    await admin.goto(`${t.base}/datasets/${id}`);
    await admin.waitForSelector('.pf-v6-c-empty-state');
    return (await admin.innerText('#main')).replaceAll(id, 'ID');
  };
  const a = await seen(set.dataset_id),
    b = await seen(`dst_${'0'.repeat(set.dataset_id.length - 4)}`);
  must(t, admin, a === b, `differs: ${a} | ${b}`);
  admin.expected = [];
}

async function palette(t, page) {
  page.where = 'palette';
  await page.goto(`${t.base}/models`);
  await settled(page);
  await page.keyboard.press('Control+k');
  await page.waitForSelector('.palette-input:focus');
  await page.keyboard.type('digits wide');
  await page.waitForSelector('.palette-row');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/jobs/${t.ids.second}`));
  await settled(page);
  await page.keyboard.press('Control+k');
  await page.waitForSelector('.palette-input:focus');
  await page.keyboard.type('settings');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/settings/);
  await early(t, page);
}

/** Enter before the answer to what was typed: no row of the text before is opened, and Enter is not forgotten either. */
async function early(t, page) {
  const [hostile] = (await t.tenant('GET', '/v1/jobs?q=onerror')).data;
  for (const [before, typed, wanted] of [
    ['digits wide', 'onerror', hostile.job_id],
    ['', 'digits wid', t.ids.second],
  ]) {
    await page.goto(`${t.base}/settings`);
    await settled(page);
    let release;
    const held = new Promise((done) => (release = done));
    const isLate = (url) => url.pathname === '/v1/jobs' && url.searchParams.get('q') === typed;
    await page.route(isLate, async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette-input:focus');
    await page.fill('.palette-input', before);
    if (before)
      await page.waitForFunction(
        (name) => document.querySelector('.palette-row[aria-selected=true] bdi')?.textContent === name,
        before,
      );
    const asked = page.waitForRequest((r) => isLate(new URL(r.url())));
    await page.fill('.palette-input', typed);
    await page.keyboard.press('Enter');
    // Either it asks and waits, or it has gone to the wrong place by now.
    await Promise.race([asked, page.waitForURL(/\/jobs\/job_/)]);
    must(t, page, page.url().endsWith('/settings'), `Enter opened ${page.url()} before the answer to "${typed}"`);
    release();
    await page
      .waitForURL(new RegExp(`/jobs/${wanted}`))
      .catch(() => t.fault(page.where, `Enter after "${typed}" was forgotten`));
    await page.unroute(isLate);
  }
  await settled(page);
}

/** A list is narrowed by the server, the address holds it, and what finds nothing leads back. */
async function narrowed(t, page) {
  page.where = 'narrowed list';
  const asked = [];
  page.on('request', (r) => asked.push(new URL(r.url())));
  await page.goto(`${t.base}/datasets`);
  await settled(page);
  const rows = () => page.locator('tr[data-row]').count();
  const all = await rows();
  await page.fill('#filter-q', 'no');
  await page.keyboard.press('Enter');
  await page.waitForSelector('small[role=status]:not(:empty)');
  must(t, page, !asked.some((u) => u.searchParams.get('q') === 'no'), 'two characters were sent');
  await page.fill('#filter-q', 'no-such-name');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=no-such-name/);
  await page.waitForSelector('.pf-v6-c-empty-state');
  await accessible(t, page, page.where);
  await page.screenshot({ path: join(t.shots, 'narrowed.png') });
  await page.locator('.pf-v6-c-empty-state button').click();
  await page.waitForFunction((n) => document.querySelectorAll('tr[data-row]').length === n, all);
  const name = await page.locator('tr[data-row] a').first().innerText();
  await page.fill('#filter-q', name.slice(0, 4).toUpperCase());
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]q=/);
  await page.waitForSelector('tr[data-row]');
  const sent = asked.filter((u) => u.pathname === '/v1/datasets' && u.searchParams.get('q')).at(-1);
  must(
    t,
    page,
    sent?.searchParams.get('q') === name.slice(0, 4).toUpperCase(),
    'the server was not asked for the name',
  );
  await page.locator('th button').first().click();
  await page.waitForURL(/sort=name/);
  await page.waitForSelector('tr[data-row]');
  must(t, page, (await rows()) > 0, 'no row by name');
  // The palette asks for the same part of a name, of each kind of thing.
  await page.keyboard.press('Control+k');
  await page.waitForSelector('.palette-input:focus');
  await page.keyboard.type(name);
  await page.waitForFunction(
    (n) => [...document.querySelectorAll('.palette-row bdi')].some((r) => r.textContent === n),
    name,
  );
  for (const kind of ['datasets', 'models', 'deployments'])
    must(
      t,
      page,
      asked.some((u) => u.pathname === `/v1/${kind}` && u.searchParams.get('q') === name),
      `the palette did not ask for ${kind}`,
    );
  must(t, page, !asked.some((u) => u.searchParams.get('q') === name.slice(0, -1)), 'every letter was asked for');
  await page.keyboard.press('Escape');
}

async function unsaved(t, page) {
  page.where = 'unsaved';
  await page.goto(`${t.base}/models`);
  await settled(page);
  await page.click('nav a[href="/datasets"]');
  await page.waitForURL(/\/datasets/);
  await page.click('.page-head .pf-m-primary');
  await page.fill('#f-name', 'half');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.unsaved');
  await accessible(t, page, page.where);
  await page.screenshot({ path: join(t.shots, 'unsaved.png') });
  await page.locator('.unsaved .pf-m-primary').click();
  must(t, page, (await page.inputValue('#f-name')) === 'half', 'what was typed is gone');
  await page.goBack({ timeout: 3000 }).catch(() => undefined);
  await page.waitForSelector('.unsaved');
  await page.locator('.unsaved .pf-m-danger').click();
  await page.waitForSelector('#f-name', { state: 'detached' });
}

/** The request that was begun stands there again after another page and after a reload, and is gone once it is given up. */
async function draft(t, page) {
  page.where = 'draft';
  const text = () => page.inputValue('#yaml');
  const come = async () => {
    await page.goto(`${t.base}/jobs/new`);
    await page.waitForSelector('#yaml');
  };
  await come();
  const first = await text();
  await page.fill('#yaml', `${first}# half a thought\n`);
  await page.click('nav a[href="/datasets"]');
  await page.waitForURL(/\/datasets/);
  await page.goBack();
  await page.waitForSelector('#yaml');
  must(t, page, (await text()).includes('half a thought'), 'leaving the page lost what was typed');
  page.once('dialog', (d) => void d.accept());
  await page.reload();
  await page.waitForSelector('#yaml');
  must(t, page, (await text()).includes('half a thought'), 'loading the page anew lost what was typed');
  await accessible(t, page, page.where);
  await page.screenshot({ path: join(t.shots, 'draft.png') });
  await page.getByRole('button', { name: word('en', 'submit.keptDrop') }).click();
  must(t, page, !(await text()).includes('half a thought'), 'the draft that was given up is still there');
  await come();
  must(t, page, (await text()) === first, 'the draft that was given up came back');
}

/** A click and a reload on a dead network: the console stands and says so, and comes back by itself. */
async function offline(t) {
  const page = await t.open('engineer', { serviceWorkers: 'allow' });
  page.where = 'offline click';
  await setPrefs(page, { lang: 'en', theme: 'light' });
  await page.goto(`${t.base}/jobs`);
  await settled(page);
  const kept = () =>
    page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      const names = await caches.keys();
      const all = await Promise.all(names.map(async (n) => (await (await caches.open(n)).keys()).map((r) => r.url)));
      return { names, urls: all.flat() };
    });
  const { names, urls } = await kept();
  must(t, page, names.length === 1 && /^falaj-shell-[0-9a-f]{16}$/.test(names[0]), `kept under ${names}`);
  const strange = urls.filter((u) => !/^\/($|falaj\.svg$|assets\/)/.test(new URL(u).pathname));
  must(t, page, urls.length > 50 && strange.length === 0, `${urls.length} files are kept, ${strange}`);
  page.offline = true;
  page.expected = [];
  await page.context().setOffline(true);
  await page.click('nav a[href="/datasets"]');
  await page.waitForSelector('.failure.offline');
  must(t, page, await page.isVisible('.pf-v6-c-masthead'), 'the shell is gone');
  must(t, page, page.url().endsWith('/datasets'), `it stands at ${page.url()}`);
  await page.screenshot({ path: join(t.shots, 'offline-click.png') });
  await page.reload();
  await page.waitForSelector('.failure.offline');
  await page.context().setOffline(false);
  await page.waitForSelector('tr[data-row]', { timeout: 30_000 });
  page.offline = false;
  const after = (await kept()).urls;
  must(t, page, !after.some((u) => new URL(u).pathname.startsWith('/v1')), 'an answer of the API was kept');
  await page.context().close();
}

export async function shellWays(t) {
  const page = await t.open('engineer');
  await page.evaluate(() => localStorage.setItem('falaj.prefs', '{"lang":"en","theme":"light"}'));
  const only = process.env.WAYS?.split(',');
  for (const way of [stream, lost, bulk, groups, kept, palette, narrowed, unsaved, draft])
    if (!only || only.includes(way.name)) await way(t, page);
  await page.context().close();
  if (!only || only.includes('offline')) await offline(t);
  const admin = await t.open('admin');
  await admin.evaluate(() => localStorage.setItem('falaj.prefs', '{"lang":"en","theme":"light"}'));
  for (const way of [conflict, others]) if (!only || only.includes(way.name)) await way(t, admin);
}
