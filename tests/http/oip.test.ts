// SPDX-License-Identifier: Apache-2.0
// oip.test.ts - the Open Inference Protocol as its clients use it: readiness of a version, every datatype that is a number,
// errors of one shape
// wherever they come from; and the document's schemas are those of the answers.
import { beforeAll, expect, inject, test } from 'vitest';
import { digitRows, digitsCsv, rawExchange, train, until, upload } from './client.ts';
import { api, makeTenant, must, type Api, type Reply, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
let t: { token: string; api: Api };
const row = digitRows(1)[0]!.features;

beforeAll(async () => {
  t = await makeTenant(ready);
  const { dataset_id } = await upload(t.api, digitsCsv.split('\n').slice(0, 129).join('\n'), 'digits');
  const job = await train(t.api, dataset_id, { hidden: [8], epochs: 1 });
  const model = must(await t.api.post('/v1/models', { name: 'small', job_id: job.job_id }), 201);
  must(await t.api.post('/v1/deployments', { name: 'small', model_id: model.model_id }), 201);
  await until(() => t.api.get('/v2/models/small/ready'), 200, 60_000);
}, 120_000);

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

test('every datatype that is a number gives the same answer for the same numbers', async () => {
  const whole = row.map((x) => Math.round(x));
  const first = must(await infer('FP32', whole), 200).outputs;
  for (const type of ['FP16', 'FP64', 'INT8', 'INT16', 'INT32', 'INT64', 'UINT8', 'UINT16', 'UINT32', 'UINT64'])
    expect(must(await infer(type, type.startsWith('U') ? [whole] : whole), 200).outputs, type).toEqual(first);
  const bits = whole.map((x) => x > 8);
  expect(must(await infer('BOOL', bits), 200).outputs).toEqual(must(await infer('FP32', bits.map(Number)), 200).outputs);
});

test('a number that is none of its datatype is refused by its place', async () => {
  const at = (i: number, v: unknown): unknown[] => row.map((x, k) => (k === i ? v : Math.round(x)));
  for (const [type, value] of [['INT8', 128], ['UINT8', -1], ['UINT16', 65536], ['INT32', 2147483648], ['INT16', -32769],
    ['UINT64', -1]])
    shaped(await infer(type as string, at(5, value)), 400, 'number 5');
  shaped(await infer('INT32', at(5, 1.5)), 400, 'not whole');
  shaped(await infer('FP16', at(7, 65505)), 400, 'FP16');
  shaped(await infer('BOOL', at(0, 1)), 400, 'true and false');
  shaped(await infer('FP32', at(0, true)), 400);
  shaped(await infer('BYTES', row.map(String)), 400, 'datatype');
  shaped(await infer('float', row), 400, 'datatype');
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
  expect(doc.components.schemas.infer_input.properties.datatype.enum).toContain('UINT8');
  expect(doc.paths['/v2/models/{name}/versions/{version}/ready'].get.responses['200']).toBeDefined();
  expect(post.responses.default.$ref).toMatch(/oip_default$/);
});
