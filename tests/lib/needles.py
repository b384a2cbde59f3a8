# SPDX-License-Identifier: Apache-2.0
"""needles.py - texts looked for in every spelling that a file, a dump or a log could give them.

As UTF-8 and UTF-16 in both orders, each of them as it is, in hex and in base64 at each of the three offsets; as escapes of JSON
and of an address. Letters count in either case, but in base64."""
import base64, json, urllib.parse


def spellings(text):
    """(exact, any case): the byte strings of a text."""
    escaped = (json.dumps(text)[1:-1], urllib.parse.quote(text), urllib.parse.quote_plus(text))
    exact, anycase = set(), {x.encode() for x in escaped}
    for raw in (text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be")):
        anycase |= {raw, raw.hex().encode()}
        for at in range(3):
            whole = base64.b64encode(b"\0" * at + raw)
            end = len(whole) - (4 if (at + len(raw)) % 3 else 0)        # what comes after the text is not known
            inner = whole[(0, 2, 3)[at]:end]
            exact |= {inner, inner.replace(b"+", b"-").replace(b"/", b"_")}
    return exact, {x.lower() for x in anycase}


class Needles:
    """marks: NAME -> text."""

    def __init__(self, marks):
        self.spelled = {name: spellings(text) for name, text in marks.items()}

    def found(self, texts):
        """[(place, name)] of the marks in PLACE -> bytes."""
        hits = []
        for place, text in texts.items():
            low = text.lower()
            for name, (exact, anycase) in self.spelled.items():
                if any(x in text for x in exact) or any(x in low for x in anycase):
                    hits.append((place, name))
        return hits
