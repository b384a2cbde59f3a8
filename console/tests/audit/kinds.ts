// SPDX-License-Identifier: Apache-2.0
// kinds.ts - kinds of tampering with a bundle, as a table: each takes a place in a log, and gives a bundle that is not whole.
import { joined } from './fixture.ts';
import { RETENTION, SELECTION, spelled, SPELLING } from './kinds-events.ts';
import { FILTERED, WHOLE_FILTERED } from './kinds-filtered.ts';
import { ENDS, HEADS, MANIFEST } from './kinds-heads.ts';
import { BYTES, RECORDS } from './kinds-lines.ts';
import { at, bare, part, point, put, range, some, swapped, type Kind } from './kinds-tools.ts';

export const KINDS: Record<string, Kind> = {
  ...BYTES,
  ...RECORDS,
  ...MANIFEST,
  ...HEADS,
  ...ENDS,
  ...RETENTION,
  ...SPELLING,
  ...SELECTION,
  ...FILTERED,
};
/** Whole bundles, and spellings that are unusual and right: none may be refused. */
export const WHOLE: Record<string, Kind> = {
  ...WHOLE_FILTERED,
  'a range': (p) => joined(range(p)),
  'a part': (p) => joined(part(p)),
  'a selection': (p) => joined(some(p)),
  'a selection that does not say what it proves': (p) => swapped(p, ',"proves":"inclusion"', '', some(p)),
  'listed bodies that are gone': (p) => joined(bare(p, p.drops[p.rnd(3)])),
  'a checkpoint twice': (p) => joined(put(range(p), at(range(p), p.t) + 1, 0, point(p, p.t))),
  'an event with all its escapes': (p) =>
    spelled(p, '10.1.2.3', '\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f\\u007f'.replace('\\u007f', '\u007f')),
  'an event with an address of 256 bytes': (p) => spelled(p, '10.1.2.3', '1'.repeat(256)),
  'an event with details that repeat': (p) =>
    spelled(p, /"gpus":\d/, '"gpus":-9223372036854775808,"gpus":9223372036854775807,"gpus":""'),
  'an event with roles that are not known': (p) => spelled(p, '["ml-engineer"]', '["a",null,""]'),
};
