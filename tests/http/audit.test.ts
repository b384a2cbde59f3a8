// SPDX-License-Identifier: Apache-2.0
// audit.test.ts - the audit log over HTTP: what is searched and proven (by code of this file alone), exported and resumed, held and erased.
import { execFile, spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { until } from './client.ts';
import { api, binary, eventually, makePerson, makeTenant, must, some, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
let owner: Api, officer: Api, second: Api, third: Api, engineer: any, tenantId: string, officerId: string, officerToken: string;

async function member(role: string, name: string): Promise<{ user: any; call: Api }> {
  if (role === 'compliance-officer') {
    const person = await makePerson(ready, owner, role, name);
    return { user: person, call: person.api };
  }
  const user = must(await owner.post('/v1/users', { name, roles: [role] }), 201);
  return { user, call: api(ready, must(await owner.post('/v1/api-tokens', { name, user_id: user.user_id }), 201).token) };
}

beforeAll(async () => {
  const made = await makeTenant(ready);
  owner = made.api;
  tenantId = made.tenant.tenant_id;
  const first = await member('compliance-officer', 'first');
  officer = first.call;
  officerId = first.user.user_id;
  officerToken = first.user.token;
  second = (await member('compliance-officer', 'second')).call;
  third = (await member('compliance-officer', 'third')).call;
  engineer = await member('ml-engineer', 'engineer');
  for (let i = 0; i < 5; i++) must(await engineer.call.post('/v1/jobs', { name: `j${i}`, kind: 'noop' }), 201);
  await eventually('the submissions in the log', async () => (await search('action=job.submit')).length >= 5);
});

const search = async (query: string): Promise<any[]> => must(await officer.get(`/v1/audit/events?page_size=200&${query}`), 200).data;

// RFC 9162 §2.1, written anew.
const sha = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const node = (l: Buffer, r: Buffer): Buffer => sha(Buffer.from([1]), l, r);
function rootOfInclusion(leaf: Buffer, index: number, size: number, proof: Buffer[]): Buffer {
  let fn = index, sn = size - 1, r = leaf;
  for (const p of proof) {
    if (sn === 0) throw new Error('the proof is too long');
    if (fn % 2 === 1 || fn === sn) {
      r = node(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else r = node(r, p);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  if (sn !== 0) throw new Error('the proof is too short');
  return r;
}
const hex = (s: string): Buffer => Buffer.from(s, 'hex');
/** The leaf of an event by docs/audit-format.md §2: four members sealed one by one under salts that the event makes. */
function leafOf(e: any): Buffer {
  const plain = sha(Buffer.from([0]), Buffer.from(JSON.stringify(e)));
  const salts = Buffer.concat([sha(Buffer.from([4, 0]), plain), sha(Buffer.from([4, 1]), plain)]);
  const members = [`"ts_us":${e.ts_us}`, `"action":"${e.action}"`, `"resource":${JSON.stringify(e.resource)}`,
    `"actor":${JSON.stringify({ type: e.actor.type, id: e.actor.id })}`];
  const seals = members.map((m, i) => sha(Buffer.from([5]), salts.subarray(16 * i, 16 * i + 16), Buffer.from(m)));
  return sha(Buffer.from([3]), ...seals);
}

test('an entry, its proof and the signed head fit together', async () => {
  const head = await until(() => officer.get('/v1/audit/head'), 200);
  const [item] = await search('action=job.submit');
  const leaf = leafOf(item.event);
  expect(leaf.toString('hex')).toBe(item.leaf); // the answer's event is the canonical one, byte for byte
  must(await officer.post('/v1/audit/exports', { format: 'csv' }), 202); // has a head signed that covers it
  const newest = must(await officer.get('/v1/audit/heads?page_size=200'), 200).data.at(-1);
  expect(newest.size).toBeGreaterThanOrEqual(item.tseq);
  const proof = must(await officer.get(`/v1/audit/proofs/inclusion?tseq=${item.tseq}&size=${newest.size}`), 200).proof.map(hex);
  expect(rootOfInclusion(leaf, item.tseq - 1, newest.size, proof).toString('hex')).toBe(newest.head.root);
  const key = must(await officer.get('/v1/audit/keys'), 200).data[0];
  const spki = Buffer.concat([hex('302a300506032b6570032100'), Buffer.from(key.public_key, 'base64')]);
  const pub = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  expect(verify(null, Buffer.from(JSON.stringify(newest.head)), pub, hex(newest.signature))).toBe(true);
  expect(must(await officer.get(`/v1/audit/proofs/consistency?from=${head.size}&to=${newest.size}`), 200).proof).toBeInstanceOf(Array);
  expect((await officer.get(`/v1/audit/proofs/inclusion?tseq=1&size=${newest.size + 100000}`)).status).toBe(404);
  // The own head is under the zone's, which is anchored; a later head of the zone extends an earlier one.
  const place = must(await officer.get(`/v1/audit/proofs/zone?size=${newest.size}`), 200);
  const dir = mkdtempSync(join(tmpdir(), 'falaj-zone-'));
  const proof2 = join(dir, 'proof.json'), hexKey = Buffer.from(key.public_key, 'base64').toString('hex');
  const run = (...args: string[]) => spawnSync(binary('falaj-verify'), args, { encoding: 'utf8', cwd: dir });
  const judge = (k: string) => run('head-proof', '--key', k, proof2);
  const witness = () => run('witness', '--state', 'seen', '--key', hexKey, '--sign-with', 'secret', proof2);
  const witnessKey = run('witness-key', 'secret').stdout.trim();
  writeFileSync(proof2, JSON.stringify(place.file));
  expect(judge(hexKey).stdout).toMatch(/OK: the head is under the zone's head/);
  expect(judge('0'.repeat(64)).status).toBe(2);
  writeFileSync(join(dir, 'cosigned'), witness().stdout); // another organisation sees the zone's head
  expect(run('cosignature', '--key', hexKey, '--witness', witnessKey, 'cosigned').status).toBe(0);
  const zoneSize = JSON.parse(Buffer.from(place.file.zone_head.body, 'base64').toString()).size;
  writeFileSync(proof2, JSON.stringify(must(await officer.get(`/v1/audit/proofs/zone?from=${zoneSize}`), 200).file));
  expect(judge(hexKey).stdout).toMatch(/extends the earlier one/);
  expect(witness().status).toBe(0); // and goes on with it
  rmSync(dir, { recursive: true });
  expect((await officer.get('/v1/audit/proofs/zone?size=987654321')).status).toBe(404);
});

test('filters narrow, together too', async () => {
  const id = engineer.user.user_id;
  expect(await search('action=job.submit')).toHaveLength(5);
  for (const i of some(await search(`actor=${id}`))) expect(`usr_${i.event.actor.id.replaceAll('-', '')}`).toBe(id);
  expect(await search(`actor=${id}&action=job.submit&outcome=success`)).toHaveLength(5);
  expect(await search(`actor=${id}&outcome=denied`)).toHaveLength(0);
  expect((await search('action=invitation.')).length).toBeGreaterThanOrEqual(6);
  expect(await search('from=2035-01-01T00:00:00Z')).toHaveLength(0);
  const one = (await search('action=job.submit'))[2];
  expect(await search(`resource=${one.event.resource.id}&action=job.submit`)).toHaveLength(1);
  expect(must(await officer.get(`/v1/audit/events/${one.event_id}`), 200).leaf).toBe(one.leaf);
  expect((await officer.get(`/v1/audit/events/evt_${'0'.repeat(31)}1`)).status).toBe(404);
  expect((await officer.get('/v1/audit/events?action=job%20submit')).status).toBe(422);
  expect((await search(`resource=${tenantId}&action=audit.genesis`))[0].tseq).toBe(1);
});

test('an event says who did what in words, beside the bytes that were hashed', async () => {
  const id = engineer.user.user_id;
  expect(id).toMatch(/^usr_[0-9a-f]{32}$/);
  const bare = id.slice(4).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  expect((await search(`actor=${bare}&action=job.submit`)).map((i) => i.tseq)).toEqual((await search(`actor=${id}&action=job.submit`)).map((i) => i.tseq));
  const [item] = await search(`actor=${id}&action=job.submit`);
  expect(item).toMatchObject({ action: 'job.submit', outcome: 'success', actor_kind: 'user', actor_id: id, actor_name: 'engineer', resource_kind: 'job',
    resource_id: item.event.resource.id, http_status: 201, request_id: item.event.request_id });
  expect(Math.abs(Date.parse(item.at) - Date.now())).toBeLessThan(120_000);
  expect(Object.keys(item.event)).not.toContain('actor_name');
  expect(item.leaf).toBe(leafOf(item.event).toString('hex'));
  expect(must(await officer.get(`/v1/audit/events/${item.event_id}`), 200).actor_name).toBe('engineer');
  expect((await search(`actor=nod_${'0'.repeat(31)}1`))).toHaveLength(0);
  // Another tenant's officer reads no name of ours, whatever id is asked for.
  const other = (await makeTenant(ready)).api;
  const stranger = (await makePerson(ready, other, 'compliance-officer')).api;
  expect(must(await stranger.get(`/v1/audit/events?actor=${id}`), 200).data).toHaveLength(0);
});

test('a search as CSV: all of it, with names, nothing that a spreadsheet would run', async () => {
  const evil = must(await owner.post('/v1/users', { name: '=cmd|"x",1', roles: ['ml-engineer'] }), 201);
  const call = api(ready, must(await owner.post('/v1/api-tokens', { name: 'evil', user_id: evil.user_id }), 201).token);
  for (let i = 0; i < 3; i++) must(await call.post('/v1/datasets', { name: `e${i}`, label_column: 'y', classes: 2 }), 201);
  await eventually('the data sets in the log', async () => (await search(`actor=${evil.user_id}&action=dataset.create`)).length >= 3);
  const found = await search(`actor=${evil.user_id}&action=dataset.create`);
  const reply = await officer.get(`/v1/audit/events.csv?actor=${evil.user_id}&action=dataset.create`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(reply.headers.get('content-disposition')).toContain('.csv');
  expect(reply.text.startsWith('\uFEFF')).toBe(true);
  const lines = reply.text.replace(/^\uFEFF/, '').trimEnd().split('\r\n');
  expect(lines[0]).toBe('tseq,at,action,outcome,actor_kind,actor_id,actor_name,resource_kind,resource_id,resource_name,http_status,request_id,event_id,leaf');
  expect(lines.slice(1).map((l) => Number(l.split(',')[0]))).toEqual(found.map((i) => i.tseq));
  for (const [i, line] of lines.slice(1).entries()) {
    expect(line).toContain(`,${evil.user_id},"'=cmd|""x"",1",dataset,${found[i].resource_id},${found[i].resource_name},201,`);
    expect(line.endsWith(`${found[i].event_id},${found[i].leaf}`)).toBe(true);
  }
  const cli = await falaj(['audit', 'csv', '--actor', evil.user_id, '--action', 'dataset.create'], { FALAJ_URL: ready.api_url, FALAJ_TOKEN: officerToken });
  expect(cli).toMatchObject({ code: 0, out: reply.text });
  const whole = (await officer.get('/v1/audit/events.csv?from=2020-01-01T00:00:00Z')).text.trimEnd().split('\r\n').slice(1).map((l) => Number(l.split(',')[0]));
  expect(whole).toEqual(whole.map((_, i) => i + 1)); // every number once, in order
  expect(whole.length).toBeGreaterThan(20);
  await eventually('the export in the log', async () => (await search(`action=audit.export&actor=${officerId}`)).length > 0);
  expect((await engineer.call.get('/v1/audit/events.csv')).status).toBe(403);
  expect((await officer.get('/v1/audit/events.csv?action=a%20b')).status).toBe(422);
});

test('an address is sealed in the log, shown to who may, found by its value', async () => {
  const [item] = await search('action=job.submit');
  expect(item.event.src_ip).toMatch(/^sealed:1:[0-9a-f-]{36}:[A-Za-z0-9_-]+$/);
  expect(item.src_ip).toBe('127.0.0.1');
  expect((await search('ip=127.0.0.1&action=job.submit'))).toHaveLength(5);
  expect((await search('ip=192.0.2.1'))).toHaveLength(0);
  const seals = must(await officer.post('/v1/audit/hmac-test', { value: '127.0.0.1', user_id: engineer.user.user_id }), 200).seals;
  expect(seals).toEqual([item.event.src_ip]);
  expect((await owner.post('/v1/audit/hmac-test', { value: '127.0.0.1' })).status).toBe(403);
});

test.each(['jsonl', 'ocsf', 'cef', 'syslog', 'csv', 'summary', 'summary-html'])('an export as %s is resumed byte for byte', async (format) => {
  const job = must(await officer.post('/v1/audit/exports', { format }), 202);
  const path = `/v1/audit/exports/${job.export_id}/content`;
  const whole = await officer.get(path);
  expect(whole.status).toBe(200);
  must(await owner.post('/v1/users', { name: `meanwhile-${format}` }), 201);
  const at = Math.floor(Buffer.byteLength(whole.text) / 2);
  const rest = await officer.get(path, { headers: { range: `bytes=${at}-` } });
  expect(rest.status).toBe(206);
  expect(rest.headers.get('content-range')).toBe(`bytes ${at}-${Buffer.byteLength(whole.text) - 1}/${Buffer.byteLength(whole.text)}`);
  expect(Buffer.from(whole.text).subarray(at).equals(Buffer.from(rest.text))).toBe(true);
  const known = must(await officer.get(`/v1/audit/exports/${job.export_id}`), 200);
  expect(known.size_bytes).toBe(Buffer.byteLength(whole.text));
  expect(known.sha256).toBe(createHash('sha256').update(whole.text).digest('base64'));
  expect((await officer.get(path, { headers: { range: 'bytes=999999999-' } })).status).toBe(416);
  expect((await engineer.call.get(path)).status).toBe(403);
});

function falaj(args: string[], env: Record<string, string>): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) =>
    execFile(binary('falaj'), args, { env: { ...process.env, ...env } }, (e, out, err) => done({ code: e ? Number(e.code) : 0, out, err })),
  );
}

test('falaj audit export goes on where its connection broke, and what it wrote verifies', async () => {
  const to = new URL(ready.api_url), dir = mkdtempSync(join(tmpdir(), 'export-')), file = join(dir, 'log.jsonl');
  let cuts = 0;
  const proxy = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    let passed = 0;
    near.on('error', () => far.destroy()).on('close', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    far.on('data', (piece: Buffer) => {
      passed += piece.length;
      near.write(passed > 6000 && cuts < 2 ? piece.subarray(0, 2000) : piece);
      if (passed > 6000 && cuts < 2) cuts++, near.end(() => far.destroy());
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => proxy.once('listening', done));
  const token = (await makePerson(ready, owner, 'compliance-officer', 'exporter')).token;
  const env = { FALAJ_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, FALAJ_TOKEN: token };
  const first = await falaj(['audit', 'export', file], env);
  expect(first.err).toMatch(/bytes written to/);
  expect(cuts).toBe(2);
  expect(readdirSync(dir)).toEqual(['log.jsonl']); // no part is left
  expect((await falaj(['audit', 'verify', '--trust-embedded-key', file], env)).out).toMatch(/whole and as signed/);
  const since = /export (exp_[0-9a-f]+)/.exec(first.err)![1]!;
  const some = join(dir, 'jobs.jsonl'), newer = join(dir, 'newer.jsonl');
  const filtered = await falaj(['audit', 'export', some, '--action', 'job.submit'], env);
  expect(filtered.err).toMatch(/no entry from 1 to \d+ that fits was left out/);
  expect(JSON.parse(readFileSync(some, 'utf8').split('\n')[0]!)).toMatchObject(
    { mode: 'filtered', proves: 'completeness', filter: { action: 'job.submit' } });
  const complete = await falaj(['audit', 'verify', '--trust-embedded-key', some], env);
  expect(complete.out).toMatch(/Every entry from 1 to \d+ that fits is here: 5\./);
  const small = await falaj(['audit', 'export', some, '--action', 'job.submit', '--proves', 'inclusion'], env);
  expect(small.err).toMatch(/not that no other would have fitted/);
  const manifest = JSON.parse(readFileSync(some, 'utf8').split('\n')[0]!);
  expect(manifest).toMatchObject({ mode: 'selection', proves: 'inclusion', count: 5 });
  expect((await falaj(['audit', 'verify', '--trust-embedded-key', some], env)).code).toBe(0);
  expect((await falaj(['audit', 'export', newer, '--since', since], env)).code).toBe(0);
  expect((await falaj(['audit', 'verify', '--trust-embedded-key', newer], env)).code).toBe(0);
  const verify = async (...args: string[]): Promise<number> => (await falaj(['audit', 'verify', ...args], env)).code;
  const head = join(dir, 'head'), later = join(dir, 'later.jsonl');
  expect(await verify(file), 'by whose key was not said').not.toBe(0);
  expect(await verify('--trust-embedded-key', '--save-head', head, file)).toBe(0);
  expect((await falaj(['audit', 'export', later], env)).code).toBe(0);
  expect(await verify('--trust-embedded-key', '--previous', head, later)).toBe(0);
  expect(await verify('--trust-embedded-key', '--save-head', head, later)).toBe(0);
  expect(await verify('--trust-embedded-key', '--previous', head, file), 'a log that has shrunk').toBe(2);
  for (const words of [['heads'], ['holds'], ['retention'], ['exports'], ['reconcile'], ['proof', '1', '1'], ['hold', 'case 8', '--user', engineer.user.user_id]])
    expect((await falaj(['audit', ...words], env)).code, words.join(' ')).toBe(0);
  proxy.close();
  rmSync(dir, { recursive: true });
});

test('a held person is not erased; two others lift the hold; erased fields stay proven and unreadable', async () => {
  const person = await member('viewer', 'leaver');
  must(await person.call.get('/v1/jobs'), 200);
  expect((await person.call.post('/v1/users', { name: 'no' })).status).toBe(403); // an event of this person
  const hold = must(await officer.post('/v1/audit/holds', { reason: 'case 7', subject_id: person.user.user_id }), 201);
  expect((await second.post('/v1/audit/erasures', { user_id: person.user.user_id })).status).toBe(409);
  const asked = must(await officer.post(`/v1/audit/holds/${hold.hold_id}/lift`, { reason: 'closed' }), 202);
  expect((await officer.post(`/v1/approvals/${asked.approval_id}/approve`, {})).status).toBe(403);
  must(await second.post(`/v1/approvals/${asked.approval_id}/approve`, {}), 200);
  expect(must(await officer.get(`/v1/audit/holds/${hold.hold_id}`), 200).state).toBe('ACTIVE');
  must(await third.post(`/v1/approvals/${asked.approval_id}/approve`, {}), 200);
  expect(must(await officer.get(`/v1/audit/holds/${hold.hold_id}`), 200).state).toBe('LIFTED');
  must(await second.post('/v1/audit/erasures', { user_id: person.user.user_id }), 201);
  await eventually('the erasure in the log', async () => (await search('action=person.erase')).length > 0);
  const acts = await search(`actor=${person.user.user_id}&outcome=denied`);
  expect(acts).toHaveLength(1);
  expect(acts[0].src_ip).toBeUndefined();
  expect(acts[0].personal).toBe('erased');
  expect(acts[0]).not.toHaveProperty('actor_name'); // the event stays, the name is gone from its readings
  expect(leafOf(acts[0].event).toString('hex')).toBe(acts[0].leaf);
});
