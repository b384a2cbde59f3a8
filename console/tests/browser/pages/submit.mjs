// SPDX-License-Identifier: Apache-2.0
// submit.mjs - a job from form and YAML: begun afresh, from a former job, with faults on both sides, with zones that residency refuses.
import { inShell } from '../shell.mjs';
import { word } from '../steps.mjs';

const LAW = (classes) => ({
  legal_regimes: ['uae-pdpl'],
  regulator: 'none',
  provider: 'own',
  data_classes: classes,
  worker_cidrs: [],
  clocks: [],
  rules: [],
});

/** A zone whose law does not permit the class of the data. */
export async function seed(t) {
  const body = { code: 'ae-shj-1', name: 'Sharjah 1', country: 'AE', law: LAW(['public']) };
  await t.platform('POST', '/v1/zones', body);
}
/** What the page says for a terminal is run there as it stands; the job must be the one that was written. */
async function runs(page, t, name, check) {
  await page.fill('#f-name', name);
  for (const [tab, id] of [
    ['CLI', 'cli'],
    ['curl', 'curl'],
  ]) {
    await page.getByRole('tab', { name: tab }).click();
    const line = await page.locator(`#call-${id}`).innerText();
    const stdout = await inShell(t, id === 'cli' ? line.replace('job submit', 'job submit -o json') : line);
    const made = await t.tenant('GET', `/v1/jobs/${/job_[0-9a-f]{32}/.exec(stdout)[0]}`);
    if (made.name !== name || !check(made)) throw new Error(`${line}\nmade ${JSON.stringify(made)}`);
  }
}
const yaml = (page) => page.locator('#yaml');

export default [
  {
    name: 'submit-calls',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page, t) => {
      await page.getByRole('tab', { name: 'curl' }).click();
      await page.locator('#call-curl').scrollIntoViewIfNeeded();
      if (!page.where.endsWith('en-light')) return;
      await page.fill('#f-spec-epochs', '1');
      await runs(page, t, "a name with 'quotes' and $(whoami)", (j) => j.spec.epochs === 1 && j.spec.seed === 1);
      await page.fill('#f-priority', '-7');
      await yaml(page).fill(`${await yaml(page).inputValue()}max_runtime_seconds: 60\n`);
      await runs(page, t, 'flags', (j) => j.priority === -7 && j.max_runtime_s === 60);
      await yaml(page).fill((await yaml(page).inputValue()).replace('epochs: 1', 'epochs: 1\n  optimizer: sgd'));
      await runs(page, t, 'whole spec', (j) => j.spec.optimizer === 'sgd' && j.priority === -7);
      await page.fill('#f-queue', 'night');
      await runs(page, t, 'whole request', (j) => j.queue === 'night' && j.spec.optimizer === 'sgd');
    },
  },
  {
    // A program on two machines by the form, as YAML and from a terminal; a training there has no budget of joules.
    name: 'submit-nodes',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page, t) => {
      const nodes = page.locator('#f-nodes-max');
      const usual = await yaml(page).inputValue();
      await page.getByLabel(word('en', 'submit.f_nodes_max')).waitFor();
      await page.selectOption('#f-kind', 'noop');
      await nodes.waitFor({ state: 'detached' });
      if (page.where.endsWith('en-light')) {
        const command = 'command: [python3, /falaj/code/script]';
        await yaml(page).fill(`name: pair\nkind: run\npool: h100\nforce_queue: true\nspec:\n  ${command}\n`);
        await nodes.fill('2');
        if (!/\nnodes:\n {2}max: 2\n/.test(await yaml(page).inputValue()))
          throw new Error(`the text does not follow the form:\n${await yaml(page).inputValue()}`);
        await runs(page, t, 'a pair', (j) => j.kind === 'run' && j.nodes === 2);
      }
      await yaml(page).fill(usual.replace(/\n {2}epochs:/, '\n  accumulate: 2\n  max_joules: 500\n  epochs:'));
      await page.fill('#f-name', 'two');
      await nodes.fill('2');
      const refusal = page.locator('.check-part .pf-m-danger');
      await refusal.getByText('/spec/max_joules').waitFor();
      await refusal.getByText('Energy is counted on one machine: leave max_joules out, or nodes').waitFor();
      await refusal.scrollIntoViewIfNeeded();
    },
  },
  { name: 'submit', path: '/jobs/new', as: 'engineer', act: (page) => page.waitForSelector('.zone-why li') },
  {
    name: 'submit-check',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page) => {
      await page.fill('#f-name', 'dry');
      await page.locator('.check-part .pf-m-success').waitFor();
      await page.fill('#f-slots', '4096');
      await page.locator('.check-part .pf-m-danger').waitFor();
      await page.locator('.check-part').scrollIntoViewIfNeeded();
    },
  },
  { name: 'submit-from', path: (ids) => `/jobs/new?from=${ids.second}`, as: 'engineer' },
  {
    name: 'submit-faults',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page) => {
      await page.fill('#f-spec-epochs', '-4');
      const text = await yaml(page).inputValue();
      if (!text.includes('epochs: -4')) throw new Error(`the text does not follow the form:\n${text}`);
      await yaml(page).fill(`${text}colour: blue\n`);
      await page.click('form button[type=submit]');
      await page.waitForSelector('#f-spec-epochs[aria-invalid=true]');
      await page.waitForFunction(() => document.activeElement?.id === 'f-name'); // the first fault
    },
  },
  {
    name: 'submit-broken',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page) => {
      await yaml(page).fill('name: one\nkind: [train\nspec:\n  epochs: 3\n');
      await page.waitForSelector('.yaml-faults');
      if (!(await page.isDisabled('#f-name'))) throw new Error('the form changes a text that does not parse');
      if (!(await yaml(page).inputValue()).startsWith('name: one\nkind: [train')) throw new Error('the text is lost');
    },
  },
];
