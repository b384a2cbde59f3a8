// SPDX-License-Identifier: Apache-2.0
// tenants.mjs - tenants and the health of the platform, as its operator sees them.
import { PASSWORD } from '../platform.mjs';

export async function seed(t) {
  const reed = await t.platform('POST', '/v1/tenants', {
    name: 'reed',
    display_name: 'Reed Logistics',
    home_zone: t.ids.zone,
  });
  await t.platform('POST', `/v1/tenants/${reed.tenant_id}/suspend`, { reason: 'invoices' });
  await t.platform('POST', `/v1/tenants/${t.ids.tenant}/quota-rules`, {
    resource: 'slots',
    nominal: 4,
    lending_limit: 2,
  });
  t.ids.reed = reed.tenant_id;
  const law = await t.platform('GET', `/v1/zones/${t.ids.zone}/law`);
  await t.platform('PUT', `/v1/zones/${t.ids.zone}/law`, {
    law: {
      legal_regimes: ['uae-pdpl'],
      regulator: 'UAE Data Office',
      data_classes: law.data_classes.filter((c) => c !== 'gov'),
      rules: [],
      clocks: [],
      worker_cidrs: [],
    },
    reason: 'the decree names its regulator',
  });
  const invited = await t.platform('POST', '/v1/invitations', { name: 'Amal', roles: ['compliance-officer'] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  t.people.watcher = { tenant: t.people.operator.tenant, name: 'Amal', password: PASSWORD };
}

const button = (name) => async (page) => {
  await page.getByRole('button', { name }).first().click();
  await page.waitForSelector('[role=dialog] form');
};
const tenant = (name, tab, more = {}) => ({
  name,
  path: (ids) => `/tenants/${ids.tenant}?tab=${tab}`,
  as: 'operator',
  wait: tab === 'facts' ? '.pairs' : 'tbody tr',
  ...more,
});

export default [
  { name: 'tenants', path: '/tenants', as: 'operator', wait: 'tbody tr' },
  {
    name: 'tenants-new',
    path: '/tenants',
    as: 'operator',
    wait: 'tbody tr',
    act: button(/^(New tenant|مؤسسة جديدة)$/),
  },
  tenant('tenant', 'facts'),
  tenant('tenant-suspend', 'facts', { act: button(/^(Suspend|إيقاف)$/) }),
  tenant('tenant-delete', 'facts', { act: button(/^(Request deletion|طلب الحذف)$/) }),
  tenant('tenant-zones', 'zones'),
  tenant('tenant-zones-ask', 'zones', { act: button(/^(Request a change|طلب تغيير)$/) }),
  tenant('tenant-quotas', 'quotas'),
  tenant('tenant-limit', 'quotas', { act: button(/^(Set the limit|تحديد الحد)$/) }),
  tenant('tenant-rules', 'rules'),
  tenant('tenant-rule', 'rules', { act: button(/^(New rule|قاعدة جديدة)$/) }),
  { name: 'tenant-suspended', path: (ids) => `/tenants/${ids.reed}`, as: 'operator', wait: '.pairs' },
  { name: 'tenants-watched', path: '/tenants', as: 'watcher', wait: 'tbody tr' },
  tenant('tenant-watched', 'zones', { as: 'watcher' }),
  {
    name: 'approval-changes',
    path: '/approvals',
    as: 'watcher',
    wait: 'tbody tr',
    act: async (page) => {
      await page
        .getByRole('button', { name: /^(Full request|الطلب كاملًا)$/ })
        .first()
        .click();
      await page.waitForSelector('.diff-scroll');
    },
  },
  {
    name: 'health',
    path: '/health',
    as: 'operator',
    wait: '.cards',
    act: async (page) => {
      await page.getByRole('button', { name: /^(Check now|التحقق الآن)$/ }).click();
      await page.waitForSelector('tbody tr');
    },
  },
];
