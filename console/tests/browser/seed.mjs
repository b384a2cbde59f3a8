// SPDX-License-Identifier: Apache-2.0
// seed.mjs - a tenant with people of every role, data, a finished and a failed job, a model that is served, and a job named to do harm.
//
// What only one area of the console needs is made by the seed() of tests/browser/pages/AREA.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './platform.mjs';

export const PASSWORD = 'a heron by the water wheel';
const PEOPLE = {
  admin: ['Mariam', 'tenant-admin'],
  engineer: ['Omar', 'ml-engineer'],
  compliance: ['Layla', 'compliance-officer'],
  viewer: ['Saif', 'viewer'],
};
export const HOSTILE = '<img src=x onerror=alert(1)> \u0645\u0647\u0645\u0629';

/** t.tenant(method, path, …): a call as the tenant's administrator. t.ids: what was made. t.people: who can sign in. */
export async function furnish(t) {
  const { ready } = t;
  await t.platform('POST', '/v1/zones', { code: ready.zone, name: 'Dubai 1', country: 'AE' }).catch(() => undefined);
  const made = await t.platform('POST', '/v1/tenants', {
    name: 'palm',
    display_name: 'Palm Bank',
    home_zone: ready.zone,
  });
  t.tenantToken = made.admin_token;
  t.tenant = (...rest) => t.call(made.admin_token, ...rest);
  t.ids.tenant = made.tenant_id ?? made.tenant?.tenant_id;
  t.ids.zone = ready.zone;
  for (const [key, [name, role]] of Object.entries(PEOPLE)) {
    const invited = await t.tenant('POST', '/v1/invitations', { name, roles: [role] });
    await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
    t.people[key] = { tenant: 'palm', name, password: PASSWORD };
  }
  const set = await t.tenant('POST', '/v1/datasets', {
    name: 'digits',
    label_column: 'label',
    classes: 10,
    description: 'Handwritten digits',
  });
  await t.tenant(
    'POST',
    `/v1/datasets/${set.dataset_id}/versions`,
    readFileSync(join(t.root, 'datasets/digits/digits.csv'), 'utf8'),
    'text/csv',
  );
  await until('a worker', async () => (await t.platform('GET', '/v1/nodes')).data.some((n) => n.state === 'READY'));
  const train = (name, spec) =>
    t.tenant('POST', '/v1/jobs', { name, kind: 'train', spec: { dataset_id: set.dataset_id, ...spec } });
  const job = await train('digits', { hidden: [16], epochs: 8, seed: 1 });
  const second = await train('digits wide', { hidden: [32], epochs: 6, seed: 2, learning_rate: 0.05 });
  await train(HOSTILE, { hidden: [8], epochs: 2, seed: 2 });
  await until('the job', async () => (await t.tenant('GET', `/v1/jobs/${job.job_id}`)).state === 'COMPLETED');
  const model = await t.tenant('POST', '/v1/models', { name: 'digits', job_id: job.job_id });
  const served = await t.tenant('POST', '/v1/deployments', { name: 'digits', model_id: model.model_id });
  await until('the deployment', async () => (await t.tenant('GET', `/v1/deployments/${served.deployment_id}`)).ready);
  await until('the second job', async () => (await t.tenant('GET', `/v1/jobs/${second.job_id}`)).state === 'COMPLETED');
  await t.tenant('POST', '/v1/api-tokens', { name: 'nightly', expires_in_days: 30 });
  Object.assign(t.ids, {
    job: job.job_id,
    second: second.job_id,
    set: set.dataset_id,
    model: model.model_id,
    served: served.deployment_id,
  });
}
