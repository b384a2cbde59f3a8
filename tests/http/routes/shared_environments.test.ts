// SPDX-License-Identifier: Apache-2.0
// shared_environments.test.ts - who may offer, publish, see, sign, withdraw and rule out images that are shared. The machines
// here run no programs, so no image gets READY; what is published and run in: tests/db/scheduler/jobs, e2e/shared_images.py.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';
import { image } from '../image.ts';

const ready: Ready = inject('falaj');
const { bytes, digest } = image([{ name: 'etc/os-release', text: 'ID=tiny\n' }]);
let admin: Api;
let tenant: any;
let other: Api;
let viewer: Api;
let engineer: Api;

async function person(role: string): Promise<Api> {
  const user_id = must(await admin.post('/v1/users', { name: role }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id, role }), 201);
  return api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
}

async function environment(name: string): Promise<any> {
  const made = must(await admin.post('/v1/datasets', { name, target: 'none', data_class: 'public' }), 201);
  must(await admin('POST', `/v1/datasets/${made.dataset_id}/versions?format=oci`, {
    raw: bytes as any, headers: { 'content-type': 'application/octet-stream' } }), 201);
  return must(await admin.post('/v1/environments', { name, dataset_id: made.dataset_id, digest }), 201);
}

beforeAll(async () => {
  ({ api: admin, tenant } = await makeTenant(ready));
  other = (await makeTenant(ready)).api;
  viewer = await person('viewer');
  engineer = await person('ml-engineer');
});

describe('a shared image', () => {
  test('is offered by its organisation’s administrators, published by staff alone, and READY then', async () => {
    const v = await environment('base');
    const path = `/v1/environments/${v.environment_id}/offer`;
    const body = { environment_id: v.environment_id };
    const staff = api(ready, ready.admin_token);
    const publish = (by: Api) => by.post(`/v1/tenants/${tenant.tenant_id}/shared-environments`, body);
    expect((await publish(staff)).text).toContain('has not offered it');
    for (const [by, status] of [[engineer, 403], [viewer, 403], [other, 404], [admin, 200]] as const)
      expect((await by('PUT', path, { body: { offered: true } })).status).toBe(status);
    expect(must(await admin.get(`/v1/environments/${v.environment_id}`), 200).offered_at).toBeTruthy();
    for (const by of [admin, other, engineer]) expect((await publish(by)).status).toBe(403);
    const early = await publish(staff);
    expect([early.status, problemOf(early).errors[0]!.pointer, early.text.includes('It is IMPORTING')]).toEqual(
      [422, '/environment_id', true]);
    expect((await staff.post(`/v1/tenants/${tenant.tenant_id}/shared-environments`, {
      environment_id: 'env_0123456789abcdef0123456789abcdef' })).status).toBe(404);
    expect(must(await admin('PUT', path, { body: { offered: false } }), 200).offered_at).toBeUndefined();
  });

  test('that nobody published is nobody’s to see, run in or change', async () => {
    const nobody = '/v1/shared-environments/shi_0123456789abcdef0123456789abcdef';
    for (const by of [admin, other, engineer, viewer, api(ready, ready.admin_token)])
      expect(must(await by.get('/v1/shared-environments'), 200).data).toEqual([]);
    expect((await other.get(nobody)).status).toBe(404);
    expect((await other.get(`${nobody}/packages`)).status).toBe(404);
    expect((await admin.post(`${nobody}/withdraw`, { reason: 'x' })).status).toBe(403);
    expect((await admin.delete(nobody)).status).toBe(403);
    expect((await api(ready, ready.admin_token).delete(nobody)).status).toBe(404);
    expect((await admin('PUT', `${nobody}/signature`, { body: { signature: 'ab'.repeat(64) } })).status).toBe(404);
    const r = await other.post('/v1/jobs', { name: 'x', kind: 'run', spec: { command: ['x'], environment: `shared/${digest}` } });
    expect([r.status, problemOf(r).errors[0]!.pointer]).toEqual([404, '/spec/environment']);
    for (const environment of ['shared/tiny', 'shared/', `shared/${digest}0`])
      expect((await other.post('/v1/jobs', { name: 'x', kind: 'run', spec: { command: ['x'], environment } })).status).toBe(400);
  });

  test('may be ruled out, and the rule about signatures stays as it is', async () => {
    const rule = async (body: any) => must(await other('PUT', '/v1/environment-policy', { body }), 200);
    expect(await rule({ require_signed: true, allow_shared: false })).toEqual({ require_signed: true, allow_shared: false });
    expect(await rule({ require_signed: false })).toEqual({ require_signed: false, allow_shared: false });
    expect(await rule({ require_signed: false, allow_shared: true })).toEqual({ require_signed: false, allow_shared: true });
  });
});
