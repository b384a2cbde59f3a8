// SPDX-License-Identifier: Apache-2.0
// engines.test.ts - outside schedulers: named by staff alone, wrong ones refused with their place; one that is away says so.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, eventually, makeTenant, must, problemOf, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let tenant: { tenant: any; api: Api };
let count = 0;
const body = (over: object = {}): any => ({
  name: `eng-${process.pid}-${++count}`,
  zone: ready.zone,
  address: 'unix:/nowhere/slurmrestd',
  ...over,
});

const IMAGE = `registry.example/falaj-worker@sha256:${'0a'.repeat(32)}`;
const KUBE = {
  kind: 'kubernetes',
  address: 'https://kube.example:6443',
  account: 'falaj-jobs',
  credential: 'kube.token',
  image: IMAGE,
};

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  tenant = await makeTenant(ready);
});

describe('an engine', () => {
  test('is added, shown, disabled and removed by staff alone', async () => {
    const g = must(await admin.post('/v1/engines', body({ machines: 2 })), 201);
    expect(g).toMatchObject({ kind: 'slurm', pool: g.name, enabled: true, machines: 2, runs: 0, longest_seconds: 86400 });
    expect(must(await admin.get('/v1/engines'), 200).data.map((x: any) => x.engine_id)).toContain(g.engine_id);
    expect(must(await admin.get(`/v1/engines/${g.engine_id}/runs`), 200).data).toEqual([]);
    expect((await admin.post('/v1/engines', body({ name: g.name }))).status).toBe(409);
    expect((await admin.post('/v1/engines', body({ pool: g.pool }))).status).toBe(409);
    for (const [method, path] of [
      ['get', '/v1/engines'],
      ['get', `/v1/engines/${g.engine_id}`],
      ['get', `/v1/engines/${g.engine_id}/runs`],
      ['delete', `/v1/engines/${g.engine_id}`],
    ] as const)
      expect((await tenant.api[method](path)).status).toBe(403);
    expect((await tenant.api.post('/v1/engines', body())).status).toBe(403);
    expect((await tenant.api.post(`/v1/engines/${g.engine_id}/disable`, {})).status).toBe(403);
    expect(must(await admin.post(`/v1/engines/${g.engine_id}/disable`, {}), 200).enabled).toBe(false);
    expect(must(await admin.post(`/v1/engines/${g.engine_id}/enable`, {}), 200).enabled).toBe(true);
    expect((await admin.delete(`/v1/engines/${g.engine_id}`)).status).toBe(204);
    expect((await admin.get(`/v1/engines/${g.engine_id}`)).status).toBe(404);
    expect((await admin.delete(`/v1/engines/${g.engine_id}`)).status).toBe(404);
  });

  test('that cannot be is refused with its place', async () => {
    const refused = async (over: object): Promise<any> => {
      const reply = await admin.post('/v1/engines', body(over));
      return [reply.status, problemOf(reply).errors?.[0]?.pointer];
    };
    expect(await refused({ kind: 'nomad' })).toEqual([400, '/kind']);
    expect(await refused({ pool: 'default' })).toEqual([400, '/pool']);
    expect(await refused({ address: 'http://slurm.example:6820' })).toEqual([400, '/address']);
    expect(await refused({ address: 'https://slurm.example:6820' })).toEqual([400, '/credential']);
    expect(await refused({ address: 'https://slurm.example', credential: '../shadow' })).toEqual([400, '/credential']);
    expect(await refused({ address: 'https://slurm.example', credential: 'x' })).toEqual([400, '/account']);
    expect(await refused({ worker: 'bin/falaj-worker' })).toEqual([400, '/worker']);
    expect(await refused({ zone: 'zz-none-1' })).toEqual([404, '/zone']);
    expect(await refused({ machines: 1001 })).toEqual([400, '/machines']);
    expect(await refused({ image: IMAGE })).toEqual([400, '/image']);
    expect(await refused({ node_selector: 'a=b' })).toEqual([400, '/node_selector']);
    expect(await refused({ tolerations: 'a:NoSchedule' })).toEqual([400, '/tolerations']);
    const kube = (over: object = {}) => refused({ ...KUBE, ...over });
    expect(await kube({ image: '' })).toEqual([400, '/image']);
    expect(await kube({ image: 'registry.example/falaj-worker:latest' })).toEqual([400, '/image']);
    expect(await kube({ account: '' })).toEqual([400, '/account']);
    expect(await kube({ account: 'Falaj_Jobs' })).toEqual([400, '/account']);
    expect(await kube({ credential: '' })).toEqual([400, '/credential']);
    expect(await kube({ node_selector: 'gpu' })).toEqual([400, '/node_selector']);
    expect(await kube({ tolerations: 'gpu=yes' })).toEqual([400, '/tolerations']);
  });

  test('of Kubernetes has a namespace, an image by its digest and its nodes', async () => {
    const g = must(
      await admin.post('/v1/engines', body({ ...KUBE, node_selector: 'gpu=h100', tolerations: 'gpu=yes:NoSchedule' })),
      201,
    );
    expect(g).toMatchObject({ ...KUBE, place: '', node_selector: 'gpu=h100', tolerations: 'gpu=yes:NoSchedule' });
    expect((await admin.delete(`/v1/engines/${g.engine_id}`)).status).toBe(204);
  });

  test('that does not answer says so, and its jobs wait with that reason and nothing is lost', async () => {
    const g = must(await admin.post('/v1/engines', body()), 201);
    const spec = { name: 'lent', kind: 'noop', pool: g.pool, spec: {} };
    const job = must(await tenant.api.post('/v1/jobs', spec), 201);
    const waits = await eventually('the reason', async () => {
      const j = must(await tenant.api.get(`/v1/jobs/${job.job_id}`), 200);
      return j.reason === 'Engine' ? j : undefined;
    });
    expect(waits.message).toContain(`Engine ${g.name}:`);
    expect(must(await admin.get(`/v1/engines/${g.engine_id}`), 200)).toMatchObject({ health: 'DOWN', runs: 1 });
    const [run] = must(await admin.get(`/v1/engines/${g.engine_id}/runs`), 200).data;
    expect(run).toMatchObject({ job_id: job.job_id, state: 'WANTED', tries: 0, machine_names: `${g.name}-1` });
    expect((await admin.delete(`/v1/engines/${g.engine_id}`)).status).toBe(409);
    must(await tenant.api.post(`/v1/jobs/${job.job_id}/cancel`, {}), 200);
    await eventually('its end', async () => {
      const [ended] = must(await admin.get(`/v1/engines/${g.engine_id}/runs`), 200).data;
      return ended.outcome === 'UNWANTED';
    });
    expect((await admin.delete(`/v1/engines/${g.engine_id}`)).status).toBe(204);
  });
});
