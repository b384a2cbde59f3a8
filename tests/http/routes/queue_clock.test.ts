// SPDX-License-Identifier: Apache-2.0
// queue_clock.test.ts - the clock of a tenant tells its own jobs, of others sums alone; and a change that it names
// starts the job.
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, makeTenant, must, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let admin: Api;
let tenant: Api;
let stranger: Api;
let id: string;
const any = { headers: { 'if-match': '*' } };
const job = (over = {}) => ({ name: 'clocked', kind: 'noop', spec: { sleep_ms: 1 }, ...over });
const clock = async (of: Api, query = ''): Promise<any> => must(await of.get(`/v1/queue/clock${query}`), 200);

beforeAll(async () => {
  admin = api(ready, ready.admin_token);
  const made = await makeTenant(ready);
  tenant = made.api;
  id = made.tenant.tenant_id;
  stranger = (await makeTenant(ready)).api;
});

describe('the queue clock', () => {
  test('tells own jobs by name, and a stranger that somebody waits', async () => {
    const waits = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines' })), 201).job_id;
    const mine = await clock(tenant);
    expect(mine.late.map((l: any) => l.job_id)).toEqual([waits]);
    expect(mine.late[0]).toMatchObject({ name: 'clocked', slots: 1, reason: 'NoMatchingFlavor' });
    expect(mine.zones.map((z: any) => z.zone)).toEqual([ready.zone]);
    expect(mine.zones[0].slots).toBeGreaterThan(0);
    expect(mine.zones[0].lines.map((l: any) => l.who)).toEqual(['own', 'others']);
    expect(mine.zones[0].lines[0].points[0]).toMatchObject({ slots: 0 });
    expect(Date.parse(mine.until) - Date.parse(mine.at)).toBe(24 * 3600_000);
    const theirs = await clock(stranger, '?hours=1');
    expect(theirs.late).toEqual([]);
    expect(theirs.others_waiting).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(theirs)).not.toContain(waits.slice(4));
    expect(JSON.stringify(theirs)).not.toContain('clocked');
    expect((await stranger.get(`/v1/jobs/${waits}/clock`)).status).toBe(404);
    expect((await tenant.get('/v1/queue/clock?hours=0')).status).toBe(400);
    must(await tenant.post(`/v1/jobs/${waits}/cancel`, {}), 200);
  });

  test('names the least change, with which the job then runs', async () => {
    const waits = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines' })), 201).job_id;
    const said = must(await tenant.get(`/v1/jobs/${waits}/clock`), 200);
    expect(said.state).toBe('late');
    expect(said.changes.map((c: any) => c.change)).toEqual(['pool']);
    expect(said.changes[0]).toMatchObject({ from: 'no-machines', zone: ready.zone });
    await waitJob(tenant, must(await tenant.post('/v1/jobs', job({ pool: said.changes[0].to })), 201).job_id);
    must(await tenant.post(`/v1/jobs/${waits}/cancel`, {}), 200);
    expect(must(await tenant.get(`/v1/jobs/${waits}/clock`), 200)).toMatchObject({ state: 'not_waiting', changes: [] });
  });

  test('of a quota names the limit that is enough', async () => {
    must(await admin.put(`/v1/tenants/${id}/quotas/slots`, { hard_limit: 0 }, any), 200);
    const waits = must(await tenant.post('/v1/jobs', job()), 201).job_id;
    const said = must(await tenant.get(`/v1/jobs/${waits}/clock`), 200);
    expect(said).toMatchObject({ state: 'late', reason: 'QuotaExceeded' });
    expect(said.changes).toEqual([{ change: 'quota_slots', from: '0', to: '1', zone: ready.zone, pool: 'default',
                                    flavor: expect.any(String) }]);
    must(await admin.put(`/v1/tenants/${id}/quotas/slots`, { hard_limit: Number(said.changes[0].to) }, any), 200);
    await waitJob(tenant, waits);
  });

  test('of a job that is held says so', async () => {
    const waits = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines' })), 201).job_id;
    must(await tenant.post(`/v1/jobs/${waits}/hold`, {}), 200);
    expect(must(await tenant.get(`/v1/jobs/${waits}/clock`), 200)).toMatchObject({ state: 'gate', changes: [] });
    must(await tenant.post(`/v1/jobs/${waits}/cancel`, {}), 200);
  });

  test('of the platform tells tenants and no jobs', async () => {
    const waits = must(await tenant.post('/v1/jobs', job({ pool: 'no-machines' })), 201).job_id;
    const all = must(await admin.get('/v1/system/queue/clock?hours=2'), 200);
    expect(all).toMatchObject({ running: [], starts: [], late: [] });
    expect(all.zones.map((z: any) => z.zone)).toContain(ready.zone);
    const lines = all.zones.flatMap((z: any) => z.lines);
    // Others of this platform may want more: then this tenant is in the line of the rest.
    expect(lines.filter((l: any) => l.tenant_id === id || l.who === 'others')).not.toEqual([]);
    for (const l of lines.filter((x: any) => x.tenant_id)) expect(l).toMatchObject({ who: 'tenant', name: expect.any(String) });
    expect((await tenant.get('/v1/system/queue/clock')).status).toBe(403);
    must(await tenant.post(`/v1/jobs/${waits}/cancel`, {}), 200);
  });
});
