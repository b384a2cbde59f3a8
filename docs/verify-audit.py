#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Second verifier of Falaj audit bundles, written from docs/audit-format.md alone: Python's standard library and openssl.

Usage: verify-audit.py [--key HEX]... [--trust-embedded-key] [--previous HEAD] [--allow-unproved-drops] BUNDLE
       verify-audit.py fork --key HEX... FILE       does this evidence of a fork convict the key's holder?
Exit: 0 whole (convicts), 1 usage or unreadable, 2 refused.
BUNDLE "-" reads paths of bundles from standard input, one a line, and prints a verdict for each: KIND ENTRY PATH.
--key is a public key that you were given some other way; --trust-embedded-key takes the bundle's own, which shows only that
the bundle fits itself."""
import base64, functools, getopt, hashlib, json, pathlib, re, subprocess, sys, tempfile, uuid  # noqa: E401

LINE_MAX, NUMBER_MAX, RANGES_MAX, HEAD_MAX = 65536, 2**53 - 1, 2**20, 1024

def grammar(text):
    """A regular expression over bytes; @x stands for the rules below, and every rule is one spelling."""
    rules = {"n": r"(?:0|[1-9][0-9]*)", "i": r"(?:0|-?[1-9][0-9]*)", "h": r"[0-9a-f]{64}", "b": r"[A-Za-z0-9+/]*={0,2}",
             "w": r"[A-Za-z0-9._:-]", "u": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
             "l": r'\[(?:"[0-9a-f]{64}"(?:,"[0-9a-f]{64}")*)?\]', "x": r'"(?:\\.|[^"\\])*"',
             "t": r'"(?:[^"\\\x00-\x1f]|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*"'}
    return re.compile(re.sub("@([a-z])", lambda m: rules[m[1]], text).encode("latin-1"), re.S)

SIGNED = r'"body":"(@b)","sig":"(@b)"'
HEAD = grammar(r'\{"v":1,"log_id":"(zone|@u)","zone":"(@w{0,64})","size":(@n),"root":"(@h)","chain":"(@h)","ts_us":(@i),'
               r'"prev_sth_hash":"@h","key_id":"(@w{0,64})"\}')
KEPT, CHECKPOINT = grammar(r"\{" + SIGNED + r"\}\n?"), grammar(r'\{"checkpoint":\{' + SIGNED + r"\}\}")
KEY = r'\{"key_id":"(@w{0,64})","alg":"ed25519","public":"(@h)"\}'
MANIFEST = grammar(r'\{"format":"falaj-audit-bundle-v(?P<version>[12])","tenant":"(?P<tenant>@u)","zone":"(?P<zone>@w{0,64})",'
                   r'"from_tseq":(?P<first>@n),"to_tseq":(?P<last>@n),"count":(?P<count>@n),"created_us":(?P<created>@i),'
                   r'"mode":"(?:(?P<some>selection)|(?P<filtered>filtered)|range)",'
                   r'"filter":(?P<filter>null|\{[^}]*\})(?:,"proves":"(?P<proves>inclusion|completeness)")?,"head":\{' + SIGNED +
                   r'\},"previous":(?:null|\{(?P<previous>' + SIGNED + r',"proof":(?P<proof>@l))\}),'
                   r'"before":\{"chain":"(?P<chain>@h)","nodes":(?P<before>@l)\},"after":(?P<after>@l),'
                   r'"keys":\[(?P<keys>(?:' + KEY + "(?:," + KEY + r")*)?)\]\}")
FILTER = grammar(r'\{"from_us":(null|@i),"until_us":(null|@i),"actor":(?:null|"(@w{1,128})"),"action":(?:null|"(@w{1,128})"),'
                 r'"resource":(?:null|"(@w{1,128})")\}')
RECORD = grammar(r'\{"tseq":(@n),"leaf":"(@h)",(?:"chain":"(@h)"|"proof":(@l)),"event":(.+)\}')
SHOWN = (r'(?:"ts_us":(?P<ts>@i)|"action":(?P<action>@t)|"resource":\{"kind":(?P<kind>null|@t),"id":(?P<id>null|@t)\}|'
         r'"actor":\{"type":"(?P<type>system|user|service|worker|anonymous)","id":(?:null|"(?P<who>@u)")\})')
WITHHELD = grammar(r'\{"tseq":(?P<tseq>@n),"chain":"(?P<chain>@h)","withheld":\{(?P<shown>' + SHOWN +
                   r')\},"salt":"(?P<salt>@b)","others":"(?P<others>@b)"\}')
FORK = grammar(r'\{"format":"falaj-fork-v1","a":\{' + SIGNED + r'\},"b":\{' + SIGNED + r'\},"root":"(@h)","proof":(@l)\}\n?')
RETENTION = grammar(r'\{"retention":(@n),"proof":(@l),"event":(.+)\}')
END = grammar(r'\{"end":\{"count":(@n),"sha256":"(@h)","sig":"(@b)"\}\}')
OPENING = grammar(r'\{"v":1,"event_id":"@u","zone":@x,"tenant":"(@u)","ts_us":(@i),"code":@x.*\}')
MAYBE = "(?:null|@t)"
DETAIL = r'(@t):(?:(@t)|(@i))'
EVENT = grammar(r'\{"v":1,"event_id":"@u","zone":(?P<w1>@t),"tenant":"(?P<tenant>@u)","ts_us":(?P<ts>@i),'
                r'"code":"(?P<code>FLJ-[A-Z]{3}-[0-9]{3}(?P<suffix>[SDF]))","actor":'
                r'\{"type":"(?P<type>system|user|service|worker|anonymous)",'
                rf'"id":(?:null|"(?P<u1>@u)"),"roles":\[(?P<roles>(?:{MAYBE}(?:,{MAYBE})*)?)\],'
                rf'"token_id":(?:null|"(?P<u2>@u)")\}},'
                rf'"src_ip":(?P<t1>{MAYBE}),"request_id":(?P<t2>{MAYBE}),"resource":'
                rf'\{{"kind":(?P<w2>{MAYBE}),"id":(?P<t3>{MAYBE})\}},'
                rf'"action":(?P<w3>@t),"decision":\{{"effect":"(?P<effect>deny|allow)","rule":(?P<t4>{MAYBE})\}},"outcome":'
                rf'(?P<w4>@t),'
                rf'"http_status":(?P<status>null|@i),"details":\{{(?P<details>(?:{DETAIL}(?:,{DETAIL})*)?)\}}\}}')
ROLES, DETAILS, KEYS, HASHES = grammar(MAYBE), grammar(DETAIL), grammar(KEY), grammar("@h")
NIL = b"00000000-0000-0000-0000-000000000000"
DROPPED = grammar(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?")

def check(is_good, kind, tseq=0):
    if not is_good:
        raise LookupError(kind, tseq)

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def number(text):
    value = int(text) if len(text) < 20 else NUMBER_MAX + 1
    check(abs(value) <= NUMBER_MAX, "malformed")
    return value

def hashes(text, most):
    found = [bytes.fromhex(h.decode()) for h in HASHES.findall(text)]
    check(len(found) <= most, "malformed")
    return found

def unbase64(text, most):
    """Padded, and spelled in the one way that gives these bytes."""
    check(len(text) % 4 == 0, "malformed")
    raw = base64.b64decode(text)
    check(base64.b64encode(raw) == text and len(raw) <= most, "malformed")
    return raw

def unsign(body, sig):
    body, sig = unbase64(body, HEAD_MAX), unbase64(sig, 64)
    check(len(sig) == 64, "malformed")
    return body, sig

@functools.lru_cache(1024)
def ed25519(pub, body, sig):
    with tempfile.TemporaryDirectory() as tmp:
        for name, data in (("key", bytes.fromhex("302a300506032b6570032100") + pub), ("msg", body), ("sig", sig)):
            pathlib.Path(tmp, name).write_bytes(data)
        return subprocess.run("openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in msg -sigfile sig".split(),
                              cwd=tmp, capture_output=True, check=False).returncode == 0

class Head:
    def __init__(self, body):
        m = HEAD.fullmatch(body)
        check(m and number(m[3]) >= 1 and number(m[6]) is not None, "malformed")
        self.log, self.zone, self.size, self.key = m[1], m[2], number(m[3]), m[7]
        self.root, self.chain = bytes.fromhex(m[4].decode()), bytes.fromhex(m[5].decode())

class Tree:
    """The frontier of RFC 9162: (level, root) of each perfect subtree, largest first."""
    def __init__(self):
        self.nodes, self.size = [], 0

    def add(self, root, level=0):
        self.size += 1 << level
        while self.nodes and self.nodes[-1][0] == level:
            root, level = sha(b"\1", self.nodes.pop()[1], root), level + 1
        self.nodes.append((level, root))

    @staticmethod
    def levels(start, size):
        """Of the perfect subtrees that cover start … size."""
        out = []
        while start < size:
            level = (start & -start).bit_length() - 1 if start else 62
            while 1 << level > size - start:
                level -= 1
            out.append(level)
            start += 1 << level
        return out

    def root(self):
        roots = [root for _, root in self.nodes[::-1]] or [sha()]
        return functools.reduce(lambda right, left: sha(b"\1", left, right), roots)

def walk(fn, sn, first, proof):
    """RFC 9162 2.1.3.2 and 2.1.4.2 in one: the old and the new root that the proof leads to."""
    old = new = first
    for node in proof:
        if not sn:
            return None, None
        if fn & 1 or fn == sn:
            old, new = sha(b"\1", node, old), sha(b"\1", node, new)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = sha(b"\1", new, node)
        fn, sn = fn >> 1, sn >> 1
    return (old, new) if sn == 0 else (None, None)

def included(leaf, tseq, proof, head):
    return walk(tseq - 1, head.size - 1, leaf, proof)[1] == head.root

def extends(old, new, proof):
    """The log of `new` begins with that of `old`. A tree of 2^k leaves is a node of the newer one; its root is not sent again."""
    nodes, shift = ([old.root] if not old.size & (old.size - 1) else []) + proof, (old.size & -old.size).bit_length() - 1
    return bool(nodes) and walk((old.size - 1) >> shift, (new.size - 1) >> shift, nodes[0], nodes[1:]) == (old.root, new.root)

def read_event(event):
    """The event and its details in order when it is spelled as section 1 says, else None."""
    m = EVENT.fullmatch(event)
    try:
        event.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not m or abs(int(m["ts"][:20])) > NUMBER_MAX:
        return None
    status, roles, details = m["status"], ROLES.findall(m["roles"]), DETAILS.findall(m["details"])
    sizes = [(m[f"w{i}"], 64) for i in range(1, 5)] + [(m[f"t{i}"], 256) for i in range(1, 5)] + [(role, 64) for role in roles]
    sizes += [pair for name, text, _ in details for pair in ((name, 64), (text, 256))]
    is_denied, is_success = m["effect"] == b"deny", m["w4"] == b'"success"'
    is_good = (all(len(text) <= most + 2 for text, most in sizes) and NIL not in (m["u1"], m["u2"]) and len(roles) <= 8 and
               len(details) <= 16 and all(not i or -2**63 <= int(i[:21]) < 2**63 for _, _, i in details) and
               (status == b"null" or -2**31 <= int(status[:12]) < 2**31 and int(status) != 0) and
               is_denied == (m["suffix"] == b"D") and (is_denied or (m["suffix"] == b"S") == is_success))
    return (json.loads(event), m["code"], details) if is_good else None

def members(event):
    """What the leaf of an event seals one by one, as it stands there."""
    m = EVENT.fullmatch(event)
    return [event[m.start(a) - len(name):m.end(b)] + brace for name, a, b, brace in
            ((b'"ts_us":', "ts", "ts", b""), (b'"action":', "w3", "w3", b""), (b'"resource":{"kind":', "w2", "t3", b"}"))] + \
        [b'"actor":{"type":"' + m["type"] + b'","id":' + (b'"' + m["u1"] + b'"' if m["u1"] else b"null") + b"}"]

def leaves(event, version):
    """The leaves that an entry with this event may have."""
    plain = sha(b"\0", event)
    if version == 1 or not read_event(event):
        return [plain]
    salts = sha(b"\4\0", plain) + sha(b"\4\1", plain)
    seals = [sha(b"\5", salts[16 * i:16 * i + 16], member) for i, member in enumerate(members(event))]
    return [plain, sha(b"\3", *seals)]

def dropped_by(event, tenant, tseq):
    """The ranges that a retention entry lists, ascending; all of them before itself."""
    read, out = read_event(event), []
    check(read and read[0]["tenant"].encode() == tenant and read[1] == b"FLJ-AUD-006S" and len(read[2]) > 3, "malformed", tseq)
    says, lists = read[2][:3], read[2][3:]
    check([n for n, _, _ in says] == [b'"dropped"', b'"from_tseq"', b'"until_tseq"'], "malformed", tseq)
    check(all(i for _, _, i in says), "malformed", tseq)
    check([n for n, _, _ in lists] == [b'"list_%d"' % (i + 1) for i in range(len(lists))], "malformed", tseq)
    for part in [part for _, text, _ in lists for part in text[1:-1].split(b",")]:
        m = DROPPED.fullmatch(part)
        check(m, "malformed", tseq)
        start, stop = (int(n[:17]) for n in (m[1], m[2] or m[1]))
        check(start <= stop <= NUMBER_MAX and (start < stop or not m[2]) and (not out or start > out[-1][1]), "malformed", tseq)
        out.append((start, stop))
    total = sum(stop - start + 1 for start, stop in out)
    check([total, out[0][0], out[-1][1]] == [int(i) for _, _, i in says] and out[-1][1] < tseq, "malformed", tseq)
    return out

def asked_for(f, e):
    """What is not there is not asked about: of a withheld entry e has one member."""
    at, action, actor = e.get("ts_us"), e.get("action"), e.get("actor")
    return ((at is None or ((not f["from_us"] or f["from_us"] <= at) and (not f["until_us"] or at < f["until_us"]))) and
            ("resource" not in e or f["resource"] in (None, *e["resource"].values())) and
            (not actor or f["actor"] in (None, actor["type"], actor["id"])) and
            (None in (action, f["action"]) or action == f["action"] or
             (f["action"][-1] == "." and action.startswith(f["action"]))))

class Bundle:
    def __init__(self, line, options):
        self.options, self.tree, self.seen, self.dropped, self.unproved = options, Tree(), 0, 0, 0
        self.pending, self.came_back, self.next_fits, self.last, self.drops, self.retained = None, False, None, bytes(32), [], 0
        m = MANIFEST.fullmatch(line)
        check(m, "malformed")
        self.tenant, self.some, self.filter = m["tenant"], bool(m["some"]), self.read_filter(m["filter"])
        self.first, self.to, self.count = (number(m[name]) for name in ("first", "last", "count"))
        number(m["created"])
        self.version, self.filtered, self.withheld = int(m["version"]), bool(m["filtered"]), 0
        allowed = [b"inclusion"] if self.some else [b"completeness"] if self.filtered else [None]
        check(m["proves"] in allowed + [None] * (self.version == 1), "malformed")
        check(self.version == 2 or not self.filtered, "malformed")
        signed = re.findall(grammar(SIGNED), line)
        body, self.sig = unsign(*signed[0])
        previous, self.proof = m["previous"] and unsign(*signed[1]), m["previous"] and hashes(m["proof"], 64)
        before, self.after, keys = hashes(m["before"], 64), hashes(m["after"], 128), KEYS.findall(m["keys"])
        check(len(keys) <= 16, "malformed")
        self.own = [(key, bytes.fromhex(public.decode())) for key, public in keys]
        self.head = Head(body)
        check(self.trusts(self.head, body, self.sig), "wrong_key")
        check((self.head.log, self.head.zone) == (m["tenant"], m["zone"]), "spliced")
        self.known = [self.signed(*kept, is_bare=kept[1] is None) for kept in options["kept"]]
        self.previous = previous and self.signed(*previous)
        self.known += [self.previous] if previous else []
        size, start = self.head.size, sha(b"falaj-audit-v1", uuid.UUID(m["tenant"].decode()).bytes)
        check(1 <= self.first <= self.to <= size and (self.some or bool(self.filter) == self.filtered), "malformed")
        self.want, self.good, self.chain = self.first, self.first - 1, bytes.fromhex(m["chain"].decode())
        self.back = self.chain
        if self.some:
            check(not before and not self.after and self.chain == start, "malformed")
            return
        check(len(self.after) == len(Tree.levels(self.to, size)) and len(before) == self.good.bit_count(), "malformed")
        check(self.first > 1 or self.chain == start, "malformed")
        for level, node in zip(Tree.levels(0, self.good), before):
            self.tree.add(node, level)
        self.fit_known()

    @staticmethod
    def read_filter(text):
        if text == b"null":
            return None
        m = FILTER.fullmatch(text)
        check(m, "malformed")
        times = [None if t == b"null" else number(t) for t in (m[1], m[2])]
        words = [word and word.decode() for word in (m[3], m[4], m[5])]
        check(0 not in times and any([*times, *words]) and (None in times or times[0] < times[1]), "malformed")
        return dict(zip(("from_us", "until_us", "actor", "action", "resource"), times + words))

    def trusts(self, head, body, sig):
        own = [public for key, public in self.own if key == head.key] if self.options["embedded"] else []
        return any(ed25519(key, body, sig) for key in self.options["keys"] or own)

    def signed(self, body, sig, is_bare=False):
        head = Head(body)
        check(head.log == self.tenant, "spliced")
        check(is_bare or self.trusts(head, body, sig), "wrong_key")
        return head

    def fit(self, head):
        check((self.tree.root(), self.chain) == (head.root, head.chain), "forked", self.good + 1)
        self.good = head.size

    def fit_known(self):
        for head in [head for head in self.known if head.size == self.tree.size]:
            self.known = [other for other in self.known if other is not head]
            self.fit(head)

    def checkpoint(self, line):
        m = CHECKPOINT.fullmatch(line)
        check(m, "malformed")
        body, sig = unsign(m[1], m[2])
        check(not self.some, "malformed")
        head = self.signed(body, sig)
        check(head.size == self.tree.size, "malformed")
        self.fit(head)

    def retention(self, line):
        m = RETENTION.fullmatch(line)
        check(m and not self.seen, "malformed")
        tseq, proof = number(m[1]), hashes(m[2], 64)
        check(self.retained < tseq <= self.head.size, "malformed")
        self.retained = tseq
        check(any(included(leaf, tseq, proof, self.head) for leaf in leaves(m[3], self.version)), "edited", tseq)
        self.drops += dropped_by(m[3], self.tenant, tseq)
        check(len(self.drops) <= RANGES_MAX, "malformed", tseq)

    def parse(self, line):
        """Number, leaf, chain or None, proof or None, event; or in its place the member that is shown, a dict."""
        m = RECORD.fullmatch(line)
        try:
            if not m and self.filtered:
                return self.parse_withheld(line)
            return m and (number(m[1]), bytes.fromhex(m[2].decode()), m[3] and bytes.fromhex(m[3].decode()),
                          None if m[4] is None else hashes(m[4], 64), m[5])
        except (LookupError, UnicodeDecodeError):
            return None

    @staticmethod
    def parse_withheld(line):
        m = WITHHELD.fullmatch(line)
        if not m:
            return None
        m["shown"].decode("utf-8")
        sizes = ((m["action"], 64), (m["kind"], 64), (m["id"], 256))
        salt, others = unbase64(m["salt"], 16), unbase64(m["others"], 96)
        check(len(salt) == 16 and len(others) == 96 and all(len(text or b"") <= most + 2 for text, most in sizes), "malformed")
        shown = json.loads(b"{" + m["shown"] + b"}")
        check(m["who"] != NIL and ("ts_us" not in shown or number(m["ts"]) is not None), "malformed")
        at = ["ts_us", "action", "resource", "actor"].index(*shown)
        seals = [others[i:i + 32] for i in range(0, 96, 32)]
        seals.insert(at, sha(b"\5", salt, m["shown"]))
        return number(m["tseq"]), sha(b"\3", *seals), bytes.fromhex(m["chain"].decode()), None, shown

    def after_damage(self, line):
        tseq, entry = grammar(r'\{"tseq":(@n)').match(line), None if self.next_fits is not None else self.parse(line)
        if tseq and len(tseq[1]) < 17 and not line[tseq.end():tseq.end() + 1].isdigit():
            self.came_back |= self.pending[0] <= int(tseq[1]) < self.pending[1]
        if self.next_fits is None:
            self.next_fits = bool(entry and entry[2] and sha(b"\2", self.chain, entry[1]) == entry[2])

    def body(self, event, leaf, tseq, opening):
        if isinstance(event, dict):
            return
        if event == b"null":
            self.dropped += 1
            is_listed = any(start <= tseq <= stop for start, stop in self.drops)
            self.unproved += not is_listed
            check(is_listed or self.options["unproved"], "edited", tseq)
            return
        check(leaf in leaves(event, self.version), "edited", tseq)
        check(opening, "malformed", tseq)

    def record(self, line):
        self.seen, want = self.seen + 1, self.want
        if self.pending:    # the place is known; what follows is only counted, and looked at for what tells the kind
            return self.after_damage(line)
        entry = self.parse(line)
        check(entry and (entry[3] is not None) == self.some, "malformed", want)
        tseq, leaf, said, proof, event = entry
        opening = None if event == b"null" or isinstance(event, dict) else OPENING.fullmatch(event)
        opening = opening if opening and len(opening[2]) < 19 and abs(int(opening[2])) <= NUMBER_MAX else None
        check(not opening or opening[1] == self.tenant, "spliced", want)
        if self.some:
            return self.selected(tseq, leaf, proof, event, opening)
        follows_back = sha(b"\2", self.back, leaf) == said
        if tseq > want <= self.to:
            self.pending = (want, tseq)
            return None
        if tseq != want or want > self.to:
            check(not (tseq + 1 == want and self.seen > 1 and leaf != self.last), "inserted", tseq if follows_back else want)
            is_again = leaf == self.last if tseq == want else self.first <= tseq < want
            check(False, "duplicated" if is_again else "inserted", want)
        self.body(event, leaf, want, opening)
        check(self.seen == 1 or leaf != self.last, "duplicated", want)
        chain = sha(b"\2", self.chain, leaf)
        if chain != said:
            check(self.seen == 1 or not follows_back, "inserted", want - 1)
            self.pending = (want, 0)
            return None
        self.fits_filter(event, want)
        self.back, self.chain, self.last, self.want = self.chain, chain, leaf, want + 1
        self.tree.add(leaf)
        return self.fit_known()

    def selected(self, tseq, leaf, proof, event, opening):
        check(tseq >= self.want, "duplicated" if self.seen > 1 and tseq + 1 == self.want else "swapped", tseq)
        check(tseq <= self.to, "inserted", tseq)
        self.body(event, leaf, tseq, opening)
        self.fits_filter(event, tseq)
        check(included(leaf, tseq, proof, self.head), "edited", tseq)
        self.want = tseq + 1

    def fits_filter(self, event, tseq):
        if isinstance(event, dict):
            self.withheld += 1
            check(not asked_for(self.filter, event), "deleted", tseq)
        elif self.filter and event != b"null":
            read = read_event(event)
            check(read, "malformed", tseq)
            check(asked_for(self.filter, read[0]), "inserted", tseq)

    def resolve(self):
        more = self.seen - (self.count if self.some else self.to - self.first + 1)
        if self.pending[1]:
            kinds = ("duplicated", "swapped") if self.came_back else ("inserted", "deleted")
            check(False, kinds[more <= 0], self.pending[0])
        kind = "inserted" if more > 0 else "deleted" if more else "swapped" if self.next_fits else "edited"
        check(False, kind, self.pending[0])

    def close(self, end, digest, is_cut):
        if self.pending:
            self.resolve()
        check(self.some or self.want > self.to, "truncated", self.want)
        check(not is_cut, "truncated")
        if not self.some:
            is_whole = self.tree.size == self.head.size
            for level, node in zip(Tree.levels(self.to, self.head.size), self.after):
                self.tree.add(node, level)
            check(self.tree.size == self.head.size and self.tree.root() == self.head.root and
                  (not is_whole or self.chain == self.head.chain), "forked", self.good + 1)
        for head in self.known:
            self.close_known(head)
        if self.previous and self.previous.size >= self.head.size:
            check(not self.proof, "malformed")
        elif self.previous:
            check(extends(self.previous, self.head, self.proof), "forked")
        check(end is not None, "truncated")
        m = END.fullmatch(end)
        count = number(m[1]) if m else None
        check(m and len(sig := unbase64(m[3], 64)) == 64, "malformed")
        check(count == self.count == self.seen, "deleted" if self.seen < self.count else "inserted")
        check(m[2].decode() == digest and sig == self.sig, "malformed")

    def close_known(self, head):
        check(head.size <= self.head.size, "truncated", self.head.size + 1)
        if head.size == self.head.size:
            return check((head.root, head.chain) == (self.head.root, self.head.chain), "forked")
        check(self.previous and self.previous.size == head.size, "malformed")
        return check(extends(head, self.head, self.proof), "forked")

    def claim(self):
        what = f"a range: every entry from {self.first} to {self.to}"
        if self.some:
            what = f"a selection, filter {json.dumps(self.filter)}: each entry is in the log; that none is left out is NOT proven"
        if self.filtered:
            what = (f"a filtered range, filter {json.dumps(self.filter)}: every entry from {self.first} to {self.to} that fits "
                    f"is here; {self.withheld} show that they do not")
        bare = f", {self.unproved} of them UNPROVED" if self.unproved else ""
        return (f"OK: tenant {self.tenant.decode()}, {self.seen} entries ({self.dropped} without body{bare}) of a log of "
                f"{self.head.size}; {what}; signed by key {self.head.key.decode()}")

def verify(file, options):
    lines, bundle, end, is_cut, digest = iter(lambda: file.readline(LINE_MAX + 2), b""), None, None, False, hashlib.sha256()
    for raw in lines:
        line = raw[:-1] if raw.endswith(b"\n") else raw
        check(len(line) <= LINE_MAX, "malformed", bundle.want if bundle else 0)
        is_cut = line is raw
        if is_cut:
            check(bundle, "truncated")
            break
        if not bundle:
            bundle = Bundle(line, options)
        else:
            check(end is None, "malformed")
            if line.startswith(b'{"end":'):
                end = line
                check(bundle.pending or is_end(line), "malformed")
                continue
            if line.startswith(b'{"checkpoint":'):
                bundle.pending or bundle.checkpoint(line)
            elif line.startswith(b'{"retention":'):
                bundle.pending or bundle.retention(line)
            else:
                bundle.record(line)
        digest.update(raw)
    check(bundle, "malformed")
    bundle.close(end, digest.hexdigest(), is_cut)
    return bundle.claim()

def is_end(line):
    m = END.fullmatch(line)
    return m and number(m[1]) is not None and len(unbase64(m[3], 64)) == 64

def verdict(path, options):
    with open(path, "rb") as file:
        try:
            return ("ok", 0, verify(file, options))
        except LookupError as damage:
            return damage.args
        except ValueError:
            return ("malformed", 0)

def read_kept(path):
    """A head as --save-head writes it; older programs wrote the body alone."""
    text = pathlib.Path(path).read_bytes()
    m = KEPT.fullmatch(text)
    return unsign(m[1], m[2]) if m else (text.removesuffix(b"\n"), None)

def fork_fault(text, keys):
    """None: one key signed both heads, and they cannot both be of one log. Else why the file (docs/audit-format.md, section 7)
    convicts nobody."""
    m = FORK.fullmatch(text)
    try:
        check(m, "malformed")
        signed, proof = [unsign(m[1], m[2]), unsign(m[3], m[4])], hashes(m[6], 64)
    except (LookupError, ValueError):
        return "the file is no fork"
    try:
        a, b = (Head(body) for body, _ in signed)
    except LookupError:
        return "a head is not signed by a key that was given"
    root = bytes.fromhex(m[5].decode())
    if not all(any(ed25519(key, body, sig) for key in keys) for body, sig in signed):
        return "a head is not signed by a key that was given"
    if (a.log, a.zone) != (b.log, b.zone):
        return "the heads are of two logs"
    if a.size > b.size:
        return "the first head is larger than the second"
    if a.size == b.size:
        if proof or root != b.root:
            return "there is nothing to prove between heads of one size"
        return "the heads say the same" if (a.root, a.chain) == (b.root, b.chain) else None
    if a.root == root:
        return "the second head extends the first"
    a.root = root
    return None if extends(a, b, proof) else "the proof does not lead to the second head"

def judge_fork(args):
    flags, (path,) = getopt.getopt(args, "", ["key="])
    keys = [bytes.fromhex(key) for _, key in flags]
    if not keys:
        raise ValueError("fork takes --key: nothing in a file is believed without a key that you were given some other way")
    files = map(str.rstrip, sys.stdin) if path == "-" else [path]
    faults = [(fork_fault(pathlib.Path(one).read_bytes(), keys), one) for one in files]
    for fault, one in faults:
        said = f"REFUSED: {fault}" if fault else "CONVICTS: one key signed both heads, and they cannot both be of one log"
        print(said + (f" {one}" if path == "-" else ""))
    sys.exit(2 if any(fault for fault, _ in faults) else 0)

def main(args):
    try:
        if args[:1] == ["fork"]:
            return judge_fork(args[1:])
        flags, paths = getopt.getopt(args, "", ["key=", "previous=", "allow-unproved-drops", "trust-embedded-key"])
        given = {name: [v for k, v in flags if k == name] for name, _ in flags}
        options = {"keys": [bytes.fromhex(key) for key in given.get("--key", [])], "embedded": "--trust-embedded-key" in given,
                   "unproved": "--allow-unproved-drops" in given, "kept": [read_kept(p) for p in given.get("--previous", [])]}
        for body, _ in options["kept"]:
            Head(body)
        if paths == ["-"]:
            return [print(*verdict(path, options)[:2], path) for path in map(str.rstrip, sys.stdin)]
        kind, tseq, *text = verdict(*paths, options)
    except (OSError, ValueError, TypeError, LookupError, getopt.GetoptError) as error:
        sys.exit(print(error, __doc__, sep="\n", file=sys.stderr) or 1)
    if kind != "ok":
        sys.exit(print(f"REFUSED: {kind}" + (f" at entry {tseq}" if tseq else "")) or 2)
    print(*text)
    if not options["keys"]:
        print("UNTRUSTED KEY: the key came with the bundle, so this shows only that the bundle fits itself.", file=sys.stderr)
    return None

if __name__ == "__main__":
    main(sys.argv[1:])
