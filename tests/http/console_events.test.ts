// SPDX-License-Identifier: Apache-2.0
// console_events.test.ts - the one stream of a browser tab: wake-ups by token and by session, nothing of another tenant, limits, and a session
// that no stream keeps alive. About twenty seconds under AddressSanitizer.
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { psql } from './client.ts';
import { api, eventually, makeTenant, must, problemOf, waitJob, PATIENCE_MS, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');

interface Event { topic: string; id: string | null; kind: string }
interface Stream { status: number; response: IncomingMessage; text: () => string; events: () => Event[]; close: () => void }
const open: Stream[] = [];
afterEach(() => {
  for (const s of open.splice(0)) s.close();
});

function watch(topics: string, headers: Record<string, string>): Promise<Stream> {
  const { hostname, port } = new URL(ready.api_url);
  return new Promise((done, fail) => {
    const call = request({ hostname, port, path: `/v1/events?topics=${encodeURIComponent(topics)}`, headers: { accept: 'text/event-stream', ...headers }, agent: false });
    call.on('error', fail);
    call.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('error', () => undefined);
      call.on('error', () => undefined);
      const stream: Stream = {
        status: response.statusCode ?? 0, response, text: () => text, close: () => call.destroy(),
        events: () => [...text.matchAll(/^data: (.*)$/gm)].map((m) => JSON.parse(m[1]!) as Event),
      };
      open.push(stream);
      done(stream);
    });
    call.end();
  });
}
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
async function until(what: string, stream: Stream, is: (events: Event[]) => boolean, ms = PATIENCE_MS): Promise<void> {
  for (const end = Date.now() + ms; !is(stream.events()); await sleep(50))
    if (Date.now() > end) throw new Error(`no ${what} within ${ms} ms in ${stream.text()}`);
}
const begun = (stream: Stream, n: number): Promise<void> => until('ready', stream, (all) => all.filter((e) => e.kind === 'ready').length === n);
const submit = async (call: ReturnType<typeof api>): Promise<string> =>
  must(await call.post('/v1/jobs', { name: 'watched', kind: 'noop', spec: { sleep_ms: 10 } }), 201).job_id;

test('tells what has changed, by id and state and nothing else', async () => {
  const { token, api: call } = await makeTenant(ready);
  const stream = await watch('jobs,nodes,approvals,deployments', bearer(token)).catch((e) => e);
  // A tenant's administrator sees no machines; the topics that it may see are watched without them.
  expect(stream.status === 200 || stream.status === 403).toBe(true);
  const mine = stream.status === 200 ? stream : await watch('jobs,approvals,deployments', bearer(token));
  expect(mine.status).toBe(200);
  expect(mine.response.headers['content-type']).toBe('text/event-stream');
  expect(mine.response.headers['cache-control']).toBe('no-store');
  expect(mine.response.headers['x-accel-buffering']).toBe('no');
  expect(mine.response.headers['x-content-type-options']).toBe('nosniff');
  await begun(mine, stream.status === 200 ? 4 : 3);
  expect(mine.text()).toMatch(/^retry: 2000\n\n/);
  const job = await submit(call);
  await waitJob(call, job);
  await until('end of the job', mine, (all) => all.some((e) => e.id === job && e.kind === 'COMPLETED'));
  for (const e of mine.events()) expect(Object.keys(e).sort()).toEqual(['id', 'kind', 'topic']);
  const one = await watch(`job:${job}`, { ...bearer(token), 'last-event-id': '7' });
  await begun(one, 1);
  expect(one.events()).toEqual([{ topic: `job:${job}`, id: null, kind: 'ready' }]);
});

test('nothing of another tenant, and its ids answer as absent ones', async () => {
  const mine = await makeTenant(ready);
  const other = await makeTenant(ready);
  const stream = await watch('jobs,approvals,deployments', bearer(mine.token));
  await begun(stream, 3);
  const foreign = await submit(other.api);
  await waitJob(other.api, foreign);
  const own = await submit(mine.api);
  await waitJob(mine.api, own);
  await until('own job', stream, (all) => all.some((e) => e.id === own && e.kind === 'COMPLETED'));
  expect(stream.text()).not.toContain(foreign);
  const ask = (topics: string) => mine.api.get(`/v1/events?topics=${topics}`);
  const replies = [await ask(`job:${foreign}`), await ask('job:job_00000000000070008000000000000000'), await ask('job:nonsense'), await ask(`jobs,job:${foreign}`)];
  const shape = replies.map((r) => ({ status: r.status, code: problemOf(r).code }));
  expect(new Set(shape.map((s) => JSON.stringify(s)))).toEqual(new Set([JSON.stringify({ status: 404, code: 'not_found' })]));
  expect(replies[0]!.json.detail).toBe(replies[1]!.json.detail);
});

test('bad topics, no login, and a permission that is missing', async () => {
  const { api: call, tenant } = await makeTenant(ready);
  for (const topics of ['x', 'jobs,', ',', 'jobs,jobs', 'Jobs', 'job', 'jobs ', Array.from({ length: 17 }, (_, i) => `job:job_${String(i).padStart(32, '0')}`).join(',')]) {
    const reply = await call.get(`/v1/events?topics=${encodeURIComponent(topics)}`);
    expect(reply.status, topics).toBe(400);
    expect(problemOf(reply).errors[0]?.pointer).toBe('/topics');
  }
  expect((await call.get('/v1/events')).status).toBe(400);
  expect((await api(ready, null).get('/v1/events?topics=jobs')).status).toBe(401);
  expect(tenant.tenant_id).toMatch(/^tnt_/);
  const scoped = must(await call.post('/v1/api-tokens', { name: 'narrow', scopes: ['job:read'] }), 201);
  expect((await watch('jobs', bearer(scoped.token))).status).toBe(200);
  const denied = await api(ready, scoped.token).get('/v1/events?topics=jobs,deployments');
  expect(denied.status).toBe(403);
  expect(problemOf(denied).code).toBe('forbidden');
});

test('by the session cookie, which it does not keep alive', async () => {
  const login = await api(ready, null).post('/v1/auth/login', ready.admin_login);
  const cookie = /^(__Host-falaj=[^;]+)/.exec(login.headers.get('set-cookie') ?? '')?.[1] ?? '';
  expect(cookie).not.toBe('');
  const anybody = api(ready, null);
  const use = async (headers: { cookie: string }): Promise<string> =>
    must(await anybody.get('/v1/auth/session', { headers }), 200).session_id.slice(4);
  const uuid = await use({ cookie });
  const put_back = (which: string): string =>
    psql(ready, `UPDATE session SET last_seen = last_seen - interval '5 minutes' WHERE session_id = '${which}'`);
  // What calls note is written by falaj-api's housekeeping, all at once and over whatever stands there: when a use that came later is
  // written, so is all before it.
  const written = async (): Promise<void> => {
    const other = await anybody.post('/v1/auth/login', ready.admin_login);
    const headers = { cookie: /^(__Host-falaj=[^;]+)/.exec(other.headers.get('set-cookie') ?? '')![1]! };
    const another = await use(headers);
    put_back(another);
    await eventually('the use of the session is written down', async () =>
      (await use(headers)) === another &&
      psql(ready, `SELECT last_seen > now() - interval '4 minutes' FROM session WHERE session_id = '${another}'`) === 't');
  };
  await written();
  put_back(uuid);
  const seen = (): string => psql(ready, `SELECT extract(epoch FROM last_seen) FROM session WHERE session_id = '${uuid}'`);
  const before = seen();
  const stream = await watch('nodes', { cookie });
  expect(stream.status).toBe(200);
  await begun(stream, 1);
  await written();
  expect(seen()).toBe(before);
  expect((await watch('nodes', { cookie, ...bearer(ready.admin_token) })).status).toBe(400);
});

test('so many streams for one user, then 429', async () => {
  const { token } = await makeTenant(ready);
  const all = [];
  for (let i = 0; i < 16; i++) all.push(await watch('jobs', bearer(token)));
  expect(all.map((s) => s.status)).toEqual(Array(16).fill(200));
  const more = await watch('jobs', bearer(token));
  expect(more.status).toBe(429);
  expect(more.response.headers['retry-after']).toMatch(/^\d+$/);
  const another = await makeTenant(ready);
  expect((await watch('jobs', bearer(another.token))).status).toBe(200);
});
