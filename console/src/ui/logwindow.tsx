// SPDX-License-Identifier: Apache-2.0
// logwindow.tsx - the few rows of a log that are in sight. It alone draws again while somebody scrolls.
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { LogLine as Line } from '../api/joblog.ts';
import { LogLine } from './logline.tsx';
import { placeOf } from '../lib/loglevel.ts';
import type { LogLook } from './logtools.tsx';

const ROW = 20;
const OVERSCAN = 12;
const NEAR = 30; // lines before the border of what is held, at which more is read

export interface LogWindowHandle {
  box: HTMLDivElement | null;
  /** Index of the row at the top of the window. */
  top: () => number;
  scrollTo: (index: number, align: 'center' | 'end') => void;
}
interface Props {
  ref: Ref<LogWindowHandle>;
  shown: readonly Line[];
  /** How many lines are held: when it has grown and the border is still near, more is read. */
  held: number;
  armed: boolean;
  look: LogLook;
  regex: RegExp | null;
  selected: number;
  numberOf: (id: number) => number | undefined;
  href: string;
  onSelect: (id: number) => void;
  onNear: (border: 'top' | 'end') => void;
}

export const LogWindow = memo(function LogWindow(p: Props) {
  const { t } = useTranslation();
  const { shown, look } = p;
  const box = useRef<HTMLDivElement>(null);
  // A new function each time would make it measure every line again at every scroll.
  const keyOf = useCallback((i: number) => shown[i]?.log_id ?? i, [shown]);
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    getItemKey: keyOf,
    overscan: OVERSCAN,
    measureElement: (e) => e.getBoundingClientRect().height,
  });
  useLayoutEffect(() => rows.measure(), [look.wrap, rows]);
  useImperativeHandle(
    p.ref,
    () => ({
      box: box.current,
      top: () => rows.getVirtualItemForOffset(rows.scrollOffset ?? 0)?.index ?? 0,
      scrollTo: (index, align) => rows.scrollToIndex(index, { align }),
    }),
    [rows],
  );

  // What is added in front moves what is read down; the reader stays where they were.
  const first = shown[0]?.log_id ?? 0;
  const before = useRef(first);
  useLayoutEffect(() => {
    const added = first < before.current ? placeOf(shown, before.current) : 0;
    before.current = first;
    const at = box.current;
    if (!at || added === 0) return;
    if (look.wrap) rows.scrollToIndex(added, { align: 'start' });
    else at.scrollTop += added * ROW;
  }, [first, shown, look.wrap, rows]);

  const drawn = rows.getVirtualItems();
  const nearTop = p.armed && (drawn[0]?.index ?? NEAR) < NEAR;
  const nearEnd = p.armed && (drawn.at(-1)?.index ?? 0) > shown.length - NEAR;
  const { onNear, held } = p;
  useEffect(() => {
    if (nearTop) onNear('top');
  }, [nearTop, held, onNear]);
  useEffect(() => {
    if (nearEnd) onNear('end');
  }, [nearEnd, held, onNear]);
  return (
    <div
      className={`log${look.wrap ? ' wrap' : ''}`}
      ref={box}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={t('log.label')}
      dir="ltr"
      translate="no"
    >
      <div className="log-size" ref={(e) => void (e && (e.style.blockSize = `${rows.getTotalSize()}px`))}>
        {drawn.map((v) => {
          const line = shown[v.index]!;
          return (
            <LogLine
              key={line.log_id}
              line={line}
              number={p.numberOf(line.log_id)}
              index={v.index}
              start={v.start}
              times={look.times}
              regex={p.regex}
              selected={line.log_id === p.selected}
              href={p.href}
              onSelect={p.onSelect}
              measure={look.wrap ? rows.measureElement : null}
            />
          );
        })}
      </div>
    </div>
  );
});
