# SPDX-License-Identifier: Apache-2.0
"""mutate.py - the work of tests/mutate.sh, which says what it does and how it is called."""
import argparse, collections, json, os, random, re, shlex, signal, subprocess, sys, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import operators

ROOT = os.getcwd()
COPY = os.path.join(ROOT, "build/mutate/src")
BUILD = os.path.join(COPY, "build/asan")
FOLDERS = ["keys", "audit", "tenants", "scheduler", "registry", "workers"]
EQUIVALENT = "tests/mutants/equivalent.txt"


def out(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, check=True, **kw).stdout


def copy_tree():
    """The tree as it stands, new files included, in COPY; a file that has not changed keeps its time, so little is built again."""
    names = set(out("git", "ls-files", "-co", "--exclude-standard").splitlines())
    for name in sorted(names):
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not os.path.isfile(source):
            continue
        data = open(source, "rb").read()
        if not os.path.exists(target) or open(target, "rb").read() != data:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(data)
            os.chmod(target, os.stat(source).st_mode)
    for folder, dirs, files in os.walk(COPY):
        if os.path.relpath(folder, COPY).split(os.sep)[0] in ("build", ".git"):
            dirs[:] = []
            continue
        for name in files:
            if os.path.relpath(os.path.join(folder, name), COPY) not in names:
                os.remove(os.path.join(folder, name))


def ninja(targets, log):
    with open(log, "w") as f:
        return subprocess.run(["ninja", "-C", BUILD, "-j2", *targets], stdout=f, stderr=subprocess.STDOUT).returncode == 0


class Test:
    """One CTest test: its command and environment, and the programs that it is made of and starts."""

    def __init__(self, row):
        p = {x["name"]: x["value"] for x in row.get("properties", [])}
        self.name, self.command, self.labels = row["name"], row.get("command"), p.get("LABELS", [])
        self.env = dict(e.split("=", 1) for e in p.get("ENVIRONMENT", []))
        self.cwd, self.programs, self.seconds = p.get("WORKING_DIRECTORY", BUILD), [], 0.0

    def run(self, limit):
        """'passed', 'failed' or 'late'. The process group goes with it: a broken program may leave daemons behind."""
        env = {**os.environ, **self.env, "FALAJ_TIER": "default"}
        began = time.time()
        p = subprocess.Popen(self.command, cwd=self.cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
        try:
            p.communicate(timeout=limit)
            return "passed" if p.returncode == 0 else "failed"
        except subprocess.TimeoutExpired:
            return "late"
        finally:
            self.seconds = time.time() - began
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()


def programs_of(tests):
    """Sets what each test is made of: its own program and those of bin/ that its build waits for."""
    for t in tests:
        own = os.path.relpath(t.command[0], BUILD) if t.command else "tests/" + t.name
        listed = out("ninja", "-C", BUILD, "-t", "inputs", own).splitlines() if own.startswith("tests/") else []
        t.programs = [own] + [p for p in listed if re.fullmatch(r"bin/falaj[\w-]*|tests/\w+\.so", p)]


def symbols(program):
    """{(file name, function)} that are in the program; a global function has no file: ('', name)."""
    found, file = set(), ""
    for line in out("readelf", "-sW", os.path.join(BUILD, program)).splitlines():
        w = line.split()
        if len(w) < 8 or w[6] == "UND":
            continue
        if w[3] == "FILE":
            file = os.path.basename(w[7])
        elif w[3] == "FUNC":
            found.add((file if w[4] == "LOCAL" else "", w[7].split("@")[0]))
    return found


def tests_of(m, tests, inside):
    """The tests that hold the mutant's function: its own first, then the quickest."""
    keys = {(os.path.basename(m.file), m.function), ("", m.function)}
    hit = [t for t in tests if any(keys & inside[p] for p in t.programs)]
    own = "test_" + os.path.basename(m.file)[:-2]
    return sorted(hit, key=lambda t: (not re.search(own + r"(_|$)", t.name), t.seconds))


def equivalents():
    rows = {}
    for n, line in enumerate(open(EQUIVALENT, encoding="utf-8"), 1):
        if line.strip() and not line.startswith("#"):
            parts = [x.strip() for x in line.split("|", 4)]
            if len(parts) != 5 or not parts[4]:
                raise SystemExit(f"{EQUIVALENT}:{n}: FILE | LINE'S TEXT | OLD | NEW | REASON is wanted")
            rows[tuple(parts[:4])] = parts[4]
    return rows


def key_of(m):
    return m.file, open(m.file, encoding="utf-8").read().split("\n")[m.line - 1].strip(), m.old, m.new


def judge(m, tests):
    """'killed by TEST', 'survived', or None: it does not compile."""
    path = os.path.join(COPY, m.file)
    with open(path, "w", encoding="utf-8") as f:
        f.write(operators.apply(m))
    try:
        for t in tests:
            if not ninja(t.programs, os.path.join(BUILD, "mutant.log")):
                return None
            known = t.seconds
            said = t.run(20 + 5 * known)
            t.seconds = known
            if said != "passed":
                return f"killed by {t.name}" + (" (late)" if said == "late" else "")
        return "survived"
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(open(m.file, encoding="utf-8").read())


def main():
    ap = argparse.ArgumentParser(usage="tests/mutate.sh N SEED [--folder FOLDER]… [--db] [--least PERCENT] [--only FILE:LINE] [--minutes M]")
    ap.add_argument("n", type=int)
    ap.add_argument("seed", type=int)
    ap.add_argument("--folder", action="append")
    ap.add_argument("--db", action="store_true")
    ap.add_argument("--least", type=float, default=0)
    ap.add_argument("--only")
    ap.add_argument("--minutes", type=float, default=1e9)
    a = ap.parse_args()
    began = time.time()

    copy_tree()
    os.makedirs(os.path.join(COPY, "build"), exist_ok=True)
    if not os.path.exists(os.path.join(COPY, ".git")):
        subprocess.run(["git", "init", "-q", COPY], check=True)
    log = os.path.join(COPY, "build/configure.log")
    with open(log, "w") as f:
        if subprocess.run(["cmake", "--preset", "asan", "-DFALAJ_WERROR=OFF"], cwd=COPY, stdout=f, stderr=f).returncode:
            raise SystemExit(f"cmake failed; see {log}")
    label = "^(unit|db)$" if a.db else "^unit$"
    listing = ["ctest", "--test-dir", BUILD, "--show-only=json-v1", "-L", label, "-LE", "^fuzz$"]   # blind inputs are slow and judge little
    tests = [Test(r) for r in json.loads(out(*listing))["tests"]]
    programs_of(tests)
    everything = sorted({p for t in tests for p in t.programs})
    if not ninja(everything, os.path.join(BUILD, "build.log")):
        raise SystemExit(f"the unbroken tree does not build; see {BUILD}/build.log")
    tests = [Test(r) for r in json.loads(out(*listing))["tests"]]
    programs_of(tests)
    inside = {p: symbols(p) for p in everything}

    files = [f for f in out("git", "ls-files", "-co", "--exclude-standard", *(x if x.endswith(".c") else x + "/*.c" for x in a.folder or FOLDERS)).splitlines()
             if os.path.isfile(f) and not f.endswith("main.c")]
    all_mutants = [m for f in files for m in operators.mutants(f, a.db)]
    if a.only:
        all_mutants = [m for m in all_mutants if f"{m.file}:{m.line}" == a.only]
    held = set().union(*inside.values())
    if not a.db:
        linked = {f for f in files if any((os.path.basename(f), m.function) in held or ("", m.function) in held for m in all_mutants if m.file == f)}
        all_mutants = [m for m in all_mutants if m.file in linked]
    random.Random(a.seed).shuffle(all_mutants)
    print(f"{len(all_mutants)} places in {len({m.file for m in all_mutants})} files, {len(tests)} tests; ready after {time.time() - began:.0f} s", flush=True)

    known, measured = equivalents(), set()
    count, survivors = collections.Counter(), []
    for m in all_mutants:
        if count["killed"] + count["survived"] >= a.n or time.time() - began > a.minutes * 60:
            break
        if key_of(m) in known:
            count["equivalent"] += 1
            continue
        mine = tests_of(m, tests, inside)
        for t in mine:      # how long it takes when nothing is broken, and that it passes then
            if t.name not in measured:
                measured.add(t.name)
                t.broken = t.run(600) != "passed"
                if t.broken:
                    print(f"left out, it fails on the unbroken tree: {t.name}", flush=True)
        mine = [t for t in tests_of(m, tests, inside) if not t.broken]
        said = judge(m, mine) if mine else "survived"
        if said is None:
            count["not compiled"] += 1
            continue
        count[said.split()[0]] += 1
        if said == "survived":
            survivors.append(m)
            said += "" if mine else ": no test holds this function"
        print(f"{m.file}:{m.line}:{m.column + 1} {m.function}: {m.what}: {shlex.quote(m.old)} -> {shlex.quote(m.new)}: {said}", flush=True)

    judged = count["killed"] + count["survived"]
    share = 100 * count["killed"] / judged if judged else 0
    print(f"\n{count['killed']} of {judged} killed ({share:.1f} %), {count['survived']} survived, {count['equivalent']} known as equivalent, "
          f"{count['not compiled']} did not compile; seed {a.seed}, {(time.time() - began) / 60:.1f} min")
    for m in survivors:
        print(f"  survived: {m.file}:{m.line} {m.old!r} -> {m.new!r}")
    return 1 if share < a.least else 0


sys.exit(main())
