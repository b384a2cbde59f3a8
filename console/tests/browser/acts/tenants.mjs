// SPDX-License-Identifier: Apache-2.0
// tenants.mjs - a tenant from its first day to its end: made with a token that works, limited, allowed more zones by its own officer,
// suspended, resumed, and brought back from its deletion.
import { acts, Hand, invite } from '../hand.mjs';

export const SECOND = { code: 'ae-auh-1', name: 'Abu Dhabi 1', country: 'AE' };

export async function tenants(t, operator, officers) {
  const second = SECOND.code;
  let id;
  let token;
  const tenant = () => t.platform('GET', `/v1/tenants/${id}`);
  const must = async (state) => {
    const now = await tenant();
    if (now.state !== state) throw new Error(`the tenant is ${now.state}, not ${state}`);
  };
  const isIn = () =>
    t.call(token, 'GET', '/v1/me').then(
      () => true,
      () => false,
    );
  await acts(t, operator, [
    [
      'create a tenant',
      async (h) => {
        await h.go('/tenants');
        await h.press('tenants.new');
        await h.submit({ name: 'reed', display_name: 'Reed Logistics', home_zone: t.ids.zone, admin_name: 'Rashid' });
        token = await h.dialog.locator('input').inputValue();
        await h.press('confirm.kept', h.dialog);
        const who = await t.call(token, 'GET', '/v1/me');
        if (who.name !== 'Rashid') throw new Error(JSON.stringify(who));
        id = (await t.platform('GET', '/v1/tenants?name=reed')).data[0].tenant_id;
        await h.page.getByRole('link', { name: 'reed' }).click();
        await h.page.waitForURL(`**/tenants/${id}`);
      },
    ],
    [
      'set a limit and a rule',
      async (h) => {
        await h.go(`/tenants/${id}?tab=quotas`);
        const row = h.row(h.word('quota.slots'));
        await h.press('tenants.setLimit', row);
        await h.submit({ hard_limit: '7' });
        await row.getByText('7', { exact: true }).waitFor();
        const limit = (await t.platform('GET', `/v1/tenants/${id}/quotas`)).data.find((q) => q.resource === 'slots');
        if (limit.hard_limit !== 7) throw new Error(JSON.stringify(limit));
        await h.go(`/tenants/${id}?tab=rules`);
        await h.press('tenants.newRule');
        await h.submit({ resource: 'slots', nominal: '3', lending_limit: '1' });
        const [rule] = (await t.platform('GET', `/v1/tenants/${id}/quota-rules`)).data;
        if (rule?.nominal !== 3 || rule.lending_limit !== 1 || rule.borrowing_limit !== null)
          throw new Error(JSON.stringify(rule));
      },
    ],
    [
      'ask for its allowed zones',
      async (h) => {
        await h.go(`/tenants/${id}?tab=zones`);
        await h.press('tenants.askZones');
        await h.submit({ [`zone_${second}`]: true, class_gov: t.ids.zone, reason: 'a second site' });
      },
    ],
  ]);
  const own = (...rest) => t.call(token, ...rest);
  await invite(t, 'reedOfficer', own, 'reed', 'Dana', 'compliance-officer');
  const dana = await Hand.of(t, 'reedOfficer');
  await acts(t, dana, [
    [
      'approve the allowed zones',
      async (h) => {
        await h.approve(own, 'tenant.zones', undefined, {
          changes: async (dialog) => {
            const table = dialog.getByRole('grid', { name: h.word('approvals.changes') });
            await table.getByText('allowed_zones').waitFor();
            await table.getByText('classes.gov').waitFor();
          },
        });
        const now = await t.platform('GET', `/v1/tenants/${id}/zones`);
        const gov = now.classes.find((c) => c.data_class === 'gov');
        if (!now.allowed_zones.includes(second) || gov?.zones.join() !== t.ids.zone)
          throw new Error(JSON.stringify(now));
      },
    ],
  ]);
  await dana.page.context().close();
  await acts(t, operator, [
    [
      'suspend and resume',
      async (h) => {
        await h.go(`/tenants/${id}`);
        await h.press('tenants.suspend');
        await h.submit({ running: 'stop', reason: 'invoices' });
        await must('SUSPENDED');
        if (await isIn()) throw new Error('its people come in while it is suspended');
        await h.press('tenants.resume');
        await h.submit();
        await must('ACTIVE');
        if (!(await isIn())) throw new Error('its people do not come in again');
      },
    ],
    [
      'ask for its deletion',
      async (h) => {
        await h.confirm('tenants.delete', 'reed', { reason: 'the contract has ended' });
        await must('ACTIVE');
      },
    ],
  ]);
  for (const officer of officers)
    await acts(t, officer, [['approve the deletion', (h) => h.approve(t.platform, 'tenant.delete', 'reed')]]);
  await acts(t, operator, [
    [
      'call the deletion off',
      async (h) => {
        await must('DELETING');
        await h.go(`/tenants/${id}`);
        await h.sees(h.word('tenants.deleting'));
        await h.press('tenants.undelete');
        await h.submit();
        await must('SUSPENDED');
      },
    ],
  ]);
}
