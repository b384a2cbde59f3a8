// SPDX-License-Identifier: Apache-2.0
// ansi.ts - the colours of a terminal (SGR) as pieces of text with class names. Never HTML; every other control sequence is left out.
//
// An agent keeps control bytes out of the log and writes ? for each, so an escape arrives as "?[31m": that form is read as well.
export interface Piece {
  text: string;
  /** Class names: ansi-1 … ansi-15 the colour, ansi-on-N the background, bold, faint, italic, under. */
  look: string;
}
interface State {
  fg: number | null;
  bg: number | null;
  flags: Set<string>;
}
const SEQUENCE = /(?:\x1b|\?)\[([\d;]*)m|\x1b\[[\d;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
const FLAGS: Record<number, string> = { 1: 'bold', 2: 'faint', 3: 'italic', 4: 'under' };

/** 256 and true colours are read over but not shown: their contrast on the page's ground is anybody's guess. */
function apply(state: State, codes: number[]): void {
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i]!;
    if (c === 0) Object.assign(state, { fg: null, bg: null, flags: new Set() });
    else if (FLAGS[c]) state.flags.add(FLAGS[c]);
    else if (c === 22) for (const f of ['bold', 'faint']) state.flags.delete(f);
    else if (c === 23) state.flags.delete('italic');
    else if (c === 24) state.flags.delete('under');
    else if (c >= 30 && c <= 37) state.fg = c - 30;
    else if (c >= 90 && c <= 97) state.fg = c - 82;
    else if (c === 39) state.fg = null;
    else if (c >= 40 && c <= 47) state.bg = c - 40;
    else if (c >= 100 && c <= 107) state.bg = c - 92;
    else if (c === 49) state.bg = null;
    else if (c === 38 || c === 48) i += codes[i + 1] === 5 ? 2 : 4;
  }
}
function lookOf(s: State): string {
  const out = [...s.flags];
  if (s.fg !== null) out.push(`ansi-${s.fg}`);
  if (s.bg !== null) out.push(`ansi-on-${s.bg}`);
  return out.join(' ');
}

export function pieces(text: string): Piece[] {
  if (!text.includes('[') && !text.includes('\x1b')) return text === '' ? [] : [{ text, look: '' }];
  const state: State = { fg: null, bg: null, flags: new Set() };
  const out: Piece[] = [];
  let from = 0;
  const put = (to: number): void => {
    if (to > from) out.push({ text: text.slice(from, to), look: lookOf(state) });
  };
  for (const m of text.matchAll(SEQUENCE)) {
    put(m.index);
    from = m.index + m[0].length;
    if (m[1] !== undefined) apply(state, m[1] === '' ? [0] : m[1].split(';').map(Number));
  }
  put(text.length);
  return out;
}
export const plain = (text: string): string => (text.includes('[') ? text.replace(SEQUENCE, '') : text);

/** Where `find` (with the flag g) hits, the pieces are cut, and `hit` is added to their look. */
export function marked(of: readonly Piece[], find: RegExp | null): Piece[] {
  if (find === null) return [...of];
  const whole = of.map((p) => p.text).join('');
  const hits = [...whole.matchAll(find)].filter((m) => m[0] !== '').map((m) => [m.index, m.index + m[0].length]);
  if (hits.length === 0) return [...of];
  const out: Piece[] = [];
  let at = 0;
  for (const p of of) {
    const end = at + p.text.length;
    const cuts = [...new Set([at, end, ...hits.flat().filter((x) => x > at && x < end)])].sort((a, b) => a - b);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [a, b] = [cuts[i]!, cuts[i + 1]!];
      const hit = hits.some(([x, y]) => x! <= a && b <= y!);
      out.push({ text: whole.slice(a, b), look: hit ? `${p.look} hit`.trim() : p.look });
    }
    at = end;
  }
  return out;
}
