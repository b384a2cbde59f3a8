// SPDX-License-Identifier: Apache-2.0
// programs.mjs - what is not a table and its network: a decoder that writes, an image that programs run in, a job that runs one.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { until } from '../platform.mjs';

const VOCABULARY = 'falaj-bpe 1\n257\n';

/** Version 2 of core/data/tokens.h: bytes as tokens, and the vocabulary behind them. */
function shard(text) {
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

/** An archive as POSIX ustar has it, of files alone. */
function tar(files) {
  const parts = [];
  for (const [name, data] of files) {
    const head = Buffer.alloc(512);
    const octal = (n, at, width) => head.write(`${n.toString(8).padStart(width - 1, '0')}\0`, at);
    head.write(name);
    octal(0o644, 100, 8);
    octal(0, 108, 8);
    octal(0, 116, 8);
    octal(data.length, 124, 12);
    octal(0, 136, 12);
    head.fill(' ', 148, 156);
    head.write('0', 156);
    head.write('ustar\x0000', 257, 'latin1');
    const sum = head.reduce((a, b) => a + b, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    parts.push(head, data, Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** The least that is an image: an index, a manifest, settings, and a layer of one file. */
function image() {
  const files = [['oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')]];
  const hash = (data) => createHash('sha256').update(data).digest('hex');
  const blob = (data) => {
    files.push([`blobs/sha256/${hash(data)}`, data]);
    return { digest: `sha256:${hash(data)}`, size: data.length };
  };
  const json = (value) => Buffer.from(JSON.stringify(value));
  const type = (what) => ({ mediaType: `application/vnd.oci.image.${what}` });
  const layer = tar([['hello', Buffer.from('from an image\n')]]);
  const packed = blob(gzipSync(layer));
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  const rootfs = { type: 'layers', diff_ids: [`sha256:${hash(layer)}`] };
  const config = blob(json({ architecture, os: 'linux', config: {}, rootfs }));
  const layers = [{ ...type('layer.v1.tar+gzip'), ...packed }];
  const manifest = blob(json({ schemaVersion: 2, config: { ...type('config.v1+json'), ...config }, layers }));
  const manifests = [{ ...type('manifest.v1+json'), ...manifest }];
  files.push(['index.json', json({ schemaVersion: 2, manifests })]);
  return tar(files);
}

export async function seed(t) {
  const put = async (name, format, data) => {
    const set = await t.tenant('POST', '/v1/datasets', { name });
    const to = `/v1/datasets/${set.dataset_id}/versions?format=${format}`;
    await t.tenant('POST', to, data, 'application/octet-stream');
    return set.dataset_id;
  };
  t.ids.image = await put('python-slim', 'oci', image());
  const env = await t.tenant('POST', '/v1/environments', { name: 'python', dataset_id: t.ids.image });
  t.ids.environment = env.environment_id;
  t.ids.text = await put('text', 'tokens', shard('the water of falaj flows. '.repeat(60)));
  const spec = {
    dataset_id: t.ids.text,
    family: 'gpt',
    layers: 1,
    width: 32,
    heads: 2,
    context: 64,
    epochs: 2,
    batch_size: 8,
  };
  const job = await t.tenant('POST', '/v1/jobs', { name: 'writer', kind: 'train', spec });
  await until('the decoder', async () => (await t.tenant('GET', `/v1/jobs/${job.job_id}`)).state === 'COMPLETED');
  const model = await t.tenant('POST', '/v1/models', { name: 'writer', job_id: job.job_id });
  const writer = await t.tenant('POST', '/v1/deployments', { name: 'writer', model_id: model.model_id });
  await until('what writes', async () => (await t.tenant('GET', `/v1/deployments/${writer.deployment_id}`)).ready);
  t.ids.writer = writer.deployment_id;
}

export default [
  {
    name: 'deployment-text',
    path: (ids) => `/deployments/${ids.writer}`,
    as: 'engineer',
    act: async (page) => {
      await page.fill('#play-prompt', 'the water of ');
      await page.fill('#play-max_tokens', '20');
      await page.click('.play form button[type=submit]');
      // It is told how long it took where all of it is there, and only then.
      await page.locator('[aria-labelledby=answer-title] > .lead').waitFor();
    },
  },
  {
    name: 'deployment-text-refused',
    path: (ids) => `/deployments/${ids.writer}`,
    as: 'engineer',
    expected: [400, 422],
    act: async (page) => {
      await page.fill('#play-prompt', 'the water of falaj flows. '.repeat(9));
      await page.click('.play form button[type=submit]');
      await page.locator('.play .server-words').waitFor();
    },
  },
  { name: 'environments', path: '/environments', as: 'admin' },
  {
    name: 'environment-new',
    path: '/environments',
    as: 'admin',
    act: async (page) => {
      await page.getByRole('button', { name: /^(Import an image|استيراد صورة حاوية)$/ }).click();
      await page.waitForSelector('[role=dialog]');
    },
  },
  { name: 'environment', path: (ids) => `/environments/${ids.environment}`, as: 'viewer' },
  { name: 'environment-uses', path: (ids) => `/environments/${ids.environment}?tab=uses`, as: 'admin' },
  { name: 'dataset-image', path: (ids) => `/datasets/${ids.image}`, as: 'engineer' },
  {
    name: 'submit-run',
    path: '/jobs/new',
    as: 'engineer',
    act: async (page, t) => {
      const spec = `spec:\n  command: [/bin/true]\n  environment: ${t.ids.image}\n  secrets: ['env:HUB=hub-token']\n`;
      await page.locator('#yaml').fill(`name: in an image\nkind: run\n${spec}`);
      await page.locator('#f-spec-environment').waitFor();
      if ((await page.inputValue('#f-spec-environment')) !== t.ids.image)
        throw new Error('the form does not follow the text');
    },
  },
];
