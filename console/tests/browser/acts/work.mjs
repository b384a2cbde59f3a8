// SPDX-License-Identifier: Apache-2.0
// work.mjs - budgets, rules and prices; a data set, an upload that is stopped; a deployment; a job that the API refuses.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hand, W } from '../hand.mjs';
import { until } from '../platform.mjs';

const list = async (t, path) => (await t.tenant('GET', `${path}?page_size=200`)).data;

export async function quotas(t) {
  const h = await Hand.of(t, 'admin');
  const find = async () => (await list(t, '/v1/budgets')).find((b) => b.name === 'acts');
  await h.go('/quotas?tab=budgets');
  await h.opens('budgets.new');
  await h.put('col.name', 'acts');
  await h.put('budgets.amount', '125.50');
  await h.put('budgets.warn', '100,50');
  h.expect(400, 422);
  await h.send('budgets.new');
  await h.refused('budgets.warn');
  h.expect();
  await h.put('budgets.warn', '50,90');
  await h.put('budgets.stop', '120');
  await h.send('budgets.new');
  await h.gone();
  const made = await find();
  const facts = (b) => [b.measure, b.amount, b.currency, b.warn_percent, b.stop_percent, b.period];
  h.same('the budget', facts(made), ['money', 12550, 'AED', [50, 90], 120, 'month']);

  await h.opens('budgets.edit', h.row('acts'));
  await h.patch(`/v1/budgets/${made.budget_id}`, made.version, { amount: 20000 });
  h.expect(412);
  await h.put('budgets.amount', '300');
  await h.put('budgets.stop', '');
  await h.send('act.save');
  await h.page.waitForSelector('.conflict tbody tr');
  const rows = await h.page.locator('.conflict tbody tr').allTextContents();
  if (!rows.some((r) => r.startsWith(`${W('budgets.amount')}125.5200300`))) h.fault(`the difference: ${rows}`);
  await h.click('button', W('conflict.overwrite'));
  await h.gone();
  h.expect();
  const now = await find();
  h.same('overwritten', [now.amount, now.stop_percent || 0, now.warn_percent], [30000, 0, [50, 90]]);
  await h.confirm('budgets.remove', 'acts', { inside: h.row('acts') });
  h.same('removed', await find(), undefined);

  await h.go('/quotas?tab=rules');
  await h.opens('rules.new');
  await h.pick('rules.place', W('rules.queue'));
  await h.put('rules.queue', 'acts-night');
  await h.put('rules.nominal', '1');
  await h.send('rules.new');
  await h.gone();
  const rule = async () => (await list(t, '/v1/quota-rules')).find((r) => r.queue === 'acts-night');
  h.same('the rule', [(await rule())?.place, (await rule())?.nominal], ['queue', 1]);
  await h.confirm('rules.remove', 'acts-night', { inside: h.row('acts-night') });
  h.same('the rule is gone', await rule(), undefined);
}

export async function prices(t) {
  const h = await Hand.of(t, 'operator');
  await h.go('/prices');
  await h.opens('prices.add');
  await h.put('prices.flavor', 'acts-gpu');
  await h.put('prices.gpu_hour', '12.35');
  await h.put('prices.gpu_watts', '700');
  await h.send('prices.add');
  await h.gone();
  await h.row('acts-gpu').getByText('12.35').waitFor();
  const made = (await t.platform('GET', '/v1/prices?flavor=acts-gpu')).data;
  h.same(
    'the price',
    made.map((p) => [p.currency, p.gpu_hour, p.slot_hour, p.gpu_watts]),
    [['AED', 1235, 0, 700]],
  );
}

export async function data(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/datasets');
  await h.opens('nav.newDataset');
  await h.put('col.short', 'acts-set');
  await h.put('col.classes', '2.5');
  h.expect(400, 422);
  await h.send('nav.newDataset');
  await h.refused('col.classes');
  h.same('what was typed', await h.field(W('col.short'), { inside: h.dialog }).inputValue(), 'acts-set');
  h.expect();
  await h.put('col.classes', '3');
  await h.send('nav.newDataset');
  await h.page.waitForURL(/\/datasets\/dst_/);
  const set = (await list(t, '/v1/datasets')).find((d) => d.name === 'acts-set');
  h.same('the data set', [set?.classes, set?.label_column, set?.latest_version], [3, 'label', 0]);
  await stopped(t, h, set.dataset_id);
}

/** A small file is one body: on a slow line, so that there is time to stop. */
async function stopped(t, h, id) {
  const dir = mkdtempSync(join(tmpdir(), 'falaj-acts-'));
  try {
    const file = join(dir, 'slow.csv');
    writeFileSync(file, `x,label\n${'0.5,1\n'.repeat(600_000)}`);
    const line = await h.page.context().newCDPSession(h.page);
    const slow = (uploadThroughput) =>
      line.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await h.click('button', W('datasets.upload'));
    await h.attach(W('datasets.browse'), file);
    await slow(100_000);
    await h.dialog.locator('.digest').waitFor();
    await h.send('datasets.upload');
    await h.dialog.getByRole('progressbar', { name: W('datasets.sending') }).waitFor();
    await h.send('datasets.stop');
    await h.dialog.getByText(W('datasets.stopped')).waitFor();
    await slow(-1);
    h.same('nothing is kept', (await t.tenant('GET', `/v1/datasets/${id}`)).latest_version, 0);
    writeFileSync(file, `x,label\n${'0.5,1\n'.repeat(20)}`);
    await h.click('button', W('act.clear'), { inside: h.dialog });
    await h.attach(W('datasets.browse'), file);
    await h.dialog.locator('.digest').waitFor();
    await h.send('datasets.upload');
    await h.gone();
    h.same('the next one is', (await t.tenant('GET', `/v1/datasets/${id}`)).latest_version, 1);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

export async function deployments(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/deployments');
  await h.opens('deploy.create');
  await h.put('col.name', 'digits');
  await h.pick('col.model', 'digits');
  h.expect(409);
  await h.send('deploy.create');
  await h.dialog.locator('[class*="alert"]').first().waitFor();
  h.expect();
  await h.put('col.name', 'acts-digits');
  await h.send('deploy.create');
  await h.page.waitForURL(/\/deployments\/dpl_/);
  const find = async () => (await list(t, '/v1/deployments')).find((d) => d.name === 'acts-digits');
  h.same('its model', (await find())?.model_id, t.ids.model);
  h.expect(404); // its page may ask for it once more
  await h.confirm('deploy.delete', 'acts-digits');
  await h.page.waitForURL(/\/deployments$/);
  await until('it is gone', async () => (await find()) === undefined, 10_000);
  await h.row('acts-digits').waitFor({ state: 'detached' });
}

/** Where the API knows more than the form: a version of the data set that there is not. */
export async function jobs(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/jobs/new', '#f-name');
  await h.page.fill('#f-name', 'acts');
  await h.page.fill('#yaml', `name: acts\nkind: train\nspec:\n  dataset_id: ${t.ids.set}\n  dataset_version: 9\n`);
  h.expect(400, 404, 422);
  await h.click('button', W('submit.go'));
  await h.page.waitForFunction(
    () => document.getElementById('f-spec-dataset_version')?.getAttribute('aria-invalid') === 'true',
    undefined,
    { timeout: 30_000 },
  );
  if ((await list(t, '/v1/jobs')).some((j) => j.name === 'acts')) h.fault('it was submitted all the same');
  await h.page.screenshot({ path: join(t.shots, 'acts-job-refused.png') });
}
