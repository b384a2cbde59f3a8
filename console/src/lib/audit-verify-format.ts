// SPDX-License-Identifier: Apache-2.0
// audit-verify-format.ts - the lines of a bundle (docs/audit-format.md §1-§3), read as strictly as falaj-verify reads them: one spelling.
//
// Numbers of the format end at 2^53 - 1, which is what a browser can count exactly; those in an event's details have 64 bits.
import { unbase64, unhex, type Bytes } from './audit-verify-hash.ts';

export interface Head {
  log: string;
  zone: string;
  size: number;
  root: Bytes;
  chain: Bytes;
  at: number;
  key: string;
}
export interface Signed {
  body: Bytes;
  sig: Bytes;
}
export interface Filter {
  from: number;
  until: number;
  actor: string;
  action: string;
  resource: string;
}
export interface Manifest {
  /** 2: entries may have leaves whose members can be shown one by one; else 1. */
  version: number;
  tenant: string;
  zone: string;
  from: number;
  to: number;
  count: number;
  created: number;
  some: boolean;
  /** A range in which entries that do not fit show one member instead of a body. */
  filtered: boolean;
  filter: Filter | null;
  head: Signed;
  previous: (Signed & { proof: Bytes[] }) | null;
  chain: Bytes;
  before: Bytes[];
  after: Bytes[];
  keys: { id: string; public: Bytes }[];
}
export interface Entry {
  tseq: number;
  leaf: Bytes;
  chain: Bytes | null;
  proof: Bytes[] | null;
  event: Bytes | null;
  /** Of an entry without body that shows that it does not fit; its leaf is what this makes. */
  shown?: Shown;
}
/** One member of an event, and what makes its leaf. */
export interface Shown {
  member: Bytes;
  salt: Bytes;
  others: Bytes;
  at: number;
  part: Part;
}
/** The members of an event that a filter asks about; of a shown one alone the others are not there. */
export type Part = Partial<Pick<Event, 'ts_us' | 'action' | 'resource' | 'actor'>>;
/** An audit.retention entry out of its place, with its proof; it lists what was dropped. */
export interface Retention {
  tseq: number;
  proof: Bytes[];
  event: Bytes;
}
export interface End {
  count: number;
  sha256: Bytes;
  sig: Bytes;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const N = '(?:0|[1-9][0-9]*)';
const I = `(?:0|-?[1-9][0-9]*)`;
const H = '[0-9a-f]{64}';
const HASHES = `\\[((?:"${H}"(?:,(?="))?)*)\\]`;
const WORD = '[A-Za-z0-9._:-]';
const B64 = '[A-Za-z0-9+/]*={0,2}';
const TEXT = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*"';
const MAYBE = `(?:null|${TEXT})`;

const HEAD = new RegExp(
  `^\\{"v":1,"log_id":"(zone|${UUID})","zone":"(${WORD}{0,64})","size":(${N}),"root":"(${H})","chain":"(${H})",` +
    `"ts_us":(${I}),"prev_sth_hash":"${H}","key_id":"(${WORD}{0,64})"\\}$`,
);
const SIGNED = `\\{"body":"(${B64})","sig":"(${B64})"`;
const MANIFEST = new RegExp(
  `^\\{"format":"falaj-audit-bundle-v(?<version>[12])","tenant":"(?<tenant>${UUID})","zone":"(?<zone>${WORD}{0,64})","from_tseq":(?<from>${N}),` +
    `"to_tseq":(?<to>${N}),"count":(?<count>${N}),"created_us":(?<created>${I}),"mode":"(?<mode>selection|filtered|range)",` +
    `"filter":(?<filter>null|\\{[^}]*\\})(?:,"proves":"(?<proves>inclusion|completeness)")?,` +
    `"head":\\{"body":"(?<body>${B64})","sig":"(?<sig>${B64})"\\},` +
    `"previous":(?<previous>null|\\{[^}]*\\}),"before":\\{"chain":"(?<chain>${H})","nodes":(?<before>\\[[^\\]]*\\])\\},` +
    `"after":(?<after>\\[[^\\]]*\\]),"keys":\\[(?<keys>[^\\]]*)\\]\\}$`,
);
const FILTER = new RegExp(
  `^\\{"from_us":(null|${I}),"until_us":(null|${I}),"actor":(?:null|"(${WORD}{1,128})"),` +
    `"action":(?:null|"(${WORD}{1,128})"),"resource":(?:null|"(${WORD}{1,128})")\\}$`,
);
const PREVIOUS = new RegExp(`^${SIGNED},"proof":${HASHES}\\}$`);
const CHECKPOINT = new RegExp(`^\\{"checkpoint":${SIGNED}\\}\\}$`);
const KEY = new RegExp(`^\\{"key_id":"(${WORD}{0,64})","alg":"ed25519","public":"(${H})"\\}$`);
const ENTRY = new RegExp(`^\\{"tseq":(${N}),"leaf":"(${H})",(?:"chain":"(${H})"|"proof":${HASHES}),"event":`);
const SHOWN =
  `"ts_us":(?<ts>${I})|"action":(?<action>${TEXT})|"resource":\\{"kind":(?<kind>${MAYBE}),"id":(?<id>${MAYBE})\\}|` +
  `"actor":\\{"type":"(?:system|user|service|worker|anonymous)","id":(?:null|"(?<who>${UUID})")\\}`;
const WITHHELD = new RegExp(
  `^\\{"tseq":(?<tseq>${N}),"chain":"(?<chain>${H})","withheld":\\{(?<shown>${SHOWN})\\},` +
    `"salt":"(?<salt>${B64})","others":"(?<others>${B64})"\\}$`,
);
const RETENTION = new RegExp(`^\\{"retention":(${N}),"proof":${HASHES},"event":`);
const END = new RegExp(`^\\{"end":\\{"count":(${N}),"sha256":"(${H})","sig":"(${B64})"\\}\\}$`);
const INSIDE = '(?:\\\\.|[^"\\\\])*"';
const OPENING = new RegExp(
  `^\\{"v":1,"event_id":"${UUID}","zone":"${INSIDE},"tenant":"(${UUID})","ts_us":(${I}),"code":"${INSIDE}.*\\}$`,
  's',
);
const EVENT = new RegExp(
  `^\\{"v":1,"event_id":"${UUID}","zone":(?<w1>${TEXT}),"tenant":"(?<tenant>${UUID})","ts_us":(?<ts>${I}),` +
    `"code":"(?<code>FLJ-[A-Z]{3}-[0-9]{3}(?<suffix>[SDF]))",` +
    `"actor":\\{"type":"(?:system|user|service|worker|anonymous)","id":(?:null|"(?<u1>${UUID})"),` +
    `"roles":\\[(?<roles>(?:${MAYBE}(?:,${MAYBE})*)?)\\],"token_id":(?:null|"(?<u2>${UUID})")\\},` +
    `"src_ip":(?<t1>${MAYBE}),"request_id":(?<t2>${MAYBE}),"resource":\\{"kind":(?<w2>${MAYBE}),"id":(?<t3>${MAYBE})\\},` +
    `"action":(?<w3>${TEXT}),"decision":\\{"effect":"(?<effect>deny|allow)","rule":(?<t4>${MAYBE})\\},"outcome":(?<w4>${TEXT}),` +
    `"http_status":(?<status>null|${I}),` +
    `"details":\\{(?<details>(?:${TEXT}:(?:${TEXT}|${I})(?:,${TEXT}:(?:${TEXT}|${I}))*)?)\\}\\}$`,
);
const MEMBERS = new RegExp(
  `("ts_us":${I}),"code":"[^"]*",("actor":\\{"type":"[a-z]*","id":(?:null|"${UUID}")),"roles".*?,"src_ip":${MAYBE},` +
    `"request_id":${MAYBE},("resource":\\{"kind":${MAYBE},"id":${MAYBE}\\}),("action":${TEXT})`,
  's',
);
const NIL = '00000000-0000-0000-0000-000000000000';
const WORD_MAX = 64,
  TEXT_MAX = 256,
  PROOF_MAX = 64;

/** Byte for byte as characters: what is looked for is ASCII, and places stay places. */
const latin = new TextDecoder('windows-1252');
const utf8 = new TextDecoder('utf-8', { fatal: true });
export const plain = (b: Uint8Array): string => latin.decode(b);

function count(text: string): number | null {
  const n = Number(text);
  return Number.isSafeInteger(n) ? n : null;
}
const proofOf = (list: string): Bytes[] | null => {
  const out = hashes(list);
  return out.length <= PROOF_MAX ? out : null;
};
const hashes = (list: string): Bytes[] => list.match(/[0-9a-f]{64}/g)?.map(unhex) ?? [];
function hashList(list: string, max: number): Bytes[] | null {
  const inside = new RegExp(`^${HASHES}$`).exec(list)?.[1];
  const out = inside === undefined ? null : hashes(inside);
  return out !== null && out.length <= max ? out : null;
}
function signed(body: string, sig: string): Signed | null {
  const b = unbase64(body),
    s = unbase64(sig);
  return b !== null && s !== null && s.length === 64 && b.length <= 1024 ? { body: b, sig: s } : null;
}

export function readHead(body: Uint8Array): Head | null {
  const m = HEAD.exec(plain(body));
  const size = m && count(m[3]!),
    at = m && count(m[6]!);
  return m && size !== null && size > 0 && at !== null
    ? { log: m[1]!, zone: m[2]!, size, root: unhex(m[4]!), chain: unhex(m[5]!), at, key: m[7]! }
    : null;
}
function readFilter(text: string): Filter | null {
  const m = FILTER.exec(text);
  if (!m) return null;
  const time = (v: string): number | null => (v === 'null' ? 0 : Number(v) !== 0 ? count(v) : null);
  const from = time(m[1]!),
    until = time(m[2]!);
  const f = { actor: m[3] ?? '', action: m[4] ?? '', resource: m[5] ?? '' };
  const isEmpty = !from && !until && !f.actor && !f.action && !f.resource;
  if (from === null || until === null || isEmpty || (from && until && from >= until)) return null;
  return { from, until, ...f };
}
function readPrevious(text: string): (Signed & { proof: Bytes[] }) | null {
  const m = PREVIOUS.exec(text);
  const head = m && signed(m[1]!, m[2]!),
    proof = m && proofOf(m[3]!);
  return head && proof ? { ...head, proof } : null;
}
function readKeys(text: string): { id: string; public: Bytes }[] | null {
  if (text === '') return [];
  const out = text.split(/(?<=\}),(?=\{)/).map((one) => KEY.exec(one));
  return out.length <= 16 && out.every((m) => m !== null)
    ? out.map((m) => ({ id: m[1]!, public: unhex(m[2]!) }))
    : null;
}
export function readManifest(line: Uint8Array): Manifest | null {
  const g = MANIFEST.exec(plain(line))?.groups;
  if (!g) return null;
  const [from, to, all, created] = [count(g['from']!), count(g['to']!), count(g['count']!), count(g['created']!)];
  const head = signed(g['body']!, g['sig']!);
  const filter = g['filter'] === 'null' ? null : readFilter(g['filter']!);
  const previous = g['previous'] === 'null' ? null : readPrevious(g['previous']!);
  const before = hashList(g['before']!, 64),
    after = hashList(g['after']!, 128),
    keys = readKeys(g['keys']!);
  if (from === null || to === null || all === null || created === null || !head || !before || !after || !keys)
    return null;
  const version = Number(g['version']),
    mode = g['mode']!,
    proves = { range: '', selection: 'inclusion', filtered: 'completeness' }[mode];
  if ((g['proves'] ?? '') !== proves && !(version === 1 && mode === 'selection' && !g['proves'])) return null;
  if (version === 1 && mode === 'filtered') return null;
  if ((filter === null) !== (g['filter'] === 'null') || (previous === null) !== (g['previous'] === 'null')) return null;
  return {
    tenant: g['tenant']!,
    zone: g['zone']!,
    from,
    to,
    count: all,
    created,
    version,
    some: mode === 'selection',
    filtered: mode === 'filtered',
    filter,
    head,
    previous,
    chain: unhex(g['chain']!),
    before,
    after,
    keys,
  };
}
/** An entry's line; its event is the bytes behind the first "event": up to the last }. */
export function readEntry(line: Bytes): Entry | null {
  const m = ENTRY.exec(plain(line.subarray(0, 5000)));
  const tseq = m && count(m[1]!);
  if (!m || tseq === null || line.length < m[0].length + 2 || line[line.length - 1] !== 0x7d) return null;
  const event = line.subarray(m[0].length, line.length - 1);
  const proof = m[4] === undefined ? null : hashes(m[4]);
  if (proof && proof.length > PROOF_MAX) return null;
  return {
    tseq,
    leaf: unhex(m[2]!),
    chain: m[3] === undefined ? null : unhex(m[3]),
    proof,
    event: event.length === 4 && plain(event) === 'null' ? null : event,
  };
}
/** The leaf is left for who hashes. */
export function readWithheld(line: Bytes): (Omit<Entry, 'leaf'> & { shown: Shown }) | null {
  let text: string;
  try {
    text = utf8.decode(line);
  } catch {
    return null;
  }
  const g = line.length < 5000 ? WITHHELD.exec(text)?.groups : undefined;
  const tseq = g && count(g['tseq']!),
    salt = g && unbase64(g['salt']!),
    others = g && unbase64(g['others']!);
  if (!g || tseq === null || tseq === undefined || salt?.length !== 16 || others?.length !== 96) return null;
  const isLong = (t: string | undefined, most: number) => t !== undefined && t !== 'null' && bytesOf(t) > most;
  if (isLong(g['action'], WORD_MAX) || isLong(g['kind'], WORD_MAX) || isLong(g['id'], TEXT_MAX)) return null;
  if (g['who'] === NIL || (g['ts'] !== undefined && count(g['ts']) === null)) return null;
  const member = new TextEncoder().encode(g['shown']!),
    part = JSON.parse(`{${g['shown']!}}`) as Part,
    at = ['ts_us', 'action', 'resource', 'actor'].indexOf(Object.keys(part)[0]!);
  return { tseq, chain: unhex(g['chain']!), proof: null, event: null, shown: { member, salt, others, at, part } };
}
/** What the leaf of an event seals one by one, as it stands there; null where it is not spelled as §1 says. */
export function membersOf(event: Bytes): Bytes[] | null {
  if (!readEvent(event)) return null;
  const text = utf8.decode(event),
    m = MEMBERS.exec(text)!;
  return [m[1]!, m[4]!, m[3]!, `${m[2]!}}`].map((part) => new TextEncoder().encode(part));
}
export function readRetention(line: Bytes): Retention | null {
  const m = RETENTION.exec(plain(line.subarray(0, 5000)));
  const tseq = m && count(m[1]!),
    proof = m && proofOf(m[2]!);
  if (!m || tseq === null || !proof || line.length < m[0].length + 2 || line[line.length - 1] !== 0x7d) return null;
  return { tseq, proof, event: line.subarray(m[0].length, line.length - 1) };
}
export function readCheckpoint(line: Uint8Array): Signed | null {
  const m = CHECKPOINT.exec(plain(line));
  return m && signed(m[1]!, m[2]!);
}
export function readEnd(line: Uint8Array): End | null {
  const m = END.exec(plain(line));
  const n = m && count(m[1]!),
    sig = m && unbase64(m[3]!);
  return m && n !== null && sig?.length === 64 ? { count: n, sha256: unhex(m[2]!), sig } : null;
}
/** The number of a line that may not be an entry otherwise. */
export const numberOf = (line: Uint8Array): number =>
  Number(/^\{"tseq":(0|[1-9][0-9]*)(?![0-9])/.exec(plain(line.subarray(0, 40)))?.[1] ?? 0);
/** The tenant whose event this says it is; null where it does not begin as events do. */
export function tenantOf(event: Uint8Array): string | null {
  const m = OPENING.exec(plain(event));
  return m && count(m[2]!) !== null ? m[1]! : null;
}

export interface Event {
  tenant: string;
  ts_us: number;
  code: string;
  action: string;
  actor: { type: string; id: string | null };
  resource: { kind: string | null; id: string | null };
  /** In order, as they are spelled: a text in its quotes, or a number. */
  parts: { name: string; value: string }[];
}
const isIn = (text: string, low: bigint, high: bigint): boolean => {
  const n = BigInt(text);
  return n >= low && n < high;
};
const bytesOf = (text: string): number => new TextEncoder().encode(text).length - 2;

/** The event when it is spelled as §1 says, or null. */
export function readEvent(event: Uint8Array): Event | null {
  let text: string;
  try {
    text = utf8.decode(event);
  } catch {
    return null;
  }
  const g = EVENT.exec(text)?.groups;
  if (!g || count(g['ts']!) === null || g['u1'] === NIL || g['u2'] === NIL) return null;
  const roles = g['roles']!.match(new RegExp(MAYBE, 'g')) ?? [],
    parts = [...g['details']!.matchAll(new RegExp(`(${TEXT}):(${TEXT}|${I})`, 'g'))].map((m) => ({
      name: m[1]!,
      value: m[2]!,
    }));
  const words = [g['w1']!, g['w2']!, g['w3']!, g['w4']!, ...roles, ...parts.map((p) => p.name)],
    texts = [g['t1']!, g['t2']!, g['t3']!, g['t4']!, ...parts.map((p) => p.value).filter((v) => v.startsWith('"'))],
    numbers = parts.map((p) => p.value).filter((v) => !v.startsWith('"'));
  const isLong = (most: number) => (t: string) => t !== 'null' && bytesOf(t) > most;
  if (roles.length > 8 || parts.length > 16 || words.some(isLong(WORD_MAX)) || texts.some(isLong(TEXT_MAX)))
    return null;
  if (numbers.some((n) => !isIn(n, -(2n ** 63n), 2n ** 63n))) return null;
  const status = g['status']!;
  if (status !== 'null' && (status === '0' || !isIn(status, -(2n ** 31n), 2n ** 31n))) return null;
  const isDenied = g['effect'] === 'deny';
  if (isDenied !== (g['suffix'] === 'D') || (!isDenied && (g['suffix'] === 'S') !== (g['w4'] === '"success"')))
    return null;
  return { ...(JSON.parse(text) as Event), code: g['code']!, parts };
}

/** The ranges that a retention entry lists; null when it is none, lists something else than it says, or what comes after it. */
export function droppedBy(e: Event, tseq: number): [number, number][] | null {
  const out: [number, number][] = [];
  const says = e.parts.slice(0, 3),
    lists = e.parts.slice(3);
  if (e.code !== 'FLJ-AUD-006S' || lists.length === 0 || says.some((p) => p.value.startsWith('"'))) return null;
  if (says.map((p) => p.name).join() !== '"dropped","from_tseq","until_tseq"') return null;
  if (lists.some((p, i) => p.name !== `"list_${i + 1}"` || !p.value.startsWith('"'))) return null;
  for (const part of lists.flatMap((p) => p.value.slice(1, -1).split(','))) {
    const m = /^([1-9][0-9]*)(?:-([1-9][0-9]*))?$/.exec(part);
    const from = m && count(m[1]!),
      to = m && count(m[2] ?? m[1]!);
    if (!m || from === null || to === null || from > to || (m[2] !== undefined && from === to)) return null;
    if (from <= (out.at(-1)?.[1] ?? 0)) return null;
    out.push([from, to]);
  }
  const total = out.reduce((n, [from, to]) => n + to - from + 1, 0),
    last = out.at(-1)![1];
  const isSaid = [total, out[0]![0], last].every((n, i) => String(n) === says[i]!.value);
  return isSaid && last < tseq ? out : null;
}
/** What is not there is not asked about. */
export const lets = (f: Filter, { ts_us, actor, action, resource }: Part): boolean =>
  (f.from === 0 || ts_us === undefined || ts_us >= f.from) &&
  (f.until === 0 || ts_us === undefined || ts_us < f.until) &&
  (f.actor === '' || actor === undefined || f.actor === actor.type || f.actor === actor.id) &&
  (f.action === '' ||
    action === undefined ||
    (f.action.endsWith('.') ? action.startsWith(f.action) : action === f.action)) &&
  (f.resource === '' || resource === undefined || f.resource === resource.kind || f.resource === resource.id);
