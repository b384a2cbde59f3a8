// SPDX-License-Identifier: Apache-2.0
// data.mjs - data sets, models and what is served.
import { createHash } from 'node:crypto';
import { until } from '../platform.mjs';
import { inShell } from '../shell.mjs';

/** What is served is asked, well and badly; a second deployment of the same model is asked by nobody. */
export async function seed(t) {
  const quiet = await t.tenant('POST', '/v1/deployments', { name: 'quiet', model_id: t.ids.model });
  const ask = (width) =>
    t.tenant('POST', '/v2/models/digits/infer', {
      inputs: [{ name: 'input', datatype: 'FP32', shape: [1, width], data: Array(width).fill(8) }],
    });
  for (let i = 0; i < 60; i++) await ask(64);
  for (let i = 0; i < 3; i++)
    if (await ask(2).catch(() => undefined)) throw new Error('a row of two features is answered');
  await until('the quiet one', async () => (await t.tenant('GET', `/v1/deployments/${quiet.deployment_id}`)).ready);
  t.ids.quiet = quiet.deployment_id;
  const foreign = await t.tenant('POST', '/v1/datasets', { name: 'from-elsewhere', target: 'none' });
  const file = Buffer.from('0808', 'hex'); // begins as such files do; who converts it is told what is missing
  await t.tenant('POST', `/v1/datasets/${foreign.dataset_id}/versions?format=onnx`, file, 'application/octet-stream');
  t.ids.foreign = foreign.dataset_id;
  const spec = { model_id: t.ids.model, dataset_id: t.ids.set, max_accuracy_drop: 1 };
  const job = (await t.tenant('POST', '/v1/jobs', { name: 'smaller', kind: 'optimise', spec })).job_id;
  await until('the smaller one', async () => (await t.tenant('GET', `/v1/jobs/${job}`)).state === 'COMPLETED');
  t.ids.smaller = (await t.tenant('POST', '/v1/models', { name: 'digits-small', job_id: job })).model_id;
}

/** What the page draws is what the API has counted, and the chart has a table with the same numbers. */
async function figures(page, t) {
  await page.waitForSelector('.plot canvas');
  const row = page.locator('[aria-labelledby=traffic] tbody tr').nth(1).locator('td');
  let hour, shown;
  // A request of another page may come between the two readings; the page reads again every 5 s.
  for (const end = Date.now() + 15_000; Date.now() < end; await page.waitForTimeout(250)) {
    hour = (await t.tenant('GET', `/v1/deployments/${t.ids.served}/stats`)).windows[1];
    shown = await row.allInnerTexts();
    if (Number(shown[0]) === hour.requests) break;
  }
  if (hour.requests < 63 || hour.refused < 3 || Number(shown[0]) !== hour.requests || Number(shown[3]) < 3)
    t.fault(page.where, `shows ${shown.join(' ')}, counted ${JSON.stringify(hour)}`);
  const times = page.locator('.chart-card').nth(1);
  await times.locator('button[aria-pressed=false]').first().click();
  await times.locator('.chart-table td').first().waitFor();
  if ((await page.locator('.plot').count()) !== 2) t.fault(page.where, 'not two charts and a table');
}

const dialog = (page) => page.waitForSelector('[role=dialog]');

/** A row of the data, the answer to it, and the same question from a terminal and a program: all must say the same class. */
async function play(page, t) {
  await page.waitForSelector('.drawing-grid');
  await page.locator('.play-text .play-acts button').first().click();
  await page.waitForFunction(() => /[1-9]/.test(document.querySelector('#play-input')?.value ?? ''));
  await page.click('.play form button[type=submit]');
  const best = await page.locator('.answer-big').innerText();
  if (!page.where.endsWith('en-light')) return;
  for (const [id, tab, program] of [
    ['curl', 'curl', 'bash'],
    ['cli', 'CLI', 'bash'],
    ['python', 'Python', 'python3'],
  ]) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const out = await inShell(t, await page.locator(`#snippet-${id}`).innerText(), program);
    if (!new RegExp(`(label.*data.*\\[\\s*${best}\\s*\\]|label.*${best})`, 's').test(out))
      throw new Error(`${id} says ${out}, the page ${best}`);
  }
  // Keys draw: the value of the first cell follows, and so does the text.
  await page.locator('.drawing-grid').focus();
  await page.keyboard.press('Delete');
  await page.keyboard.press(' ');
  if (!(await page.inputValue('#play-input')).startsWith('16,')) throw new Error('the space bar does not draw');
}

export default [
  { name: 'datasets', path: '/datasets', as: 'engineer' },
  { name: 'dataset', path: (ids) => `/datasets/${ids.set}`, as: 'engineer' },
  {
    name: 'dataset-head',
    path: (ids) => `/datasets/${ids.set}`,
    as: 'engineer',
    act: async (page) => {
      await page.locator('[aria-labelledby=head-title] button').click();
      await page.waitForSelector('.head-table td');
    },
  },
  {
    name: 'upload',
    path: (ids) => `/datasets/${ids.set}`,
    as: 'engineer',
    expected: [422],
    act: async (page, t) => {
      await page.locator('.page-head button.pf-m-primary').click();
      await dialog(page);
      await page.setInputFiles('[role=dialog] input[type=file]', {
        name: 'bad.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('a,b\n1,2\n'),
      });
      await page.locator('[role=dialog] .digest').waitFor();
      const said = await page.locator('[role=dialog] .digest').innerText();
      const hash = createHash('sha256').update('a,b\n1,2\n').digest('hex');
      if (said !== hash) t.fault(page.where, `says ${said}, is ${hash}`);
      await page.locator('[role=dialog] button[type=submit]').click();
      await page.locator('[role=dialog] .server-words').waitFor();
    },
  },
  {
    name: 'upload-lost',
    path: (ids) => `/datasets/${ids.set}`,
    as: 'engineer',
    act: async (page) => {
      page.offline = true;
      await page.route('**/parts?**', (r) => r.abort('internetdisconnected'));
      await page.locator('.page-head button.pf-m-primary').click();
      await dialog(page);
      await page.setInputFiles('[role=dialog] input[type=file]', {
        name: 'large.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`a,label\n${'0.5,1\n'.repeat(800_000)}`),
      });
      await page.locator('[role=dialog] .digest').waitFor();
      await page.locator('[role=dialog] button[type=submit]').click();
      await page.locator('[role=dialog] .pf-v6-c-alert.pf-m-warning').waitFor();
    },
  },
  {
    name: 'transfer',
    path: (ids) => `/datasets/${ids.set}`,
    as: 'admin',
    act: async (page) => {
      await page.locator('td button.pf-m-link').first().click();
      await dialog(page);
    },
  },
  { name: 'datasets-viewer', path: (ids) => `/datasets/${ids.set}`, as: 'viewer' },
  {
    name: 'model-weights',
    path: (ids) => `/models/${ids.model}`,
    as: 'engineer',
    act: async (page) => {
      await page.locator('td button.pf-m-link').first().click();
      await dialog(page);
    },
  },
  { name: 'passports', path: '/audit/passports', as: 'compliance', wait: 'tbody tr' },
  {
    name: 'passport',
    path: (ids) => `/datasets/${ids.set}/passport`,
    as: 'compliance',
    wait: '.seal.is-verified, .seal.is-young',
  },
  { name: 'models', path: '/models', as: 'engineer' },
  { name: 'model', path: (ids) => `/models/${ids.model}`, as: 'engineer' },
  {
    name: 'model-smaller',
    path: (ids) => `/models/${ids.smaller}`,
    as: 'engineer',
    wait: '[aria-labelledby=report-title] tbody tr',
  },
  {
    name: 'submit-smaller',
    path: (ids) => `/jobs/new?model=${ids.model}&version=1`,
    as: 'engineer',
    wait: '#f-spec-model_id',
  },
  { name: 'dataset-foreign', path: (ids) => `/datasets/${ids.foreign}`, as: 'admin', wait: 'tbody tr' },
  { name: 'deployments', path: '/deployments', as: 'engineer' },
  {
    name: 'deploy-dialog',
    path: '/deployments',
    as: 'engineer',
    act: async (page) => {
      await page.click('.page-head .pf-m-primary');
      await dialog(page);
    },
  },
  { name: 'deployment', path: (ids) => `/deployments/${ids.served}`, as: 'engineer', act: play },
  { name: 'deployment-figures', path: (ids) => `/deployments/${ids.served}`, as: 'engineer', act: figures },
  {
    name: 'deployment-quiet',
    path: (ids) => `/deployments/${ids.quiet}`,
    as: 'viewer',
    wait: '[aria-labelledby=traffic] .cli-line',
  },
  {
    name: 'deployment-json',
    path: (ids) => `/deployments/${ids.served}`,
    as: 'engineer',
    expected: [400],
    act: async (page) => {
      await page.getByRole('tab', { name: 'JSON', exact: true }).click();
      await page.fill(
        '#play-json',
        '{"inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}',
      );
      await page.click('.play form button[type=submit]');
      await page.getByText('inputs[0].shape: [1,2] does not fit; the model takes').waitFor();
    },
  },
];
