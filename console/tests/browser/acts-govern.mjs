// SPDX-License-Identifier: Apache-2.0
// acts-govern.mjs - what changes keys, holds, transfers, tenants, zones and machines is done in the browser by those who may, approved there
// by others, and looked up in the API afterwards. What a tenant's people do and what the platform's do goes on side by
// side, the machines come last. ACTS=keys,audit runs only those.
import { audit } from './acts/audit.mjs';
import { keys } from './acts/keys.mjs';
import { machines } from './acts/machines.mjs';
import { SECOND, tenants } from './acts/tenants.mjs';
import { ABROAD, transfers } from './acts/transfers.mjs';
import { zones } from './acts/zones.mjs';
import { acts, Hand, invite, walk } from './hand.mjs';
import { run } from './platform.mjs';

const only = process.env.ACTS?.split(',');
const wanted = (name) => only === undefined || only.includes(name);

const OF_ALL = [
  '/',
  '/zones',
  '/residency',
  '/audit',
  '/approvals',
  '/tokens',
  '/notifications',
  '/settings',
  '/workers',
];
const MENUS = {
  keeper: [...OF_ALL, '/root-keys', '/queue/platform', '/health'],
  watcher: [...OF_ALL, '/tenants', '/keys', '/evidence', '/members', '/projects', '/quotas', '/secrets', '/queues'],
};

await run('acts-govern', async (t) => {
  const home = t.people.operator.tenant;
  const people = [
    ['second', t.tenant, 'palm', 'Noor', 'compliance-officer'],
    ['third', t.tenant, 'palm', 'Reem', 'compliance-officer'],
    ['keeper', t.platform, home, 'Hamad', 'zone-operator'],
    ['watcher', t.platform, home, 'Amal', 'compliance-officer'],
    ['watcher2', t.platform, home, 'Badr', 'compliance-officer'],
  ];
  for (const [key, ...rest] of people) await invite(t, key, ...rest);
  await t.platform('POST', '/v1/zones', ABROAD);
  await t.platform('POST', '/v1/zones', SECOND);
  const all = ['admin', 'compliance', 'second', 'third', 'operator', 'watcher', 'watcher2', 'keeper'];
  // One after the other: the API hashes only so many passwords at a time and refuses more.
  const hands = {};
  for (const who of all) hands[who] = await Hand.of(t, who);
  const { admin, compliance, second, third, operator, watcher, watcher2, keeper } = hands;
  const inTenant = async () => {
    if (wanted('keys')) await keys(t, admin, compliance);
    if (wanted('transfers')) await transfers(t, admin, compliance);
    if (wanted('audit')) await audit(t, compliance, [second, third]);
  };
  const onPlatform = async () => {
    if (wanted('zones')) await zones(t, operator, watcher);
    if (wanted('tenants')) await tenants(t, operator, [watcher, watcher2]);
    for (const h of wanted('menus') ? [keeper, watcher] : [])
      await acts(t, h, [['menu', () => walk(t, h, MENUS[h.who])]]);
  };
  await Promise.all([inTenant(), onPlatform()]);
  if (wanted('machines')) await machines(t, operator);
});
