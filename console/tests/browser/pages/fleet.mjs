// SPDX-License-Identifier: Apache-2.0
// fleet.mjs - machines, join tokens and zones, as the operator of the platform sees them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql, uuid } from '../db.mjs';
import { PASSWORD } from '../platform.mjs';

const IMAGE = `registry.example/ml/falaj-worker@sha256:${'6b'.repeat(32)}`;

/** Zones with the laws of the example file, one at a place that no table knows, and a tenant that may use four of them. */
export async function seed(t) {
  t.ids.node = (await t.platform('GET', '/v1/nodes')).data[0].node_id;
  await t.platform('POST', '/v1/join-tokens', { zone: t.ids.zone, pool: 'default', node_name: 'gpu-7', uses: 1 });
  await t.platform('POST', '/v1/reservations', {
    purpose: 'maintenance',
    nodes: [t.ids.node],
    from_at: new Date(Date.now() + 20 * 86_400_000).toISOString(),
    until_at: new Date(Date.now() + 20.5 * 86_400_000).toISOString(),
    reason: 'new fans',
  });
  const engine = await t.platform('POST', '/v1/engines', {
    name: 'hpc',
    zone: t.ids.zone,
    address: 'unix:/nowhere/slurmrestd',
    machines: 16,
  });
  t.ids.engine = engine.engine_id;
  const cluster = await t.platform('POST', '/v1/engines', {
    name: 'gpu-cluster',
    kind: 'kubernetes',
    zone: t.ids.zone,
    address: 'https://127.0.0.1:9',
    account: 'falaj-runs',
    credential: 'gpu-cluster.pem',
    place: 'team-queue',
    image: IMAGE,
    node_selector: 'gpu=h100,team=falaj,topology.kubernetes.io/zone=dxb-1',
    tolerations: 'gpu=yes:NoSchedule,spot:NoExecute',
  });
  t.ids.cluster = cluster.engine_id;
  sql(t, `UPDATE node SET engines = 'onnxruntime 1.22.0' WHERE node_id = '${uuid(t.ids.node)}'`);
  const { zones } = JSON.parse(readFileSync(join(t.root, 'deploy/zones.example.json'), 'utf8'));
  const there = (await t.platform('GET', '/v1/zones')).data.map((z) => z.code);
  for (const z of [
    ...zones,
    { ...zones[0], code: 'ae-auh-1', name: 'Abu Dhabi 1' },
    { ...zones[0], code: 'ae-xyz-1', name: 'Liwa' },
  ])
    if (!there.includes(z.code)) await t.platform('POST', '/v1/zones', z);
  const made = await t.platform('POST', '/v1/tenants', {
    name: 'oryx',
    display_name: 'Oryx Health',
    home_zone: t.ids.zone,
    allowed_zones: [t.ids.zone, 'ae-auh-1', 'sa-ruh-1', 'de-fra-1'],
  });
  t.ids.oryx = made.tenant_id;
  const invited = await t.call(made.admin_token, 'POST', '/v1/invitations', { name: 'Hind', roles: ['tenant-admin'] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  t.people.oryx = { tenant: 'oryx', name: 'Hind', password: PASSWORD };
  await t.call(made.admin_token, 'POST', '/v1/transfer-policies', {
    from_zone: t.ids.zone,
    to_zone: 'de-fra-1',
    data_class: 'personal',
    purpose: 'training',
    legal_basis: 'contract',
    document_sha256: 'ab'.repeat(32),
    assessment_ref: 'TRA-7',
    valid_until: new Date(Date.now() + 90 * 86_400_000).toISOString(),
  });
}

const button = (name) => async (page) => {
  await page.getByRole('button', { name }).first().click();
  await page.waitForSelector('[role=dialog] form');
};

export default [
  { name: 'workers', path: '/workers', as: 'operator', wait: '.fleet-node' },
  { name: 'workers-table', path: '/workers?view=table', as: 'operator', wait: 'tbody tr' },
  { name: 'cluster', path: '/cluster', as: 'operator', wait: 'tbody tr' },
  { name: 'cluster-admin', path: '/cluster', as: 'admin', wait: 'tbody tr' },
  { name: 'workers-none', path: '/workers?state=LOST', as: 'operator' },
  { name: 'workers-admin', path: '/workers', as: 'admin', wait: '.fleet-node' },
  {
    name: 'node',
    path: (ids) => `/workers/${ids.node}`,
    as: 'operator',
    wait: '.pairs',
    act: (page) => page.locator('.pairs', { hasText: 'onnxruntime 1.22.0' }).first().waitFor(),
  },
  {
    name: 'node-drain',
    path: (ids) => `/workers/${ids.node}`,
    as: 'operator',
    wait: '.pairs',
    act: button(/^(Drain|تفريغ)$/),
  },
  { name: 'reservations', path: '/reservations', as: 'operator', wait: 'tbody tr' },
  {
    name: 'reservation-new',
    path: '/reservations',
    as: 'operator',
    wait: 'tbody tr',
    act: button(/^(Reserve nodes|حجز أجهزة)$/),
  },
  { name: 'engines', path: '/engines', as: 'operator', wait: 'tbody tr' },
  {
    name: 'engine-new',
    path: '/engines',
    as: 'operator',
    wait: 'tbody tr',
    act: button(/^(Add an engine|إضافة مجدول خارجي)$/),
  },
  { name: 'engine', path: (ids) => `/engines/${ids.engine}`, as: 'operator', wait: '.pairs' },
  {
    name: 'engine-pause',
    path: (ids) => `/engines/${ids.engine}`,
    as: 'operator',
    wait: '.pairs',
    act: button(/^(Pause|إيقاف مؤقت)$/),
  },
  {
    name: 'engine-cluster',
    path: (ids) => `/engines/${ids.cluster}`,
    as: 'operator',
    wait: '.pairs',
    act: (page) => page.getByText(IMAGE).waitFor(),
  },
  {
    // What only the API knows of a kind stands at its field as well.
    name: 'engine-cluster-refused',
    path: '/engines?new=engine',
    as: 'operator',
    wait: '[role=dialog] form',
    expected: [400],
    act: async (page) => {
      await page.fill('#f-name', 'second-cluster');
      await page.selectOption('#f-kind', 'kubernetes');
      await page.fill('#f-address', 'https://127.0.0.1:9');
      await page.locator('[role=dialog] button[type=submit]').click();
      await page.locator('#f-image[aria-invalid=true]').waitFor();
    },
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
  { name: 'zones', path: '/zones', as: 'operator', wait: '.zone-map' },
  { name: 'zones-admin', path: '/zones', as: 'oryx', wait: '.zone-map' },
  { name: 'zone-new', path: '/zones', as: 'operator', wait: '.zone-map', act: button(/^(New zone|نطاق جديد)$/) },
  { name: 'zone', path: '/zones/sa-ruh-1', as: 'operator', wait: 'h3' },
  {
    name: 'zone-law',
    path: '/zones/ae-auh-1',
    as: 'operator',
    wait: 'h3',
    act: button(/^(Request a change of the law|طلب تغيير القانون)$/),
  },
  { name: 'residency-platform', path: '/residency', as: 'operator', wait: 'tbody tr' },
  { name: 'residency', path: '/residency', as: 'oryx', wait: 'tbody tr' },
  { name: 'residency-policies', path: '/residency?tab=policies', as: 'oryx', wait: 'tbody tr' },
  {
    name: 'residency-propose',
    path: '/residency?tab=policies',
    as: 'oryx',
    wait: 'tbody tr',
    act: button(/^(Propose a policy|اقتراح سياسة)$/),
  },
  { name: 'residency-transfers', path: '/residency?tab=transfers', as: 'admin' },
  { name: 'residency-refused', path: '/residency?tab=refused', as: 'admin' },
  {
    name: 'what-if',
    path: '/residency/what-if',
    as: 'oryx',
    wait: 'form',
    act: async (page) => {
      await page.locator('[name=zone]').selectOption('de-fra-1');
      await page.locator('form button[type=submit]').click();
      await page.waitForSelector('.whatif-result tbody tr');
    },
  },
  {
    name: 'residency-ask',
    path: '/residency?tab=ask&class=health&to=de-fra-1',
    as: 'oryx',
    wait: '.flow-ask-page form',
    act: async (page) => {
      await page.locator('.flow-ask-page button[type=submit]').click();
      await page.waitForSelector('.flow-words');
    },
  },
];
