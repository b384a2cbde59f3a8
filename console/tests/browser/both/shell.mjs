// SPDX-License-Identifier: Apache-2.0
// shell.mjs - the search answers every kind of thing that a person may see, and + makes what their role may create.
const press = async (h, text) => {
  await h.page.keyboard.press('Control+k');
  await h.page.fill('.palette-input', text);
};
const option = (h, name) => h.page.locator('.palette-row', { hasText: name }).first();

export async function seed(t) {
  await t.tenant('POST', '/v1/projects', { name: 'searched-project' });
  await t.tenant('POST', '/v1/budgets', {
    name: 'searched-budget',
    measure: 'gpu_hours',
    amount: 1000,
    period: 'month',
  });
  await t.tenant('POST', '/v1/api-tokens', { name: 'searched-token', expires_in_days: 2 });
}

/** Opens + and takes one: its dialog is there. */
async function makes(h, key) {
  await h.page.click('.create-menu');
  await h.page.getByRole('menuitem', { name: h.word(key), exact: true }).click();
  await h.page.getByRole('dialog').locator('form').waitFor();
  await h.page.keyboard.press('Escape');
  await h.gone();
}
async function offers(h, wanted, never) {
  await h.page.click('.create-menu');
  const shown = await h.page.getByRole('menuitem').allInnerTexts();
  await h.page.keyboard.press('Escape');
  for (const key of wanted) h.must(shown.includes(h.word(key)), `+ does not offer ${h.word(key)}`);
  for (const key of never) h.must(!shown.includes(h.word(key)), `+ offers ${h.word(key)}`);
}

export default [
  {
    name: 'search',
    as: 'admin',
    path: '/jobs',
    act: async (h, t) => {
      for (const [asked, found] of [
        ['searched-project', 'searched-project'],
        ['searched-budget', 'searched-budget'],
        ['Dubai', 'Dubai 1'],
        ['Omar', 'Omar'],
        ['digits wide', 'digits wide'],
      ]) {
        await press(h, asked);
        await option(h, found).waitFor();
        await h.page.keyboard.press('Escape');
      }
      await press(h, 'searched-project');
      await option(h, 'searched-project').click();
      await h.page.waitForURL(/\/jobs\?.*project_id=prj_/);
      h.must(h.page.url().startsWith(t.base), 'led elsewhere');
    },
  },
  {
    name: 'plus for an administrator',
    as: 'admin',
    path: '/jobs',
    act: async (h) => {
      await offers(
        h,
        ['nav.newRule', 'nav.newPolicy', 'nav.newProvider', 'nav.invite', 'nav.newQueue', 'nav.newSecret'],
        ['nav.newZone', 'nav.newHold'],
      );
      for (const key of ['nav.newBudget', 'nav.newRule', 'nav.newService', 'nav.newPolicy', 'nav.newProvider'])
        await makes(h, key);
      for (const key of ['nav.newDeployment', 'nav.newQueue', 'nav.newSecret', 'nav.newWebhook']) await makes(h, key);
    },
  },
  {
    name: 'plus for an engineer',
    as: 'engineer',
    path: '/jobs',
    act: (h) =>
      offers(h, ['nav.newJob', 'nav.newDataset', 'nav.newDeployment'], ['nav.newBudget', 'nav.invite', 'nav.newQueue']),
  },
  {
    name: 'plus for an officer',
    as: 'compliance',
    path: '/approvals',
    act: async (h) => {
      await offers(h, ['nav.newHold', 'nav.newLegalClock'], ['nav.newJob', 'nav.newProject', 'nav.newBudget']);
      for (const key of ['nav.newHold', 'nav.newLegalClock']) await makes(h, key);
    },
  },
  {
    name: 'plus for an operator',
    as: 'operator',
    path: '/workers',
    act: async (h) => {
      await offers(h, ['nav.newZone', 'nav.newTenant', 'nav.newNode'], ['nav.newBudget', 'nav.newJob']);
      await makes(h, 'nav.newPrice');
    },
  },
];
