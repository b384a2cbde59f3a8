// SPDX-License-Identifier: Apache-2.0
// job_together.test.ts - submissions that come at the same moment are stored and answered together, and yet each gets what it
// would have got alone: two tenants, one of them with little room, bad ones, and keys that come twice, with the same body and
// with another.
import { beforeAll, expect, inject, test } from 'vitest';
import { api, idempotencyKey, makeTenant, must, problemOf, type Api, type Ready, type Reply } from '../harness.ts';

const ready: Ready = inject('falaj');
const EACH = 24;
const ROOM = 5;
const any = { headers: { 'if-match': '*' } };
let wide: Api;
let narrow: Api;

// Its machine does not exist, so that no job ends meanwhile and makes room.
const job = (name: string, over = {}) => ({ name, kind: 'noop', pool: 'no-machines', ...over });
const withKey = (who: Api, key: string, body: object): Promise<Reply> => who.post('/v1/jobs', body, { key });

beforeAll(async () => {
  wide = (await makeTenant(ready)).api;
  const made = await makeTenant(ready);
  narrow = made.api;
  const quota = `/v1/tenants/${made.tenant.tenant_id}/quotas/jobs`;
  must(await api(ready, ready.admin_token).put(quota, { hard_limit: ROOM }, any), 200);
});

test('calls that come together keep their own answers', async () => {
  const keys = Array.from({ length: EACH }, idempotencyKey);
  const good = keys.map((key, i) => withKey(wide, key, job(`good-${i}`)));
  const tight = keys.map((key, i) => withKey(narrow, key, job(`tight-${i}`)));
  const bad = keys.map((_, i) => wide.post('/v1/jobs', job(`bad-${i}`, { slots: 0 })));
  const again = keys.map((key, i) => withKey(wide, key, job(`good-${i}`)));
  const other = keys.map((key, i) => withKey(wide, key, job(`other-${i}`)));
  const all = (calls: Promise<Reply>[]): Promise<Reply[]> => Promise.all(calls);
  const [goods, tights, bads, agains, others] =
    await Promise.all([all(good), all(tight), all(bad), all(again), all(other)]);

  for (const reply of bads) {
    expect(reply.status).toBe(400);
    expect(problemOf(reply).errors[0]?.pointer).toBe('/slots');
  }
  const stored = tights.filter((r) => r.status === 201);
  expect(stored).toHaveLength(ROOM);
  for (const reply of tights.filter((r) => r.status !== 201)) {
    expect(reply.status).toBe(409);
    expect(problemOf(reply).code).toBe('quota_exceeded');
    expect(reply.json.detail).toMatch(/room for \d/);
  }
  // Of three calls with one key the body that came first is stored, whichever that was; the same again finds it, another is
  // refused.
  for (let i = 0; i < EACH; i++) {
    const three = [goods[i]!, agains[i]!, others[i]!];
    const made = three.filter((r) => r.status === 201);
    const refused = three.filter((r) => r.status !== 201);
    expect(made.length === 2 ? [goods[i], agains[i]] : [others[i]]).toEqual(made);
    expect(new Set(made.map((r) => r.json.job_id)).size).toBe(1);
    expect(made.filter((r) => r.headers.get('idempotency-replayed') === 'true')).toHaveLength(made.length - 1);
    for (const reply of refused) expect(problemOf(reply).code).toBe('idempotency_key_reused');
  }
  const names = async (who: Api): Promise<string[]> => {
    const list = must(await who.get('/v1/jobs?page_size=100'), 200).data;
    return list.map((j: { name: string }) => j.name).sort();
  };
  const want = (replies: Reply[]): string[] => {
    const made = replies.filter((r) => r.status === 201);
    return [...new Set(made.map((r) => r.json.name as string))].sort();
  };
  expect(await names(wide)).toEqual(want([...goods, ...agains, ...others]));
  expect(await names(narrow)).toEqual(want(stored));
});
