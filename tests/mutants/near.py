# SPDX-License-Identifier: Apache-2.0
"""near.py - which tests are asked about a broken file, and in which order; reading is enough for it, nothing is built or run.

The file's own test is first (unit/… and db/… at the mirrored path), then those that lint/mirror.allow names for it, those that
call the function, those that call another function of the file, the own tests of files of its folder that call it, and those that
include its header. Within each of these, tests without a database are first. A test that is in none is not asked, so what only it
would notice counts as survived: the ratio is never too good for it. A file that has none of them is not broken."""
import collections, functools, os, re

from build import ROOT, out


@functools.cache
def text(path):
    return open(os.path.join(ROOT, path), encoding="utf-8").read()


def mentions(path, names):
    """Whether one of the names stands in the file as a word; few do, so the quick look is first."""
    said = text(path)
    return any(n in said and re.search(rf"\b{n}\b", said) for n in names)


@functools.cache
def named_by_mirror():
    """{file: {the names of the tests in C that lint/mirror.allow has for it}}."""
    found = collections.defaultdict(set)
    for line in open(os.path.join(ROOT, "tests/lint/mirror.allow"), encoding="utf-8"):
        w = line.split(None, 2)
        if w and w[0] == "untested":
            found[w[1]] |= set(re.findall(r"\btest_\w+(?=\.c\b)", w[2]))
    return found


@functools.cache
def doors(file):
    """The functions of the file that others can call."""
    return frozenset(re.findall(r"^(?!static\b)[a-z][\w \*]*?\b(\w+)\([^;]*$", text(file), re.M)) - {"main"}


@functools.cache
def callers(file):
    """Files of the same folder that call it."""
    folder = os.path.dirname(file)
    found = out("git", "ls-files", "-co", "--exclude-standard", folder + "/*.c", cwd=ROOT).splitlines()
    return [f for f in found if f != file and os.path.dirname(f) == folder and mentions(f, doors(file))]


class Near:
    def __init__(self, tests):
        self.tests = [t for t in tests if t.source]

    @functools.cache
    def of(self, file, function):
        folder, base = os.path.split(file)
        own = {f"tests/{kind}/{folder}/test_{base}" for kind in ("unit", "db")}
        of_callers = {f"tests/{kind}/{folder}/test_{os.path.basename(f)}" for kind in ("unit", "db") for f in callers(file)}
        header, others = f'"{file[:-2]}.h"', doors(file)
        by_mirror = named_by_mirror()[file]

        def rank(t):
            name = os.path.basename(t.source)
            if t.source in own:
                return 0
            if name[:-2] in by_mirror:
                return 1
            if function in others and mentions(t.source, [function]):
                return 2
            if mentions(t.source, others):
                return 3
            if t.source in of_callers:
                return 4
            if header in text(t.source):
                return 5
            return None

        rows = [(r, t.source.startswith("tests/db/"), t.name, t) for t in self.tests if (r := rank(t)) is not None]
        return [row[3] for row in sorted(rows, key=lambda row: row[:3])]
