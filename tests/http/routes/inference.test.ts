// SPDX-License-Identifier: Apache-2.0
// inference.test.ts - the Open Inference Protocol as its clients use it: readiness of a version, datatypes, tensors in binary,
// errors of one shape
// wherever they come from; and the document's schemas are those of the answers.
import { beforeAll, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, rawExchange, train, until, upload } from '../client.ts';
import { api, makeTenant, must, type Api, type Reply, type Ready } from '../harness.ts';

const ready: Ready = inject('falaj');
let t: { token: string; api: Api };
const row = digitRows(1)[0]!.features;

beforeAll(async () => {
  t = await makeTenant(ready);
  const { dataset_id } = await upload(t.api, digitsCsv.split('\n').slice(0, 129).join('\n'), 'digits');
  const job = await train(t.api, dataset_id, { hidden: [8], epochs: 1 });
  const model = must(await t.api.post('/v1/models', { name: 'small', job_id: job.job_id }), 201);
  must(await t.api.post('/v1/deployments', { name: 'small', model_id: model.model_id }), 201);
  await until(() => t.api.get('/v2/models/small/ready'), 200, 120_000);
});

const infer = (datatype: string, data: unknown, path = '/v2/models/small'): Promise<Reply> =>
  t.api('POST', `${path}/infer`, { body: { inputs: [{ name: 'input', shape: [1, 64], datatype, data }] } });

function shaped(reply: Reply, status: number, words?: string): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers.get('content-type'), reply.text).toBe('application/json');
  expect(Object.keys(reply.json), reply.text).toEqual(['error']);
  expect(typeof reply.json.error).toBe('string');
  if (words) expect(reply.json.error).toContain(words);
}

test('the version that is served is ready, another is not there', async () => {
  expect(must(await t.api.get('/v2/models/small/versions/1/ready'), 200)).toEqual({ name: 'small', ready: true });
  shaped(await t.api.get('/v2/models/small/versions/2/ready'), 404, 'another version');
  shaped(await t.api.get('/v2/models/none/versions/1/ready'), 404);
});

test('a datatype that is not the model\'s is refused with what the model takes', async () => {
  must(await infer('FP32', row), 200);
  must(await infer('FP32', [row]), 200);
  for (const type of ['FP64', 'INT32', 'UINT8', 'BOOL', 'BYTES', 'float'])
    shaped(await infer(type, row), 400, `"input" is FP32, not "${type}"; the model takes input FP32[-1,64]`);
  shaped(await infer('FP32', row.map((x, i) => (i === 7 ? 1e40 : x))), 400, 'number 7');
  shaped(await infer('FP32', row.map((x, i) => (i === 0 ? true : x))), 400);
});

test('tensors in binary give the answer that numbers in JSON give, both ways', async () => {
  const want = must(await infer('FP32', row), 200).outputs;
  const head = JSON.stringify({ inputs: [{ name: 'input', shape: [1, 64], datatype: 'FP32', parameters: {
      binary_data_size: 256 } }],
    outputs: [{ name: 'label', parameters: { binary_data: true } }, { name: 'probabilities', parameters: {
        binary_data: true } }] });
  const call = (length: string): Promise<Response> => fetch(`${ready.api_url}/v2/models/small/infer`, { method: 'POST',
    headers: { authorization: `Bearer ${t.token}`, 'content-type': 'application/octet-stream',
        'inference-header-content-length': length },
    body: Buffer.concat([Buffer.from(head), Buffer.from(Float32Array.from(row).buffer)]) });
  const reply = await call(String(head.length));
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/octet-stream');
  const bytes = Buffer.from(await reply.arrayBuffer()), length = Number(reply.headers.get('inference-header-content-length'));
  const outputs = JSON.parse(bytes.subarray(0, length).toString()).outputs;
  expect(outputs.map((o: { name: string; parameters: object }) => [o.name, o.parameters])).toEqual(
    [['probabilities', { binary_data_size: 40 }], ['label', { binary_data_size: 8 }]]);
  const probabilities = want.find((o: { name: string }) => o.name === 'probabilities').data;
  for (let i = 0; i < 10; i++) expect(bytes.readFloatLE(length + 4 * i)).toBeCloseTo(probabilities[i], 6);
  expect(Number(bytes.readBigInt64LE(length + 40))).toBe(want.find((o: { name: string }) => o.name === 'label').data[0]);
  expect(bytes.length).toBe(length + 48);
  for (const wrong of ['x', '-1', '99999', String(head.length - 1)]) expect((await call(wrong)).status).toBe(400);
  expect(must(await t.api.get('/v2'), 200).extensions).toContain('binary_tensor_data');
});

test('errors have one shape, from whatever part they come', async () => {
  shaped(await t.api.get('/v2/models/small/versions/x'), 404);
  shaped(await t.api.get('/v2/no/such/path'), 404);
  shaped(await t.api.get('/v2/models/small/infer'), 405);
  shaped(await api(ready, null).get('/v2/models/small'), 401);
  shaped(await infer('FP32', row, '/v2/models/small/versions/9'), 404);
  shaped(await t.api('POST', '/v2/models/small/infer', { raw: '{' }), 400);
  shaped(await t.api('POST', '/v2/models/small/infer', { raw: '{}', headers: { 'content-type': 'text/plain' } }), 415);
  const { host } = new URL(ready.api_url);
  const cut = await rawExchange(ready, `GET /v2/health/live HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`);
  expect(cut).toMatch(/^HTTP\/1.1 400 [^]*\r\n\r\n\{"error":"[^"]+"\}$/);
});

test('the document tells the forms', async () => {
  const doc = must(await api(ready, null).get('/openapi.json'), 200);
  const post = doc.paths['/v2/models/{name}/infer'].post;
  expect(post.requestBody.content['application/json'].schema.$ref).toMatch(/infer_ask$/);
  expect(post.responses['200'].content['application/json'].schema.$ref).toMatch(/infer_reply$/);
  expect(doc.components.schemas.infer_input.properties.datatype.enum).toContain('INT64');
  expect(doc.paths['/v2/models/{name}/versions/{version}/ready'].get.responses['200']).toBeDefined();
  expect(post.responses.default.$ref).toMatch(/oip_default$/);
});
