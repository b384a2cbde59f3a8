#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""backup.py - falaj-backup against a platform that runs: made, checked, damaged, tried, restored after all else is gone.

The zone's keys are in a SoftHSM token, whose folder is among the files of the backup, as docs/howto/back-up.md has it.
Full tier: 100,000 jobs and 1 GB of data sets instead of a few (FALAJ_BACKUP_JOBS, FALAJ_BACKUP_MB: 10240 is the whole claim),
with RPO and RTO printed; every data set and model of the tenant is read again after the restore.
Exit status 0 only when every claim holds."""
import hashlib, json, os, pwd, shutil, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from cluster import Cluster
from platform_falaj import BIN, SRC, Platform, log, until
from restore import World

# A checked build tells of memory that SoftHSM loses.
os.environ.setdefault("LSAN_OPTIONS", f"print_suppressions=0:suppressions={SRC}/tests/unit/keys/lsan.supp")
FULL = os.environ.get("FALAJ_TIER") == "full"
JOBS = int(os.environ.get("FALAJ_BACKUP_JOBS", 100000 if FULL else 40))
MB = int(os.environ.get("FALAJ_BACKUP_MB", 1024 if FULL else 3))
faults = []


def claim(holds, text):
    if not holds:
        faults.append(text)
        log(f"backup: NOT SO: {text}")


class Tool:
    """falaj-backup with the settings of this platform."""

    def __init__(self, p, scratch):
        data = p.ready["data_dir"]
        env, self.scratch, self.dir, self.key = p.pg_env(), scratch, f"{scratch}/backups", f"{scratch}/recovery"
        with open(f"{data}/secrets/pg-falaj_backup", encoding="utf-8") as f:
            words = f"host={env['PGHOST']} port={env['PGPORT']} dbname=falaj user=falaj_backup password={f.read().strip()}"
        self.conf, self.data = f"{scratch}/backup.conf", data
        sockets = next(line for line in open(f"{data}/etc/api.conf", encoding="utf-8") if line.startswith("keys.sockets"))
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(f"backup.dir = {self.dir}\nbackup.url = {words}\nbackup.sign_key = {scratch}/signing\n{sockets}"
                    f"backup.include = {data}/etc,{data}/secrets,{data}/keys,{data}/tls\n"
                    f"blob.dir = {data}/blobs\naudit.erasure_dir = {data}/erasures\n")
        owner = os.stat(f"{data}/blobs").st_uid
        self.account = pwd.getpwuid(owner).pw_name if os.geteuid() == 0 and owner else ""

    def run(self, command, *more, want=0):
        """The report's rows by thing; what it said of faults, there and on standard error."""
        argv = [f"{BIN}/falaj-backup", command, "--config", self.conf, "--json", "--account", self.account,
                "--roles", f"{SRC}/migrations/roles.sql", *more]
        r = subprocess.run(argv, capture_output=True, text=True)
        rows = json.loads(r.stdout)["data"] if r.stdout.startswith("{") else []
        if r.returncode != want:
            claim(False, f"{command} {' '.join(more)} ended with {r.returncode}, not {want}: {r.stderr} {rows}")
        said = r.stderr + " ".join(x["seen"] for x in rows if x["result"] == "fail")
        return {f"{x['thing']}": x for x in rows}, said

    def sets(self):
        return sorted(os.listdir(f"{self.dir}/sets"))


def copied(rows):
    return int(rows["objects"]["seen"].split(";")[1].split()[0])


def load(w):
    """Jobs that end, and data sets; sealed, each is other bytes."""
    for first in range(0, JOBS, 1000):
        jobs = [{"name": f"load-{i}", "kind": "noop", "spec": {}, "max_attempts": 10}
                for i in range(first, min(first + 1000, JOBS))]
        refused = [x for x in w.api.must("POST", "/v1/jobs:batch", {"jobs": jobs})["data"] if not x.get("job_id")]
        if refused:
            raise SystemExit(f"backup: {len(refused)} of {len(jobs)} jobs were not taken, e.g. {refused[0]}")
    step = min(MB, 32)
    table = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i * 7919 % 1000003, i % 5, i % 2) for i in range((step << 20) // 12))
    for i in range(0, MB, step):
        made = w.api.must("POST", "/v1/datasets", {"name": f"bulk-{i}", "label_column": "y", "classes": 2})["dataset_id"]
        w.api.must("POST", f"/v1/datasets/{made}/versions", table, headers={"Content-Type": "text/csv"}, timeout=600)
    until("what was submitted ends", lambda: w.p.sql("SELECT count(*) FROM job WHERE state <> 'COMPLETED'") == [["0"]],
          timeout=3600)


def contents(w):
    """Every version of every data set and model, read through falaj-api, by its digest."""
    out = {}
    for kind in ("dataset", "model"):
        page = f"/v1/{kind}s?page_size=200"
        while page:
            got = w.api.must("GET", page)
            page = got.get("next_page_token") and f"/v1/{kind}s?page_size=200&page_token={got['next_page_token']}"
            for x in got["data"]:
                at = f"/v1/{kind}s/{x[kind + '_id']}/versions"
                for version in w.api.must("GET", at)["data"]:
                    path = f"{at}/{version['version']}/content"
                    out[path] = hashlib.sha256(w.api.must("GET", path, raw=True, timeout=600)).hexdigest()
    return out


def damages(t, first):
    """Each on a copy: a clear error, exit status 3, and nothing restored."""
    whole = t.dir
    newest = t.sets()[-1]
    pool = max((os.path.join(d, f) for d, _, fs in os.walk(f"{whole}/pool") for f in fs), key=os.path.getsize)

    def broken(name, word, breaks, key=t.key, want=3):
        t.dir = f"{t.scratch}/broken"
        shutil.copytree(whole, t.dir)
        conf = open(t.conf, encoding="utf-8").read()
        t.conf += ".broken"
        with open(t.conf, "w", encoding="utf-8") as f:
            f.write(conf.replace(f"backup.dir = {whole}", f"backup.dir = {t.dir}")
                    .replace(f"blob.dir = {t.data}/blobs", f"blob.dir = {t.scratch}/nowhere"))
        breaks(f"{t.dir}/sets/{newest}", pool.replace(whole, t.dir))
        _, said = t.run("verify", "--recovery-key", key, want=want)
        claim(word in said, f"{name}: verify says {said!r}, not {word!r}")
        _, said = t.run("restore", "--recovery-key", key, "--admin", "host=/nonexistent user=nobody password=x", want=want)
        claim(word in said or "missing" in said, f"{name}: restore says {said!r}")
        claim(not os.path.exists(f"{t.scratch}/nowhere"), f"{name}: restore wrote something")
        shutil.rmtree(t.dir)
        t.dir, t.conf = whole, t.conf[:-7]

    def cut(path, by):
        os.truncate(path, os.path.getsize(path) - by)

    def flip(path):
        with open(path, "r+b") as f:
            f.seek(os.path.getsize(path) // 2)
            byte = f.read(1)
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([byte[0] ^ 1]))

    def exchange(s, _):
        shutil.copy(f"{os.path.dirname(s)}/{first}/database.fbk", f"{s}/database.fbk")

    with open(f"{t.scratch}/other", "w", encoding="utf-8") as f:
        signer = open(t.key, encoding="utf-8").read().split("signer ")[1].strip()
        f.write(f"recovery {'77' * 32}\nsigner {signer}\n")
    broken("a missing object", "missing from the pool", lambda s, o: os.unlink(o))
    broken("a cut object", "are cut", lambda s, o: cut(o, 1))
    broken("a cut database", "database.fbk is cut", lambda s, o: cut(f"{s}/database.fbk", 100))
    broken("a database of another backup", "database.fbk", exchange)
    broken("a changed manifest", "not signed", lambda s, o: flip(f"{s}/manifest.json"))
    broken("a changed list", "objects was changed", lambda s, o: flip(f"{s}/objects"))
    broken("the wrong recovery key", "not the recovery key", lambda s, o: None, key=f"{t.scratch}/other", want=1)
    # Changed bytes of an object keep their size, so only reading shows them: verify does.
    flip(pool)
    rows, _ = t.run("verify", want=3)
    claim("were changed" in rows["object"]["seen"], f"changed bytes: {rows.get('object')}")
    flip(pool)
    t.run("verify")


def half_finished(t):
    """A backup that is killed leaves a name that no command takes for a backup, and the next one removes it."""
    before = t.sets()
    argv = [f"{BIN}/falaj-backup", "create", "--config", t.conf]
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until("a backup has begun", lambda: len(t.sets()) > len(before))
    p.kill()
    p.wait()
    half = [x for x in t.sets() if x not in before][0]
    if half.endswith(".partial"):
        _, said = t.run("verify", "--set", half, want=1)
        claim("not finished" in said, f"of a half-finished backup verify says {said!r}")
        rows, _ = t.run("list")
        claim(rows[half]["result"] == "warn", "list shows a half-finished backup as a good one")
    t.run("create")
    claim(half not in t.sets() or not half.endswith(".partial"), "a half-finished backup stays")


def gone(p, w, t, which, scratch):
    """Everything but the backup is deleted; a new cluster, the restore, and the platform on it."""
    data = p.ready["data_dir"]
    new = Cluster(p, f"{scratch}/new/cluster", f"{scratch}/sockets")
    os.makedirs(f"{scratch}/new")
    os.chown(f"{scratch}/new", new.uid, new.gid)
    modes = {n: os.stat(f"{data}/{n}") for n in os.listdir(data) if os.path.isdir(f"{data}/{n}")}
    p.close()
    shutil.rmtree(data)
    t0 = time.time()
    new.init()
    new.start()
    os.mkdir(data, 0o711)
    for n, st in modes.items():     # as the packages make the folders before anything is in them
        os.mkdir(f"{data}/{n}", st.st_mode & 0o777)
        os.chown(f"{data}/{n}", st.st_uid, st.st_gid)
    admin = f"host={new.sockets} port={new.port} user=postgres password={new.env['PGPASSWORD']}"
    argv = ("restore", "--recovery-key", t.key, "--set", which, "--admin", admin, "--files-to", f"{scratch}/files")
    rows, _ = t.run(*argv)
    claim("0 missing, 0 orphans" in rows["agreement"]["seen"], f"agreement: {rows['agreement']}")
    _, said = t.run(*argv, want=1)
    claim("not empty" in said, f"a second restore says {said!r}")
    new.stop()
    for n in ("etc", "secrets", "keys", "tls"):
        shutil.rmtree(f"{data}/{n}")
        shutil.move(f"{scratch}/files{data}/{n}", f"{data}/{n}")
    os.rmdir(new.own) if os.path.isdir(new.own) else os.makedirs(os.path.dirname(new.own), exist_ok=True)
    shutil.move(new.folder, new.own)
    q = w.p = Platform(args=("--slots", "2", "--no-console"), data=data)
    w.api.move(q.url)
    w.officer.move(q.url)
    log(f"backup: everything but the backup was deleted; it answered again after {time.time() - t0:.1f} s: RTO")
    return q


def told(p):
    """falaj doctor looks at everything, and a support bundle of the same platform tells nothing of people, places or secrets."""
    data = p.ready["data_dir"]
    argv = [f"{BIN}/falaj", "doctor", "--data", data, "-o", "json"]
    rows = {x["check"]: x for x in json.loads(subprocess.run(argv, capture_output=True, text=True).stdout)["data"]}
    for name in ("schema", "clock", "clock of the API", "space of objects", "space of erasures", "version of the API",
                 "version of machines", "part postgresql", "part audit", "invariant J1", "certificate api.pem"):
        row = rows.get(name, {"result": "fail"})
        claim(row["result"] != "fail", f"doctor says of {name}: {row} of {list(rows.values())}")
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": p.ready["admin_token"]}
    r = subprocess.run([f"{BIN}/falaj", "support", "bundle", "--data", data], capture_output=True, text=True, env=env)
    bundle = json.loads(r.stdout)
    claim(bundle["parts"] and bundle["log_events"] and bundle["settings"], f"the bundle is empty: {list(bundle)}")
    planted = ["Early Leaver", "officer", "amana", "ledgers-of-amana", "drill", p.url, data, os.uname().nodename]
    for name in os.listdir(f"{data}/secrets"):
        if os.path.isfile(f"{data}/secrets/{name}"):
            with open(f"{data}/secrets/{name}", encoding="utf-8", errors="replace") as f:
                planted.append(f.read().strip())
    for table in ("app_user", "tenant", "job", "node"):
        planted += [row[0] for row in p.sql(f"SELECT DISTINCT name FROM {table}")]
    planted = [x for x in planted if len(x) > 3]
    found = [x for x in planted if x in r.stdout]
    claim(len(planted) > 15 and not found, f"of {len(planted)} planted the bundle has {found}")


def main():
    with tempfile.TemporaryDirectory(prefix="falaj-backup-") as scratch:
        os.chmod(scratch, 0o711)
        p = Platform(args=("--slots", "2", "--no-console", "--hsm"), data=os.path.join(scratch, "data"))
        w = World(p, scratch)
        load(w)
        t = Tool(p, scratch)
        t.run("init", "--recovery-key", t.key)
        t.run("init", "--recovery-key", t.key, want=1)
        rows, _ = t.run("create")
        first = t.sets()[-1]
        claim(copied(rows) >= MB * 900000, f"the first backup copies what there is: {rows['objects']}")
        w.train("between")
        rows, _ = t.run("create")
        second = t.sets()[-1]
        claim(0 < copied(rows) < 1 << 20, f"the second copies only what is new: {rows['objects']}")
        rows, _ = t.run("verify", "--recovery-key", t.key)
        claim(rows["audit log"]["result"] == "ok" and "2 of 2" in rows["audit log"]["seen"], f"verify: {rows.get('audit log')}")
        opened = rows["objects open"]
        claim(opened["result"] == "ok" and not opened["seen"].startswith("0 opened"), f"{opened}")
        damages(t, first)
        w.erase(w.late)                 # known to no database of a backup before it, and to the journal of the one after
        half_finished(t)
        rows, _ = t.run("drill", "--recovery-key", t.key)
        for thing in ("RPO", "RTO"):
            print(f"backup: drill of {JOBS} jobs and {MB} MB: {thing} {rows[thing]['seen']}", flush=True)
        before = contents(w)
        p = gone(p, w, t, second, scratch)
        until("who was erased after this backup is erased again", lambda: w.erased() == {w.early, w.late})
        after = contents(w)
        claim(after == before, f"{[x for x in before if after.get(x) != before[x]]} of {len(before)} do not open as they were")
        log(f"backup: {len(after)} versions of data sets and models open as they were")
        faults.extend(w.goes_on("restore") + w.traces())
        told(p)
        rows, _ = t.run("create")       # and it goes on: into the same folder
        t.run("prune", "--keep", "1")
        claim(len(t.sets()) == 1, f"prune leaves {t.sets()}")
        t.run("verify", "--recovery-key", t.key)
        log(f"backup: {len(faults)} faults")
        for f in faults:
            log(f"backup: {f}")
        p.finish(len(faults))


if __name__ == "__main__":
    main()
