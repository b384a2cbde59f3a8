# SPDX-License-Identifier: Apache-2.0
"""build.py - the tree build/mutate: compiled once, with gcov in the folders that are broken, and afterwards only read.

A mutant is compiled to an object of its own and put before the libraries of each program that a test needs, so that the linker
takes it instead of the library's member. The unbroken programs stay: a test that fails can be asked at once whether it passes
without the mutant."""
import functools, json, os, re, shlex, shutil, signal, subprocess, time

ROOT = os.getcwd()
BUILD = os.path.join(ROOT, "build/mutate")
FOLDERS = ["keys", "audit", "tenants", "scheduler", "registry", "workers"]


def out(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, check=True, **kw).stdout


class Test:
    """One CTest test: its command and environment, its own program if it is one, and the programs that it starts."""

    def __init__(self, row):
        p = {x["name"]: x["value"] for x in row.get("properties", [])}
        self.name, self.command, self.labels = row["name"], row["command"], p.get("LABELS", [])
        self.env = dict(e.split("=", 1) for e in p.get("ENVIRONMENT", []))
        self.cwd = p.get("WORKING_DIRECTORY", BUILD)
        self.own = os.path.relpath(self.command[0], BUILD)
        inputs = out("ninja", "-C", BUILD, "-t", "inputs", self.own).splitlines()
        self.starts = [i for i in inputs if re.fullmatch(r"bin/falaj[\w-]*", i)]

    @property
    def programs(self):
        return [self.own, *self.starts] if self.own else self.starts

    def run(self, limit, place, env=None, program=None):
        """('passed' | 'failed' | 'late', seconds). Its files lie in the folder `place`, in memory, and go with it; so does its
        process group, for a broken program may leave daemons behind."""
        tmp = f"/dev/shm/falaj-{os.getpid()}-{place}"
        os.makedirs(tmp, exist_ok=True)
        os.chmod(tmp, 0o1777)
        env = {**os.environ, **self.env, "FALAJ_TIER": "default", "TMPDIR": tmp, "GCOV_PREFIX": tmp + "/gcov", **(env or {})}
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


class HttpTest(Test):
    """One file of tests/http on a platform of its own, given up at its first failure."""

    def __init__(self, row):
        p = {x["name"]: x["value"] for x in row["properties"]}
        self.name, self.command, self.labels = row["name"], [*row["command"], "--bail", "1"], p["LABELS"]
        self.env = dict(e.split("=", 1) for e in p["ENVIRONMENT"])
        if self.env.get("FALAJ_PLATFORM") != "none":
            self.env["FALAJ_PLATFORM"] = ""
        self.cwd, self.own = p["WORKING_DIRECTORY"], None
        self.starts = ["bin/" + name for name in sorted(os.listdir(os.path.join(BUILD, "bin")))]


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


def make_tree(with_db, jobs):
    """Configures and builds; the tests that may judge a mutant."""
    os.makedirs(BUILD, exist_ok=True)
    log = os.path.join(BUILD, "build.log")
    with open(log, "w") as f:
        configured = subprocess.run(["cmake", "--preset", "asan", "-B", BUILD, "-DFALAJ_WERROR=OFF",
                                     "-DFALAJ_COVER=" + ";".join(FOLDERS)], stdout=f, stderr=f).returncode == 0
    if not configured:
        raise SystemExit(f"cmake failed; see {log}")
    # Blind inputs are slow and judge little; what tests core alone holds nothing that is broken here.
    chosen = ["-L", "^(unit|db)$" if with_db else "^unit$", "-LE", "^fuzz$", "-E", "^(unit|db)_(core|migrations)_"]
    targets = out("python3", "tests/lib/tier.py", "targets", BUILD, *chosen).split() + ["programs"] * with_db
    with open(log, "a") as f:
        if subprocess.run(["ninja", "-C", BUILD, f"-j{jobs}", *targets], stdout=f, stderr=f).returncode:
            raise SystemExit(f"the unbroken tree does not build; see {log}")
    return [Test(r) for r in json.loads(out("ctest", "--test-dir", BUILD, "--show-only=json-v1", *chosen))["tests"]]


class Bench:
    """A place to break things on: a folder for one mutant's object and programs. Each thread has its own."""

    def __init__(self, number):
        self.name = f"turn{number}"
        self.dir = os.path.join(BUILD, self.name)
        commands = json.load(open(os.path.join(BUILD, "compile_commands.json")))
        self.compile = {c["file"]: shlex.split(c["command"]) for c in commands}
        self.links, self.made, self.unbroken = {}, set(), {}

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
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(os.path.join(self.dir, "bin"))
        for name in os.listdir(os.path.join(BUILD, "bin")):
            os.symlink(os.path.join(BUILD, "bin", name), os.path.join(self.dir, "bin", name))
        self.made, self.file, self.folder = set(), os.path.basename(file), os.path.dirname(file)
        source, self.object = os.path.join(self.dir, os.path.basename(file)), os.path.join(self.dir, "mutant.o")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        command = self.compile[os.path.join(ROOT, file)]
        command = command[command.index("/usr/bin/gcc") if "/usr/bin/gcc" in command else 0:]
        flags = [w for w in command[:command.index("-o")] if w not in ("-g", "--coverage", "-Werror")]
        if "-MD" in flags:
            flags = flags[:flags.index("-MD")]
        flags = [*flags, "-w", "-iquote", os.path.dirname(os.path.join(ROOT, file)), "-o", self.object, "-c", source]
        return subprocess.run(flags, cwd=BUILD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def link(self, program):
        """The program with the mutant in it; its path."""
        made = os.path.join(self.dir, "bin" if program.startswith("bin/") else "", os.path.basename(program))
        if program in self.made:
            return made
        if program not in self.links:
            self.links[program] = out("ninja", "-C", BUILD, "-t", "commands", "-s", program)
        if os.path.islink(made):
            os.remove(made)
        # A program's own object is replaced. Else, as an object it is in the program before the library's member is asked for. A
        # program that has no use for it may lack what it needs: there it is an archive, of which nothing is taken.
        own = next((w for w in self.links[program].split() if w.endswith(f"/{self.file}.o") and "/CMakeFiles/" in w
                    and self.folder.startswith(w.split("/CMakeFiles/")[0])), None)
        for taken in (self.object, self.object[:-1] + "a"):
            if taken.endswith("a"):
                subprocess.run(["ar", "rcs", taken, self.object], check=True)
            command = self.links[program].replace(f" {own} ", " ") if own else self.links[program]
            command = command.replace(f" -o {program} ", f" -o {shlex.quote(made)} {shlex.quote(taken)} ")
            done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True, text=True)
            if done.returncode == 0:
                break
        else:
            raise SystemExit(f"{program} does not link with the mutant: {done.stderr[-2000:]}")
        self.made.add(program)
        return made

    def run(self, test, limit):
        """The test with the mutant, in the programs that hold its file."""
        for program in test.starts:
            if self.file in sources_in(program):
                self.link(program)
        return test.run(limit, self.name, {"FALAJ_BIN": os.path.join(self.dir, "bin")}, test.own and self.link(test.own))
