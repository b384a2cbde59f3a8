// SPDX-License-Identifier: Apache-2.0
// logline.tsx - one line of a log: its number within the log, which leads to its address, its time, its text with the colours it asks for. Text stays text.
import { memo } from 'react';
import type { LogLine as Line } from '../api/joblog.ts';
import { marked, pieces } from '../lib/ansi.ts';
import { clock } from '../lib/format.ts';
import { lineLevel } from './logfind.ts';

interface Props {
  line: Line;
  number: number | undefined;
  index: number;
  start: number;
  times: boolean;
  regex: RegExp | null;
  selected: boolean;
  href: string;
  onSelect: (id: number) => void;
  measure: ((e: HTMLElement | null) => void) | null;
}

export const LogLine = memo(function LogLine(p: Props) {
  const { line } = p;
  const level = lineLevel(line);
  return (
    <div
      data-index={p.index}
      data-id={line.log_id}
      className={`log-line ${level} ${line.stream ?? ''}${p.selected ? ' found' : ''}`}
      {...(p.selected ? { 'aria-current': 'location' as const } : {})}
      ref={(e) => {
        if (!e) return;
        e.style.transform = `translateY(${p.start}px)`;
        p.measure?.(e);
      }}
    >
      <a
        href={`${p.href}#L${line.log_id}`}
        tabIndex={-1}
        className="log-number"
        onClick={(e) => {
          if (e.ctrlKey || e.metaKey || e.shiftKey) return;
          e.preventDefault();
          p.onSelect(line.log_id);
        }}
      >
        {p.number}
      </a>
      {p.times && <time dateTime={line.at}>{clock(line.at)}</time>}
      <span className="log-text">
        {marked(pieces(line.text ?? ''), p.regex).map((x, i) =>
          x.look === '' ? (
            x.text
          ) : (
            <span key={i} className={x.look}>
              {x.text}
            </span>
          ),
        )}
      </span>
    </div>
  );
});
