// SPDX-License-Identifier: Apache-2.0
// joblog.ts - the lines of a job's log that this page has: one unbroken stretch, made longer at either end.
//
// A log is opened at its end (or around a line that the address names) and read backwards as somebody scrolls up.
import { getJson, type Page, type Schemas } from './client.ts';

export type LogLine = Schemas['job_log_line'];
export const LINES_MAX = 200_000; // held at once; what is older is in the downloaded file
const PAGE = 200;

export class JobLog {
  lines: LogLine[] = [];
  /** The stretch begins at the log's first line; it ends at its last one, as far as this page has heard. */
  atStart = false;
  atEnd = false;
  private readonly path: string;
  private readonly watchers = new Set<() => void>();
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  version = 0;

  constructor(jobId: string) {
    this.path = `/v1/jobs/${jobId}/logs`;
  }
  watch = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => void this.watchers.delete(f);
  };
  read = (): number => this.version;
  stop(): void {
    this.stopped = true;
  }
  private changed(): void {
    this.version++;
    for (const f of this.watchers) f();
  }
  private async page(query: string): Promise<LogLine[]> {
    return (await getJson<Page<LogLine>>(`${this.path}?${query}`)).data;
  }
  /** One reading at a time: two that began at the same end would bring the same lines twice. */
  private turn(what: () => Promise<void>): Promise<void> {
    const next = this.running.then(what);
    this.running = next.catch(() => undefined);
    return next;
  }
  open(): Promise<void> {
    return this.turn(async () => {
      this.atStart = true;
      await this.forward();
    });
  }
  /** What was written since. */
  newer(): Promise<void> {
    return this.turn(() => this.forward());
  }
  private async forward(): Promise<void> {
    const known = [...this.lines];
    for (this.stopped = false; !this.stopped && known.length < LINES_MAX;) {
      const last = known.at(-1);
      const more = await this.page(`page_size=${PAGE}${last ? `&after=${last.log_id}` : ''}`);
      known.push(...more);
      this.atEnd = more.length < PAGE;
      if (this.atEnd) break;
    }
    if (known.length === this.lines.length && this.version > 0) return;
    this.lines = known;
    this.changed();
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
