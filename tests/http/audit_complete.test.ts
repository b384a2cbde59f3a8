// SPDX-License-Identifier: Apache-2.0
// audit_complete.test.ts - every call that changes something leaves its event, every denial leaves one, and an act that cannot be audited
// does not happen.
//
// The routes come from the OpenAPI document. Each must say which event it writes, or be of those that write theirs by themselves. What the document alone
// can drive, and what a few lines here can, is called N times and counted by request id; every route is also tried by somebody who may not.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { fetchDocument, isPublic, isWorkerRoute, jsonBody, operations, sample, samplePath, type Document, type Operation } from './contract.ts';
import { api, eventually, makePerson, makeTenant, makeZone, must, startPlatform, type Api, type Platform, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const doc: Document = await fetchDocument(ready);
const mutating: Operation[] = operations(doc).filter((op) => op.method !== 'GET' && !isWorkerRoute(op));
const event = (op: Operation): string | undefined => (op as any)['x-falaj-audit'];

// Routes that write their events by themselves (a login that fails is one too), tested where they live.
const byThemselves = /^(auth_|mfa_|session_|invitation_|device_|node_enrol|node_renew|approval_|.*_oidc|scim_)/;

let admin: Api, owner: Api, viewer: Api, officer: Api;
beforeAll(async () => {
  const tenant = await makeTenant(ready);
  admin = api(ready, ready.admin_token);
  owner = tenant.api;
  viewer = (await makePerson(ready, owner, 'viewer')).api;
  officer = (await makePerson(ready, owner, 'compliance-officer')).api;
});

/** Events of a request in a log, once they are numbered. */
async function count(reader: Api, requestId: string, want: number): Promise<number> {
  return eventually(`${want} events of ${requestId}`, async () => {
    const n = must(await reader.get(`/v1/audit/events?request_id=${requestId}`), 200).data.length;
    return n >= want && n;
  });
}

describe('every route that changes something names its event', () => {
  test.each(mutating.map((op) => [op.operationId!, op] as const))('%s', (id, op) => {
    // Questions whose body is their parameters.
    if (['residency_explain', 'residency_simulate', 'job_check', 'repository_index'].includes(id)) return;
    if (id === 'upload_part' || id === 'upload_complete_later') return; // of an act whose begin and end have their events
    expect(event(op) !== undefined || byThemselves.test(id), `${op.method} ${op.path} writes no event`).toBe(true);
  });
});

const name = (): string => `a-${randomUUID().slice(0, 8)}`;
type Driver = (options: { headers: Record<string, string> }) => Promise<Reply>;
const CLOCK = { kind: 'access', zone: ready.zone, reference: 'case 9', due_at: new Date(Date.now() + 86_400_000).toISOString() };
const drivers: Record<string, [() => Api, Driver]> = {
  zone_create: [() => admin, (o) => admin.post('/v1/zones', { code: name(), name: 'Audited', country: 'AE' }, o)],
  tenant_create: [() => admin, (o) => admin.post('/v1/tenants', { name: name(), home_zone: ready.zone }, o)],
  user_create: [() => owner, (o) => owner.post('/v1/users', { name: name() }, o)],
  token_create: [() => owner, (o) => owner.post('/v1/api-tokens', { name: name() }, o)],
  project_create: [() => owner, (o) => owner.post('/v1/projects', { name: name() }, o)],
  dataset_create: [() => owner, (o) => owner.post('/v1/datasets', { name: name(), label_column: 'y', classes: 2 }, o)],
  job_submit: [() => owner, (o) => owner.post('/v1/jobs', { name: name(), kind: 'noop' }, o)],
  role_grant: [() => owner, async (o) => {
    const user = must(await owner.post('/v1/users', { name: name() }), 201);
    return owner.post('/v1/role-bindings', { user_id: user.user_id, role: 'viewer' }, o);
  }],
  audit_hold_place: [() => officer, (o) => officer.post('/v1/audit/holds', { reason: 'a case', from: '2001-01-01T00:00:00Z', to: '2001-01-02T00:00:00Z' }, o)],
  legal_clock_open: [() => officer, (o) => officer.post('/v1/legal-clocks', CLOCK, o)],
  legal_clock_extend: [() => officer, async (o) => {
    const { clock_id } = must(await officer.post('/v1/legal-clocks', CLOCK), 201);
    const due_at = new Date(Date.parse(CLOCK.due_at) + 1000).toISOString();
    return officer.post(`/v1/legal-clocks/${clock_id}/extend`, { due_at, reason: 'r' }, o);
  }],
  legal_clock_close: [() => officer, async (o) => {
    const { clock_id } = must(await officer.post('/v1/legal-clocks', CLOCK), 201);
    return officer.post(`/v1/legal-clocks/${clock_id}/close`, { note: 'answered' }, o);
  }],
  audit_retention_set: [() => officer, (o) => officer.put('/v1/audit/retention', { class: 'JOB', keep_days: 4000 }, o)],
  audit_export_create: [() => officer, (o) => officer.post('/v1/audit/exports', { format: 'csv' }, o)],
  person_erase: [() => officer, async (o) => {
    const hold = must(await owner.post('/v1/users', { name: name() }), 201);
    return officer.post('/v1/audit/erasures', { user_id: hold.user_id }, o);
  }],
};

describe('N calls are N events', () => {
  const driven = mutating.filter((op) => op.operationId! in drivers);
  test('every driver has its route', () => expect(driven.map((op) => op.operationId).sort()).toEqual(Object.keys(drivers).sort()));
  test.each(driven.map((op) => [op.operationId!, op] as const))('%s', async (id, op) => {
    const [log, call] = drivers[id]!;
    for (let i = 0; i < 2; i++) {
      const requestId = `test-${randomUUID()}`;
      const reply = await call({ headers: { 'x-request-id': requestId } });
      if (id === 'person_erase' && reply.status === 409) continue; // a hold of this very test
      expect(reply.status, reply.text.slice(0, 300)).toBeLessThan(300);
      const reader = log() === admin ? admin : officer;
      const found = must(await reader.get('/v1/audit/events?page_size=1'), 200) && (await count(reader, requestId, 1));
      expect(found, `events of ${op.method} ${op.path}`).toBe(1);
    }
  });

  test.each(mutating.filter((op) => !isPublic(op) && event(op) && !(op.operationId! in drivers)).map((op) => [op.operationId!, op] as const))(
    '%s, as far as the document can drive it', async (_id, op) => {
      const requestId = `test-${randomUUID()}`;
      const schema = jsonBody(doc, op);
      const body = schema ? { body: sample(doc, schema) } : {};
      const reply = await owner(op.method, samplePath(op), { ...body, headers: { 'x-request-id': requestId, 'if-match': '*' } });
      if (reply.status < 300) expect(await count(officer, requestId, 1)).toBeGreaterThanOrEqual(1);
    });
});

describe('every denial is an event', () => {
  test.each(mutating.filter((op) => !isPublic(op)).map((op) => [op.operationId!, op] as const))('%s', async (id, op) => {
    const requestId = `test-${randomUUID()}`;
    const reply = await viewer(op.method, samplePath(op), { ...(op.method === 'DELETE' ? {} : { raw: '{}' }), headers: { 'x-request-id': requestId } });
    if (reply.status !== 403 || reply.json?.code !== 'forbidden') return;
    expect(await count(officer, requestId, 1), `denials of ${id}`).toBe(1);
    const [denied] = must(await officer.get(`/v1/audit/events?request_id=${requestId}`), 200).data;
    expect(denied.event).toMatchObject({ code: 'FLJ-AUT-003D', outcome: 'forbidden', decision: { effect: 'deny' }, details: { route: id } });
  });
});

describe('an act that cannot be audited does not happen', () => {
  let broken: Platform;
  beforeAll(async () => {
    // Half of the events of this platform's calls are lost on their way.
    broken = await startPlatform({ FALAJ_FAULTS: 'audit_lost:50%' });
    await makeZone(broken.ready, broken.ready.zone).catch(() => undefined);
  });
  afterAll(() => broken?.stop());

  test('calls that answer an error changed nothing, calls that answer success left an event', async () => {
    const call = api(broken.ready, broken.ready.admin_token);
    const made: string[] = [], lost: string[] = [];
    for (let i = 0; i < 30; i++) {
      const code = `z-${randomUUID().slice(0, 8)}`;
      const reply = await call.post('/v1/zones', { code, name: 'Z', country: 'AE' });
      (reply.status === 201 ? made : lost).push(code);
      if (reply.status !== 201) expect(reply.status).toBe(500);
    }
    expect(made.length).toBeGreaterThan(0);
    expect(lost.length).toBeGreaterThan(0);
    for (const code of lost) expect((await call.get(`/v1/zones/${code}`)).status, code).toBe(404);
    for (const code of made) expect((await call.get(`/v1/zones/${code}`)).status, code).toBe(200);
  });
});
