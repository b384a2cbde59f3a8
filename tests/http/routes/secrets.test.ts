// SPDX-License-Identifier: Apache-2.0
// secrets.test.ts - values go in and never come back by any call; who may name, set and use secrets, in which project and
// tenant; the
// command line sets one from standard input. Programs that get them: tests/e2e/program.py.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, binary, eventually, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const any = { headers: { 'if-match': '*' } };
const VALUE = 'hunter2hunter2-of-the-hub';
const bytes = (text: string) => ({ raw: text, headers: { 'content-type': 'application/octet-stream' } });
let admin: Api;
let token: string;
let other: Api;
let viewer: Api;
let engineer: Api;
let red: any;
let blue: any;

async function person(role: string, project_id?: string): Promise<Api> {
  const user_id = must(await admin.post('/v1/users', { name: `${role}-${project_id ?? 'all'}` }), 201).user_id;
  must(await admin.post('/v1/role-bindings', { user_id, role, ...(project_id ? { project_id } : {}) }), 201);
  return api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
}

async function secret(by: Api, name: string, project_id?: string): Promise<any> {
  const s = must(await by.post('/v1/secrets', { name, ...(project_id ? { project_id } : {}) }), 201);
  must(await by('PUT', `/v1/secrets/${s.secret_id}/value`, bytes(VALUE)), 201);
  return s;
}

const job = (secrets: string[], more = {}) => ({ name: 'uses', kind: 'run', spec: { command: ['true'], secrets }, force_queue:
  true,
  pool: 'nowhere', ...more });

beforeAll(async () => {
  ({ api: admin, token } = await makeTenant(ready));
  other = (await makeTenant(ready)).api;
  red = must(await admin.post('/v1/projects', { name: 'red' }), 201);
  blue = must(await admin.post('/v1/projects', { name: 'blue' }), 201);
  viewer = await person('viewer');
  engineer = await person('ml-engineer', red.project_id);
});

describe('a secret', () => {
  test('is named, given values, and never told', async () => {
    const made = must(await admin.post('/v1/secrets', { name: 'hub', description: 'of the hub' }), 201);
    expect(made).toMatchObject({ name: 'hub', description: 'of the hub', state: 'ACTIVE', latest_version: 0, zone: ready.zone,
      version: 1 });
    const path = `/v1/secrets/${made.secret_id}`;
    const taken = await admin.post('/v1/secrets', { name: 'hub' });
    expect([taken.status, problemOf(taken).code]).toEqual([409, 'already_exists']);
    for (const [value, status] of [['', 400], ['seven77\r\n', 400], ['x'.repeat(32769), 413]] as const)
      expect((await admin('PUT', `${path}/value`, bytes(value))).status, String(value.length)).toBe(status);
    for (const n of [1, 2]) expect(must(await admin('PUT', `${path}/value`, bytes(`${VALUE}${n}`)),
      201)).toMatchObject({ value_version: n });
    const replies = [await admin.get('/v1/secrets'), await admin.get(path), await admin.get(`${path}/versions`),
      await admin.get(`${path}/uses`),
      await eventually('its three events', async () => {
        const r = await admin.get('/v1/audit/events?page_size=200');
        return r.json.data.filter((e: any) => e.action === 'secret.set').length === 3 && r;
      })];
    for (const r of replies) expect([r.status, r.text.includes(VALUE)]).toEqual([200, false]);
    expect(replies[2]!.json.data.map((v: any) => v.value_version)).toEqual([2, 1]);
    expect((await admin.get(`${path}/value`)).status).toBe(405);
  });

  test('is disabled, enabled and deleted', async () => {
    const s = await secret(admin, 'life');
    const path = `/v1/secrets/${s.secret_id}`;
    expect((await admin('PATCH', path, { body: { state: 'DISABLED' } })).status).toBe(428);
    const off = must(await admin('PATCH', path, { body: { state: 'DISABLED' }, ...any }), 200);
    expect(off).toMatchObject({ state: 'DISABLED', latest_version: 1 });
    const refused = await admin.post('/v1/jobs', job(['env:A=life']));
    expect([refused.status, problemOf(refused).errors[0]!.pointer]).toEqual([403, '/spec/secrets/0']);
    must(await admin('PATCH', path, { body: { state: 'ACTIVE' }, ...any }), 200);
    const queued = must(await admin.post('/v1/jobs', job(['env:A=life', 'file:a.pem=life'])), 201);
    expect(queued.spec.secrets).toEqual(['env:A=life@1', 'file:a.pem=life@1']);
    expect(must(await admin.get(`${path}/uses`), 200).data).toMatchObject([
      { job_id: queued.job_id, job_name: 'uses', state: 'PENDING', target: 'env:A, file:a.pem', value_version: 1 }]);
    const used = await admin.delete(path, any);
    expect([used.status, used.text.includes(queued.job_id)]).toEqual([409, true]);
    must(await admin.post(`/v1/jobs/${queued.job_id}/cancel`, {}), 200);
    expect((await admin.delete(path, any)).status).toBe(204);
    expect((await admin.get(path)).status).toBe(404);
    expect((await admin.post('/v1/jobs', job(['env:A=life']))).status).toBe(404);
  });

  test('is its tenant’s alone', async () => {
    const s = await secret(admin, 'mine');
    const path = `/v1/secrets/${s.secret_id}`;
    for (const r of [await other.get(path), await other.get(`${path}/versions`), await other.get(`${path}/uses`),
      await other.delete(path, any),
      await other('PUT', `${path}/value`, bytes(VALUE)), await other('PATCH', path, { body: { state: 'DISABLED' }, ...any }),
      await other.post('/v1/jobs', job(['env:A=mine']))]) expect(r.status).toBe(404);
    expect(must(await other.get('/v1/secrets'), 200).data).toEqual([]);
    await secret(other, 'mine');
  });

  test('of another project is not there', async () => {
    await secret(admin, 'all');
    await secret(admin, 'of-blue', blue.project_id);
    const own = await secret(engineer, 'of-red');
    expect(own.project_id).toBe(red.project_id);
    expect(must(await engineer.get('/v1/secrets'), 200).data.map((x: any) => x.name)).toEqual(['of-red']);
    for (const name of ['of-blue', 'all']) expect((await engineer.post('/v1/jobs', job([`env:A=${name}`]))).status,
      name).toBe(404);
    must(await engineer.post('/v1/jobs', job(['env:A=of-red'])), 201);
    must(await engineer.post('/v1/secrets', { name: 'x', project_id: blue.project_id }), 404);
    expect((await admin.post('/v1/jobs', job(['env:A=of-red'], { project_id: blue.project_id }))).status).toBe(404);
    expect((await admin.post('/v1/jobs', job(['env:A=of-red']))).status).toBe(404);
    must(await admin.post('/v1/jobs', job(['env:A=of-blue', 'env:B=all'], { project_id: blue.project_id })), 201);
  });

  test('is read by name and used by who may', async () => {
    const s = await secret(admin, 'seen');
    must(await viewer.get(`/v1/secrets/${s.secret_id}`), 200);
    expect((await viewer('PUT', `/v1/secrets/${s.secret_id}/value`, bytes(VALUE))).status).toBe(403);
    expect((await viewer.post('/v1/secrets', { name: 'y' })).status).toBe(403);
    const user_id = must(await admin.post('/v1/users', { name: 'narrow' }), 201).user_id;
    must(await admin.post('/v1/role-bindings', { user_id, role: 'ml-engineer' }), 201);
    const narrow = api(ready, must(await admin.post('/v1/api-tokens', { name: 'n', user_id, scopes: ['job:submit'] }),
      201).token);
    const refused = await narrow.post('/v1/jobs', job(['env:A=seen']));
    expect([refused.status, refused.text.includes('secret:use')]).toEqual([403, true]);
    must(await narrow.post('/v1/jobs', job([])), 201);
  });

  test('is set from standard input by the command line', async () => {
    const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token, HOME:
      mkdtempSync(join(tmpdir(), 'falaj-secret-')) };
    const falaj = (words: string[], input = '') => execFileSync(binary('falaj'), words, { env, input, encoding: 'utf8' });
    expect(JSON.parse(falaj(['secret', 'set', 'by-hand', '-o', 'json'], `${VALUE}\n`))).toMatchObject({ value_version: 1 });
    expect(JSON.parse(falaj(['secret', 'set', 'by-hand', '--from-file', '-', '-o', 'json'],
      `${VALUE}again\n`))).toMatchObject({ value_version: 2 });
    falaj(['secret', 'disable', 'by-hand']);
    expect(JSON.parse(falaj(['secret', 'get', 'by-hand', '-o', 'json']))).toMatchObject({ state: 'DISABLED', latest_version: 2 });
    falaj(['secret', 'delete', 'by-hand', '--yes']);
    expect(must(await admin.get('/v1/secrets?name=by-hand'), 200).data).toEqual([]);
  });
});
