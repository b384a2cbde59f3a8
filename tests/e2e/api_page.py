#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""api_page.py - the reference page has every call and every schema of the OpenAPI document, its links lead somewhere, and it asks
nobody for anything."""
import html.parser, json, os, re, subprocess, sys, tempfile

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(SRC, "docs/gen/openapi.json")


def page(document):
    r = subprocess.run([sys.executable, os.path.join(SRC, "docs/api-page.py"), document], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr


class Reader(html.parser.HTMLParser):
    """What it names, where it leads, and whether what is opened is closed."""
    VOID = ("meta", "br")

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.headings, self.open, self.words, self.bad = [], [], [], [], "", []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag in ("script", "link", "img", "iframe") or "src" in attrs:
            self.bad.append((tag, attrs))
        if tag == "h3":
            self.words = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(("closed", tag))
        if tag == "h3":
            self.headings.append(self.words)

    def handle_data(self, data):
        self.words += data


def main():
    rc, text, said = page(DOCUMENT)
    assert rc == 0, said
    assert text == page(DOCUMENT)[1]
    r = Reader()
    r.feed(text)
    assert not r.bad and not r.open, (r.bad[:3], r.open)
    assert len(r.ids) == len(set(r.ids)), "an id stands twice"
    lost = [x for x in r.links if x[0] != "#" or x[1:] not in r.ids]
    assert r.links and not lost, lost[:5]
    assert not re.search(r"url\(|@import", text)
    with open(DOCUMENT, encoding="utf-8") as f:
        d = json.load(f)
    calls = [f"{m.upper()} {p}" for p, methods in d["paths"].items() for m in methods
             if m in ("get", "post", "put", "patch", "delete")]
    missing = [x for x in [*calls, *d["components"]["schemas"]] if x not in r.headings]
    assert calls and not missing, missing[:5]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        path = next(iter(d["paths"]))
        next(iter(d["paths"][path].values()))["responses"]["200"] = {"$ref": "#/components/responses/none"}
        json.dump(d, f)
        f.flush()
        rc, _, said = page(f.name)
        assert rc == 1 and "none" in said, (rc, said)
    print(f"api_page.py: {len(calls)} calls, {len(d['components']['schemas'])} schemas, {len(r.links)} links, "
          f"{len(text) >> 10} KiB")


main()
