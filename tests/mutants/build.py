# SPDX-License-Identifier: Apache-2.0
"""build.py - what mutants are linked with: the tree build/asan of every other test, which is only built and read.

A mutant is compiled to an object of its own and put before the libraries of each program that a test needs, so that the linker
takes it instead of the library's member. The unbroken programs stay: a test that fails can be asked at once whether it passes
without the mutant. A program is built when it is asked for, so that a sample costs what its own tests cost."""
import functools, json, os, re, shlex, shutil, signal, subprocess, threading, time

ROOT = os.getcwd()
BUILD = os.path.join(ROOT, "build/asan")
PLACE = os.path.join(ROOT, "build/mutants")
FOLDERS = ["keys", "audit", "tenants", "scheduler", "registry", "workers"]
ONE_NINJA = threading.Lock()


def out(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, check=True, **kw).stdout


def ninja(jobs, *targets):
    """Builds them, or all of them that can be; whether each could."""
    with ONE_NINJA, open(os.path.join(PLACE, "build.log"), "a") as f:
        return subprocess.run(["ninja", "-C", BUILD, f"-j{jobs}", "-k0", *targets], stdout=f, stderr=f).returncode == 0


@functools.cache
def edges():
    """{program: what it is made of and waits for}, read once: to ask ninja of each takes longer than to link it."""
    said = open(os.path.join(BUILD, "build.ninja"), encoding="utf-8").read()
    return {m[1]: m[2].split() for m in re.finditer(r"^build (\S+): C\w*_EXECUTABLE_LINKER\S* (.*)$", said, re.M)}


@functools.cache
def link_of(program):
    return out("ninja", "-C", BUILD, "-t", "commands", "-s", program)


class Test:
    """One CTest test that is a program of its own: its command and environment, its source, and the programs that it starts."""

    def __init__(self, name, command, environment, cwd, source):
        self.name, self.command, self.source = name, command, source
        self.env = dict(e.split("=", 1) for e in environment)
        self.cwd = cwd
        self.own = source and os.path.relpath(command[0], BUILD)
        self.seconds, self.lock, self.is_built = None, threading.Lock(), False

    @functools.cached_property
    def starts(self):
        return [w for w in edges()[self.own] if re.fullmatch(r"bin/falaj[\w-]*", w)]

    @functools.cached_property
    def parts(self):
        """What it is linked of, and the programs that it starts: built, it can be linked with a mutant. It is linked without one
        only when what it says must be looked at."""
        return sorted({w for w in edges()[self.own] if re.fullmatch(r"\w.*\.(o|a|so)", w)} | set(self.starts))

    def built(self):
        """Its parts stand; asked before anything is linked or run."""
        with self.lock:
            if not self.is_built:
                self.is_built = ninja(2, *self.parts) if self.own else ninja(2, "programs")
            return self.is_built

    def passes(self, again):
        """The unbroken test passes: as it did before, or `again` at once when what it says may depend on the time it takes."""
        with self.lock:
            if self.seconds is None or again:
                ninja(1, *[self.own] if self.own else [])
                said, self.seconds = self.run(LIMIT, "unbroken_" + self.name[-40:])
                self.is_sound = said == "passed"
                if not self.is_sound:
                    print(f"its word does not count, it {said} on the unbroken tree: {self.name}", flush=True)
            return self.is_sound

    def run(self, limit, place, env=None, program=None):
        """('passed' | 'failed' | 'late', seconds). Its files lie in the folder `place`, in memory, and go with it; so does its
        process group, for a broken program may leave daemons behind."""
        tmp = f"/dev/shm/falaj-{os.getpid()}-{place}"
        os.makedirs(tmp, exist_ok=True)
        os.chmod(tmp, 0o1777)
        env = {**os.environ, **self.env, "FALAJ_TIER": "default", "TMPDIR": tmp, **(env or {})}
        began = time.time()
        p = subprocess.Popen([program or self.command[0], *self.command[1:]], cwd=self.cwd, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            said = "passed" if p.wait(timeout=limit) == 0 else "failed"
        except subprocess.TimeoutExpired:
            said = "late"
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
            shutil.rmtree(tmp, ignore_errors=True)
        return said, time.time() - began


LIMIT = 300     # seconds of one test on a busy machine


class HttpTest(Test):
    """One file of tests/http on a platform of its own, given up at its first failure."""

    def __init__(self, row):
        p = {x["name"]: x["value"] for x in row["properties"]}
        super().__init__(row["name"], [*row["command"], "--bail", "1"], p["ENVIRONMENT"], p["WORKING_DIRECTORY"], None)
        if self.env.get("FALAJ_PLATFORM") != "none":
            self.env["FALAJ_PLATFORM"] = ""

    @functools.cached_property
    def starts(self):
        return ["bin/" + name for name in sorted(os.listdir(os.path.join(BUILD, "bin")))]


@functools.cache
def sources_in(program):
    """The names of the files that the program is made of."""
    said = out("readelf", "-sW", os.path.join(BUILD, program)).splitlines()
    return {os.path.basename(w[7]) for w in map(str.split, said) if len(w) == 8 and w[3] == "FILE"}


def http_tests():
    """{file: [tests]} of the files that are tested over HTTP alone, as lint/mirror.allow says of them."""
    listed = json.loads(out("ctest", "--test-dir", BUILD, "--show-only=json-v1", "-L", "^http$"))["tests"]
    known, found = {r["name"]: r for r in listed}, {}
    for line in open("tests/lint/mirror.allow", encoding="utf-8"):
        w = line.split(None, 2)
        for path in re.findall(r"([\w/]+)\.test\.ts", w[2]) if w and w[0] == "untested" else ():
            name = "http_" + path.removeprefix("tests/http/").replace("/", "_")
            if name in known:
                found.setdefault(w[1], []).append(HttpTest(known[name]))
    return found


def commands_of_tests():
    """{name: command} of every test that is registered; CTest's own list has none for a program that is not built yet."""
    rows = {}
    for here, _, names in os.walk(os.path.join(BUILD, "tests")):
        if "CTestTestfile.cmake" in names:
            said = open(os.path.join(here, "CTestTestfile.cmake"), encoding="utf-8").read()
            for name, words in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", said, re.M):
                rows[name] = re.findall(r'"((?:\\.|[^"\\])*)"', words)
    return rows


def tests_of_tree(with_db):
    """Configures the tree where it is not; the tests that may judge a mutant, of which none needs to be built."""
    os.makedirs(PLACE, exist_ok=True)
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        with open(os.path.join(PLACE, "build.log"), "w") as f:
            if subprocess.run(["cmake", "--preset", "asan"], stdout=f, stderr=f).returncode:
                raise SystemExit(f"cmake failed; see {f.name}")
    # A new file of a test is known after this; and no source may be newer than what it is linked with.
    ninja(2, "build.ninja")
    # Blind inputs are slow and judge little; what tests core alone holds nothing that is broken here.
    chosen = ["-L", "^(unit|db)$" if with_db else "^unit$", "-LE", "^fuzz$", "-E", "^(unit|db)_(core|migrations)_"]
    rows = json.loads(out("ctest", "--test-dir", BUILD, "--show-only=json-v1", *chosen))["tests"]
    commands, tests = commands_of_tests(), []
    files = out("git", "ls-files", "-co", "--exclude-standard", "tests/unit", "tests/db").splitlines()
    sources = {f.replace("/", "_")[6:-2]: f for f in files if re.fullmatch(r".*/test_\w+\.c", f)}
    for row in rows:
        p = {x["name"]: x["value"] for x in row.get("properties", [])}
        command = commands.get(row["name"], [])
        source = sources.get(os.path.basename(command[0])) if command else None
        if source:
            tests.append(Test(row["name"], command, p.get("ENVIRONMENT", []), p.get("WORKING_DIRECTORY", BUILD), source))
    return tests


@functools.cache
def compile_commands():
    return {c["file"]: c["command"] for c in json.load(open(os.path.join(BUILD, "compile_commands.json")))}


class Bench:
    """A place to break things on: a folder for one mutant's object and programs. Each thread has its own."""

    def __init__(self, number):
        self.name = f"turn{number}"
        self.dir = os.path.join(PLACE, self.name)
        self.made, self.unbroken = set(), {}

    def begin(self, file, text):
        """Compiles `text` in the place of `file`: 'broken', 'same' when the compiler makes what it makes of the file as it is (as
        of a line that this build leaves out), or 'refused'."""
        if file not in self.unbroken:
            was = open(os.path.join(ROOT, file), encoding="utf-8").read()
            self.unbroken[file] = self.make(file, was) and open(self.object, "rb").read()
        if not self.make(file, text):
            return "refused"
        return "same" if open(self.object, "rb").read() == self.unbroken[file] else "broken"

    def make(self, file, text):
        # All but the database that tests copy (db/harness_template.c): it costs more than most tests, and no mutant is in it.
        os.makedirs(self.dir, exist_ok=True)
        for old in os.scandir(self.dir):
            if old.name != "pg_template":
                shutil.rmtree(old.path) if old.is_dir() else os.remove(old.path)
        os.makedirs(os.path.join(self.dir, "bin"))
        for name in os.listdir(os.path.join(BUILD, "bin")):
            os.symlink(os.path.join(BUILD, "bin", name), os.path.join(self.dir, "bin", name))
        self.made, self.file, self.folder = set(), os.path.basename(file), os.path.dirname(file)
        source, self.object = os.path.join(self.dir, os.path.basename(file)), os.path.join(self.dir, "mutant.o")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        command = shlex.split(compile_commands()[os.path.join(ROOT, file)])
        command = command[command.index("/usr/bin/gcc") if "/usr/bin/gcc" in command else 0:]
        flags = [w for w in command[:command.index("-o")] if w not in ("-g", "-Werror")]
        if "-MD" in flags:
            flags = flags[:flags.index("-MD")]
        flags = [*flags, "-w", "-iquote", os.path.dirname(os.path.join(ROOT, file)), "-o", self.object, "-c", source]
        return subprocess.run(flags, cwd=BUILD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def link(self, program):
        """The program with the mutant in it; its path."""
        made = os.path.join(self.dir, "bin" if program.startswith("bin/") else "", os.path.basename(program))
        if program in self.made:
            return made
        if os.path.islink(made):
            os.remove(made)
        # A program's own object is replaced. Else, as an object it is in the program before the library's member is asked for. A
        # program that has no use for it may lack what it needs: there it is an archive, of which nothing is taken.
        own = next((w for w in link_of(program).split() if w.endswith(f"/{self.file}.o") and "/CMakeFiles/" in w
                    and self.folder.startswith(w.split("/CMakeFiles/")[0])), None)
        for taken in (self.object, self.object[:-1] + "a"):
            if taken.endswith("a"):
                subprocess.run(["ar", "rcs", taken, self.object], check=True)
            command = link_of(program).replace(f" {own} ", " ") if own else link_of(program)
            command = command.replace(f" -o {program} ", f" -Wl,--strip-debug -o {shlex.quote(made)} {shlex.quote(taken)} ")
            done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True, text=True)
            if done.returncode == 0:
                break
        else:
            raise SystemExit(f"{program} does not link with the mutant: {done.stderr[-2000:]}")
        self.made.add(program)
        return made

    def run(self, test, limit):
        """The test with the mutant, in the programs that hold its file."""
        for program in test.starts:     # those of the tree where it does not hold it
            if self.file in sources_in(program):
                self.link(program)
        return test.run(limit, self.name, {"FALAJ_BIN": os.path.join(self.dir, "bin")}, test.own and self.link(test.own))
