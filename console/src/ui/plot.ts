// SPDX-License-Identifier: Apache-2.0
// plot.ts - lines drawn by uPlot in the colours of the page. Time runs from left to right in every language.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bytes, number, shortTime, timeZone } from '../lib/format.ts';
import { ema, placed, unitOf, type Axis, type Line } from '../lib/series.ts';
import { dashOf, ink } from './theme.ts';

export interface View {
  x: Axis;
  log: boolean;
  /** 0: as measured; below 1: the weight of what was before. */
  smooth: number;
}
export const HEIGHT = 230;
const SYNC = 'falaj';
/** What stands to both sides of a lone point, in the unit of the axis. */
const LONE: Record<Axis, number> = { step: 1, relative: 1, time: 30 };
/** Steps are counted: none lies between two. */
const WHOLE = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

export const value = (v: number | null | undefined, unit: string): string =>
  v === null || v === undefined ? '' : unit === 'B' ? bytes(v) : number(v, Math.abs(v) < 0.01 ? 6 : 4);
export const position = (x: number, axis: Axis): string =>
  axis === 'time' ? shortTime(x * 1000) : axis === 'relative' ? `${number(x, 1)} s` : number(x);

export interface Drawn {
  data: uPlot.AlignedData;
  /** Values that a logarithm does not have. */
  left: number;
}
/** Column 0: positions; then for each line its values, and with smoothing the smoothed ones after them. */
export function columns(lines: readonly Line[], view: View): Drawn {
  let left = 0;
  const fit = (v: number | null): number | null => {
    if (v === null || !view.log || v > 0) return v;
    left++;
    return null;
  };
  const tables = lines.map((l): uPlot.AlignedData => {
    const [x, y] = placed(l, view.x);
    const raw = view.log ? y.map(fit) : y;
    return view.smooth > 0 ? [x, raw, ema(raw, view.smooth)] : [x, raw];
  });
  const data =
    tables.length === 1 ? tables[0]! : tables.length === 0 ? ([[]] as uPlot.AlignedData) : uPlot.join(tables);
  return { data, left };
}

/** Words on the canvas, which runs from left to right, in the reader's own order. */
const own = (text: string): string => (document.documentElement.dir === 'rtl' ? `\u2067${text}\u2069` : text);

interface Options {
  lines: readonly Line[];
  view: View;
  name: string;
  hidden: ReadonlySet<string>;
  axisLabel: string;
  onCursor: (index: number | null) => void;
}
export function draw(at: HTMLElement, drawn: Drawn, o: Options): uPlot {
  performance.mark('falaj-chart');
  const colours = ink();
  const unit = unitOf(o.name);
  const font = `12px ${getComputedStyle(at).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: colours.text,
    font,
    labelFont: font,
    labelSize: 18,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1 },
  };
  const series: uPlot.Series[] = [{}];
  for (const l of o.lines) {
    const stroke = colours.lines[l.colour % colours.lines.length]!;
    const look = { stroke, dash: [...dashOf(l.colour)], show: !o.hidden.has(l.key), points: { show: l.y.length < 60 } };
    if (o.view.smooth > 0)
      series.push(
        { ...look, label: l.label, stroke: `${stroke}55`, width: 1, dash: [], points: { show: false } },
        { ...look, label: l.label, width: 2, points: { show: false } },
      );
    else series.push({ ...look, label: l.label, width: 2 });
  }
  let first = true;
  const around = LONE[o.view.x];
  return new uPlot(
    {
      width: Math.max(200, at.clientWidth),
      height: HEIGHT,
      tzDate: (s) => uPlot.tzDate(new Date(s * 1000), timeZone()),
      legend: { show: false },
      scales: {
        x: {
          time: o.view.x === 'time',
          // One point has no extent of its own: an axis of years would be drawn around it.
          range: (u, from, to) => {
            if (from === null) return [0, 1];
            const only = u.data[0].length === 1 ? u.data[0][0]! : from === to ? from : null;
            return only === null ? [from, to] : [only - around, only + around];
          },
        },
        y: o.view.log ? { distr: 3 } : {},
      },
      cursor: { y: false, sync: { key: `${SYNC}-${o.view.x}` }, drag: { x: true, y: false } },
      axes: [
        {
          ...axis,
          label: own(o.axisLabel),
          size: 30,
          ...(o.view.x === 'step' ? { incrs: WHOLE } : {}),
          space: o.view.x === 'time' ? 90 : 50,
          values: (_u, v, _axis, _space, apart) =>
            v.map((x) =>
              o.view.x === 'time'
                ? own(shortTime(x * 1000, (v.at(-1)! - v[0]!) / 86_400 > 0.8))
                : number(x, apart < 1 ? Math.ceil(-Math.log10(apart)) : 0),
            ),
        },
        {
          ...axis,
          size: (_u, values) => Math.max(44, 18 + 7 * Math.max(0, ...(values ?? []).map((v) => v?.length ?? 0))),
          values: (_u, v) => v.map((x) => (x === null ? '' : unit === 'B' ? own(bytes(x)) : number(x, 6))),
        },
      ],
      series,
      hooks: {
        setCursor: [(u) => o.onCursor(u.cursor.idx ?? null)],
        draw: [
          () => {
            if (first) performance.measure('falaj-chart', 'falaj-chart');
            first = false;
          },
        ],
      },
    },
    drawn.data,
    at,
  );
}

/** The picture with its title on the page's ground, as PNG. */
export function png(plot: uPlot, title: string): Promise<Blob | null> {
  const from = plot.ctx.canvas;
  const ratio = devicePixelRatio,
    top = Math.round(28 * ratio);
  const to = document.createElement('canvas');
  to.width = from.width;
  to.height = from.height + top;
  const c = to.getContext('2d')!;
  const colours = ink();
  c.fillStyle = colours.ground;
  c.fillRect(0, 0, to.width, to.height);
  c.fillStyle = colours.text;
  c.font = `600 ${14 * ratio}px sans-serif`;
  c.fillText(title, 10 * ratio, 18 * ratio);
  c.drawImage(from, 0, top);
  return new Promise((done) => to.toBlob(done, 'image/png'));
}
/** The cursor to a point by its place in column 0; charts of the same axis follow. */
export function pointTo(plot: uPlot, index: number): void {
  const x = plot.data[0][index];
  if (x === undefined) return;
  const { min, max } = plot.scales['x']!;
  if (x < (min ?? x) || x > (max ?? x)) plot.setScale('x', { min: plot.data[0][0]!, max: plot.data[0].at(-1)! });
  // The third argument, which its types leave out, tells the other charts.
  const set = plot.setCursor as (at: { left: number; top: number }, fire: boolean, tell: boolean) => void;
  set({ left: plot.valToPos(x, 'x'), top: 10 }, true, true);
}
