// SPDX-License-Identifier: Apache-2.0
// proof.test.ts - a browser follows a log that grows, and no other one: keys and trees are real, only the server is this file.
import { generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { hex, leafOf, nodeOf, type Bytes } from '../src/lib/audit-verify-hash.ts';
import { evidenceOf, follow, type Offered, type Pin, type Result } from '../src/lib/proof.ts';

const NOW = '2026-11-22T15:08:00Z';
const ID = 'ab'.repeat(32);
const pair = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const keys = [
  { key_id: ID, public_key: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64') },
];
const leaf = (text: string): Promise<Bytes> => leafOf(new TextEncoder().encode(text));

/** A tree of RFC 9162 by its definition. */
async function root(leaves: Bytes[]): Promise<Bytes> {
  if (leaves.length === 1) return leaves[0]!;
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return nodeOf(await root(leaves.slice(0, k)), await root(leaves.slice(k)));
}
/** PROOF(m, D[n]) of RFC 9162 §2.1.4.1. */
async function subproof(m: number, leaves: Bytes[], whole: boolean): Promise<Bytes[]> {
  if (m === leaves.length) return whole ? [] : [await root(leaves)];
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return m <= k
    ? [...(await subproof(m, leaves.slice(0, k), whole)), await root(leaves.slice(k))]
    : [...(await subproof(m - k, leaves.slice(k), false)), await root(leaves.slice(0, k))];
}
async function headOf(leaves: Bytes[], by = pair, keyId = ID): Promise<Offered> {
  const head = {
    v: 1,
    log_id: '01a20722-56aa-7880-8212-b3053e2e4cbb',
    zone: 'ae-dxb-1',
    size: leaves.length,
    root: hex(await root(leaves)),
    chain: 'cd'.repeat(32),
    ts_us: 1_795_416_088_712_169,
    prev_sth_hash: 'ef'.repeat(32),
    key_id: keyId,
  };
  return { head, signature: sign(null, Buffer.from(JSON.stringify(head)), by.privateKey).toString('hex') };
}
let honest: Bytes[] = [];
let forged: Bytes[] = [];
beforeAll(async () => {
  honest = await Promise.all(Array.from({ length: 13 }, (_x, i) => leaf(`event ${i}`)));
  forged = [...honest];
  forged[2] = await leaf('event 2, but not as it was');
});
/** As the server whose log these leaves are. */
const serve = (leaves: Bytes[]) => async (m: number, n: number) =>
  (await subproof(m, leaves.slice(0, n), true)).map(hex);
const step = async (pin: Pin | null, leaves: Bytes[], n: number, offered?: Offered): Promise<Result> =>
  follow(pin, offered ?? (await headOf(leaves.slice(0, n))), keys, serve(leaves), NOW);
const pinned = (r: Result): Pin => ('pin' in r ? r.pin : expect.fail(JSON.stringify(r)));
const how = (r: Result): string => ('fork' in r ? r.fork.how : 'none');

describe('a log that this browser follows', () => {
  it('is held at first sight, and at every size that it grows to', async () => {
    for (const from of [1, 2, 5, 8]) {
      const first = pinned(await step(null, honest, from));
      for (const to of [8, 9, 13]) {
        const second = pinned(await step(first, honest, to));
        expect([second.size, second.checks, second.since]).toEqual([to, 2, NOW]);
      }
    }
  }, 60_000);
  it('is no longer believed once an old event has changed, at any larger size and at the same one', async () => {
    const pin = pinned(await step(null, honest, 7));
    for (const to of [7, 8, 13]) expect(how(await step(pin, forged, to))).toBe('forked');
  });
  it('may not become shorter, nor be signed by another key or by none', async () => {
    const pin = pinned(await step(null, honest, 7));
    expect(how(await step(pin, honest, 5))).toBe('short');
    expect(how(await step(pin, honest, 9, await headOf(honest.slice(0, 9), other)))).toBe('unsigned');
    expect(how(await step(pin, honest, 9, await headOf(honest.slice(0, 9), other, 'cd'.repeat(32))))).toBe('stranger');
    expect(how(await step(pin, honest, 9, { head: { size: 9 }, signature: '' }))).toBe('unsigned');
  });
  it('gives both heads, signed, as evidence of a fork', async () => {
    const pin = pinned(await step(null, honest, 7));
    const r = await step(pin, forged, 9);
    const said = JSON.parse(evidenceOf('fork' in r ? r.fork : expect.fail('no fork'))) as Record<string, unknown>;
    expect(Object.keys(said)).toEqual(['format', 'a', 'b', 'root', 'proof']);
    expect(said['root']).toBe(hex(await root(forged.slice(0, 7))));
    for (const one of ['a', 'b'])
      expect((JSON.parse(atob((said[one] as { body: string }).body)) as { v: number }).v).toBe(1);
  });
});
