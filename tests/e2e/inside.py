#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inside.py - people in a running program, by falaj's own commands through real processes: streams, terminal, port; who may not;
sessions that end because the permission, the job, the machine's agent or falaj-api does; what the log says of each; and every
attempt to get out of a box, made from a session."""
import fcntl, json, os, pty, re, select, signal, socket, struct, subprocess, sys, tempfile, termios, time, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from platform_falaj import BIN, SRC, Platform, log, person, until

PROGRAM = """
import http.server, os, threading
os.makedirs("/falaj/scratch/www", exist_ok=True)
open("/falaj/scratch/www/hello", "w").write("from inside")
os.chdir("/falaj/scratch/www")
print("serving", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", 8080), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
READER = """
import sys
print("serving", flush=True)
for line in sys.stdin:
    print("read", line.strip()[::-1], flush=True)
print("read all", flush=True)
"""
SECRET = "a word that no log may have"


class Inside:
    def __init__(self):
        self.p = Platform({"FALAJ_WORKER_PROGRAMS": "host"})
        self.api = self.p.tenant("insiders", zone=self.p.zone())[1]
        self.home = tempfile.mkdtemp(prefix="falaj-inside-")

    def env(self, token=None):
        return {**os.environ, "FALAJ_URL": self.p.url, "FALAJ_TOKEN": token or self.api.token, "HOME": self.home, "TERM": "xterm"}

    def falaj(self, *words, token=None, stdin=b""):
        return subprocess.run([os.path.join(BIN, "falaj"), *words], env=self.env(token), capture_output=True, timeout=180,
                              input=stdin)

    def begin(self, *words, token=None):
        return subprocess.Popen([os.path.join(BIN, "falaj"), *words], env=self.env(token), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, script=PROGRAM, **spec):
        spec = {"command": ["python3", "/falaj/code/script"], "script": script, **spec}
        body = {"name": "program", "kind": "run", "spec": spec}
        job = self.api.must("POST", "/v1/jobs", body)["job_id"]
        until(f"{job} runs", lambda: self.state(job) == "RUNNING")
        until(f"{job} serves", lambda: b"serving" in self.api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1])
        return job

    def state(self, job):
        return self.api.must("GET", f"/v1/jobs/{job}")["state"]

    def leaves(self, job):
        rows = self.api.must("GET", f"/v1/audit/events?page_size=200&resource={job}")["data"]
        return [r["event"] for r in rows if r["action"] == "job.leave"]

    def held(self, job, *more, token=None):
        """A session that says "in" and goes on."""
        s = self.begin("job", "exec", job, "--", "sh", "-c", "echo in; sleep 900", token=token)
        assert s.stdout.readline() == b"in\n", s.stderr.read()
        return s


def over(s):
    """Exit status and standard error of a session that ends by itself."""
    s.stdin.close()
    out, err = s.stdout.read(), s.stderr.read()
    return s.wait(180), err.decode()


def streams(t, job):
    r = t.falaj("job", "exec", job, "-i", "--", "sh", "-c", "cat; echo apart >&2; exit 7", stdin=b"x" * 300000)
    assert (r.returncode, r.stdout, r.stderr) == (7, b"x" * 300000, b"apart\n"), (r.returncode, len(r.stdout), r.stderr)
    r = t.falaj("job", "exec", job, "--", "pyhton3")
    assert r.returncode == 127 and b"pyhton3: No such file" in r.stderr, r
    r = t.falaj("job", "exec", job)
    assert r.returncode == 2 and b"the command is missing" in r.stderr, r
    r = t.falaj("job", "exec", job, "--", "sh", "-c", f"echo {SECRET}")
    assert r.stdout.decode() == SECRET + "\n", r
    # Much more than all buffers, to a reader that is late: nothing is lost.
    s = t.begin("job", "exec", job, "--", "sh", "-c", "yes falaj | head -c 4000000")
    time.sleep(0.5)
    out, err = s.communicate(timeout=180)
    assert s.returncode == 0 and len(out) == 4000000 and out == (b"falaj\n" * 666667)[:4000000], (s.returncode, len(out), err)


def terminal(t, job):
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe(os.path.join(BIN, "falaj"), ["falaj", "job", "shell", job], t.env())
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 99, 0, 0))
    seen = b""

    def shows(want):
        nonlocal seen
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen = (seen + os.read(fd, 65536))[-200000:]
            except OSError:
                pass
        return re.search(want, seen)
    before = termios.tcgetattr(fd)
    os.write(fd, b"echo up-$((20+22))\n")
    until("the shell is there", lambda: shows(rb"up-42"))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    until("its size follows", lambda: (os.write(fd, b"stty size\n"), shows(rb"33 101"))[1])
    os.write(fd, b"echo goes-$((3+4)); sleep 900; echo slept-$((4+4))\n")
    until("a command goes on", lambda: shows(rb"goes-7"))
    until("Ctrl-C ended the command alone", lambda: (os.write(fd, b"\x03\necho still-$((1+1))\n"), shows(rb"still-2"))[1])
    assert b"slept-8" not in seen, seen
    # Much output in the small pieces that a terminal gives it: nothing breaks the connection, and the last of it comes.
    os.write(fd, b"yes falaj | head -c 5000000; echo poured-$((5+5))\n")
    until("all of it comes", lambda: shows(rb"poured-10"))
    os.write(fd, b"exit 5\n")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 5, (status, seen)
    after = termios.tcgetattr(fd)
    assert before[3] & termios.ECHO == after[3] & termios.ECHO, "the terminal was not set back"
    os.close(fd)


def ports(t, job):
    s = t.begin("job", "forward", job, "0:8080", "-o", "json")
    here = json.loads(s.stdout.readline())["address"]
    for _ in range(3):
        with urllib.request.urlopen(f"http://{here}/hello", timeout=120) as r:
            assert r.read() == b"from inside"
    s.send_signal(signal.SIGINT)
    s.wait(60)
    # A port of the machine is no port of the job's.
    with socket.create_server(("127.0.0.1", 0)) as own:
        s = t.begin("job", "forward", job, f"0:{own.getsockname()[1]}", "-o", "json")
        host, port = json.loads(s.stdout.readline())["address"].split(":")
        with socket.create_connection((host, int(port)), timeout=120) as c:
            assert c.recv(10) == b""
        s.send_signal(signal.SIGINT)
        s.wait(60)
        own.settimeout(0.1)
        try:
            own.accept()
            raise SystemExit("a session reached the machine's own loopback")
        except TimeoutError:
            pass


def typing(t):
    """The program's own standard input: typed to, left, typed to by another one, ended."""
    job = t.submit(READER, takes_stdin=True)
    reads = lambda: t.api.call("GET", f"/v1/jobs/{job}/log.txt", raw=True)[1].decode()
    first = t.begin("job", "attach", job)
    first.stdin.write(b"one\n")
    first.stdin.flush()
    until("the program has read it", lambda: "read eno" in reads())
    r = t.falaj("job", "attach", job, "--rank", "1")
    assert r.returncode == 2 and b"there is no rank 1: this job's program runs on 1 machine, ranks 0 to 0" in r.stderr, r
    r = t.falaj("job", "attach", job, stdin=b"mixed\n")
    assert r.returncode not in (0, 2) and b"one at a time" in r.stderr, r
    status, answer = t.api.call("POST", f"/v1/jobs/{job}/inside", {"kind": "attach"})
    assert status == 409 and "one at a time" in answer["detail"], (status, answer)
    first.send_signal(signal.SIGINT)
    assert first.wait(60) == 130
    first.communicate()
    until("the typist has gone", lambda: t.leaves(job))
    assert t.state(job) == "RUNNING" and "read all" not in reads()
    r = t.falaj("job", "attach", job, stdin=f"two\n{SECRET}".encode())
    assert r.returncode == 0 and b"read owt" in r.stdout and r.stdout.endswith(b"read all\n"), r
    until("it is over", lambda: t.state(job) == "COMPLETED")
    events = json.dumps(t.api.must("GET", f"/v1/audit/events?page_size=200&resource={job}"))
    assert SECRET not in events and '"attach"' in events, events


def refusals(t, job):
    ask = {"kind": "exec", "command": ["id"]}
    stranger = t.p.tenant("others", zone=t.p.zone())[1]
    assert stranger.call("POST", f"/v1/jobs/{job}/inside", ask)[0] == 404
    viewer = person(t.api, "vera", "viewer")
    assert viewer.call("POST", f"/v1/jobs/{job}/inside", ask)[0] == 403
    engineer = person(t.api, "emil", "ml-engineer")
    mine = t.api.must("POST", f"/v1/jobs/{job}/inside", ask)["session_id"]
    stream = f"/v1/jobs/{job}/inside/{mine}"
    assert t.api.call("GET", stream)[0] == 400                             # no WebSocket
    hello = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert engineer.call("GET", stream, headers=hello)[0] == 404           # another's
    assert t.api.call("GET", stream, headers={**hello, "Origin": "https://elsewhere.example"})[0] == 403
    status, answer = t.api.call("POST", f"/v1/jobs/{job}/inside", {"kind": "forward"})
    assert status == 400 and "port" in json.dumps(answer), (status, answer)
    noop = t.api.must("POST", "/v1/jobs", {"name": "n", "kind": "noop", "spec": {"sleep_ms": 1}})["job_id"]
    status, answer = t.api.call("POST", f"/v1/jobs/{noop}/inside", ask)
    assert status == 409 and "Only programs of yours" in answer["detail"], answer
    return engineer


def ends(t, job, engineer):
    s = t.held(job)
    s.send_signal(signal.SIGINT)
    assert over(s)[0] == 130
    s = t.held(job)
    s.kill()                                                               # says no word
    s.communicate()
    # The organisation closes its programs: who is inside is out, and nobody comes in.
    s = t.held(job)
    t.api.must("PUT", "/v1/inside-policy", {"allowed": False})
    assert "lets nobody in" in over(s)[1]
    assert t.falaj("job", "exec", job, "--", "id").returncode == 4
    t.api.must("PUT", "/v1/inside-policy", {"allowed": True})
    # The token is revoked.
    s = t.held(job, token=engineer.token)
    own = [x for x in engineer.must("GET", "/v1/api-tokens")["data"] if x["name"] == "emil"][0]
    engineer.must("DELETE", f"/v1/api-tokens/{own['token_id']}")
    assert "may not any more" in over(s)[1]
    # The job ends.
    s = t.held(job)
    t.api.must("POST", f"/v1/jobs/{job}/cancel")
    status, err = over(s)
    assert status in (1, 137), (status, err)


def log_says(t, job):
    until("every session has its end", lambda: int(t.p.sql_text("SELECT count(*) FROM job_session WHERE joined")) == 0)
    rows = until("the log has them", lambda: (r := t.leaves(job)) and len(r) >= 13 and r)
    whys = [r["details"]["why"] for r in rows]
    for want in ("it ended", "the person left", "the person's connection was lost", "the organisation lets nobody in any more",
                 "the person may not any more"):
        assert any(want in w for w in whys), (want, whys)
    big = [r["details"] for r in rows if int(r["details"]["bytes_in"]) == 300000]
    assert big and int(big[0]["bytes_out"]) == 300006 and int(big[0]["exit_code"]) == 7, rows
    text = json.dumps(t.api.must("GET", f"/v1/audit/events?page_size=200&resource={job}"))
    assert text.count(SECRET) == 1, "the log has the command, and not what came of it"


def kills(t):
    job = t.submit()
    s = t.held(job)
    os.kill(t.p.pids()["worker"], signal.SIGKILL)
    status, err = over(s)
    assert status == 10 or status == 1, (status, err)
    until("the agent is back", lambda: t.p.pids().get("worker"))
    job = t.submit()
    s = t.held(job)
    os.kill(t.p.pids()["api"], signal.SIGKILL)
    status, err = over(s)
    assert status == 10 and "cut" in err, (status, err)
    until("falaj-api is back", lambda: t.p.pids().get("api") and t.api.must("GET", "/v1/me"))
    assert int(t.p.sql_text("SELECT count(*) FROM job_session WHERE joined")) == 1
    t.p.sql("UPDATE job_session SET heard_at = heard_at - interval '2 minutes'")
    until("the lost session has its end in the log", lambda: any("is gone" in r["details"]["why"] for r in t.leaves(job)))
    r = t.falaj("job", "exec", job, "--", "echo", "again")
    assert r.stdout == b"again\n", r


def attempts(t):
    """Everything that tests/escape tries, from a session."""
    job = t.submit()
    outside = tempfile.mkdtemp(prefix="falaj-inside-out-")
    open(os.path.join(outside, "secret"), "w").write("not for the box")
    os.chmod(outside, 0o777)
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        words = ["env", f"OUTSIDE={outside}", f"PORT={port}", f"AGENT={t.p.pids()['worker']}", "KEY=4711", "python3", "-"]
        script = open(os.path.join(SRC, "tests/escape/attempts.py"), "rb").read()
        r = t.falaj("job", "exec", "-i", job, "--", *words, stdin=script)
    lines = r.stdout.decode().splitlines()
    log("attempts from a session:", lines[-1] if lines else r.stderr)
    assert r.returncode == 0 and re.match(r"attempts: \d+ succeeded: 0$", lines[-1]), (r.returncode, lines[-5:], r.stderr[-400:])
    t.api.must("POST", f"/v1/jobs/{job}/cancel")


def main():
    t = Inside()
    job = t.submit()
    for step in (streams, terminal, ports):
        step(t, job)
        log(step.__name__, "ok")
    typing(t)
    log("typing ok")
    engineer = refusals(t, job)
    ends(t, job, engineer)
    log_says(t, job)
    attempts(t)
    kills(t)
    t.p.close()


main()
