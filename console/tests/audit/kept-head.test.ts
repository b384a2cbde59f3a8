// SPDX-License-Identifier: Apache-2.0
// kept-head.test.ts - a head that was kept or co-signed is held against a log: it fits, it convicts, or it is not what it says.
import { expect, test } from 'vitest';
import { readKept, type Kept } from '../../src/lib/audit-kept.ts';
import { verifyBundle, type Verdict } from '../../src/lib/audit-verify.ts';
import { head, joined, makeEvent, makeKey, makeLines, makeLog, random, rechain, sha, TENANT_A } from './fixture.ts';

const zone = makeKey(),
  witness = makeKey(),
  stranger = makeKey();
const log = makeLog(TENANT_A, 20, 7);
const other = rechain({ ...log, bodies: log.bodies.with(4, makeEvent(TENANT_A, random(99))) });
const keptOf = (size: number, from = log, key = zone): string => `${head(from, size, key).text}}\n`;
/** What `falaj-verify witness` prints. */
function cosigned(size: number, from = log, by = witness, as = by): string {
  const { text } = head(from, size, zone);
  const body = Buffer.from(/"body":"([^"]*)"/.exec(text)![1]!, 'base64');
  const sig = by.sign(Buffer.concat([Buffer.from('falaj-witness-v1 '), body]));
  const key = Buffer.from(as.public).toString('hex');
  return `{"format":"falaj-cosignature-v1","head":${text}},"witness":"${key}","sig":"${sig}"}\n`;
}
async function* all(data: Buffer): AsyncGenerator<Uint8Array> {
  yield Uint8Array.from(data);
}
const against = (kept: Kept, now = log): Promise<Verdict> =>
  verifyBundle(all(joined(makeLines(now, zone))), { pinned: [zone.public], previous: kept.previous });
const read = async (text: string, by: Uint8Array<ArrayBuffer> | null = witness.public): Promise<Kept> => {
  const kept = await readKept(text, by);
  if (typeof kept === 'string') throw new Error(kept);
  return kept;
};

test.each([
  ['kept', keptOf(9)],
  ['kept without its line feed', keptOf(9).trimEnd()],
  ['co-signed', cosigned(9)],
  ['bare', Buffer.from(/"body":"([^"]*)"/.exec(keptOf(9))![1]!, 'base64').toString()],
])('a head that was %s fits its log and not another', async (_name, text) => {
  const kept = await read(text);
  expect(kept.size).toBe(9);
  expect((await against(kept)).result).toBe('ok');
  expect(await against(kept, other)).toMatchObject({ result: 'forked', tseq: 1 });
});
test('a longer log that became shorter is told', async () => {
  const kept = await read(cosigned(20));
  const shorter = rechain({ ...log, bodies: log.bodies.slice(0, 15) });
  expect(await against(kept, shorter)).toMatchObject({ result: 'truncated', tseq: 16 });
});
test('a head that the zone did not sign counts for nothing', async () => {
  expect((await against(await read(keptOf(9, log, stranger)))).result).toBe('wrong_key');
});
test.each([
  ['stranger', cosigned(9, log, stranger), witness.public],
  ['stranger', cosigned(9), null],
  ['unsigned', cosigned(9, log, stranger, witness), witness.public],
  ['none', cosigned(9).replace('falaj-cosignature-v1', 'falaj-cosignature-v2'), witness.public],
  ['none', 'hello', null],
  ['none', `{"body":"${sha('x').toString('base64')}","sig":"${Buffer.alloc(64).toString('base64')}"}`, null],
] as const)('what is no head of this log is said: %s', async (fault, text, by) => {
  expect(await readKept(text, by)).toBe(fault);
});
test('a head of the zone is compared elsewhere', async () => {
  const body = Buffer.from(/"body":"([^"]*)"/.exec(keptOf(9))![1]!, 'base64').toString();
  const ofZone = Buffer.from(body.replace(`"log_id":"${TENANT_A}"`, '"log_id":"zone"')).toString('base64');
  expect(await readKept(keptOf(9).replace(/"body":"[^"]*"/, `"body":"${ofZone}"`), null)).toBe('zone');
});
