// SPDX-License-Identifier: Apache-2.0
// bring_model.test.ts - a tenant's own ONNX model from file to answers: uploaded, converted in the sandbox of the
// real worker, registered with its signature, deployed, and asked by its own names; by REST and by one command. What cannot be
// converted says why, and no other tenant sees any of it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { until } from './client.ts';
import { binary, eventually, makeTenant, must, problemOf, waitJob, type Api, type Ready } from './harness.ts';
import { input, model, node, output, tensor } from './onnx.ts';

const ready: Ready = inject('falaj');
const dir = mkdtempSync(join(tmpdir(), 'falaj-bring-'));
const IN = 5,
  MID = 7,
  OUT = 3;
const numbers = (n: number, seed: number): number[] =>
  Array.from({ length: n }, (_, i) => Math.sin(seed + i * 1.7) * 0.8);
const w1 = numbers(IN * MID, 1),
  b1 = numbers(MID, 2),
  w2 = numbers(MID * OUT, 3),
  b2 = numbers(OUT, 4);
const file = model(
  node('Gemm', 'first', ['pixels', 'w1', 'b1'], ['h']),
  node('Relu', 'fold', ['h'], ['r']),
  node('Gemm', 'second', ['r', 'w2', 'b2'], ['scores']),
  tensor('w1', [IN, MID], w1),
  tensor('b1', [MID], b1),
  tensor('w2', [MID, OUT], w2),
  tensor('b2', [OUT], b2),
  input('pixels', ['N', IN]),
  output('scores', ['N', OUT]),
);
let t: { token: string; api: Api };
let other: Api;

function reference(x: number[]): number[] {
  const product = (v: number[], w: number[], b: number[]) =>
    b.map((c, o) => v.reduce((sum, n, i) => sum + n * Math.fround(w[i * b.length + o]!), Math.fround(c)));
  return product(
    product(x, w1, b1).map((n) => Math.max(0, n)),
    w2,
    b2,
  );
}

beforeAll(async () => {
  t = await makeTenant(ready);
  other = (await makeTenant(ready)).api;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function bring(name: string, bytes: Buffer): Promise<any> {
  const set = must(await t.api.post('/v1/datasets', { name: `${name}-onnx` }), 201);
  const { upload_id } = must(
    await t.api.post('/v1/uploads', { dataset_id: set.dataset_id, size_bytes: bytes.length, format: 'onnx' }),
    201,
  );
  must(
    await t.api('PUT', `/v1/uploads/${upload_id}/parts?offset=0`, {
      raw: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    }),
    200,
  );
  const version = must(await t.api.post(`/v1/uploads/${upload_id}/complete`), 200);
  expect(version).toMatchObject({ format: 'onnx', version: 1, row_count: 0, size_bytes: bytes.length });
  return must(await t.api.post('/v1/jobs', { name, kind: 'convert', spec: { dataset_id: set.dataset_id } }), 201);
}

const signature = {
  inputs: [{ name: 'pixels', datatype: 'FP32', shape: [-1, IN] }],
  outputs: [{ name: 'scores', datatype: 'FP32', shape: [-1, OUT] }],
};

test('an ONNX file becomes a version with its signature, which answers by its own names', async () => {
  const { job_id, spec } = await bring('small', file);
  const job = await waitJob(t.api, job_id, ['COMPLETED'], 240_000);
  expect(job.result).toMatchObject({
    opset: 17,
    nodes: 3,
    parameters: w1.length + b1.length + w2.length + b2.length,
    producer: 'falaj-tests',
  });
  const made = must(await t.api.post('/v1/models', { name: 'small', job_id }), 201);
  expect(made).toMatchObject({ version: 1, family: 'graph', engine: 'falaj', inputs: IN, outputs: OUT, signature });
  expect(must(await t.api.get(`/v1/models/${made.model_id}/versions`), 200).data[0].signature).toEqual(signature);

  const deployed = must(await t.api.post('/v1/deployments', { name: 'small', model_id: made.model_id }), 201);
  expect(deployed.engine).toBe('falaj');
  await until(() => t.api.get('/v2/models/small/ready'), 200, 120_000);
  expect(must(await t.api.get('/v2/models/small'), 200)).toMatchObject(signature);
  const rows = [numbers(IN, 5), numbers(IN, 6)].map((r) => r.map(Math.fround));
  const ask = (name: string) =>
    t.api('POST', '/v2/models/small/infer', {
      body: { inputs: [{ name, shape: [2, IN], datatype: 'FP32', data: rows.flat() }] },
    });
  const [answer] = must(await ask('pixels'), 200).outputs;
  expect(answer).toMatchObject({ name: 'scores', shape: [2, OUT] });
  rows.flatMap(reference).forEach((want, i) => expect(answer.data[i]).toBeCloseTo(want, 5));
  const wrong = await ask('input');
  expect(wrong.status).toBe(400);
  expect(wrong.json.error).toContain('the model takes pixels FP32[-1,5]');

  for (const path of [
    `/v1/datasets/${spec.dataset_id}`,
    `/v1/jobs/${job_id}`,
    `/v1/models/${made.model_id}`,
    '/v2/models/small',
  ])
    must(await other.get(path), 404);
  must(await other.post('/v1/jobs', { name: 'x', kind: 'convert', spec: { dataset_id: spec.dataset_id } }), 404);
  const back = await t.api.get(`/v1/datasets/${spec.dataset_id}/versions/1/content`);
  expect([back.status, back.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(back.headers.get('content-disposition')).toContain('-v1.onnx');
}, 180_000);

test('a version is made smaller, judged on a table, and names its parent; too great a drop fails with its report', async () => {
  const { model_id } = must(await t.api.get('/v1/models?q=small'), 200).data[0];
  const set = must(await t.api.post('/v1/datasets', { name: 'judge', classes: OUT }), 201);
  // Far enough from 0 that the rows are of all classes, which a range that is too narrow tells apart worse.
  const far = Array.from({ length: 240 }, (_, r) => numbers(IN, r * 0.37).map((n) => 5 * n));
  const lines = far.map((x) => {
    const scores = reference(x.map(Math.fround));
    return [...x, scores.indexOf(Math.max(...scores))].join(',');
  });
  must(
    await t.api.post(`/v1/datasets/${set.dataset_id}/versions?format=csv`, undefined, {
      raw: ['a,b,c,d,e,label', ...lines, ''].join('\n'),
      headers: { 'content-type': 'text/csv' },
    }),
    201,
  );
  const spec = { model_id, dataset_id: set.dataset_id };
  const submit = (more: object, api = t.api) =>
    api.post('/v1/jobs', { name: 'smaller', kind: 'optimise', spec: { ...spec, ...more } });
  must(await submit({}, other), 404);
  const gone = await submit({ model_version: 9 });
  expect([gone.status, problemOf(gone).errors[0]?.pointer]).toEqual([404, '/spec/model_id']);

  const { job_id, spec: kept } = must(await submit({ max_accuracy_drop: 0.05 }), 201);
  expect(kept).toMatchObject({ model_version: 1, dataset_version: 1, precision: 'int8' });
  const job = await waitJob(t.api, job_id, ['COMPLETED'], 240_000);
  expect(job.result).toMatchObject({ accuracy_before: 1, evaluation_rows: 180, calibration_rows: 60, changed: 2 });
  expect(job.result.parent).toBe(`${model_id}@1`);
  const made = must(await t.api.post('/v1/models', { name: 'small', job_id }), 201);
  expect(made).toMatchObject({ version: 2, model_id, signature });
  expect(made.metrics.accuracy_after).toBeGreaterThan(0.94);

  const bad = must(await submit({ model_version: 1, calibration: 'percentile', percentile: 50, max_accuracy_drop: 0 }), 201);
  const end = await waitJob(t.api, bad.job_id, undefined, 240_000);
  expect(end.state).toBe('FAILED');
  const said = must(await t.api.get(`/v1/jobs/${bad.job_id}/logs`), 200).data.map((l: any) => l.text).join('\n');
  expect(said).toContain('accuracy 1.0000 before');
  expect(JSON.stringify(end) + said).toContain('max_accuracy_drop allows 0.0000');
  must(await t.api.post('/v1/models', { name: 'bad', job_id: bad.job_id }), 409);
}, 180_000);

const refused: [string, Buffer, RegExp][] = [
  [
    'an operator that is not known',
    model(node('NonMaxSuppression', 'boxes', ['x'], ['y']), input('x', ['N', 4]), output('y', ['N'])),
    /node 0 "boxes" \(NonMaxSuppression\)/,
  ],
  ['a file that was cut', file.subarray(0, file.length - 200), /no ONNX model, or a damaged one, at byte \d+/],
];
test.each(refused)(
  '%s fails the job with its reason',
  async (_name, bytes, why) => {
    const { job_id } = await bring(`bad-${Math.random().toString(36).slice(2)}`, bytes);
    const job = await waitJob(t.api, job_id, undefined, 240_000);
    expect(job.state).toBe('FAILED');
    expect(
      must(await t.api.get(`/v1/jobs/${job_id}/logs`), 200)
        .data.map((l: any) => l.text)
        .join('\n'),
    ).toMatch(why);
    must(await t.api.post('/v1/models', { name: 'bad', job_id }), 409);
  },
  180_000,
);

test('a table is not converted, and a model file is not trained on', async () => {
  const { dataset_id } = must(await t.api.post('/v1/datasets', { name: 'both' }), 201);
  const put = async (format: string, raw: string | Uint8Array) =>
    must(
      await t.api.post(`/v1/datasets/${dataset_id}/versions?format=${format}`, undefined, {
        raw,
        headers: { 'content-type': format === 'csv' ? 'text/csv' : 'application/octet-stream' },
      }),
      201,
    );
  await put('csv', 'a,label\n1,0\n2,1\n');
  const submit = (kind: string) => t.api.post('/v1/jobs', { name: 'x', kind, spec: { dataset_id } });
  for (const [kind, reads] of [
    ['convert', 'model files'],
    ['train', 'tables and tokens'],
  ] as const) {
    const reply = await submit(kind);
    expect(reply.status).toBe(422);
    expect(problemOf(reply).errors[0]!.pointer).toBe('/spec/dataset_id');
    expect(reply.json.detail).toContain(`reads ${reads}`);
    await put('onnx', file);
  }
});

test('a conversion that asks for an engine waits for a machine with it, and no machine here has one', async () => {
  const { dataset_id } = must(await t.api.get('/v1/datasets?q=small-onnx'), 200).data[0];
  const body = (engine: string, force_queue: boolean) => ({
    name: 'odd',
    kind: 'convert',
    force_queue,
    spec: { dataset_id, engine },
  });
  const no = await t.api.post('/v1/jobs', body('onnxruntime', false));
  expect([no.status, problemOf(no).errors[0]?.pointer]).toEqual([422, '/spec/engine']);
  expect(no.json.detail).toMatch(/nearest, flavor \w+, zone [\w-]+: asked the engine onnxruntime, it has none/);
  const bad = await t.api.post('/v1/jobs', body('another', false));
  expect([bad.status, problemOf(bad).errors[0]?.pointer]).toEqual([400, '/spec/engine']);
  expect(must(await t.api.post('/v1/jobs', body('any', false)), 201).engine).toBe('');

  const { job_id } = must(await t.api.post('/v1/jobs', body('onnxruntime', true)), 201);
  const waits = await eventually('its reason', async () => {
    const job = must(await t.api.get(`/v1/jobs/${job_id}`), 200);
    return job.reason === 'NoMatchingFlavor' && job;
  });
  expect(waits).toMatchObject({ state: 'PENDING', engine: 'onnxruntime', spec: { engine: 'onnxruntime' } });
  expect(waits.message).toMatch(/^no ready machine of the pool default there has the engine onnxruntime/);
  expect(waits.message).toMatch(/which computes its model; \d+ there are without it$/);
  const why = must(await t.api.get(`/v1/jobs/${job_id}/placement`), 200);
  expect(why.constraints).toContainEqual(
    expect.objectContaining({ constraint: 'engine', machines: 0, detail: 'asked the engine onnxruntime, it has none' }),
  );
  must(await t.api.post(`/v1/jobs/${job_id}/cancel`, {}), 200);
}, 120_000);

test('falaj model import does it all and shows what the model takes', async () => {
  const path = join(dir, 'dense.onnx');
  writeFileSync(path, file);
  const falaj = (...words: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((done) => {
      const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: t.token, HOME: dir, NO_COLOR: '1' };
      execFile(binary('falaj'), words, { env }, (e, out, err) => done({ code: e ? Number(e.code) : 0, out, err }));
    });
  const made = await falaj('model', 'import', path, '-o', 'json');
  expect(made.code, made.err).toBe(0);
  expect(JSON.parse(made.out)).toMatchObject({ name: 'dense', version: 1, signature });
  expect(made.err).toMatch(/converted: operator set 17, 3 nodes/);
  const shown = await falaj('model', 'show', 'dense');
  expect(shown.out).toMatch(/pixels +FP32 +-1, ?5/);
  expect(shown.out).toMatch(/scores +FP32 +-1, ?3/);
  const again = await falaj('model', 'import', path, '--name', 'dense', '-o', 'json');
  expect(JSON.parse(again.out), again.err).toMatchObject({ name: 'dense', version: 2 });
  writeFileSync(path, refused[0]![1]);
  const bad = await falaj('model', 'import', path, '--name', 'bad');
  expect(bad.code).not.toBe(0);
  expect(bad.err).toMatch(refused[0]![2]);
}, 240_000);
