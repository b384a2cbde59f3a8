// SPDX-License-Identifier: Apache-2.0
// govern.mjs - keys, the audit log in all its parts, evidence.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { as } from '../person.mjs';
import { PASSWORD, until } from '../platform.mjs';

/** A person who was here, changed something, and was erased: an address that nobody can read any more. */
async function erased(t) {
  const invited = await t.tenant('POST', '/v1/invitations', { name: 'Huda', roles: ['ml-engineer'] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  await (
    await as(t, 'Huda')
  )('/v1/datasets', { name: 'left-behind', label_column: 'label', classes: 2 });
  const gone = (await t.tenant('GET', '/v1/users?page_size=200')).data.find((u) => u.name === 'Huda');
  const events = () => t.tenant('GET', `/v1/audit/events?actor=${gone.user_id}&action=dataset.create`);
  const found = await until('the act of the erased', async () => (await events()).data[0]);
  const officer = await as(t, t.people.compliance.name);
  await officer('/v1/audit/erasures', { user_id: gone.user_id });
  const engineer = (await t.tenant('GET', '/v1/users?page_size=200')).data.find(
    (u) => u.name === t.people.engineer.name,
  );
  await officer('/v1/audit/holds', { reason: 'case 2026/17', subject_id: engineer.user_id });
  const breach = {
    kind: 'breach',
    zone: t.ids.zone,
    opened_at: '2026-01-01T00:00:00Z',
    due_at: '2026-01-04T00:00:00Z',
  };
  await officer('/v1/legal-clocks', { ...breach, reference: 'case 2026/18' });
  const week = new Date(Date.now() + 5 * 86_400_000).toISOString();
  await officer('/v1/legal-clocks', { kind: 'access', zone: t.ids.zone, reference: 'case 2026/19', due_at: week });
  t.ids.erased = found.event_id;
  t.ids.gone = gone.user_id;
  t.ids.held = engineer.user_id;
}

/** A version more, an import that is refused, a hold, an export: so that each page has something to show. */
export async function seed(t) {
  await t.tenant('POST', `/v1/keys/${t.ids.zone}/rotate`, {});
  await until('a signed head', () => t.tenant('GET', '/v1/audit/head').catch(() => undefined));
  const events = await t.tenant('GET', '/v1/audit/events?action=dataset.&page_size=1');
  t.ids.event = events.data[0].event_id;
  await t.tenant('POST', '/v1/audit/exports', { format: 'jsonl' });
  await erased(t);
}
const corpus = (t) => join(t.root, 'tests/fuzz/corpus/fuzz_bundle');
/** What the browser holds of the log is another tree than the server's: as a reader sees it whose server shows two logs. */
const forked = async (page) => {
  const place = await page.waitForFunction(() => {
    const key = Object.keys(localStorage).find((k) => k.startsWith('falaj.proof.'));
    return key && JSON.parse(localStorage.getItem(key)).pin ? key : null;
  });
  await page.evaluate(
    (key) => {
      const held = JSON.parse(localStorage.getItem(key));
      held.pin.root = 'ab'.repeat(32);
      localStorage.setItem(key, JSON.stringify(held));
    },
    await place.jsonValue(),
  );
  await page.reload();
  await page.locator('.proof-pair').waitFor({ timeout: 30_000 });
  await page.locator('.proof-chip.is-broken').waitFor();
};
const judged = async (page) => page.waitForSelector('.verdict [class*="alert"]', { timeout: 30_000 });
const submit = (form) => (page) => page.locator(`${form} button[type=submit]`).first().click();
const dialog = (n) => async (page) => {
  await page.locator('.page-head button:not(.copy-link)').nth(n).click();
  await page.waitForSelector('[role=dialog] form, [role=dialog] ol');
};

export default [
  { name: 'audit-proof', path: '/audit/proof', as: 'compliance', wait: '.proof-chip.is-proved' },
  { name: 'audit-proof-forked', path: '/audit/proof', as: 'admin', wait: '.proof-steps', act: forked },
  { name: 'keys', path: '/keys', as: 'admin' },
  { name: 'key', path: (ids) => `/keys/${ids.zone}`, as: 'admin', act: (page) => page.waitForSelector('.ladder') },
  { name: 'key-rotate', path: (ids) => `/keys/${ids.zone}`, as: 'admin', act: dialog(0) },
  { name: 'key-min', path: (ids) => `/keys/${ids.zone}`, as: 'admin', act: dialog(1) },
  { name: 'key-import', path: (ids) => `/keys/${ids.zone}`, as: 'admin', act: dialog(2) },
  { name: 'key-shred', path: (ids) => `/keys/${ids.zone}`, as: 'admin', act: dialog(3) },
  { name: 'root-keys', path: '/root-keys', as: 'operator' },
  {
    name: 'key-version',
    path: (ids) => `/keys/${ids.zone}/versions/2`,
    as: 'admin',
    act: async (page) => {
      await page.click('#act-destroy');
      await page.waitForSelector('.hangs tbody tr');
    },
  },
  { name: 'root-key', path: (ids) => `/root-keys/${ids.zone}`, as: 'operator' },
  { name: 'root-rotate', path: (ids) => `/root-keys/${ids.zone}`, as: 'operator', act: dialog(0) },
  { name: 'audit', path: '/audit', as: 'compliance', expected: [404] },
  { name: 'audit-search', path: '/audit?action=dataset.&when=days30', as: 'compliance' },
  { name: 'audit-none', path: '/audit?action=price.set', as: 'compliance', wait: '.pf-v6-c-empty-state' },
  {
    name: 'audit-event',
    path: (ids) => `/audit?action=dataset.&event=${ids.event}`,
    as: 'compliance',
    act: async (page) => {
      await page.waitForSelector('.beside.open h2');
      await page.locator('.beside aside .pf-m-secondary').click();
      await judged(page);
    },
  },
  {
    name: 'audit-erased',
    path: (ids) => `/audit?action=dataset.&event=${ids.erased}`,
    as: 'compliance',
    act: (page) => page.waitForSelector('.beside.open h2'),
  },
  {
    name: 'audit-hold-lift',
    path: '/audit/holds',
    as: 'compliance',
    act: async (page) => {
      await page.locator('tbody button').last().click();
      await page.waitForSelector('[role=dialog] form');
    },
  },
  {
    name: 'audit-verify',
    path: '/audit/verify',
    as: 'compliance',
    act: async (page) => {
      await submit('.audit-filters')(page);
      await judged(page);
    },
  },
  {
    name: 'audit-verify-bad',
    path: '/audit/verify',
    as: 'compliance',
    act: async (page, t) => {
      const file = readdirSync(corpus(t)).sort().at(-1);
      await page.setInputFiles('.drop input', join(corpus(t), file));
      await judged(page);
    },
  },
  { name: 'audit-exports', path: '/audit/exports', as: 'compliance' },
  {
    name: 'audit-export-new',
    path: '/audit/exports?make=1&when=days30',
    as: 'compliance',
    act: (page) => page.waitForSelector('[role=dialog] form'),
  },
  { name: 'audit-heads', path: '/audit/heads', as: 'compliance', expected: [404] },
  { name: 'audit-holds', path: '/audit/holds', as: 'compliance' },
  { name: 'audit-hold-new', path: '/audit/holds', as: 'compliance', act: dialog(0) },
  { name: 'audit-legal-clocks', path: '/audit/legal-clocks', as: 'compliance' },
  { name: 'audit-legal-clock-new', path: '/audit/legal-clocks', as: 'compliance', act: dialog(0) },
  { name: 'audit-retention', path: '/audit/retention', as: 'compliance' },
  { name: 'audit-retention-set', path: '/audit/retention', as: 'compliance', act: dialog(0) },
  { name: 'audit-erasures', path: '/audit/erasures', as: 'compliance' },
  { name: 'audit-person', path: (ids) => `/audit/persons/${ids.held}`, as: 'compliance' },
  { name: 'audit-person-gone', path: (ids) => `/audit/persons/${ids.gone}`, as: 'compliance' },
  {
    name: 'audit-summary',
    path: '/audit/summary?when=days30',
    as: 'compliance',
    wait: '.sheet tbody tr',
    act: async (page) => {
      await page.locator('.sheet button').first().click();
      await judged(page);
    },
  },
  { name: 'evidence', path: '/evidence', as: 'compliance' },
  { name: 'transfers', path: '/evidence/transfers', as: 'compliance' },
];
