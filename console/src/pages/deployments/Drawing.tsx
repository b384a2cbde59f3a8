// SPDX-License-Identifier: Apache-2.0
// Drawing.tsx - a row of numbers as a square to draw on. Pointer: press or drag; keys: arrows move, space draws, Delete wipes. What it
// holds is the same text as in the field beside it.
import { Button } from '@patternfly/react-core';
import { useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import './play.css';

interface Props {
  label: string;
  side: number;
  values: number[];
  ink: number;
  onChange: (values: number[]) => void;
}
const MOVES: Record<string, [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function Drawing({ label, side, values, ink, onChange }: Props) {
  const { t } = useTranslation();
  const [at, setAt] = useState(0);
  const pen = useRef<number | null>(null);
  const now = useRef(values);
  now.current = values;
  const most = Math.max(ink, ...values, 1e-9);
  const put = (i: number, v: number): void => {
    if (now.current[i] === v) return;
    now.current = now.current.map((old, k) => (k === i ? v : old));
    onChange(now.current);
  };
  const key = (e: KeyboardEvent): void => {
    const move = MOVES[e.key];
    if (move) {
      const x = Math.min(side - 1, Math.max(0, (at % side) + move[0]));
      const y = Math.min(side - 1, Math.max(0, Math.floor(at / side) + move[1]));
      setAt(y * side + x);
    } else if (e.key === ' ' || e.key === 'Enter') {
      put(at, values[at] === 0 ? ink : 0);
    } else if (e.key === 'Delete' || e.key === 'Backspace') {
      put(at, 0);
    } else {
      return;
    }
    e.preventDefault();
  };
  const cellOf = (e: PointerEvent): number | null => {
    const hit = document.elementFromPoint(e.clientX, e.clientY)?.closest('[data-cell]');
    return hit && e.currentTarget.contains(hit) ? Number(hit.getAttribute('data-cell')) : null;
  };
  return (
    <div className="drawing">
      <div
        className="drawing-grid"
        dir="ltr"
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={`cell-${at}`}
        aria-rowcount={side}
        aria-colcount={side}
        style={{ gridTemplateColumns: `repeat(${side}, 1fr)` }}
        onKeyDown={key}
        onPointerDown={(e) => {
          const i = cellOf(e);
          if (i === null) return;
          pen.current = values[i] === 0 ? ink : 0;
          setAt(i);
          put(i, pen.current);
        }}
        onPointerMove={(e) => {
          const i = pen.current === null || e.buttons === 0 ? null : cellOf(e);
          if (i !== null) put(i, pen.current!);
        }}
        onPointerUp={() => (pen.current = null)}
        onPointerLeave={() => (pen.current = null)}
      >
        {Array.from({ length: side }, (_, y) => (
          <div role="row" key={y} className="drawing-row">
            {Array.from({ length: side }, (_unused, x) => {
              const i = y * side + x;
              const v = values[i] ?? 0;
              return (
                <div
                  key={x}
                  id={`cell-${i}`}
                  role="gridcell"
                  data-cell={i}
                  aria-label={t('play.cell', { row: y + 1, col: x + 1, value: number(v, 3) })}
                  className={i === at ? 'drawing-cell is-at' : 'drawing-cell'}
                >
                  <span className="drawing-ink" style={{ opacity: Math.max(0, Math.min(1, v / most)) }} />
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <p className="lead drawing-help">{t('play.drawHelp')}</p>
      <Button variant="link" size="sm" onClick={() => onChange(Array(side * side).fill(0))}>
        {t('play.wipe')}
      </Button>
    </div>
  );
}
