// SPDX-License-Identifier: Apache-2.0
// logfind.ts - which lines an expression hits, worked out in slices so that typing and scrolling stay smooth.
import { useEffect, useMemo, useState } from 'react';
import type { LogLine } from '../api/joblog.ts';
import { plain } from '../lib/ansi.ts';
import { levelOf, type Level } from '../lib/loglevel.ts';

const SLICE_MS = 8;
const WAIT_MS = 150;
/** Of a longer line only so much is searched: an expression can be slow without limit. */
const LONG = 10_000;

const levels = new WeakMap<LogLine, Level>();
export function lineLevel(l: LogLine): Level {
  let level = levels.get(l);
  if (level === undefined) levels.set(l, (level = levelOf(l.text)));
  return level;
}

/** null: nothing to look for; a text: what is wrong with the expression. */
export function expression(text: string): RegExp | string | null {
  if (text === '') return null;
  try {
    return new RegExp(text, 'giu');
  } catch (e) {
    return e instanceof Error ? e.message.replace(/^Invalid regular expression: /, '') : String(e);
  }
}

/** Indexes into lines, in order; null while it is being worked out for the first time. */
export function useMatches(
  lines: readonly LogLine[],
  text: string,
): { regex: RegExp | null; fault: string; hits: number[] | null } {
  const made = useMemo(() => expression(text), [text]);
  const regex = made instanceof RegExp ? made : null;
  const [found, setFound] = useState<{ of: string; hits: number[] } | null>(null);
  useEffect(() => {
    if (!regex) return undefined;
    let stopped = false;
    const run = async (): Promise<void> => {
      const hits: number[] = [];
      let end = performance.now() + SLICE_MS;
      for (let i = 0; i < lines.length; i++) {
        regex.lastIndex = 0;
        if (regex.test(plain(lines[i]!.text ?? '').slice(0, LONG))) hits.push(i);
        if (performance.now() < end) continue;
        await new Promise((done) => setTimeout(done, 0));
        if (stopped) return;
        end = performance.now() + SLICE_MS;
      }
      if (!stopped) setFound({ of: regex.source, hits });
    };
    const timer = setTimeout(() => void run(), WAIT_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [regex, lines]);
  return {
    regex,
    fault: typeof made === 'string' ? made : '',
    hits: regex === null ? null : found?.of === regex.source ? found.hits : null,
  };
}
