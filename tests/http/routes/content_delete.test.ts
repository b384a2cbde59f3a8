// SPDX-License-Identifier: Apache-2.0
// content_delete.test.ts - data sets and models go for good: not under a legal hold, not while something named uses them, and
// then nothing can
// read them, from any door; the name is free, the quota is given back, the act is in the log, the blob is gone.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, psql, train, until, upload } from '../client.ts';
import { api, binary, eventually, makePerson, makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api, token: string, tenantId: string;
const csv = digitsCsv.split('\n').slice(0, 129).join('\n');

beforeAll(async () => {
  const made = await makeTenant(ready);
  ({ api: tenant, token } = made);
  tenantId = made.tenant.tenant_id;
});

const used = async (resource: string): Promise<number> =>
  must(await tenant.get('/v1/quotas'), 200).data.find((q: any) => q.resource === resource).used;
function blobs(dir = join(ready.data_dir, 'blobs')): string[] {
  return existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [];
}
const fileOf = (object: string): string[] => blobs().filter((f) => f.replaceAll(/[-/]/g, '').includes(object.slice(4)));

test('a data set: refused while used, by name; then gone with content, key, quota and name', async () => {
  const before = [await used('objects'), await used('stored_bytes')];
  const { dataset_id, version } = await upload(tenant, csv, 'reeds');
  const path = `/v1/datasets/${dataset_id}`;
  const object: string = version.object_id;
  expect(fileOf(object).length).toBe(1);
  const job = must(await tenant.post('/v1/jobs', { name: 'weave', kind: 'train', pool: 'no-machines', spec: { dataset_id } }),
    201);
  const begun = must(await tenant.post('/v1/uploads', { dataset_id, size_bytes: 5_000_000 }), 201);
  const refused = await tenant.delete(path);
  expect([refused.status, problemOf(refused).code]).toEqual([409, 'conflict']);
  expect(refused.json.detail).toContain(`job weave (${job.job_id})`);
  expect(refused.json.detail).toContain(begun.upload_id);
  must(await tenant.delete(`/v1/uploads/${begun.upload_id}`), 204);
  must(await tenant.post(`/v1/jobs/${job.job_id}/cancel`, {}), 200);
  await waitJob(tenant, job.job_id);
  const stranger = (await makeTenant(ready)).api;
  expect((await stranger.delete(path)).status).toBe(404);
  const viewer = await makePerson(ready, tenant, 'viewer');
  expect((await viewer.api.delete(path)).status).toBe(403);
  const gone = must(await tenant.delete(path), 200);
  expect(gone.objects).toBe(1);
  expect((await tenant.get(path)).status).toBe(404);
  expect((await tenant.get(`${path}/versions/1/content`)).status).toBe(404);
  expect((await tenant.delete(path)).status).toBe(404);
  expect([await used('objects'), await used('stored_bytes')]).toEqual(before);
  const rows = `FROM dek d JOIN object o USING (tenant_id, object_id) WHERE o.object_id = '${object.slice(4)}'`;
  expect(psql(ready, `SELECT o.state, d.wrapped IS NULL ${rows}`)).toBe('DELETED|t');
  await eventually('the blob is removed', () => fileOf(object).length === 0);
  expect(must(await tenant.get(`/v1/jobs/${job.job_id}`), 200).name).toBe('weave');
  must(await tenant.post('/v1/datasets', { name: 'reeds', label_column: 'label', classes: 10 }), 201);
  const events = await eventually('the event', async () => {
    const list = must(await tenant.get(`/v1/audit/events?action=dataset.delete&resource=${dataset_id}`), 200).data;
    return list.length > 0 && list;
  });
  expect(events[0].event.details.objects).toBe(1);
});

test('a legal hold keeps it', async () => {
  const { dataset_id } = await upload(tenant, csv, 'held');
  const by = must(await tenant.get('/v1/me'), 200).user_id.slice(4);
  const hold = psql(ready,
    `INSERT INTO audit_hold (hold_id, tenant_id, reason, placed_by) 
    VALUES (gen_random_uuid(), '${tenantId.slice(4)}', 'case', '${by}')
    RETURNING hold_id`).split('\n')[0]!;
  const refused = await tenant.delete(`/v1/datasets/${dataset_id}`);
  expect([refused.status, problemOf(refused).code]).toEqual([409, 'legal_hold']);
  must(await tenant.get(`/v1/datasets/${dataset_id}/versions/1/content`), 200);
  psql(ready, `DELETE FROM audit_hold WHERE hold_id = '${hold}'`);
  must(await tenant.delete(`/v1/datasets/${dataset_id}`), 200);
});

test('a model: kept by a deployment, gone after it; what two models share stays with the other', async () => {
  const { dataset_id } = await upload(tenant, csv, 'digits');
  const job = await train(tenant, dataset_id, { hidden: [4], epochs: 1 });
  const one = must(await tenant.post('/v1/models', { name: 'one', job_id: job.job_id }), 201);
  const two = must(await tenant.post('/v1/models', { name: 'two', job_id: job.job_id }), 201);
  const live = must(await tenant.post('/v1/deployments', { name: 'live', model_id: one.model_id }), 201);
  await until(() => tenant.get('/v2/models/live/ready'), 200, 120_000);
  const refused = await tenant.delete(`/v1/models/${one.model_id}`);
  expect([refused.status, problemOf(refused).code]).toEqual([409, 'conflict']);
  expect(refused.json.detail).toContain(`deployment live (${live.deployment_id})`);
  must(await tenant.delete(`/v1/deployments/${live.deployment_id}`), 204);
  await waitJob(tenant, live.job_id);
  expect(must(await tenant.delete(`/v1/models/${one.model_id}`), 200).objects).toBe(0);
  must(await tenant.get(`/v1/models/${two.model_id}/versions/1/content`), 200);
  const falaj = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((done) => {
      const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token };
      execFile(binary('falaj'), args, { env }, (e, out, err) => done({ code: e ? Number(e.code) : 0, out, err })).stdin!.end();
    });
  const unsure = await falaj('model', 'delete', 'two');
  expect(unsure.code).toBe(2);
  expect(unsure.err).toContain('--yes');
  const sure = await falaj('model', 'delete', 'two', '--yes', '-o', 'json');
  expect(sure.code, sure.err).toBe(0);
  expect(JSON.parse(sure.out).objects).toBe(1);
  expect((await tenant.get(`/v1/models/${two.model_id}`)).status).toBe(404);
  must(await tenant.delete(`/v1/datasets/${dataset_id}`), 200);
  expect((await api(ready, token).get('/v1/models')).json.data).toEqual([]);
});
