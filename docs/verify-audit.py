#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Second verifier of Falaj audit bundles, written from docs/audit-format.md alone: Python's standard library and openssl.

Usage: verify-audit.py [--key HEX]... BUNDLE      Exit: 0 whole, 2 refused, 64 usage, 66 unreadable.
Without --key the key that the bundle brings is used, and a warning says so."""
import base64
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import uuid

RECORD = re.compile(rb'\{"tseq":([1-9][0-9]*),"leaf":"([0-9a-f]{64})",'
                    rb'(?:"chain":"([0-9a-f]{64})"|"proof":(\[[0-9a-f",]*\])),"event":(.*)\}\Z', re.S)

def refuse(kind, tseq, text):
    sys.exit(print(f"REFUSED: {kind} at entry {tseq}: {text}") or 2)

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def ed25519(pub, body, sig):
    with tempfile.TemporaryDirectory() as tmp:
        for name, data in (("key", bytes.fromhex("302a300506032b6570032100") + pub), ("msg", body), ("sig", sig)):
            pathlib.Path(tmp, name).write_bytes(data)
        return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin", "-in", "msg",
                               "-sigfile", "sig"], cwd=tmp, capture_output=True, check=False).returncode == 0

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
        root = None
        for _, node in reversed(self.nodes):
            root = node if root is None else sha(b"\1", node, root)
        return root if root is not None else sha()

def included(leaf, index, size, proof, root):
    fn, sn = index, size - 1
    for node in proof:
        if sn == 0:
            return False
        is_right = fn & 1 or fn == sn
        leaf = sha(b"\1", node, leaf) if is_right else sha(b"\1", leaf, node)
        while is_right and fn and not fn & 1:
            fn, sn = fn >> 1, sn >> 1
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and leaf == root

def open_manifest(line, pinned):
    manifest = json.loads(line)
    if manifest["format"] != "falaj-audit-bundle-v1":
        refuse("malformed", 0, "not a bundle")
    body, sig = (base64.b64decode(manifest["head"][k], validate=True) for k in ("body", "sig"))
    head = json.loads(body)
    keys = pinned or [bytes.fromhex(k["public"]) for k in manifest["keys"] if k["key_id"] == head["key_id"]]
    if not any(ed25519(key, body, sig) for key in keys):
        refuse("wrong_key", 0, "the head is not signed by the key")
    return (manifest, head, sig) if head["log_id"] == manifest["tenant"] else refuse("spliced", 0, "the head is of another log")

def check_event(line, want, tenant):
    match = RECORD.match(line)
    if not match:
        refuse("malformed", want, "a line is not an entry")
    tseq, leaf, event = int(match[1]), bytes.fromhex(match[2].decode()), match[5]
    if event != b"null" and json.loads(event)["tenant"] != tenant:
        refuse("spliced", want, "an event of another tenant")
    return match, tseq, leaf, event

def verify(file, pinned):
    first = file.readline()
    manifest, head, sig = open_manifest(first, pinned)
    digest, tree, seen, dropped, ended, last = hashlib.sha256(first), Tree(), 0, 0, None, None
    selection, start, root = manifest["mode"] == "selection", manifest["from_tseq"], bytes.fromhex(head["root"])
    stop = manifest["to_tseq"] if manifest["after"] or selection else head["size"]
    chain, want = bytes.fromhex(manifest["before"]["chain"]), start
    if start == 1 and chain != sha(b"falaj-audit-v1", uuid.UUID(manifest["tenant"]).bytes):
        refuse("malformed", 0, "the chain begins wrongly")
    tree.cover(start - 1, manifest["before"]["nodes"])
    for raw in file:
        line = raw[:-1]
        if ended or not raw.endswith(b"\n"):
            refuse("truncated" if not ended else "malformed", 0, "the last line is cut or not the last")
        ended = json.loads(line)["end"] if line.startswith(b'{"end":') else None
        digest.update(b"" if ended else raw)
        if ended or line.startswith(b'{"checkpoint":'):
            continue
        match, tseq, leaf, event = check_event(line, want, manifest["tenant"])
        want = max(want, tseq) if selection else want
        if tseq != want or tseq > stop:
            kind = "deleted or swapped" if tseq > want else "duplicated" if leaf == last else "inserted"
            refuse(kind, want, f"entry {tseq} stands here")
        if event != b"null" and sha(b"\0", event) != leaf:
            refuse("edited", want, "the event does not have its hash")
        if selection:
            if not included(leaf, tseq - 1, head["size"], list(map(bytes.fromhex, json.loads(match[4]))), root):
                refuse("edited", want, "the entry is not in the tree")
        else:
            chain = sha(b"\2", chain, leaf)
            if chain.hex().encode() != match[3]:
                refuse("duplicated" if leaf == last else "edited", want, "the chain breaks here")
            tree.add(leaf)
        seen, dropped, last, want = seen + 1, dropped + (event == b"null"), leaf, want + 1
    if not selection and want <= stop:
        refuse("truncated", want, f"entry {stop} should be the last")
    tree.cover(head["size"], manifest["after"])
    if not selection and (tree.size != head["size"] or tree.root() != root or
                          (stop == head["size"] and chain.hex() != head["chain"])):
        refuse("forked", 0, "the entries are not those of the signed head")
    if not ended or [ended["count"], ended["sha256"], base64.b64decode(ended["sig"])] != [seen, digest.hexdigest(), sig] or \
            manifest["count"] != seen:
        refuse("truncated" if not ended else "malformed", 0, "the end line is missing or does not fit")
    return manifest, head, seen, dropped

def main(args):
    pinned = [bytes.fromhex(args[i + 1]) for i in range(0, len(args) - 1, 2) if args[i] == "--key"]
    if len(args) != 2 * len(pinned) + 1:
        sys.exit(print(__doc__, file=sys.stderr) or 64)
    try:
        with open(args[-1], "rb") as file:
            manifest, head, seen, dropped = verify(file, pinned)
    except OSError as error:
        sys.exit(print(error, file=sys.stderr) or 66)
    except (ValueError, KeyError, TypeError) as error:
        refuse("malformed", 0, error)
    print(f"OK: tenant {manifest['tenant']}, {seen} entries ({dropped} without body) of a log of {head['size']}")
    if not pinned:
        print("WARNING: no key was pinned; compare the bundle's key with the one you were given.", file=sys.stderr)

if __name__ == "__main__":
    main(sys.argv[1:])
