// SPDX-License-Identifier: Apache-2.0
// money.mjs - quotas, rules, budgets, usage, prices; secrets; approvals.
import { settled } from '../checks.mjs';
import { until } from '../platform.mjs';

export async function seed(t) {
  const flavor = (await t.platform('GET', '/v1/nodes')).data[0].flavor || 'standard';
  await t.platform('POST', '/v1/prices', {
    flavor,
    currency: 'AED',
    slot_hour: 250,
    gpu_hour: 1800,
    kwh: 38,
    slot_watts: 40,
  });
  const priced = await t.tenant('POST', '/v1/jobs', {
    name: 'priced',
    kind: 'train',
    spec: { dataset_id: t.ids.set, hidden: [64], epochs: 20, seed: 3 },
  });
  await until('the priced job', async () => (await t.tenant('GET', `/v1/jobs/${priced.job_id}`)).state === 'COMPLETED');
  await t.tenant('POST', '/v1/quota-rules', {
    place: 'queue',
    queue: 'night',
    resource: 'slots',
    nominal: 2,
    borrowing_limit: 2,
  });
  const queue = await t.tenant('POST', '/v1/queues', {
    name: 'night',
    mode: 'StrictFIFO',
    reclaim_within_cohort: 'Any',
  });
  t.ids.queue = queue.queue_id;
  const named = 'nightly-'.repeat(7) + 'batches';
  t.ids.longQueue = (await t.tenant('POST', '/v1/queues', { name: named, stop_policy: 'Hold' })).queue_id;
  const secret = await t.tenant('POST', '/v1/secrets', { name: 'hub-token', description: 'reads models of the hub' });
  t.ids.secret = secret.secret_id;
  await t.tenant('POST', '/v1/budgets', {
    name: 'Research',
    measure: 'money',
    amount: 500000,
    currency: 'AED',
    period: 'month',
    warn_percent: [80, 100],
    stop_percent: 100,
  });
  await t.tenant('POST', '/v1/budgets', { name: 'Night runs', measure: 'gpu_hours', amount: 120, period: 'total' });
}

const dialog = (button) => async (page) => {
  await page.getByRole('button', { name: button }).first().click();
  await settled(page, '[role=dialog] form');
};

export default [
  { name: 'quotas', path: '/quotas', as: 'admin' },
  { name: 'quotas-rules', path: '/quotas?tab=rules', as: 'admin' },
  { name: 'quotas-rule-edit', path: '/quotas?tab=rules', as: 'admin', act: dialog(/^(Edit|تعديل)$/) },
  { name: 'quotas-budgets', path: '/quotas?tab=budgets', as: 'admin' },
  { name: 'quotas-budget-new', path: '/quotas?tab=budgets', as: 'admin', act: dialog(/^(New budget|ميزانية جديدة)$/) },
  { name: 'quotas-usage', path: '/quotas?tab=usage', as: 'admin' },
  { name: 'quotas-prices', path: '/quotas?tab=prices', as: 'admin' },
  { name: 'queues', path: '/queues', as: 'admin' },
  { name: 'queue-new', path: '/queues', as: 'admin', act: dialog(/^(Declare a queue|إعلان طابور)$/) },
  { name: 'notifications', path: '/notifications', as: 'admin' },
  { name: 'notifications-own', path: '/notifications?tab=own', as: 'admin', expected: [404] },
  { name: 'queue', path: (ids) => `/queues/${ids.queue}`, as: 'admin' },
  { name: 'queue-long', path: (ids) => `/queues/${ids.longQueue}`, as: 'viewer' },
  { name: 'secrets', path: '/secrets', as: 'admin' },
  { name: 'secret-new', path: '/secrets', as: 'admin', act: dialog(/^(Add a secret|إضافة سر)$/) },
  { name: 'secret', path: (ids) => `/secrets/${ids.secret}`, as: 'admin' },
  { name: 'secret-values', path: (ids) => `/secrets/${ids.secret}?tab=versions`, as: 'admin' },
  { name: 'prices', path: '/prices', as: 'operator' },
  { name: 'approvals', path: '/approvals', as: 'admin' },
];
