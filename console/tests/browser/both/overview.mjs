// SPDX-License-Identifier: Apache-2.0
// overview.mjs - the first page of each role: what is left to set up, how the log, holds, crossings and exports stand, and
// failures by their cause.
import { until } from '../platform.mjs';

/** Two jobs that fail for one cause. */
export async function seed(t) {
  const body = (name) => ({
    name,
    kind: 'train',
    max_attempts: 1,
    spec: { dataset_id: t.ids.set, hidden: [16], epochs: 3, learning_rate: 10, optimizer: 'sgd' },
  });
  const jobs = [];
  for (const name of ['cause-one', 'cause-two']) jobs.push(await t.tenant('POST', '/v1/jobs', body(name)));
  for (const { job_id } of jobs)
    await until('a failure', async () => (await t.tenant('GET', `/v1/jobs/${job_id}`)).state === 'FAILED');
}
const sees = async (h, ...keys) => {
  for (const key of keys)
    await h.page
      .getByText(h.word(key), { exact: true })
      .first()
      .waitFor({ timeout: 15_000 })
      .catch(() => h.fault(`${key} is not there`));
};

export default [
  {
    name: 'first page of an operator',
    as: 'operator',
    path: '/',
    act: async (h) => {
      await sees(h, 'start.operator', 'start.price', 'overview.capacity', 'overview.newTenants');
      await sees(h, 'overview.slotsUsed', 'overview.tenants', 'overview.attention');
    },
  },
  {
    name: 'first page of an administrator',
    as: 'admin',
    path: '/',
    act: async (h) => {
      await sees(h, 'start.admin');
      const steps = await h.page.locator('ol.steps').first().innerText();
      for (const key of ['start.people', 'start.quotas', 'start.budgets', 'start.signOn'])
        h.must(steps.includes(h.word(key)), `${key} is not among the steps`);
    },
  },
  {
    name: 'first page of an officer',
    as: 'compliance',
    path: '/',
    expected: [404], // the log has no signed head in its first minute
    act: async (h) => {
      await sees(h, 'overview.proof', 'overview.holdsActive', 'overview.asked', 'overview.legalClocks');
      await sees(h, 'overview.holds', 'overview.crossings', 'overview.exports');
    },
  },
  {
    name: 'failures by cause',
    as: 'engineer',
    path: '/',
    act: async (h, t) => {
      const failed = (await t.tenant('GET', '/v1/jobs?group=failed&page_size=50')).data;
      const of = failed.filter((j) => j.name.startsWith('cause-'));
      h.must(new Set(of.map((j) => j.message)).size === 1, `causes: ${of.map((j) => j.message).join(' | ')}`);
      const count = failed.filter((j) => j.message === of[0].message).length;
      const name = `\u2068${of[0].name}\u2069`;
      await h.page
        .getByText(h.word('overview.sameCause', { count, n: String(count), name }))
        .first()
        .waitFor();
      h.must((await h.page.getByText('cause-two', { exact: true }).count()) <= 1, 'each failure has a row');
    },
  },
];
