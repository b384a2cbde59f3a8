// SPDX-License-Identifier: Apache-2.0
// residency.test.ts - data stays where it may be: a platform of its own with a zone in the Emirates and one in Germany, laws as data,
// policies by four eyes, a copy that crosses and one that may not, the register, the evidence, and canaries that must not be found.
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digitsCsv, upload } from './client.ts';
import { api, makePerson, makeTenant, must, problemOf, some, startPlatform, waitJob, PATIENCE_MS, type Api, type Platform, type Ready } from './harness.ts';

const AE = 'ae-dxb-1';
const DE = 'de-fra-1';
const canary = `canary-${Math.random().toString(36).slice(2)}`;
const from = '2020-01-01T00:00:00Z';
let platform: Platform;
let ready: Ready;
let admin: Api;
let t: { tenant: any; token: string; api: Api };
let officers: Api[];
let personal: string;
let policy: any;
let monitor: { stop(): string };

const law = {
  legal_regimes: ['uae-pdpl', 'uae-health-ict'], regulator: 'UAE Data Office', provider: 'test',
  data_classes: ['public', 'internal', 'personal', 'sensitive', 'health'],
  rules: [
    { regime: 'uae-pdpl', data_class: 'personal', may_leave: 'with_basis', countries: ['AE'], source_text: 'FDL 45/2021 Art 22-23', valid_from: from },
    { regime: 'uae-pdpl', data_class: 'sensitive', may_leave: 'with_basis', countries: ['AE'], source_text: 'FDL 45/2021 Art 22-23', valid_from: from },
    { regime: 'uae-health-ict', data_class: 'health', may_leave: 'never', countries: ['AE'], source_text: 'FL 2/2019 Art 13', valid_from: from },
  ],
  clocks: [{ regime: 'uae-pdpl', name: 'breach-notify', source_text: 'FDL 45/2021 Art 9: immediately', valid_from: from }],
};

async function person(owner: Api, role: string): Promise<Api> {
  if (role === 'compliance-officer') return (await makePerson(ready, owner, role)).api;
  const user = must(await owner.post('/v1/users', { name: `${role}-${Math.random().toString(36).slice(2)}`, roles: [role] }), 201);
  return api(ready, must(await owner.post('/v1/api-tokens', { name: 'x', user_id: user.user_id }), 201).token);
}

const inADay = (): string => new Date(Date.now() + 86_400_000).toISOString();
const proposal = (more: object): object => ({
  from_zone: AE, to_zone: DE, data_class: 'personal', purpose: 'training', legal_basis: 'contract', document_sha256: 'a'.repeat(64),
  assessment_ref: 'TIA-7', recipients: ['Falaj GmbH'], valid_until: inADay(), ...more,
});
const explain = async (data_class: string, zone: string, purpose?: string): Promise<any> =>
  must(await t.api.post('/v1/residency/explain', { data_class, zone, act: 'place', ...(purpose ? { purpose } : {}) }), 200);
const trainIn = (zone: string, name = 'x') => t.api.post('/v1/jobs', { name, kind: 'train', zone, spec: { dataset_id: personal, epochs: 1, hidden: [4] } });

/** Everything that is published, and at the end every key with its value: all that Redis is used for. (Its user may not MONITOR.) */
function watchRedis(): { stop(): string } {
  const password = readFileSync(join(ready.data_dir, 'secrets', 'redis'), 'utf8').trim();
  const child = spawn('redis-cli', ['-s', ready.redis_socket, '--user', 'falaj', 'PSUBSCRIBE', '*'], { env: { ...process.env, REDISCLI_AUTH: password } });
  let text = '';
  child.stdout.on('data', (c: Buffer) => (text += c.toString('latin1')));
  return {
    stop: () => {
      child.kill('SIGKILL');
      return text + execFileSync('sh', ['-c', `redis-cli -s '${ready.redis_socket}' --user falaj --scan | while read -r k; do echo "$k"; redis-cli -s '${ready.redis_socket}' --user falaj DUMP "$k"; done`],
        { env: { ...process.env, REDISCLI_AUTH: password }, encoding: 'latin1' });
    },
  };
}

beforeAll(async () => {
  platform = await startPlatform({}, ['--zone', `${AE},${DE}`]);
  ready = platform.ready;
  admin = api(ready, ready.admin_token);
  must(await admin.post('/v1/zones', { code: AE, name: 'Dubai', country: 'AE', law }), 201);
  must(await admin.post('/v1/zones', { code: DE, name: 'Frankfurt', country: 'DE', law: { legal_regimes: ['gdpr'], data_classes: law.data_classes } }), 201);
  t = await makeTenant(ready, `t-${canary.slice(7)}`, AE);
  officers = [await person(t.api, 'compliance-officer'), await person(t.api, 'compliance-officer')];
  monitor = watchRedis();
  for (const until = Date.now() + PATIENCE_MS; (await admin.get('/v1/nodes')).json.data.length < 2; ) {
    if (Date.now() > until) throw new Error('no two machines');
    await new Promise((done) => setTimeout(done, 100));
  }
});

afterAll(async () => {
  monitor?.stop();
  await platform?.stop();
});

describe('the law of a zone', () => {
  test('is data with sources and versions, and changes by four eyes', async () => {
    const now = must(await admin.get(`/v1/zones/${AE}/law`), 200);
    expect(now).toMatchObject({ zone: AE, version: 2, country: 'AE', regulator: 'UAE Data Office' });
    expect(now.rules).toHaveLength(3);
    expect(now.rules[2]).toMatchObject({ regime: 'uae-health-ict', may_leave: 'never', countries: ['AE'], source_text: 'FL 2/2019 Art 13' });
    expect(now.clocks[0].hours).toBeUndefined();
    const officer = await person(admin, 'compliance-officer');
    const asked = must(await admin('PUT', `/v1/zones/${DE}/law`, { body: { law: { ...law, legal_regimes: ['gdpr'], data_classes: ['public', 'internal', 'personal', 'sensitive', 'health'], rules: [], worker_cidrs: ['127.0.0.0/8'] }, reason: 'counsel' } }), 202);
    expect((await admin.post(`/v1/approvals/${asked.approval_id}/approve`, {})).status).toBe(403);
    expect(must(await officer.post(`/v1/approvals/${asked.approval_id}/approve`, {}), 200).state).toBe('EXECUTED');
    expect(must(await admin.get(`/v1/zones/${DE}/law`), 200)).toMatchObject({ version: 3, worker_cidrs: ['127.0.0.0/8'], approval_id: asked.approval_id });
    expect(must(await admin.get(`/v1/zones/${DE}/law?version=2`), 200).clocks).toEqual([]);
  });

  test('a tenant sees the machines of its zones, and is called by its name for people', async () => {
    const nodes = must(await admin.get('/v1/nodes'), 200).data;
    const own = must(await t.api.get('/v1/nodes'), 200).data;
    expect(nodes.map((n: any) => n.zone).sort()).toEqual([AE, DE]);
    expect(own.map((n: any) => n.zone)).toEqual([AE]);
    const [here, there] = [AE, DE].map((z) => nodes.find((n: any) => n.zone === z).node_id);
    expect([(await t.api.get(`/v1/nodes/${here}`)).status, (await t.api.get(`/v1/nodes/${there}`)).status]).toEqual([200, 404]);
    expect(must(await admin.get(`/v1/nodes/${there}`), 200).zone).toBe(DE);
    const shown = must(await t.api.get('/v1/me'), 200);
    expect(shown.tenant_display_name).toBe(t.tenant.display_name);
    expect(must(await admin.get('/v1/me'), 200).tenant_display_name).toBeUndefined();
  });

  test("a tenant's zones change with its own officer's approval", async () => {
    const path = `/v1/tenants/${t.tenant.tenant_id}/zones`;
    expect((await admin('PUT', path, { body: { allowed_zones: [DE], reason: 'x' } })).status).toBe(422);
    const asked = must(await admin('PUT', path, { body: { allowed_zones: [AE, DE], classes: [{ data_class: 'gov', zones: [AE] }], reason: 'a site in Frankfurt' } }), 202);
    expect((await explain('internal', DE)).allowed).toBe(false);
    must(await officers[0]!.post(`/v1/approvals/${asked.approval_id}/approve`, {}), 200);
    expect(must(await officers[0]!.get(path), 200)).toMatchObject({ home_zone: AE, allowed_zones: [AE, DE] });
    expect(await explain('internal', DE)).toMatchObject({ allowed: true, rule: 'allowed_zone' });
  });
});

describe('known laws', () => {
  test('begin the law of a zone, and the example file says what they say', async () => {
    const all = must(await admin.get('/v1/residency/templates'), 200).data;
    const first = must(await admin.get('/v1/residency/templates?page_size=1'), 200);
    expect(first.data).toEqual([all[0]]);
    const second = must(await admin.get(`/v1/residency/templates?page_size=1&page_token=${first.next_page_token}`), 200);
    expect(second.data).toEqual([all[1]]);
    const known = (r: any): any => all.find((l: any) => l.template_id === r.regime);
    const file = JSON.parse(readFileSync(join(process.env['FALAJ_SRC'] ?? '../..', 'deploy/zones.example.json'), 'utf8'));
    for (const zone of file.zones)
      for (const r of zone.law.rules)
        expect(known(r)?.rules, r.regime).toContainEqual(
          expect.objectContaining({ data_class: r.data_class, may_leave: r.may_leave }));

    const zone = { code: 'ae-new-1', name: 'New', country: 'AE' };
    for (const bad of [{ templates: ['no-such'] }, { templates: ['gdpr'], law }])
      expect(problemOf(await admin.post('/v1/zones', { ...zone, ...bad })).errors![0]!.pointer).toBe('/templates');
    must(await admin.post('/v1/zones', { ...zone, templates: ['uae-pdpl', 'uae-health-ict'] }), 201);
    const made = must(await admin.get(`/v1/zones/${zone.code}/law`), 200);
    expect(made).toMatchObject({ legal_regimes: ['uae-pdpl', 'uae-health-ict'], regulator: 'UAE Data Office' });
    expect(made.rules.map((r: any) => `${r.data_class} ${r.may_leave} ${r.countries}`)).toEqual(
      ['personal with_basis AE', 'sensitive with_basis AE', 'health never AE']);
    expect(made.clocks.map((c: any) => c.hours)).toEqual([undefined, 219000]);
  });
});

describe('what the law keeps at home', () => {
  test('is refused at every way out, and each refusal is on record', async () => {
    expect(await explain('health', DE)).toMatchObject({ allowed: false, rule: 'law' });
    expect(await explain('gov', AE)).toMatchObject({ allowed: false, rule: 'zone_class' });
    const set = must(await t.api.post('/v1/datasets', { name: 'personal', label_column: 'label', classes: 10, data_class: 'personal' }), 201);
    personal = set.dataset_id;
    must(await t.api.post(`/v1/datasets/${personal}/versions`, undefined, { raw: digitsCsv, headers: { 'content-type': 'text/csv' } }), 201);
    const operations: string[] = [];
    for (const reply of [
      await trainIn(DE),
      await t.api.post(`/v1/datasets/${personal}/versions?zone=${DE}`, undefined, { raw: digitsCsv, headers: { 'content-type': 'text/csv' } }),
      await t.api.post(`/v1/datasets/${personal}/versions/1/transfer`, { to_zone: DE }),
    ]) {
      expect(reply.status, reply.text).toBe(403);
      expect(problemOf(reply).code).toBe('residency_denied');
      expect(reply.json.remedy, reply.text).toMatchObject(
        { roles: ['tenant-admin'], approved_in: 'tenant', data_class: 'personal', zone: DE });
      operations.push(reply.json.remedy.operation);
    }
    expect(operations).toEqual(['dataset_transfer', 'transfer_policy_propose', 'transfer_policy_propose']);
    const state = { name: 'state', label_column: 'label', classes: 10, data_class: 'gov' };
    const gov = must(await t.api.post('/v1/datasets', state), 201);
    const csv = { raw: digitsCsv, headers: { 'content-type': 'text/csv' } };
    const barred = await t.api.post(`/v1/datasets/${gov.dataset_id}/versions`, undefined, csv);
    expect([barred.status, barred.json.remedy.operation, barred.json.remedy.roles]).toEqual(
      [403, 'zone_law_put', ['platform-admin']]);
    expect((await explain('gov', AE)).remedy).toEqual(barred.json.remedy);
    expect((await explain('internal', AE)).remedy).toBeUndefined();
    const events = must(await t.api.get('/v1/evidence'), 200).denied;
    expect(events.length).toBeGreaterThanOrEqual(2);
    expect(events.map((x: any) => x.details.act)).toEqual(expect.arrayContaining(['upload', 'transfer']));
  });
});

describe('a transfer policy', () => {
  test('needs its exception, a date within a year, and another person', async () => {
    for (const [bad, pointer] of [[{ data_class: 'health' }, '/exception_ref'], [{ valid_until: '2099-01-01T00:00:00Z' }, '/valid_until'], [{ to_zone: AE }, '/to_zone'],
      [{ to_zone: 'no-such' }, '/to_zone']] as const) {
      const reply = await t.api.post('/v1/transfer-policies', proposal(bad));
      expect(reply.status, reply.text).toBe(422);
      expect(problemOf(reply).errors[0]!.pointer).toBe(pointer);
    }
    policy = must(await t.api.post('/v1/transfer-policies', proposal({})), 201);
    expect(policy.state).toBe('PROPOSED');
    expect((await t.api.post(`/v1/approvals/${policy.approval_id}/approve`, {})).status).toBe(403);
    expect((await explain('personal', DE, 'training')).allowed).toBe(false);
    must(await officers[0]!.post(`/v1/approvals/${policy.approval_id}/approve`, {}), 200);
    expect(must(await t.api.get(`/v1/transfer-policies/${policy.policy_id}`), 200).state).toBe('ACTIVE');
    expect(await explain('personal', DE, 'training')).toMatchObject({ allowed: true, rule: 'policy', policy_id: policy.policy_id });
    expect((await explain('personal', DE, 'serving')).allowed).toBe(false);
    expect((await explain('personal', DE)).allowed).toBe(false);
  });

  test('is tried out on what there is, and nothing is written', async () => {
    const written = async (): Promise<unknown> => [
      must(await t.api.get('/v1/transfer-policies'), 200).data, must(await t.api.get('/v1/approvals'), 200).data,
      must(await t.api.get('/v1/transfers'), 200).data, must(await admin.get(`/v1/zones/${AE}/law`), 200).version,
      must(await officers[0]!.get(`/v1/tenants/${t.tenant.tenant_id}/zones`), 200),
    ];
    const before = await written();
    const simulate = async (body: object): Promise<any> => must(await officers[0]!.post('/v1/residency/simulate', body), 200);
    const line = (r: any, kind: string, zone: string, purpose?: string): any =>
      r.things.find((x: any) => x.kind === kind && x.zone === zone && x.purpose === purpose);
    const asked = await simulate({ dataset_id: personal, zone: DE, policy: true });
    expect(line(asked, 'job', DE, 'training').outcome).toBe('stays_possible'); // by the policy that is in force
    expect(line(asked, 'transfer', DE)).toMatchObject(
      { outcome: 'possible', before: { rule: 'law', regime: 'uae-pdpl', source_text: 'FDL 45/2021 Art 22-23' } });
    expect(asked.approvals).toMatchObject([{ operation: 'transfer_policy_propose', approved_by: ['compliance-officer'] }]);
    const barred = await simulate({ data_class: 'personal', zone: AE, templates: ['uae-health-ict'] });
    expect(barred.things.find((x: any) => x.kind === 'dataset' && x.id === personal)).toMatchObject(
      { outcome: 'forbidden', after: { rule: 'zone_class' } });
    expect(barred.approvals).toMatchObject([{ operation: 'zone_law_put', approved_in: 'platform' }]);
    expect(await written()).toEqual(before);
    for (const [bad, pointer] of [[{ zone: AE }, '/data_class'], [{ zone: 'no-zone', data_class: 'gov' }, '/zone'],
      [{ zone: AE, data_class: 'gov', law_of: DE }, '/law_of']] as const)
      expect(problemOf(await officers[0]!.post('/v1/residency/simulate', bad)).errors![0]!.pointer).toBe(pointer);
    expect((await admin.post('/v1/residency/simulate', { zone: AE, data_class: 'gov' })).status).toBe(403);
  });

  test('for regulated data takes two approvals', async () => {
    const strict = must(await t.api.post('/v1/transfer-policies', proposal({ data_class: 'health', exception_ref: 'MD 51/2021 Art 2(3)' })), 201);
    expect(must(await officers[0]!.post(`/v1/approvals/${strict.approval_id}/approve`, {}), 200).state).toBe('PENDING');
    expect((await officers[0]!.post(`/v1/approvals/${strict.approval_id}/approve`, {})).status).toBe(403);
    expect((await explain('health', DE, 'training')).allowed).toBe(false);
    expect(must(await officers[1]!.post(`/v1/approvals/${strict.approval_id}/approve`, {}), 200).state).toBe('EXECUTED');
    expect((await explain('health', DE, 'training')).allowed).toBe(true);
    expect(must(await officers[0]!.post(`/v1/transfer-policies/${strict.policy_id}/revoke`), 200).state).toBe('REVOKED');
    expect((await explain('health', DE, 'training')).allowed).toBe(false);
    expect((await t.api.post(`/v1/transfer-policies/${strict.policy_id}/revoke`)).status).toBe(409);
  });

  test('carries a copy across, sealed anew, and into the register; a job there reads the copy', async () => {
    const done = must(await t.api.post(`/v1/datasets/${personal}/versions/1/transfer`, { to_zone: DE, policy_id: policy.policy_id }), 201);
    expect(done).toMatchObject({ from_zone: AE, to_zone: DE, data_class: 'personal', purpose: 'training', rule: 'policy', legal_basis: 'contract', bytes: digitsCsv.length });
    expect(done.to_object).not.toBe(done.from_object);
    expect((await t.api.post(`/v1/datasets/${personal}/versions/1/transfer`, { to_zone: DE, policy_id: policy.policy_id })).status).toBe(409);
    expect(must(await officers[0]!.get(`/v1/transfers?zone=${DE}`), 200).data.map((x: any) => x.transfer_id)).toEqual([done.transfer_id]);
    expect(must(await officers[0]!.get(`/v1/transfers?to=2020-01-01T00:00:00Z`), 200).data).toEqual([]);
    const csv = await officers[0]!.get('/v1/transfers.csv', { accept: 'text/csv' });
    expect(csv.headers.get('content-type')).toBe('text/csv');
    expect(csv.text.split('\r\n')[1]).toContain(done.transfer_id);
    const keys = await platformSql(`SELECT DISTINCT zone FROM dek d JOIN transfer x ON d.object_id IN (x.from_object, x.to_object) ORDER BY 1`);
    expect(keys).toEqual([AE, DE]);
    const job = must(await trainIn(DE), 201);
    const ended = await waitJob(t.api, job.job_id);
    expect(ended, ended.message).toMatchObject({ state: 'COMPLETED', zone: DE });
  });

  test('revoked: nothing crosses or runs there any more', async () => {
    must(await officers[1]!.post(`/v1/transfer-policies/${policy.policy_id}/revoke`), 200);
    const reply = await trainIn(DE);
    expect(reply.status, reply.text).toBe(403);
    expect((await explain('personal', DE, 'training')).allowed).toBe(false);
  });
});

function platformSql(text: string): string[] {
  const password = readFileSync(join(ready.data_dir, 'secrets', 'pg-postgres'), 'utf8').trim();
  return execFileSync('psql', ['-XAtq', '-h', ready.pg.socket_dir, '-p', String(ready.pg.port), '-U', 'postgres', '-d', 'falaj', '-c', text],
    { env: { ...process.env, PGPASSWORD: password }, encoding: 'utf8' }).trim().split('\n');
}

describe('the evidence', () => {
  test('says what is where, what crossed, what was refused, and by whom; as a page in two languages', async () => {
    const ev = must(await officers[0]!.get('/v1/evidence'), 200);
    expect(ev.stored.map((x: any) => `${x.zone} ${x.data_class}`)).toEqual(expect.arrayContaining([`${AE} personal`, `${DE} personal`]));
    expect(ev.transfers).toHaveLength(1);
    expect(ev.transfers[0]).toMatchObject({ basis: 'contract', document: 'a'.repeat(64), assessment_ref: 'TIA-7' });
    expect(ev.policies.map((x: any) => x.state).sort()).toEqual(['REVOKED', 'REVOKED']);
    expect(ev.access.some((x: any) => x.role === 'compliance-officer')).toBe(true);
    expect(ev.approvals.some((x: any) => x.kind === 'transfer.policy' && x.approved_by)).toBe(true);
    for (const x of some<any>(ev.denied)) {
      expect(x).toMatchObject({ act: expect.any(String), rule: expect.any(String) });
      if (x.actor === 'user') expect(x.who).toEqual(expect.any(String));
    }
    expect(ev.transfers[0].who).toEqual(expect.any(String));
    for (const x of some<any>(ev.policies))
      expect(x).toMatchObject({ requested_by: expect.any(String), revoked_by: expect.any(String) });
    expect(ev.tokens.map((x: any) => `${x.zone} ${x.provider}`).sort()).toEqual([`${AE} softfile`, `${DE} softfile`].sort());
    expect(ev.workers).toHaveLength(2);
    for (const x of some<any>(must(await officers[0]!.get(`/v1/evidence?zone=${AE}`), 200).stored)) expect(x.zone).toBe(AE);
    const page = await officers[0]!.get('/v1/evidence.html?lang=ar', { accept: 'text/html' });
    expect(page.status, page.text.slice(0, 300)).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.text).toContain('<html lang="ar" dir="rtl">');
    expect(page.text).toContain('تقرير الأدلة');
    expect(page.text).toContain(t.tenant.display_name);
    expect(page.text.slice(page.text.indexOf('<body>'))).not.toMatch(/[{}]|&quot;/);
    expect(page.text).not.toMatch(/<script|https?:\/\//);
    const officer = await person(admin, 'compliance-officer');
    const totals = must(await officer.get('/v1/evidence'), 200);
    expect(totals.stored.find((x: any) => x.zone === DE && x.data_class === 'personal')).toMatchObject({ tenants: 1, objects: expect.any(Number) });
    expect(JSON.stringify(totals)).not.toContain(t.tenant.name);
    expect(JSON.stringify(totals)).not.toContain(t.tenant.tenant_id);
  });
});

test('canaries of a home zone are found in no blob, no queue, no log and no folder of the other zone', async () => {
  const csv = `a,b,label\n${Array.from({ length: 40 }, (_, i) => `${i}.123456789,${i % 7},${i % 2}`).join('\n')}\n`;
  const marks = [canary, '17.123456789,3,1'];
  const { dataset_id } = await upload(t.api, csv, canary, 2);
  const job = must(await t.api.post('/v1/jobs', { name: canary, kind: 'train', zone: AE, spec: { dataset_id, epochs: 1, hidden: [4] } }), 201);
  expect((await waitJob(t.api, job.job_id)).state).toBe('COMPLETED');
  const redis = monitor.stop();
  expect(redis.length, 'something was seen of Redis').toBeGreaterThan(100);
  for (const mark of marks) expect(redis.includes(mark), `${mark} in Redis`).toBe(false);
  let files = 0;
  const walk = (dir: string): void => {
    for (const name of readdirSync(dir)) {
      const path = join(dir, name);
      if (statSync(path).isDirectory()) walk(path);
      else if (statSync(path).isFile()) {
        files++;
        const text = readFileSync(path, 'latin1');
        for (const mark of marks) expect(text.includes(mark), `${mark} in ${path}`).toBe(false);
      }
    }
  };
  for (const dir of ['blobs', 'log', 'redis', `worker-${DE}`]) walk(join(ready.data_dir, dir));
  expect(files).toBeGreaterThan(5);
});

test('200 random places: none forbidden is leased', async () => {
  const jobs: { name: string; kind: string; zone?: string }[] = [];
  for (let i = 0; i < 200; i++) jobs.push({ name: `r${i}`, kind: 'noop', ...(Math.random() < 0.5 ? { zone: [AE, DE, 'no-such'][Math.floor(Math.random() * 3)] } : {}) });
  const verdicts = must(await t.api.post('/v1/jobs:batch', { jobs }), 207).data;
  verdicts.forEach((v: any, i: number) => expect(v.code).toBe(jobs[i]!.zone === 'no-such' ? 'residency_denied' : 'ok'));
  const ids = verdicts.filter((v: any) => v.job_id).map((v: any) => v.job_id);
  await Promise.all(ids.map((id: string) => waitJob(t.api, id)));
  const bad = await platformSql(`SELECT count(*) FROM attempt a JOIN job j USING (tenant_id, job_id) JOIN node n ON n.node_id = a.node_id
    WHERE (j.zone IS NOT NULL AND j.zone <> n.zone) OR n.zone NOT IN ('${AE}', '${DE}')`);
  expect(bad).toEqual(['0']);
});
