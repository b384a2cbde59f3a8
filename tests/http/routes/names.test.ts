// SPDX-License-Identifier: Apache-2.0
// names.test.ts - what things are called for people, in two languages: set by those who may, found by it, said by the log,
// of deleted things too.
import { beforeAll, expect, inject, test } from 'vitest';
import { api, eventually, makePerson, makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const platform = api(ready, ready.admin_token);
let admin: Api, engineer: Api, viewer: Api, tenant: string;
const BOTH = { display_name: 'Claims of spring', display_name_ar: 'مطالبات الربيع' };
const patch = (by: Api, path: string, body: object, match = '*') => by('PATCH', path, { body, headers: { 'if-match': match } });

beforeAll(async () => {
  const made = await makeTenant(ready);
  admin = made.api;
  tenant = must(await admin.get('/v1/me'), 200).tenant_id;
  engineer = (await makePerson(ready, admin, 'ml-engineer')).api;
  viewer = (await makePerson(ready, admin, 'viewer')).api;
});

test('a tenant is named by the platform and by its own administrators', async () => {
  must(await patch(admin, `/v1/tenants/${tenant}`, BOTH), 200);
  expect(must(await viewer.get('/v1/me'), 200)).toMatchObject({
    tenant_display_name: BOTH.display_name, tenant_display_name_ar: BOTH.display_name_ar });
  const was = must(await platform.get(`/v1/tenants/${tenant}`), 200);
  expect(was).toMatchObject(BOTH);
  const now = must(await patch(platform, `/v1/tenants/${tenant}`, { display_name_ar: '' }, `"v${was.version}"`), 200);
  expect(now).toMatchObject({ display_name: BOTH.display_name, display_name_ar: '' });
  must(await patch(platform, `/v1/tenants/${tenant}`, BOTH, `"v${was.version}"`), 412);
  must(await patch(engineer, `/v1/tenants/${tenant}`, BOTH), 403);
  const other = must(await (await makeTenant(ready)).api.get('/v1/me'), 200).tenant_id;
  must(await patch(admin, `/v1/tenants/${other}`, BOTH), 404);
  expect(must(await platform.get(`/v1/tenants/${other}`), 200).display_name).not.toBe(BOTH.display_name);
});

test('data sets and models are named by who may change them', async () => {
  const set = must(await engineer.post('/v1/datasets', { name: 'q2-claims', label_column: 'y', classes: 2, ...BOTH }), 201);
  expect(set).toMatchObject({ name: 'q2-claims', ...BOTH });
  const path = `/v1/datasets/${set.dataset_id}`;
  const now = must(await patch(engineer, path, { display_name: 'Claims', description: 'of all branches' },
    `"v${set.version}"`), 200);
  expect(now).toMatchObject({ display_name: 'Claims', display_name_ar: BOTH.display_name_ar, description: 'of all branches' });
  must(await patch(engineer, path, BOTH, `"v${set.version}"`), 412);
  must(await patch(viewer, path, BOTH), 403);
  must(await engineer('PATCH', path, { body: BOTH, headers: {} }), 428);
  must(await patch(engineer, path, { display_name: 'x'.repeat(129) }), 400);
  must(await patch(engineer, `/v1/models/mdl_${'0'.repeat(32)}`, BOTH), 404);
  for (const q of ['LAIM', 'مطالبات', 'q2-c'])
    expect(must(await viewer.get(`/v1/datasets?q=${encodeURIComponent(q)}`), 200).data.map((d: any) => d.name))
      .toEqual(['q2-claims']);
});

test('the log finds and says a thing by its names, when it is deleted too', async () => {
  const set = must(await admin.post('/v1/datasets', { name: 'log-names', label_column: 'y', classes: 2,
    display_name: 'Harbour log', display_name_ar: 'سجل الميناء' }), 201);
  const found = async (resource: string) =>
    (await admin.get(`/v1/audit/events?resource=${encodeURIComponent(resource)}`)).json.data ?? [];
  await eventually('its event', async () => (await found(set.dataset_id)).length > 0);
  for (const called of ['Harbour log', 'سجل الميناء', 'log-names']) {
    const [event] = await found(called);
    expect(event).toMatchObject({ resource_id: set.dataset_id, resource_name: 'log-names',
      resource_display_name: 'Harbour log', resource_display_name_ar: 'سجل الميناء' });
  }
  const things = must(await admin.get(`/v1/audit/names?name=${encodeURIComponent('الميناء')}`), 200).data;
  expect(things).toEqual([expect.objectContaining({ id: set.dataset_id, display_name_ar: 'سجل الميناء', deleted: false })]);
  must(await admin('DELETE', `/v1/datasets/${set.dataset_id}`), 200);
  const gone = must(await admin.get('/v1/audit/names?name=Harbour'), 200).data;
  expect(gone).toEqual([expect.objectContaining({ name: 'log-names', display_name: 'Harbour log', deleted: true })]);
});
