// SPDX-License-Identifier: Apache-2.0
// registries.test.ts - who says which registries images may come from, who sees it, and what an import from one is told before
// any machine is asked. No machine here pulls; what is pulled: unit/workers/image, unit/workers/lease, e2e/pull.py.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const staff = api(ready, ready.admin_token);
const digest = `sha256:${'ab'.repeat(32)}`;
const host = `registry-${Math.random().toString(36).slice(2)}.example:5000`;
let admin: Api;
let viewer: Api;
let row: any;

async function person(role: string): Promise<Api> {
  const user_id = must(await admin.post('/v1/users', { name: role }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id, role }), 201);
  return api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
}

const pull = (by: Api, from: any, more: any = {}) =>
  by.post('/v1/environments', { name: 'tiny', pool: 'nowhere', from, ...more });

beforeAll(async () => {
  ({ api: admin } = await makeTenant(ready));
  viewer = await person('viewer');
  row = must(await staff.post('/v1/registries', {
    zone: ready.zone, host, hosts: ['cdn.example'], reach: 'private', silent_s: 7, description: 'of a test' }), 201);
});

describe('a registry', () => {
  test('is set by staff alone, and read by who may use its zone', async () => {
    expect(row).toMatchObject({ zone: ready.zone, host, hosts: ['cdn.example'], reach: 'private', silent_s: 7, allowed: true,
      max_bytes: 1073741824, ca_pem: '' });
    const path = `/v1/registries/${row.registry_id}`;
    for (const by of [admin, viewer]) {
      expect(must(await by.get(path), 200).host).toBe(host);
      expect(must(await by.get(`/v1/registries?zone=${ready.zone}`), 200).data.map((r: any) => r.host)).toContain(host);
      expect(must(await by.get('/v1/registries?zone=nowhere'), 200).data).toEqual([]);
      expect((await by.post('/v1/registries', { zone: ready.zone, host: 'other.example' })).status).toBe(403);
      expect((await by('PUT', `${path}/allowed`, { body: { allowed: false } })).status).toBe(403);
      expect((await by.delete(path)).status).toBe(403);
    }
  });

  test('that is wrong is refused at the member that is', async () => {
    const wrong: [any, number, string][] = [
      [{ zone: 'nowhere', host: 'a.example' }, 404, '/zone'], [{ zone: ready.zone, host }, 409, '/host'],
      [{ zone: ready.zone, host: 'https://a.example' }, 400, '/host'], [{ zone: ready.zone, host: 'A.example' }, 400, '/host'],
      [{ zone: ready.zone, host: 'a.example', hosts: ['b.example', 'b example'] }, 400, '/hosts/1'],
      [{ zone: ready.zone, host: 'a.example', ca_pem: 'no certificate' }, 400, '/ca_pem'],
      [{ zone: ready.zone, host: 'a.example', reach: 'all' }, 400, '/reach'],
      [{ zone: ready.zone, host: 'a.example', max_bytes: 2 ** 31 }, 400, '/max_bytes'],
    ];
    for (const [body, status, pointer] of wrong) {
      const r = await staff.post('/v1/registries', body);
      expect([r.status, problemOf(r).errors[0]!.pointer]).toEqual([status, pointer]);
    }
  });

  test('brings an image by digest, and says why nothing else', async () => {
    const from = { registry: `docker://${host}/team/tiny@${digest}` };
    const v = must(await pull(admin, from), 201);
    expect(v).toMatchObject({ name: 'tiny', state: 'IMPORTING', digest, zone: ready.zone, data_class: 'internal',
      pulled_from: `${host}/team/tiny@${digest}`, owns_archive: true });
    expect(v.dataset_id).toBeUndefined();
    const job = must(await admin.get(`/v1/jobs/${v.job_id}`), 200);
    expect(job).toMatchObject({ kind: 'pull', name: 'import tiny', zone: ready.zone,
      spec: { registry: host, repository: 'team/tiny', digest, is_allowed: false, ca_pem: '' } });
    must(await admin.post(`/v1/jobs/${v.job_id}/cancel`, {}), 200);
    expect(must(await admin.get(`/v1/environments/${v.environment_id}`), 200).state).toBe('REFUSED');
    expect((await admin.delete(`/v1/environments/${v.environment_id}`)).status).toBe(204);

    const wrong: [any, any, number, string, string][] = [
      [{ registry: `${host}/tiny:12` }, {}, 400, '/from/registry', 'skopeo inspect'],
      [{ registry: `other.example/tiny@${digest}` }, {}, 422, '/from/registry', `it allows `],
      [{ registry: `${host}/../x@${digest}` }, {}, 400, '/from/registry', 'has not the form'],
      [{ ...from, credentials: 'nobody' }, {}, 404, '/from/credentials', ''],
      [{ ...from, zone: 'nowhere' }, {}, 403, '', ''],
      [from, { dataset_id: 'dst_0123456789abcdef0123456789abcdef' }, 400, '/dataset_id', 'must be absent'],
      [from, { digest }, 400, '/digest', 'must be absent'],
      [{}, {}, 400, '/from/registry', ''],
    ];
    for (const [where, more, status, pointer, text] of wrong) {
      const r = await pull(admin, where, more);
      expect([r.status, r.text.includes(text)], r.text).toEqual([status, true]);
      if (pointer) expect(problemOf(r).errors[0]!.pointer).toBe(pointer);
    }
    expect((await pull(viewer, from)).status).toBe(403);
    expect(problemOf(await admin.post('/v1/environments', { name: 'x' })).errors[0]!.pointer).toBe('/dataset_id');
  });

  test('that is shut or gone lets nothing come any more, and the log says who did it', async () => {
    const path = `/v1/registries/${row.registry_id}`;
    const from = { registry: `${host}/tiny@${digest}` };
    expect(must(await staff('PUT', `${path}/allowed`, { body: { allowed: false } }), 200).allowed).toBe(false);
    expect((await pull(admin, from)).status).toBe(422);
    must(await staff('PUT', `${path}/allowed`, { body: { allowed: true } }), 200);
    const v = must(await pull(admin, from), 201);
    must(await admin.post(`/v1/jobs/${v.job_id}/cancel`, {}), 200);
    expect((await staff.delete(path)).status).toBe(204);
    expect((await pull(admin, from)).status).toBe(422);
    expect((await staff.get(path)).status).toBe(404);
  });
});
