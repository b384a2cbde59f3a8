// SPDX-License-Identifier: Apache-2.0
// quotas.test.ts - prices, budgets, rules and limits over HTTP: refusals with both numbers, what is shown of them, usage as sums and as CSV,
// and the headers of rate limits.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, waitJob, PATIENCE_MS, type Api, type Ready } from './harness.ts';

describe('quotas', () => {
  let ready: Ready;
  let admin: Api;
  let tenant: Api;
  let id: string;
  const job = (over = {}) => ({ name: 'q', kind: 'noop', spec: {}, max_runtime_seconds: 60, ...over });
  const any = { headers: { 'if-match': '*' } };

  beforeAll(async () => {
    ready = inject('falaj');
    admin = api(ready, ready.admin_token);
    const made = await makeTenant(ready);
    tenant = made.api;
    id = made.tenant.tenant_id;
  });

  test('a price is charged, summed up and exported', async () => {
    const price = must(await admin.post('/v1/prices', { flavor: 'cpu', currency: 'AED', slot_hour: 3600, slot_watts: 100 }), 201);
    expect(must(await tenant.get('/v1/prices?flavor=cpu'), 200).data[0].price_id).toBe(price.price_id);
    const past = await admin.post('/v1/prices', { flavor: 'cpu', currency: 'AED', valid_from: '2020-01-01T00:00:00Z' });
    expect(problemOf(past).code).toBe('invalid_argument');
    must(await tenant.post('/v1/queues', { name: 'night' }), 201);
    const made = must(await tenant.post('/v1/jobs', job({ queue: 'night' })), 201);
    expect(made.queue).toBe('night');
    await waitJob(tenant, made.job_id);
    const sums = must(await tenant.get('/v1/usage?by=day,queue,flavor'), 200).data;
    expect(sums).toHaveLength(1);
    expect(sums[0]).toMatchObject({ queue: 'night', flavor: 'cpu', currency: 'AED', attempts: 1 });
    expect(sums[0].zone).toBeUndefined();
    const csv = await tenant.get('/v1/usage.csv', { accept: 'text/csv' });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text.trim().split('\r\n')).toHaveLength(2);
    expect(csv.text).toContain(',night,cpu,');
  });

  test('a reserving budget refuses with the numbers, and lets in when it is raised', async () => {
    const made = must(await tenant.post('/v1/budgets', { name: 'b', measure: 'money', amount: 50, currency: 'AED', period: 'total', stop_percent: 100, reserve: true }), 201);
    const refused = await tenant.post('/v1/jobs', job());
    expect(refused.status).toBe(409);
    expect(problemOf(refused).code).toBe('budget_exhausted');
    expect(refused.json.detail).toMatch(/The budget b allows 50 minor units of AED; .* and this may take 60/);
    must(await tenant('PATCH', `/v1/budgets/${made.budget_id}`, { body: { amount: 100000 }, ...any }), 200);
    await waitJob(tenant, must(await tenant.post('/v1/jobs', job()), 201).job_id);
    expect(must(await tenant.get(`/v1/budgets/${made.budget_id}`), 200)).toMatchObject({ state: 'OPEN', amount: 100000, warn_percent: [80, 100] });
    expect((await tenant.delete(`/v1/budgets/${made.budget_id}`, any)).status).toBe(204);
  });

  test('rules divide what there is and no more', async () => {
    must(await admin.post(`/v1/tenants/${id}/quota-rules`, { resource: 'slots', nominal: 4 }), 201);
    const rule = must(await tenant.post('/v1/quota-rules', { place: 'queue', queue: 'day', resource: 'slots', nominal: 3 }), 201);
    expect(rule).toMatchObject({ used: 0, borrowing_limit: null, weight: 1000 });
    const more = await tenant.post('/v1/quota-rules', { place: 'queue', queue: 'night', resource: 'slots', nominal: 2 });
    expect(more.status).toBe(409);
    expect(more.json.detail).toMatch(/would have 5, more than the 4 /);
    expect((await tenant.put(`/v1/quota-rules/${rule.rule_id}`, { nominal: 4 })).status).toBe(428);
    must(await tenant.put(`/v1/quota-rules/${rule.rule_id}`, { nominal: 4 }, any), 200);
    const own = must(await tenant.get('/v1/quota-rules?place=tenant'), 200).data[0];
    expect((await tenant.put(`/v1/quota-rules/${own.rule_id}`, { nominal: 9 }, any)).status).toBe(403);
  });

  test('limits of running and waiting jobs', async () => {
    must(await admin.put(`/v1/tenants/${id}/quotas/pending_jobs`, { hard_limit: 0 }, any), 200);
    const refused = await tenant.post('/v1/jobs', job());
    expect(problemOf(refused).code).toBe('quota_exceeded');
    expect(refused.json.detail).toMatch(/0 of 0 wait/);
    must(await admin.put(`/v1/tenants/${id}/quotas/pending_jobs`, { hard_limit: 10 }, any), 200);
  });

  test('a limit of its own holds within seconds, and the headers say what is left', async () => {
    must(await admin.put(`/v1/tenants/${id}/quotas/api_rate_per_minute`, { hard_limit: 7777 }, any), 200);
    let policy = '';
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until && !policy.includes('7777');) {
      policy = (await tenant.get('/v1/quotas')).headers.get('ratelimit-policy') ?? '';
      await new Promise((done) => setTimeout(done, 250));
    }
    expect(policy).toMatch(/^"tenant";q=7777;w=60(, "principal";q=\d+;w=60)?$/);
    expect((await tenant.get('/v1/quotas')).headers.get('ratelimit')).toMatch(/^"tenant";r=\d+;t=\d+(, "principal";r=\d+;t=\d+)?$/);
  });
});
