// SPDX-License-Identifier: Apache-2.0
// audit-verify.ts - reads a bundle piece by piece, hands its lines on to be judged, and says what came of it.
//
// Memory: one batch of lines, two frontiers, and the file itself up to DIGEST_MAX, because WebCrypto digests only what lies in memory
// as a whole; of a longer file the last line's digest is not compared, and the verdict says so.
import { canCheckSignatures, sha256, type Bytes } from './audit-verify-hash.ts';
import { Verifier } from './audit-verify-judge.ts';
import { Refused, type Options, type Verdict } from './audit-verify-verdict.ts';

export type { Damage, Options, Verdict } from './audit-verify-verdict.ts';
const LINE_MAX = 65536;
const DIGEST_MAX = 256 * 1024 * 1024;
const BATCH_LINES = 1024;

/** Reads a bundle to its end, or to its first damage. progress: after each batch. */
export async function verifyBundle(
  from: AsyncIterable<Uint8Array>,
  options: Options = {},
  progress?: (now: Verdict) => void,
): Promise<Verdict> {
  const kept: Blob[] = [];
  const max = options.digestMax ?? DIGEST_MAX;
  let total = 0;
  const sumTo = async (at: number): Promise<Bytes | null> =>
    total > max ? null : sha256(new Uint8Array(await new Blob(kept).slice(0, at).arrayBuffer()));
  const v = new Verifier(options, await canCheckSignatures(), sumTo);
  let left: Bytes = new Uint8Array(),
    batch: { bytes: Bytes; at: number }[] = [];
  const flush = async (): Promise<void> => {
    const now = batch;
    batch = [];
    await v.lines(now);
    v.ret.bytes = total;
    progress?.(v.ret);
  };
  try {
    for await (const piece of from) {
      const start = total - left.length;
      total += piece.length;
      if (total <= max) kept.push(new Blob([piece as Bytes]));
      else kept.length = 0;
      const data = new Uint8Array(left.length + piece.length);
      data.set(left);
      data.set(piece, left.length);
      let at = 0;
      for (let nl = data.indexOf(10, left.length); nl >= 0; nl = data.indexOf(10, at)) {
        if (nl - at > LINE_MAX) {
          await flush();
          await v.finish('long');
        }
        batch.push({ bytes: data.subarray(at, nl), at: start + at });
        at = nl + 1;
        if (batch.length >= BATCH_LINES) await flush();
      }
      left = data.slice(at);
      if (left.length > LINE_MAX) {
        await flush();
        await v.finish('long');
      }
    }
    if (total <= max) options.kept?.(new Blob(kept, { type: 'application/jsonl' }));
    await flush();
    await v.finish(left.length > 0 ? 'cut' : 'end');
  } catch (e) {
    if (!(e instanceof Refused)) throw e;
    Object.assign(v.ret, { result: e.damage, tseq: e.tseq });
  }
  v.ret.bytes = total;
  return v.ret;
}
