// SPDX-License-Identifier: Apache-2.0
// inside.ts - what is said in a session in a running program (core/wire/inside_wire.h): binary messages of a letter and its
// bytes; and how its end is told.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LETTER = { input: 'i', over: 'z', size: 's', pause: 'p', go: 'g' } as const;
/** falaj-api reads no longer message. */
export const PIECE = 16 * 1024;
export const PROTOCOL = 'falaj.inside';

export interface End {
  /** Of the command, where it ended by itself. */
  exit?: number;
  /** Why falaj-api ended it (core/wire/inside_why.def), or `cut`: no word came. */
  reason?: string;
  /** The machine's own words. */
  error?: string;
}
export type Heard = { kind: 'output'; bytes: Uint8Array } | { kind: 'end'; end: End } | { kind: 'unknown' };

function message(letter: string, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(bytes.length + 1);
  out[0] = letter.charCodeAt(0);
  out.set(bytes, 1);
  return out;
}
/** What was typed or pasted, in as many messages as it takes. */
export function typed(text: string, binary = false): Uint8Array<ArrayBuffer>[] {
  const bytes = binary ? Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff) : encoder.encode(text);
  const out: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) out.push(message(LETTER.input, bytes.subarray(at, at + PIECE)));
  return out;
}
/** There is no more input: for good, since the program reads the end of a file. */
export const over = (): Uint8Array<ArrayBuffer> => message(LETTER.over, new Uint8Array());
export const sized = (cols: number, rows: number): Uint8Array<ArrayBuffer> =>
  message(LETTER.size, encoder.encode(JSON.stringify({ cols, rows })));
export const paused = (is: boolean): Uint8Array<ArrayBuffer> =>
  message(is ? LETTER.pause : LETTER.go, new Uint8Array());

export function heard(data: ArrayBuffer): Heard {
  const bytes = new Uint8Array(data, Math.min(1, data.byteLength));
  const letter = data.byteLength > 0 ? String.fromCharCode(new Uint8Array(data)[0]!) : '';
  if (letter === 'o' || letter === 'e') return { kind: 'output', bytes };
  if (letter !== 'x') return { kind: 'unknown' };
  return { kind: 'end', end: endOf(decoder.decode(bytes)) };
}
function endOf(text: string): End {
  let said: { exit_code?: unknown; error?: unknown; reason?: unknown };
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    return { reason: 'machine_talk' };
  }
  return {
    ...(typeof said.exit_code === 'number' ? { exit: said.exit_code } : {}),
    ...(typeof said.reason === 'string' && said.reason ? { reason: said.reason } : {}),
    ...(typeof said.error === 'string' && said.error ? { error: said.error } : {}),
  };
}

/** A pause is asked for where so much waits to be drawn, and over where only so much is left. */
const [MUCH, LITTLE] = [512 * 1024, 64 * 1024];
/** Says when to pause and when to go on, each once. */
export class Brake {
  waiting = 0;
  isOn = false;
  add(n: number): boolean {
    this.waiting += n;
    if (this.isOn || this.waiting < MUCH) return false;
    this.isOn = true;
    return true;
  }
  drawn(n: number): boolean {
    this.waiting -= n;
    if (!this.isOn || this.waiting > LITTLE) return false;
    this.isOn = false;
    return true;
  }
}
