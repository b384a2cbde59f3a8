// SPDX-License-Identifier: Apache-2.0
// inside.test.ts - messages of a terminal, its brake, and that each reason of an end has words.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withOurStyles } from '../terminalstyles.ts';
import { Brake, heard, paused, PIECE, sized, typed } from '../src/lib/inside.ts';
import { ar, en } from './catalogues.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const from = (s: string): ArrayBuffer => Uint8Array.from(new TextEncoder().encode(s)).buffer;

test('what is typed is cut into messages that falaj-api reads, and loses nothing', () => {
  const long = 'ش'.repeat(PIECE);
  const parts = typed(long);
  expect(parts.length).toBe(2);
  expect(parts.every((p) => p[0] === 'i'.charCodeAt(0) && p.length <= PIECE + 1)).toBe(true);
  expect(text(Uint8Array.from(parts.flatMap((p) => [...p.subarray(1)])))).toBe(long);
  expect(typed('')).toEqual([]);
  expect([...typed('\xff', true)[0]!]).toEqual(['i'.charCodeAt(0), 0xff]);
});

test('a size and a pause are said as they are read', () => {
  expect(text(sized(80, 24))).toBe('s{"cols":80,"rows":24}');
  expect(text(paused(true)) + text(paused(false))).toBe('pg');
});

test('what comes is output, an end, or unknown', () => {
  expect(heard(from('oab'))).toEqual({ kind: 'output', bytes: new TextEncoder().encode('ab') });
  expect(heard(from('x{"exit_code":7}'))).toEqual({ kind: 'end', end: { exit: 7 } });
  expect(heard(from('x{"error":"no sh","reason":"idle"}'))).toEqual({
    kind: 'end',
    end: { error: 'no sh', reason: 'idle' },
  });
  expect(heard(from('xnonsense'))).toEqual({ kind: 'end', end: { reason: 'machine_talk' } });
  expect(heard(from('?'))).toEqual({ kind: 'unknown' });
  expect(heard(from(''))).toEqual({ kind: 'unknown' });
});

test('the brake is pulled once where much waits, and let go once where little does', () => {
  const b = new Brake();
  expect(b.add(500_000)).toBe(false);
  expect(b.add(100_000)).toBe(true);
  expect(b.add(100_000)).toBe(false);
  expect(b.drawn(500_000)).toBe(false);
  expect(b.drawn(150_000)).toBe(true);
  expect(b.drawn(50_000)).toBe(false);
  expect(b.waiting).toBe(0);
});

test('each reason for which falaj-api ends a session has words in both languages', () => {
  const table = readFileSync(join(import.meta.dirname, '../../core/wire/inside_why.def'), 'utf8');
  const words = [...table.matchAll(/^WHY\(\w+, "(\w+)"/gm)].map((m) => m[1]!);
  expect(words.length).toBeGreaterThan(10);
  for (const of of [en, ar])
    expect([...words, 'cut', 'not_opened'].filter((w) => !of['inside']?.[`end_${w}`])).toEqual([]);
});

test("the terminal's library makes no style that the console's policy refuses", () => {
  const library = readFileSync(join(import.meta.dirname, '../node_modules/@xterm/xterm/lib/xterm.mjs'), 'utf8');
  expect(withOurStyles(library)).not.toMatch(
    /createElement\("style"\)|setAttribute\("style"|insertAdjacentHTML|\beval\(/,
  );
  expect(() => withOurStyles(`${library};d.createElement("style")`)).toThrow('stands 4 times');
});
