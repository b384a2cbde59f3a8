// SPDX-License-Identifier: Apache-2.0
// scim.test.ts - a tenant's identity provider provisions people and groups by SCIM 2.0 (RFC 7643, RFC 7644).
//
// What matters: whoever is switched off is out at once with every token, nobody comes back whom an administrator put out, roles come and
// go with groups and never beyond the mapping's creator, another tenant sees nothing, and of two that race for a name one wins.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { api, eventually, makeTenant, must, PATIENCE_MS, type Api, type Options, type Ready, type Reply } from './harness.ts';

const ready: Ready = inject('falaj');
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

interface World { boss: Api; scim: Api; tenant: any; provisioner: string }

/** A tenant whose provider holds a token that may provision, and nothing else. */
async function world(): Promise<World> {
  const { tenant, api: boss } = await makeTenant(ready);
  const account = must(await boss.post('/v1/users', { name: 'entra', kind: 'service', roles: ['provisioner'] }), 201);
  const token = must(await boss.post('/v1/api-tokens', { name: 'scim', user_id: account.user_id, scopes: ['scim:provision'] }), 201).token;
  const plain = api(ready, token);
  const typed = (o: Options = {}): Options => (o.body === undefined ? o : { ...o, headers: { 'content-type': 'application/scim+json', ...o.headers } });
  const scim = Object.assign((m: string, p: string, o?: Options) => plain(m, `/scim/v2${p}`, { key: false, ...typed(o) }), {
    get: (p: string, o?: Options) => plain('GET', `/scim/v2${p}`, o),
    post: (p: string, body?: unknown, o?: Options) => plain('POST', `/scim/v2${p}`, typed({ key: false, body, ...o })),
    put: (p: string, body?: unknown, o?: Options) => plain('PUT', `/scim/v2${p}`, typed({ body, ...o })),
    delete: (p: string, o?: Options) => plain('DELETE', `/scim/v2${p}`, o),
  }) as Api;
  return { boss, scim, tenant, provisioner: account.user_id };
}

function refused(reply: Reply, status: number, type?: string): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get('content-type')).toBe('application/scim+json');
  expect(reply.json.schemas).toEqual([ERROR]);
  expect(reply.json.status).toBe(String(status));
  expect(reply.json.scimType).toBe(type);
  expect(typeof reply.json.detail).toBe('string');
}

const person = (userName: string, more: object = {}): object => ({ schemas: [USER], userName, active: true, ...more });
const ops = (...Operations: object[]): Options => ({ body: { schemas: [PATCH], Operations } });
const add = async (w: World, userName: string, more: object = {}): Promise<any> => must(await w.scim.post('/Users', person(userName, more)), 201);
const find = async (w: World, kind: string, filter: string): Promise<any> => must(await w.scim.get(`/${kind}?filter=${encodeURIComponent(filter)}`), 200);
const rolesOf = async (w: World, id: string): Promise<string[]> => must(await w.boss.get(`/v1/users/${id}`), 200).roles;

let w: World;
beforeAll(async () => {
  w = await world();
});

describe('discovery', () => {
  test('says what there is', async () => {
    const config = await w.scim.get('/ServiceProviderConfig');
    expect(must(config, 200)).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, filter: { supported: true, maxResults: 200 }, etag: { supported: true } });
    expect(config.headers.get('content-type')).toBe('application/scim+json');
    expect(must(await w.scim.get('/ResourceTypes'), 200).Resources.map((r: any) => r.endpoint)).toEqual(['/Users', '/Groups']);
    expect(must(await w.scim.get('/Schemas'), 200).Resources.map((r: any) => r.id)).toEqual([USER, GROUP]);
    expect(must(await w.scim.get(`/Schemas/${USER}`), 200).attributes.find((a: any) => a.name === 'userName')).toMatchObject({ required: true, uniqueness: 'server', caseExact: false });
    expect(must(await w.scim.get('/ResourceTypes/Group'), 200).schema).toBe(GROUP);
    refused(await w.scim.get('/Schemas/urn:x'), 404);
    refused(await w.scim.get('/Nothing'), 404);
  });

  test('is closed to those who may not provision', async () => {
    refused(await api(ready, null).get('/scim/v2/Users'), 401);
    const user = must(await w.boss.post('/v1/users', { name: `eng-${randomUUID()}`, roles: ['ml-engineer'] }), 201);
    const token = must(await w.boss.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token;
    refused(await api(ready, token).get('/scim/v2/Users'), 403);
    refused(await api(ready, ready.admin_token).get('/scim/v2/Users'), 403);
  });
});

describe('a user', () => {
  test('is made, read, found, changed and removed', async () => {
    const made = await w.scim.post('/Users', person('Sara@bank.example', {
      externalId: 'E-1', displayName: 'Sara', name: { givenName: 'Sara', familyName: 'H' }, title: 'Dr', password: 'never-kept',
      emails: [{ value: 'sara@bank.example', type: 'work', primary: true }], 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'x' },
    }));
    const sara = must(made, 201);
    expect(sara).toMatchObject({ schemas: [USER], userName: 'Sara@bank.example', active: true, externalId: 'E-1', meta: { resourceType: 'User', location: `/scim/v2/Users/${sara.id}` } });
    expect(made.headers.get('location')).toBe(`/scim/v2/Users/${sara.id}`);
    expect(made.headers.get('etag')).toBe(sara.meta.version);
    expect(made.text).not.toMatch(/never-kept|department|title/);
    expect(must(await w.scim.get(`/Users/${sara.id}`), 200)).toEqual(sara);
    expect((await w.scim.get(`/Users/${sara.id}`, { headers: { 'if-none-match': sara.meta.version } })).status).toBe(304);

    for (const filter of ['userName eq "sara@BANK.example"', 'externalId eq "E-1"', 'emails[type eq "work" and value sw "sara@"]', `id eq "${sara.id}"`,
      'name.givenName eq "sara" and not (active eq false)'])
      expect((await find(w, 'Users', filter)).Resources.map((u: any) => u.id), filter).toEqual([sara.id]);
    expect((await find(w, 'Users', 'externalId eq "e-1"')).totalResults).toBe(0);
    expect(must(await w.scim.get(`/Users/${sara.id}?attributes=userName`), 200)).toEqual({ schemas: [USER], id: sara.id, userName: 'Sara@bank.example' });

    const changed = must(await w.scim('PATCH', `/Users/${sara.id}`, ops({ op: 'Replace', path: 'displayName', value: 'Sara H' }, { op: 'add', path: 'emails[type eq "home"].value', value: 's@x.example' })), 200);
    expect(changed).toMatchObject({ displayName: 'Sara H', emails: [{ value: 'sara@bank.example' }, { value: 's@x.example', type: 'home' }] });
    expect(changed.meta.version).not.toBe(sara.meta.version);
    refused(await w.scim('PATCH', `/Users/${sara.id}`, { ...ops({ op: 'remove', path: 'displayName' }), headers: { 'if-match': sara.meta.version } }), 412);
    const replaced = must(await w.scim.put(`/Users/${sara.id}`, person('sara@bank.example'), { headers: { 'if-match': changed.meta.version } }), 200);
    expect(replaced).toMatchObject({ userName: 'sara@bank.example', active: true });
    expect([replaced.displayName, replaced.emails, replaced.externalId]).toEqual([undefined, undefined, undefined]);
    expect(must(await w.boss.get(`/v1/users/${sara.id}`), 200).name).toBe('sara@bank.example');

    expect((await w.scim.delete(`/Users/${sara.id}`)).status).toBe(204);
    refused(await w.scim.get(`/Users/${sara.id}`), 404);
    refused(await w.scim.delete(`/Users/${sara.id}`), 404);
    expect(must(await w.boss.get(`/v1/users/${sara.id}`), 200).state).toBe('DEACTIVATED');
    expect((await add(w, 'sara@bank.example')).id).not.toBe(sara.id);
  });

  test('stands in the audit log, without names', async () => {
    const made = await add(w, 'secret-name-77', { displayName: 'Secret Person' });
    const about = async (): Promise<any[]> => must(await w.boss.get('/v1/audit/events?page_size=200&action=scim.change'), 200).data
      .filter((ev: any) => JSON.stringify(ev).includes(made.id));
    // Events are numbered behind the writers.
    const mine = await eventually('an event names the user', async () => (await about().then((all) => all.length > 0 && all)));
    expect(JSON.stringify(mine)).toMatch(/scim\.change|FLJ-IDP-002/);
    expect(JSON.stringify(mine)).not.toMatch(/secret-name-77|Secret Person/);
  });

  test('lists are paged as the RFC wants it', async () => {
    for (let i = 0; i < 3; i++) await add(w, `page-${i}`);
    const all = must(await w.scim.get('/Users?count=200'), 200);
    expect(all.totalResults).toBe(all.Resources.length);
    expect(all.Resources.some((u: any) => u.id === w.provisioner), 'service accounts are not people').toBe(false);
    const second = must(await w.scim.get('/Users?startIndex=2&count=2&attributes=userName'), 200);
    expect(second).toMatchObject({ totalResults: all.totalResults, startIndex: 2, itemsPerPage: 2 });
    expect(second.Resources.map((u: any) => u.id)).toEqual(all.Resources.slice(1, 3).map((u: any) => u.id));
    expect(must(await w.scim.get('/Users?count=0'), 200)).toMatchObject({ totalResults: all.totalResults, itemsPerPage: 0, Resources: [] });
    expect(must(await w.scim.get('/Users?startIndex=-5&count=100000'), 200)).toMatchObject({ startIndex: 1, itemsPerPage: all.totalResults });
    expect(await find(w, 'Users', 'userName sw "PAGE-"')).toMatchObject({ totalResults: 3, itemsPerPage: 3 });
  });
});

test('what is wrong is told as the RFC has it', async () => {
  const id = (await add(w, 'wrong-1', { externalId: 'W-1' })).id;
  refused(await w.scim.post('/Users', person('WRONG-1')), 409, 'uniqueness');
  refused(await w.scim.post('/Users', person('wrong-2', { externalId: 'W-1' })), 409, 'uniqueness');
  refused(await w.scim.post('/Users', { schemas: [USER] }), 400, 'invalidValue');
  refused(await w.scim.post('/Users', person('x', { active: 'maybe' })), 400, 'invalidValue');
  refused(await w.scim('POST', '/Users', { raw: '{"userName":' }), 400, 'invalidSyntax');
  refused(await w.scim('POST', '/Users', { raw: '{"userName":"a","userName":"b"}' }), 400, 'invalidSyntax');
  refused(await w.scim('POST', '/Users', { raw: '{}', headers: { 'content-type': 'text/plain' } }), 415);
  refused(await w.scim('POST', '/Users', { raw: `{"userName":"${'a'.repeat(2 << 20)}"}` }), 413);
  refused(await w.scim.get('/Users?filter=userName%20is%20x'), 400, 'invalidFilter');
  refused(await w.scim.get(`/Users?filter=${encodeURIComponent(`${'('.repeat(20)}userName pr${')'.repeat(20)}`)}`), 400, 'invalidFilter');
  refused(await w.scim.get(`/Users?filter=${'a'.repeat(1100)}`), 400, 'invalidValue');
  refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'nosuch', value: 1 })), 400, 'invalidPath');
  must(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'add',
    path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'x' },
    { op: 'replace', path: 'title', value: 'Dr' })), 200);
  refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'id', value: 'x' })), 400, 'mutability');
  refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'emails[type eq "fax"].value', value: 'x' })), 400, 'noTarget');
  refused(await w.scim('PATCH', `/Users/${id}`, ops(...Array.from({ length: 1001 }, () => ({ op: 'replace', path: 'active', value: true })))), 413);
  refused(await w.scim.get('/Users/not-an-id'), 404);
  refused(await w.scim.delete('/Users'), 405);
});

describe('a user who is switched off', () => {
  async function withToken(name: string): Promise<{ id: string; call: Api }> {
    const id = (await add(w, name)).id;
    must(await w.boss.post('/v1/role-bindings', { user_id: id, role: 'viewer' }), 201);
    const call = api(ready, must(await w.boss.post('/v1/api-tokens', { name: 'x', user_id: id }), 201).token);
    must(await call.get('/v1/jobs'), 200);
    return { id, call };
  }
  /** When the last call was made that was let in (its answer may take its time), and that none is let in after the first refusal. */
  async function refusedAfter(call: Api): Promise<number> {
    const from = Date.now();
    let took = 0;
    for (let asked = from; (await call.get('/v1/jobs')).status === 200 && took < PATIENCE_MS; asked = Date.now()) {
      took = asked - from;
      await sleep(20);
    }
    expect((await call.get('/v1/jobs')).status).toBe(401);
    return took;
  }

  test('is out within seconds, by PATCH, PUT and DELETE; its tokens stay dead when it comes back', async () => {
    for (const [i, off] of [
      (id: string) => w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', value: { active: false } })),
      (id: string) => w.scim.put(`/Users/${id}`, person('off-1', { active: false })),
      (id: string) => w.scim.delete(`/Users/${id}`),
    ].entries()) {
      const { id, call } = await withToken(`off-${i}`);
      expect([200, 204]).toContain((await off(id)).status);
      const took = await refusedAfter(call);
      expect(took, `refused after ${took} ms`).toBeLessThan(6_000);
      if (i < 2) {
        expect(must(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'active', value: 'True' })), 200).active).toBe(true);
        expect((await call.get('/v1/jobs')).status).toBe(401);
      }
    }
  });

  test('does not come back when an administrator put it out', async () => {
    const { id } = await withToken('held');
    must(await w.boss('PATCH', `/v1/users/${id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } }), 200);
    refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'active', value: true })), 409, 'mutability');
    refused(await w.scim.put(`/Users/${id}`, person('held')), 409, 'mutability');
    must(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'displayName', value: 'still off' })), 200);
    refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'active', value: true })), 409, 'mutability');
    expect(must(await w.boss.get(`/v1/users/${id}`), 200).state).toBe('DISABLED');
  });

  test('nor when an administrator took the matter over', async () => {
    const { id } = await withToken('taken-over');
    must(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'active', value: false })), 200);
    must(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'userName', value: 'taken-over-2' })), 200);
    must(await w.boss('PATCH', `/v1/users/${id}`, { body: { state: 'DISABLED' }, headers: { 'if-match': '*' } }), 200);
    refused(await w.scim('PATCH', `/Users/${id}`, ops({ op: 'replace', path: 'active', value: true })), 409, 'mutability');
  });

  test('is never the last administrator', async () => {
    const bosses = (await find(w, 'Users', 'active eq true')).Resources;
    const admin = must(await w.boss.get('/v1/me'), 200).user_id;
    expect(bosses.map((u: any) => u.id)).toContain(admin);
    const off = ops({ op: 'replace', path: 'active', value: false });
    refused(await w.scim('PATCH', `/Users/${admin}`, off), 403);     // provisioning did not make this one
    refused(await w.scim.delete(`/Users/${admin}`), 403);
    const typed = { key: false as const, headers: { 'content-type': 'application/scim+json' } };
    refused(await w.boss('PATCH', `/scim/v2/Users/${admin}`, { ...off, ...typed }), 409, 'mutability');
    refused(await w.boss.delete(`/scim/v2/Users/${admin}`), 409, 'mutability');
    must(await w.boss.get('/v1/me'), 200);
  });
});

describe('a group', () => {
  test('gives its role to who is in it, and takes it back', async () => {
    const [one, two] = [await add(w, 'g-one'), await add(w, 'g-two')];
    const group = must(await w.scim.post('/Groups', { schemas: [GROUP], displayName: 'Engineers', externalId: 'G-1', members: [{ value: one.id }] }), 201);
    expect(group.members).toEqual([{ value: one.id, $ref: `/scim/v2/Users/${one.id}`, type: 'User', display: 'g-one' }]);
    expect(await rolesOf(w, one.id)).toEqual([]);
    expect(must(await w.boss.put(`/v1/groups/${group.id}/role`, { role: 'ml-engineer' }, { headers: { 'if-match': '*' } }), 200)).toMatchObject({ role: 'ml-engineer', members: 1 });
    expect(await rolesOf(w, one.id)).toEqual(['ml-engineer']);
    expect(must(await w.boss.get(`/v1/role-bindings?user_id=${one.id}`), 200).data.map((b: any) => b.source), 'apart from sign-on\'s').toEqual(['scim']);
    must(await w.scim('PATCH', `/Groups/${group.id}`, ops({ op: 'add', path: 'members', value: [{ value: two.id }, { value: one.id }] })), 200);
    expect(await rolesOf(w, two.id)).toEqual(['ml-engineer']);
    expect(must(await w.scim.get(`/Users/${two.id}`), 200).groups).toEqual([{ value: group.id, $ref: `/scim/v2/Groups/${group.id}`, display: 'Engineers' }]);
    expect((await find(w, 'Groups', `members.value eq "${two.id}"`)).Resources.map((g: any) => g.id)).toEqual([group.id]);
    expect((await find(w, 'Groups', 'displayName eq "engineers"')).totalResults).toBe(1);
    expect(must(await w.scim.get('/Groups?excludedAttributes=members'), 200).Resources[0].members).toBeUndefined();

    must(await w.scim('PATCH', `/Groups/${group.id}`, ops({ op: 'remove', path: `members[value eq "${one.id}"]` })), 200);
    expect(await rolesOf(w, one.id)).toEqual([]);
    const also = must(await w.scim.post('/Groups', { displayName: 'Also', members: [{ value: two.id }] }), 201);
    must(await w.boss.put(`/v1/groups/${also.id}/role`, { role: 'ml-engineer' }, { headers: { 'if-match': '*' } }), 200);
    expect((await w.scim.delete(`/Groups/${group.id}`)).status).toBe(204);
    expect(await rolesOf(w, two.id), 'the other group gives it too').toEqual(['ml-engineer']);
    expect((await w.boss.delete(`/v1/groups/${also.id}/role`)).status).toBe(204);
    expect(await rolesOf(w, two.id)).toEqual([]);
    refused(await w.scim.get(`/Groups/${group.id}`), 404);
  });

  test('leaves alone what was granted directly', async () => {
    const user = await add(w, 'g-direct');
    must(await w.boss.post('/v1/role-bindings', { user_id: user.id, role: 'viewer' }), 201);
    const group = must(await w.scim.post('/Groups', { displayName: 'Viewers', members: [{ value: user.id }] }), 201);
    must(await w.boss.put(`/v1/groups/${group.id}/role`, { role: 'viewer' }, { headers: { 'if-match': '*' } }), 200);
    expect((await w.scim.delete(`/Groups/${group.id}`)).status).toBe(204);
    expect(await rolesOf(w, user.id)).toEqual(['viewer']);
  });

  test('gives no role that its mapping\'s creator lacks, and none by SCIM', async () => {
    const user = await add(w, 'g-none');
    const group = must(await w.scim.post('/Groups', { displayName: 'Nobody', role: 'tenant-admin', members: [{ value: user.id }] }), 201);
    expect(await rolesOf(w, user.id)).toEqual([]);
    const put = (call: Api, role: string): Promise<Reply> => call.put(`/v1/groups/${group.id}/role`, { role }, { headers: { 'if-match': '*' } });
    const engineer = must(await w.boss.post('/v1/users', { name: `e-${randomUUID()}`, roles: ['ml-engineer'] }), 201);
    const call = api(ready, must(await w.boss.post('/v1/api-tokens', { name: 'x', user_id: engineer.user_id }), 201).token);
    expect((await put(call, 'viewer')).status).toBe(403);
    expect((await put(w.boss, 'platform-admin')).status).toBe(422);
    expect((await put(w.boss, 'provisioner')).status).toBe(422);
    expect((await put(w.boss, 'nosuch')).status).toBe(400);
    expect((await put(w.boss, 'compliance-officer')).status, 'no officer by a group: whoever fills it would act as one').toBe(403);
    must(await w.boss.post('/v1/role-bindings', { user_id: user.id, role: 'compliance-officer' }), 201);
    const mixed = must(await w.scim.post('/Groups', { displayName: 'Mixed', members: [{ value: user.id }] }), 201);
    expect((await w.boss.put(`/v1/groups/${mixed.id}/role`, { role: 'viewer' }, { headers: { 'if-match': '*' } })).status, 'the officer stands alone').toBe(409);
    expect(await rolesOf(w, user.id)).toEqual(['compliance-officer']);
  });

  test('changes the people that provisioning made, and nobody else', async () => {
    const local = must(await w.boss.post('/v1/users', { name: 'local', roles: ['viewer'] }), 201);
    const own = await add(w, 'own');
    const off = ops({ op: 'replace', path: 'active', value: false });
    refused(await w.scim('PATCH', `/Users/${local.user_id}`, off), 403);
    refused(await w.scim.put(`/Users/${local.user_id}`, person('renamed')), 403);
    refused(await w.scim.delete(`/Users/${local.user_id}`), 403);
    refused(await w.scim.post('/Groups', { displayName: 'Local', members: [{ value: own.id }, { value: local.user_id }] }), 403);
    const group = must(await w.scim.post('/Groups', { displayName: 'Own', members: [{ value: own.id }] }), 201);
    const join = ops({ op: 'add', path: 'members', value: [{ value: local.user_id }] });
    refused(await w.scim('PATCH', `/Groups/${group.id}`, join), 403);
    expect(must(await w.boss.get(`/v1/users/${local.user_id}`), 200)).toMatchObject({ name: 'local', state: 'ACTIVE',
        roles: ['viewer'] });
    must(await w.boss('PATCH', `/scim/v2/Users/${local.user_id}`, { ...off, key: false,
        headers: { 'content-type': 'application/scim+json' } }), 200);
  });
  test('refuses members that are none', async () => {
    refused(await w.scim.post('/Groups', { displayName: 'Bad', members: [{ value: `usr_${'f'.repeat(32)}` }] }), 400, 'invalidValue');
    refused(await w.scim.post('/Groups', { displayName: 'Bad', members: [{ value: 'x' }] }), 400, 'invalidValue');
    refused(await w.scim.post('/Groups', { displayName: 'Bad', members: [{ value: w.provisioner }] }), 400, 'invalidValue');
    const group = must(await w.scim.post('/Groups', { displayName: 'Twice' }), 201);
    refused(await w.scim.post('/Groups', { displayName: 'TWICE' }), 409, 'uniqueness');
    refused(await w.scim.post('/Groups', { displayName: 'Nest', members: [{ value: group.id, type: 'Group' }] }), 400, 'invalidValue');
  });
});

describe('another tenant', () => {
  test('sees and touches nothing', async () => {
    const other = await world();
    const theirs = await add(other, 'canary-person');
    const group = must(await other.scim.post('/Groups', { displayName: 'canary-group', members: [{ value: theirs.id }] }), 201);
    for (const path of [`/Users/${theirs.id}`, `/Groups/${group.id}`]) {
      refused(await w.scim.get(path), 404);
      refused(await w.scim('PATCH', path, ops({ op: 'replace', path: 'displayName', value: 'x' })), 404);
      refused(await w.scim.put(path, { userName: 'x', displayName: 'x' }), 404);
      refused(await w.scim.delete(path), 404);
    }
    expect((await find(w, 'Users', `id eq "${theirs.id}" or userName co "canary"`)).totalResults).toBe(0);
    expect((await find(w, 'Groups', 'displayName co "canary"')).totalResults).toBe(0);
    refused(await w.scim.post('/Groups', { displayName: 'Thief', members: [{ value: theirs.id }] }), 400, 'invalidValue');
    await add(w, 'canary-person');
    expect(must(await other.scim.get(`/Users/${theirs.id}`), 200).active).toBe(true);
  });
});

test('of twenty that race for a name one wins', async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => w.scim.post('/Users', person(i % 2 ? 'Racer' : 'racer'))));
  expect(replies.filter((r) => r.status === 201).length).toBe(1);
  for (const r of replies.filter((one) => one.status !== 201)) refused(r, 409, 'uniqueness');
  expect((await find(w, 'Users', 'userName eq "racer"')).totalResults).toBe(1);
});

test('members that come and go at the same time all arrive', async () => {
  const users = await Promise.all(Array.from({ length: 8 }, (_, i) => add(w, `crowd-${i}`)));
  const group = must(await w.scim.post('/Groups', { displayName: 'Crowd' }), 201);
  const replies = await Promise.all(users.map((u) => w.scim('PATCH', `/Groups/${group.id}`, ops({ op: 'add', path: 'members', value: [{ value: u.id }] }))));
  expect(replies.map((r) => r.status)).toEqual(users.map(() => 200));
  expect(must(await w.scim.get(`/Groups/${group.id}`), 200).members.length).toBe(8);
});
