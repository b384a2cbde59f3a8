// SPDX-License-Identifier: Apache-2.0
// cli_jobs.test.ts - the commands of jobs as they are typed: what they ask for, what they print, and how they end.
import { execFile } from 'node:child_process';
import { beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, psql, train, upload } from './client.ts';
import { binary, makeTenant, must, waitJob, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
let token: string;
let trained: string, failed: string, waiting: string;

function falaj(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: token };
  return new Promise((done) => execFile(binary('falaj'), args, { env }, (e, out, err) => done({ code: e ? Number(e.code) : 0, out, err })));
}
/** The names (ids) that a list shows. */
async function ids(...args: string[]): Promise<string[]> {
  const said = await falaj('job', 'list', '-o', 'name', ...args);
  expect(said.code, said.err).toBe(0);
  return said.out.split('\n').filter(Boolean).map((line) => line.replace(/^job\//, '')).sort();
}

beforeAll(async () => {
  ({ api: tenant, token } = await makeTenant(ready));
  trained = (await train(tenant, (await upload(tenant, digitsCsv, 'digits')).dataset_id)).job_id;
  failed = must(await tenant.post('/v1/jobs', { name: 'gulf-fails', kind: 'noop', spec: { fail: 'fatal: no such column' } }), 201).job_id;
  waiting = must(await tenant.post('/v1/jobs', { name: 'gulf-waits', kind: 'noop', pool: 'no-machines' }), 201).job_id;
  await waitJob(tenant, failed);
  psql(ready, `INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT tenant_id, job_id, 1, 'stdout', 'reading' FROM job
    WHERE name = 'gulf-fails' AND job_id = '${failed.slice(4)}'`);
});

test('job list, by every filter', async () => {
  const all = [trained, failed, waiting].sort(), me = must(await tenant.get('/v1/me'), 200).user_id;
  expect(await ids()).toEqual(all);
  expect(await ids('--group', 'failed')).toEqual([failed]);
  expect(await ids('--group', 'waiting')).toEqual([waiting]);
  expect(await ids('--state', 'COMPLETED')).toEqual([trained]);
  expect(await ids('--kind', 'noop')).toEqual([failed, waiting].sort());
  expect(await ids('--name', 'GULF')).toEqual([failed, waiting].sort());
  expect(await ids('--pool', 'no-machines')).toEqual([waiting]);
  expect(await ids('--created-by', me)).toEqual(all);
  expect(await ids('--zone', 'ae-xyz-1')).toEqual([]);
  const { submitted_at } = must(await tenant.get(`/v1/jobs/${failed}`), 200);
  expect(await ids('--since', submitted_at)).toEqual([failed, waiting].sort());
  expect(await ids('--until', submitted_at)).toEqual([trained]);
  expect((await ids('--limit', '1')).length).toBe(1);
  expect((await falaj('job', 'list', '--group', 'lost')).code).toBe(2);
  expect((await falaj('job', 'list', '--name', 'gu')).code).toBe(2);
});

test('job counts', async () => {
  const said = await falaj('job', 'counts', '--name', 'gulf', '-o', 'json');
  expect(said.code, said.err).toBe(0);
  const { states } = JSON.parse(said.out);
  expect(states.filter((s: any) => s.jobs).map((s: any) => [s.state, s.jobs])).toEqual([['PENDING', 1], ['FAILED', 1]]);
  const table = await falaj('job', 'counts');
  expect(table.code, table.err).toBe(0);
  expect(table.out).toMatch(/^COMPLETED +done +1 +(yes|true)$/m);
});

test('job submit --dry-run says what a submission would get, and stores nothing', async () => {
  const good = await falaj('job', 'submit', 'asked', '--kind', 'noop', '--dry-run');
  expect(good.code, good.err).toBe(0);
  expect(good.out).toContain('ok');
  const bad = await falaj('job', 'submit', 'asked', '--kind', 'noop', '--slots', '4096', '--dry-run');
  expect(bad.code).toBe(11);
  expect(bad.err).toContain('it would be refused');
  expect(await ids('--name', 'asked')).toEqual([]);
});

test('job submit --wait: data is the job as it ended, alone on standard output; people read the job and its log', async () => {
  const good = await falaj('job', 'submit', 'awaited', '--kind', 'noop', '--wait', '-o', 'json');
  expect(good.code, good.err).toBe(0);
  expect(JSON.parse(good.out)).toMatchObject({ name: 'awaited', state: 'COMPLETED' });
  expect(good.err).toContain('COMPLETED');
  const bad = await falaj('job', 'submit', 'awaited', '--kind', 'noop', '--fail', 'no row', '--wait', '-o', 'jsonpath=.state');
  expect(bad).toMatchObject({ code: 11, out: 'FAILED\n' });
  const read = await falaj('job', 'submit', 'awaited', '--kind', 'noop', '--wait');
  expect(read.out).toMatch(/^state +PENDING$/m);
});

test('job why', async () => {
  const why = await falaj('job', 'why', waiting);
  expect(why.code, why.err).toBe(0);
  expect(why.out).toContain('no-machines');
  expect((await falaj('job', 'why', `job_${'0'.repeat(32)}`)).code).toBe(5);
});

test('job clock, of all that waits and of one job', async () => {
  const all = await falaj('job', 'clock', '--hours', '2');
  expect(all.code, all.err).toBe(0);
  expect(all.out).toMatch(/^RUNNING 0, WILL START 0, LATE 1$/m);
  expect(all.out).toMatch(/^gulf-waits +1 +0 +NoMatchingFlavor/m);
  const one = await falaj('job', 'clock', waiting);
  expect(one.code, one.err).toBe(0);
  expect(one.out).toMatch(/^late +- +NoMatchingFlavor/m);
  expect(one.out).toMatch(/^pool +no-machines +default/m);
  expect((await falaj('job', 'clock', '--hours', '337')).code).toBe(2);
});

test('job logs from the end, of errors alone, and by a part', async () => {
  const all = (await falaj('job', 'logs', trained)).out.split('\n').filter(Boolean);
  expect(all.length).toBeGreaterThan(5);
  expect((await falaj('job', 'logs', trained, '--tail', '3')).out.split('\n').filter(Boolean)).toEqual(all.slice(-3));
  const part = all[3]!.slice(0, 8).toUpperCase();
  expect((await falaj('job', 'logs', trained, '--grep', part)).out.split('\n').filter(Boolean)).toEqual(all.filter((l) => l.toUpperCase().includes(part)));
  expect((await falaj('job', 'logs', trained, '--errors')).out).toBe('');
  const errors = await falaj('job', 'logs', failed, '--errors');
  expect(errors.code, errors.err).toBe(0);
  expect([...new Set(errors.out.trimEnd().split('\n'))]).toEqual(['error: the job failed: fatal: no such column']);
  expect((await falaj('job', 'logs', trained, '--tail', '1001')).code).toBe(2);
});

test('job submit --retry says which failures are tried again', async () => {
  const again = 'job submit again --kind noop --pool no-machines --retry memory,timeout --retry-backoff 5 -o json';
  const said = await falaj(...again.split(' '));
  expect(said.code, said.err).toBe(0);
  const job = JSON.parse(said.out);
  expect(job.retry).toEqual({ max: 3, on: ['memory', 'timeout'], backoff_s: 5 });
  must(await tenant.post(`/v1/jobs/${job.job_id}/cancel`, {}), 200);
  expect((await falaj('job', 'submit', 'again', '--kind', 'noop', '--retry-max', '2')).code).toBe(2);
  const wrong = await falaj('job', 'submit', 'again', '--kind', 'noop', '--retry', 'weather');
  expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('at /retry/on/0')]);
});

test('job submit --nodes takes a number or a range', async () => {
  const wide = 'job submit wide --dataset digits --accumulate 4 --pool no-machines --force-queue';
  for (const [nodes, least, most] of [['2', 2, 2], ['1-4', 1, 4]] as const) {
    const said = await falaj(...wide.split(' '), '--nodes', nodes, '-o', 'json');
    expect(said.code, said.err).toBe(0);
    expect(JSON.parse(said.out)).toMatchObject({ nodes: least, nodes_max: most });
  }
  expect((await falaj(...wide.split(' '), '--nodes', '1-x')).code).toBe(2);
  const wrong = await falaj(...wide.split(' '), '--nodes', '4-2');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('min (4) is above max (2)')]);
});

test('job submit has a flag for every member of a spec, and refuses those of another kind', async () => {
  const said = await falaj('job', 'submit', 'flags', '--kind', 'noop', '--sleep-ms', '1', '--pool', 'no-machines', '-o', 'json');
  expect(said.code, said.err).toBe(0);
  const job = JSON.parse(said.out);
  expect([job.kind, job.spec]).toEqual(['noop', { sleep_ms: 1 }]);
  must(await tenant.post(`/v1/jobs/${job.job_id}/cancel`, {}), 200);
  const foreign = await falaj('job', 'submit', 'flags', '--kind', 'noop', '--epochs', '3');
  expect([foreign.code, foreign.err]).toEqual([2, expect.stringContaining('a job of kind noop has no --epochs')]);
  const sent = await falaj('job', 'submit', 'usual', '--dataset', 'digits', '--seed', '5', '--pool', 'no-machines', '-o', 'json');
  expect(sent.code, sent.err).toBe(0);
  expect(JSON.parse(sent.out).spec).toMatchObject({
    hidden: [64, 32], epochs: 30, optimizer: 'adamw', seed: 5, dataset_version: 1, label_column: 'label',
  });
  must(await tenant.post(`/v1/jobs/${JSON.parse(sent.out).job_id}/cancel`, {}), 200);
});

test('job report: a table for people of what was watched and tried, one document for programs', async () => {
  const set = (await upload(tenant, digitsCsv, 'reported')).dataset_id;
  const spec = { hidden: [16], epochs: 2 };
  const both = (await train(tenant, set, { ...spec, tune_steps: 3, profile_steps: 4 })).job_id;
  const people = await falaj('job', 'report', both);
  expect(people.code, people.err).toBe(0);
  for (const word of ['OPERATION', 'ROOF', 'SETTING', 'GAIN', 'prefetch']) expect(people.out).toContain(word);
  const whole = JSON.parse((await falaj('job', 'report', both, '-o', 'json')).out);
  expect(whole).toMatchObject({ profile: { steps: 4 }, tuning: { steps: 3, bits_kept: true } });
  const watched = (await train(tenant, set, { ...spec, profile_steps: 4 })).job_id;
  const alone = JSON.parse((await falaj('job', 'report', watched, '-o', 'json')).out);
  expect(alone).toMatchObject({ steps: 4 });
  const none = await falaj('job', 'report', trained);
  expect(none.code).not.toBe(0);
  expect(none.err).toContain('has no profile and was not tuned');
});
