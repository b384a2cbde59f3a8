// SPDX-License-Identifier: Apache-2.0
// groups.mjs - acts on several rows of a list at once.
import { until } from '../platform.mjs';
import { word } from '../steps.mjs';

/** All rows of a list that is narrowed to them, by one act of the bar. */
async function actOnAll(page, path, first, act) {
  await page.goto(path);
  await page.getByRole('link', { name: first }).first().waitFor();
  await page.locator('th.choose input').click();
  await page
    .locator('.bulk-bar')
    .getByRole('button', { name: word('en', act), exact: true })
    .click();
  await page.locator('[role=dialog] footer button').first().click();
  await page.waitForSelector('.bulk-told');
}

/** Jobs are held back and let go, suspended and resumed, data sets deleted: several at once, and looked up in the API. */
export async function groups(t, page) {
  page.where = 'acts in groups';
  const later = new Date(Date.now() + 3600e3).toISOString();
  const jobs = [];
  for (const name of ['group one', 'group two'])
    jobs.push(await t.tenant('POST', '/v1/jobs', { name, kind: 'noop', begin_at: later, spec: {} }));
  const states = (wanted) =>
    until(`the jobs to be ${wanted}`, async () => {
      const all = await Promise.all(jobs.map(async (j) => (await t.tenant('GET', `/v1/jobs/${j.job_id}`)).state));
      return all.every((x) => x === wanted);
    });
  await actOnAll(page, `${t.base}/jobs?q=group`, 'group one', 'job.hold');
  await states('HELD');
  await actOnAll(page, `${t.base}/jobs?q=group`, 'group one', 'job.release');
  await states('PENDING');
  await actOnAll(page, `${t.base}/jobs?q=group`, 'group one', 'job.suspend');
  await states('SUSPENDED');
  await actOnAll(page, `${t.base}/jobs?q=group`, 'group one', 'job.resume');
  await states('PENDING');
  for (const name of ['group-a', 'group-b'])
    await t.tenant('POST', '/v1/datasets', { name, label_column: 'label', classes: 2 });
  await actOnAll(page, `${t.base}/datasets?q=group-`, 'group-a', 'datasets.delete');
  const left = (await t.tenant('GET', '/v1/datasets?q=group-')).data.length;
  if (left > 0) t.fault(page.where, `${left} data sets are left`);
}
