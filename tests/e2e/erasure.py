#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""erasure.py - two people leave every kind of trace through HTTP, are erased, and then are nowhere.

Zaynab comes by an invitation, Rania by SCIM and a link to a single sign-on provider. They sign in (and fail to), make tokens, let
a device in, upload, submit, are refused, are named by others' calls that collide, from an address that nobody else has. An
officer reads what is kept of them (the columns of audit/pii.def that a person sees must all have been filled: a new column
without a trace here fails) and erases them. Afterwards nothing of them, in any spelling, is in a dump of the database, the blobs,
Redis, the logs of any daemon (the access log and PostgreSQL's too, which logs every statement) or what the API exports. When the
howto's rewrite is done and WAL has moved on, neither they nor the wrapped key of their fields are in any file of the database.
A bundle kept from before and a new one verify, by both programs. Exit status 0 only then."""
import http.client, json, os, re, subprocess, sys, tempfile, time, urllib.parse
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from needles import Needles
from platform_falaj import BIN, SRC, Api, Platform, log, person, until

ADDRESS = "127.77.88.99"
CSV = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i % 7, i % 5, i % 2) for i in range(40))
MARKS = {"name": "Zaynab-Qarmawi", "mail": "zqarmawi@heron.example", "address": ADDRESS, "browser": "QarmawiBrowser",
         "token": "qarmawis-laptop", "device": "qarmawis-phone", "typed": "zaynab-qamrawi",
         "user name": "rania.zubaydi@heron.example", "external id": "EXT-7741-zubaydi", "family": "Zubaydi-Dhaheri",
         "arabic": "\u0631\u0627\u0646\u064a\u0629 \u0627\u0644\u0632\u0628\u064a\u062f\u064a", "phone": "+971-50-7741-8852",
         "subject": "idp|zubaydi-5512", "group member": "Rania Z. of the herons", "program": "repo:zubaydi/herons",
         "view": "qarmawis-own-runs", "looked for": "qarmawi-by-night"}
PASSWORD = "a heron by the water wheel"


class From(Api):
    """An Api whose connections come from the one address and name the one browser."""

    def call(self, method, path, body=None, headers=None, **kw):
        if self.conn is None:
            self.conn = http.client.HTTPConnection(self.host, self.port, timeout=120, source_address=(ADDRESS, 0))
        return super().call(method, path, body, headers={"User-Agent": MARKS["browser"] + "/7", **(headers or {})}, **kw)


def signed_in(p, tenant, name):
    """A session, as a function that calls with it."""
    api = From(p.url, "")
    session = api.must("POST", "/v1/auth/login", {"tenant": tenant, "name": name, "password": PASSWORD})
    head = {"Cookie": api.cookie, "X-CSRF-Token": session["csrf_token"], "Sec-Fetch-Site": "same-origin"}
    return lambda method, path, body=None: api.must(method, path, body, headers=head)


def invited(p, boss, tenant):
    """Zaynab; her user id."""
    invitation = {"name": MARKS["name"], "email_hint": MARKS["mail"], "roles": ["ml-engineer"]}
    made = boss.must("POST", "/v1/invitations", invitation)
    boss.call("POST", "/v1/invitations", invitation)                                # the same again
    anon = From(p.url, "")
    anon.must("POST", "/v1/auth/invitations/accept", {"token": made["token"], "password": PASSWORD})
    boss.call("POST", "/v1/users", {"name": MARKS["name"], "kind": "person"})       # a name that is taken
    for name, password in ((MARKS["name"], "wrong " + PASSWORD), (MARKS["typed"], PASSWORD)):
        assert anon.call("POST", "/v1/auth/login", {"tenant": tenant, "name": name, "password": password})[0] == 401
    call = signed_in(p, tenant, MARKS["name"])
    token = call("POST", "/v1/api-tokens", {"name": MARKS["token"], "cidrs": [ADDRESS + "/32"]})
    device = anon.must("POST", "/v1/auth/device", {"client": MARKS["device"]})
    call("GET", "/v1/auth/device?user_code=" + device["user_code"])
    call("POST", "/v1/auth/device/approve", {"user_code": device["user_code"]})
    own = From(p.url, token["token"])
    data = own.must("POST", "/v1/datasets", {"name": "herons", "label_column": "y", "classes": 2})["dataset_id"]
    own.must("POST", f"/v1/datasets/{data}/versions", CSV, headers={"Content-Type": "text/csv"})
    own.must("POST", "/v1/jobs", {"name": "counting", "kind": "noop", "spec": {}})
    view = {"list": "/v1/jobs", "name": MARKS["view"], "query": "?q=" + MARKS["looked for"], "shared": True}
    own.must("POST", "/v1/views", view)
    own.must("PUT", "/v1/me/notifications", {"address": MARKS["mail"], "events": ["job-failed"]})
    assert own.call("POST", "/v1/invitations", {"name": "x", "roles": ["viewer"]})[0] == 403
    elsewhere = Api(p.url, token["token"])
    assert elsewhere.call("GET", "/v1/me")[0] in (401, 403)                         # not from there
    used = f"SELECT 1 FROM api_token WHERE token_id = '{token['token_id'][4:]}' AND last_used_ip IS NOT NULL"
    until("the token's address is kept", lambda: p.sql(used))
    return own.must("GET", "/v1/me")["user_id"]


def provisioned(p, boss):
    """Rania and a program of hers, which an outside issuer knows; their user ids."""
    bot = boss.must("POST", "/v1/users", {"name": "entra", "kind": "service", "roles": ["provisioner"]})["user_id"]
    token = boss.must("POST", "/v1/api-tokens", {"name": "scim", "user_id": bot, "scopes": ["scim:provision"]})
    scim = Api(p.url, token["token"])
    typed = {"Content-Type": "application/scim+json"}
    user = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": MARKS["user name"], "active": True,
            "externalId": MARKS["external id"], "displayName": MARKS["arabic"],
            "name": {"familyName": MARKS["family"], "givenName": "Rania"},
            "emails": [{"value": MARKS["user name"], "primary": True}], "phoneNumbers": [{"value": MARKS["phone"]}]}
    made = scim.must("POST", "/scim/v2/Users", user, headers=typed)
    scim.call("POST", "/scim/v2/Users", user, headers=typed)                        # the same again
    scim.must("GET", "/scim/v2/Users?filter=" + urllib.parse.quote(f'userName eq "{MARKS["user name"]}"'))
    group = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "herons",
             "members": [{"value": made["id"], "display": MARKS["group member"]}]}
    scim.must("POST", "/scim/v2/Groups", group, headers=typed)
    program = boss.must("POST", "/v1/users", {"name": "rania-bot", "kind": "service", "roles": ["viewer"]})["user_id"]
    issuer = {"name": "ci", "issuer": "https://ci.heron.example", "audience": "falaj", "algorithms": ["RS256"],
              "jwks_uri": "https://ci.heron.example/keys", "subjects": [{"subject": MARKS["program"], "user_id": program}]}
    boss.must("POST", "/v1/issuers", issuer)
    idp = boss.must("POST", "/v1/identity-providers", {"name": "entra", "issuer": "https://idp.heron.example", "client_id": "c"})
    link = {"subject": MARKS["subject"], "user_id": user_id(made)}
    boss.must("POST", f"/v1/identity-providers/{idp['provider_id']}/links", link)
    boss.must("GET", "/v1/users?q=" + urllib.parse.quote(MARKS["user name"]))
    return [user_id(made), program]


def user_id(scim_user):
    return scim_user["id"] if scim_user["id"].startswith("usr_") else "usr_" + scim_user["id"].replace("-", "")


def shown_columns():
    """TABLE.COLUMN of what a person is shown, from audit/pii.def."""
    with open(f"{SRC}/audit/pii.def", encoding="utf-8") as f:
        return {f"{t}.{c}" for t, c in re.findall(r'^PII\((\w+), (\w+), .*SHOWN,', f.read(), re.M)}


def verify(scratch, officer, name, *args):
    """An export of the log, checked by both programs; what they had against it."""
    path = f"{scratch}/{name}"
    if not os.path.exists(path):
        with open(path, "wb") as f:
            f.write(officer.must("GET", "/v1/audit/export", raw=True, timeout=400))
    faults = []
    for program in ([f"{BIN}/falaj-verify", *args], [sys.executable, f"{SRC}/docs/verify-audit.py"]):
        r = subprocess.run([*program, "--trust-embedded-key", path], capture_output=True, text=True)
        if r.returncode:
            faults.append(f"{os.path.basename(program[-1])} {name}: {r.stdout}{r.stderr}")
    return faults


def redis_texts(p):
    """Every key of Redis and what it holds."""
    with open(os.path.join(p.ready["data_dir"], "secrets/redis"), encoding="utf-8") as f:
        env = dict(os.environ, REDISCLI_AUTH=f.read().strip())
    cli = ["redis-cli", "-s", p.ready["redis_socket"], "--user", "falaj", "--raw"]
    keys = subprocess.run([*cli, "--scan"], env=env, capture_output=True, check=True).stdout.splitlines()
    return {f"redis {k!r}": k + b"\0" + subprocess.run([*cli, "DUMP", k], env=env, capture_output=True).stdout for k in keys}


def files_of(folder):
    """Paths of what lies below a folder; files of a running database come and go."""
    return [os.path.join(at, n) for at, _, names in os.walk(folder) for n in names if os.path.isfile(os.path.join(at, n))]


def texts(p, boss, officer, access_log):
    """NAME -> bytes of every place that must not know the erased."""
    data = p.ready["data_dir"]
    found = {}
    for path in [*files_of(f"{data}/log"), *files_of(f"{data}/blobs"), *files_of(f"{data}/worker"), p.log_path, access_log]:
        with open(path, "rb") as f:
            found[path] = f.read()
    found["pg_dump"] = subprocess.run(["pg_dump"], env=p.pg_env(), capture_output=True, check=True).stdout
    for who, paths in ((officer, ("/v1/audit/export", "/v1/audit/events?page_size=200", "/v1/evidence")),
                       (boss, ("/v1/users?page_size=200", "/v1/invitations", "/v1/groups", "/v1/sessions", "/v1/api-tokens"))):
        for path in paths:
            found[path] = who.must("GET", path, raw=True, timeout=400)
    return {**found, **redis_texts(p)}


def marks_of(wrapped):
    return {f"key {i}": k for i, k in enumerate(wrapped)} | {name: text.encode() for name, text in MARKS.items()}


def files_with(p, marks):
    """(file of the cluster, mark) for each that is found."""
    found = set()
    for path in files_of(p.sql("SHOW data_directory")[0][0]):
        try:
            with open(path, "rb") as f:
                text = f.read()
        except OSError:
            continue            # gone since
        found |= {(os.path.relpath(path, p.ready["data_dir"]), name) for name, mark in marks.items() if mark in text}
    return found


def files_forget(p, wrapped):
    """docs/howto/erase-a-person.md rewrites what has personal columns: no file of the cluster has the keys or the people then."""
    with open(f"{SRC}/docs/howto/erase-a-person.md", encoding="utf-8") as f:
        rewrite = re.search(r"```sql\n(VACUUM .FULL, ANALYZE. (.+);)\n(VACUUM FULL pg_statistic;)", f.read())
    with open(f"{SRC}/audit/pii.def", encoding="utf-8") as f:
        tables = set(re.findall(r"^PII\((\w+),", f.read(), re.M)) | {"audit_subject_key"}
    if set(rewrite[2].split(", ")) != tables:
        return [f"the howto rewrites {rewrite[2]}, expected those of audit/pii.def: {', '.join(sorted(tables))}"]
    marks = marks_of(wrapped)
    p.sql("ALTER SYSTEM SET wal_recycle = off")
    p.sql("SELECT pg_reload_conf()")
    p.sql(rewrite[1])
    p.sql(rewrite[3])
    rest = set()
    until_s = time.time() + 300
    while time.time() < until_s:
        p.sql("SELECT pg_switch_wal()")
        p.sql("CHECKPOINT")
        rest = files_with(p, marks)
        if not rest:
            break
    return [f"{path} still has the {name}" for path, name in sorted(rest)[:20]]


def main():
    with tempfile.TemporaryDirectory(prefix="falaj-erasure-") as scratch:
        os.chmod(scratch, 0o777)
        access_log = f"{scratch}/access.log"
        p = Platform({"FALAJ_API_ACCESS_LOG": access_log, "FALAJ_LOG_LEVEL": "debug", "FALAJ_RATE_ADDRESS_PER_MINUTE": "100000",
                      "FALAJ_RATE_TENANT_PER_MINUTE": "100000", "FALAJ_RATE_PRINCIPAL_PER_MINUTE": "100000",
                      "FALAJ_AUTH_ATTEMPTS_PER_MINUTE": "10000"}, args=("--no-console",))
        faults = drill(p, scratch, access_log)
        for f in faults:
            log(f"erasure: {f}")
        log(f"erasure: {len(faults)} faults")
        p.finish(len(faults))


def drill(p, scratch, access_log):
    p.sql("ALTER SYSTEM SET log_min_duration_statement = 0")        # PostgreSQL says all that it is asked
    p.sql("SELECT pg_reload_conf()")
    p.zone()
    _, boss = p.tenant("amana")
    tenant = boss.must("GET", "/v1/me")["tenant"]
    officer = person(boss, "officer", "compliance-officer")
    people = [invited(p, boss, tenant), *provisioned(p, boss)]
    until("jobs end", lambda: p.sql("SELECT count(*) FROM job WHERE finished_at IS NULL") == [["0"]])
    faults = verify(scratch, officer, "kept", "--save-head", f"{scratch}/head")

    data = [d for u in people for d in officer.must("GET", f"/v1/audit/persons/{u}")["data"]]
    filled = {f"{d['place']}.{d['field']}" for d in data}
    faults += [f"nobody left a trace in {c}" for c in sorted(shown_columns() - filled)]
    needles = Needles(MARKS)
    before = needles.found(texts(p, boss, officer, access_log))
    faults += [f"{m} is nowhere before the erasure: it proves nothing" for m in MARKS if not any(m == x for _, x in before) and
               m not in ("typed", "group member", "phone")]
    wrapped = [bytes.fromhex(r[0]) for r in p.sql("SELECT encode(wrapped, 'hex') FROM audit_subject_key WHERE wrapped IS NOT NULL"
               f" AND subject_id = '{people[0][4:]}'")]
    # Written to its table's file now: in WAL alone it may lie across two pages, where no search finds it.
    p.sql("CHECKPOINT")
    if not any(name == "key 0" for _, name in files_with(p, marks_of(wrapped))):
        faults.append("the wrapped key is in no file before the erasure: nothing is shown")
    log(f"before: {len(data)} values of {len(filled)} columns; {len(before)} finds; {len(wrapped)} wrapped keys")
    for u in people:
        officer.must("POST", "/v1/audit/erasures", {"user_id": u})
        if not officer.must("GET", f"/v1/audit/persons/{u}").get("erased_at"):
            faults.append(f"{u} is not said to be erased")
    # What falaj-api had in memory about uses of tokens is written every few seconds: somebody else's later use has been.
    late = Api(p.url, boss.must("POST", "/v1/api-tokens", {"name": "late"})["token"])
    late.must("GET", "/v1/me")
    until("uses of tokens are written", lambda: p.sql("SELECT 1 FROM api_token WHERE name = 'late' AND last_used_ip IS NOT NULL"))
    until("counters in Redis have ended", lambda: not needles.found(redis_texts(p)))
    after = needles.found(texts(p, boss, officer, access_log))
    faults += [f"after the erasure {place} still has the {mark}" for place, mark in after]
    faults += files_forget(p, wrapped)
    faults += verify(scratch, officer, "new", "--previous", f"{scratch}/head") + verify(scratch, officer, "kept")
    return faults


if __name__ == "__main__":
    main()
