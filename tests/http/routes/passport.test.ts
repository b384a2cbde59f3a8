// SPDX-License-Identifier: Apache-2.0
// passport.test.ts - a data set's passport names where it lies, its key, who read it as the log says, the jobs and models made of
// it; who may not read the log gets none. What hangs on a version of a key is what the passport's places say.
import { beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, train, upload } from '../client.ts';
import { eventually, makePerson, makeTenant, must, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
const csv = digitsCsv.split('\n').slice(0, 129).join('\n');

beforeAll(async () => {
  ({ api: tenant } = await makeTenant(ready));
});

test('a passport tells what the log and the rows know', async () => {
  const { dataset_id, version } = await upload(tenant, csv, 'reeds');
  const path = `/v1/datasets/${dataset_id}/passport`;
  const empty = must(await tenant.get(path), 200);
  expect([empty.readers, empty.jobs, empty.models, empty.crossings]).toEqual([[], [], [], []]);
  expect(empty.places).toHaveLength(1);
  expect(empty.places[0]).toMatchObject({ version: 1, is_copy: false, key_state: 'PRIMARY' });
  expect([empty.places[0].object_id, empty.places[0].sha256]).toEqual([version.object_id, version.sha256]);
  expect(empty.laws[0].zone).toBe(empty.places[0].zone);

  const officer = await makePerson(ready, tenant, 'compliance-officer');
  const engineer = await makePerson(ready, tenant, 'ml-engineer', 'omar');
  for (let i = 0; i < 2; i++) expect((await engineer.api.get(`/v1/datasets/${dataset_id}/versions/1/content`)).status).toBe(200);
  const job = await train(engineer.api, dataset_id, { hidden: [8], epochs: 1 });
  expect((await waitJob(tenant, job.job_id)).state).toBe('COMPLETED');
  const model = must(await engineer.api.post('/v1/models', { name: 'reed', job_id: job.job_id }), 201);

  const full = await eventually('the readings to be numbered', async () => {
    const p = must(await officer.api.get(path), 200);
    return p.readers[0]?.reads === 2 && p;
  });
  expect(full.readers).toHaveLength(1);
  expect(full.readers[0]).toMatchObject({ actor_kind: 'user', actor_name: 'omar' });
  const event = must(await officer.api.get(`/v1/audit/events/${full.readers[0].last_event}`), 200);
  expect([event.tseq, event.action, event.resource_id]).toEqual([full.readers[0].last_tseq, 'dataset.content.read', dataset_id]);
  expect(full.jobs).toMatchObject([{ job_id: job.job_id, kind: 'train', dataset_version: 1, submitted_by_name: 'omar' }]);
  expect(full.models).toMatchObject([{ model_id: model.model_id, name: 'reed', version: 1, deployments: 0 }]);
  expect(full.is_cut).toBe(false);

  const at = full.places[0];
  const impact = must(await officer.api.get(`/v1/keys/${at.zone}/versions/${at.key_version}/impact`), 200);
  const named = impact.things.map((t: any) => `${t.kind} ${t.id}`);
  expect(named).toEqual(expect.arrayContaining([`dataset ${dataset_id}`, `model ${model.model_id}`]));
  expect(impact.acts.map((a: any) => `${a.act} ${a.stops}`)).toEqual(['rotate nothing', 'disable reads', 'destroy forever']);

  expect((await engineer.api.get(path)).status).toBe(403);
  expect((await (await makeTenant(ready)).api.get(path)).status).toBe(404);
  const looked = await eventually('that it was looked at', async () => {
    const list = must(await officer.api.get(`/v1/audit/events?action=audit.read&resource=${dataset_id}`), 200).data;
    return list.length > 0 && list;
  });
  expect(looked[0].outcome).toBe('success');
});
