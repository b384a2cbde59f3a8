// SPDX-License-Identifier: Apache-2.0
// training.test.ts - every format of data sets, and whole ways by a client: images and text uploaded, learnt by a job,
// registered, deployed and asked.
import { beforeAll, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, train, until, upload } from './client.ts';
import { makeTenant, must, problemOf, waitJob, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const BINARY = { 'content-type': 'application/octet-stream' };
let api: Api;

beforeAll(async () => {
  api = (await makeTenant(ready)).api;
});

/** As core/data/tokens.h has it. */
function shard(tokens: number[], vocabulary: number): Buffer {
  const file = Buffer.alloc(64 + 2 * tokens.length);
  tokens.forEach((t, i) => file.writeUInt16LE(t, 64 + 2 * i));
  let hash = 0xcbf29ce484222325n;
  for (const b of file.subarray(64)) hash = BigInt.asUintN(64, (hash ^ BigInt(b)) * 1099511628211n);
  file.write('FTOK');
  [1, 2, vocabulary].forEach((v, i) => file.writeUInt32LE(v, 4 + 4 * i));
  [BigInt(tokens.length), 1n, hash].forEach((v, i) => file.writeBigUInt64LE(v, 16 + 8 * i));
  return file;
}

/** An array of f4 with two dimensions (numpy.lib.format, version 1). */
function npy(rows: number[][]): Buffer {
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows.length}, ${rows[0]!.length}), }`.padEnd(117) + '\n';
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length, 0]);
  return Buffer.concat([start, Buffer.from(head), Buffer.from(new Float32Array(rows.flat()).buffer)]);
}

const send = (set: string, format: string, raw: Buffer, headers = BINARY) =>
  api.post(`/v1/datasets/${set}/versions?format=${format}`, undefined, { raw, headers });
const make = async (name: string, more = {}): Promise<string> =>
  must(await api.post('/v1/datasets', { name, ...more }), 201).dataset_id;
const register = async (name: string, jobId: string): Promise<any> =>
  must(await api.post('/v1/models', { name, job_id: jobId }), 201);
const serve = async (name: string, modelId: string): Promise<any> => {
  must(await api.post('/v1/deployments', { name, model_id: modelId }), 201);
  await until(() => api.get(`/v2/models/${name}/ready`), 200, 240_000);
  return must(await api.get(`/v2/models/${name}`), 200);
};

test('content is judged by the reader of its format, and comes back as what it is', async () => {
  const set = await make('array', { label_column: '2', classes: 3 });
  const good = npy([[0.5, 1, 0], [2, 3, 2]]);
  expect(must(await send(set, 'npy', good), 201)).toMatchObject({ format: 'npy', row_count: 2, column_count: 2, classes: 3 });
  const back = await api.get(`/v1/datasets/${set}/versions/1/content`);
  expect(back.headers.get('content-type')).toBe('application/octet-stream');
  expect(back.headers.get('content-disposition')).toMatch(/-v1\.npy"$/);
  const bad: [string, Buffer, RegExp][] = [
    ['npy', npy([[0.5, 1, 0], [2, NaN, 2]]), /byte 144: row 1, column 1: -?nan is not a finite number/],
    ['npy', npy([[0.5, 1, 0], [2, 3, 7]]), /row 1, column 2: the label 7 is not an integer of 0 to 2/],
    ['npy', good.subarray(0, 140), /needs 24 bytes of numbers and has 12/],
    ['tokens', good, /byte 0: neither a token shard/],
    ['tokens', shard([1, 2, 9], 9), /byte 68: token 9 is not below the vocabulary of 9/],
  ];
  for (const [format, bytes, why] of bad) {
    const reply = await send(set, format, bytes);
    expect(reply.status, reply.text).toBe(422);
    expect(reply.json.detail).toMatch(why);
  }
  expect(problemOf(await send(set, 'npy', good, { 'content-type': 'text/csv' })).code).toBe('unsupported_media_type');
  expect(problemOf(await send(set, 'parquet', good)).code).toBe('invalid_argument');
  expect(must(await api.get(`/v1/datasets/${set}/versions`), 200).data).toHaveLength(1);
});

test('a small decoder, whose layers two ranks share, learns a text of tokens, is registered, and continues it', async () => {
  const CONTEXT = 8;
  const VOCABULARY = 12;
  const text = Array.from({ length: 2400 }, (_, i) => (i * i + 3) % VOCABULARY);
  const set = await make('text');
  const version = must(await send(set, 'tokens', shard(text, VOCABULARY)), 201);
  expect(version).toMatchObject({ row_count: 2400, column_count: 0, classes: VOCABULARY });
  const table = await upload(api, digitsCsv, 'table');
  const gpt = { family: 'gpt', rotary: true, layers: 1, width: 32, heads: 2, context: CONTEXT, epochs: 12, batch_size: 8 };
  for (const [id, spec, why] of [[table.dataset_id, gpt, /gpt learns from tokens; this version is a table/],
    [set, { hidden: [4] }, /mlp learns from tables; this version is tokens/]] as [string, object, RegExp][]) {
    const reply = await api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: id, ...spec } });
    expect(problemOf(reply).code).toBe('unprocessable');
    expect(reply.text).toMatch(why);
  }
  const job = await train(api, set, { ...gpt, tensor_ranks: 2 });
  expect(job.spec).toMatchObject({ tensor_ranks: 2 });
  expect(job.result.holdout_accuracy).toBeGreaterThan(0.9);
  const model = await register('decoder', job.job_id);
  expect(model.family).toBe('gpt');
  const meta = await serve('decoder', model.model_id);
  expect(meta.inputs).toMatchObject([{ datatype: 'INT64', shape: [-1, CONTEXT] }]);
  const from = 6;
  const asked = { name: meta.inputs[0].name, datatype: 'INT64', shape: [1, CONTEXT], data: text.slice(from, from + CONTEXT) };
  const { outputs } = must(await api.post('/v2/models/decoder/infer', { inputs: [asked] }), 200);
  expect(outputs.find((o: any) => o.name === 'next').data.at(-1)).toBe(text[from + CONTEXT]);
});

test('a convolutional network learns images, is registered, deployed, and tells the digits', async () => {
  const set = (await upload(api, digitsCsv, 'images')).dataset_id;
  const job = await train(api, set, { family: 'cnn', image: [8, 8, 1], channels: [16, 32], epochs: 5, learning_rate: 0.01 });
  expect(job.result.holdout_accuracy).toBeGreaterThan(0.9);
  const model = await register('images', job.job_id);
  const meta = await serve('images', model.model_id);
  const rows = digitRows(100);
  const input = { name: meta.inputs[0].name, datatype: 'FP32', shape: [100, 64], data: rows.flatMap((r) => r.features) };
  const { outputs } = must(await api.post('/v2/models/images/infer', { inputs: [input] }), 200);
  const label = outputs.find((o: any) => o.name === 'label').data;
  expect(rows.filter((r, i) => r.label === label[i]).length).toBeGreaterThan(85);
});

test('a small student learns from a larger teacher, and says where the time of its steps went', async () => {
  const set = (await upload(api, digitsCsv, 'taught')).dataset_id;
  const large = await train(api, set, { hidden: [128, 64], epochs: 10, precision: 'auto' });
  expect(['fp32', 'bf16']).toContain(large.result.precision);
  expect(large.result.profile).toBeUndefined();
  const teacher = await register('teacher', large.job_id);
  const spec = { hidden: [12], epochs: 15, teacher: teacher.model_id, teacher_share: 0.9, temperature: 3, profile_steps: 20 };
  const student = await train(api, set, spec);
  expect(student.spec).toMatchObject({ teacher: teacher.model_id, teacher_version: 1 });
  expect(student.result.holdout_accuracy).toBeGreaterThan(0.9);
  expect(student.result.precision).toBe('fp32');
  expect(student.result.profile).toMatchObject({ steps: 20 });
  expect(student.result.profile.rows.map((r: any) => r.operation)).toContain('softmax_taught');
  const whole = { dataset_id: set, ...spec };
  const submit = (more: object) => api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { ...whole, ...more } });
  expect(problemOf(await submit({ family: 'gbdt', teacher_version: 1 })).code).toBe('invalid_argument');
  expect(problemOf(await submit({ teacher_version: 9 }))).toMatchObject({ code: 'not_found' });
  const few = { raw: Buffer.from('a,label\n1,0\n2,1\n3,0\n4,1\n'), headers: { 'content-type': 'text/csv' } };
  const narrow = await make('narrow');
  must(await api.post(`/v1/datasets/${narrow}/versions?format=csv`, undefined, few), 201);
  const misfit = await submit({ dataset_id: narrow });
  expect(problemOf(misfit)).toMatchObject({ code: 'unprocessable' });
  expect(misfit.text).toContain('takes 64 columns; the data set has 1 beside the label');
  const stranger = (await makeTenant(ready)).api;
  const own = must(await stranger.post('/v1/datasets', { name: 'own' }), 201).dataset_id;
  must(await stranger.post(`/v1/datasets/${own}/versions?format=csv`, undefined, few), 201);
  const stolen = { dataset_id: own, teacher: teacher.model_id };
  const steal = await stranger.post('/v1/jobs', { name: 'x', kind: 'train', spec: stolen });
  expect(problemOf(steal)).toMatchObject({ code: 'not_found' });
});

/** A job that begins with a model's weights; trees have none, and what does not fit is told. */
async function goOn(set: string, spec: object, model: any, isNet: boolean): Promise<void> {
  const whole = { dataset_id: set, ...spec, start_from: model.model_id };
  const submit = (more: object) => api.post('/v1/jobs', { name: 'on', kind: 'train', spec: { ...whole, ...more } });
  if (!isNet) {
    const trees = await submit({});
    expect(problemOf(trees).code).toBe('invalid_argument');
    expect(trees.text).toContain('/start_from');
    const net = await submit({ family: 'mlp', hidden: [16] });
    expect(problemOf(net).code).toBe('unprocessable');
    expect(net.text).toContain('is of the family gbdt; this job trains mlp');
    return;
  }
  const on = await train(api, set, { ...spec, start_from: model.model_id, learning_rate: 1e-9, max_steps: 1 });
  expect(on.spec).toMatchObject({ start_from: model.model_id, start_version: 1 });
  expect(on.result.holdout_accuracy).toBeGreaterThan(0.95);
  expect(problemOf(await submit({ start_version: 7 }))).toMatchObject({ code: 'not_found' });
  const stranger = (await makeTenant(ready)).api;
  const foreign = must(await stranger.post('/v1/datasets', { name: 'own' }), 201).dataset_id;
  const few = { raw: Buffer.from('a,label\n1,0\n2,1\n3,0\n4,1\n'), headers: { 'content-type': 'text/csv' } };
  must(await stranger.post(`/v1/datasets/${foreign}/versions?format=csv`, undefined, few), 201);
  const stolen = { dataset_id: foreign, start_from: model.model_id };
  const steal = await stranger.post('/v1/jobs', { name: 'x', kind: 'train', spec: stolen });
  expect(problemOf(steal)).toMatchObject({ code: 'not_found' });
  const other = must(await submit({ hidden: [8] }), 201);
  const failed = await waitJob(api, other.job_id, ['FAILED']);
  expect(failed.message).toContain('start_from: the model file has no tensor mlp.0.weight');
}

test('words and gaps are learnt by both families, and a served model takes them as they were', async () => {
  const colours = ['red', 'green', 'dark, blue'];
  const row = (i: number) => ({ colour: colours[i % 3]!, size: i % 7 === 0 ? null : ((i * 37) % 100) / 100 });
  const truth = (r: ReturnType<typeof row>) =>
    Number(r.size === null ? r.colour === 'red' : r.colour === 'green' || r.size > 0.5);
  const rows = Array.from({ length: 900 }, (_, i) => row(i));
  const csv = ['colour,size,label', ...rows.map((r) => `"${r.colour}",${r.size ?? ''},${truth(r)}`)].join('\n');
  const mixed = { category_columns: ['colour'], missing_values: true };
  const plain = await make('plain', {});
  const refused = await send(plain, 'csv', Buffer.from('a,label\n,1\n'), { 'content-type': 'text/csv' });
  expect(refused.json.detail).toContain('row 2, column 1 (a): the field is empty; a data set with missing_values takes it');
  const set = await make('mixed', mixed);
  expect(must(await api.get(`/v1/datasets/${set}`), 200)).toMatchObject(mixed);
  must(await send(set, 'csv', Buffer.from(csv), { 'content-type': 'text/csv' }), 201);
  const cnn = { dataset_id: set, family: 'cnn', image: [1, 2, 1] };
  const image = await api.post('/v1/jobs', { name: 'x', kind: 'train', spec: cnn });
  expect(problemOf(image)).toMatchObject({ code: 'invalid_argument' });
  expect(image.text).toContain('columns of categories. mlp and gbdt learn from it');
  for (const [name, spec] of [['words-net', { family: 'mlp', hidden: [16], epochs: 30, learning_rate: 0.02 }],
    ['words-trees', { family: 'gbdt', trees: 40, leaf_rows: 5 }]] as [string, Record<string, unknown>][]) {
    const job = await train(api, set, spec);
    expect(job.spec).toMatchObject(mixed);
    expect(job.result.holdout_accuracy, name).toBeGreaterThan(0.95);
    const model = await register(name, job.job_id);
    await goOn(set, spec, model, name === 'words-net');
    const meta = await serve(name, model.model_id);
    expect(meta.inputs).toMatchObject([
      { name: 'input', datatype: 'FP32', shape: [-1, 1], parameters: { columns: ['size'] } },
      { name: 'categories', datatype: 'BYTES', shape: [-1, 1], parameters: { columns: ['colour'] } },
    ]);
    const some = rows.slice(0, 60);
    const ask = (sizes: unknown[], words: unknown[]) => api.post(`/v2/models/${name}/infer`, { inputs: [
      { name: 'input', datatype: 'FP32', shape: [sizes.length, 1], data: sizes },
      { name: 'categories', datatype: 'BYTES', shape: [words.length, 1], data: words }] });
    const { outputs } = must(await ask(some.map((r) => r.size), some.map((r) => r.colour)), 200);
    const label = outputs.find((o: any) => o.name === 'label').data;
    expect(some.filter((r, i) => truth(r) === label[i]).length, name).toBeGreaterThan(55);
    const never = must(await ask([0.9, 0.9], ['purple', null]), 200).outputs[0].data;
    expect(never.slice(0, 2)).toEqual(never.slice(2));      // a word nobody taught is no word
    expect((await ask([0.9], [7])).json.error).toContain('something that is no text');
  }
});

test('boosted trees learn a number from a table in CSV, are registered, deployed, and answer it', async () => {
  const truth = (a: number, b: number, c: number) => 50 + 20 * a * b + (c > 0.5 ? 10 : 0);
  const draw = (i: number, k: number) => ((i * 7919 + k * 104729 + ((i * i * (k + 3)) % 1013)) % 1000) / 1000;
  const rows = Array.from({ length: 1200 }, (_, i) => [draw(i, 1), draw(i, 2), draw(i, 3)] as [number, number, number]);
  const csv = ['a,b,c,price', ...rows.map((r) => [...r, truth(...r)].join(','))].join('\n');
  const set = await make('prices', { label_column: 'price', target: 'number' });
  must(await send(set, 'csv', Buffer.from(csv), { 'content-type': 'text/csv' }), 201);
  const wrong = await api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: set, family: 'gbdt', bins: 256 } });
  expect(problemOf(wrong)).toMatchObject({ code: 'invalid_argument' });
  expect(wrong.text).toContain('/spec/bins');
  const job = await train(api, set, { family: 'gbdt', objective: 'regression', trees: 60, eval_every: 10 });
  expect(job.spec).toMatchObject({ learning_rate: 0.1, leaves: 31 });
  expect(job.result).toMatchObject({ epochs: 6 });
  expect(job.result.holdout_accuracy).toBeGreaterThan(0.97);
  const model = await register('prices', job.job_id);
  expect(model.family).toBe('gbdt');
  const meta = await serve('prices', model.model_id);
  expect(meta.outputs).toMatchObject([{ name: 'value', datatype: 'FP32', shape: [-1, 1] }]);
  const input = { name: 'input', datatype: 'FP32', shape: [100, 3], data: rows.slice(0, 100).flat() };
  const { outputs } = must(await api.post('/v2/models/prices/infer', { inputs: [input] }), 200);
  const off = rows.slice(0, 100).map((r, i) => Math.abs(outputs[0].data[i] - truth(...r)));
  expect(off.reduce((x, y) => x + y) / off.length).toBeLessThan(1.5);
});

test('ranks share a step and leave no trace in the model; what cannot be shared is refused at its member', async () => {
  const set = (await upload(api, digitsCsv, 'ranks')).dataset_id;
  const spec = { hidden: [32], epochs: 4, batch_size: 8, accumulate: 4 };
  const one = await train(api, set, spec);
  const four = await train(api, set, { ...spec, ranks: 4 });
  expect(four.spec).toMatchObject({ ranks: 4 });
  for (const figure of ['train_loss', 'holdout_loss', 'holdout_accuracy'])
    expect(four.result[figure]).toBe(one.result[figure]);
  const submit = (more: object, machine = {}) =>
    api.post('/v1/jobs', { name: 'x', kind: 'train', ...machine, spec: { dataset_id: set, ...spec, ...more } });
  const refused = async (answer: any, code: string, field: string, why: RegExp) => {
    expect(problemOf(await answer)).toMatchObject({ code });
    expect((await answer).text).toContain(field);
    expect((await answer).text).toMatch(why);
  };
  await refused(submit({ ranks: 8 }), 'invalid_argument', '/spec/ranks', /must divide accumulate/);
  await refused(submit({ ranks: 9 }), 'invalid_argument', '/spec/ranks', /8/);
  await refused(submit({ ranks: 2 }, { gpus: 1 }), 'unprocessable', '/spec/ranks', /2 ranks and 1 GPU/);
  await refused(submit({ tensor_ranks: 2 }), 'invalid_argument', '/spec/tensor_ranks', /is for gpt/);
  await refused(submit({ ranks: 4 }, { cpu_milli: 2000 }), 'unprocessable', '/spec/ranks', /at least 4000 are needed/);
  await refused(submit({ family: 'gbdt' }, { gpus: 1 }), 'unprocessable', '/gpus', /Ask for no gpus/);
  await refused(submit({ max_joules: -1 }), 'invalid_argument', '/spec/max_joules', /0/);
});

test('a tuned training says what it tried, makes the model of an untuned one, and leaves a report beside it', async () => {
  const set = (await upload(api, digitsCsv, 'tuned')).dataset_id;
  const spec = { hidden: [32], epochs: 4, batch_size: 8, accumulate: 4 };
  const plain = await train(api, set, spec);
  const tuned = await train(api, set, { ...spec, tune_steps: 4, profile_steps: 5 });
  const { tuning } = tuned.result;
  expect(tuning).toMatchObject({ steps: 4, bits_kept: true });
  expect(tuning.rows[0]).toMatchObject({ setting: 'defaults', gain: 1 });
  expect(tuning.rows.map((r: any) => r.setting)).toContain('prefetch');
  expect(tuning.rows.map((r: any) => r.setting)).not.toContain('batches');
  expect(tuning.rows.filter((r: any) => r.chosen)).toHaveLength(1);
  for (const figure of ['train_loss', 'holdout_loss', 'holdout_accuracy'])
    expect(tuned.result[figure]).toBe(plain.result[figure]);
  const left = must(await api.get(`/v1/jobs/${tuned.job_id}/outputs`), 200).data;
  expect(left.map((o: any) => [o.name, o.kind])).toEqual([['model', 'model'], ['report', 'artifact']]);
  expect(must(await api.get(`/v1/jobs/${plain.job_id}/outputs`), 200).data.map((o: any) => o.name)).toEqual(['model']);
  const report = await api.get(`/v1/jobs/${tuned.job_id}/outputs/report`);
  expect(report.status).toBe(200);
  expect(JSON.parse(report.text)).toMatchObject({ family: 'mlp', batch_size: 8, accumulate: 4, tuning, profile: { steps: 5 } });
  const model = await register('tuned', tuned.job_id);
  expect(model.model_id).toMatch(/^mdl_/);
  const free = await train(api, set, { ...spec, precision: 'auto', tune_steps: 3, tune_batches: true });
  expect(free.result.tuning.rows.map((r: any) => r.setting)).toContain('batches');
  const bad = await api.post('/v1/jobs', { name: 'x', kind: 'train', spec: { dataset_id: set, ...spec, tune_batches: true } });
  expect(problemOf(bad).code).toBe('invalid_argument');
  expect(bad.text).toContain('needs tune_steps');
});
