// SPDX-License-Identifier: Apache-2.0
// joblog.ts - the lines of a job's log that this page has: one unbroken stretch, made longer at either end.
//
// A log is opened at its end (or around a line that the address names) and read backwards as somebody scrolls up.
import { firstError, placeOf } from '../lib/loglevel.ts';
import { get, type Schemas } from './client.ts';
import type { QueryOf } from './paths.ts';

export type LogLine = Schemas['job_log_line'];
export const LINES_MAX = 200_000; // held at once; what is older is in the downloaded file
const PAGE = 1000;
const CATCH_UP = 5; // pages that one look at what is newer reads at most
const ERRORS = 200; // the newest lines that look like errors, among which the first of the newest execution is sought

export class JobLog {
  lines: LogLine[] = [];
  /** The stretch begins at the log's first line; it ends at its last one, as far as this page has heard. */
  atStart = false;
  atEnd = false;
  private readonly path: `/v1/jobs/${string}/logs`;
  private readonly watchers = new Set<() => void>();
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  version = 0;
  error: LogLine | undefined;
  opened = false;
  /** The number within the whole log of the first line that is held; kept while the stretch grows at either end. */
  private firstNumber = 1;

  constructor(jobId: string) {
    this.path = `/v1/jobs/${jobId}/logs`;
  }
  watch = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => void this.watchers.delete(f);
  };
  read = (): number => this.version;
  /** A held line's number within the whole log, from 1. */
  numberOf = (id: number): number | undefined => {
    const i = placeOf(this.lines, id);
    return this.lines[i]?.log_id === id ? this.firstNumber + i : undefined;
  };
  stop(): void {
    this.stopped = true;
  }
  private changed(): void {
    this.version++;
    for (const f of this.watchers) f();
  }
  private async page(query: QueryOf<'GET', `/v1/jobs/${string}/logs`>): Promise<LogLine[]> {
    return (await get(this.path, query)).data;
  }
  /** One reading at a time: two that began at the same end would bring the same lines twice. */
  private turn(what: () => Promise<void>): Promise<void> {
    const next = this.running.then(what);
    this.running = next.catch(() => undefined);
    return next;
  }
  /** The end of the log; or what stands around a line. */
  open(around?: number): Promise<void> {
    return this.turn(async () => {
      if (around === undefined) {
        this.lines = await this.page({ tail: PAGE, numbered: true });
        this.atEnd = true;
      } else {
        const before = await this.page({ before: around + 1, page_size: PAGE, numbered: true });
        const after = await this.page({ after: around, page_size: PAGE });
        this.lines = [...before, ...after];
        this.atEnd = after.length === 0;
      }
      this.atStart = this.lines.length === 0;
      this.firstNumber = this.lines[0]?.line ?? 1;
      this.changed();
    });
  }
  /** What was written since. A page may be short because its lines are long: only an empty one is the end. */
  newer(): Promise<void> {
    return this.turn(async () => {
      const known = [...this.lines];
      for (let i = 0; i < CATCH_UP && known.length < LINES_MAX; i++) {
        const last = known.at(-1);
        const more = await this.page({ page_size: PAGE, ...(last ? { after: last.log_id } : {}) });
        known.push(...more);
        this.atEnd = more.length === 0;
        if (this.atEnd) break;
      }
      if (known.length === this.lines.length) return;
      this.lines = known;
      this.changed();
    });
  }
  older(): Promise<void> {
    return this.turn(() => this.back(1));
  }
  /** Everything, up to LINES_MAX lines. */
  whole(): Promise<void> {
    return this.turn(() => this.back(LINES_MAX / PAGE));
  }
  private async back(pages: number): Promise<void> {
    const parts: LogLine[][] = [];
    const held = this.lines.length;
    let count = held;
    let first = this.lines[0]?.log_id;
    this.stopped = false;
    for (let i = 0; i < pages && first !== undefined && count < LINES_MAX && !this.stopped; i++) {
      const more = await this.page({ before: first, page_size: PAGE });
      this.atStart = more.length === 0;
      if (this.atStart) break;
      parts.unshift(more);
      count += more.length;
      first = more[0]!.log_id;
    }
    if (parts.length > 0) this.lines = [...parts.flat(), ...this.lines];
    this.firstNumber -= count - held;
    this.changed();
  }
  /** The line to begin reading at, which need not be among those that are held. */
  async firstError(): Promise<LogLine | undefined> {
    const bad = await this.page({ errors: true, tail: ERRORS });
    this.error = firstError(bad) ?? bad[0];
    this.changed();
    return this.error;
  }
}

/** The log of the job that was looked at last stays, so that its parts and its header read it once. */
let kept: { id: string; log: JobLog } | undefined;
export function jobLog(id: string): JobLog {
  if (kept?.id !== id) {
    kept?.log.stop();
    kept = { id, log: new JobLog(id) };
  }
  return kept.log;
}
