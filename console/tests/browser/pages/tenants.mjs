// SPDX-License-Identifier: Apache-2.0
// tenants.mjs - tenants and the health of the platform, as its operator sees them.
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
  tenant('tenant-delete', 'facts', { act: button(/^(Ask for deletion|طلب الحذف)$/) }),
  tenant('tenant-zones', 'zones'),
  tenant('tenant-zones-ask', 'zones', { act: button(/^(Ask for a change|طلب تغيير)$/) }),
  tenant('tenant-quotas', 'quotas'),
  tenant('tenant-limit', 'quotas', { act: button(/^(Set the limit|تحديد الحد)$/) }),
  tenant('tenant-rules', 'rules'),
  tenant('tenant-rule', 'rules', { act: button(/^(New rule|قاعدة جديدة)$/) }),
  { name: 'tenant-suspended', path: (ids) => `/tenants/${ids.reed}`, as: 'operator', wait: '.pairs' },
  {
    name: 'health',
    path: '/health',
    as: 'operator',
    wait: '.cards',
    act: async (page) => {
      await page.getByRole('button', { name: /^(Check now|تحقق الآن)$/ }).click();
      await page.waitForSelector('tbody tr');
    },
  },
];
