// SPDX-License-Identifier: Apache-2.0
// kinds-filtered.ts - kinds of tampering with filtered ranges, and with logs whose leaves can be shown member by member.
import {
  joined,
  makeLog,
  openLeaf,
  rechain,
  record,
  renumber,
  seals,
  sha,
  withheld,
  type Lines,
  type Log,
} from './fixture.ts';
import {
  at,
  base64,
  bytes,
  change,
  cut,
  flip,
  make,
  other,
  point,
  put,
  retained,
  retention,
  spot,
  type Kind,
  type Place,
} from './kinds-tools.ts';

/** The log with leaves that can be opened, and this act at the place. */
const acted = (p: Place, action: string, t = p.t): Log => {
  const body = p.log.bodies[t - 1]!.replace(/"action":"[^"]*"/, `"action":"${action}"`);
  return rechain({ ...p.log, bodies: p.log.bodies.with(t - 1, body), opened: 1 });
};
export const hit = (p: Place): Log => acted(p, 'job.submit');
export const miss = (p: Place): Log => acted(p, 'auth.login');
export const open = (p: Place): Log => rechain({ ...p.log, opened: 1 });
export const filtered = (p: Place, log = open(p)): Lines =>
  make(p, { action: 'job.submit', filtered: true, previous: 4, checkpoint: p.t }, log);
/** The line of the place as a kind wants it. */
const line = (p: Place, log: Log, how: (l: string) => string, s = filtered(p, log)): Buffer => {
  const now = how(s.lines[at(s, p.t)]!);
  if (now === s.lines[at(s, p.t)]) throw new Error('nothing changed');
  return joined(put(s, at(s, p.t), 1, now));
};
const shows = (p: Place, text: string): Buffer =>
  line(p, miss(p), (l) => l.replace(/"withheld":\{.*?\},"salt"/, () => `"withheld":{${text}},"salt"`));
const said = (p: Place, from: string | RegExp, to: string, s = filtered(p)): Buffer => joined(change(s, 0, from, to));
const long = (p: Place, text: string): Buffer => shows(p, text);
/** A log whose leaf at the place seals another act than its event says: signed so. */
const lie = (p: Place): Log => {
  const log = hit(p),
    all = seals(log.bodies[p.t - 1]!),
    false_ = sha(Buffer.from([5]), all[1]!.salt, '"action":"auth.login"'),
    leaf = sha(Buffer.from([3]), all[0]!.seal, false_, all[2]!.seal, all[3]!.seal),
    leaves = log.leaves.with(p.t - 1, leaf);
  let before = sha('falaj-audit-v1', Buffer.from(log.tenant.replaceAll('-', ''), 'hex'));
  return { ...log, leaves, chain: leaves.map((l) => (before = sha(Buffer.from([2]), before, l))) };
};

export const FILTERED: Record<string, Kind> = {
  'an entry that fits withheld by its act': (p) => line(p, hit(p), () => withheld(hit(p), p.t, 1)),
  'an entry that fits withheld by its time': (p) => line(p, hit(p), () => withheld(hit(p), p.t, 0)),
  'an entry that fits withheld by its actor': (p) => line(p, hit(p), () => withheld(hit(p), p.t, 3)),
  'an entry withheld by what nobody asked about': (p) => line(p, miss(p), () => withheld(miss(p), p.t, 2)),
  'an entry that fits withheld by another act': (p) =>
    line(p, hit(p), () => withheld(hit(p), p.t, 1).replace('job.submit', 'auth.login')),
  'an entry that fits withheld by the member of another entry': (p) =>
    line(p, hit(p), () =>
      withheld(miss(p), p.t, 1).replace(/"chain":"[^"]*"/, () => /"chain":"[^"]*"/.exec(withheld(hit(p), p.t, 1))![0]),
    ),
  'an entry that fits dropped': (p) => line(p, hit(p), () => record(hit(p), p.t, p.t, 'null')),
  'an entry that fits left out': (p) => {
    const s = filtered(p, hit(p));
    return joined(put(s, at(s, p.t), 1));
  },
  'an entry that fits left out, the rest renumbered': (p) => {
    const s = make(p, { action: 'job.submit', filtered: true }, hit(p));
    return joined(renumber(put(s, at(s, p.t), 1)));
  },
  'an entry that fits edited': (p) => line(p, hit(p), (l) => l.replace(/"gpus":\d/, '"gpus":77')),
  'a shown act changed': (p) => shows(p, '"action":"auth.logout"'),
  'a shown act that fits': (p) => shows(p, '"action":"job.submit"'),
  'a salt changed': (p) => line(p, miss(p), (l) => l.replace(/(?<="salt":")./, (c) => (c === 'A' ? 'B' : 'A'))),
  'a seal changed': (p) =>
    line(p, miss(p), (l) => l.replace(/(?<="others":"[^"]{50})./, (c) => (c === 'A' ? 'B' : 'A'))),
  'the chain value of a withheld entry changed': (p) => {
    const s = filtered(p, miss(p));
    return joined(flip(s, at(s, p.t), /"chain":"/, p.rnd));
  },
  'a withheld entry taken out': (p) => {
    const s = filtered(p, miss(p));
    return joined(put(s, at(s, p.t), 1));
  },
  'a withheld entry twice': (p) => {
    const s = filtered(p, miss(p));
    return joined(put(s, at(s, p.t), 0, s.lines[at(s, p.t)]!));
  },
  'a withheld entry twice under the next number': (p) => {
    const s = make(p, { action: 'job.submit', filtered: true }, miss(p));
    return joined(renumber(put(s, at(s, p.t), 0, s.lines[at(s, p.t)]!)));
  },
  'withheld entries swapped': (p) => {
    const log = acted({ ...p, log: miss(p) }, 'auth.login', p.t + 1),
      s = make(p, { action: 'job.submit', filtered: true }, log);
    return joined(put(s, at(s, p.t), 2, withheld(log, p.t + 1, 1), withheld(log, p.t, 1)));
  },
  'a withheld entry of another log put in': (p) => {
    const s = filtered(p, miss(p));
    return joined(put(s, at(s, p.t), 0, withheld(rechain({ ...makeLog(p.log.tenant, p.n, 3), opened: 1 }), p.t, 1)));
  },
  'the body of an entry that does not fit': (p) => line(p, miss(p), () => record(miss(p), p.t)),
  'the last entries of a filtered range taken out': (p) => {
    const s = filtered(p);
    return joined({ ...s, lines: s.lines.slice(0, -2) });
  },
  'a withheld entry in a range': (p) => {
    const s = make(p, {}, miss(p));
    return joined(put(s, at(s, p.t), 1, withheld(miss(p), p.t, 1)));
  },
  'a withheld entry in a selection': (p) => {
    const s = make(p, { action: 'job.submit' }, miss(p));
    return joined(put(s, 1, 0, withheld(miss(p), 1, 1)));
  },
  'a withheld entry after a broken chain': (p) => {
    const log = acted({ ...p, log: miss(p) }, 'auth.login', p.t + 1),
      s = make(p, { action: 'job.submit', filtered: true }, log);
    return joined(flip(s, at(s, p.t), /"chain":"/, p.rnd));
  },
  'a withheld entry after a broken chain of a range': (p) => {
    const log = miss(p),
      s = flip(make(p, {}, log), p.t, /"chain":"/, p.rnd),
      leaf = log.leaves[p.t]!,
      chain = sha(Buffer.from([2]), log.chain[p.t - 2] ?? '', leaf).toString('hex');
    return joined(put(s, p.t + 1, 1, withheld(log, p.t + 1, 1).replace(/"chain":"[^"]*"/, `"chain":"${chain}"`)));
  },
  'a shown member with a space': (p) => shows(p, '"action": "auth.login"'),
  'two shown members': (p) => shows(p, '"action":"auth.login","ts_us":1'),
  'no shown member': (p) => shows(p, ''),
  'a shown member that filters do not know': (p) => shows(p, '"outcome":"success"'),
  'a shown act in escapes': (p) => shows(p, '"action":"\\u0061uth.login"'),
  'a shown act of 65 bytes': (p) => long(p, `"action":"${'a'.repeat(65)}"`),
  'a shown act that is null': (p) => shows(p, '"action":null'),
  'a shown act with a byte that is no UTF-8': (p) => {
    const b = shows(p, '"action":"auth.logi!"');
    b[b.indexOf('auth.logi!') + 9] = 0xff;
    return bytes({ lines: [], sig: '' }, () => b.subarray(0, b.lastIndexOf('{"end":')));
  },
  'a shown resource of 257 bytes': (p) => long(p, `"resource":{"kind":"job","id":"${'a'.repeat(257)}"}`),
  'a shown resource without kind': (p) => shows(p, '"resource":{"id":"job_1"}'),
  'a shown time of -0': (p) => shows(p, '"ts_us":-0'),
  'a shown time beyond 2^53': (p) => shows(p, '"ts_us":9007199254740992'),
  'a shown actor of no kind': (p) => shows(p, '"actor":{"type":"robot","id":null}'),
  'a shown actor that is nobody': (p) =>
    shows(p, '"actor":{"type":"user","id":"00000000-0000-0000-0000-000000000000"}'),
  'a shown actor with roles': (p) => shows(p, '"actor":{"type":"user","id":null,"roles":[]}'),
  'a salt of 15 bytes': (p) =>
    line(p, miss(p), (l) => l.replace(/"salt":"[^"]*"/, `"salt":"${Buffer.alloc(15).toString('base64')}"`)),
  'seals of 64 bytes': (p) =>
    line(p, miss(p), (l) => l.replace(/"others":"[^"]*"/, `"others":"${Buffer.alloc(64).toString('base64')}"`)),
  'seals of 128 bytes': (p) =>
    line(p, miss(p), (l) => l.replace(/"others":"[^"]*"/, `"others":"${Buffer.alloc(128).toString('base64')}"`)),
  'a withheld entry with a leaf': (p) =>
    line(p, miss(p), (l) => l.replace('"chain":', `"leaf":"${'0'.repeat(64)}","chain":`)),
  'a withheld entry with its event': (p) =>
    line(p, miss(p), (l) => l.replace(/\}$/, () => `,"event":${miss(p).bodies[p.t - 1]!}}`)),
  'a filtered range of version 1': (p) => said(p, 'bundle-v2', 'bundle-v1'),
  'a filtered range of version 3': (p) => said(p, 'bundle-v2', 'bundle-v3'),
  'a filtered range without a filter': (p) => said(p, /"filter":\{[^}]*\}/, '"filter":null'),
  'a filtered range that proves inclusion': (p) => said(p, 'completeness', 'inclusion'),
  'a filtered range that does not say what it proves': (p) => said(p, ',"proves":"completeness"', ''),
  'a filtered range that says range': (p) => said(p, '"mode":"filtered"', '"mode":"range"'),
  'a filtered range that says selection': (p) => said(p, '"mode":"filtered"', '"mode":"selection"'),
  'a filtered range with another filter': (p) => said(p, '"action":"job.submit"', '"action":"auth.login"'),
  'a filtered range with a wider filter': (p) => said(p, '"action":"job.submit"', '"action":"job."'),
  'a filtered range with a narrower filter': (p) => said(p, '"actor":null', '"actor":"service"', filtered(p, hit(p))),
  'a filtered range that ends earlier': (p) => said(p, /"to_tseq":\d+/, `"to_tseq":${p.n - 1}`),
  'a filtered range that counts what fits': (p) => said(p, /"count":\d+/, '"count":1'),
  'a range of version 2 that proves completeness': (p) =>
    said(p, '"filter":null', '"filter":null,"proves":"completeness"', make(p, {}, open(p))),
  'a selection of version 2 that does not say what it proves': (p) =>
    said(p, ',"proves":"inclusion"', '', make(p, { action: 'job.submit' }, open(p))),
  'a range of version 2 that says version 1': (p) => said(p, 'bundle-v2', 'bundle-v1', make(p, {}, open(p))),
  'an event edited in a range of version 2': (p) => {
    const s = make(p, {}, open(p));
    return joined(put(s, p.t, 1, record(open(p), p.t, p.t, other(p))));
  },
  'an event edited with its leaf in a range of version 2': (p) => {
    const log = open(p),
      leaves = log.leaves.with(p.t - 1, openLeaf(other(p)));
    return joined(put(make(p, {}, log), p.t, 1, record({ ...log, leaves }, p.t, p.t, other(p))));
  },
  'signed: a leaf that seals another act, its body shown': (p) => joined(make(p, {}, lie(p))),
  'signed: a leaf that seals another act, its body in a filtered range': (p) => joined(filtered(p, lie(p))),
  'signed: a leaf of version 2 in a bundle of version 1': (p) =>
    joined(make(p, {}, { ...rechain({ ...p.log, opened: p.t }), opened: 0 })),
  'a checkpoint of another log in a filtered range': (p) => {
    const s = make(p, { action: 'job.submit', filtered: true }, open(p));
    return joined(put(s, at(s, p.t) + 1, 0, point(p, p.t, makeLog(p.log.tenant, p.n, 3))));
  },
  'a fork of a filtered range': (p) => {
    const log = rechain({ ...p.log, bodies: p.log.bodies.with(p.t - 1, other(p)), opened: 1 }),
      s = make(p, { action: 'job.submit', filtered: true }, log);
    return joined({ lines: [filtered(p).lines[0]!, ...s.lines.slice(1)], sig: filtered(p).sig });
  },
  'a retention entry edited in a bundle of version 2': (p) => {
    const log = open(p),
      s = make(p, { dropped: p.drops[0], action: 'job.submit', filtered: true }, log);
    return joined(put(s, 1, 0, retained(p, p.kept, log).replace(/"list_1":"[^"]*"/, `"list_1":"1-${p.drops[2]}"`)));
  },
  'a body that no retention entry lists in a filtered range': (p) =>
    joined(make(p, { dropped: p.t, action: 'job.submit', filtered: true }, open(p))),
  'a bit flipped in a filtered range': (p) =>
    bytes(filtered(p), (b) => {
      const i = spot(b, p.rnd);
      b[i]! ^= 1 << p.rnd(7);
      return b;
    }),
  'a byte taken out of a filtered range': (p) => bytes(filtered(p), (b) => cut(b, spot(b, p.rnd), 1)),
  'a byte put into a filtered range': (p) => bytes(filtered(p), (b) => cut(b, spot(b, p.rnd), 0, 33)),
  'a filtered range cut anywhere': (p) => {
    const b = joined(filtered(p));
    return b.subarray(0, p.rnd(b.length));
  },
  'a filtered range whose salts are in base64url': (p) =>
    line(p, miss(p), (l) => l.replace(/"salt":"[^"]*"/, `"salt":"${base64('x'.repeat(15))}-___"`)),
};
/** A retention entry whose own leaf can be opened lists what is gone. */
const dropped = (p: Place): Lines => {
  const log = rechain({
    ...p.log,
    bodies: p.log.bodies.with(
      p.kept - 1,
      retention(p.log.tenant, `"dropped":1,"from_tseq":${p.t},"until_tseq":${p.t},"list_1":"${p.t}"`),
    ),
    opened: 1,
  });
  return put(make(p, { dropped: p.t, action: 'job.submit', filtered: true }, log), 1, 0, retained(p, p.kept, log));
};
/** The place shows this member, and the manifest asks about it. */
const asked = (p: Place, which: number, from: string, to: string): Buffer => {
  const log = miss(p),
    s = make(p, {}, log);
  const lines = s.lines.map((l, i) => (i === 0 ? l : withheld(log, i, which)));
  const filter = '{"from_us":null,"until_us":null,"actor":null,"action":null,"resource":null}'.replace(from, to);
  return joined(
    change(
      { ...s, lines },
      0,
      '"mode":"range","filter":null',
      `"mode":"filtered","filter":${filter},"proves":"completeness"`,
    ),
  );
};
export const WHOLE_FILTERED: Record<string, Kind> = {
  'a filtered range': (p) => joined(filtered(p)),
  'a filtered part': (p) => joined(make(p, { from: 3, to: p.n - 2, action: 'job.submit', filtered: true }, open(p))),
  'a filtered range of what nobody did': (p) => joined(make(p, { action: 'vault.open', filtered: true }, open(p))),
  'a filtered range where all fits': (p) => {
    const bodies = p.log.bodies.map((b) => b.replace(/"action":"[^"]*"/, '"action":"job.submit"'));
    return joined(make(p, { action: 'job.', filtered: true }, rechain({ ...p.log, bodies, opened: 1 })));
  },
  'a filtered range with a body that is gone': (p) => joined(dropped(p)),
  'a filtered range that shows times': (p) => asked(p, 0, '"until_us":null', '"until_us":1700000000000000'),
  'a filtered range that shows times before': (p) => asked(p, 0, '"from_us":null', '"from_us":1800000000000000'),
  'a filtered range that shows resources': (p) => asked(p, 2, '"resource":null', '"resource":"node"'),
  'a filtered range that shows actors': (p) =>
    asked(p, 3, '"actor":null', '"actor":"00000000-0000-7004-9e59-cff6bf64d240"'),
  'a range of version 2': (p) => joined(make(p, { previous: 5, checkpoint: p.t }, open(p))),
  'a range of version 2 that began with version 1': (p) => joined(make(p, {}, rechain({ ...p.log, opened: p.t }))),
  'a filtered range that began with version 1': (p) => {
    const log = rechain({ ...p.log, opened: p.t });
    return joined(make(p, { from: p.t, action: 'job.submit', filtered: true }, log));
  },
  'a selection of version 2': (p) => joined(make(p, { action: 'job.submit', previous: 4 }, open(p))),
  'a selection across versions': (p) => joined(make(p, { action: 'job.submit' }, rechain({ ...p.log, opened: p.t }))),
};
