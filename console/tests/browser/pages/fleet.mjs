// SPDX-License-Identifier: Apache-2.0
// fleet.mjs - machines, join tokens and zones, as the operator of the platform sees them.
export async function seed(t) {
  t.ids.node = (await t.platform('GET', '/v1/nodes')).data[0].node_id;
  await t.platform('POST', '/v1/join-tokens', { zone: t.ids.zone, pool: 'default', node_name: 'gpu-7', uses: 1 });
}

const button = (name) => async (page) => {
  await page.getByRole('button', { name }).first().click();
  await page.waitForSelector('[role=dialog] form');
};

export default [
  { name: 'workers', path: '/workers', as: 'operator', wait: '.fleet-node' },
  { name: 'workers-table', path: '/workers?view=table', as: 'operator', wait: 'tbody tr' },
  { name: 'workers-none', path: '/workers?state=LOST', as: 'operator' },
  { name: 'workers-admin', path: '/workers', as: 'admin', wait: '.fleet-node' },
  { name: 'node', path: (ids) => `/workers/${ids.node}`, as: 'operator', wait: '.pairs' },
  {
    name: 'node-drain',
    path: (ids) => `/workers/${ids.node}`,
    as: 'operator',
    wait: '.pairs',
    act: button(/^(Drain|تفريغ)$/),
  },
  { name: 'join', path: '/workers/join', as: 'operator', wait: 'tbody tr' },
  {
    name: 'join-new',
    path: '/workers/join',
    as: 'operator',
    wait: 'tbody tr',
    act: button(/^(New join token|رمز انضمام جديد)$/),
  },
  {
    name: 'join-once',
    path: '/workers/join',
    as: 'operator',
    wait: 'tbody tr',
    act: async (page) => {
      await button(/^(New join token|رمز انضمام جديد)$/)(page);
      await page.locator('[role=dialog] button[type=submit]').click();
      await page.waitForSelector('.join-lines');
    },
  },
  { name: 'zones', path: '/zones', as: 'operator' },
];
