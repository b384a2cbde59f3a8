// SPDX-License-Identifier: Apache-2.0
// machines.mjs - nodes and what waits for them: a job that no node can take says so, draining names whose work is there, and a
// tenant sees the nodes of its own zones alone.
import { sql, uuid } from '../db.mjs';
import { until } from '../platform.mjs';

const FAR = 'munich-7';

/** A job that runs for as long as it is looked at, one that waits for a pool that is not there, and a node where
 *  the tenant may not be. */
export async function seed(t) {
  t.ids.node = (await t.platform('GET', '/v1/nodes')).data[0].node_id;
  t.ids.nodeName = (await t.platform('GET', '/v1/nodes')).data[0].name;
  const poolless = { name: 'no such pool', kind: 'noop', pool: 'h100', spec: {} };
  t.ids.poolless = (await t.tenant('POST', '/v1/jobs', poolless)).job_id;
  const busy = { name: 'a long night', kind: 'noop', slots: 1, spec: { sleep_ms: 600_000 } };
  const { job_id: id } = await t.tenant('POST', '/v1/jobs', busy);
  await until('it runs', async () => (await t.tenant('GET', `/v1/jobs/${id}`)).state === 'RUNNING');
  await t.platform('POST', '/v1/zones', { code: 'de-muc-9', name: 'Munich 9', country: 'DE' });
  sql(
    t,
    `INSERT INTO node SELECT (jsonb_populate_record(n, jsonb_build_object('node_id', gen_random_uuid(), 'name', '${FAR}',
       'zone', 'de-muc-9', 'identity', '${FAR}', 'state', 'LOST'))).* FROM node n WHERE n.node_id = '${uuid(t.ids.node)}'`,
  );
}

/** Ticks rows and does one act on all of them. */
async function many(h, names, key, reason) {
  for (const name of names) await h.row(name).getByRole('checkbox').check();
  const bar = h.page.locator('.bulk-bar');
  await h.press(key, bar);
  const go = h.word('bulk.go', { what: h.word(key), count: names.length });
  if (reason) {
    h.must(await h.dialog.getByRole('button', { name: go }).isDisabled(), 'it goes without a reason');
    await h.dialog.locator('#bulk-reason').fill(reason);
  }
  await h.click('button', go, { inside: h.dialog });
  await h.dialog.getByText(h.word('bulk.done', { count: names.length })).waitFor();
  await h.press('act.close', h.dialog.locator('footer'));
  await h.gone();
}

export default [
  {
    name: 'many nodes at once',
    as: 'operator',
    path: '/workers?view=table',
    act: async (h, t) => {
      const state = async () => (await t.platform('GET', `/v1/nodes/${t.ids.node}`)).state;
      await many(h, [t.ids.nodeName], 'workers.drain', 'a new fan for each');
      h.same('the node', await state(), 'DRAINING');
      await many(h, [t.ids.nodeName], 'workers.undrain', 'they are in');
      await until('it takes work again', async () => (await state()) === 'READY');
    },
  },
  {
    name: 'many projects and queues at once',
    as: 'admin',
    path: '/projects',
    act: async (h, t) => {
      const names = [1, 2].map((n) => `many-${h.lang}-${n}`);
      for (const name of names) {
        await t.tenant('POST', '/v1/projects', { name });
        await t.tenant('POST', '/v1/queues', { name });
      }
      await h.go('/queues');
      await many(h, names, 'queues.to_Hold');
      const queues = async () =>
        (await t.tenant('GET', '/v1/queues')).data.filter((q) => names.includes(q.name)).map((q) => q.stop_policy);
      h.same('the queues', await queues(), ['Hold', 'Hold']);
      await many(h, names, 'queues.remove');
      h.same('then', await queues(), []);
      await h.go('/projects');
      await many(h, names, 'projects.close');
      const closed = (await t.tenant('GET', '/v1/projects?page_size=200')).data.filter((p) => names.includes(p.name));
      h.same('the projects', new Set(closed.map((p) => p.state)), new Set(['CLOSED']));
    },
  },
  {
    name: 'a pool without nodes, on the job',
    as: 'engineer',
    path: (ids) => `/jobs/${ids.poolless}`,
    act: async (h) => {
      await h.sees(h.word('job.never', { pool: '\u2068h100\u2069' }));
      h.must((await h.page.getByText(h.word('job.first')).count()) === 0, 'it says that the job is next as well');
    },
  },
  {
    name: 'a pool without nodes, before submitting',
    as: 'engineer',
    path: '/jobs/new',
    act: async (h, t) => {
      await h.page.fill('#yaml', 'name: waits\nkind: noop\npool: h100\nspec: {}\n');
      await h.sees(h.word('submit.wouldWait'));
      await h.sees(h.word('job.never', { pool: '\u2068h100\u2069' }));
      await h.page.goto(`${t.base}/jobs/new`); // a draft is offered where the page was left
      await h.press('submit.keptDrop');
    },
  },
  {
    name: 'drain names the work',
    as: 'operator',
    path: (ids) => `/workers/${ids.node}`,
    act: async (h, t) => {
      await h.opens('workers.drain');
      const name = `\u2068${t.ids.nodeName}\u2069`;
      await h.page.getByRole('dialog', { name: h.word('workers.drainOf', { name }) }).waitFor();
      await h.dialog
        .getByText(/Palm Bank|بنك النخيل/)
        .first()
        .waitFor();
      h.same('fields', await h.dialog.locator('input:visible, textarea').count(), 1);
      await h.send('workers.drain');
      await h.refused('confirm.reason');
      await h.put('confirm.reason', 'a new fan');
      await h.send('workers.drain');
      await h.gone();
      const state = async () => (await t.platform('GET', `/v1/nodes/${t.ids.node}`)).state;
      h.same('the node', await state(), 'DRAINING');
      await h.opens('workers.undrain');
      await h.put('confirm.reason', 'it is in');
      await h.send('workers.undrain');
      await h.gone();
      await until('it takes work again', async () => (await state()) === 'READY');
    },
  },
  {
    name: 'nodes as the platform sees them',
    as: 'operator',
    path: '/workers?view=table',
    act: async (h, t) => {
      await h.row(FAR).waitFor();
      await h.row(t.ids.nodeName).waitFor();
    },
  },
  {
    name: 'nodes as a tenant sees them',
    as: 'admin',
    path: '/workers?view=table',
    act: async (h, t) => {
      await h.row(t.ids.nodeName).waitFor();
      const text = await h.page.locator('#main').innerText();
      h.must(!text.includes(FAR) && !text.includes('de-muc-9'), 'a node of a zone that it may not use');
    },
  },
];
