// SPDX-License-Identifier: Apache-2.0
// kinds-events.ts - kinds of tampering with retention entries and selections, and signed events that are spelled otherwise.
import { joined, makeEvent, random, rechain, record, sha, TENANT_B, type Lines } from './fixture.ts';
import {
  type Place,
  type Kind,
  retention,
  make,
  some,
  retained,
  bare,
  put,
  change,
  flip,
  with_,
  picked,
} from './kinds-tools.ts';

const listed = (p: Place, details: string): Buffer => {
  const log = with_(p, retention(p.log.tenant, details), p.kept);
  return joined(bare(p, p.drops[0], retained(p, p.kept, log), log));
};
export const RETENTION: Record<string, Kind> = {
  'a body blanked that no retention entry lists': (p) => joined(bare(p, p.drops[2] + 1)),
  'a body blanked between those that are listed': (p) => joined(bare(p, p.drops[1] + 1)),
  'a body blanked and the retention entry left out': (p) => joined(bare(p, p.drops[0], null)),
  'a body blanked in a selection': (p) => {
    const s = some(p);
    return joined(change(s, s.lines.length - 1, /"event":\{.*\}\}$/, '"event":null}'));
  },
  'a retention entry edited': (p) =>
    joined(bare(p, p.drops[2] + 1, retained(p).replace(/"list_1":"[^"]*"/, `"list_1":"1-${p.drops[2] + 1}"`))),
  'a retention entry under another number': (p) =>
    joined(bare(p, p.drops[0], retained(p).replace(/"retention":\d+/, `"retention":${p.kept - 1}`))),
  'a retention entry beyond the log': (p) =>
    joined(bare(p, p.drops[0], retained(p).replace(/"retention":\d+/, `"retention":${p.n + 1}`))),
  'a retention entry of 2^64 + n': (p) =>
    joined(bare(p, p.drops[0], retained(p).replace(/"retention":\d+/, `"retention":${2n ** 64n + BigInt(p.kept)}`))),
  'a retention entry with another proof': (p) => joined(flip(bare(p), 1, /"proof":\["/, p.rnd)),
  'a retention entry with no proof': (p) =>
    joined(bare(p, p.drops[0], retained(p).replace(/"proof":\[[^\]]*\]/, '"proof":[]'))),
  'a retention entry twice': (p) => joined(put(bare(p), 1, 0, retained(p))),
  'a retention entry among the records': (p) => joined(put(bare(p, p.drops[0], null), 2, 0, retained(p))),
  'another entry as retention entry': (p) => joined(bare(p, p.drops[0], retained(p, p.t === p.kept ? 2 : p.t))),
  'a retention entry of another log': (p) => {
    const log = with_(
      p,
      retention(TENANT_B, `"dropped":1,"from_tseq":${p.drops[0]},"until_tseq":${p.drops[0]},"list_1":"${p.drops[0]}"`),
      p.kept,
    );
    return joined(bare(p, p.drops[0], retained(p, p.kept, log), log));
  },
  'signed: a retention entry without a list': (p) =>
    listed(p, `"dropped":1,"from_tseq":${p.drops[0]},"until_tseq":${p.drops[0]}`),
  'signed: a retention entry that counts otherwise': (p) =>
    listed(p, `"dropped":2,"from_tseq":${p.drops[0]},"until_tseq":${p.drops[0]},"list_1":"${p.drops[0]}"`),
  'signed: a retention entry whose list descends': (p) =>
    listed(p, '"dropped":2,"from_tseq":3,"until_tseq":2,"list_1":"3,2"'),
  'signed: a retention entry whose ranges overlap': (p) =>
    listed(p, '"dropped":6,"from_tseq":1,"until_tseq":4,"list_1":"1-3","list_2":"2-4"'),
  'signed: a retention entry with a leading zero': (p) =>
    listed(p, '"dropped":1,"from_tseq":2,"until_tseq":2,"list_1":"02"'),
  'signed: a retention entry with a range of one': (p) =>
    listed(p, '"dropped":1,"from_tseq":2,"until_tseq":2,"list_1":"2-2"'),
  'signed: a retention entry that lists itself': (p) =>
    listed(p, `"dropped":1,"from_tseq":${p.kept},"until_tseq":${p.kept},"list_1":"${p.kept}"`),
  'signed: a retention entry with a list of nothing': (p) =>
    listed(p, '"dropped":1,"from_tseq":2,"until_tseq":2,"list_1":""'),
  'signed: a retention entry whose second list is the third': (p) =>
    listed(p, '"dropped":2,"from_tseq":2,"until_tseq":4,"list_1":"2","list_3":"4"'),
  'signed: a retention entry that counts in text': (p) =>
    listed(p, '"dropped":"1","from_tseq":2,"until_tseq":2,"list_1":"2"'),
};
/** A log of a single kind of act, the place respelled and signed so: what a filter's verifier must read. */
export const spelled = (p: Place, from: string | RegExp, to: string): Buffer => {
  const bodies = p.log.bodies.map((b, i) =>
    i === p.kept - 1 ? b : b.replace(/"action":"[^"]*"/, '"action":"job.submit"'),
  );
  const body = bodies[p.t - 1]!.replace(from, () => to);
  if (body === bodies[p.t - 1] || p.t === p.kept) throw new Error(`nothing to respell: ${from}`);
  return joined(some(p, rechain({ ...p.log, bodies: bodies.with(p.t - 1, body) })));
};
export const SPELLING: Record<string, Kind> = {
  'signed: an event of version 2': (p) => spelled(p, '{"v":1', '{"v":2'),
  'signed: an event without zone': (p) => spelled(p, '"zone":"ae-dxb-1"', '"zone":null'),
  'signed: an event with a space': (p) => spelled(p, ',"actor"', ', "actor"'),
  'signed: an event beyond 2^53': (p) => spelled(p, /"ts_us":\d+/, '"ts_us":9007199254740992'),
  'signed: an event with a small letter in its code': (p) => spelled(p, 'FLJ-JOB', 'FLJ-JOb'),
  'signed: an event with a code of another suffix': (p) => spelled(p, 'FLJ-JOB-001S', 'FLJ-JOB-001X'),
  'signed: an event of an unknown actor': (p) => spelled(p, '"type":"user"', '"type":"robot"'),
  'signed: an event of nobody': (p) =>
    spelled(p, '"00000000-0000-7004-9e59-cff6bf64d23f"', '"00000000-0000-0000-0000-000000000000"'),
  'signed: an event with an id in capitals': (p) => spelled(p, '9e59-cff6bf64d23f', '9E59-CFF6BF64D23F'),
  'signed: an event of nine roles': (p) => spelled(p, '["ml-engineer"]', `[${Array(9).fill('"r"').join(',')}]`),
  'signed: an event with a role of 65 bytes': (p) => spelled(p, '["ml-engineer"]', `["${'r'.repeat(65)}"]`),
  'signed: an event with a comma behind its roles': (p) => spelled(p, '["ml-engineer"]', '["ml-engineer",]'),
  'signed: an event with an address of 257 bytes': (p) => spelled(p, '10.1.2.3', '1'.repeat(257)),
  'signed: an event with an address of 129 letters in 258 bytes': (p) => spelled(p, '10.1.2.3', '\u0635'.repeat(129)),
  'signed: an event with an escaped slash': (p) => spelled(p, '10.1.2.3', '10\\/8'),
  'signed: an event with an escaped letter': (p) => spelled(p, '10.1.2.3', '\\u0041'),
  'signed: an event with a long escape of a line feed': (p) => spelled(p, '10.1.2.3', '\\u000a'),
  'signed: an event with an escape in capitals': (p) => spelled(p, '10.1.2.3', '\\u001F'),
  'signed: an event with a tab': (p) => spelled(p, '10.1.2.3', '\t'),
  'signed: an event denied by its code alone': (p) => spelled(p, 'FLJ-JOB-001S', 'FLJ-JOB-001D'),
  'signed: an event that failed with success': (p) => spelled(p, 'FLJ-JOB-001S', 'FLJ-JOB-001F'),
  'signed: an event of status 0': (p) => spelled(p, '"http_status":201', '"http_status":0'),
  'signed: an event of status 2^31': (p) => spelled(p, '"http_status":201', '"http_status":2147483648'),
  'signed: an event of seventeen details': (p) =>
    spelled(p, /"details":\{.*\}\}$/, `"details":{${Array(17).fill('"a":1').join(',')}}}`),
  'signed: an event with a detail of 2^63': (p) => spelled(p, /"gpus":\d/, '"gpus":9223372036854775808'),
  'signed: an event with a detail of -0': (p) => spelled(p, /"gpus":\d/, '"gpus":-0'),
  'signed: an event with a detail of 1.5': (p) => spelled(p, /"gpus":\d/, '"gpus":1.5'),
  'signed: an event with a detail of nothing': (p) => spelled(p, /"gpus":\d/, '"gpus":null'),
  'signed: an event with a name of 65 bytes': (p) => spelled(p, '"gpus"', `"${'g'.repeat(65)}"`),
  'signed: an event with a member more': (p) => spelled(p, ',"src_ip"', ',"x":1,"src_ip"'),
  'signed: an event that is no event, in a range': (p) => joined(make(p, {}, with_(p, '{"hello":1}'))),
  'signed: an event of another tenant, in a range': (p) =>
    joined(make(p, {}, with_(p, makeEvent(TENANT_B, random(3))))),
  'signed: an event cut behind its code, in a range': (p) =>
    joined(make(p, {}, with_(p, p.log.bodies[p.t - 1]!.replace(/(?<="code":"FLJ-JOB-001S").*/, ' ')))),
};
const proved = (p: Place, how: (s: Lines, i: number) => Lines): Buffer => {
  const s = some(p);
  return joined(how(s, s.lines.length - 1));
};
export const SELECTION: Record<string, Kind> = {
  'an entry that the filter did not ask for': (p) => {
    const t = p.log.bodies.findIndex((b) => !b.includes('"action":"job.submit"')) + 1;
    const s = some(p),
      i = s.lines.findIndex((l, k) => k > 0 && Number(/\d+/.exec(l)![0]) > t);
    return joined(
      change(put(s, i < 0 ? s.lines.length : i, 0, picked(p, t)), 0, /"count":\d+/, `"count":${s.lines.length}`),
    );
  },
  'an entry of a selection left out, not counted': (p) => proved(p, (s, i) => put(s, i, 1)),
  'an entry of a selection twice': (p) => proved(p, (s, i) => put(s, i, 0, s.lines[i]!)),
  'an entry of a selection at another number': (p) =>
    proved(p, (s, i) =>
      change(s, i, /"tseq":\d+/, `"tseq":${s.lines[i]!.startsWith(`{"tseq":${p.n},`) ? p.n - 1 : p.n}`),
    ),
  'an entry of a selection beyond the range': (p) =>
    proved(p, (s, i) => change(s, i, /"tseq":\d+/, `"tseq":${p.n + 1}`)),
  'an entry of a selection at number 0': (p) => proved(p, (s, i) => change(s, i, /"tseq":\d+/, '"tseq":0')),
  'an entry of a selection edited': (p) => proved(p, (s, i) => change(s, i, /"gpus":\d/, '"gpus":77')),
  'an entry of a selection edited with its leaf': (p) =>
    proved(p, (s, i) => {
      const event = makeEvent(p.log.tenant, random(4)).replace(/"action":"[^"]*"/, '"action":"job.submit"');
      return put(
        s,
        i,
        1,
        s.lines[i]!.replace(/"leaf":"[^"]*"/, `"leaf":"${sha(Buffer.from([0]), event).toString('hex')}"`).replace(
          /"event":.*$/,
          () => `"event":${event}}`,
        ),
      );
    }),
  'a proof changed': (p) => proved(p, (s, i) => flip(s, i, /"proof":\["/, p.rnd)),
  'a proof too short': (p) => proved(p, (s, i) => change(s, i, /,?"[0-9a-f]{64}"\](?=,"event")/, ']')),
  'a proof too long': (p) => proved(p, (s, i) => change(s, i, '],"event"', `,"${'0'.repeat(64)}"],"event"`)),
  'a proof of 65 hashes': (p) =>
    proved(p, (s, i) =>
      change(
        s,
        i,
        /"proof":\[[^\]]*\]/,
        `"proof":[${Array(65)
          .fill(`"${'0'.repeat(64)}"`)
          .join(',')}]`,
      ),
    ),
  'a record of a range in a selection': (p) =>
    proved(p, (s, i) => put(s, i, 1, record(p.log, Number(/\d+/.exec(s.lines[i]!)![0])))),
  'an entry of another tenant in a selection': (p) => proved(p, (s, i) => change(s, i, p.log.tenant, TENANT_B)),
};
