// SPDX-License-Identifier: Apache-2.0
// inside.test.ts - who may ask to be let into a program, by role and tenant; the policy; and requests that are no WebSocket. The
// machines here run no programs: what is inside is in tests/e2e/inside.py.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
const ask = { kind: 'exec', command: ['id'] };
let admin: Api;
let other: Api;
let viewer: Api;
let engineer: Api;
let job: string;

async function person(role: string): Promise<Api> {
  const user_id = must(await admin.post('/v1/users', { name: `${role}-${Math.random()}`, roles: [role] }), 201).user_id;
  return api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
}

beforeAll(async () => {
  ({ api: admin } = await makeTenant(ready));
  ({ api: other } = await makeTenant(ready));
  viewer = await person('viewer');
  engineer = await person('ml-engineer');
  job = must(await admin.post('/v1/jobs', { name: 'n', kind: 'noop', pool: 'no-such-pool' }), 201).job_id;
});

describe('a session is asked for', () => {
  test('by whom a role lets in, of jobs that are programs and run', async () => {
    expect((await viewer.post(`/v1/jobs/${job}/inside`, ask)).status).toBe(403);
    expect((await other.post(`/v1/jobs/${job}/inside`, ask)).status).toBe(404);
    const refused = await engineer.post(`/v1/jobs/${job}/inside`, ask);
    expect(refused.status).toBe(409);
    expect(refused.json.detail).toContain('Only programs of yours');
  });

  test('with what fits its kind', async () => {
    for (const [body, at] of [[{ kind: 'exec' }, '/command'], [{ kind: 'forward' }, '/port'],
      [{ kind: 'shell', command: ['a'] }, '/command'], [{ kind: 'root' }, '/kind'], [{ kind: 'attach', port: 1 }, '/port'],
      [{ ...ask, rank: -1 }, '/rank'], [{ ...ask, port: 1 }, '/port']] as const) {
      const reply = await engineer.post(`/v1/jobs/${job}/inside`, body);
      expect([400, 422], reply.text).toContain(reply.status);
      expect(reply.text).toContain(at);
    }
  });

  test('a stream that is asked for by a plain call, or does not exist, is refused', async () => {
    const stream = `/v1/jobs/${job}/inside/ins_${'0'.repeat(31)}1`;
    expect((await engineer.get(stream)).json.detail).toContain('This address is a WebSocket');
    const hello = { upgrade: 'websocket', connection: 'Upgrade' };
    expect((await viewer('GET', stream, { headers: hello })).status).toBe(403);
  });
});

describe('the policy', () => {
  test('lets in until it is closed, and only administrators close it', async () => {
    expect(must(await viewer.get('/v1/inside-policy'), 200)).toEqual({ allowed: true, closed_projects: [] });
    expect((await engineer.put('/v1/inside-policy', { allowed: false })).status).toBe(403);
    must(await admin.put('/v1/inside-policy', { allowed: false }), 200);
    const refused = await engineer.post(`/v1/jobs/${job}/inside`, ask);
    expect(refused.status).toBe(403);
    expect(refused.json.detail).toContain('let nobody into running programs');
    expect(must(await other.get('/v1/inside-policy'), 200).allowed).toBe(true);
    expect(must(await admin.put('/v1/inside-policy', { allowed: true }), 200).allowed).toBe(true);
  });
});
