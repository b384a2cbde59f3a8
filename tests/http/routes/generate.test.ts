// SPDX-License-Identifier: Apache-2.0
// generate.test.ts - text over HTTP: a decoder learns a text whose shard holds its vocabulary, is deployed, and goes on from a
// prompt, whole or piece by piece; what it refuses, what others see of it, and what a client who leaves or floods costs.
import { execFile } from 'node:child_process';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { beforeAll, expect, inject, test } from 'vitest';
import { train, until } from '../client.ts';
import { binary, makeTenant, must, problemOf, type Api, type Ready, type Reply } from '../harness.ts';

const ready: Ready = inject('falaj');
const VOCABULARY = 'falaj-bpe 1\n257\n';
const CONTEXT = 64, SLOTS = 1, QUEUE = 4;
const path = '/v2/models/writer';
let t: { token: string; api: Api };
let deployment: any;

/** Version 2 of core/data/tokens.h: bytes as tokens, and the vocabulary behind them. */
function shard(text: string): Buffer {
  const bytes = Buffer.from(text);
  const file = Buffer.alloc(64 + 2 * bytes.length + VOCABULARY.length);
  bytes.forEach((b, i) => file.writeUInt16LE(b, 64 + 2 * i));
  file.write(VOCABULARY, 64 + 2 * bytes.length);
  let hash = 0xcbf29ce484222325n;
  for (const b of file.subarray(64)) hash = BigInt.asUintN(64, (hash ^ BigInt(b)) * 1099511628211n);
  file.write('FTOK');
  [2, 2, 257].forEach((v, i) => file.writeUInt32LE(v, 4 + 4 * i));
  [BigInt(bytes.length), 1n, hash].forEach((v, i) => file.writeBigUInt64LE(v, 16 + 8 * i));
  file.writeUInt32LE(VOCABULARY.length, 40);
  return file;
}

beforeAll(async () => {
  t = await makeTenant(ready);
  const { dataset_id } = must(await t.api.post('/v1/datasets', { name: 'text' }), 201);
  const raw = shard('the water of falaj flows. '.repeat(150));
  must(await t.api.post(`/v1/datasets/${dataset_id}/versions?format=tokens`, undefined, { raw, headers: {
    'content-type': 'application/octet-stream' } }), 201);
  const job = await train(t.api, dataset_id, { family: 'gpt', rms_norm: true, rotary: true, gated: true, layers: 1, width: 32,
    heads: 2, context: CONTEXT, epochs: 30, batch_size: 8, learning_rate: 0.01 });
  const model = must(await t.api.post('/v1/models', { name: 'writer', job_id: job.job_id }), 201);
  deployment = must(await t.api.post('/v1/deployments', { name: 'writer', model_id: model.model_id, max_sequences: SLOTS,
    max_queue_size: QUEUE, weight_bits: 32 }), 201);
  await until(() => t.api.get(`${path}/ready`), 200, 120_000);
}, 240_000);

const generate = (body: object, api = t.api, at = path): Promise<Reply> => api('POST', `${at}/generate`, { body });
const ask = (text: string, parameters = {}) => ({ text_input: text, parameters });

/** An open stream. */
function open(body: object, token = t.token): Promise<{ call: ClientRequest; response: IncomingMessage }> {
  return new Promise((done, fail) => {
    const { hostname, port } = new URL(ready.api_url);
    const call = request({ hostname, port, path: `${path}/generate_stream`, method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    (response) => done({ call, response }));
    call.on('error', fail);
    call.end(JSON.stringify(body));
  });
}

async function stream(body: object): Promise<any[]> {
  const { response } = await open(body);
  let all = '';
  for await (const piece of response) all += piece;
  expect(response.statusCode, all).toBe(200);
  expect(response.headers['content-type']).toBe('text/event-stream');
  return all.split('\n\n').filter(Boolean).map((e) => JSON.parse(/^data: (.*)$/.exec(e)![1]!));
}

test('a deployed decoder goes on from a prompt as it learnt, and says how it ended', async () => {
  const reply = must(await generate({ id: 'mine', ...ask('the water of ', { max_tokens: 13 }) }), 200);
  expect(reply).toEqual({ model_name: 'writer', model_version: '1', id: 'mine', text_output: 'falaj flows. ',
    finish_reason: 'length', prompt_tokens: 13, generated_tokens: 13 });
  expect(must(await generate(ask('the water of ', { max_tokens: 40, stop: ['flow', 'x'] })), 200)).toMatchObject({
    text_output: 'falaj ', finish_reason: 'stop' });
  expect(must(await generate(ask('the w', { stop_tokens: ['t'.charCodeAt(0)], max_tokens: 30 })), 200).text_output).toBe('a');
  expect(must(await generate(ask('the water of '), t.api, `${path}/versions/1`), 200).generated_tokens).toBe(CONTEXT - 13);
  const ids = { input_ids: [...Buffer.from('of fal')], parameters: { max_tokens: 2 } };
  expect(must(await generate(ids), 200).text_output).toBe('aj');
});

test('a stream gives the same text token by token, and an end', async () => {
  const body = ask('falaj ', { max_tokens: 20, temperature: 2, seed: 11 });
  const whole = must(await generate(body), 200);
  const events = await stream(body);
  expect(events.length).toBe(whole.generated_tokens + 1);
  expect(events.map((e) => e.text_output).join('')).toBe(whole.text_output);
  expect(events.at(-1)).toMatchObject({ finish_reason: 'length', seed: 11, generated_tokens: 20 });
  expect(events.slice(0, -1).every((e) => !('finish_reason' in e))).toBe(true);
});

test('the seed decides, whoever else is asking; without one the answer names what was drawn with', async () => {
  const hot = (seed?: number) => ask('the ', { max_tokens: 30, temperature: 3, ...(seed === undefined ? {} : { seed }) });
  const alone = must(await generate(hot(5)), 200).text_output;
  const together = await Promise.all([5, 6, 5, 7, 5].map((seed) => generate(hot(seed))));
  const texts = together.map((r) => must(r, 200).text_output);
  expect([texts[0], texts[2], texts[4]]).toEqual([alone, alone, alone]);
  expect(new Set(texts).size).toBe(3);
  const drawn = must(await generate(hot()), 200);
  expect(must(await generate(hot(drawn.seed)), 200).text_output).toBe(drawn.text_output);
});

test('bad input is named, and nobody else sees the model', async () => {
  const bad: [object, RegExp][] = [
    [{}, /text_input or input_ids is expected/],
    [ask('x', { max_token: 3 }), /"max_token" is not known/],
    [ask('x', { temperature: -1 }), /parameters\.temperature: a number from 0/],
    [ask('x', { max_tokens: CONTEXT }), /the prompt has 1 tokens and 64 more are asked for; the model has room for 64/],
    [ask('y'.repeat(CONTEXT + 1)), /more than the 64 tokens/],
    [{ input_ids: [257] }, /item 0 is no token: a whole number below 257/],
  ];
  for (const [body, why] of bad)
    for (const at of ['generate', 'generate_stream']) {
      const reply = await t.api('POST', `${path}/${at}`, { body });
      expect(reply.status, reply.text).toBe(400);
      expect(reply.json.error).toMatch(why);
    }
  const other = await makeTenant(ready);
  for (const at of ['generate', 'generate_stream'])
    expect((await other.api('POST', `${path}/${at}`, { body: ask('x') })).status).toBe(404);
  expect((await generate(ask('x'), t.api, `${path}/versions/2`)).status).toBe(404);
  expect(must(await t.api.get('/v2'), 200).extensions).toContain('generate');
});

test('who leaves gives the place back, and who asks for more than may wait is told to come again', async () => {
  const long = ask('the ', { max_tokens: CONTEXT - 4, temperature: 1 });
  for (let i = 0; i < 8; i++) {
    const { call, response } = await open(long);
    expect(response.statusCode).toBe(200);
    call.destroy();
  }
  must(await generate(ask('the ', { max_tokens: 1 })), 200);
  // More at once each time, until it was too much: a small model is quick, and a new connection has two seconds to be made.
  let refused: IncomingMessage | undefined;
  for (let round = 0; round < 20 && !refused; round++) {
    const all = await Promise.all(Array.from({ length: 6 + 2 * round }, () => open(long)));
    for (const { response } of all) {
      expect([200, 429]).toContain(response.statusCode);
      if (response.statusCode === 429) refused = response;
      response.resume();
    }
  }
  expect(refused?.headers['retry-after']).toBe('1');
  must(await generate(ask('the ', { max_tokens: 1 })), 200);
});

test('falaj generate shows the text, whole, as it is made, and as JSON', async () => {
  const env = { ...process.env, FALAJ_URL: ready.api_url, FALAJ_TOKEN: t.token };
  const falaj = (...args: string[]): Promise<string> =>
    new Promise((done, fail) => execFile(binary('falaj'), ['generate', 'writer', ...args], { env },
      (e, out, err) => (e ? fail(new Error(err)) : done(out))));
  expect(await falaj('the water of ', '--max-tokens', '13')).toBe('falaj flows. \n');
  expect(await falaj('the water of ', '--max-tokens', '40', '--stop', 'flow', '--stream')).toBe('falaj \n');
  expect(await falaj('--tokens', [...Buffer.from('of fal')].join(','), '--max-tokens', '2')).toBe('aj\n');
  const hot = ['the ', '--temperature', '3', '--seed', '5', '--top-k', '50', '--top-p', '0.9', '--max-tokens', '9'];
  expect(await falaj(...hot, '--stream')).toBe(await falaj(...hot));
  expect(JSON.parse(await falaj('the water of ', '--max-tokens', '1', '-o', 'json')).generated_tokens).toBe(1);
});

test('calls are counted, and the settings of a decoder are the deployment\'s', async () => {
  const stats = must(await t.api.get(`/v1/deployments/${deployment.deployment_id}/stats`), 200);
  expect(stats.windows[0].requests).toBeGreaterThan(20);
  expect(stats.windows[0].refused).toBeGreaterThan(6);
  expect(stats.windows[0].tokens).toBeGreaterThan(100);
  expect(stats.windows[0].tokens_per_second).toBeGreaterThan(0);
  expect(stats.windows[0].first_p50_ms).toBeLessThanOrEqual(stats.windows[0].first_p95_ms);
  expect(stats.windows[0].gap_p50_ms).toBeGreaterThan(0);
  const now = must(await t.api.get(`/v1/deployments/${deployment.deployment_id}`), 200);
  expect(now).toMatchObject({ max_sequences: SLOTS, max_context: 0, weight_bits: 32 });
  const reply = await t.api.post('/v1/deployments', { name: 'other', model_id: deployment.model_id, weight_bits: 33 });
  expect(problemOf(reply).errors[0]!.pointer).toBe('/weight_bits');
  const metrics = await (await fetch(ready.metrics['api']!)).text();
  expect(Number(/^falaj_text_tokens_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(100);
  expect(metrics).toMatch(/^falaj_text_token_gap_seconds_count [1-9]/m);
});
