// SPDX-License-Identifier: Apache-2.0
// verify.test.ts - the browser's verifier: the stored bundles, nine kinds of tampering on many random logs, and wholes that are cut or
// mixed. Each bundle goes to a folder, docs/verify-audit.py and falaj-verify read it too, and all must say the same of the same entry.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyBundle, type Options, type Verdict } from '../../src/lib/audit-verify.ts';
import {
  head,
  joined,
  makeEvent,
  makeKey,
  makeLines,
  makeLog,
  random,
  rechain,
  record,
  renumber,
  sha,
  TENANT_A,
  TENANT_B,
  type Lines,
  type Log,
} from './fixture.ts';

const root = resolve(import.meta.dirname, '../../..');
const ROUNDS = process.env['FALAJ_TIER'] === 'full' ? 100 : 8;
const right = makeKey(),
  wrong = makeKey();
const hexKey = Buffer.from(right.public).toString('hex');
const dir = mkdtempSync(join(tmpdir(), 'falaj-verify-'));
afterAll(() => rmSync(dir, { recursive: true }));
const bins = [process.env['FALAJ_BIN'], join(root, 'build/asan/bin'), join(root, 'build/release/bin')];
const program = bins
  .filter((b) => b !== undefined)
  .map((b) => join(b, 'falaj-verify'))
  .find((b) => existsSync(b));

async function* pieces(data: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield Uint8Array.from(data.subarray(at, at + size));
}
/** In pieces of an odd size, so that lines lie across them. */
const verify = (data: Uint8Array, o: Options = { pinned: [right.public] }): Promise<Verdict> =>
  verifyBundle(pieces(data, 4099), o);

const said: { path: string; verdict: string }[] = [];
async function judge(data: Uint8Array): Promise<Verdict> {
  const v = await verify(data);
  const path = join(dir, `${said.length}.jsonl`);
  writeFileSync(path, data);
  said.push({ path, verdict: `${v.result} ${v.tseq}` });
  return v;
}
const wants = async (data: Uint8Array, result: string, tseq: number, why: string): Promise<void> => {
  const v = await judge(data);
  expect(`${v.result} ${v.tseq}`, why).toBe(`${result} ${tseq}`);
};

type Mutation = (s: Lines, log: Log, t: number, care: number) => [Lines, string, number];
const put = (s: Lines, at: number, drop: number, ...add: string[]): Lines => ({
  ...s,
  lines: s.lines.toSpliced(at, drop, ...add),
});
const chained = (log: Log, t: number, leaf: Buffer): Buffer =>
  sha(
    Buffer.from([2]),
    t > 1 ? log.chain[t - 2]! : sha('falaj-audit-v1', Buffer.from(log.tenant.replaceAll('-', ''), 'hex')),
    leaf,
  );
const strange = (log: Log, t: number, body: string, fits: boolean): string => {
  const leaf = sha(Buffer.from([0]), body);
  const one: Log = {
    tenant: log.tenant,
    bodies: [body],
    leaves: [leaf],
    chain: [fits ? chained(log, t, leaf) : sha('x')],
  };
  return record(one, 1, t);
};
const KINDS: Record<string, [number, Mutation]> = {
  edit: [
    2,
    (s, log, t, care) => {
      const body = log.bodies[t - 1]!.replace(
        /"gpus":(\d)/,
        (_, n: string) => `"gpus":${n === '9' ? '1' : Number(n) + 1}`,
      );
      const leaves = log.leaves.with(t - 1, care > 0 ? sha(Buffer.from([0]), body) : log.leaves[t - 1]!);
      return [put(s, t, 1, record({ ...log, leaves }, t, t, body)), 'edited', t];
    },
  ],
  delete: [2, (s, _l, t, care) => [care > 0 ? renumber(put(s, t, 1)) : put(s, t, 1), 'deleted', t]],
  tail: [1, (s, _l, t) => [{ ...s, lines: s.lines.slice(0, t) }, 'truncated', t]],
  insert: [
    3,
    (s, log, t, care) => {
      const more = put(s, t, 0, strange(log, t, makeEvent(log.tenant, random(t)), care > 0));
      return [care > 1 ? renumber(more) : more, 'inserted', t];
    },
  ],
  swap: [
    2,
    (s, log, t, care) => {
      const u = care === 1 || t + 3 > log.bodies.length ? t + 1 : t + 3;
      const lines = s.lines.with(t, s.lines[u]!).with(u, s.lines[t]!);
      return [care === 1 ? renumber({ ...s, lines }) : { ...s, lines }, 'swapped', t];
    },
  ],
  duplicate: [
    2,
    (s, log, t, care) => {
      const more = put(s, t + 1, 0, record(log, t));
      return [care > 0 ? renumber(more) : more, 'duplicated', t + 1];
    },
  ],
  splice: [
    2,
    (s, log, t, care) => {
      const other = makeLog(TENANT_B, log.bodies.length, t);
      return [put(s, t, 1, care > 0 ? strange(log, t, other.bodies[t - 1]!, true) : record(other, t)), 'spliced', t];
    },
  ],
};
/** A log of one entry more whose entry t is another, signed with the right key; the head from before stands in it to be extended. */
function fork(log: Log, t: number, hasCheckpoint: boolean, seed: number): Lines {
  const rnd = random(seed);
  const bodies = [...log.bodies.with(t - 1, makeEvent(log.tenant, rnd)), makeEvent(log.tenant, rnd)];
  const other = rechain({ ...log, bodies });
  const s = makeLines(other, right, {
    previous: log.bodies.length,
    previousHead: head(log, log.bodies.length, right).text,
  });
  return hasCheckpoint && t > 1 ? put(s, t, 0, `{"checkpoint":${head(log, t - 1, right).text}}}`) : s;
}

describe('the stored bundles', () => {
  const folder = join(root, 'tests/fuzz/corpus/fuzz_bundle');
  test.each(readdirSync(folder).filter((f) => f.endsWith('.jsonl')))('%s', async (f) => {
    const path = join(folder, f);
    const v = await verify(readFileSync(path), { trustEmbedded: true });
    const python = spawnSync('python3', [join(root, 'docs/verify-audit.py'), '--trust-embedded-key', '-'], {
      input: `${path}\n`,
      encoding: 'utf8',
    });
    expect(`${v.result} ${v.tseq} ${path}`).toBe(python.stdout.trim());
    expect(v.signature).toBe('own');
  });
});

describe('tampering', () => {
  test('is found: nine kinds on random logs, at their entries', { timeout: 120_000 }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const rnd = random(round * 7919 + 1);
      const n = 4 + rnd(40);
      const log = makeLog(TENANT_A, n, round * 7919 + 1);
      const whole = makeLines(log, right);
      await wants(joined(whole), 'ok', 0, `none, round ${round}`);
      for (const [name, [cares, mutate]] of Object.entries(KINDS)) {
        const [s, result, tseq] = mutate(whole, log, 1 + rnd(n - 1), round % cares);
        await wants(joined(s), result, tseq, `${name}, round ${round}`);
      }
      const t = 1 + rnd(n),
        has = round % 4 === 0;
      await wants(joined(fork(log, t, has, round + 1)), 'forked', has ? t : 1, `fork, round ${round}`);
      await wants(joined(makeLines(log, wrong)), 'wrong_key', 0, `key, round ${round}`);
    }
  });
  test('of bundles as a whole: cut, joined, mixed, reversed, without a body', { timeout: 120_000 }, async () => {
    for (let round = 0; round < Math.min(ROUNDS, 20); round++) {
      const rnd = random(round + 1);
      const log = makeLog(TENANT_A, 24, round + 1),
        other = makeLog(round % 2 ? TENANT_A : TENANT_B, 24, round + 99);
      const o = { from: 1 + (round % 5), to: 24 - (round % 3), checkpoint: 9 };
      const a = makeLines(log, right, o),
        b = makeLines(other, right, o),
        some = makeLines(log, right, { action: 'job.', previous: 5 + (round % 19) });
      expect((await judge(joined(a))).result).toBe('ok');
      expect((await judge(joined(some))).result).toBe('ok');
      expect((await judge(joined(a).subarray(0, rnd(joined(a).length)))).result).not.toBe('ok');
      expect((await judge(Buffer.concat([joined(a), joined(b)]))).result).toBe('malformed');
      const mixed = { ...a, lines: [a.lines[0]!, ...b.lines.slice(1)] };
      expect((await judge(joined(mixed))).result).not.toBe('ok');
      const half = 1 + rnd(a.lines.length - 1);
      const halves = { ...a, lines: [...a.lines.slice(0, half), ...b.lines.slice(half)] };
      expect((await judge(joined(halves))).result).not.toBe('ok');
      const back = { ...a, lines: [a.lines[0]!, ...a.lines.slice(1).reverse()] };
      expect((await judge(joined(back))).result).not.toBe('ok');
      if (some.lines.length > 2) {
        const lines = some.lines.with(1, some.lines[2]!).with(2, some.lines[1]!);
        expect((await judge(joined({ ...some, lines }))).result).not.toBe('ok');
      }
      const dropped = 1 + (round % 24);
      await wants(joined(makeLines(log, right, { dropped })), 'edited', dropped, `dropped, round ${round}`);
    }
  });
  test('of a stranger in a selection: what the filter would not have let through', async () => {
    const log = makeLog(TENANT_A, 30, 5);
    const some = makeLines(log, right, { action: 'job.' });
    const first = some.lines[0]!.replace('"action":"job."', '"action":"auth."');
    await wants(
      joined({ ...some, lines: [first, ...some.lines.slice(1)] }),
      'inserted',
      Number(/\d+/.exec(some.lines[1]!)![0]),
      '',
    );
  });
  test('is called the same by the two other verifiers', () => {
    expect(said.length).toBeGreaterThan(10 * ROUNDS);
    const input = said.map((s) => `${s.path}\n`).join('');
    const args = [join(root, 'docs/verify-audit.py'), '--key', hexKey, '-'];
    const python = execFileSync('python3', args, { input, encoding: 'utf8', maxBuffer: 1 << 26 });
    expect(python.trim().split('\n')).toEqual(said.map((s) => `${s.verdict} ${s.path}`));
    for (const s of program ? said : []) {
      const out = spawnSync(program!, ['--json', '--key', hexKey, s.path], { encoding: 'utf8' });
      const json = JSON.parse(out.stdout) as { result: string; tseq: number };
      expect(`${json.result} ${json.tseq}`, s.path).toBe(s.verdict);
    }
  }, 180_000);
});

describe('trust and limits', () => {
  const log = makeLog(TENANT_A, 40, 3);
  test('without a pinned key the bundle is only shown to fit itself', async () => {
    expect((await verify(joined(makeLines(log, wrong)), {})).result).toBe('wrong_key');
    const v = await verify(joined(makeLines(log, wrong)), { trustEmbedded: true });
    expect([v.result, v.signature, v.key]).toEqual(['ok', 'own', wrong.id]);
  });
  test('any head extends any earlier one', async () => {
    for (let previous = 1; previous < 40; previous++)
      expect((await verify(joined(makeLines(log, right, { previous, action: 'job.' })))).result, `${previous}`).toBe(
        'ok',
      );
  });
  test('a file too long for one digest is judged by its tree, and says that its digest was not compared', async () => {
    const data = joined(makeLines(log, right));
    expect(await verify(data)).toMatchObject({ result: 'ok', digest: true, count: 40, size: 40, bytes: data.length });
    expect(await verify(data, { pinned: [right.public], digestMax: 1000 })).toMatchObject({
      result: 'ok',
      digest: false,
    });
  });
  test('a line longer than the limit, an empty file and no bundle at all are malformed', async () => {
    const long = { lines: [...makeLines(log, right).lines, 'x'.repeat(70_000)], sig: '' };
    expect((await verify(joined(long))).result).toBe('malformed');
    expect((await verify(new Uint8Array())).result).toBe('malformed');
    expect((await verify(Buffer.from('hello\n'))).result).toBe('malformed');
  });
});
