// SPDX-License-Identifier: Apache-2.0
// loglevel.ts - what a line of a log says of itself: an error, a warning, or neither. A guess from its words, for jumping and colouring only.
import { plain } from './ansi.ts';

export type Level = 'error' | 'warn' | '';

// Words that are errors wherever they stand; a Python exception ("ValueError: …"); the letter of glog ("E1122 12:00:00").
const ERROR =
  /\b(?:errors?|fatal|panic(?:ked)?|critical|traceback|exception|segmentation fault|core dumped|out of memory|oom-?kill(?:ed|er)?|killed|failed|failure|aborted|[A-Za-z]+(?:Error|Exception))\b|^[EF]\d{4} \d\d:/i;
const WARN = /\b\w*warn(?:ing)?s?\b|\bdeprecat(?:ed|ion)\b|^W\d{4} \d\d:/i;
// A measure named error ("error 0.12", "error_rate=3"), a count of none ("0 errors"), and a level that the line names itself.
const MEASURE =
  /\b(?:\w+[_ ])?errors?(?:[_ ]rate)?\s*[=:]?\s*[\d.]+(?:e[+-]?\d+)?%?(?=[\s,;)\]]|$)|\b(?:0|no|without|zero) (?:errors?|failures?)\b/gi;
const NAMED =
  /(?:\blevel\s*[=:]\s*"?|"(?:level|severity|levelname)"\s*:\s*"|^[^A-Za-z]*\[?|\s-\s|\s\[?)(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b(?=["\]:\s]|$)/;

export function levelOf(text: string | undefined): Level {
  const line = plain(text ?? '');
  const named = NAMED.exec(line) ?? /"(?:level|severity|levelname)"\s*:\s*"(\w+)"|\blevel=(\w+)/i.exec(line);
  const word = (named?.[1] ?? named?.[2])?.toUpperCase();
  if (word) return /^(ERROR|FATAL|CRITICAL)$/.test(word) ? 'error' : word.startsWith('WARN') ? 'warn' : '';
  if (ERROR.test(line.replace(MEASURE, ''))) return 'error';
  return WARN.test(line) ? 'warn' : '';
}

interface Said {
  log_id: number;
  fence: number;
  text?: string;
}
/** The line to begin reading at: the first error of the newest execution, else the first of all, else none. */
export function firstError<T extends Said>(lines: readonly T[]): T | undefined {
  const newest = lines.reduce((n, l) => Math.max(n, l.fence), 0);
  return (
    lines.find((l) => l.fence === newest && levelOf(l.text) === 'error') ??
    lines.find((l) => levelOf(l.text) === 'error')
  );
}

/** The place of the line in lines, which are in the order of log_id; where it is not there, the next one's. */
export function placeOf(lines: readonly { log_id: number }[], id: number): number {
  let lo = 0,
    hi = lines.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (lines[mid]!.log_id < id) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
