// SPDX-License-Identifier: Apache-2.0
// kinds-heads.ts - kinds of tampering with the manifest, signed heads and the end line.
import { consistency, joined, makeLines, makeLog, rechain, record, sha, TENANT_B, type Key } from './fixture.ts';
import {
  type Place,
  type Kind,
  FIRST,
  make,
  range,
  part,
  some,
  put,
  flip,
  other,
  with_,
  headed,
  previous,
  before,
  point,
  base64,
  respelled,
  swapped,
} from './kinds-tools.ts';

export const MANIFEST: Record<string, Kind> = {
  'a manifest of another format': (p) => swapped(p, 'bundle-v1', 'bundle-v3'),
  'another tenant': (p) => swapped(p, `"tenant":"${p.log.tenant}"`, `"tenant":"${TENANT_B}"`),
  'a tenant in capitals': (p) => swapped(p, p.log.tenant, p.log.tenant.toUpperCase()),
  'another zone': (p) => swapped(p, '"zone":"ae-dxb-1"', '"zone":"ae-dxb-2"'),
  'a zone with an escape': (p) => swapped(p, '"zone":"ae-dxb-1"', '"zone":"ae\\u002ddxb-1"'),
  'a zone of 65 characters': (p) => swapped(p, '"zone":"ae-dxb-1"', `"zone":"${'z'.repeat(65)}"`),
  'a range that begins later': (p) => swapped(p, `"from_tseq":${FIRST}`, `"from_tseq":${FIRST + 1}`),
  'a range that begins at 0': (p) => swapped(p, /"from_tseq":\d+/, '"from_tseq":0'),
  'a range that ends earlier': (p) => swapped(p, /"to_tseq":\d+/, `"to_tseq":${p.n - 3}`),
  'a range that ends later': (p) => swapped(p, /"to_tseq":\d+/, `"to_tseq":${p.n - 1}`),
  'a range that ends behind the log': (p) => swapped(p, /"to_tseq":\d+/, `"to_tseq":${p.n + 1}`),
  'a range that says it ends earlier, all entries here': (p) =>
    swapped(p, /"to_tseq":\d+/, `"to_tseq":${p.n - 3}`, make(p)),
  'a range that ends at n + 2^64': (p) => swapped(p, /"to_tseq":\d+/, `"to_tseq":${2n ** 64n + BigInt(p.n)}`, make(p)),
  'a range that ends at 2^63': (p) => swapped(p, /"to_tseq":\d+/, `"to_tseq":${2n ** 63n}`, make(p)),
  'a count that is 1 more': (p) => swapped(p, /"count":\d+/, `"count":${p.n + 1}`, make(p)),
  'a count that is 1 less': (p) => swapped(p, /"count":\d+/, `"count":${p.n - 1}`, make(p)),
  'a count of 2^64 + n': (p) => swapped(p, /"count":\d+/, `"count":${2n ** 64n + BigInt(p.n)}`, make(p)),
  'made at no time': (p) => swapped(p, /"created_us":\d+/, '"created_us":-0'),
  'made after 2^53': (p) => swapped(p, /"created_us":\d+/, '"created_us":9007199254740992'),
  'a range that says selection': (p) => swapped(p, '"mode":"range"', '"mode":"selection"'),
  'a selection that says range': (p) => swapped(p, '"mode":"selection"', '"mode":"range"', some(p)),
  'a range with a filter': (p) =>
    swapped(
      p,
      '"filter":null',
      '"filter":{"from_us":null,"until_us":null,"actor":null,"action":"job.","resource":null}',
    ),
  'a range that proves inclusion': (p) => swapped(p, '"filter":null', '"filter":null,"proves":"inclusion"'),
  'a selection that proves more': (p) => swapped(p, '"proves":"inclusion"', '"proves":"completeness"', some(p)),
  'a filter for another act': (p) => swapped(p, '"action":"job.submit"', '"action":"auth.login"', some(p)),
  'a filter for nothing': (p) => swapped(p, '"action":"job.submit"', '"action":null', some(p)),
  'a filter of an empty word': (p) => swapped(p, '"action":"job.submit"', '"action":""', some(p)),
  'a filter of 129 characters': (p) => swapped(p, '"action":"job.submit"', `"action":"${'j'.repeat(129)}"`, some(p)),
  'a filter from time 0': (p) => swapped(p, '"from_us":null', '"from_us":0', some(p)),
  'a filter of no time at all': (p) =>
    swapped(p, '"from_us":null,"until_us":null', '"from_us":5,"until_us":5', some(p)),
  'a filter that ends before the entries': (p) => swapped(p, '"until_us":null', '"until_us":1699999999999999', some(p)),
  'a filter beyond 2^53': (p) => swapped(p, '"from_us":null', '"from_us":-9007199254740992', some(p)),
  'a head with a bit flipped': (p) => joined(flip(make(p), 0, /"head":\{"body":"/, p.rnd)),
  'a head signed otherwise': (p) => joined(flip(make(p), 0, /"head":\{"body":"[^"]*","sig":"/, p.rnd)),
  'a head of a stranger': (p) => joined(make(p, {}, p.log, p.wrong)),
  'a head of a stranger who says to be the zone': (p) => {
    const as: Key = { ...p.wrong, id: p.right.id };
    return joined(makeLines(p.log, as));
  },
  'a head of another tenant': (p) => joined(headed(p, make(p), rechain({ ...p.log, tenant: TENANT_B }))),
  'a head of a shorter log': (p) => joined(headed(p, make(p), p.log, p.n - 1)),
  'a head of another log of that size': (p) => joined(headed(p, make(p), makeLog(p.log.tenant, p.n, 5))),
  'a signature of 63 bytes': (p) => swapped(p, /"sig":"[^"]*"/, `"sig":"${Buffer.alloc(63).toString('base64')}"`),
  'a signature without padding': (p) => swapped(p, /(?<="sig":"[^"]*)=="/, '"'),
  'a head in base64 with spare bits': (p) => swapped(p, /"sig":"([^"]*)."/, `"sig":"${'A'.repeat(85)}B=="`),
  'a head in base64url': (p) => swapped(p, /(?<="head":\{"body":"[^"]*)[A-Za-z]/, '-'),
  'a head of 1,025 bytes': (p) =>
    swapped(p, /"head":\{"body":"[^"]*"/, `"head":{"body":"${Buffer.alloc(1025, 65).toString('base64')}"`),
  'an empty head': (p) => swapped(p, /"head":\{"body":"[^"]*"/, '"head":{"body":""'),
  'an earlier head with another proof': (p) => joined(flip(range(p), 0, /"proof":\["/, p.rnd)),
  'an earlier head in a part with another proof': (p) => joined(flip(part(p), 0, /"proof":\["/, p.rnd)),
  'an earlier head with a shorter proof': (p) =>
    swapped(p, /"[0-9a-f]{64}"(?=\]\},"before")/, `"${'0'.repeat(64)}","${'0'.repeat(64)}"`, range(p)),
  'an earlier head with no proof': (p) => swapped(p, /"proof":\[[^\]]*\]/, '"proof":[]', range(p)),
  'an earlier head of a stranger': (p) => joined(previous(range(p), before(p, 5, { key: p.wrong }))),
  'an earlier head of another tenant': (p) =>
    joined(previous(range(p), before(p, 5, { log: rechain({ ...p.log, tenant: TENANT_B }) }))),
  'an earlier head of another log': (p) => joined(previous(range(p), before(p, 5, { log: with_(p, other(p), 2) }))),
  'an earlier head of another log, in a selection': (p) =>
    joined(previous(some(p), before(p, 4, { log: with_(p, other(p), 2) }))),
  'an earlier head that is larger': (p) =>
    joined(previous(make(p), before(p, p.n + 3, { log: makeLog(p.log.tenant, p.n + 3, 8), proof: [] }))),
  'an earlier head of the same size and another root': (p) =>
    joined(previous(some(p), before(p, p.n, { log: with_(p, other(p)), proof: [] }))),
  'an earlier head of the same size and another chain': (p) => {
    const chain = p.log.chain.with(p.n - 1, sha('x'));
    return joined(previous(some(p), before(p, p.n, { log: { ...p.log, chain }, proof: [] })));
  },
  'an earlier head of the same size with a proof': (p) =>
    joined(previous(some(p), before(p, p.n, { proof: [sha('x')] }))),
  'a chain before that is another': (p) => joined(flip(part(p), 0, /"before":\{"chain":"/, p.rnd)),
  'a first chain that is another': (p) => joined(flip(make(p), 0, /"before":\{"chain":"/, p.rnd)),
  'a subtree before that is another': (p) => joined(flip(part(p), 0, /"nodes":\["/, p.rnd)),
  'a subtree before too few': (p) => swapped(p, /"nodes":\[[^\]]*\]/, '"nodes":[]'),
  'a subtree before too many': (p) => swapped(p, '"nodes":[', `"nodes":["${'1'.repeat(64)}",`),
  'a subtree behind that is another': (p) => joined(flip(part(p), 0, /"after":\["/, p.rnd)),
  'a subtree behind too few': (p) => swapped(p, /"after":\[[^\]]*\]/, '"after":[]'),
  'a subtree behind too many': (p) => swapped(p, '"after":[', `"after":["${'1'.repeat(64)}",`),
  'a subtree behind the whole log': (p) => swapped(p, '"after":[', `"after":["${'1'.repeat(64)}"`, make(p)),
  'subtrees in a selection': (p) => swapped(p, '"after":[', `"after":["${'1'.repeat(64)}"`, some(p)),
  'another chain in a selection': (p) => joined(flip(some(p), 0, /"before":\{"chain":"/, p.rnd)),
  'a list of hashes with a comma at its end': (p) => swapped(p, /(?<="after":\["[0-9a-f]{64}")/, ','),
  '17 keys': (p) =>
    swapped(
      p,
      /"keys":\[(.*)\]/,
      `"keys":[${Array(17)
        .fill(`{"key_id":"k","alg":"ed25519","public":"${'1'.repeat(64)}"}`)
        .join(',')}]`,
    ),
  'a key of another kind': (p) => swapped(p, '"alg":"ed25519"', '"alg":"rsa"'),
  'a member of the manifest twice': (p) => swapped(p, '"zone":"ae-dxb-1",', '"zone":"ae-dxb-1","zone":"ae-dxb-1",'),
  'a member of the manifest more': (p) => swapped(p, '"keys":[', '"more":null,"keys":['),
};
export const HEADS: Record<string, Kind> = {
  'a checkpoint of a stranger': (p) => joined(put(make(p), p.t + 1, 0, point(p, p.t, p.log, p.wrong))),
  'a checkpoint signed otherwise': (p) => {
    const s = put(make(p), p.t + 1, 0, point(p, p.t));
    return joined(flip(s, p.t + 1, /"sig":"/, p.rnd));
  },
  'a checkpoint in the wrong place': (p) => joined(put(make(p), p.t + 1, 0, point(p, p.t + 1))),
  'a checkpoint before its entry': (p) => joined(put(make(p), p.t, 0, point(p, p.t))),
  'a checkpoint of another tenant': (p) =>
    joined(put(make(p), p.t + 1, 0, point(p, p.t, rechain({ ...p.log, tenant: TENANT_B })))),
  'a checkpoint of another log': (p) => joined(put(make(p), p.t + 1, 0, point(p, p.t, makeLog(p.log.tenant, p.n, 3)))),
  'a checkpoint in a selection': (p) => {
    const s = some(p);
    return joined(put(s, s.lines.length, 0, point(p, p.t)));
  },
  'a checkpoint that is none': (p) =>
    joined(
      put(
        make(p),
        p.t + 1,
        0,
        `{"checkpoint":{"body":"${base64('{}')}","sig":"${Buffer.alloc(64).toString('base64')}"}}`,
      ),
    ),
  'a checkpoint with a member more': (p) => joined(put(make(p), p.t + 1, 0, point(p, p.t).replace('}}', ',"x":1}}'))),
  'a fork that is signed, an earlier head tells': (p) => {
    const log = with_(p, other(p), 3);
    return joined(previous(make(p, { previous: 5 }, log), before(p, 5, { proof: consistency(5, log.leaves) })));
  },
  'a fork that is signed, a checkpoint tells': (p) => {
    const log = with_(p, other(p), 2);
    return joined(put(make(p, {}, log), p.t + 1, 0, point(p, p.t)));
  },
  'a fork behind a checkpoint': (p) => {
    const log = with_(p, other(p), p.t + 1);
    return joined(put(put(make(p, {}, log), p.t + 3, 0, point(p, p.t + 2)), p.t + 1, 0, point(p, p.t)));
  },
  'signed: a head with a space': (p) => joined(respelled(p, make(p), ',"zone"', ', "zone"')),
  'signed: a head of size 0': (p) => joined(respelled(p, make(p), /"size":\d+/, '"size":0')),
  'signed: a head of size 2^53': (p) => joined(respelled(p, make(p), /"size":\d+/, '"size":9007199254740992')),
  'signed: a head of size n + 2^64': (p) =>
    joined(respelled(p, make(p), /"size":\d+/, `"size":${2n ** 64n + BigInt(p.n)}`)),
  'signed: a head of the zone': (p) => joined(respelled(p, make(p), `"log_id":"${p.log.tenant}"`, '"log_id":"zone"')),
  'signed: a head of another zone': (p) => joined(respelled(p, make(p), '"zone":"ae-dxb-1"', '"zone":"eu-1"')),
  'signed: a head with another chain': (p) =>
    joined(respelled(p, make(p), /"chain":"[0-9a-f]{64}"/, `"chain":"${'a'.repeat(64)}"`)),
  'signed: a head at no time': (p) => joined(respelled(p, make(p), /"ts_us":\d+/, '"ts_us":01')),
  'signed: a head of version 2': (p) => joined(respelled(p, make(p), '"v":1', '"v":2')),
};
const end = (p: Place, how: (line: string) => string): Buffer => {
  const b = joined(range(p)).toString(),
    i = b.lastIndexOf('{"end":');
  return Buffer.from(b.slice(0, i) + how(b.slice(i)));
};
export const ENDS: Record<string, Kind> = {
  'no end line': (p) => end(p, () => ''),
  'an end line twice': (p) => end(p, (l) => l + l),
  'an end line that counts 1 more': (p) => end(p, (l) => l.replace(/"count":\d+/, `"count":${p.n + 1}`)),
  'an end line that counts 1 less': (p) => end(p, (l) => l.replace(/"count":\d+/, `"count":${p.n - 1}`)),
  'an end line that counts n + 2^64': (p) =>
    end(p, (l) => l.replace(/"count":\d+/, `"count":${2n ** 64n + BigInt(p.n)}`)),
  'an end line with another sum': (p) =>
    end(p, (l) => l.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${'0'.repeat(64)}"`)),
  'an end line with another signature': (p) =>
    end(p, (l) => l.replace(/"sig":"[^"]*"/, `"sig":"${Buffer.alloc(64).toString('base64')}"`)),
  'an end line with a short signature': (p) => end(p, (l) => l.replace(/"sig":"[^"]*"/, '"sig":""')),
  'an end line with a space': (p) => end(p, (l) => l.replace('"count"', ' "count"')),
  'an end line among the entries': (p) => {
    const s = make(p);
    return joined(put(s, p.t, 0, joined(s).toString().trimEnd().split('\n').at(-1)!));
  },
  'an entry behind the end line': (p) => Buffer.concat([joined(range(p)), Buffer.from(`${record(p.log, p.n)}\n`)]),
};
