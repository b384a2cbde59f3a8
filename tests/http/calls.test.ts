// SPDX-License-Identifier: Apache-2.0
// calls.test.ts - the rules that every call keeps: conditions, pages, batches, places, quotas. Repeats: mainjob.test.ts.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, idempotencyKey, makeTenant, makeZone, must, problemOf, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const admin: Api = api(ready, ready.admin_token);
let t: { tenant: any; token: string; api: Api };

beforeAll(async () => {
  t = await makeTenant(ready);
});

describe('conditions', () => {
  test('If-Match guards a quota: missing 428, old 412, then it changes', async () => {
    const path = `/v1/tenants/${t.tenant.tenant_id}/quotas/gpus`;
    const current = async () => must(await admin.get(`/v1/tenants/${t.tenant.tenant_id}/quotas`), 200).data.find((q: any) => q.resource === 'gpus');
    const q = await current();
    const none = await admin.put(path, { hard_limit: 3 });
    expect([none.status, problemOf(none).code]).toEqual([428, 'precondition_required']);
    for (const tag of [`"v${q.version + 1}"`, '"v999"', 'v1', '"x"', '""']) {
      const reply = await admin.put(path, { hard_limit: 3 }, { headers: { 'if-match': tag } });
      expect([reply.status, problemOf(reply).code], tag).toEqual([412, 'precondition_failed']);
    }
    expect(await current()).toEqual(q);
    const put = await admin.put(path, { hard_limit: 3 }, { headers: { 'if-match': `"v${q.version}"` } });
    expect(must(put, 200)).toMatchObject({ hard_limit: 3, version: q.version + 1 });
    expect(put.headers.get('etag')).toBe(`"v${q.version + 1}"`);
  });

  test('a quota below what is used is refused with both numbers', async () => {
    const other = await makeTenant(ready);
    for (let i = 0; i < 3; i++) must(await other.api.post('/v1/jobs', { name: 'w', kind: 'noop', pool: 'no-such-pool' }), 201);
    const reply = await admin.put(`/v1/tenants/${other.tenant.tenant_id}/quotas/jobs`, { hard_limit: 2 }, { headers: { 'if-match': '*' } });
    expect([reply.status, problemOf(reply).code]).toEqual([409, 'conflict']);
    expect(reply.json.detail).toMatch(/\b3\b/);
    expect(reply.json.detail).toMatch(/\b2\b/);
    must(await admin.put(`/v1/tenants/${other.tenant.tenant_id}/quotas/jobs`, { hard_limit: 3 }, { headers: { 'if-match': '*' } }), 200);
    const full = await other.api.post('/v1/jobs', { name: 'w', kind: 'noop' });
    expect([full.status, problemOf(full).code]).toEqual([409, 'quota_exceeded']);
  });
});

describe('lists', () => {
  test('are walked page by page by token and by Link, each item once', async () => {
    const other = await makeTenant(ready);
    const names = Array.from({ length: 23 }, (_, i) => `page-${i}`);
    for (const name of names) must(await other.api.post('/v1/jobs', { name, kind: 'noop', pool: 'no-such-pool' }), 201);
    const seen: string[] = [];
    let next: string | undefined = '/v1/jobs?page_size=5&state=PENDING';
    for (let pages = 0; next; pages++) {
      const reply: any = await other.api.get(next);
      const page = must(reply, 200);
      expect(page.data.length).toBeLessThanOrEqual(5);
      seen.push(...page.data.map((j: any) => j.name));
      const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(reply.headers.get('link') ?? '')?.[1];
      expect(link !== undefined).toBe(page.next_page_token !== undefined);
      if (link) expect(new URL(link, ready.api_url).searchParams.get('page_token')).toBe(page.next_page_token);
      next = link;
      expect(pages).toBeLessThan(10);
    }
    expect([...seen].sort()).toEqual([...names].sort());
    expect(seen, 'newest first').toEqual([...names].reverse());
    const token = must(await other.api.get('/v1/jobs?page_size=5'), 200).next_page_token;
    expect((await other.api.get(`/v1/jobs?page_size=5&state=PENDING&page_token=${token}`)).status, 'a token of other filters').toBe(400);
    expect((await other.api.get(`/v1/users?page_token=${token}`)).status, 'a token of another list').toBe(400);
  });
});

describe('a batch', () => {
  test('of 1,000 keeps a verdict per job', async () => {
    const other = await makeTenant(ready);
    must(await admin.put(`/v1/tenants/${other.tenant.tenant_id}/quotas/jobs`, { hard_limit: 5000 }, { headers: { 'if-match': '*' } }), 200);
    const faults: Record<number, [unknown, string, string]> = {
      7: [{ name: 'b', kind: 'serve' }, 'invalid_argument', '/jobs/7/kind'],
      500: [{ name: 'b', kind: 'noop', zone: 'xx-not-mine' }, 'residency_denied', '/jobs/500/zone'],
      999: [{ name: 'b', kind: 'noop', spec: { colour: 'red' } }, 'unknown_field', '/jobs/999/spec/colour'],
    };
    const jobs = Array.from({ length: 1000 }, (_, i) => faults[i]?.[0] ?? { name: `b${i}`, kind: 'noop', pool: 'no-such-pool' });
    const out = must(await other.api.post('/v1/jobs:batch', { jobs }), 207).data;
    expect(out).toHaveLength(1000);
    for (const [i, item] of out.entries()) {
      const fault = faults[i];
      if (fault) expect([item.code, item.pointer, item.job_id], item.detail).toEqual([fault[1], fault[2], undefined]);
      else expect(item.job_id, `job ${i}: ${item.code} ${item.detail}`).toMatch(/^job_[0-9a-f]{32}$/);
    }
    expect(new Set(out.filter((i: any) => i.job_id).map((i: any) => i.job_id)).size).toBe(997);
    expect(must(await other.api.get(`/v1/jobs/${out[998].job_id}`), 200).name).toBe('b998');
    const many = await other.api.post('/v1/jobs:batch', { jobs: Array.from({ length: 1001 }, () => ({ name: 'b', kind: 'noop' })) });
    expect(many.status).toBe(400);
  });

  test('beyond the quota says so for the rest', async () => {
    const other = await makeTenant(ready);
    must(await admin.put(`/v1/tenants/${other.tenant.tenant_id}/quotas/jobs`, { hard_limit: 4 }, { headers: { 'if-match': '*' } }), 200);
    const out = must(await other.api.post('/v1/jobs:batch', { jobs: Array.from({ length: 6 }, () => ({ name: 'b', kind: 'noop', pool: 'no-such-pool' })) }), 207).data;
    expect(out.filter((i: any) => i.job_id)).toHaveLength(4);
    expect(out.filter((i: any) => i.code === 'quota_exceeded')).toHaveLength(2);
  });

  test('with a used key and more jobs stores none of them', async () => {
    const other = await makeTenant(ready);
    const key = idempotencyKey();
    const job = { name: 'b', kind: 'noop', pool: 'no-such-pool' };
    must(await other.api.post('/v1/jobs:batch', { jobs: [job] }, { key }), 201);
    const more = await other.api.post('/v1/jobs:batch', { jobs: [job, job, job] }, { key });
    expect([more.status, problemOf(more).code]).toEqual([422, 'idempotency_key_reused']);
    expect(must(await other.api.get('/v1/jobs'), 200).data).toHaveLength(1);
  });
});

describe('where jobs may be', () => {
  test('a job that no machine can hold is told so at once, with what it needs and what there is', async () => {
    const [node] = must(await admin.get('/v1/nodes'), 200).data;
    const reply = await t.api.post('/v1/jobs', { name: 'wide', kind: 'noop', slots: 4096 });
    expect([reply.status, problemOf(reply).code]).toEqual([422, 'unplaceable']);
    expect(problemOf(reply).errors[0]!.pointer).toBe('/slots');
    expect(reply.json.detail).toMatch(/\b4096 slots\b/);
    expect(reply.json.detail, 'and what the largest machine has').toMatch(new RegExp(`\\b${node.slots}\\b`));
    const gpus = await t.api.post('/v1/jobs', { name: 'wide', kind: 'noop', gpus: 64 });
    expect([gpus.status, problemOf(gpus).code]).toEqual([422, 'unplaceable']);
    expect(gpus.json.detail).toMatch(/^No machine with a GPU is registered in /);
  });

  test('a job pinned to a zone that is not allowed is denied', async () => {
    await makeZone(ready, 'ae-far-1');
    for (const zone of ['ae-far-1', 'no-such-zone']) {
      const reply = await t.api.post('/v1/jobs', { name: 'far', kind: 'noop', zone });
      expect([reply.status, problemOf(reply).code]).toEqual([403, 'residency_denied']);
      expect(problemOf(reply).errors[0]!.pointer).toBe('/zone');
    }
    const set = must(await t.api.post('/v1/datasets', { name: 'far', label_column: 'label', classes: 2 }), 201).dataset_id;
    const reply = await t.api.post(`/v1/datasets/${set}/versions?zone=ae-far-1`, undefined, { raw: 'a,label\n1,0\n', headers: { 'content-type': 'text/csv' } });
    expect([reply.status, problemOf(reply).code]).toEqual([403, 'residency_denied']);
    must(await t.api.post('/v1/jobs', { name: 'near', kind: 'noop', zone: ready.zone }), 201);
  });
});
