// SPDX-License-Identifier: Apache-2.0
// audit-verify-judge.ts - checks the lines of a bundle in one pass, as audit/verify.c does: the same verdict and entry for the same bytes.
//
// A batch of lines is hashed at once, against the chain value that the line before claims; then the lines are judged one after the
// other, and the first that does not fit ends it.
import {
  droppedBy,
  numberOf,
  plain,
  readCheckpoint,
  readEnd,
  readEntry,
  readEvent,
  readHead,
  readManifest,
  readRetention,
  readWithheld,
  lets,
  tenantOf,
  type End,
  type Entry,
  type Head,
  type Manifest,
  type Shown,
  type Signed,
} from './audit-verify-format.ts';
import {
  chainOf,
  chainStart,
  coverLevels,
  extend,
  hex,
  includes,
  leafOf,
  same,
  shownLeafOf,
  signedBy,
  Tree,
  type Bytes,
} from './audit-verify-hash.ts';
import { leafLike, leavesOf } from './audit-verify-leaf.ts';

export type Damage =
  | 'edited'
  | 'deleted'
  | 'truncated'
  | 'inserted'
  | 'swapped'
  | 'duplicated'
  | 'spliced'
  | 'forked'
  | 'wrong_key'
  | 'malformed';
export interface Verdict {
  result: 'ok' | Damage;
  /** The first damaged entry; 0: no entry is to blame. */
  tseq: number;
  line: number;
  /** pinned: signed by a key that was given; own: by the key that the bundle brings; unchecked: this browser cannot check it. */
  signature: 'pinned' | 'own' | 'unchecked' | 'none';
  /** Whether the digest of the last line was compared. */
  digest: boolean;
  count: number;
  dropped: number;
  /** Of the dropped: those that no retention entry of the log lists. */
  unproved: number;
  bytes: number;
  from: number;
  to: number;
  some: boolean;
  filtered: boolean;
  /** Of a filtered range: entries that show that they do not fit. */
  withheld: number;
  tenant: string;
  zone: string;
  size: number;
  root: string;
  chain: string;
  key: string;
  signedAt: number;
}
export interface Options {
  /** Public keys, 32 bytes each, that were got some other way. */
  pinned?: readonly Bytes[];
  /** Without pinned keys: those of the bundle count, which shows only that it fits itself. */
  trustEmbedded?: boolean;
  /** A head kept from before; without sig it was kept by a program that threw the signature away. */
  previous?: { body: Bytes; sig: Bytes | null };
  /** Accept entries without body that no retention entry lists: anybody may have taken such a body. */
  allowUnproved?: boolean;
  digestMax?: number;
  /** Gets the file itself, when it was not longer than digestMax and was read to its end. */
  kept?: (file: Blob) => void;
}
const RANGES_MAX = 2 ** 20;
/** What ends a verification: the first damage. */
export class Refused extends Error {
  readonly damage: Damage;
  readonly tseq: number;
  constructor(damage: Damage, tseq: number) {
    super(damage);
    this.damage = damage;
    this.tseq = tseq;
  }
}
const refuse = (damage: Damage, tseq = 0): never => {
  throw new Refused(damage, tseq);
};
interface Hashed {
  entry: Entry | null;
  leaf: Bytes | null;
  chain: Bytes | null;
  inTree: boolean;
}
interface Known {
  head: Head;
  done: boolean;
}

export class Verifier {
  readonly ret: Verdict;
  private m!: Manifest;
  private head!: Head;
  private known: Known[] = [];
  private previous: Head | null = null;
  private tree = new Tree();
  private waiting: Bytes[] = [];
  private chain!: Bytes;
  private back!: Bytes;
  private last: Bytes = new Uint8Array(32);
  private expected = 0;
  private to = 0;
  private want = 0;
  private seen = 0;
  private good = 0;
  private drops: [number, number][] = [];
  private retained = 0;
  private pending: { kind: 'gap' | 'chain'; tseq: number; line: number; gap: number } | null = null;
  private returned = false;
  private next: boolean | null = null;
  private end: End | null = null;
  private hasEnd = false;
  private digest: Bytes | null = null;
  private readonly o: Options;
  private readonly canSign: boolean;
  /** Digest of all bytes before the line that begins at this place, or null when they are too many. */
  private readonly sumTo: (at: number) => Promise<Bytes | null>;

  constructor(o: Options, canSign: boolean, sumTo: (at: number) => Promise<Bytes | null>) {
    this.o = o;
    this.canSign = canSign;
    this.sumTo = sumTo;
    const none = {
      tseq: 0,
      line: 0,
      count: 0,
      dropped: 0,
      unproved: 0,
      withheld: 0,
      bytes: 0,
      from: 0,
      to: 0,
      size: 0,
      signedAt: 0,
    };
    const words = { tenant: '', zone: '', root: '', chain: '', key: '' };
    this.ret = { result: 'ok', signature: 'none', digest: false, some: false, filtered: false, ...none, ...words };
  }

  /** All lines of a batch: their hashes together, then one after the other. */
  async lines(batch: readonly { bytes: Bytes; at: number }[]): Promise<void> {
    let rest = batch;
    if (this.ret.line === 0 && batch.length > 0) {
      this.ret.line = 1;
      await this.manifest(batch[0]!.bytes);
      rest = batch.slice(1);
    }
    const hashed = await this.hash(rest.map((l) => l.bytes));
    for (const [i, l] of rest.entries()) {
      this.ret.line++;
      const start = plain(l.bytes.subarray(0, 15));
      if (this.hasEnd) refuse('malformed');
      else if (start.startsWith('{"end":')) {
        this.digest = await this.sumTo(l.at);
        this.hasEnd = true;
        this.end = readEnd(l.bytes);
        if (!this.end && !this.pending) refuse('malformed');
      } else if (start.startsWith('{"checkpoint":')) {
        if (!this.pending) await this.checkpoint(l.bytes);
      } else if (start.startsWith('{"retention":')) {
        if (!this.pending) await this.retention(l.bytes);
      } else await this.record(l.bytes, hashed[i]!);
    }
    await this.plant();
  }

  private async hash(lines: readonly Bytes[]): Promise<Hashed[]> {
    let before: Bytes | null = this.chain;
    return Promise.all(
      lines.map(async (line) => {
        const claimed = before,
          read = line[2] === 0x74 && !this.pending ? this.read(line) : null; // {"tseq":
        if (read?.chain) before = read.chain;
        const entry = read && (await this.withLeaf(read));
        if (!entry) return { entry: null, leaf: null, chain: null, inTree: false };
        const [leaf, chain, inTree] = await Promise.all([
          entry.event ? (this.m.version === 1 ? leafOf(entry.event) : leafLike(entry.event, entry.leaf)) : null,
          entry.chain && claimed ? chainOf(claimed, entry.leaf) : null,
          entry.proof !== null && includes(entry.leaf, entry.tseq - 1, this.head.size, entry.proof, this.head.root),
        ]);
        return { entry, leaf, chain, inTree };
      }),
    );
  }

  private read(line: Bytes): Entry | (Omit<Entry, 'leaf'> & { shown: Shown }) | null {
    return readEntry(line) ?? (this.m.filtered ? readWithheld(line) : null);
  }
  private async withLeaf(e: Entry | (Omit<Entry, 'leaf'> & { shown: Shown })): Promise<Entry> {
    return 'leaf' in e ? e : { ...e, leaf: await shownLeafOf(e.shown) };
  }

  // ------------------------------------------------------------------------------------------------------- heads and trust
  private async trusts(signed: Signed, key: string): Promise<boolean> {
    if (!this.canSign) return true;
    const pinned = this.o.pinned ?? [];
    const own = this.o.trustEmbedded ? this.m.keys.filter((k) => k.id === key).map((k) => k.public) : [];
    const keys = pinned.length > 0 ? pinned : own;
    for (const k of keys) if (await signedBy(k, signed.body, signed.sig)) return true;
    return false;
  }
  /** A head of this very log, signed by a key that counts. */
  private async take(signed: { body: Bytes; sig: Bytes | null }): Promise<Head> {
    const head = readHead(signed.body);
    if (!head) return refuse('malformed');
    if (head.log !== this.m.tenant) refuse('spliced');
    if (signed.sig && !(await this.trusts({ body: signed.body, sig: signed.sig }, head.key))) refuse('wrong_key');
    return head;
  }

  private async manifest(line: Bytes): Promise<void> {
    const m = readManifest(line);
    if (!m) return refuse('malformed');
    this.m = m;
    Object.assign(this.ret, { from: m.from, to: m.to, some: m.some, filtered: m.filtered });
    Object.assign(this.ret, { tenant: m.tenant, zone: m.zone });
    const head = readHead(m.head.body);
    if (!head) return refuse('malformed');
    this.head = head;
    const said = { size: head.size, root: hex(head.root), chain: hex(head.chain), key: head.key, signedAt: head.at };
    Object.assign(this.ret, said);
    if (!(await this.trusts(m.head, head.key))) refuse('wrong_key');
    this.ret.signature = !this.canSign ? 'unchecked' : (this.o.pinned?.length ?? 0) > 0 ? 'pinned' : 'own';
    if (head.log !== m.tenant || head.zone !== m.zone) refuse('spliced');
    if (this.o.previous) this.known.push({ head: await this.take(this.o.previous), done: false });
    if (m.previous) {
      this.previous = await this.take(m.previous);
      this.known.push({ head: this.previous, done: false });
    }
    await this.range();
  }

  /** Where the entries begin: the frontier and the chain before them, which the head proves at the end. */
  private async range(): Promise<void> {
    const { m } = this,
      size = this.head.size;
    if (m.from < 1 || m.to < m.from || m.to > size || (!m.some && m.filtered !== (m.filter !== null)))
      refuse('malformed');
    this.expected = m.from;
    this.chain = this.back = m.chain;
    this.to = m.to;
    const begins = same(m.chain, await chainStart(m.tenant));
    if (m.some) {
      this.want = m.count;
      if (m.before.length > 0 || m.after.length > 0 || !begins) refuse('malformed');
      return;
    }
    this.want = this.to - m.from + 1;
    if (m.after.length !== coverLevels(m.to, size).length) refuse('malformed');
    const tree = Tree.of(m.from - 1, m.before);
    if (!tree) return refuse('malformed');
    if (m.from === 1 && !begins) refuse('malformed');
    this.tree = tree;
    this.good = m.from - 1;
    await this.knownHere();
  }

  private async plant(): Promise<void> {
    const leaves = this.waiting;
    this.waiting = [];
    await this.tree.addLeaves(leaves);
  }
  private async fits(head: Head): Promise<void> {
    await this.plant();
    if (!same(await this.tree.root(), head.root) || !same(this.chain, head.chain)) refuse('forked', this.good + 1);
    this.good = head.size;
  }
  private async knownHere(): Promise<void> {
    for (const k of this.known)
      if (!k.done && k.head.size === this.tree.size + this.waiting.length) {
        k.done = true;
        await this.fits(k.head);
      }
  }
  private async checkpoint(line: Bytes): Promise<void> {
    const signed = readCheckpoint(line);
    if (!signed || this.m.some) return refuse('malformed');
    const head = await this.take(signed);
    if (head.size !== this.tree.size + this.waiting.length) refuse('malformed');
    await this.fits(head);
  }
  private async retention(line: Bytes): Promise<void> {
    const r = readRetention(line);
    if (!r || this.seen > 0 || r.tseq <= this.retained || r.tseq > this.head.size) return refuse('malformed');
    this.retained = r.tseq;
    const may = this.m.version === 1 ? [await leafOf(r.event)] : await leavesOf(r.event);
    const isIn = (leaf: Bytes) => includes(leaf, r.tseq - 1, this.head.size, r.proof, this.head.root);
    if (!(await Promise.all(may.map(isIn))).includes(true)) refuse('edited', r.tseq);
    const event = readEvent(r.event);
    const drops = event?.tenant === this.m.tenant ? droppedBy(event, r.tseq) : null;
    if (!drops || this.drops.length + drops.length > RANGES_MAX) return refuse('malformed', r.tseq);
    this.drops.push(...drops);
  }

  // --------------------------------------------------------------------------------------------------------------- entries
  private async record(line: Bytes, h: Hashed): Promise<void> {
    this.ret.count = ++this.seen;
    if (this.pending) return this.afterDamage(line);
    const r = h.entry;
    if (!r || (r.proof !== null) !== this.m.some) return refuse('malformed', this.expected);
    const tenant = r.event ? tenantOf(r.event) : null;
    if (tenant !== null && tenant !== this.m.tenant) refuse('spliced', this.expected);
    if (this.m.some) return this.selected(r, h);
    if (r.tseq !== this.expected || this.expected > this.to) return this.order(r);
    this.body(r, h, this.expected);
    if (this.seen > 1 && same(r.leaf, this.last)) refuse('duplicated', this.expected);
    if (!same(h.chain!, r.chain!)) {
      if (this.seen > 1 && same(await chainOf(this.back, r.leaf), r.chain!)) refuse('inserted', this.expected - 1);
      this.suspend('chain', this.expected, 0);
      return;
    }
    this.fitsFilter(r, this.expected);
    this.back = this.chain;
    this.chain = h.chain!;
    this.last = r.leaf;
    this.expected++;
    this.waiting.push(r.leaf);
    await this.knownHere();
  }
  private suspend(kind: 'gap' | 'chain', tseq: number, gap: number): void {
    this.pending = { kind, tseq, line: this.ret.line, gap };
  }
  private body(r: Entry, h: Hashed, tseq: number): void {
    if (r.shown) return;
    if (r.event === null) {
      this.ret.dropped++;
      if (this.drops.some(([from, to]) => from <= tseq && tseq <= to)) return;
      this.ret.unproved++;
      if (!this.o.allowUnproved) refuse('edited', tseq);
    } else if (!same(h.leaf!, r.leaf)) refuse('edited', tseq);
    else if (tenantOf(r.event) === null) refuse('malformed', tseq);
  }
  private selected(r: Entry, h: Hashed): void {
    if (r.tseq < this.expected)
      refuse(this.seen > 1 && r.tseq + 1 === this.expected ? 'duplicated' : 'swapped', r.tseq);
    if (r.tseq > this.to) refuse('inserted', r.tseq);
    this.body(r, h, r.tseq);
    this.fitsFilter(r, r.tseq);
    if (!h.inTree) refuse('edited', r.tseq);
    this.expected = r.tseq + 1;
  }
  private fitsFilter(r: Entry, tseq: number): void {
    if (r.shown) {
      this.ret.withheld++;
      if (lets(this.m.filter!, r.shown.part)) refuse('deleted', tseq);
    } else if (r.event && this.m.filter) {
      const event = readEvent(r.event);
      if (!event) refuse('malformed', tseq);
      else if (!lets(this.m.filter, event)) refuse('inserted', tseq);
    }
  }
  /** An entry whose number is not the next one. */
  private async order(r: Entry): Promise<void> {
    const e = this.expected;
    if (e > this.to && r.tseq === e) refuse(same(r.leaf, this.last) ? 'duplicated' : 'inserted', e);
    if (r.tseq > e && e <= this.to) return this.suspend('gap', e, r.tseq);
    if (r.tseq + 1 === e && this.seen > 1 && !same(r.leaf, this.last))
      refuse('inserted', same(await chainOf(this.back, r.leaf), r.chain!) ? r.tseq : e);
    return refuse(r.tseq >= this.m.from && r.tseq < e ? 'duplicated' : 'inserted', e);
  }
  /** Entries after the damage: counted, and looked at for what tells its kind. */
  private async afterDamage(line: Bytes): Promise<void> {
    const p = this.pending!,
      tseq = numberOf(line);
    if (tseq >= p.tseq && tseq < p.gap) this.returned = true;
    if (this.next !== null) return;
    const read = p.kind === 'chain' ? this.read(line) : null,
      entry = read && (await this.withLeaf(read));
    this.next = entry?.chain ? same(await chainOf(this.chain, entry.leaf), entry.chain) : false;
  }

  // --------------------------------------------------------------------------------------------------------------- the end
  private resolve(): void {
    const p = this.pending!;
    this.ret.line = p.line;
    const isMore = this.seen > this.want;
    if (p.kind === 'gap') {
      if (this.returned) refuse(isMore ? 'duplicated' : 'swapped', p.tseq);
      refuse(isMore ? 'inserted' : 'deleted', p.tseq);
    }
    if (isMore) refuse('inserted', p.tseq);
    if (this.seen < this.want) refuse('deleted', p.tseq);
    refuse(this.next ? 'swapped' : 'edited', p.tseq);
  }
  private async extends(known: Head): Promise<void> {
    const { head } = this;
    if (known.size > head.size) refuse('truncated', head.size + 1);
    if (known.size === head.size)
      return same(known.root, head.root) && same(known.chain, head.chain) ? undefined : refuse('forked');
    if (this.previous?.size !== known.size) return refuse('malformed');
    const isGood = await extend(known.size, known.root, head.size, head.root, this.m.previous!.proof);
    return isGood ? undefined : refuse('forked');
  }
  /** The manifest's own proof is looked at though the tree has shown the same: what stands in a bundle is right or refused. */
  private async closePrevious(previous: Head): Promise<void> {
    const { head } = this,
      { proof } = this.m.previous!;
    if (previous.size >= head.size) return proof.length === 0 ? undefined : refuse('malformed');
    const isGood = await extend(previous.size, previous.root, head.size, head.root, proof);
    return isGood ? undefined : refuse('forked');
  }
  /** how: why there is no further line. */
  async finish(how: 'end' | 'cut' | 'long'): Promise<void> {
    if (how === 'long') refuse('malformed', this.expected);
    if (this.ret.line === 0) refuse(how === 'cut' ? 'truncated' : 'malformed');
    if (this.pending) this.resolve();
    if (!this.m.some && this.expected <= this.to) refuse('truncated', this.expected);
    if (how === 'cut') refuse('truncated');
    this.ret.line = 0;
    if (!this.m.some) await this.closeTree();
    for (const k of this.known) if (!k.done) await this.extends(k.head);
    if (this.previous) await this.closePrevious(this.previous);
    if (!this.hasEnd || !this.end) return refuse('truncated');
    if (this.end.count !== this.seen || this.m.count !== this.seen)
      refuse(this.seen < this.m.count ? 'deleted' : 'inserted');
    if ((this.digest && !same(this.digest, this.end.sha256)) || !same(this.end.sig, this.m.head.sig))
      refuse('malformed');
    this.ret.digest = this.digest !== null;
  }
  private async closeTree(): Promise<void> {
    const { head, m, tree } = this;
    const isWhole = tree.size === head.size;
    const levels = m.after.length > 0 ? coverLevels(this.to, head.size) : [];
    for (const [i, level] of levels.entries()) await tree.addSubtree(m.after[i]!, level);
    const isChained = !isWhole || same(this.chain, head.chain);
    if (tree.size !== head.size || !isChained || !same(await tree.root(), head.root)) refuse('forked', this.good + 1);
  }
}
