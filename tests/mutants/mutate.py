# SPDX-License-Identifier: Apache-2.0
"""mutate.py - the work of tests/mutate.sh, which says what it does and how it is called."""
import argparse, collections, concurrent.futures, functools, hashlib, json, os, queue, random, shlex, sys, threading, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import build, near, operators

EQUIVALENT = "tests/mutants/equivalent.txt"
RESULTS = os.path.join(build.PLACE, "results.jsonl")
MOST = 6           # tests are asked about one mutant, its own first, and so many more over HTTP


def equivalents():
    """{(file, line's text, column in it, old, new): reason}."""
    rows = {}
    for n, line in enumerate(open(EQUIVALENT, encoding="utf-8"), 1):
        if line.strip() and not line.startswith("#"):
            parts = [x.strip() for x in line.rstrip("\n").split("\t", 5)]
            if len(parts) != 6 or not parts[5] or not parts[2].isdigit():
                raise SystemExit(f"{EQUIVALENT}:{n}: FILE, LINE'S TEXT, COLUMN, OLD, NEW, REASON are wanted, tabs between")
            rows[(parts[0], parts[1], int(parts[2]), parts[3], parts[4])] = parts[5]
    return rows


def keyed(found):
    """[(key, mutant)]: what each is called when lines above it have moved: file, line's text, old, new, column in the text, and
    which of the lines of this text in its file."""
    rows, seen = [], collections.Counter()
    for m in found:
        line = text_of(m.file)[m.line - 1]
        key = m.file, line.strip(), m.old, m.new, m.column - (len(line) - len(line.lstrip()))
        rows.append(((*key, seen[key]), m))
        seen[key] += 1
    return rows


@functools.cache
def text_of(path):
    return open(path, encoding="utf-8").read().split("\n")


@functools.cache
def digest(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()[:16]


def judge(m, bench, asked):
    """(verdict, test or None, seconds): 'killed', 'survived', 'refused' by the compiler, or 'same' program."""
    began = time.time()
    first = next((t for t in asked if t.built()), None)     # what is generated for the file stands then
    made = bench.begin(m.file, operators.apply(m)) if first else "survived"
    if made != "broken":
        return made, None, time.time() - began
    for t in asked:
        if not t.built():
            continue
        said, seconds = bench.run(t, build.LIMIT if t.seconds is None else 20 + 3 * t.seconds)
        # Where time ran out the unbroken program must pass in the same minute; a failure before its whole run's time is another.
        if said != "passed" and t.passes(said == "late" or t.seconds and seconds > max(2, t.seconds)):
            return "killed", t.name + (" (late)" if said == "late" else ""), time.time() - began
    return "survived", None, time.time() - began


def kept():
    """{key: row} of earlier runs."""
    rows = {}
    for line in open(RESULTS, encoding="utf-8") if os.path.exists(RESULTS) else []:
        r = json.loads(line)
        rows[(r["file"], r["text"], r["old"], r["new"], r["column"], r["nth"])] = r
    return rows


class Count:
    """What was judged, by folder."""

    def __init__(self):
        self.by_folder, self.survivors, self.lock = collections.defaultdict(collections.Counter), [], threading.Lock()

    def note(self, m, verdict):
        with self.lock:
            self.by_folder[m.file.split("/")[0]][verdict] += 1
            if verdict == "survived":
                self.survivors.append(m)

    def all(self):
        with self.lock:
            return sum(self.by_folder.values(), collections.Counter())

    def judged(self):
        c = self.all()
        return c["killed"] + c["survived"]

    def say(self, seed, began):
        for m in self.survivors:
            print(f"survived: {m.file}:{m.line}:{m.column + 1} {m.function} {m.old!r} -> {m.new!r}")
        for folder, c in [*sorted(self.by_folder.items()), ("all", self.all())]:
            of = c["killed"] + c["survived"]
            share = 100 * c["killed"] / of if of else 0
            print(f"{folder:10} {c['killed']} of {of} killed ({share:.1f} %), {c['equivalent']} known as equivalent, "
                  f"{c['same']} the same program, {c['refused']} refused by the compiler")
        print(f"seed {seed}, {(time.time() - began) / 60:.1f} min")


def arguments():
    usage = next(l[2:].strip() for l in open("tests/mutate.sh", encoding="utf-8") if "mutate.sh N SEED [" in l)
    ap = argparse.ArgumentParser(usage=usage)
    ap.add_argument("n", type=int)
    ap.add_argument("seed", type=int)
    ap.add_argument("--folder", action="append")
    ap.add_argument("--db", action="store_true")
    ap.add_argument("--http", action="store_true")
    ap.add_argument("--least", type=float, default=0)
    ap.add_argument("--only")
    ap.add_argument("--minutes", type=float, default=1e9)
    ap.add_argument("--again", action="store_true")
    ap.add_argument("-j", type=int, default=2)
    return ap.parse_args()


def places(a):
    """The mutants in the order of their digest with the seed, one of each folder in turn, since the kernels of workers are more
    than half of all lines: a change of one file moves no other file's within the folder."""
    patterns = [x if x.endswith(".c") else x + "/*.c" for x in a.folder or build.FOLDERS]
    files = build.out("git", "ls-files", "-co", "--exclude-standard", *patterns).splitlines()
    if a.only:
        files = [f for f in files if a.only.startswith(f + ":")]
    files = tuple(f for f in files if os.path.isfile(f) and not f.endswith("main.c"))
    where = operators.functions_of_all(files)
    found = [m for f in files for m in operators.mutants(f, a.db, where[f])]
    rows = sorted(keyed(found), key=lambda row: hashlib.sha256(repr((a.seed, row[0])).encode()).digest())
    turn, ordered = collections.Counter(), []
    for key, m in rows:
        if not a.only or f"{m.file}:{m.line}" == a.only:
            folder = m.file.split("/")[0]
            ordered.append((turn[folder], len(ordered), key, m))
            turn[folder] += 1
    return [(key, m) for *_, key, m in sorted(ordered, key=lambda row: row[:2])]


def main():
    a = arguments()
    began = time.time()
    tests = build.tests_of_tree(a.db)
    by_reading = near.Near(tests)
    over_http = build.http_tests() if a.http else {}

    def asked(m):
        return [*by_reading.of(m.file, m.function)[:MOST], *over_http.get(m.file, [])[:MOST]]

    todo = places(a)
    # The first test of each file of the sample in one build, which knows better than many how to use two processors.
    firsts = {(asked(m) or [None])[0] for _, m in todo[:a.n]} - {None}
    build.ninja(a.j, *sorted({part for t in firsts if t.own for part in t.parts}))
    files = len({m.file for _, m in todo})
    print(f"{len(todo)} places in {files} files, {len(tests)} tests; ready after {time.time() - began:.0f} s", flush=True)
    known, earlier, count, benches = equivalents(), kept(), Count(), queue.SimpleQueue()
    for n in range(a.j):
        benches.put(build.Bench(n))

    def one(m, key):
        bench = benches.get()
        try:
            verdict, by, seconds = judge(m, bench, asked(m))
        finally:
            benches.put(bench)
        count.note(m, verdict)
        row = {"file": key[0], "text": key[1], "old": key[2], "new": key[3], "column": key[4], "nth": key[5], "line": m.line,
               "function": m.function, "verdict": verdict, "by": by, "seconds": round(seconds, 1), "digest": digest(m.file)}
        with count.lock, open(RESULTS, "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")
        print(f"{m.file}:{m.line}:{m.column + 1} {m.function}: {m.what}: {shlex.quote(m.old)} -> {shlex.quote(m.new)}: "
              f"{verdict}{' by ' + by if by else ''} ({seconds:.0f} s)", flush=True)

    left_out = set()
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        running = set()
        for key, m in todo:
            if not asked(m):
                left_out.add(m.file)
                continue
            row = earlier.get(key)
            while running and (len(running) >= a.j or count.judged() + len(running) >= a.n):
                done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for f in done:
                    f.result()
            if count.judged() >= a.n or time.time() - began > a.minutes * 60:
                break
            if (*key[:2], key[4] + 1, *key[2:4]) in known:
                count.note(m, "equivalent")
            elif row and row["digest"] == digest(m.file) and not (a.again and row["verdict"] == "survived"):
                count.note(m, row["verdict"])
            else:
                running.add(pool.submit(one, m, key))
        for f in running:
            f.result()

    if left_out:
        print(f"without a test that is asked: {' '.join(sorted(left_out))}")
    count.say(a.seed, began)
    c = count.all()
    return 1 if 100 * c["killed"] < a.least * (c["killed"] + c["survived"]) else 0


if __name__ == "__main__":
    sys.exit(main())
