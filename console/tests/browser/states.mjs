// SPDX-License-Identifier: Apache-2.0
// states.mjs - what opens over a page or goes wrong on it: dialogs, menus, drawers, refusals; in both languages.
// No finding of axe of any level, good practice too; nothing wider than its place at five widths. ONLY=palette,drain, LANGS=ar.
import { join } from 'node:path';
import { accessible, drawn, EVERY_TAG, fits, settled } from './checks.mjs';
import { as } from './person.mjs';
import { run, setPrefs } from './platform.mjs';
import { list, word } from './steps.mjs';

const WIDTHS = [2560, 1440, 1024, 768, 390];
const OPEN = '[role=dialog]';
const button = (page, key, inside = page) =>
  inside.getByRole('button', { name: word(page.lang, key), exact: true }).first();
const dialog = (page) => page.locator(OPEN).last();
const press = (key) => async (page) => {
  await button(page, key).click();
  await dialog(page).waitFor();
};
const menu = (selector, wait) => async (page) => {
  await page.click(selector);
  await page.waitForSelector(wait);
};
const opened = (page) => dialog(page).waitFor();
/** What is sent as it stands is refused at its fields. */
const faulty = (key) => async (page) => {
  await dialog(page).waitFor();
  await button(page, key, dialog(page)).click();
  await dialog(page).locator('[aria-invalid=true]').first().waitFor();
};
const NOBODY = `job_${'0'.repeat(32)}`;

const STATES = [
  {
    name: 'palette',
    path: '/jobs',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.fill('.palette-input', 'digits');
      await page.waitForFunction(() => document.querySelectorAll('.palette-row').length > 3);
    },
  },
  {
    name: 'palette-none',
    path: '/jobs',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.fill('.palette-input', 'qqqqqq');
      await page.waitForSelector('.palette-none');
    },
  },
  { name: 'create-menu', path: '/jobs', act: menu('.create-menu', '[role=menu]') },
  { name: 'account-menu', path: '/jobs', act: menu('.account-menu', '[role=menu]') },
  { name: 'help-menu', path: '/jobs', act: menu('.help-menu', '[role=menu]') },
  { name: 'notices', path: '/jobs', act: menu('.notices-button', '.pf-v6-c-notification-drawer') },
  { name: 'calls', path: '/jobs?state=FAILED', act: menu('.calls-button', '.calls .cli-line') },
  { name: 'columns', path: '/jobs', act: menu('.columns-button', '.columns-list') },
  {
    name: 'keys-help',
    path: '/jobs',
    act: async (page) => {
      await page.keyboard.press('?');
      await page.waitForSelector('[role=dialog] kbd');
    },
  },
  {
    name: 'clock-changes',
    path: '/queue',
    act: async (page) => {
      await page
        .getByRole('button', { name: word(page.lang, 'clock.whatNow') })
        .last()
        .click();
      await page.locator('.clock-changes li').first().waitFor();
    },
  },
  { name: 'dataset-refused', path: '/datasets?new=dataset', act: faulty('nav.newDataset') },
  { name: 'dataset-delete', path: (ids) => `/datasets/${ids.set}`, act: press('datasets.delete') },
  { name: 'upload', path: (ids) => `/datasets/${ids.set}`, act: press('datasets.upload') },
  { name: 'model-register', path: '/models?new=model', act: opened },
  { name: 'deploy', path: (ids) => `/models/${ids.model}`, act: press('deploy.create') },
  { name: 'token', path: '/tokens?new=token', act: opened },
  { name: 'invite-refused', path: '/members?new=invitation', act: faulty('nav.invite') },
  {
    name: 'project-taken',
    path: '/projects?new=project',
    expected: [409],
    act: async (page) => {
      await dialog(page).getByRole('textbox').first().fill('fraud');
      await button(page, 'projects.create', dialog(page)).click();
      await dialog(page).locator('[class*="alert"],[aria-invalid=true]').first().waitFor();
    },
  },
  {
    name: 'budget-refused',
    path: '/quotas?tab=budgets',
    act: async (page) => {
      await button(page, 'budgets.new').click();
      await faulty('budgets.new')(page);
    },
  },
  {
    name: 'submit-broken',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page) => {
      const spec = page.locator('textarea').last();
      await spec.fill('name: [');
      await page.getByText(word(page.lang, 'submit.broken')).first().waitFor();
    },
  },
  {
    name: 'unsaved',
    path: '/datasets?new=dataset',
    act: async (page) => {
      await dialog(page).getByRole('textbox').first().fill('half');
      await page.keyboard.press('Escape');
      await page.getByText(word(page.lang, 'unsaved.title')).waitFor();
    },
  },
  { name: 'not-found', path: `/jobs/${NOBODY}`, expected: [404], act: (page) => page.waitForSelector('main') },
  { name: 'forbidden', path: '/audit', as: 'engineer', expected: [403], act: (page) => page.waitForSelector('main') },
  {
    name: 'audit-event',
    path: '/audit',
    as: 'compliance',
    expected: [404],
    act: async (page) => {
      await page.locator('td a.to').first().click();
      await page.waitForSelector('.beside.open');
    },
  },
  { name: 'legal-clock-refused', path: '/audit/legal-clocks?new=clock', as: 'compliance', act: faulty('terms.open') },
  { name: 'legal-clock-close', path: '/audit/legal-clocks', as: 'compliance', act: press('terms.close') },
  { name: 'hold-refused', path: '/audit/holds?new=hold', as: 'compliance', act: faulty('holds.place') },
  { name: 'queue-refused', path: '/queues?new=queue', act: faulty('queues.declare') },
  { name: 'secret-refused', path: '/secrets?new=secret', act: faulty('secrets.add') },
  { name: 'webhook-refused', path: '/notifications?new=webhook', act: faulty('notify.newWebhook') },
  { name: 'join', path: '/workers/join?new=join', as: 'operator', act: opened },
  { name: 'drain', path: (ids) => `/workers/${ids.node}`, as: 'operator', act: press('workers.drain') },
  { name: 'tenant-refused', path: '/tenants?new=tenant', as: 'operator', act: faulty('tenants.new') },
  { name: 'zone-refused', path: '/zones?new=zone', as: 'operator', act: faulty('zones.new') },
];

async function look(t, page, state) {
  page.where = `${state.name} ${page.lang}`;
  page.expected = state.expected ?? [];
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(t.base + (typeof state.path === 'function' ? state.path(t.ids) : state.path));
  await settled(page);
  await state.act(page);
  await drawn(page);
  await accessible(t, page, page.where, false, undefined, EVERY_TAG);
  await page.screenshot({ path: join(t.shots, `state-${state.name}-${page.lang}.png`) });
  const over = await page.locator(OPEN).count();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await drawn(page);
    await fits(t, page, `${page.where} ${width}`);
    if (over) await fits(t, page, `${page.where} ${width}, what is open`, OPEN);
  }
}

await run('states', async (t) => {
  await t.tenant('POST', '/v1/projects', { name: 'fraud', display_name: 'Fraud' });
  await t.tenant('POST', '/v1/jobs', { name: 'poolless', kind: 'noop', pool: 'h100', spec: {} });
  const officer = await as(t, t.people.compliance.name);
  const clock = {
    kind: 'access',
    zone: t.ids.zone,
    reference: 'case 7',
    due_at: new Date(Date.now() + 86_400_000).toISOString(),
  };
  await officer('/v1/legal-clocks', clock);
  t.ids.node = (await t.platform('GET', '/v1/nodes')).data[0].node_id;
  const wanted = STATES.filter((x) => list('ONLY', [x.name]).includes(x.name));
  let looked = 0;
  for (const who of new Set(wanted.map((x) => x.as ?? 'admin'))) {
    const page = await t.open(who);
    for (const lang of list('LANGS', ['en', 'ar'])) {
      await page.goto(`${t.base}/falaj.svg`);
      await setPrefs(page, { lang, theme: 'light' });
      page.lang = lang;
      for (const state of wanted.filter((x) => (x.as ?? 'admin') === who)) {
        await look(t, page, state).catch((e) => t.fault(page.where, e instanceof Error ? e.message : String(e)));
        looked++;
      }
    }
    await page.context().close();
  }
  console.log(`${looked} states of ${wanted.length} looked at, at ${WIDTHS.length} widths each`);
});
