// SPDX-License-Identifier: Apache-2.0
// job_stream.test.ts - the log and the metrics of a job that has run: from either end, by part, as a file, and as columns to draw.
import { beforeAll, expect, inject, test } from 'vitest';
import { digitsCsv, psql, train, upload } from '../client.ts';
import { makeTenant, must, problemOf, waitJob, type Api, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let tenant: Api;
let job: string;

beforeAll(async () => {
  tenant = (await makeTenant(ready)).api;
  job = (await train(tenant, (await upload(tenant, digitsCsv, 'digits')).dataset_id)).job_id;
});

const lines = async (query: string): Promise<any[]> => must(await tenant.get(`/v1/jobs/${job}/logs?${query}`), 200).data;

test('the log from either end', async () => {
  const all = await lines('page_size=1000');
  expect(all.length).toBeGreaterThan(5);
  expect(await lines('tail=3')).toEqual(all.slice(-3));
  expect(await lines(`before=${all.at(-3).log_id}&page_size=2`)).toEqual(all.slice(-5, -3));
  expect(await lines('page_size=2')).toEqual(all.slice(0, 2));
  expect(await lines(`after=${all[1].log_id}&page_size=1`)).toEqual([all[2]]);
  const part = all[2].text.slice(0, 6).toUpperCase();
  expect(await lines(`page_size=1000&q=${encodeURIComponent(part)}`)).toEqual(all.filter((l: any) => l.text.toUpperCase().includes(part)));
  for (const query of ['tail=1001', 'page_size=1001', 'before=-1', 'errors=perhaps']) expect((await tenant.get(`/v1/jobs/${job}/logs?${query}`)).status, query).toBe(400);
});

test('a job that fails says why as the last line of its log, which is its first error', async () => {
  const bad = await upload(tenant, 'a,label\n1,0\n', 'too-short', 2);
  const failed = must(await tenant.post('/v1/jobs', { name: 'f', kind: 'train', max_attempts: 1, spec: { dataset_id: bad.dataset_id } }), 201).job_id;
  await waitJob(tenant, failed, ['FAILED']);
  psql(ready, `INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT tenant_id, job_id, 1, 'stdout', s FROM job,
    unnest(ARRAY['error 0.125', 'KeyError: no such column', 'done']) s WHERE job_id = '${failed.slice(4)}'`);
  const errors = must(await tenant.get(`/v1/jobs/${failed}/logs?errors=true`), 200).data;
  expect(errors.map((l: any) => [l.stream, l.fence, l.text])).toEqual([
    ['stderr', 1, 'error: the job failed: 1 row(s) are too few to keep some for validation'], ['stdout', 1, 'KeyError: no such column']]);
  const asked = must(await tenant.post('/v1/jobs', { name: 'g', kind: 'noop', max_attempts: 1, spec: { fail: 'as asked' } }), 201).job_id;
  await waitJob(tenant, asked, ['FAILED']);
  expect(must(await tenant.get(`/v1/jobs/${asked}/logs?errors=true`), 200).data.map((l: any) => l.text)).toEqual(['error: the job failed: as asked']);
});

test('a job that ends well tells its stages and no error', async () => {
  const texts = (await lines('page_size=1000')).map((l: any) => l.text);
  expect(texts[0]).toMatch(/^info: data opened: 1797 rows, 65 columns, 10 classes, \d+ bytes$/);
  expect(texts.filter((t: string) => /^info: epoch \d+: loss /.test(t))).toHaveLength(8);
  expect(texts.at(-1)).toMatch(/^info: model sealed: \d+ bytes$/);
  expect(await lines('errors=true&page_size=1')).toEqual([]);
});

test('the whole log as a file', async () => {
  const file = await tenant.get(`/v1/jobs/${job}/log.txt`, { accept: 'text/plain' });
  expect(file.status).toBe(200);
  expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="${job}.log"`);
  const all = await lines('page_size=1000');
  expect(file.text).toBe(all.map((l: any) => (l.text.endsWith('\n') ? l.text : `${l.text}\n`)).join(''));
  const stranger = (await makeTenant(ready)).api;
  expect(problemOf(await stranger.get(`/v1/jobs/${job}/log.txt`)).code).toBe('not_found');
});

test('metrics as columns', async () => {
  const rows = must(await tenant.get(`/v1/jobs/${job}/metrics?page_size=200`), 200).data;
  const { series } = must(await tenant.get(`/v1/jobs/${job}/series`), 200);
  const names = new Set(rows.flatMap((r: any) => Object.keys(r.values)));
  expect(new Set(series.map((s: any) => s.name))).toEqual(names);
  for (const s of series) {
    const own = rows.filter((r: any) => typeof r.values[s.name] === 'number');
    expect(s.values).toEqual(own.map((r: any) => r.values[s.name]));
    expect(s.steps).toEqual(own.map((r: any) => r.step));
    expect(s.total).toBe(own.length);
  }
  const name = series[0].name;
  const thin = must(await tenant.get(`/v1/jobs/${job}/series?names=${name}&points=2`), 200).series;
  expect(thin).toHaveLength(1);
  expect(thin[0].total).toBe(series[0].total);
  expect(new Set(thin[0].values)).toEqual(new Set([Math.min(...series[0].values), Math.max(...series[0].values)]));
  expect(must(await tenant.get(`/v1/jobs/${job}/series?names=nothing`), 200).series).toEqual([{ name: 'nothing', steps: [], at_ms: [], values: [], total: 0 }]);
  expect(problemOf(await tenant.get(`/v1/jobs/${job}/series?names=a,b,c,d,e&points=50000`)).errors[0]?.pointer).toBe('/points');
  const stranger = (await makeTenant(ready)).api;
  expect((await stranger.get(`/v1/jobs/${job}/series`)).status).toBe(404);
});

test('jobs as CSV, with what a spreadsheet would run made text', async () => {
  must(await tenant.post('/v1/jobs', { name: '=1+"2", مهمة', kind: 'noop', pool: 'no-machines' }), 201);
  const file = await tenant.get('/v1/jobs.csv', { accept: 'text/csv' });
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const rows = file.text.trimEnd().split('\r\n');
  expect(rows[0]).toMatch(/^\uFEFFjob_id,name,kind,state,group,/);
  expect(rows).toHaveLength(1 + must(await tenant.get('/v1/jobs'), 200).data.length);
  expect(rows[1]).toContain(`,"'=1+""2"", مهمة",noop,PENDING,waiting,`);
  expect((await tenant.get('/v1/jobs.csv?group=waiting', { accept: 'text/csv' })).text.trimEnd().split('\r\n')).toHaveLength(2);
  expect((await tenant.get('/v1/jobs.csv?group=perhaps')).status).toBe(400);
});
