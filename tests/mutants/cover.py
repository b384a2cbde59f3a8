# SPDX-License-Identifier: Apache-2.0
"""cover.py - which test runs which line: every test once on the unbroken tree, counted by gcov, kept in build/mutate/cover.json.

A row is made again when the test's own file has changed. A source file that has changed since is judged by its functions alone,
for its lines may have moved. A process that is killed or leaves by _exit (the child of a lease) writes no counts; lines that
nothing is known to run are tried by the tests that hold their function."""
import concurrent.futures, functools, hashlib, json, os, re, shutil, subprocess, threading

from build import BUILD, FOLDERS, ROOT, out

MAP = os.path.join(BUILD, "cover.json")
LIMIT = 900     # seconds of one test, unbroken, on a busy machine


def digest(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()[:16] if os.path.exists(path) else ""


def sources_of(test):
    """The digest of the test's own file."""
    inputs = out("ninja", "-C", BUILD, "-t", "inputs", test.programs[0])
    found = [m[0] for m in re.finditer(r"tests/(unit|db)/\S+/test_\S+\.c\b", inputs)]
    return "".join(sorted(digest(os.path.join(ROOT, f)) for f in set(found)))


def lines_of(folder):
    """{file: {function: [lines that ran]}} from the counts that a test left below the folder."""
    files = []
    for here, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".gcda"):
                note = os.path.join("/", os.path.relpath(os.path.join(here, name), folder))[:-5] + ".gcno"
                if os.path.exists(note):
                    os.symlink(note, os.path.join(here, name[:-5] + ".gcno"))
                    files.append(os.path.join(here, name))
    found = {}
    if not files:
        return found
    said = subprocess.run(["gcov", "--json-format", "--stdout", *files], capture_output=True, text=True, cwd=BUILD).stdout
    for row in said.splitlines():
        for f in json.loads(row)["files"]:
            name = os.path.relpath(os.path.realpath(os.path.join(BUILD, f["file"])), ROOT)
            if name.split("/")[0] not in FOLDERS or not name.endswith(".c"):
                continue
            for line in f["lines"]:
                if line["count"]:
                    found.setdefault(name, {}).setdefault(line.get("function_name", ""), []).append(line["line_number"])
    return found


def cover(test, number):
    counts = f"/dev/shm/falaj-{os.getpid()}-counts{number}"
    said, seconds = test.run(LIMIT, f"cover{number}", {"GCOV_PREFIX": counts})
    row = {"sources": sources_of(test), "said": said, "seconds": round(seconds, 2), "lines": lines_of(counts)}
    shutil.rmtree(counts, ignore_errors=True)
    return row


def keep(rows):
    json.dump(rows, open(MAP + ".new", "w"))
    os.replace(MAP + ".new", MAP)


class Map:
    def __init__(self, tests, jobs):
        self.tests = {t.name: t for t in tests}
        rows = json.load(open(MAP)) if os.path.exists(MAP) else {"files": {}, "tests": {}}
        had = rows["tests"]
        wanted = [t for t in tests if had.get(t.name, {}).get("sources") != sources_of(t) or had[t.name]["said"] != "passed"]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for n, (t, row) in enumerate(zip(wanted, pool.map(cover, wanted, range(len(wanted))))):
                rows["tests"][t.name] = row
                for f in row["lines"]:
                    rows["files"].setdefault(f, digest(os.path.join(ROOT, f)))
                if row["said"] != "passed":
                    print(f"left out, it {row['said']} on the unbroken tree: {t.name}", flush=True)
                if n % 10 == 9 or n == len(wanted) - 1:
                    keep(rows)
        self.rows = {n: r for n, r in rows["tests"].items() if n in self.tests and r["said"] == "passed"}
        self.known = rows["files"]
        self.whole, self.tried, self.lock = rows, set(), threading.Lock()
        self.ran = {}       # {(file, function): {test: lines}}
        for name, row in self.rows.items():
            for file, functions in row["lines"].items():
                for function, lines in functions.items():
                    self.ran.setdefault((file, function), {})[name] = set(lines)
        self.inside = {}

    def seconds(self, test):
        """How long the test takes on the unbroken tree; None: it fails there. One over HTTP is tried when it is asked for."""
        if test.own:
            return self.rows[test.name]["seconds"]
        with self.lock:
            row = self.whole["tests"].get(test.name)
            if not row or row["said"] != "passed" and test.name not in self.tried:
                self.tried.add(test.name)
                said, seconds = test.run(LIMIT, "cover_http")
                row = self.whole["tests"][test.name] = {"sources": "", "said": said, "seconds": round(seconds, 2), "lines": {}}
                keep(self.whole)
                if said != "passed":
                    print(f"left out, it {said} on the unbroken tree: {test.name}", flush=True)
        return row["seconds"] if row["said"] == "passed" else None

    def holds(self, test, file, function):
        """The test's programs have the function linked in."""
        for program in test.programs:
            if program not in self.inside:
                found, here = set(), ""
                for line in out("readelf", "-sW", os.path.join(BUILD, program)).splitlines():
                    w = line.split()
                    if len(w) >= 8 and w[3] == "FILE":
                        here = os.path.basename(w[7])
                    elif len(w) >= 8 and w[3] == "FUNC" and w[6] != "UND":
                        found.add((here if w[4] == "LOCAL" else "", w[7].split("@")[0]))
                self.inside[program] = found
            if self.inside[program] & {("", function), (os.path.basename(file), function)}:
                return True
        return False

    @functools.cache
    def of_file(self, file):
        """{test: lines} of a whole file."""
        found = {}
        for (name, _), by in self.ran.items():
            for test, ran in by.items() if name == file else ():
                found.setdefault(test, set()).update(ran)
        return found

    def tests_of(self, m):
        """The tests that run the mutant's line: its own first, then those of its folder, then the quickest."""
        by = self.ran.get((m.file, m.function)) or self.of_file(m.file)     # ctags does not know what macros define
        names = set(by)
        if by and m.what != "SQL" and digest(os.path.join(ROOT, m.file)) == self.known[m.file]:
            # A statement over several lines is counted at one of them: the nearest one at or above the mutant that is known.
            lines = sorted(n for n in set().union(*by.values()) if n <= m.line)
            if lines:
                names = {t for t, ran in by.items() if lines[-1] in ran}
        if not names:
            names = {t.name for t in self.tests.values() if t.name in self.rows and self.holds(t, m.file, m.function)}
        own, folder = "test_" + os.path.basename(m.file)[:-2], "_" + os.path.dirname(m.file).replace("/", "_") + "_"
        return sorted((self.tests[n] for n in names), key=lambda t: (not re.search(own + r"(_|$)", t.name), self.seconds(t) > 2,
                                                                     folder not in t.name, self.seconds(t)))
