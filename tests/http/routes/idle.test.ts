// SPDX-License-Identifier: Apache-2.0
// idle.test.ts - who may say for how long jobs hold what they do not use, and what is no rule. What becomes of jobs is in
// tests/db/scheduler/duty/test_idle_watch.c.
import { expect, inject, test } from 'vitest';
import { api, makeTenant, must, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');

test('the rule is set by administrators, whole, and each organisation has its own', async () => {
  const { api: admin } = await makeTenant(ready);
  const { api: other } = await makeTenant(ready);
  const user_id = must(await admin.post('/v1/users', { name: 'e', roles: ['ml-engineer'] }), 201).user_id;
  const engineer = api(ready, must(await admin.post('/v1/api-tokens', { name: 'x', user_id }), 201).token);
  const none = { after_minutes: 0, notice_minutes: 15, projects: [] };
  expect(must(await engineer.get('/v1/idle-policy'), 200)).toEqual(none);
  expect((await engineer.put('/v1/idle-policy', { after_minutes: 60 })).status).toBe(403);
  const projects = [`prj_${'0'.repeat(31)}1=0`];
  const set = must(await admin.put('/v1/idle-policy', { after_minutes: 60, notice_minutes: 5, projects }), 200);
  expect(set).toEqual({ after_minutes: 60, notice_minutes: 5, projects });
  expect(must(await other.get('/v1/idle-policy'), 200)).toEqual(none);
  for (const [body, at] of [[{}, 'after_minutes'], [{ after_minutes: 4 }, '/after_minutes'],
    [{ after_minutes: 60, notice_minutes: 0 }, '/notice_minutes'],
    [{ after_minutes: 60, projects: ['p=5'] }, '/projects/0']] as const) {
    const reply = await admin.put('/v1/idle-policy', body);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.text).toContain(at);
  }
  expect(must(await admin.put('/v1/idle-policy', { after_minutes: 0 }), 200)).toEqual(none);
});
