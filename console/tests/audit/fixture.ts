// SPDX-License-Identifier: Apache-2.0
// fixture.ts - logs made in memory and their bundles as lines that a test can damage and put together again, by Node's own crypto.
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export interface Key {
  secret: KeyObject;
  /** Base64 of the signature. */
  sign: (body: Buffer) => string;
  public: Uint8Array<ArrayBuffer>;
  id: string;
}
export interface Log {
  tenant: string;
  bodies: string[];
  leaves: Buffer[];
  chain: Buffer[];
  /** Entries from this number on have leaves whose members can be shown one by one; absent: none. */
  opened?: number;
}
export const sha = (...parts: (Buffer | string)[]): Buffer => {
  const h = createHash('sha256');
  for (const p of parts) h.update(p);
  return h.digest();
};
const tag = (n: number): Buffer => Buffer.from([n]);
export const TENANT_A = '018c0000-0000-7000-8000-00000000000a';
export const TENANT_B = '018c0000-0000-7000-8000-00000000000b';

export function makeKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from((publicKey.export({ format: 'jwk' }) as { x: string }).x, 'base64url');
  const signed = (body: Buffer): string => sign(null, body, privateKey).toString('base64');
  return { secret: privateKey, sign: signed, public: Uint8Array.from(raw), id: sha(raw).toString('hex') };
}
/** A small generator of numbers, so that a round can be repeated. */
export function random(seed: number): (below: number) => number {
  let s = seed >>> 0;
  return (below) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return (s >>> 8) % below;
  };
}
const ACTIONS = ['job.submit', 'job.cancel', 'dataset.content.read', 'auth.login'];
export function makeEvent(tenant: string, rnd: (n: number) => number): string {
  const id = `018bcfe5-7785-78dc-a792-${String(rnd(2 ** 24)).padStart(12, '0')}`;
  return (
    `{"v":1,"event_id":"${id}","zone":"ae-dxb-1","tenant":"${tenant}","ts_us":${1_700_000_000_000_000 + rnd(2 ** 24)},` +
    `"code":"FLJ-JOB-001S","actor":{"type":"user","id":"00000000-0000-7004-9e59-cff6bf64d23f","roles":["ml-engineer"],"token_id":null},` +
    `"src_ip":"10.1.2.3","request_id":"req-ص","resource":{"kind":"job","id":"job_00000000000070088b6de0297a9133a9"},` +
    `"action":"${ACTIONS[rnd(ACTIONS.length)]}","decision":{"effect":"allow","rule":"role:ml-engineer"},"outcome":"success",` +
    `"http_status":201,"details":{"gpus":${rnd(8)}}}`
  );
}
const MEMBERS = [
  /"ts_us":-?\d+(?=,"code")/,
  /"action":"(?:\\.|[^"\\])*"(?=,"decision")/,
  /"resource":\{"kind":(?:null|"(?:\\.|[^"\\])*"),"id":(?:null|"(?:\\.|[^"\\])*")\}/,
  /"actor":\{"type":"[a-z]*","id":(?:null|"[^"]*")/,
];
/** The members that a filter asks about, each with its salt and its seal (docs/audit-format.md §2); [] where it is no event. */
export function seals(body: string): { member: string; salt: Buffer; seal: Buffer }[] {
  const found = MEMBERS.map((m, i) => m.exec(body)?.[0].concat(i === 3 ? '}' : ''));
  if (!found.every((m) => m !== undefined)) return [];
  const plain = sha(tag(0), body),
    salts = Buffer.concat([sha(tag(4), tag(0), plain), sha(tag(4), tag(1), plain)]);
  return found.map((member, i) => {
    const salt = salts.subarray(16 * i, 16 * i + 16);
    return { member, salt, seal: sha(tag(5), salt, member) };
  });
}
export function openLeaf(body: string): Buffer {
  const all = seals(body).map((s) => s.seal);
  return all.length ? sha(tag(3), ...all) : sha(tag(0), body);
}
/** An entry that shows one member instead of its body: 0 time, 1 action, 2 resource, 3 actor. */
export function withheld(log: Log, tseq: number, which: number): string {
  const all = seals(log.bodies[tseq - 1]!),
    { member, salt } = all[which]!,
    others = Buffer.concat(all.filter((_, i) => i !== which).map((s) => s.seal));
  return (
    `{"tseq":${tseq},"chain":"${log.chain[tseq - 1]!.toString('hex')}","withheld":{${member}},` +
    `"salt":"${salt.toString('base64')}","others":"${others.toString('base64')}"}`
  );
}
export function rechain(log: Log): Log {
  let before = sha('falaj-audit-v1', Buffer.from(log.tenant.replaceAll('-', ''), 'hex'));
  const isOpen = (i: number): boolean => log.opened !== undefined && i + 1 >= log.opened;
  log.leaves = log.bodies.map((b, i) => (isOpen(i) ? openLeaf(b) : sha(tag(0), b)));
  log.chain = log.leaves.map((leaf) => (before = sha(tag(2), before, leaf)));
  return log;
}
export function makeLog(tenant: string, n: number, seed: number): Log {
  const rnd = random(seed);
  return rechain({ tenant, bodies: Array.from({ length: n }, () => makeEvent(tenant, rnd)), leaves: [], chain: [] });
}
const split = (n: number): number => 2 ** Math.ceil(Math.log2(n) - 1);
/** RFC 9162 §2.1.1, as it is written there. */
export function root(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return leaves[0]!;
  const k = split(leaves.length);
  return sha(tag(1), root(leaves.slice(0, k)), root(leaves.slice(k)));
}
/** §2.1.3.1 and §2.1.4.1. */
export function inclusion(m: number, d: readonly Buffer[]): Buffer[] {
  if (d.length <= 1) return [];
  const k = split(d.length);
  return m < k
    ? [...inclusion(m, d.slice(0, k)), root(d.slice(k))]
    : [...inclusion(m - k, d.slice(k)), root(d.slice(0, k))];
}
export function consistency(m: number, d: readonly Buffer[], isWhole = true): Buffer[] {
  if (m === d.length) return isWhole ? [] : [root(d)];
  const k = split(d.length);
  return m <= k
    ? [...consistency(m, d.slice(0, k), isWhole), root(d.slice(k))]
    : [...consistency(m - k, d.slice(k), false), root(d.slice(0, k))];
}
function subtrees(start: number, end: number, d: readonly Buffer[]): Buffer[] {
  const out: Buffer[] = [];
  for (let at = start; at < end;) {
    let n = 1;
    while (at % (2 * n) === 0 && at + 2 * n <= end) n *= 2;
    out.push(root(d.slice(at, at + n)));
    at += n;
  }
  return out;
}
export const list = (hashes: readonly Buffer[]): string => `[${hashes.map((h) => `"${h.toString('hex')}"`).join(',')}]`;

export function head(log: Log, size: number, key: Key): { text: string; sig: string } {
  const body =
    `{"v":1,"log_id":"${log.tenant}","zone":"ae-dxb-1","size":${size},"root":"${root(log.leaves.slice(0, size)).toString('hex')}",` +
    `"chain":"${log.chain[size - 1]!.toString('hex')}","ts_us":1700000000000000,"prev_sth_hash":"${'0'.repeat(64)}","key_id":"${key.id}"}`;
  const sig = sign(null, Buffer.from(body), key.secret).toString('base64');
  return { text: `{"body":"${Buffer.from(body).toString('base64')}","sig":"${sig}"`, sig };
}
export const record = (log: Log, tseq: number, as = tseq, event = log.bodies[tseq - 1]!): string =>
  `{"tseq":${as},"leaf":"${log.leaves[tseq - 1]!.toString('hex')}","chain":"${log.chain[tseq - 1]!.toString('hex')}","event":${event}}`;

export interface Lines {
  lines: string[];
  sig: string;
}
export interface Make {
  from?: number;
  to?: number;
  previous?: number;
  previousHead?: string;
  checkpoint?: number;
  action?: string;
  /** With an action: the whole range, where what does not fit shows its action. */
  filtered?: boolean;
  dropped?: number;
}
/** A bundle; action: a selection of what this filter lets through. */
export function makeLines(log: Log, key: Key, o: Make = {}): Lines {
  const size = log.bodies.length,
    from = o.from ?? 1,
    to = o.to ?? size,
    isFit = (n: number): boolean => log.bodies[n - 1]!.includes(`"action":"${o.action}`),
    hasFilter = o.action !== undefined,
    some = hasFilter && !o.filtered,
    mode = some ? 'selection' : o.filtered ? 'filtered' : 'range',
    proves = { selection: ',"proves":"inclusion"', filtered: ',"proves":"completeness"', range: '' }[mode];
  const { text, sig } = head(log, size, key);
  const inRange = Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((n) => !some || isFit(n));
  const before =
    from > 1 && !some
      ? log.chain[from - 2]!
      : sha('falaj-audit-v1', Buffer.from(log.tenant.replaceAll('-', ''), 'hex'));
  const filter = hasFilter
    ? `{"from_us":null,"until_us":null,"actor":null,"action":"${o.action}","resource":null}`
    : 'null';
  const previous = o.previous
    ? `${o.previousHead ?? head(log, o.previous, key).text},"proof":${list(consistency(o.previous, log.leaves))}}`
    : 'null';
  const lines = [
    `{"format":"falaj-audit-bundle-v${log.opened ? 2 : 1}","tenant":"${log.tenant}","zone":"ae-dxb-1",` +
      `"from_tseq":${from},"to_tseq":${to},` +
      `"count":${inRange.length},"created_us":1700000001000000,"mode":"${mode}",` +
      `"filter":${filter}${proves},` +
      `"head":${text}},"previous":${previous},"before":{"chain":"${before.toString('hex')}",` +
      `"nodes":${list(some ? [] : subtrees(0, from - 1, log.leaves))}},"after":${list(some ? [] : subtrees(to, size, log.leaves))},` +
      `"keys":[{"key_id":"${key.id}","alg":"ed25519","public":"${Buffer.from(key.public).toString('hex')}"}]}`,
  ];
  for (const n of inRange) {
    const event = n === o.dropped ? 'null' : log.bodies[n - 1]!;
    lines.push(
      o.filtered && !isFit(n) && n !== o.dropped
        ? withheld(log, n, 1)
        : some
          ? `{"tseq":${n},"leaf":"${log.leaves[n - 1]!.toString('hex')}",` +
            `"proof":${list(inclusion(n - 1, log.leaves))},"event":${event}}`
          : record(log, n, n, event),
    );
    if (n === o.checkpoint) lines.push(`{"checkpoint":${head(log, n, key).text}}}`);
  }
  return { lines, sig };
}
/** All lines and an end line that fits them, as an attacker would make it. */
export function joined({ lines, sig }: Lines): Buffer {
  const text = lines.map((l) => `${l}\n`).join('');
  const n = lines.filter((l) => l.startsWith('{"tseq":')).length;
  return Buffer.from(`${text}{"end":{"count":${n},"sha256":"${sha(text).toString('hex')}","sig":"${sig}"}}\n`);
}
/** Numbers made dense again, as a careful attacker would. */
export const renumber = (l: Lines): Lines => ({
  ...l,
  lines: l.lines.map((line, i) => line.replace(/^\{"tseq":\d+/, `{"tseq":${i}`)),
});
