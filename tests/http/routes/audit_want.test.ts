// SPDX-License-Identifier: Apache-2.0
// audit_want.test.ts - the log is asked by the names that people know: of things, of those that are deleted, and of
// people; a word that nothing is called is refused, where an empty answer would read as "nobody did".
import { beforeAll, expect, inject, test } from 'vitest';
import { eventually, makePerson, makeTenant, must, problemOf, type Api, type Ready, type Reply } from '../harness.ts';

const ready: Ready = inject('falaj');
let owner: Api, officer: Api, engineer: any, dataset: string, stranger: Api;

const makeSet = async (by: Api, name: string): Promise<string> =>
  must(await by.post('/v1/datasets', { name, label_column: 'kind', classes: 2 }), 201).dataset_id;

beforeAll(async () => {
  owner = (await makeTenant(ready)).api;
  stranger = (await makeTenant(ready)).api;
  officer = (await makePerson(ready, owner, 'compliance-officer')).api;
  engineer = await makePerson(ready, owner, 'ml-engineer', 'salma');
  dataset = await makeSet(engineer.api, 'reed-beds');
  await makeSet(stranger, 'their-wells');
});

const events = async (query: string): Promise<any[]> =>
  must(await officer.get(`/v1/audit/events?page_size=200&${query}`), 200).data;
const found = (query: string, count: number): Promise<any[]> =>
  eventually(`${count} events of ${query}`, async () => ((l) => l.length === count && l)(await events(query)));
const refusedAt = (r: Reply, pointer: string): void => {
  expect(r.status).toBe(422);
  expect(JSON.stringify(problemOf(r))).toContain(pointer);
};

test('an officer who may not list data sets finds one by its name, and what it is called stands with each event', async () => {
  const [event] = await found('resource=Reed-Beds&action=dataset.create', 1);
  expect(event).toMatchObject({ resource_id: dataset, resource_name: 'reed-beds', actor_name: 'salma' });
  expect(await events(`resource=${dataset}&action=dataset.create`)).toHaveLength(1);
  expect(await events('actor=salma&action=dataset.')).toHaveLength(1);
  expect(must(await officer.get('/v1/audit/names?name=EED'), 200).data)
    .toEqual([{ kind: 'dataset', id: dataset, name: 'reed-beds', deleted: false }]);
});

test('of what was deleted the name is known still', async () => {
  const dataset_id = await makeSet(engineer.api, 'old-canal');
  must(await owner.delete(`/v1/datasets/${dataset_id}`), 200);
  const list = await found('resource=old-canal', 2);
  const acts = list.map((x: any) => `${x.action} ${x.resource_name}`);
  expect(acts).toEqual(['dataset.create old-canal', 'dataset.delete old-canal']);
  expect(must(await officer.get('/v1/audit/names?name=old-'), 200).data)
    .toEqual([{ kind: 'dataset', id: dataset_id, name: 'old-canal', deleted: true }]);
  // Another of that name: both are meant, so neither is chosen.
  await makeSet(engineer.api, 'old-canal');
  const both = await officer.get('/v1/audit/events?resource=old-canal');
  refusedAt(both, '/resource');
  expect(JSON.stringify(problemOf(both))).toContain(`${dataset_id} (deleted)`);
});

test('a word that nothing is called is refused as such; kinds, zones and ids are words of the log', async () => {
  const doors = (query: string): Promise<Reply>[] =>
    ['events', 'events.csv'].map((door) => officer.get(`/v1/audit/${door}?${query}`));
  for (const [query, pointer] of [['resource=reed-bets', '/resource'], ['resource=their-wells', '/resource'],
    ['action=job.sumbit', '/action'], ['action=jobs.', '/action'], ['actor=salman', '/actor'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/to']] as const)
    for (const r of await Promise.all(doors(query))) refusedAt(r, pointer);
  refusedAt(await officer.post('/v1/audit/exports', { format: 'csv', resource: 'reed-bets' }), '/resource');
  const made = must(await officer.post('/v1/audit/exports', { format: 'csv', resource: 'reed-beds' }), 202);
  expect(made.filter).toContain(dataset);
  expect(must(await officer.get('/v1/audit/names?name=their-'), 200).data).toEqual([]);
  for (const word of ['dataset', ready.zone, `dst_${'0'.repeat(32)}`])
    must(await officer.get(`/v1/audit/events?resource=${word}`), 200);
  expect((await engineer.api.get('/v1/audit/names?name=re')).status).toBe(403);
});
