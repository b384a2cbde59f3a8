// SPDX-License-Identifier: Apache-2.0
// notifications.test.ts - rules are their tenant's administrators', secrets are shown once, a person's choice is theirs.
// What is really sent: tests/e2e/notifications.py.
import { beforeAll, expect, inject, test } from 'vitest';
import { makePerson, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let huda: Api;
let stranger: Api;
const hook = (name: string, over = {}) => ({
  name, kind: 'webhook', url: 'https://hooks.example/x', events: ['job-failed'], ...over });

beforeAll(async () => {
  admin = (await makeTenant(ready)).api;
  huda = (await makePerson(ready, admin, 'ml-engineer')).api;
  stranger = (await makeTenant(ready)).api;
});

test('an administrator makes, changes, pauses and removes; an engineer does not, another tenant sees nothing', async () => {
  expect((await huda.post('/v1/notifications', hook('mine'))).status).toBe(403);
  expect((await huda.get('/v1/notifications')).status).toBe(403);
  const made = must(await admin.post('/v1/notifications', hook('ops')), 201);
  expect(made.secret).toMatch(/^whsec_/);
  const read = must(await admin.get(`/v1/notifications/${made.notification_id}`), 200);
  expect(read).toMatchObject({ name: 'ops', state: 'ACTIVE', events: ['job-failed'], wait_minutes: 60 });
  expect(read.secret).toBeUndefined();
  const pause = { body: { state: 'PAUSED' }, headers: { 'if-match': '*' } };
  const paused = must(await admin('PATCH', `/v1/notifications/${made.notification_id}`, pause), 200);
  expect(paused).toMatchObject({ state: 'PAUSED', version: 2, events: ['job-failed'] });
  expect((await stranger.get(`/v1/notifications/${made.notification_id}`)).status).toBe(404);
  expect((await stranger.delete(`/v1/notifications/${made.notification_id}`)).status).toBe(404);
  expect((await admin.delete(`/v1/notifications/${made.notification_id}`)).status).toBe(204);
  expect((await admin.get(`/v1/notifications/${made.notification_id}`)).status).toBe(404);
});

test('what cannot be sent is refused where it stands', async () => {
  const bad = async (body: unknown, status: number, pointer: string): Promise<void> => {
    const r = await admin.post('/v1/notifications', body);
    expect(r.status).toBe(status);
    expect(problemOf(r).errors?.[0]?.pointer).toBe(pointer);
  };
  await bad(hook('a', { url: 'http://hooks.example/x' }), 400, '/url');
  await bad(hook('b', { url: 'https://user@hooks.example/x' }), 400, '/url');
  await bad(hook('c', { events: ['nothing'] }), 400, '/events/0');
  await bad({ name: 'd', kind: 'mail', events: ['job-failed'] }, 400, '/recipients');
  const outsider = must(await stranger.get('/v1/me'), 200).user_id;
  await bad({ name: 'e', kind: 'mail', events: ['job-failed'], recipients: [outsider] }, 422, '/recipients');
});

test('a test is queued and listed, and a delivery that waits is not sent twice', async () => {
  const made = must(await admin.post('/v1/notifications', hook('tested')), 201);
  expect(must(await admin.post(`/v1/notifications/${made.notification_id}/test`), 202).deliveries).toBe(1);
  const list = must(await admin.get(`/v1/notification-deliveries?notification_id=${made.notification_id}`), 200).data;
  expect(list).toMatchObject([{ event: 'test', kind: 'webhook' }]);
  expect((await stranger.post(`/v1/notification-deliveries/${list[0].delivery_id}/redeliver`)).status).toBe(404);
  if (list[0].state === 'WAITING')
    expect((await admin.post(`/v1/notification-deliveries/${list[0].delivery_id}/redeliver`)).status).toBe(409);
});

test('a person chooses their own, and nothing is confirmed without the code', async () => {
  expect((await huda.get('/v1/me/notifications')).status).toBe(404);
  const bad = await huda.put('/v1/me/notifications', { address: 'a@x.example\r\nBcc: b@y.example' });
  expect(problemOf(bad)).toMatchObject({ errors: [{ pointer: '/address' }] });
  expect((await huda.put('/v1/me/notifications', { address: 'h@x.example', events: ['audit-alert'] })).status).toBe(422);
  const choice = { address: 'h@x.example', events: ['job-failed'], language: 'ar' };
  const set = must(await huda.put('/v1/me/notifications', choice), 200);
  expect(set).toMatchObject({ address: 'h@x.example', language: 'ar', events: ['job-failed'] });
  expect(set.confirmed_at).toBeUndefined();
  expect((await huda.put('/v1/me/notifications', { address: 'i@x.example' })).status).toBe(429);
  for (let i = 0; i < 5; i++)
    expect(must(await huda.post('/v1/me/notifications/confirm', { code: 'wrong!' }), 200).confirmed_at).toBeUndefined();
  expect((await huda.post('/v1/me/notifications/confirm', { code: 'wrong!' })).status).toBe(409);
  expect((await admin.get('/v1/me/notifications')).status).toBe(404);
  expect(must(await admin.get('/v1/notification-deliveries'), 200).data.some((d: any) => d.event === 'confirm')).toBe(false);
  expect((await huda.delete('/v1/me/notifications')).status).toBe(204);
  expect((await huda.get('/v1/me/notifications')).status).toBe(404);
  /* Who forgets an address has not made room for another code. */
  expect((await huda.put('/v1/me/notifications', { address: 'j@x.example' })).status).toBe(429);
});
