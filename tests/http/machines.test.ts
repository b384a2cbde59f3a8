// SPDX-License-Identifier: Apache-2.0
// machines.test.ts - who is let in as a machine: certificates of every wrong kind, join tokens of every wrong kind, quarantine, renewal.
// About ten seconds; every vector is one connection or one call to the real listeners.
import tls from 'node:tls';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { psql } from './client.ts';
import { makePerson, makeTenant, makeZone, must, some, PATIENCE_MS, type Api } from './harness.ts';
import { admin, enrol, facts, joinToken, logged, nobody, nodeOf, pki, ready, register, zone } from './machines_kit.ts';
import { machineCall, Pki, workerListener, type Answer, type Pair } from './pki.ts';

const ID = `spiffe://${zone}/worker/default/`;
const CLIENT = 'extendedKeyUsage=clientAuth', KU = 'keyUsage=critical,digitalSignature', LEAF = 'basicConstraints=critical,CA:FALSE';
let vectors = 0;

afterAll(() => {
  pki.close();
  process.stdout.write(`machines.test.ts: ${vectors} vectors\n`);
});

describe('a certificate at the worker listener', () => {
  const file = workerListener(ready).file;
  const good = (name: string): Pair => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}${name}`]);

  test('a good one of an authority given by file is let in', async () => {
    expect((await register(good('file-1'), 'file-1')).status).toBe(200);
  });

  const other = pki.ca(['subjectAltName=URI:spiffe://other-zone']);
  const impostor = pki.ca([`subjectAltName=URI:spiffe://${zone}`]);
  const BAD: [string, () => Pair | null, Record<string, unknown>?][] = [
    ['none', () => null],
    ['a stranger\'s', () => pki.leaf(other, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`])],
    ['of an authority that says it is the zone\'s', () => pki.leaf(impostor, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`])],
    ['of such an authority, with its chain', () => { const l = pki.leaf(impostor, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`]); return { ...l, cert: l.cert + impostor.cert }; }],
    ['self-signed with the right name', () => pki.self([CLIENT, `subjectAltName=URI:${ID}x`])],
    ['expired', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`], ['20200101000000Z', '20210101000000Z'])],
    ['not valid yet', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`], ['20600101000000Z', '20610101000000Z'])],
    ['for servers', () => pki.leaf(file, [LEAF, KU, 'extendedKeyUsage=serverAuth', `subjectAltName=URI:${ID}x`])],
    ['for e-mail', () => pki.leaf(file, [LEAF, KU, 'extendedKeyUsage=emailProtection', `subjectAltName=URI:${ID}x`])],
    ['without extended usage', () => pki.leaf(file, [LEAF, KU, `subjectAltName=URI:${ID}x`])],
    ['for any extended usage', () => pki.leaf(file, [LEAF, KU, 'extendedKeyUsage=anyExtendedKeyUsage', `subjectAltName=URI:${ID}x`])],
    ['whose key may not sign', () => pki.leaf(file, [LEAF, 'keyUsage=critical,keyEncipherment', CLIENT, `subjectAltName=URI:${ID}x`])],
    ['with two URIs', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x,URI:${ID}y`])],
    ['with the same URI twice', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x,URI:${ID}x`])],
    ['with no URI', () => pki.leaf(file, [LEAF, KU, CLIENT, 'subjectAltName=DNS:worker'])],
    ['with no name at all', () => pki.leaf(file, [LEAF, KU, CLIENT])],
    ['with its name as DNS', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=DNS:${zone}`])],
    ['of another zone by this zone\'s authority', () => pki.leaf(file, [LEAF, KU, CLIENT, 'subjectAltName=URI:spiffe://other-zone/worker/default/x'])],
    ['of a zone that begins alike', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:spiffe://${zone}x/worker/default/x`])],
    ['of a zone in other case', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:spiffe://${zone.toUpperCase()}/worker/default/x`])],
    ['whose URI is no SPIFFE name', () => pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:https://${zone}/worker/default/x`])],
    ['an authority\'s made as a leaf', () => pki.leaf(file, ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,digitalSignature,keyCertSign', CLIENT, `subjectAltName=URI:${ID}x`])],
    ['the authority\'s own', () => file],
    ['of an intermediate that a leaf made', () => {
      const leaf = good('mid');
      const under = pki.leaf(leaf, [LEAF, KU, CLIENT, `subjectAltName=URI:${ID}x`]);
      return { ...under, cert: under.cert + leaf.cert };
    }],
    ['of TLS 1.2', () => good('tls12'), { maxVersion: 'TLSv1.2' }],
  ];
  test.each(BAD)('%s is refused', async (_name, make, tls = {}) => {
    vectors++;
    const answer = await register(make(), 'x', tls);
    expect([0, 401], answer.why).toContain(answer.status);
    if (answer.status === 401) expect(answer.json.code).toBe('unauthenticated');
    expect(await nodeOf('x')).toBeUndefined();
  });

  const MISMATCH: [string, Record<string, unknown>][] = [
    ['another name', { name: 'renamed' }], ['another pool', { pool: 'gpu' }], ['another zone', { zone: 'other-zone' }], ['a name in other case', { name: 'Who' }],
  ];
  test.each(MISMATCH)('registering %s than the certificate\'s is refused', async (_name, other) => {
    vectors++;
    const answer = await machineCall(ready, good('who'), '/v1/nodes/register', { ...facts('who'), ...other });
    expect(answer.status, answer.why).toBe(403);
  });

  test.each(['/api', '/worker/default', '/worker/default/a/b', '/worker', '/', '/tenant/x'])('the name %s is no machine\'s', async (path) => {
    vectors++;
    const who = pki.leaf(file, [LEAF, KU, CLIENT, `subjectAltName=URI:spiffe://${zone}${path}`]);
    expect((await register(who, 'b')).status).toBe(403);
    expect([401, 403]).toContain((await machineCall(ready, who, '/v1/nodes/renew', { csr_pem: pki.csr(pki.key()) })).status);
  });
});

describe('enrolment', () => {
  test('a join token gives a certificate of the shape that the zone\'s authority makes, and of no other', async () => {
    const key = pki.key();
    const { token } = await joinToken();
    // What a request asks for beyond its key is not given.
    const csr = pki.csr(key, '/CN=root/O=Evil', [`subjectAltName=URI:spiffe://${zone}/api,URI:spiffe://other-zone/worker/a/b,DNS:falaj`,
      'basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign', 'extendedKeyUsage=codeSigning']);
    const got = must(await nobody.post('/v1/enrol', { token, name: 'shape-1', csr_pem: csr }), 200);
    const text = pki.text(got.certificate_pem);
    expect(text).toContain(`URI:${ID}shape-1`);
    expect(text.match(/URI:/g)).toHaveLength(1);
    expect(text).not.toMatch(/CA:TRUE|falaj|Evil|Code Signing|Certificate Sign/);
    expect(text).toContain('TLS Web Client Authentication');
    expect(text, 'a machine serves nothing, and is called nowhere').not.toMatch(/Server Authentication|IP Address|DNS:/);
    const life = Date.parse(got.not_after) - Date.now();
    expect(life).toBeGreaterThan(23 * 3600_000);
    expect(life).toBeLessThanOrEqual(24 * 3600_000);
    expect((await register({ cert: got.certificate_pem, key }, 'shape-1')).status).toBe(200);
    expect((await nodeOf('shape-1')).cert_ends_at).toBeDefined();
  });

  test('a token is used up, and tells when it was', async () => {
    const token = await joinToken({ uses: 2 });
    const one = (name: string): Promise<any> => nobody.post('/v1/enrol', { token: token.token, name, csr_pem: pki.csr(pki.key()) });
    must(await one('twice-1'), 200);
    must(await one('twice-2'), 200);
    expect((await one('twice-3')).status).toBe(401);
    const row = must(await admin.get('/v1/join-tokens?page_size=200'), 200).data.find((t: any) => t.join_token_id === token.join_token_id);
    expect(row).toMatchObject({ used: 2, uses: 2 });
    expect(JSON.stringify(row)).not.toContain(token.token);
  });

  test('32 at once with one use: one gets in', async () => {
    const { token } = await joinToken();
    const csr = pki.csr(pki.key());
    const all = await Promise.all(Array.from({ length: 32 }, (_x, i) => nobody.post('/v1/enrol', { token, name: `race-${i}`, csr_pem: csr })));
    expect(all.filter((r) => r.status === 200)).toHaveLength(1);
    expect(all.filter((r) => r.status === 401)).toHaveLength(31);
  });

  test('a name that is taken needs a token made for it, and then the old certificate ends', async () => {
    const first = await enrol('owned-1');
    expect((await register(first, 'owned-1')).status).toBe(200);
    const { token } = await joinToken();
    const again = await nobody.post('/v1/enrol', { token, name: 'owned-1', csr_pem: pki.csr(pki.key()) });
    expect(again.status).toBe(409);
    must(await nobody.post('/v1/enrol', { token, name: 'owned-2', csr_pem: pki.csr(pki.key()) }), 200); // it was not used up
    const second = await enrol('owned-1', { node_name: 'owned-1' });
    expect((await register(first, 'owned-1')).status).toBe(403);
    expect((await register(second, 'owned-1')).status).toBe(200);
  });

  const csrOf = (kind: Parameters<Pki['key']>[0]): string => pki.csr(pki.key(kind));
  const flip = (pem: string, back: number): string => {
    const lines = pem.trim().split('\n'), at = lines.length - 2, line = lines[at]!, i = line.length - back;
    lines[at] = line.slice(0, i) + (line[i] === 'A' ? 'B' : 'A') + line.slice(i + 1);
    return `${lines.join('\n')}\n`;
  };
  const BAD_CSR: [string, () => string][] = [
    ['RSA 1024', () => csrOf('rsa1024')], ['RSA 2048', () => csrOf('rsa2048')], ['P-384', () => csrOf('p384')], ['Ed25519', () => csrOf('ed25519')],
    ['a broken signature', () => flip(csrOf('p256'), 8)], ['nothing PEM', () => 'junk'], ['a certificate', () => pki.ca().cert], ['a private key', () => pki.key()],
    ['an empty PEM', () => '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n'], ['9000 bytes', () => `${csrOf('p256')}${'\n'.repeat(9000)}`],
    ['a cut request', () => csrOf('p256').slice(0, 200)],
  ];
  test.each(BAD_CSR)('a request with %s is refused and the token kept', async (_name, make) => {
    vectors++;
    const { token } = await joinToken();
    const reply = await nobody.post('/v1/enrol', { token, name: `csr-${randomUUID().slice(0, 8)}`, csr_pem: make() });
    expect([400, 413, 422], reply.text).toContain(reply.status);
    must(await nobody.post('/v1/enrol', { token, name: `csr-${randomUUID().slice(0, 8)}`, csr_pem: csrOf('p256') }), 200);
  });

  const name = (): string => `tok-${randomUUID().slice(0, 8)}`;
  const BAD_TOKEN: [string, (good: any) => Promise<Record<string, unknown>> | Record<string, unknown>][] = [
    ['guessed', () => ({ token: 'flj_join_000000000000000000000000000000_000000' })],
    ['with another last digit', (t) => ({ token: t.token.slice(0, -1) + (t.token.endsWith('0') ? '1' : '0') })],
    ['with another digit inside', (t) => ({ token: t.token.slice(0, 15) + (t.token[15] === 'a' ? 'b' : 'a') + t.token.slice(16) })],
    ['in capitals', (t) => ({ token: t.token.toUpperCase() })],
    ['cut', (t) => ({ token: t.token.slice(0, -1) })], ['longer', (t) => ({ token: `${t.token}0` })],
    ['with a space', (t) => ({ token: `${t.token} ` })], ['with a newline before', (t) => ({ token: `\n${t.token}` })],
    ['an access token', () => ({ token: ready.admin_token })],
    ['for another pool', (t) => ({ token: t.token, pool: 'gpu' })], ['for another zone', (t) => ({ token: t.token, zone: 'other-zone' })],
    ['for another machine', async () => ({ token: (await joinToken({ node_name: 'only-me' })).token })],
    ['from another network', async () => ({ token: (await joinToken({ cidrs: ['10.77.0.0/16'] })).token })],
    ['from another network of IPv6', async () => ({ token: (await joinToken({ cidrs: ['2001:db8::/32'] })).token })],
    ['that has ended', async () => { const t = await joinToken(); psql(ready, `UPDATE join_token SET expires_at = now() - interval '1 second' WHERE join_token_id = '${t.join_token_id.slice(4)}'`); return { token: t.token }; }],
    ['of another database', async () => { const t = await joinToken(); psql(ready, `DELETE FROM join_token WHERE join_token_id = '${t.join_token_id.slice(4)}'`); return { token: t.token }; }],
    ['withdrawn', async () => { const t = await joinToken(); must(await admin.delete(`/v1/join-tokens/${t.join_token_id}`), 204); return { token: t.token }; }],
    ['used', async () => { const t = await joinToken(); must(await nobody.post('/v1/enrol', { token: t.token, name: name(), csr_pem: pki.csr(pki.key()) }), 200); return { token: t.token }; }],
  ];
  test.each(BAD_TOKEN)('a join token %s is refused', async (_name, make) => {
    vectors++;
    const good = await joinToken();
    const reply = await nobody.post('/v1/enrol', { name: name(), csr_pem: pki.csr(pki.key()), ...(await make(good)) });
    expect(reply.status, reply.text).toBe(401);
    expect(reply.json.detail).toContain('join token is not known');
  });

  test('refused enrolments stand in the log with what was wrong, counted by address', async () => {
    const used = await joinToken(), ask = (token: string): Promise<any> => nobody.post('/v1/enrol', { token, name: name(), csr_pem: pki.csr(pki.key()) });
    must(await ask(used.token), 200);
    for (let i = 0; i < 5; i++) expect((await ask(used.token)).status).toBe(401);
    const wanted = ['malformed', 'unknown', 'name', 'place', 'address', 'expired', 'revoked', 'used', 'taken'];
    for (const end = Date.now() + PATIENCE_MS; ; await new Promise((done) => setTimeout(done, 500))) {
      const all = must(await admin.get('/v1/audit/events?action=node.enrol&outcome=denied&page_size=200'), 200).data.map((x: any) => x.event);
      const missing = wanted.filter((why) => !all.some((x: any) => x.details?.reason === why));
      const mine = all.filter((x: any) => x.resource.id === used.join_token_id);
      const tries = mine.reduce((sum: number, x: any) => sum + Number(x.details.tries), 0);
      if (missing.length === 0 && tries === 5) {
        expect(mine.length).toBeLessThanOrEqual(2);
        expect(mine[0]).toMatchObject({ actor: { type: 'anonymous' }, details: { reason: 'used' } });
        expect(JSON.stringify(all)).not.toContain(used.token);
        break;
      }
      if (Date.now() > end) throw new Error(`not in the log in time: ${missing.join(' ')}, ${tries} tries; ${JSON.stringify(all[0])}`);
    }
  });

  test.each(['../x', 'a/b', 'A', '.a', '-a', 'a b', '', 'a\u0000b', 'x'.repeat(64), 'ä', 'a%2fb', 'a:b', 'a?b', 'a#b'])('the name %j is refused', async (bad) => {
    vectors++;
    const { token } = await joinToken();
    const reply = await nobody.post('/v1/enrol', { token, name: bad, csr_pem: pki.csr(pki.key()) });
    expect([400, 422], reply.text).toContain(reply.status);
  });

  test('a token works from its own network', async () => {
    const { token } = await joinToken({ cidrs: ['127.0.0.0/8', '::1/128'] });
    must(await nobody.post('/v1/enrol', { token, name: name(), csr_pem: pki.csr(pki.key()) }), 200);
  });

  test('tenants have no part in it', async () => {
    const tenant = await makeTenant(ready);
    expect((await tenant.api.post('/v1/join-tokens', { zone })).status).toBe(403);
    expect((await tenant.api.get('/v1/join-tokens')).status).toBe(403);
  });
});

describe('renewal and quarantine', () => {
  test('a machine renews its own name, from its own certificate only', async () => {
    const first = await enrol('renew-1'), key = first.key;
    const other = await machineCall(ready, first, '/v1/nodes/renew', { csr_pem: pki.csr(pki.key()) });
    expect([other.status, other.json.code], 'a key that was read for a moment does not become another one').toEqual([403,
        'forbidden']);
    const got = await machineCall(ready, first, '/v1/nodes/renew', { csr_pem: pki.csr(key, '/CN=other') });
    expect(got.status, got.why).toBe(200);
    expect(got.json.identity).toBe(`${ID}renew-1`);
    const second = { cert: got.json.certificate_pem, key };
    expect((await register(second, 'renew-1')).status).toBe(200);
    expect((await register(first, 'renew-1')).status).toBe(200); // for a while, so that what is under way ends
    vectors++;
    expect((await machineCall(ready, null, '/v1/nodes/renew', { csr_pem: pki.csr(key) })).status).toBe(401);
    expect((await nobody.post('/v1/nodes/renew', { csr_pem: pki.csr(key) })).status).toBe(405); // not a route of people's listener
  });

  test('quarantine shuts out at once, and release lets in again', async () => {
    const who = await enrol('quarantine-1');
    const first = await register(who, 'quarantine-1');
    expect(first.status).toBe(200);
    const id = first.json.node_id;
    const moved = must(await admin.post(`/v1/nodes/${id}/quarantine`, { reason: 'strange heat' }), 200);
    expect(moved).toMatchObject({ state: 'QUARANTINED', jobs_running: 0, reason: 'strange heat' });
    const asked = { node_id: id, boot_id: randomUUID(), free_slots: 1 };
    const none = 'att_' + '0'.repeat(31) + '1';
    const calls: [string, unknown][] = [
      ['/v1/nodes/register', facts('quarantine-1')], ['/v1/leases/next', asked], ['/v1/leases/report', { ...asked, free_slots: undefined, items: [] }],
      ['/v1/nodes/renew', { csr_pem: pki.csr(pki.key()) }],
      [`/v1/leases/${none}/keys`, { tenant_id: 'tnt_' + '0'.repeat(31) + '1', fence: 1, public_key: 'AAAA', objects: [] }],
      ['/v1/leases/kept', { images: [] }],
      [`/v1/leases/${none}/outputs`, {}],
      [`/v1/leases/${none}/gang`, { tenant_id: 'tnt_' + '0'.repeat(31) + '1', fence: 1, endpoint: '127.0.0.1:1' }],
    ];
    for (const [path, body] of calls) {
      vectors++;
      const answer = await machineCall(ready, who, path, body);
      expect(answer.status, `${path}: ${answer.why}`).toBe(403);
      expect(answer.json.detail).toContain('quarantine');
    }
    const refusal = await logged(`action=key.release&outcome=denied&resource=${id}`);
    expect(refusal).toMatchObject({ actor: { type: 'worker' }, resource: { kind: 'node', id }, decision: { effect: 'deny', rule: 'gate' }, details: { identity: `${ID}quarantine-1` } });
    const token = await joinToken({ node_name: 'quarantine-1' });
    vectors++;
    expect((await nobody.post('/v1/enrol', { token: token.token, name: 'quarantine-1', csr_pem: pki.csr(pki.key()) })).status).toBe(403);
    must(await admin.post(`/v1/nodes/${id}/release`, { reason: 'looked into it' }), 200);
    expect((await register(who, 'quarantine-1')).status).toBe(200);
    expect((await nodeOf('quarantine-1')).state).toBe('READY');
  });

  test('drain and undrain, with what runs; wrong states are conflicts', async () => {
    const who = await enrol('drain-1');
    const id = (await register(who, 'drain-1')).json.node_id;
    expect(must(await admin.post(`/v1/nodes/${id}/drain`, { reason: 'new fans' }), 200)).toMatchObject({ state: 'DRAINING', jobs_running: 0, job_ids: [] });
    expect(must(await admin.post(`/v1/nodes/${id}/drain`, { reason: 'again' }), 200).state).toBe('DRAINING');
    expect((await admin.post(`/v1/nodes/${id}/release`, { reason: 'looked into it' })).status).toBe(409);
    expect((await nodeOf('drain-1')).state).toBe('DRAINING');
    expect(must(await admin.post(`/v1/nodes/${id}/undrain`, { reason: 'done' }), 200).state).toBe('READY');
    expect((await admin.post(`/v1/nodes/nod_${'0'.repeat(31)}1/drain`, { reason: 'again' })).status).toBe(404);
  });

  test('a draining machine that was lost drains on when it is heard again', async () => {
    const who = await enrol('drain-2'), boot_id = randomUUID();
    const back = (): Promise<Answer> => machineCall(ready, who, '/v1/nodes/register', { ...facts('drain-2'), boot_id });
    const node_id = (await back()).json.node_id;
    const lost = async (): Promise<void> => {
      psql(ready, `UPDATE node SET last_seen_at = now() - interval '1 hour' WHERE node_id = '${node_id.slice(4)}'`);
      for (const end = Date.now() + PATIENCE_MS; (await nodeOf('drain-2')).state !== 'LOST'; await new Promise((done) => setTimeout(done, 100)))
        if (Date.now() > end) throw new Error('not lost in time');
    };
    must(await admin.post(`/v1/nodes/${node_id}/drain`, { reason: 'new fans' }), 200);
    await lost();
    expect((await back()).status).toBe(200);
    expect((await nodeOf('drain-2')).state).toBe('DRAINING');
    await lost();
    expect((await machineCall(ready, who, '/v1/leases/report', { node_id, boot_id, items: [] })).status).toBe(200);
    expect((await nodeOf('drain-2')).state).toBe('DRAINING');
    must(await admin.post(`/v1/nodes/${node_id}/undrain`, { reason: 'done' }), 200);
    await lost();
    expect((await back()).status).toBe(200);
    expect((await nodeOf('drain-2')).state).toBe('READY');
  });

  test('an operator of a zone acts there and nowhere else', async () => {
    const who = await enrol('zoned-1');
    const id = (await register(who, 'zoned-1')).json.node_id;
    const operator = async (where: string): Promise<Api> => (await makePerson(ready, admin, 'zone-operator', undefined, async (user_id) => {
      const everywhere = must(await admin.get(`/v1/role-bindings?user_id=${user_id}`), 200).data;
      must(await admin.post('/v1/role-bindings', { user_id, role: 'zone-operator', place: 'zone', zone: where }), 201);
      for (const binding of everywhere) must(await admin.delete(`/v1/role-bindings/${binding.binding_id}`), 204);
    })).api;
    const [here, there] = [await operator(zone), await operator('other-zone')];
    const token = await joinToken();
    const acts = (by: Api): [string, () => Promise<any>, number][] => [
      ['get', () => by.get(`/v1/nodes/${id}`), 200], ['list', () => by.get(`/v1/nodes?zone=${zone}`), 200],
      ...['drain', 'undrain', 'quarantine', 'release'].map((act): [string, () => Promise<any>, number] => [act, () => by.post(`/v1/nodes/${id}/${act}`, { reason: 'a test' }), 200]),
      ['flavor', () => by('PUT', `/v1/nodes/${id}/flavor`, { body: { flavor: 'cpu' } }), 200],
      ['join token', () => by.post('/v1/join-tokens', { zone }), 201], ['join tokens', () => by.get(`/v1/join-tokens?zone=${zone}`), 200],
      ['withdraw', () => by.delete(`/v1/join-tokens/${token.join_token_id}`), 204],
    ];
    for (const [what, act] of acts(there)) {
      vectors++;
      const reply = await act();
      expect([reply.status, reply.json?.code], what).toEqual([403, 'forbidden']);
    }
    expect((await nodeOf('zoned-1')).state).toBe('READY');
    vectors++;
    expect((await here.post('/v1/join-tokens', { zone: 'other-zone' })).status).toBe(403);
    for (const [what, act, status] of acts(here)) expect((await act()).status, what).toBe(status);
  });

  test('lists filter, sort and page', async () => {
    await makeZone(ready, zone);
    const named = must(await admin.get(`/v1/nodes?sort=name&zone=${zone}&page_size=200`), 200).data.map((n: any) => n.identity);
    expect(named).toEqual([...named].sort());
    const seen: string[] = [];
    for (let page = await admin.get('/v1/nodes?sort=name&page_size=2'); ; ) {
      const body = must(page, 200);
      seen.push(...body.data.map((n: any) => n.identity));
      if (!body.next_page_token) break;
      page = await admin.get(`/v1/nodes?sort=name&page_size=2&page_token=${encodeURIComponent(body.next_page_token)}`);
    }
    expect(seen).toEqual(named);
    expect(must(await admin.get('/v1/nodes?state=QUARANTINED'), 200).data).toEqual([]);
    expect(must(await admin.get('/v1/nodes?pool=nowhere'), 200).data).toEqual([]);
    const ready_ones = must(await admin.get('/v1/nodes?state=READY'), 200).data;
    for (const n of some<any>(ready_ones)) expect(n.state === 'READY' && n.silent_ms >= 0, JSON.stringify(n)).toBe(true);
  });
});

beforeAll(async () => {
  await makeZone(ready, 'other-zone');
});

test('a key asked for under a lease that is over, or another\'s, is refused and written down', async () => {
  const who = await enrol('no-lease');
  must(await admin.get('/v1/nodes?page_size=1'), 200);
  expect((await register(who, 'no-lease')).status).toBe(200);
  const attempt = `att_${randomUUID().replaceAll('-', '')}`;
  const answer = await machineCall(ready, who, `/v1/leases/${attempt}/keys`, {
    tenant_id: `tnt_${randomUUID().replaceAll('-', '')}`, fence: 7, public_key: Buffer.alloc(32, 9).toString('base64'), objects: [`obj_${randomUUID().replaceAll('-', '')}`],
  });
  expect([404, 409], answer.why).toContain(answer.status);
  await expect.poll(async () => {
    const events = must(await admin.get('/v1/audit/events?page_size=200&action=key.release'), 200).data.map((entry: any) => entry.event);
    return events.find((event: any) => event.code === 'FLJ-KEY-003D' && event.resource.id === attempt)?.details?.fence;
  }, { timeout: PATIENCE_MS }).toBe(7);
});

test('a length that is no number gets one answer over TLS, too, in whatever piece it comes', async () => {
  const { url, ca } = workerListener(ready);
  const at = new URL(url);
  const head = ['POST / HTTP/1.1\r\n', 'Host: a\r\n', 'Content-Length: abc\r\n\r\n'];
  for (const pieces of [head, [head.join('')]]) {
    const all = await new Promise<string>((done, fail) => {
      let text = '';
      // Each piece is a record of its own, and the server reads record by record.
      const socket = tls.connect({ host: at.hostname, port: Number(at.port), ca, minVersion: 'TLSv1.3' },
        () => pieces.forEach((piece) => socket.write(piece)));
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('close', () => done(text)).on('error', fail);
    });
    expect(all.match(/HTTP\/1\.1 /g), all).toHaveLength(1);
    expect(all).toMatch(/^HTTP\/1\.1 40[01] /);
  }
});
