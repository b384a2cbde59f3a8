// SPDX-License-Identifier: Apache-2.0
// audit_summary.test.ts - what a search finds, counted: the counts are those of the search, and looking is a reading, no export.
import { expect, inject, test } from 'vitest';
import { eventually, makePerson, makeTenant, must, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');

test('a summary counts what a search finds, and is a reading of the log', async () => {
  const { api: owner } = await makeTenant(ready);
  const officer = await makePerson(ready, owner, 'compliance-officer');
  const engineer = await makePerson(ready, owner, 'ml-engineer', 'omar');
  const search = async (q: string): Promise<any[]> =>
    must(await officer.api.get(`/v1/audit/events?${q}&page_size=200`), 200).data;
  for (let i = 0; i < 3; i++) must(await engineer.api.post('/v1/jobs', { name: `j${i}`, kind: 'noop' }), 201);
  await eventually('the submissions', async () => (await search('action=job.submit')).length === 3);
  const sum = must(await officer.api.get('/v1/audit/summary?action=job.submit'), 200);
  expect(sum).toMatchObject({ events: 3, is_cut: false, actions: [{ name: 'job.submit', events: 3 }] });
  expect(sum.outcomes).toEqual([{ name: 'success', events: 3 }]);
  expect(sum.actors).toEqual([{ name: 'omar', events: 3 }]);
  const whole = must(await officer.api.get('/v1/audit/summary'), 200);
  for (const list of [whole.actions, whole.outcomes, whole.actors])
    expect(list.reduce((n: number, c: any) => n + c.events, 0)).toBe(whole.events);
  const most = whole.actions.map((c: any) => c.events);
  expect(most).toEqual([...most].sort((a: number, b: number) => b - a));
  await eventually('its reading', async () => (await search('action=audit.read')).length > 0);
  expect(await search('action=audit.export')).toEqual([]);
  expect((await engineer.api.get('/v1/audit/summary')).status).toBe(403);
});
