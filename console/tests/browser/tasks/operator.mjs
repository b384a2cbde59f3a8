// SPDX-License-Identifier: Apache-2.0
// operator.mjs - the operator's way: a machine is drained once it is known what runs there, works again, and a zone is added.
import { until } from '../platform.mjs';
import { task } from '../steps.mjs';

/** A job that outlasts the task, so that the preview has something to show. */
async function seed(t) {
  const job = await t.tenant('POST', '/v1/jobs', { name: 'nightly', kind: 'noop', spec: { sleep_ms: 600_000 } });
  await until('the long job', async () => (await t.tenant('GET', `/v1/jobs/${job.job_id}`)).state === 'RUNNING');
  const node = (await t.platform('GET', '/v1/nodes')).data[0];
  Object.assign(t.ids, { node: node.node_id, nodeName: node.name, busy: job.job_id });
}

await task(
  'operator',
  { pointer: 13, keys: 13 },
  async (s, t) => {
    const dialog = { inside: s.page.getByRole('dialog') };
    const isIn = async (state) => (await t.platform('GET', `/v1/nodes/${t.ids.node}`)).state === state;
    await s.click('link', s.word('nav.workers'));
    await s.click('link', t.ids.nodeName);
    await s.click('button', s.word('workers.drain'));
    await s.see('grid', s.word('workers.work'), dialog);
    await s.see('text', `${t.ids.busy.slice(0, 8)}…${t.ids.busy.slice(-6)}`);
    await s.fill(s.word('confirm.reason'), s.own('new disks'), dialog);
    await s.click('button', s.word('workers.drain'), dialog);
    await until('the machine to be drained', () => isIn('DRAINING'));
    await s.click('button', s.word('workers.undrain'));
    await s.fill(s.word('confirm.reason'), s.own('disks are in'), dialog);
    await s.click('button', s.word('workers.undrain'), dialog);
    await until('the machine to be back', () => isIn('READY'));
    const code = `ae-fjr-${s.own('z').replace(/[^a-z]/g, '')}`;
    await s.click('link', s.word('nav.zones'));
    await s.click('button', s.word('zones.new'));
    await s.fill(s.word('col.code'), code, dialog);
    await s.fill(s.word('col.name'), 'Fujairah', dialog);
    await s.click('button', s.word('zones.new'), dialog);
    await s.see('heading', code);
    await until('the zone', async () => (await t.platform('GET', `/v1/zones/${code}`)).country === 'AE');
  },
  { seed },
);
