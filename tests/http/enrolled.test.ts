// SPDX-License-Identifier: Apache-2.0
// enrolled.test.ts - real workers that enrol by join token, on a platform whose certificates live ten seconds: a job runs through
// two renewals, and so does a served model, by a certificate of its lease alone, for an API that must shake hands anew; quarantine
// in the middle of a job sends it to another machine, and the first one is refused. About a minute and a half.
import { spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digitRows, digitsCsv, psql, train, upload } from './client.ts';
import { api, binary, eventually, makeTenant, makeZone, must, startPlatform, waitJob, type Api, type Platform } from './harness.ts';
import { machineCall, workerListener, type Pair } from './pki.ts';

const dir = mkdtempSync(join(tmpdir(), 'falaj-enrolled-'));
const workers: ChildProcess[] = [];
let platform: Platform;
let admin: Api;

interface Machine { child: ChildProcess; cert: string; key: string; log: string }

async function machine(name: string, pool = 'enrolled'): Promise<Machine> {
  const at = join(dir, name), { ready } = platform;
  mkdirSync(at);
  const token = must(await admin.post('/v1/join-tokens', { zone: ready.zone, pool, node_name: name, cidrs: ['127.0.0.0/8'] }), 201);
  writeFileSync(join(at, 'token'), `${token.token}\n`, { mode: 0o600 });
  const set: Record<string, string> = {
    'worker.api_url': workerListener(ready).url, 'worker.enrol_url': ready.api_url, 'worker.zone': ready.zone, 'worker.pool': pool, 'worker.name': name,
    'worker.slots': '1', 'worker.cert': join(at, 'cert.pem'), 'worker.key': join(at, 'key.pem'), 'worker.work_dir': join(at, 'work'),
    'worker.ca': join(ready.data_dir, `tls/ca-${ready.zone}.pem`), 'worker.join_token_file': join(at, 'token'), 'worker.heartbeat_ms': '500', 'worker.grace_ms': '500',
  };
  const log = join(at, 'log');
  const child = spawn(binary('falaj-worker'), Object.entries(set).map(([k, v]) => `--${k}=${v}`), { stdio: ['ignore', 'ignore', openSync(log, 'w')] });
  workers.push(child);
  return { child, cert: join(at, 'cert.pem'), key: join(at, 'key.pem'), log };
}


const nodeOf = async (name: string): Promise<any> => must(await admin.get('/v1/nodes?page_size=200'), 200).data.find((n: any) => n.name === name);

beforeAll(async () => {
  platform = await startPlatform({ FALAJ_NODE_CERT_MS: '10000', FALAJ_NODE_LEASE_CERT_MS: '10000', FALAJ_RATE_ENROL_PER_MINUTE: '0' });
  admin = api(platform.ready, platform.ready.admin_token);
  await makeZone(platform.ready, platform.ready.zone);
});

afterAll(async () => {
  for (const w of workers) w.kill('SIGTERM');
  await Promise.all(workers.map((w) => w.exitCode ?? new Promise((done) => w.once('exit', done))));
  await platform.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** What a listener shows to whoever calls. */
function certificateAt(endpoint: string): Promise<X509Certificate> {
  const [host, port] = endpoint.trim().split(':');
  return new Promise((give, fail) => {
    const socket = tls.connect({ host: host!, port: Number(port), rejectUnauthorized: false, minVersion: 'TLSv1.3' }, () => {
      give(socket.getPeerX509Certificate()!);
      socket.destroy();
    });
    socket.on('error', fail);
  });
}

test('a model is served on through two renewals', async () => {
  const tenant = await makeTenant(platform.ready);
  // The platform's own machine serves: its certificate outlives the time that falaj-api needs to come back, however long that is.
  const own = await eventually('the platform\'s own machine', async () => must(await admin.get('/v1/nodes?pool=default'), 200).data[0]);
  const m = await machine('m-serve', 'elsewhere');
  await eventually('another machine registers', () => nodeOf('m-serve'));
  const { dataset_id } = await upload(tenant.api, digitsCsv, 'digits');
  const job = await train(tenant.api, dataset_id, { epochs: 1 });
  const model = must(await tenant.api.post('/v1/models', { name: 'digits', job_id: job.job_id }), 201);
  const deployed = must(await tenant.api.post('/v1/deployments', { name: 'digits', model_id: model.model_id }), 201);
  const path = '/v2/models/digits';
  await eventually('the model is ready', async () => ((await tenant.api.get(`${path}/ready`)).status === 200 ? true : undefined));
  const name = must(await tenant.api.get(path), 200).inputs[0].name;
  const inputs = [{ name, shape: [1, 64], datatype: 'FP32', data: digitRows(1)[0]!.features }];
  const ask = (): Promise<any> => tenant.api.post(`${path}/infer`, { inputs });
  expect((await ask()).status).toBe(200);
  const { endpoint, attempt, fence } = JSON.parse(psql(platform.ready, `SELECT json_build_object('endpoint', endpoint, 'attempt',
    replace(attempt_id::text, '-', ''), 'fence', fence) FROM attempt WHERE live AND endpoint IS NOT NULL`));
  const first = await certificateAt(endpoint), seen = new Set([first.serialNumber]);
  expect(first.subjectAltName).toContain(`DNS:${attempt}.${platform.ready.zone}.lease.falaj.internal`);
  expect(first.subjectAltName).toContain(`URI:spiffe://${platform.ready.zone}/lease/default/${own.name}/${attempt}`);
  expect(first.keyUsage, 'it serves and cannot call').toEqual(['1.3.6.1.5.5.7.3.1']);
  const [ownCert, ownKey] = ['pem', 'key'].map((end) => join(platform.ready.data_dir, `tls/worker.${end}`)) as [string, string];
  const machines = new X509Certificate(readFileSync(m.cert));
  expect(machines.keyUsage, 'the machine calls and cannot serve').toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(new X509Certificate(readFileSync(ownCert)).publicKey.equals(first.publicKey)).toBe(false);
  const shown = await eventually('two renewals', async () => {
    const now = await certificateAt(endpoint);
    return seen.add(now.serialNumber).size >= 3 && Date.now() > Date.parse(first.validTo) + 2000 ? now : undefined;
  });
  expect((await ask()).status).toBe(200);
  expect(shown.publicKey.equals(first.publicKey), 'the process keeps its key').toBe(true);
  expect(Date.parse(shown.validTo)).toBeGreaterThan(Date.now() - 1000);
  const events = (): number => Number(psql(platform.ready, `SELECT count(*) FROM audit_event
    WHERE convert_from(body, 'UTF8') LIKE '%lease.certificate%' AND convert_from(body, 'UTF8') LIKE '%${attempt}%'`));
  expect(events(), 'each signing is in the log').toBeGreaterThanOrEqual(3);

  // Who does not hold the lease gets no certificate for it, nor does the machine that held it once the lease has ended.
  const sign = async (who: Pair): Promise<any> => machineCall(platform.ready, who, `/v1/leases/att_${attempt}/certificate`,
    { tenant_id: tenant.tenant.tenant_id, fence, csr_pem: 'any' });
  const pair = (cert: string, key: string): Pair => ({ cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') });
  const owner = (): Pair => pair(ownCert, ownKey);
  expect((await sign(pair(m.cert, m.key))).status).toBe(409);
  expect((await sign(owner())).status, 'and from the owner only a good request').toBe(400);

  // The API's connection is older than the renewals and lives on: only a new process of it must shake hands again. The signer
  // comes back, too.
  const pids = JSON.parse(readFileSync(join(platform.ready.data_dir, 'dev.json'), 'utf8')).pids, before = events();
  const killed = Object.keys(pids).filter((program) => /^(api|keyd.*)$/.test(program));
  expect(killed).toHaveLength(2);
  for (const program of killed) process.kill(pids[program], 'SIGKILL');
  await eventually('the API comes back and the model answers', async () => ((await ask().catch(() => undefined))?.status === 200 ? true : undefined));
  await eventually('renewals go on', () => (events() > before ? true : undefined));
  expect((await ask()).status).toBe(200);
  must(await tenant.api.delete(`/v1/deployments/${deployed.deployment_id}`), 204);
  await waitJob(tenant.api, deployed.job_id, ['CANCELLED', 'COMPLETED', 'FAILED']);
  expect((await sign(owner())).status, 'the lease has ended').toBe(409);
}, 180_000);

test('a worker enrols, renews while a job runs, and quarantine moves the job', async () => {
  const tenant = await makeTenant(platform.ready);
  const a = await machine('m-a');
  const node = await eventually('the machine registers', () => nodeOf('m-a')).catch((error: Error) => { throw new Error(`${error.message}\n${readFileSync(a.log, 'utf8').slice(-2000)}`); });
  expect(node.state).toBe('READY');
  expect(statSync(a.key).mode & 0o777).toBe(0o600);
  const first = new X509Certificate(readFileSync(a.cert));
  expect(first.subjectAltName).toContain(`URI:spiffe://${platform.ready.zone}/worker/enrolled/m-a`);

  const long = must(await tenant.api.post('/v1/jobs', { name: 'long', kind: 'noop', pool: 'enrolled', spec: { sleep_ms: 12_000 } }), 201);
  const done = await waitJob(tenant.api, long.job_id, ['COMPLETED']);
  expect(done.requeue_count ?? 0).toBe(0);
  const later = new X509Certificate(readFileSync(a.cert));
  expect(later.serialNumber, `${first.validTo}\n${readFileSync(a.log, 'utf8').slice(-3000)}`).not.toBe(first.serialNumber);
  expect(later.publicKey.equals(first.publicKey)).toBe(true);
  expect(readFileSync(a.log, 'utf8').match(/node\.renewed/g)!.length).toBeGreaterThanOrEqual(2);
  expect(Date.parse((await nodeOf('m-a')).cert_ends_at)).toBeGreaterThan(Date.parse(first.validTo));

  const moving = must(await tenant.api.post('/v1/jobs', { name: 'moving', kind: 'noop', pool: 'enrolled', spec: { sleep_ms: 8_000 } }), 201);
  await waitJob(tenant.api, moving.job_id, ['RUNNING']);
  const moved = must(await admin.post(`/v1/nodes/${node.node_id}/quarantine`, { reason: 'drill' }), 200);
  expect(moved).toMatchObject({ state: 'QUARANTINED', jobs_running: 1, job_ids: [moving.job_id] });
  const who = { cert: readFileSync(a.cert, 'utf8'), key: readFileSync(a.key, 'utf8') };
  const refused = await machineCall(platform.ready, who, '/v1/leases/next', { node_id: node.node_id, boot_id: '00000000-0000-4000-8000-000000000000', free_slots: 1 });
  expect(refused.status).toBe(403);
  await waitJob(tenant.api, moving.job_id, ['PENDING']);
  await machine('m-b');
  const end = await waitJob(tenant.api, moving.job_id, ['COMPLETED']);
  expect(end.requeue_count).toBe(1);
  expect(must(await admin.get('/v1/nodes?pool=enrolled&state=QUARANTINED'), 200).data.map((n: any) => n.name)).toEqual(['m-a']);
}, 180_000);
