// SPDX-License-Identifier: Apache-2.0
// kinds-lines.ts - kinds of tampering with bytes, lines and the records of a range.
import { joined, makeLines, makeLog, record, renumber, sha, TENANT_B } from './fixture.ts';
import {
  type Kind,
  make,
  range,
  part,
  some,
  bare,
  put,
  change,
  flip,
  at,
  bytes,
  spot,
  cut,
  strange,
  other,
  with_,
  picked,
} from './kinds-tools.ts';

export const BYTES: Record<string, Kind> = {
  'a bit flipped': (p) =>
    bytes(range(p), (b) => {
      const i = spot(b, p.rnd);
      b[i]! ^= 1 << p.rnd(7);
      return b;
    }),
  'a bit flipped, end line left as it was': (p) => {
    const b = joined(part(p));
    b[p.rnd(b.length)]! ^= 1 << p.rnd(7);
    return b;
  },
  'a bit flipped in a selection': (p) =>
    bytes(some(p), (b) => {
      const i = spot(b, p.rnd);
      b[i]! ^= 1 << p.rnd(7);
      return b;
    }),
  'a bit flipped beside a retention entry': (p) =>
    bytes(bare(p), (b) => {
      const i = spot(b, p.rnd);
      b[i]! ^= 1 << p.rnd(7);
      return b;
    }),
  'a byte taken out': (p) => bytes(range(p), (b) => cut(b, spot(b, p.rnd), 1)),
  'a byte put in': (p) => bytes(range(p), (b) => cut(b, spot(b, p.rnd), 0, 33)),
  'a NUL put in': (p) => bytes(part(p), (b) => cut(b, spot(b, p.rnd), 0, 0)),
  'a byte of 0xff': (p) => bytes(range(p), (b) => cut(b, spot(b, p.rnd), 1, 255)),
  'a byte doubled in a selection': (p) =>
    bytes(some(p), (b) => {
      const i = spot(b, p.rnd);
      return cut(b, i, 0, b[i]! === 34 ? 32 : 34);
    }),
  'a space put in': (p) =>
    bytes(range(p), (b) => cut(b, b.indexOf(':', Math.min(spot(b, p.rnd), b.length - 300)) + 1, 0, 32)),
  'a byte order mark': (p) => bytes(range(p), (b) => cut(b, 0, 0, 0xef, 0xbb, 0xbf)),
  'a line feed put in': (p) => bytes(range(p), (b) => cut(b, spot(b, p.rnd), 0, 10)),
  'a line feed taken out': (p) =>
    bytes(range(p), (b) => cut(b, b.indexOf(10, Math.min(spot(b, p.rnd), b.length - 2000)), 1)),
  'a carriage return before a line feed': (p) =>
    bytes(range(p), (b) => cut(b, b.indexOf(10, Math.min(spot(b, p.rnd), b.length - 2000)), 0, 13)),
  'an empty line': (p) =>
    bytes(range(p), (b) => cut(b, b.indexOf(10, Math.min(spot(b, p.rnd), b.length - 2000)), 0, 10)),
  'cut anywhere': (p) => {
    const b = joined(range(p));
    return b.subarray(0, p.rnd(b.length));
  },
  'cut before the last line feed': (p) => {
    const b = joined(range(p));
    return b.subarray(0, b.length - 1);
  },
  'cut at the end of a line': (p) => {
    const b = joined(range(p));
    return b.subarray(0, b.indexOf(10, Math.min(spot(b, p.rnd), b.length - 1500)) + 1);
  },
  'the first bytes missing': (p) => joined(range(p)).subarray(1 + p.rnd(300)),
  'the manifest missing': (p) => bytes(range(p), (b) => b.subarray(b.indexOf(10) + 1)),
  'a byte behind the end': (p) => Buffer.concat([joined(range(p)), Buffer.from(' ')]),
  'an empty line behind the end': (p) => Buffer.concat([joined(range(p)), Buffer.from('\n')]),
  'a bundle behind the bundle': (p) => Buffer.concat([joined(range(p)), joined(part(p))]),
  'a line of 65,537 bytes': (p) => joined(put(range(p), p.t, 0, 'x'.repeat(65537))),
  'a line of 65,537 bytes without its end': (p) => {
    const s = range(p);
    return Buffer.from(`${s.lines.slice(0, p.t).join('\n')}\n${'x'.repeat(65537)}`);
  },
  'a first line of 65,537 bytes': () => Buffer.from(`${'{'.repeat(65537)}\n`),
  nothing: () => Buffer.alloc(0),
};
export const RECORDS: Record<string, Kind> = {
  'an event edited': (p) => joined(put(range(p), at(range(p), p.t), 1, record(p.log, p.t, p.t, other(p)))),
  'an event edited with its leaf': (p) => {
    const leaves = p.log.leaves.with(p.t - 1, sha(Buffer.from([0]), other(p)));
    return joined(put(range(p), at(range(p), p.t), 1, record({ ...p.log, leaves }, p.t, p.t, other(p))));
  },
  'an event edited with leaf and chain': (p) =>
    joined(put(range(p), at(range(p), p.t), 1, strange(p.log, p.t, other(p), true))),
  'an event edited and all after it chained anew': (p) =>
    joined({
      lines: [range(p).lines[0]!, ...makeLines(with_(p, other(p)), p.right).lines.slice(1)],
      sig: range(p).sig,
    }),
  'a leaf changed': (p) => joined(flip(range(p), at(range(p), p.t), /"leaf":"/, p.rnd)),
  'a chain value changed': (p) => joined(flip(range(p), at(range(p), p.t), /"chain":"/, p.rnd)),
  'an entry taken out': (p) => joined(put(range(p), at(range(p), p.t), 1)),
  'an entry taken out, the rest renumbered': (p) => joined(renumber(put(make(p), p.t, 1))),
  'entries taken out': (p) => joined(put(make(p), p.t, 2)),
  'the first entry taken out': (p) => joined(put(range(p), 1, 1)),
  'the last entry taken out': (p) => joined(put(make(p), p.n, 1)),
  'all from an entry on taken out': (p) => joined({ ...make(p), lines: make(p).lines.slice(0, p.t) }),
  'all entries taken out': (p) => joined({ ...make(p), lines: make(p).lines.slice(0, 1) }),
  'an entry put in': (p) => joined(put(make(p), p.t, 0, strange(p.log, p.t, other(p), false))),
  'an entry put in that continues the chain': (p) => joined(put(make(p), p.t, 0, strange(p.log, p.t, other(p), true))),
  'an entry put in, the rest renumbered': (p) =>
    joined(renumber(put(make(p), p.t, 0, strange(p.log, p.t, other(p), true)))),
  'an entry behind the last': (p) => joined(put(make(p), p.n + 1, 0, strange(p.log, p.n + 1, other(p), true))),
  'an entry of a far number behind the last': (p) =>
    joined(put(make(p), p.n + 1, 0, strange(p.log, p.n + 9, other(p), true))),
  'two neighbours swapped': (p) => {
    const s = make(p);
    return joined({ ...s, lines: s.lines.with(p.t, s.lines[p.t + 1]!).with(p.t + 1, s.lines[p.t]!) });
  },
  'two neighbours swapped and renumbered': (p) => {
    const s = make(p);
    return joined(renumber({ ...s, lines: s.lines.with(p.t, s.lines[p.t + 1]!).with(p.t + 1, s.lines[p.t]!) }));
  },
  'two entries swapped': (p) => {
    const s = make(p),
      u = p.t > 4 ? p.t - 3 : p.n;
    return joined({ ...s, lines: s.lines.with(p.t, s.lines[u]!).with(u, s.lines[p.t]!) });
  },
  'an entry moved to the end': (p) => {
    const s = make(p),
      line = s.lines[p.t]!;
    return joined(put(put(s, p.t, 1), p.n, 0, line));
  },
  'the order reversed': (p) => {
    const s = make(p);
    return joined({ ...s, lines: [s.lines[0]!, ...s.lines.slice(1).reverse()] });
  },
  'an entry twice': (p) => joined(put(make(p), p.t + 1, 0, record(p.log, p.t))),
  'an entry twice, the rest renumbered': (p) => joined(renumber(put(make(p), p.t + 1, 0, record(p.log, p.t)))),
  'the first entry again at the end': (p) => joined(put(make(p), p.n + 1, 0, record(p.log, 1))),
  'an entry of another tenant': (p) => joined(put(make(p), p.t, 1, record(makeLog(TENANT_B, p.n, 1), p.t))),
  'an entry of another tenant, chained': (p) =>
    joined(put(make(p), p.t, 1, strange(p.log, p.t, makeLog(TENANT_B, p.n, 1).bodies[p.t - 1]!, true))),
  'the entries of another log': (p) =>
    joined({
      lines: [range(p).lines[0]!, ...makeLines(makeLog(p.log.tenant, p.n, 9), p.right).lines.slice(1)],
      sig: range(p).sig,
    }),
  'a body blanked': (p) => joined(put(make(p), p.t, 1, record(p.log, p.t, p.t, 'null'))),
  'all bodies blanked': (p) => {
    const s = make(p);
    return joined({ ...s, lines: s.lines.map((l) => l.replace(/"event":\{.*\}\}$/, '"event":null}')) });
  },
  'an empty event': (p) => joined(put(make(p), p.t, 1, record(p.log, p.t, p.t, ''))),
  'an event that is no JSON': (p) => joined(put(make(p), p.t, 1, record(p.log, p.t, p.t, 'hello'))),
  'an event with a space behind it': (p) => joined(change(make(p), p.t, /\}$/, ' }')),
  'a number with a leading zero': (p) => joined(change(make(p), p.t, '{"tseq":', '{"tseq":0')),
  'a number of 0': (p) => joined(change(make(p), p.t, /"tseq":\d+/, '"tseq":0')),
  'a negative number': (p) => joined(change(make(p), p.t, '{"tseq":', '{"tseq":-')),
  'a number as text': (p) => joined(change(make(p), p.t, /"tseq":(\d+)/, `"tseq":"${p.t}"`)),
  'a number with a fraction': (p) => joined(change(make(p), p.t, /"tseq":\d+/, `"tseq":${p.t}.0`)),
  'a number with an exponent': (p) => joined(change(make(p), p.t, /"tseq":\d+/, `"tseq":${p.t}e0`)),
  'a number beyond the log': (p) => joined(change(make(p), p.t, /"tseq":\d+/, `"tseq":${p.n + 5}`)),
  'a number of 2^53': (p) => joined(change(make(p), p.t, /"tseq":\d+/, '"tseq":9007199254740992')),
  'a number of 2^53 - 1': (p) => joined(change(make(p), p.t, /"tseq":\d+/, '"tseq":9007199254740991')),
  'a number that is right modulo 2^64': (p) =>
    joined(change(make(p), p.t, /"tseq":\d+/, `"tseq":${2n ** 64n + BigInt(p.t)}`)),
  'a leaf in capitals': (p) => {
    const s = make(p);
    return joined({
      ...s,
      lines: s.lines.with(
        p.t,
        s.lines[p.t]!.replace(/"leaf":"[^"]*"/, (m) =>
          m
            .toUpperCase()
            .replace('LEAF', 'leaf')
            .replace(/"leaf":"([^"]*)"/, (_, h: string) => `"leaf":"${h.replace(/^./, 'A')}"`),
        ),
      ),
    });
  },
  'a member more': (p) => joined(change(make(p), p.t, '"event":', '"more":1,"event":')),
  'members in another order': (p) =>
    joined(
      change(
        make(p),
        p.t,
        /"leaf":("[^"]*"),"chain":("[^"]*")/,
        `"chain":"${p.log.chain[p.t - 1]!.toString('hex')}","leaf":"${p.log.leaves[p.t - 1]!.toString('hex')}"`,
      ),
    ),
  'a record of a selection in a range': (p) => joined(put(make(p), p.t, 1, picked(p, p.t))),
  'a gap and a torn line after it': (p) => joined(put(put(make(p), p.t, 1), p.t + 1, 1, '{"tseq":x')),
  'a gap and an end line that is none': (p) => {
    const b = joined(put(make(p), p.t, 1));
    return cut(b, b.length - 3, 1);
  },
  'a gap and numbers with leading zeros after it': (p) =>
    joined(change(put(make(p), p.t, 1), p.t + 1, '{"tseq":', '{"tseq":00')),
  'a broken chain and a selection record after it': (p) =>
    joined(
      put(
        flip(make(p), p.t, /"chain":"/, p.rnd),
        p.t + 1,
        1,
        `{"tseq":${p.t + 1},"leaf":"${p.log.leaves[p.t]!.toString('hex')}","proof":[],"event":${p.log.bodies[p.t]!}}`,
      ),
    ),
};
