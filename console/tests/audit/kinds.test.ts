// SPDX-License-Identifier: Apache-2.0
// kinds.test.ts - every kind of tampering at random places, judged by falaj-verify, docs/verify-audit.py and the browser.
// All must refuse with the same word at the same entry, and accept what is whole. Default tier: few places, always the same.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyBundle } from '../../src/lib/audit-verify.ts';
import { makeKey } from './fixture.ts';
import { makePlace, type Kind } from './kinds-tools.ts';
import { KINDS, WHOLE } from './kinds.ts';

const root = resolve(import.meta.dirname, '../../..');
const PLACES = process.env['FALAJ_TIER'] === 'full' ? 20 : 2;
const right = makeKey(),
  wrong = makeKey();
const hexKey = Buffer.from(right.public).toString('hex');
const dir = mkdtempSync(join(tmpdir(), 'falaj-kinds-'));
afterAll(() => rmSync(dir, { recursive: true }), 120_000);
const bins = [process.env['FALAJ_BIN'], join(root, 'build/asan/bin'), join(root, 'build/release/bin')];
const program = bins.flatMap((b) => (b ? [join(b, 'falaj-verify')] : [])).find((b) => existsSync(b));

async function* pieces(data: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += 4099) yield Uint8Array.from(data.subarray(at, at + 4099));
}
const seen: { name: string; path: string; browser: string; isWhole: boolean }[] = [];
async function judge(name: string, kind: Kind, place: number, isWhole: boolean): Promise<void> {
  let data: Buffer;
  try {
    data = kind(makePlace(place * 7919 + 17, right, wrong));
  } catch (e) {
    throw new Error(`${name}, place ${place}`, { cause: e });
  }
  const path = join(dir, `${seen.length}.jsonl`);
  writeFileSync(path, data);
  const v = await verifyBundle(pieces(data), { pinned: [right.public] });
  seen.push({ name: `${name}, place ${place}`, path, browser: `${v.result} ${v.tseq}`, isWhole });
}
const table = (said: string[]): string[] => seen.map((s, i) => `${s.name}: ${said[i]}`);

test('there are a hundred kinds at least', () => {
  expect(Object.keys(KINDS).length).toBeGreaterThanOrEqual(100);
});
test('the browser accepts what is whole and nothing else', { timeout: 600_000 }, async () => {
  for (let place = 0; place < PLACES; place++) {
    for (const [name, kind] of Object.entries(WHOLE)) await judge(name, kind, place, true);
    for (const [name, kind] of Object.entries(KINDS)) await judge(name, kind, place, false);
  }
  console.log(`share: ${PLACES} of 20 places for each of ${Object.keys(KINDS).length} kinds of tampering`);
  const wrongly = seen.filter((s) => (s.browser === 'ok 0') !== s.isWhole);
  expect(wrongly.map((s) => `${s.name}: ${s.browser}`)).toEqual([]);
});
test('the second verifier says the same words of the same entries', { timeout: 600_000 }, () => {
  const args = [join(root, 'docs/verify-audit.py'), '--key', hexKey, '-'];
  const input = seen.map((s) => `${s.path}\n`).join('');
  const said = execFileSync('python3', args, { input, encoding: 'utf8', maxBuffer: 1 << 26 })
    .trim()
    .split('\n');
  expect(table(said.map((s) => s.split(' ').slice(0, 2).join(' ')))).toEqual(table(seen.map((s) => s.browser)));
});
test('falaj-verify says the same words of the same entries', { timeout: 600_000 }, () => {
  expect(program, 'falaj-verify is not built').toBeDefined();
  const said: string[] = [];
  for (let i = 0; i < seen.length; i += 200) {
    const paths = seen.slice(i, i + 200).map((s) => s.path);
    const out = spawnSync(program!, ['--json', '--key', hexKey, ...paths], { encoding: 'utf8', maxBuffer: 1 << 26 });
    expect([0, 2]).toContain(out.status);
    for (const line of out.stdout.trim().split('\n')) {
      const v = JSON.parse(line) as { result: string; tseq: number };
      said.push(`${v.result} ${v.tseq}`);
    }
  }
  expect(table(said)).toEqual(table(seen.map((s) => s.browser)));
});
