// SPDX-License-Identifier: Apache-2.0
// uploads.mjs - a large file on a line that is lost, paused, left behind by a reload, and given up: it goes on where it was, or nothing is kept.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settled } from '../checks.mjs';
import { Hand, W } from '../hand.mjs';
import { until } from '../platform.mjs';

const PART = 4 * 1024 * 1024;

/** The file in the dialog of the page, looked at and hashed. */
async function attach(h, file) {
  await h.click('button', W('datasets.upload'));
  await h.attach(W('datasets.browse'), file);
  await h.dialog.locator('.digest').waitFor({ timeout: 30_000 });
}

export async function uploads(t) {
  const h = await Hand.of(t, 'admin');
  const { dataset_id: id } = await t.tenant('POST', '/v1/datasets', {
    name: 'acts-large',
    label_column: 'label',
    classes: 2,
  });
  const dir = mkdtempSync(join(tmpdir(), 'falaj-acts-'));
  const file = join(dir, 'large.csv');
  const text = `${Array.from({ length: 100 }, (_, i) => `c${i}`).join(',')},label\n${`${'0.25,'.repeat(100)}1\n`.repeat(26_000)}`;
  writeFileSync(file, text);
  const cdp = await h.page.context().newCDPSession(h.page);
  const line = (uploadThroughput, offline = false) =>
    cdp.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput });
  const open = () =>
    h.page.evaluate((at) => fetch(at).then(async (r) => (await r.json()).data), `/v1/uploads?dataset_id=${id}`);
  const latest = async () => (await t.tenant('GET', `/v1/datasets/${id}`)).latest_version;
  const arrived = (n) => until(`${n} bytes are there`, async () => (await open())[0]?.offset >= n, 30_000);
  try {
    await h.go(`/datasets/${id}`);
    await attach(h, file);
    await line(1_500_000);
    await h.send('datasets.upload');
    await arrived(PART);

    h.page.offline = true;
    await line(-1, true);
    await h.dialog.getByText(W('datasets.lost')).waitFor();
    await h.page.screenshot({ path: join(t.shots, 'upload-lost.png') });
    await line(500_000);
    await h.dialog.getByText(W('datasets.lost')).waitFor({ state: 'detached', timeout: 30_000 });
    h.page.offline = false;

    await h.send('datasets.pause');
    await h.dialog.getByText(W('datasets.uploadKept')).waitFor();
    await h.page.screenshot({ path: join(t.shots, 'upload-paused.png') });
    const [paused] = await open();
    h.same(
      'what is announced',
      [paused.size_bytes, paused.sha256],
      [text.length, createHash('sha256').update(text).digest('hex')],
    );
    if (paused.offset < PART || paused.offset >= text.length) h.fault(`paused at ${paused.offset}`);

    await h.page.reload();
    await settled(h.page);
    await attach(h, file);
    await h.dialog.getByText(W('datasets.begunBody')).waitFor({ timeout: 15_000 });
    await h.page.screenshot({ path: join(t.shots, 'upload-begun.png') });
    let sent = 0;
    h.page.on('request', (r) => (sent += r.url().includes('/parts?') ? Number(r.headers()['content-length'] ?? 0) : 0));
    await line(-1);
    await h.send('datasets.goOn');
    await h.page.getByRole('dialog').waitFor({ state: 'detached', timeout: 60_000 });
    if (sent > text.length - paused.offset)
      h.fault(`${sent} bytes after ${paused.offset} of ${text.length} were there`);
    const version = (await t.tenant('GET', `/v1/datasets/${id}/versions`)).data[0];
    h.same('the version', [version.version, version.sha256], [1, paused.sha256]);
    h.same('what is open', await open(), []);

    writeFileSync(file, text.replace('c0', 'd0'));
    await attach(h, file);
    await line(300_000);
    await h.send('datasets.upload');
    await until('it is begun', async () => (await open()).length === 1, 15_000);
    await h.send('datasets.giveUp');
    await h.dialog.getByText(W('datasets.stopped')).waitFor();
    h.same('after giving up', [(await open()).length, await latest()], [0, 1]);
  } finally {
    await line(-1).catch(() => undefined);
    rmSync(dir, { recursive: true });
  }
}
