// SPDX-License-Identifier: Apache-2.0
// environments.test.ts - an image is taken in by a job and named; whose it is, who may sign, trust and delete; what must be
// signed. The machines here run no programs, so imports wait and say so; imports that end: tests/e2e/program.py.
import { generateKeyPairSync, sign as signWith } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, eventually, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';
import { image } from '../image.ts';

const ready: Ready = inject('falaj');
const { bytes, digest } = image([{ name: 'etc/os-release', text: 'ID=tiny\n' }]);
const keys = generateKeyPairSync('ed25519');
const pem = (k = keys.publicKey): string => k.export({ type: 'spki', format: 'pem' }) as string;
const signature = (text: string, k = keys.privateKey): string => signWith(null, Buffer.from(text), k).toString('hex');
let admin: Api;
let other: Api;
let viewer: Api;
let engineer: Api;
let red: any;
let blue: any;
let n = 0;

async function person(role: string, project_id?: string): Promise<Api> {
  const user_id = must(await admin.post('/v1/users', { name: `${role}-${project_id ?? 'all'}` }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id, role, ...(project_id ? { project_id } : {}) }), 201);
  return api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
}

/** A data set with the archive as its one version. */
async function archive(by: Api, project_id?: string): Promise<string> {
  const made = must(await by.post('/v1/datasets', { name: `image-${++n}`, target: 'none', ...(project_id ? {
    project_id } : {}) }), 201);
  must(await by('POST', `/v1/datasets/${made.dataset_id}/versions?format=oci`, {
    raw: bytes as any, headers: { 'content-type': 'application/octet-stream' } }), 201);
  return made.dataset_id;
}

async function environment(by: Api, name: string, more = {}, project_id?: string): Promise<any> {
  return must(await by.post('/v1/environments', { name, dataset_id: await archive(by, project_id), digest, ...more }), 201);
}

beforeAll(async () => {
  ({ api: admin } = await makeTenant(ready));
  other = (await makeTenant(ready)).api;
  red = must(await admin.post('/v1/projects', { name: 'red' }), 201);
  blue = must(await admin.post('/v1/projects', { name: 'blue' }), 201);
  viewer = await person('viewer');
  engineer = await person('ml-engineer', red.project_id);
});

describe('an environment', () => {
  test('is imported by a job, which waits for a machine that runs programs, with that reason', async () => {
    const v = await environment(admin, 'tiny', { description: 'of tests' });
    expect(v).toMatchObject({ name: 'tiny', state: 'IMPORTING', digest, zone: ready.zone, dataset_version: 1, owns_archive: false,
      package_count: 0, signed_by: '', size_bytes: bytes.length });
    const waiting = await eventually('its reason', async () => {
      const got = must(await admin.get(`/v1/environments/${v.environment_id}`), 200);
      return got.reason.includes('runs programs') && got;
    });
    expect(waiting.reason).toBe('no ready machine of the pool default there runs programs (worker.programs)');
    const job = must(await admin.get(`/v1/jobs/${v.job_id}`), 200);
    expect(job).toMatchObject({ kind: 'inspect', name: 'import tiny', spec: { digest, allow_setuid: false } });
    const early = await admin.post('/v1/jobs', { name: 'x', kind: 'run', spec: { command: ['x'], environment: 'tiny' } });
    expect([early.status, problemOf(early).errors[0]!.pointer, early.text.includes('is IMPORTING')]).toEqual(
      [422, '/spec/environment', true]);
    const busy = await admin.delete(`/v1/environments/${v.environment_id}`);
    expect([busy.status, busy.text.includes(v.job_id)]).toEqual([409, true]);
    const held = await admin.delete(`/v1/datasets/${v.dataset_id}`);
    expect([held.status, held.text.includes(v.environment_id)]).toEqual([409, true]);
    must(await admin.post(`/v1/jobs/${v.job_id}/cancel`, {}), 200);
    expect(must(await admin.get(`/v1/environments?name=tiny&state=REFUSED`), 200).data).toHaveLength(1);
    expect((await admin.delete(`/v1/environments/${v.environment_id}`)).status).toBe(204);
    expect((await admin.get(`/v1/environments/${v.environment_id}`)).status).toBe(404);
    expect((await admin.get(`/v1/datasets/${v.dataset_id}`)).status).toBe(200);
    expect((await admin.get('/v1/audit/events?page_size=200')).status).toBe(200);
  });

  test('takes the archive with it where that is its own', async () => {
    const v = await environment(admin, 'own', { owns_archive: true });
    must(await admin.post(`/v1/jobs/${v.job_id}/cancel`, {}), 200);
    expect((await admin.delete(`/v1/environments/${v.environment_id}`)).status).toBe(204);
    expect((await admin.get(`/v1/datasets/${v.dataset_id}`)).status).toBe(404);
  });

  test('is made of an image that is there', async () => {
    const table = must(await admin.post('/v1/datasets', { name: 'table', label_column: 'label', classes: 2 }), 201).dataset_id;
    must(await admin('POST', `/v1/datasets/${table}/versions`, { raw: 'a,label\n1,0\n', headers: {
      'content-type': 'text/csv' } }), 201);
    for (const [body, status, pointer] of [
      [{ dataset_id: table }, 422, '/dataset_id'],
      [{ dataset_id: 'dst_0123456789abcdef0123456789abcdef' }, 404, '/dataset_id'],
      [{ dataset_id: table, digest: 'sha256:x' }, 400, '/digest'],
      [{ dataset_id: table, signature: signature(digest) }, 400, '/digest'],
      [{ dataset_id: table, memory_bytes: 2 ** 57 }, 400, '/memory_bytes'],
    ] as const) {
      const r = await admin.post('/v1/environments', { name: 'x', ...body });
      expect([r.status, problemOf(r).errors[0]!.pointer], JSON.stringify(body)).toEqual([status, pointer]);
    }
  });

  test('is its tenant’s and its project’s alone', async () => {
    const v = await environment(admin, 'mine');
    const path = `/v1/environments/${v.environment_id}`;
    for (const r of [await other.get(path), await other.get(`${path}/packages`), await other.get(`${path}/uses`),
      await other.delete(path),
      await other('PUT', `${path}/signature`, { body: { signature: signature(digest) } }),
      await other.post('/v1/environments', { name: 'x', dataset_id: v.dataset_id }),
      await other.post('/v1/jobs', { name: 'x', kind: 'run', spec: { command: ['x'], environment: v.environment_id } })])
      expect(r.status).toBe(404);
    await environment(admin, 'of-blue', {}, blue.project_id);
    const own = await environment(engineer, 'of-red', {}, red.project_id);
    expect(own.project_id).toBe(red.project_id);
    expect(must(await engineer.get('/v1/environments'), 200).data.map((x: any) => x.name)).toEqual(['of-red']);
    expect((await viewer.get(path)).status).toBe(200);
    expect((await viewer.post('/v1/environments', { name: 'x', dataset_id: v.dataset_id })).status).toBe(403);
  });
});

describe('a signature', () => {
  test('is of a key that the tenant has, over the digest', async () => {
    const v = await environment(admin, 'signed');
    const path = `/v1/environments/${v.environment_id}/signature`;
    const put = (hex: string) => admin('PUT', path, { body: { signature: hex } });
    expect((await put(signature(digest))).status).toBe(422);
    const key = must(await admin.post('/v1/environment-keys', { name: 'builds', public_key_pem: pem() }), 201);
    expect((await admin.post('/v1/environment-keys', { name: 'bad', public_key_pem: 'x' })).status).toBe(400);
    expect((await admin.post('/v1/environment-keys', { name: 'builds',
      public_key_pem: pem(generateKeyPairSync('ed25519').publicKey) })).status)
      .toBe(409);
    expect((await engineer.post('/v1/environment-keys', { name: 'mine', public_key_pem: pem() })).status).toBe(403);
    for (const bad of [signature('sha256:other'), signature(digest, generateKeyPairSync('ed25519').privateKey)])
      expect((await put(bad)).status).toBe(422);
    expect((await put('ab')).status).toBe(400);
    expect(must(await put(signature(digest)), 200)).toMatchObject({ signed_by: 'builds' });
    const atOnce = await environment(admin, 'at-once', { signature: signature(digest) });
    expect(atOnce.signed_by).toBe('builds');
    expect(must(await admin.get('/v1/environment-keys'), 200).data).toMatchObject([{ key_id: key.key_id, name: 'builds' }]);
    expect(must(await other.get('/v1/environment-keys'), 200).data).toEqual([]);
    expect((await other.delete(`/v1/environment-keys/${key.key_id}`)).status).toBe(404);
    expect((await admin.delete(`/v1/environment-keys/${key.key_id}`)).status).toBe(204);
    expect(must(await admin.get(`/v1/environments/${v.environment_id}`), 200).signed_by).toBe('');
  });

  test('may be asked of every image', async () => {
    expect(must(await admin.get('/v1/environment-policy'), 200)).toEqual({ require_signed: false, allow_shared: true });
    expect((await engineer('PUT', '/v1/environment-policy', { body: { require_signed: true } })).status).toBe(403);
    expect(must(await admin('PUT', '/v1/environment-policy', { body: { require_signed: true } }), 200)).toEqual({
      require_signed: true, allow_shared: true });
    expect(must(await other.get('/v1/environment-policy'), 200)).toEqual({ require_signed: false, allow_shared: true });
    const set = await archive(admin);
    const r = await admin.post('/v1/jobs', { name: 'x', kind: 'run', force_queue: true, spec: { command: ['x'],
      environment: `${set}/${digest}` } });
    expect([r.status, problemOf(r).errors[0]!.pointer]).toEqual([403, '/spec/environment']);
    must(await admin('PUT', '/v1/environment-policy', { body: { require_signed: false } }), 200);
    must(await admin.post('/v1/jobs', { name: 'x', kind: 'run', force_queue: true, spec: { command: ['x'],
      environment: `${set}/${digest}` } }), 201);
    await eventually('two events', async () => {
      const all = must(await admin.get('/v1/audit/events?page_size=200'),
        200).data.filter((e: any) => e.action === 'environment.trust');
      return all.length >= 4;
    });
  });
});
