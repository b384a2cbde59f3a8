// SPDX-License-Identifier: Apache-2.0
// fork.test.ts - what a browser saves when a log breaks is judged the same by falaj-verify and docs/verify-audit.py: it convicts
// exactly where one key signed two histories and the server's own proof shows it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evidenceOf, follow, type Fork, type Offered, type Pin } from '../../src/lib/proof.ts';
import { consistency, head, makeKey, makeLog, TENANT_A, type Key, type Log } from './fixture.ts';

const root = resolve(import.meta.dirname, '../../..');
const bins = [process.env['FALAJ_BIN'], join(root, 'build/asan/bin'), join(root, 'build/release/bin')];
const program = bins.flatMap((b) => (b ? [join(b, 'falaj-verify')] : [])).find((b) => existsSync(b));
const dir = mkdtempSync(join(tmpdir(), 'falaj-fork-'));
afterAll(() => rmSync(dir, { recursive: true }), 120_000);

const right = makeKey(),
  wrong = makeKey();
const honest = makeLog(TENANT_A, 20, 5),
  forged = makeLog(TENANT_A, 20, 6);
const keys = [right, wrong].map((k) => ({ key_id: k.id, public_key: Buffer.from(k.public).toString('base64') }));
const isFull = process.env['FALAJ_TIER'] === 'full';
const NOW = '2026-11-22T15:08:00Z';

function offer(log: Log, size: number, key: Key): Offered {
  const { text, sig } = head(log, size, key);
  const body = (JSON.parse(`${text}}`) as { body: string }).body;
  return {
    head: JSON.parse(Buffer.from(body, 'base64').toString()) as unknown,
    signature: Buffer.from(sig, 'base64').toString('hex'),
  };
}
const serve =
  (log: Log) =>
  (m: number, n: number): Promise<string[]> =>
    Promise.resolve(consistency(m, log.leaves.slice(0, n)).map((h) => h.toString('hex')));
const spoilt = (): Promise<string[]> => Promise.resolve(['ab'.repeat(32)]);
async function pinAt(size: number): Promise<Pin> {
  const r = await follow(null, offer(honest, size, right), keys, serve(honest), NOW);
  return 'pin' in r ? r.pin : expect.fail(JSON.stringify(r));
}
async function broken(size: number, offered: Offered, from = serve(forged)): Promise<Fork> {
  const r = await follow(await pinAt(size), offered, keys, from, NOW);
  return 'fork' in r ? r.fork : expect.fail(JSON.stringify(r));
}
/** Both programs' first word and reason, and that their exit status is the same one. */
function judged(text: string, key = right): string {
  const path = join(dir, 'fork.json');
  writeFileSync(path, text);
  const hexKey = Buffer.from(key.public).toString('hex');
  const c = spawnSync(program!, ['fork', '--key', hexKey, path], { encoding: 'utf8' });
  const py = spawnSync('python3', [join(root, 'docs/verify-audit.py'), 'fork', '--key', hexKey, path], {
    encoding: 'utf8',
  });
  const last = (said: string): string => said.trim().split('\n').at(-1)!;
  expect(`${py.status} ${last(py.stdout)}`).toBe(`${c.status} ${last(c.stdout)}`);
  expect(c.status).toBe(last(c.stdout).startsWith('CONVICTS') ? 0 : 2);
  return last(c.stdout);
}
const CONVICTS = 'CONVICTS: one key signed both heads, and they cannot both be of one log';

test('falaj-verify is built', () => expect(program).toBeDefined());
test('two histories convict, at one size and from any size that is held', { timeout: 120_000 }, async () => {
  for (const size of isFull ? [3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18, 19] : [3, 8, 13]) {
    expect(judged(evidenceOf(await broken(size, offer(forged, size, right))))).toBe(CONVICTS);
    expect(judged(evidenceOf(await broken(size, offer(forged, 20, right))))).toBe(CONVICTS);
  }
});
test('what shows nothing convicts nobody, and both programs say why', { timeout: 120_000 }, async () => {
  const fork = await broken(7, offer(forged, 20, right));
  const file = evidenceOf(fork);
  expect(judged(file, wrong)).toBe('REFUSED: a head is not signed by a key that was given');
  expect(judged(evidenceOf({ ...fork, root: '' }))).toBe('REFUSED: the proof does not lead to the second head');
  expect(judged(evidenceOf(await broken(7, offer(forged, 20, right), spoilt)))).toBe(
    'REFUSED: the proof does not lead to the second head',
  );
  expect(judged(evidenceOf(await broken(7, offer(honest, 5, right))))).toBe(
    'REFUSED: the proof does not lead to the second head',
  );
  expect(judged(evidenceOf(await broken(7, offer(forged, 9, wrong))))).toBe(
    'REFUSED: a head is not signed by a key that was given',
  );
  expect(judged(evidenceOf({ ...fork, seen: fork.held, proof: [], root: (await pinAt(7)).root }))).toBe(
    'REFUSED: the heads say the same',
  );
  expect(judged(evidenceOf({ ...fork, held: fork.seen, seen: fork.held }))).toBe(
    'REFUSED: the first head is larger than the second',
  );
  expect(judged(evidenceOf({ ...fork, root: (await pinAt(7)).root }))).toBe(
    'REFUSED: the second head extends the first',
  );
  for (const bad of [
    '',
    '{}',
    file.slice(0, -2),
    `${file}${file}`,
    ` ${file}`,
    file.replace('falaj-fork-v1', 'falaj-fork-v2'),
    file.replace('"root":"', '"root":"G'),
  ])
    expect(judged(bad)).toBe('REFUSED: the file is no fork');
});
test('every changed character takes the conviction away, and both programs say so', { timeout: 300_000 }, async () => {
  const file = evidenceOf(await broken(7, offer(forged, 12, right)));
  const step = isFull ? 1 : 401;
  for (let i = 0; i < file.length - 1; i += step) {
    const other = file[i] === 'A' ? 'B' : 'A';
    expect(judged(file.slice(0, i) + other + file.slice(i + 1)), `character ${i}`).not.toBe(CONVICTS);
  }
});
