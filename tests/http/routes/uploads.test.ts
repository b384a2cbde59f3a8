// SPDX-License-Identifier: Apache-2.0
// uploads.test.ts - a content in parts: cut, repeated, in the wrong order, refused, given up, left alone, and through the death of the
// API in the middle of a part. What arrives is the same to the byte, and what does not arrive leaves nothing.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { digitsCsv, psql, until } from '../client.ts';
import { api, idempotencyKey, makeTenant, must, problemOf, PATIENCE_MS, type Api, type Ready, type Reply } from '../harness.ts';

const ready: Ready = inject('falaj');
const content = Buffer.from(digitsCsv);
const digest = createHash('sha256').update(content).digest('hex');
const STEP = 50_000;
let admin: Api;
let t: { tenant: any; api: Api; token: string };
let other: Api;
let datasetId: string;

const part = (call: Api, id: string, offset: number, raw: Uint8Array): Promise<Reply> =>
  call('PUT', `/v1/uploads/${id}/parts?offset=${offset}`, { raw, headers: { 'content-type': 'application/octet-stream' } });
const begin = async (more: Record<string, unknown> = {}, call: Api = t.api): Promise<any> =>
  must(await call.post('/v1/uploads', { dataset_id: datasetId, size_bytes: content.length, ...more }), 201);
const used = async (call: Api = t.api): Promise<number[]> => {
  const rows = must(await call.get('/v1/quotas'), 200).data;
  return ['objects', 'stored_bytes'].map((name) => rows.find((q: any) => q.resource === name).used);
};
async function sendAll(id: string, bytes: Buffer = content, from = 0): Promise<void> {
  for (let at = from; at < bytes.length; at += STEP) must(await part(t.api, id, at, bytes.subarray(at, at + STEP)), 200);
}

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  t = await makeTenant(ready);
  other = (await makeTenant(ready)).api;
  datasetId = must(await t.api.post('/v1/datasets', { name: 'digits', label_column: 'label', classes: 10 }), 201).dataset_id;
});

test('a content in parts is the version that one body would have made', async () => {
  const whole = must(await t.api.post(`/v1/datasets/${datasetId}/versions`, undefined, { raw: content, headers: { 'content-type': 'text/csv' } }), 201);
  const [objects] = await used();
  const created = await t.api.post('/v1/uploads', { dataset_id: datasetId, size_bytes: content.length, sha256: digest });
  const upload = must(created, 201);
  expect(created.headers.get('location')).toBe(`/v1/uploads/${upload.upload_id}`);
  expect(upload).toMatchObject({ state: 'OPEN', offset: 0, zone: ready.zone, part_bytes_max: 4 << 20 });
  expect(Date.parse(upload.expires_at) - Date.parse(upload.created_at)).toBe(86_400_000);
  await sendAll(upload.upload_id);
  expect(must(await t.api.get(`/v1/uploads/${upload.upload_id}`), 200).offset).toBe(content.length);
  const key = idempotencyKey();
  const version = must(await t.api.post(`/v1/uploads/${upload.upload_id}/complete`, undefined, { key }), 200);
  expect(version).toMatchObject({ version: 2, sha256: whole.sha256, row_count: whole.row_count, column_count: whole.column_count, zone: whole.zone });
  expect(must(await t.api.post(`/v1/uploads/${upload.upload_id}/complete`, undefined, { key }), 200)).toEqual(version);
  must(await t.api.post(`/v1/uploads/${upload.upload_id}/complete`), 409);
  expect((await t.api.get(`/v1/datasets/${datasetId}/versions/2/content`)).text).toBe(digitsCsv);
  expect((await used())[0], 'the parts are booked off').toBe(objects! + 1);
  expect(must(await t.api.get(`/v1/uploads/${upload.upload_id}`), 200)).toMatchObject({ state: 'COMPLETED', version: 2 });
  expect(must(await t.api.get('/v1/uploads'), 200).data).toEqual([]);
  must(await t.api.delete(`/v1/uploads/${upload.upload_id}`), 409);
  // A moment later they have numbers and are found: one for each version, however often it was asked for.
  const actions = async (): Promise<string[]> =>
    must(await t.api.get('/v1/audit/events?page_size=200'), 200).data.map((e: any) => e.action ?? e.event?.action);
  for (const end = Date.now() + PATIENCE_MS; !(await actions()).includes('dataset.upload.begin'); await sleep(200)) expect(Date.now()).toBeLessThan(end);
  must(await t.api.delete(`/v1/uploads/${(await begin()).upload_id}`), 204);
  for (const end = Date.now() + PATIENCE_MS; !(await actions()).includes('dataset.upload.cancel'); await sleep(200)) expect(Date.now()).toBeLessThan(end);
  expect((await actions()).filter((a) => a === 'dataset.version.upload').length).toBe(2);
});

test('the wrong place is told, the same part twice is harmless', async () => {
  const { upload_id: id } = await begin();
  must(await part(t.api, id, 0, content.subarray(0, 1000)), 200);
  for (const [offset, bytes] of [[2000, content.subarray(2000, 3000)], [0, content.subarray(1, 1001)], [0, content.subarray(0, 999)]] as const) {
    const reply = await part(t.api, id, offset, bytes);
    must(reply, 409);
    expect(problemOf(reply).errors[0]?.pointer).toBe('/offset');
    expect(reply.json.detail).toContain('byte 1000');
  }
  expect(must(await part(t.api, id, 0, content.subarray(0, 1000)), 200).offset).toBe(1000);
  expect(must(await t.api.post(`/v1/uploads/${id}/complete`), 409).detail).toContain(`1000 of ${content.length}`);
  must(await part(t.api, id, 1000, Buffer.alloc(0)), 400);
  must(await part(t.api, id, 1000, Buffer.alloc((4 << 20) + 1)), 413);
  must(await part(t.api, id, 1000, Buffer.alloc(content.length)), 409);
  must(await t.api('PUT', `/v1/uploads/${id}/parts`, { raw: 'x', headers: { 'content-type': 'application/octet-stream' } }), 400);
  must(await t.api('PUT', `/v1/uploads/${id}/parts?offset=1000`, { raw: 'x', headers: { 'content-type': 'text/csv' } }), 415);
  expect(must(await t.api.get(`/v1/uploads?dataset_id=${datasetId}`), 200).data.map((u: any) => [u.upload_id, u.offset])).toEqual([[id, 1000]]);
  must(await t.api.delete(`/v1/uploads/${id}`), 204);
  must(await t.api.get(`/v1/uploads/${id}`), 404);
});

describe('nothing is left', () => {
  test('of what is given up', async () => {
    const before = await used();
    const { upload_id: id } = await begin();
    await sendAll(id, content.subarray(0, 120_000));
    expect((await used())[0]).toBe(before[0]! + 3);
    must(await t.api.delete(`/v1/uploads/${id}`), 204);
    expect(await used()).toEqual(before);
    must(await part(t.api, id, 120_000, content.subarray(120_000, 130_000)), 404);
  });

  test('of a content with another digest than was announced, and of one that does not train', async () => {
    const before = await used();
    const versions = must(await t.api.get(`/v1/datasets/${datasetId}/versions`), 200).data.length;
    for (const [bytes, sha256, why] of [[content, '0'.repeat(64), 'SHA-256'], [Buffer.from('a,label\n1,0\nx,1\n'), undefined, 'row 3']] as const) {
      const { upload_id: id } = await begin({ size_bytes: bytes.length, sha256 });
      await sendAll(id, bytes);
      const reply = await t.api.post(`/v1/uploads/${id}/complete`);
      must(reply, 422);
      expect(problemOf(reply).code).toBe('bad_data');
      expect(reply.json.detail).toContain(why);
      must(await t.api.get(`/v1/uploads/${id}`), 404);
      expect(await used()).toEqual(before);
    }
    expect(must(await t.api.get(`/v1/datasets/${datasetId}/versions`), 200).data.length).toBe(versions);
  });

  test('of one that nobody went on with', async () => {
    const before = await used();
    const { upload_id: id } = await begin();
    await sendAll(id, content.subarray(0, 100_000));
    psql(ready, `UPDATE upload SET expires_at = now() - interval '1 second' WHERE upload_id = '${id.slice(4)}'`);
    must(await part(t.api, id, 100_000, content.subarray(100_000, 110_000)), 404);
    must(await t.api.post(`/v1/uploads/${id}/complete`), 404);
    for (const end = Date.now() + PATIENCE_MS; (await used()).join() !== before.join(); await sleep(250)) {
      if (Date.now() > end) throw new Error(`still booked: ${(await used()).join()}, before: ${before.join()}`);
    }
    expect(psql(ready, `SELECT count(*) FROM upload WHERE upload_id = '${id.slice(4)}'`)).toBe('0');
  });
});

describe('it belongs to who began it', () => {
  test('another tenant, and a colleague, find nothing', async () => {
    const { upload_id: id } = await begin();
    const user = must(await t.api.post('/v1/users', { name: 'colleague', roles: ['ml-engineer'] }), 201);
    const colleague = api(ready, must(await t.api.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
    for (const call of [other, colleague]) {
      must(await call.get(`/v1/uploads/${id}`), 404);
      must(await part(call, id, 0, content.subarray(0, 10)), 404);
      must(await call.post(`/v1/uploads/${id}/complete`), 404);
      must(await call.delete(`/v1/uploads/${id}`), 404);
      expect(must(await call.get('/v1/uploads'), 200).data).toEqual([]);
    }
    must(await other.post('/v1/uploads', { dataset_id: datasetId, size_bytes: 10 }), 404);
    must(await t.api.delete(`/v1/uploads/${id}`), 204);
  });

  test('and to who may write data sets', async () => {
    const user = must(await t.api.post('/v1/users', { name: 'onlooker', roles: ['viewer'] }), 201);
    const viewer = api(ready, must(await t.api.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
    must(await viewer.post('/v1/uploads', { dataset_id: datasetId, size_bytes: 10 }), 403);
    must(await viewer.get('/v1/uploads'), 403);
  });
});

test('quota, number and size are bounded', async () => {
  const small = await makeTenant(ready);
  const { dataset_id } = must(await small.api.post('/v1/datasets', { name: 'digits', label_column: 'label', classes: 10 }), 201);
  must(await admin.put(`/v1/tenants/${small.tenant.tenant_id}/quotas/stored_bytes`, { hard_limit: 300_000 }, { headers: { 'if-match': '*' } }), 200);
  const ask = (size_bytes: number): Promise<Reply> => small.api.post('/v1/uploads', { dataset_id, size_bytes });
  expect(problemOf(await ask(300_001)).code).toBe('quota_exceeded');
  must(await ask((1 << 30) + 1), 400);
  // Both fit when they are begun; the second finds the room taken.
  const [one, two] = [must(await ask(content.length), 201), must(await ask(content.length), 201)];
  for (let at = 0; at < content.length; at += STEP) must(await part(small.api, one.upload_id, at, content.subarray(at, at + STEP)), 200);
  expect(problemOf(await part(small.api, two.upload_id, 0, content.subarray(0, STEP))).code).toBe('quota_exceeded');
  must(await small.api.post(`/v1/uploads/${one.upload_id}/complete`), 200);
  must(await small.api.delete(`/v1/uploads/${two.upload_id}`), 204);
  expect((await used(small.api))[0]).toBe(1);
  const many: string[] = [];
  for (let reply = await ask(10); ; reply = await ask(10)) {
    if (reply.status !== 201) {
      expect(problemOf(reply).code).toBe('limit_reached');
      break;
    }
    many.push(reply.json.upload_id);
  }
  expect(many.length).toBe(16);
  for (const id of many) must(await small.api.delete(`/v1/uploads/${id}`), 204);
});

test('the API is killed in the middle of parts: it goes on where it was, and the content is identical', async () => {
  const pid = (): number => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids.api;
  const kill = (): void => {
    try {
      process.kill(pid(), 'SIGKILL');
    } catch {
      // It is down already.
    }
  };
  const whereIs = (id: string): Promise<any> =>
    until(() => t.api.get(`/v1/uploads/${id}`).catch((e: Error) => ({ status: 0, text: e.message }) as Reply), 200, 120_000);
  const before = await used();
  const { upload_id: id } = await begin({ sha256: digest });
  must(await part(t.api, id, 0, content.subarray(0, STEP)), 200);
  // Half a part has left when the process goes.
  const { hostname, port } = new URL(ready.api_url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await new Promise((done) => socket.once('connect', done));
  socket.write(`PUT /v1/uploads/${id}/parts?offset=${STEP} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${t.token}\r\n` +
    `Content-Type: application/octet-stream\r\nContent-Length: ${STEP}\r\n\r\n`);
  await new Promise((sent) => socket.write(content.subarray(STEP, STEP + STEP / 2), sent));
  kill();
  socket.destroy();
  expect((await whereIs(id)).offset).toBe(STEP);
  // And goes again while whole parts are on their way, some of them stored and not yet booked.
  let deaths = 0;
  for (let { offset } = await whereIs(id); offset < content.length; { offset } = await whereIs(id)) {
    const doomed = part(t.api, id, offset, content.subarray(offset, offset + STEP)).catch(() => undefined);
    if (deaths < 4) {
      await sleep(deaths++ * 6);
      kill();
    }
    await doomed;
  }
  const version = await until(() => t.api.post(`/v1/uploads/${id}/complete`), 200);
  expect(version.sha256).toBe(digest);
  expect((await t.api.get(`/v1/datasets/${datasetId}/versions/${version.version}/content`)).text).toBe(digitsCsv);
  expect((await used())[0]).toBe(before[0]! + 1);
});
