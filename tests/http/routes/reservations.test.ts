// SPDX-License-Identifier: Apache-2.0
// reservations.test.ts - machines kept for a window of time: made by staff alone, refused with the sum.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let tenant: { tenant: any; api: Api };
let node: any;
const made: string[] = [];
const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const make = async (over: object = {}): Promise<any> => {
  const body = { purpose: 'maintenance', from_at: at(48), until_at: at(50), nodes: [node.name], ...over };
  const reply = await admin.post('/v1/reservations', body);
  if (reply.status === 201) made.push(reply.json.reservation_id);
  return reply;
};

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  tenant = await makeTenant(ready);
  node = must(await admin.get('/v1/nodes'), 200).data.find((n: any) => n.state === 'READY' || n.state === 'DRAINING');
});
afterAll(async () => {
  for (const id of made) await admin.delete(`/v1/reservations/${id}`);
});

describe('a reservation', () => {
  test('is made, read, listed and removed by staff alone', async () => {
    const r = must(await make({ reason: 'fans' }), 201);
    expect(r).toMatchObject({ purpose: 'maintenance', state: 'PLANNED', machines: 1, reason: 'fans', zone: '' });
    expect(r.node_ids).toEqual([node.node_id]);
    expect(must(await admin.get(`/v1/reservations/${r.reservation_id}`), 200)).toMatchObject({ node_ids: [node.node_id] });
    const listed = must(await admin.get('/v1/reservations?state=PLANNED'), 200).data;
    expect(listed.map((x: any) => x.reservation_id)).toContain(r.reservation_id);
    expect((await tenant.api.get('/v1/reservations')).status).toBe(403);
    const own = { purpose: 'maintenance', until_at: at(1), nodes: [node.name] };
    expect((await tenant.api.post('/v1/reservations', own)).status).toBe(403);
    expect((await admin.delete(`/v1/reservations/${r.reservation_id}`)).status).toBe(204);
    expect((await admin.get(`/v1/reservations/${r.reservation_id}`)).status).toBe(404);
    expect((await admin.delete(`/v1/reservations/${r.reservation_id}`)).status).toBe(404);
  });

  test('that meets another one is refused with the sum and the next window', async () => {
    const first = must(await make(), 201);
    const again = await make({ from_at: at(49), until_at: at(51) });
    expect(again.status).toBe(409);
    expect(again.json.detail).toMatch(/1 machines are wanted; of 1, 1 are in other reservations .* and 0 are left\./);
    const next = /begins at (\S+Z)/.exec(again.json.detail)![1]!;
    expect(Date.parse(next)).toBeGreaterThanOrEqual(Date.parse(first.until_at));
    must(await make({ from_at: next, until_at: new Date(Date.parse(next) + 7_200_000).toISOString() }), 201);
  });

  test('for a tenant names it; wrong ones say where', async () => {
    const refused = async (over: object): Promise<any> => {
      const reply = await make(over);
      return [reply.status, problemOf(reply).errors?.[0]?.pointer];
    };
    expect(await refused({ purpose: 'tenant' })).toEqual([400, '/tenant_id']);
    expect(await refused({ tenant_id: tenant.tenant.tenant_id })).toEqual([400, '/tenant_id']);
    expect(await refused({ until_at: at(1) })).toEqual([400, '/until_at']);
    expect(await refused({ nodes: ['no-such-machine'] })).toEqual([400, '/nodes/0']);
    expect(await refused({ machines: 2 })).toEqual([400, '/nodes']);
    expect(await refused({ nodes: [], zone: node.zone, flavor: node.flavor, machines: 900 })).toEqual([400, '/machines']);
    const whom = { purpose: 'tenant', tenant_id: tenant.tenant.tenant_id };
    const r = must(await make({ ...whom, from_at: at(100), until_at: at(101) }), 201);
    expect(r).toMatchObject({ purpose: 'tenant', tenant_id: tenant.tenant.tenant_id });
  });
});
