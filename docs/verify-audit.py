#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Second verifier of Falaj audit bundles, written from docs/audit-format.md alone: Python's standard library and openssl.

Usage: verify-audit.py [--key HEX]... [--previous HEAD] [--allow-dropped] BUNDLE      Exit: 0 whole, 1 usage or unreadable, 2 refused.
BUNDLE "-" reads paths of bundles from standard input, one a line, and prints a verdict for each: KIND ENTRY PATH.
Without --key the key that the bundle brings is used, and a warning says so."""
import base64, functools, getopt, hashlib, json, pathlib, re, subprocess, sys, tempfile, uuid  # noqa: E401

RECORD = re.compile(rb'\{"tseq":([1-9][0-9]*),"leaf":"([0-9a-f]{64})",'
                    rb'(?:"chain":"([0-9a-f]{64})"|"proof":(\[[0-9a-f",]*\])),"event":(.*)\}\Z', re.S)
TENANT, LINE_MAX = re.compile(rb'\{"v":1,"event_id":"[^"]*","zone":"(?:[^"\\]|\\.)*","tenant":"([0-9a-f-]{36})"'), 65536

def check(is_good, kind, tseq=0):
    if not is_good:
        raise LookupError(kind, tseq)

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

@functools.lru_cache(256)
def ed25519(pub, body, sig):
    with tempfile.TemporaryDirectory() as tmp:
        for name, data in (("key", bytes.fromhex("302a300506032b6570032100") + pub), ("msg", body), ("sig", sig)):
            pathlib.Path(tmp, name).write_bytes(data)
        return subprocess.run("openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in msg -sigfile sig".split(),
                              cwd=tmp, capture_output=True, check=False).returncode == 0

class Tree:
    """The frontier of RFC 9162: (level, root) of each perfect subtree, largest first."""
    def __init__(self):
        self.nodes, self.size = [], 0

    def add(self, root, level=0):
        self.size += 1 << level
        while self.nodes and self.nodes[-1][0] == level:
            root, level = sha(b"\1", self.nodes.pop()[1], root), level + 1
        self.nodes.append((level, root))

    def cover(self, size, nodes):
        for node in nodes:
            level = (self.size & -self.size).bit_length() - 1 if self.size else 62
            while 1 << level > max(size - self.size, 1):
                level -= 1
            self.add(bytes.fromhex(node), level)

    def root(self):
        roots = [root for _, root in self.nodes[::-1]] or [sha()]
        return functools.reduce(lambda right, left: sha(b"\1", left, right), roots)

def walk(fn, sn, first, proof):
    """RFC 9162 2.1.3.2 and 2.1.4.2 in one: the old and the new root that the proof leads to."""
    old = new = first
    for node in map(bytes.fromhex, proof):
        check(sn, "edited")
        if fn & 1 or fn == sn:
            old, new = sha(b"\1", node, old), sha(b"\1", node, new)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = sha(b"\1", new, node)
        fn, sn = fn >> 1, sn >> 1
    return (old, new) if sn == 0 else (None, None)

def asked_for(f, e):
    action, things = e["action"], (None, e["resource"]["kind"], e["resource"]["id"])
    return ((f["from_us"] or e["ts_us"]) <= e["ts_us"] and (not f["until_us"] or e["ts_us"] < f["until_us"]) and f["resource"] in things and
            f["actor"] in (None, e["actor"]["type"], e["actor"]["id"]) and
            (f["action"] in (None, action) or (f["action"][-1] == "." and action.startswith(f["action"]))))

class Bundle:
    def __init__(self, first, keys, dropped, known):
        m = self.m = json.loads(first)
        self.keys, self.may_drop, self.tree, self.seen, self.dropped, self.last = keys, dropped, Tree(), 0, 0, None
        self.pending, self.came_back, self.next_fits = None, False, None
        check(m["format"] == "falaj-audit-bundle-v1", "malformed")
        self.head, self.sig, self.some = self.signed(m["head"]), base64.b64decode(m["head"]["sig"]), m["mode"] == "selection"
        check((self.head["log_id"], self.head["zone"]) == (m["tenant"], m["zone"]), "spliced")
        self.known = known + ([self.signed(m["previous"])] if m["previous"] else [])
        check(all(head["log_id"] == m["tenant"] for head in self.known), "spliced")
        self.root, self.size, self.want = bytes.fromhex(self.head["root"]), self.head["size"], m["from_tseq"]
        check(1 <= self.want <= m["to_tseq"] <= self.size and (self.some or not m["filter"]), "malformed")
        self.to, self.good = m["to_tseq"] if m["after"] or self.some else self.size, self.want - 1
        self.chain = self.back = bytes.fromhex(m["before"]["chain"])
        check(self.some or self.want > 1 or self.chain == sha(b"falaj-audit-v1", uuid.UUID(m["tenant"]).bytes), "malformed")
        self.tree.cover(self.good, m["before"]["nodes"])
        self.fit(() if self.some else self.known)

    def signed(self, head):
        body, sig = (base64.b64decode(head[k], validate=True) for k in ("body", "sig"))
        own = [bytes.fromhex(k["public"]) for k in self.m["keys"] if k["key_id"] == json.loads(body)["key_id"]]
        check(any(ed25519(key, body, sig) for key in self.keys or own), "wrong_key")
        return json.loads(body)

    def fit(self, heads):
        for head in [head for head in heads if head["size"] == self.tree.size]:
            check((self.tree.root().hex(), self.chain.hex()) == (head["root"], head["chain"]), "forked", self.good + 1)
            self.good = head["size"]
            self.known = [other for other in self.known if other is not head]

    def checkpoint(self, line):
        try:
            head = self.signed(json.loads(line)["checkpoint"])
        except LookupError:    # signed by someone else: it says nothing
            return
        self.fit([head] if head["log_id"] == self.m["tenant"] and not self.some and not self.pending else ())

    def record(self, line):
        self.seen, want, match = self.seen + 1, self.want, RECORD.match(line)
        if self.pending:    # the place is known; what follows is only counted, and looked at for what tells the kind
            tseq = re.match(rb'\{"tseq":([0-9]+)', line)
            self.came_back |= bool(tseq and self.pending[0] <= int(tseq[1]) < self.pending[1])
            if self.next_fits is None:
                self.next_fits = bool(match and match[3] == sha(b"\2", self.chain, bytes.fromhex(match[2].decode())).hex().encode())
            return
        check(match and bool(match[4]) == self.some, "malformed", want)
        tseq, leaf, event, tenant = int(match[1]), bytes.fromhex(match[2].decode()), match[5], TENANT.match(match[5])
        check(not tenant or tenant[1].decode() == self.m["tenant"], "spliced", want)
        follows_back = sha(b"\2", self.back, leaf).hex().encode() == match[3]
        if self.some:
            check(tseq >= want, "duplicated" if self.seen > 1 and tseq + 1 == want else "swapped", tseq)
            check(tseq <= self.to, "inserted", tseq)
        elif tseq > want <= self.to:
            self.pending = (want, tseq)
            return
        elif tseq != want or want > self.to:
            check(not (tseq + 1 == want and self.seen > 1 and leaf != self.last), "inserted", tseq if follows_back else want)
            is_again = leaf == self.last if tseq == want else self.m["from_tseq"] <= tseq < want
            check(False, "duplicated" if is_again else "inserted", want)
        self.dropped += event == b"null"
        check(self.may_drop if event == b"null" else sha(b"\0", event) == leaf, "edited", tseq)
        if self.some:
            check(event == b"null" or not self.m["filter"] or asked_for(self.m["filter"], json.loads(event)), "inserted", tseq)
            check(walk(tseq - 1, self.size - 1, leaf, json.loads(match[4]))[1] == self.root, "edited", tseq)
            self.want = tseq + 1
            return
        check(self.seen == 1 or leaf != self.last, "duplicated", want)
        chain = sha(b"\2", self.chain, leaf)
        if chain.hex().encode() != match[3]:
            check(self.seen == 1 or not follows_back, "inserted", want - 1)
            self.pending = (want, 0)
            return
        self.back, self.chain, self.last, self.want = self.chain, chain, leaf, want + 1
        self.tree.add(leaf)
        self.fit(self.known)

    def close(self, end, digest, is_cut):
        extra = self.seen - (self.to - self.m["from_tseq"] + 1)
        if self.pending and self.pending[1]:
            kinds = ("duplicated", "swapped") if self.came_back else ("inserted", "deleted")
            check(False, kinds[extra <= 0], self.pending[0])
        if self.pending:
            check(False, "inserted" if extra > 0 else "deleted" if extra else "swapped" if self.next_fits else "edited", self.pending[0])
        check(self.some or self.want > self.to, "truncated", self.want)
        check(not is_cut, "truncated")
        chain_fits = self.tree.size < self.size or self.chain.hex() == self.head["chain"]
        self.tree.cover(self.size, self.m["after"])
        check(self.some or ((self.tree.size, self.tree.root()) == (self.size, self.root) and chain_fits), "forked", self.good + 1)
        for head in self.known:
            self.extends(head["size"], bytes.fromhex(head["root"]))
        check(end, "truncated")
        check(end["count"] == self.m["count"] == self.seen, "deleted" if self.seen < self.m["count"] else "inserted")
        check(end["sha256"] == digest and base64.b64decode(end["sig"]) == self.sig, "malformed")

    def extends(self, n, root):
        check(n <= self.size, "truncated", self.size + 1)
        previous = self.m["previous"]
        check(n == self.size or previous and json.loads(base64.b64decode(previous["body"]))["size"] == n, "malformed")
        proof, shift = [root.hex()] if not n & (n - 1) else [], (n & -n).bit_length() - 1
        proof += previous["proof"] if n < self.size else []
        old_and_new = walk((n - 1) >> shift, (self.size - 1) >> shift, bytes.fromhex(proof[0]), proof[1:]) if proof else ()
        check(root == self.root if n == self.size else old_and_new == (root, self.root), "forked")

def verify(file, options):
    lines = iter(lambda: file.readline(LINE_MAX + 2), b"")
    first, end, is_cut = next(lines, b""), None, False
    check(first.endswith(b"\n"), "truncated" if 0 < len(first) <= LINE_MAX else "malformed")
    bundle, digest = Bundle(first, *options), hashlib.sha256(first)
    for raw in lines:
        is_cut = not raw.endswith(b"\n")
        check(not is_cut or len(raw) <= LINE_MAX, "malformed", bundle.want)
        if is_cut:
            break
        check(not end, "malformed")
        if raw.startswith(b'{"end":'):
            end = json.loads(raw)["end"]
        else:
            digest.update(raw)
            (bundle.checkpoint if raw.startswith(b'{"checkpoint":') else bundle.record)(raw[:-1])
    bundle.close(end, digest.hexdigest(), is_cut)
    return f"OK: tenant {bundle.m['tenant']}, {bundle.seen} entries ({bundle.dropped} without body) of a log of {bundle.size}"

def verdict(path, options):
    with open(path, "rb") as file:
        try:
            return ("ok", 0, verify(file, options))
        except LookupError as damage:
            return damage.args if len(damage.args) == 2 else ("malformed", 0)
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
            return ("malformed", 0)

def main(args):
    try:
        flags, paths = getopt.getopt(args, "", ["key=", "previous=", "allow-dropped"])
        values = {name: [v for k, v in flags if k == name] for name in ("--key", "--previous", "--allow-dropped")}
        heads = [json.loads(pathlib.Path(p).read_bytes()) for p in values["--previous"]]
        options = [*map(bytes.fromhex, values["--key"])], bool(values["--allow-dropped"]), heads
        if paths == ["-"]:
            return [print(*verdict(path, options)[:2], path) for path in map(str.rstrip, sys.stdin)]
        kind, tseq, *text = verdict(*paths, options)
    except (OSError, ValueError, TypeError, getopt.GetoptError) as error:
        sys.exit(print(error, __doc__, sep="\n", file=sys.stderr) or 1)
    if kind != "ok":
        sys.exit(print(f"REFUSED: {kind}" + (f" at entry {tseq}" if tseq else "")) or 2)
    print(*text)
    if not options[0]:
        print("WARNING: no key was pinned; compare the bundle's key with the one you were given.", file=sys.stderr)

if __name__ == "__main__":
    main(sys.argv[1:])
