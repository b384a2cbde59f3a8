// SPDX-License-Identifier: Apache-2.0
// audit-verify-judge.ts - checks the lines of a bundle in one pass, as audit/verify.c does: the same verdict and entry for the
// same bytes.
//
// A batch of lines is hashed at once (audit-verify-lines.ts); then the lines are judged one after the
// other, and the first that does not fit ends it.
import {
  droppedBy,
  lets,
  numberOf,
  plain,
  readCheckpoint,
  readEnd,
  readEvent,
  readHead,
  readManifest,
  readRetention,
  tenantOf,
  type End,
  type Entry,
  type Head,
  type Manifest,
} from './audit-verify-format.ts';
import {
  chainOf,
  chainStart,
  coverLevels,
  hex,
  includes,
  leafOf,
  same,
  Tree,
  type Bytes,
} from './audit-verify-hash.ts';
import { closePrevious, extendsTo, takeHead, trusts } from './audit-verify-heads.ts';
import { leavesOf } from './audit-verify-leaf.ts';
import { entryOf, hashLines, type Hashed } from './audit-verify-lines.ts';
import { refuse, unread, type Options, type Verdict } from './audit-verify-verdict.ts';

const RANGES_MAX = 2 ** 20;
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
    this.ret = unread();
  }

  /** All lines of a batch: their hashes together, then one after the other. */
  async lines(batch: readonly { bytes: Bytes; at: number }[]): Promise<void> {
    let rest = batch;
    if (this.ret.line === 0 && batch.length > 0) {
      this.ret.line = 1;
      await this.manifest(batch[0]!.bytes);
      rest = batch.slice(1);
    }
    const hashed = await hashLines(
      this.m,
      this.head,
      this.chain,
      rest.map((l) => l.bytes),
      this.pending !== null,
    );
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

  // ------------------------------------------------------------------------------------------------------- heads and trust
  private take(signed: { body: Bytes; sig: Bytes | null }): Promise<Head> {
    return takeHead(this.o, this.canSign, this.m, signed);
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
    if (!(await trusts(this.o, this.canSign, m, m.head, head.key))) refuse('wrong_key');
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
    const entry = p.kind === 'chain' ? await entryOf(this.m, line) : null;
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
  /** how: why there is no further line. */
  async finish(how: 'end' | 'cut' | 'long'): Promise<void> {
    if (how === 'long') refuse('malformed', this.expected);
    if (this.ret.line === 0) refuse(how === 'cut' ? 'truncated' : 'malformed');
    if (this.pending) this.resolve();
    if (!this.m.some && this.expected <= this.to) refuse('truncated', this.expected);
    if (how === 'cut') refuse('truncated');
    this.ret.line = 0;
    if (!this.m.some) await this.closeTree();
    for (const k of this.known) if (!k.done) await extendsTo(this.head, k.head, this.previous, this.m);
    if (this.previous) await closePrevious(this.head, this.previous, this.m);
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
