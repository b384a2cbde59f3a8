// SPDX-License-Identifier: Apache-2.0
// kinds-tools.ts - what the kinds of tampering are made of: a log with a place in it, its bundles, changes of their lines.
//
// The tamperer is careful: unless a kind is about the end line, the end line fits what stands before it (`joined`). Kinds of
// "signed" have the zone's key on their side: what is signed is not a log as docs/audit-format.md has it.
import {
  consistency,
  head,
  inclusion,
  joined,
  list,
  makeEvent,
  makeLines,
  makeLog,
  random,
  rechain,
  record,
  sha,
  type Key,
  type Lines,
  type Log,
  type Make,
} from './fixture.ts';

export interface Place {
  log: Log;
  n: number;
  /** The place: an entry from 2 on that is neither the last nor the one before it. */
  t: number;
  /** The retention entry of the log, and the entries that it lists. */
  kept: number;
  drops: [number, number, number];
  rnd: (below: number) => number;
  right: Key;
  wrong: Key;
}
export type Kind = (p: Place) => Buffer;

export const FIRST = 3; // of the records that end in a partial range
export function makePlace(seed: number, right: Key, wrong: Key): Place {
  const rnd = random(seed);
  const n = 14 + rnd(20);
  const kept = n - 1;
  const log = makeLog('018c0000-0000-7000-8000-00000000000a', n, seed);
  const a = 2 + rnd(3),
    drops: [number, number, number] = [a, a + 1, a + 3];
  log.bodies[kept - 1] = retention(
    log.tenant,
    `"dropped":3,"from_tseq":${a},"until_tseq":${a + 3},"list_1":"${a}-${a + 1},${a + 3}"`,
  );
  rechain(log);
  return { log, n, t: 2 + rnd(n - 4), kept, drops, rnd, right, wrong };
}
export const retention = (tenant: string, details: string): string =>
  `{"v":1,"event_id":"018bcfe5-7785-78dc-a792-00000000000f","zone":"ae-dxb-1","tenant":"${tenant}","ts_us":1700000000000000,` +
  `"code":"FLJ-AUD-006S","actor":{"type":"system","id":null,"roles":[],"token_id":null},"src_ip":null,"request_id":null,` +
  `"resource":{"kind":"tenant","id":"tnt_1"},"action":"audit.retention","decision":{"effect":"allow","rule":null},` +
  `"outcome":"success","http_status":null,"details":{${details}}}`;

// ------------------------------------------------------------------------------------------------------ whole bundles
export const make = (p: Place, o: Make = {}, log = p.log, key = p.right): Lines => makeLines(log, key, o);
export const range = (p: Place, log = p.log): Lines => make(p, { previous: 5, checkpoint: p.t }, log);
export const part = (p: Place): Lines => make(p, { from: FIRST, to: p.n - 2, previous: p.n - 1 });
export const some = (p: Place, log = p.log): Lines => make(p, { action: 'job.submit', previous: 4 }, log);
/** An entry as a selection has it. */
export const picked = (p: Place, t: number): string =>
  `{"tseq":${t},"leaf":"${p.log.leaves[t - 1]!.toString('hex')}","proof":${list(inclusion(t - 1, p.log.leaves))},` +
  `"event":${p.log.bodies[t - 1]!}}`;
export const retained = (p: Place, at = p.kept, log = p.log, event = log.bodies[at - 1]!): string =>
  `{"retention":${at},"proof":${list(inclusion(at - 1, log.leaves))},"event":${event}}`;
export const bare = (p: Place, dropped = p.drops[0], line: string | null = retained(p), log = p.log): Lines => {
  const s = make(p, { dropped, to: p.kept - 2 }, log);
  return line === null ? s : put(s, 1, 0, line);
};

// ---------------------------------------------------------------------------------------------------------- small tools
export const put = (s: Lines, at: number, drop: number, ...add: string[]): Lines => ({
  ...s,
  lines: s.lines.toSpliced(at, drop, ...add),
});
export const change = (s: Lines, at: number, from: string | RegExp, to: string): Lines => {
  const line = s.lines[at]!.replace(from, () => to);
  if (line === s.lines[at]) throw new Error(`nothing to change in line ${at}: ${from}`);
  return { ...s, lines: s.lines.with(at, line) };
};
/** A hash's digit, or a signature's character, that is another. */
export const flip = (s: Lines, at: number, what: RegExp, rnd: (n: number) => number): Lines => {
  const m = what.exec(s.lines[at]!)!;
  const i = m.index + m[0].length + rnd(40),
    c = s.lines[at]![i]!;
  const line = s.lines[at]!.slice(0, i) + (c === '0' ? '1' : '0') + s.lines[at]!.slice(i + 1);
  return { ...s, lines: s.lines.with(at, line) };
};
/** The line of record t in a bundle whose records may have checkpoints among them. */
export const at = (s: Lines, t: number): number => s.lines.findIndex((l) => l.startsWith(`{"tseq":${t},`));
export const bytes = (s: Lines, how: (b: Buffer) => Buffer): Buffer => {
  const text = Buffer.from(s.lines.map((l) => `${l}\n`).join(''));
  const b = how(text);
  const n = s.lines.filter((l) => l.startsWith('{"tseq":')).length;
  return Buffer.concat([
    b,
    Buffer.from(`{"end":{"count":${n},"sha256":"${sha(b).toString('hex')}","sig":"${s.sig}"}}\n`),
  ]);
};
/** Behind the manifest, some of whose members are claims that nothing proves: kinds of their own change those. */
export const spot = (b: Buffer, rnd: (n: number) => number): number => {
  const first = b.indexOf(10) + 1;
  return first + rnd(b.length - 1 - first);
};
export const cut = (b: Buffer, i: number, drop: number, ...add: number[]): Buffer =>
  Buffer.concat([b.subarray(0, i), Buffer.from(add), b.subarray(i + drop)]);
export const chained = (log: Log, t: number, leaf: Buffer): Buffer =>
  sha(
    Buffer.from([2]),
    t > 1
      ? (log.chain[t - 2] ?? log.chain.at(-1)!)
      : sha('falaj-audit-v1', Buffer.from(log.tenant.replaceAll('-', ''), 'hex')),
    leaf,
  );
/** A record of an event that the log never had; it may continue the chain. */
export const strange = (log: Log, t: number, body: string, fits: boolean): string => {
  const leaf = sha(Buffer.from([0]), body);
  return record({ ...log, bodies: [body], leaves: [leaf], chain: [fits ? chained(log, t, leaf) : sha('x')] }, 1, t);
};
export const other = (p: Place): string => makeEvent(p.log.tenant, random(p.t + 77));
/** The log with another event at the place, hashed anew: signed by whoever takes this log. */
export const with_ = (p: Place, body: string, t = p.t): Log =>
  rechain({ ...p.log, bodies: p.log.bodies.with(t - 1, body) });
/** A manifest whose head is another log's. */
export const headed = (p: Place, s: Lines, log: Log, size = log.bodies.length, key = p.right): Lines => {
  const h = head(log, size, key);
  return { lines: change(s, 0, /"head":\{"body":"[^"]*","sig":"[^"]*"/, `"head":${h.text}`).lines, sig: h.sig };
};
export const previous = (s: Lines, text: string): Lines =>
  change(s, 0, /"previous":(\{[^}]*\}|null)/, `"previous":${text}`);
export const before = (p: Place, size: number, o: { log?: Log; key?: Key; proof?: Buffer[] } = {}): string =>
  `${head(o.log ?? p.log, size, o.key ?? p.right).text},"proof":${list(o.proof ?? consistency(size, p.log.leaves))}}`;
export const point = (p: Place, size: number, log = p.log, key = p.right): string =>
  `{"checkpoint":${head(log, size, key).text}}}`;
export const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** A head whose body is spelled as the kind wants it, signed by the right key. */
export const respelled = (p: Place, s: Lines, from: string | RegExp, to: string, key = p.right): Lines => {
  const body = Buffer.from(/"body":"([^"]*)"/.exec(s.lines[0]!)![1]!, 'base64').toString();
  const sig = key.sign(Buffer.from(body.replace(from, to)));
  return {
    lines: change(
      s,
      0,
      /"head":\{"body":"[^"]*","sig":"[^"]*"/,
      `"head":{"body":"${base64(body.replace(from, to))}","sig":"${sig}"`,
    ).lines,
    sig,
  };
};

export const swapped = (p: Place, from: string | RegExp, to: string, s = part(p)): Buffer =>
  joined(change(s, 0, from, to));
