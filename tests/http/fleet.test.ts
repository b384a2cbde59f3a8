// SPDX-License-Identifier: Apache-2.0
// fleet.test.ts - what the platform's staff see of machines and of what runs on them: how much and whose, never what.
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { api, binary, eventually, makePerson, makeTenant, must, waitJob, waitNode, type Api, type Ready } from './harness.ts';
import { execFileSync } from 'node:child_process';

const ready: Ready = inject('falaj');
const admin: Api = api(ready, ready.admin_token);
let owner: Api, viewer: Api, tenantId: string, nodeId: string;

beforeAll(async () => {
  const made = await makeTenant(ready);
  owner = made.api;
  tenantId = made.tenant.tenant_id;
  viewer = (await makePerson(ready, owner, 'viewer')).api;
  nodeId = (await waitNode(ready)).node_id;
});

const secret = `secret-${randomUUID()}`;

test('a machine tells how much of it is taken, and its work is listed without names', async () => {
  const before = must(await admin.get(`/v1/nodes/${nodeId}`), 200);
  const jobs: any[] = [];
  for (let i = 0; i < 3; i++) jobs.push(must(await owner.post('/v1/jobs', { name: `${secret}-${i}`, kind: 'noop', slots: 1, spec: { sleep_ms: 30_000 } }), 201));
  for (const job of jobs) await waitJob(owner, job.job_id, ['RUNNING']);
  const node = must(await admin.get(`/v1/nodes/${nodeId}`), 200);
  expect(node.used_slots - before.used_slots).toBe(3);
  expect(node.running - before.running).toBe(3);
  expect(node.used_gpus).toBe(0);
  expect(must(await admin.get('/v1/nodes?sort=name'), 200).data.find((n: any) => n.node_id === nodeId)).toMatchObject({ used_slots: node.used_slots, running: node.running });

  const reply = await admin.get(`/v1/nodes/${nodeId}/work?page_size=200`);
  const work: any[] = must(reply, 200).data;
  expect(work).toHaveLength(node.running);
  const mine = work.filter((x) => x.tenant_id === tenantId);
  expect(mine.map((x) => x.job_id).sort()).toEqual(jobs.map((j) => j.job_id).sort());
  expect(mine[0]).toMatchObject({ kind: 'noop', zone: ready.zone, slots: 1, gpus: 0, state: 'RUNNING' });
  expect(Object.keys(mine[0]).sort()).toEqual(['attempt_id', 'gpus', 'job_id', 'kind', 'leased_at', 'slots', 'started_at', 'state', 'tenant_id', 'zone']);
  expect(reply.text).not.toContain(secret);
  const first = must(await admin.get(`/v1/nodes/${nodeId}/work?page_size=2`), 200);
  const rest = must(await admin.get(`/v1/nodes/${nodeId}/work?page_size=200&page_token=${encodeURIComponent(first.next_page_token)}`), 200);
  expect([...first.data, ...rest.data].map((x: any) => x.attempt_id)).toEqual(work.map((x) => x.attempt_id));
  const table = execFileSync(binary('falaj'), ['node', 'work', nodeId], { encoding: 'utf8', env: { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: ready.admin_token } });
  for (const job of jobs) expect(table).toContain(job.job_id);

  for (const job of jobs) must(await owner.post(`/v1/jobs/${job.job_id}/cancel`, {}), 200);
  for (const job of jobs) await waitJob(owner, job.job_id);
  await eventually('their slots are free', async () => must(await admin.get(`/v1/nodes/${nodeId}`), 200).running === before.running);
  expect(must(await admin.get(`/v1/nodes/${nodeId}`), 200).used_slots).toBe(before.used_slots);
});

test('a tenant sees a machine, not how much of it others take', async () => {
  for (const call of [owner, viewer]) {
    const seen = await call.get(`/v1/nodes/${nodeId}`);
    if (seen.status === 200) for (const field of ['used_slots', 'used_gpus', 'running']) expect(seen.json).not.toHaveProperty(field);
    expect((await call.get(`/v1/nodes/${nodeId}/work`)).status).toBe(403);
  }
  expect((await owner.get(`/v1/nodes/${nodeId}`)).status).toBe(200); // else nothing was looked at
  expect((await admin.get(`/v1/nodes/nod_${'0'.repeat(31)}1/work`)).status).toBe(404);
});
