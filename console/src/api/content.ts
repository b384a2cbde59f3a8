// SPDX-License-Identifier: Apache-2.0
// content.ts - the beginning of a stored object, and no more of it: the rest is not fetched. Each reading is an event of the audit log.
import { getResponse } from './client.ts';

export const HEAD_BYTES = 256 * 1024;

export async function readBeginning(path: string, most = HEAD_BYTES): Promise<{ text: string; whole: boolean }> {
  const stop = new AbortController();
  const response = await getResponse(path, { signal: stop.signal });
  const reader = response.body!.getReader();
  const parts: Uint8Array[] = [];
  let have = 0;
  let whole = false;
  while (have < most) {
    const { done, value } = await reader.read();
    if (done) {
      whole = true;
      break;
    }
    parts.push(value);
    have += value.length;
  }
  if (!whole) stop.abort();
  const all = new Uint8Array(Math.min(have, most));
  let at = 0;
  for (const p of parts) {
    all.set(p.subarray(0, all.length - at), at);
    at += p.length;
    if (at >= all.length) break;
  }
  // A character that the cut halves is left out with its row.
  return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(all), whole: whole && have <= most };
}
