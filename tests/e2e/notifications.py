#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""notifications.py - a real HTTPS receiver and a real mail server are told of what happens in a real platform.

Webhooks: the signature is the one that the standard's own rule gives, the body is canonical, a receiver that answers 500 and then
hangs up gets the same delivery again under the same id, one that never takes it ends as DEAD with its reason and an audit event
and can be sent once more, redirects and addresses that the operator did not name are refused. A tenant whose receiver hangs and
who floods holds up nobody else, and no tenant sees another's. Mail: STARTTLS and sign-in, the code first, then in the person's
language. Exit status 0 only then."""
import base64, email, email.header, email.policy, hashlib, hmac, http.server, json, os, socketserver, ssl, subprocess
import sys, tempfile, threading
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import Platform, log, person, until

TRIES = 3


def certificates(folder):
    """A CA and a certificate of it for 127.0.0.1, 127.0.0.2 and localhost."""
    def run(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=folder)
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj",
        "/CN=test authority")
    run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "s.key", "-out", "s.csr", "-subj", "/CN=localhost")
    open(os.path.join(folder, "san"), "w").write("subjectAltName=IP:127.0.0.1,IP:127.0.0.2,DNS:localhost")
    run("x509", "-req", "-in", "s.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "s.pem", "-days", "2",
        "-extfile", "san")
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(os.path.join(folder, "s.pem"), os.path.join(folder, "s.key"))
    return os.path.join(folder, "ca.pem"), ctx


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what comes, by path; how it answers is said by the path, too."""
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address, ctx):
        self.got, self.lock, self.release, self.mended = {}, threading.Lock(), threading.Event(), False
        super().__init__((address, 0), Handler)
        self.socket = ctx.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"https://{self.server_address[0]}:{self.server_address[1]}{path}"

    def all(self, path):
        with self.lock:
            return list(self.got.get(path, []))

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body, s = self.rfile.read(int(self.headers["Content-Length"])), self.server
        with s.lock:
            seen = s.got.setdefault(self.path, [])
            seen.append((dict((k.lower(), v) for k, v in self.headers.items()), body))
            n = len(seen)
        if self.path == "/hang":
            s.release.wait(60)
        if self.path == "/flaky" and n == 2:
            self.close_connection = True
            self.connection.close()
            return
        status = {"/flaky": 500 if n == 1 else 200, "/dead": 200 if s.mended else 500, "/away": 302,
            "/gone": 410}.get(self.path, 204)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", s.url("/stolen"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        with self.server.lock:
            self.server.got.setdefault(self.path, []).append((None, None))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *a):
        pass


class Mail(socketserver.ThreadingTCPServer):
    """An SMTP server that takes mail after STARTTLS and a sign-in only."""
    daemon_threads, allow_reuse_address = True, True

    def __init__(self, ctx):
        self.ctx, self.mails, self.plain_attempts = ctx, [], 0
        super().__init__(("127.0.0.1", 0), Session)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def to(self, address):
        return [m for who, m in list(self.mails) if who == [address]]


class Session(socketserver.BaseRequestHandler):
    def say(self, line):
        self.request.sendall(line.encode() + b"\r\n")

    def handle(self):
        f, secure, known, rcpt = self.request.makefile("rb"), False, False, []
        self.say("220 test ESMTP")
        while raw := f.readline():
            line = raw.decode().rstrip("\r\n")
            verb = line.split(" ")[0].upper()
            if verb == "EHLO":
                self.say("250-test")
                self.say("250-AUTH PLAIN" if secure else "250-STARTTLS")
                self.say("250 8BITMIME")
            elif verb == "STARTTLS":
                self.say("220 go")
                self.request = self.server.ctx.wrap_socket(self.request, server_side=True)
                f, secure = self.request.makefile("rb"), True
            elif verb == "AUTH":
                parts = line.split(" ")
                if len(parts) < 3:
                    self.say("334 ")
                    parts.append(f.readline().decode().strip())
                known = base64.b64decode(parts[2]).split(b"\0")[1:] == [b"falaj", b"a heron's secret"]
                self.say("235 ok" if known else "535 no")
            elif verb in ("MAIL", "RCPT", "DATA") and not (secure and known):
                self.server.plain_attempts += 1
                self.say("530 no")
            elif verb == "RCPT":
                rcpt.append(line.split("<")[1].split(">")[0])
                self.say("250 ok" if not rcpt[-1].startswith("nobody") else "550 no such person")
            elif verb == "DATA":
                self.say("354 go")
                lines = []
                for raw in iter(f.readline, b".\r\n"):
                    lines.append(raw)
                self.server.mails.append((rcpt, email.message_from_bytes(b"".join(lines), policy=email.policy.default)))
                rcpt = []
                self.say("250 ok")
            elif verb == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")


def signed(secret, head, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + body, hashlib.sha256).digest()
    return head["webhook-signature"] == "v1," + base64.b64encode(mac).decode()


def webhook(api, name, url, events=("job-completed", "job-failed")):
    return api.must("POST", "/v1/notifications", {"name": name, "kind": "webhook", "url": url, "events": list(events)})


def deliveries(api, rule, state=None):
    q = f"/v1/notification-deliveries?notification_id={rule['notification_id']}" + (f"&state={state}" if state else "")
    return api.must("GET", q)["data"]


def job(api, name, ms=0):
    return api.must("POST", "/v1/jobs", {"name": name, "kind": "noop", "spec": {"sleep_ms": ms}})["job_id"]


def remove(api, rule):
    assert api.call("DELETE", "/v1/notifications/" + rule["notification_id"])[0] == 204


def webhooks(p, a, b, here, there):
    ok = webhook(a, "ok", here.url("/ok?x=1"))
    assert ok["secret"].startswith("whsec_") and "secret" not in a.must("GET", "/v1/notifications/" + ok["notification_id"])
    a.must("POST", f"/v1/notifications/{ok['notification_id']}/test")
    until("a test arrives", lambda: here.all("/ok?x=1"))
    done = job(a, "count the herons")
    until("the end of a job is told", lambda: len(here.all("/ok?x=1")) >= 2)
    for head, body in here.all("/ok?x=1"):
        assert signed(ok["secret"], head, body) and not signed("whsec_AAAA", head, body), head
        told = json.loads(body)
        assert body == json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(), body
        assert told["id"] == head["webhook-id"]
    assert (told["event"], told["data"]["resource_id"], told["data"]["name"]) == ("job-completed", done, "count the herons"), told
    until("the list says so", lambda: [d["state"] for d in deliveries(a, ok)] == ["DELIVERED"] * 2)
    fresh = a.must("POST", f"/v1/notifications/{ok['notification_id']}/secret")
    a.must("POST", f"/v1/notifications/{ok['notification_id']}/test")
    until("a third", lambda: len(here.all("/ok?x=1")) == 3)
    assert signed(fresh["secret"], *here.all("/ok?x=1")[2]) and not signed(ok["secret"], *here.all("/ok?x=1")[2])
    remove(a, ok)
    log("delivered, signed, canonical")

    rules = {x: webhook(a, x, here.url("/" + x)) for x in ("flaky", "dead", "away", "gone")}
    rules["there"] = webhook(a, "there", there.url("/ok"))
    job(a, "again")
    ended = {x: until(x + " ends", lambda r=r: [d for d in deliveries(a, r) if d["state"] != "WAITING"], 120)[0] for x,
        r in rules.items()}
    assert ended["flaky"]["state"] == "DELIVERED" and ended["flaky"]["tries"] > 1, ended["flaky"]
    assert len({h["webhook-id"] for h, _ in here.all("/flaky")}) == 1 and len(here.all("/flaky")) == TRIES
    assert (ended["dead"]["state"], ended["dead"]["tries"], ended["dead"]["status"]) == ("DEAD", TRIES, 500), ended["dead"]
    assert ended["away"]["state"] == "DEAD" and "redirects are not followed" in ended["away"]["reason"], ended["away"]
    assert not here.all("/stolen")
    assert ended["gone"]["state"] == "DEAD" and ended["gone"]["tries"] == 1, ended["gone"]
    assert ended["there"]["state"] == "DEAD" and "notify.networks" in ended["there"]["reason"] and not there.all("/ok")
    until("each of four deaths is in the log, once", lambda: len(a.must("GET",
        "/v1/audit/events?action=notification.dead")["data"]) == 4)
    here.mended = True
    again = a.must("POST", f"/v1/notification-deliveries/{ended['dead']['delivery_id']}/redeliver")
    assert again["state"] == "WAITING" and again["tries"] == 0
    until("sent once more", lambda: [d["state"] for d in deliveries(a, rules["dead"])] == ["DELIVERED"])
    assert {h["webhook-id"] for h, _ in here.all("/dead")} == {ended["dead"]["delivery_id"]}
    for r in rules.values():
        assert b.call("GET", "/v1/notifications/" + r["notification_id"])[0] == 404
        assert b.call("DELETE", "/v1/notifications/" + r["notification_id"])[0] == 404
        assert b.call("POST", f"/v1/notifications/{r['notification_id']}/test")[0] == 404
        remove(a, r)
    assert b.call("POST", f"/v1/notification-deliveries/{ended['dead']['delivery_id']}/redeliver")[0] == 404
    assert b.must("GET", "/v1/notifications")["data"] == [] and b.must("GET", "/v1/notification-deliveries")["data"] == []
    log("tried again, given up, refused, nobody else's")


def fair(a, b, here):
    """B floods a receiver that hangs; what A is owed comes meanwhile."""
    slow, quick = webhook(b, "slow", here.url("/hang")), webhook(a, "quick", here.url("/quick"))
    for i in range(30):
        b.must("POST", f"/v1/notifications/{slow['notification_id']}/test")
    until("B's calls hang", lambda: len(here.all("/hang")) >= 4)
    for i in range(5):
        a.must("POST", f"/v1/notifications/{quick['notification_id']}/test")
    until("A's calls arrive", lambda: len(here.all("/quick")) >= 5)
    hanging = len(here.all("/hang"))
    assert hanging < 30, f"B had {hanging} calls at once"
    assert all(d["state"] == "WAITING" for d in deliveries(b, slow))
    here.release.set()
    until("B's calls end", lambda: all(d["state"] == "DELIVERED" for d in deliveries(b, slow)), 600)
    remove(a, quick)
    remove(b, slow)
    log(f"fair: {hanging} of 30 hung, 5 of 5 came")


def mail(p, a, post):
    huda = person(a, "Huda", "ml-engineer")
    me = huda.must("GET", "/v1/me")["user_id"]
    own = {"address": "huda@amana.example", "language": "ar", "events": ["job-completed"]}
    assert huda.call("GET", "/v1/me/notifications")[0] == 404
    assert "confirmed_at" not in huda.must("PUT", "/v1/me/notifications", own)
    assert huda.call("PUT", "/v1/me/notifications", {**own, "address": "other@amana.example"})[0] == 429
    text = until("a code comes", lambda: post.to("huda@amana.example"))[0]
    code = next(w for w in text.get_content().split() if w.isdigit())
    team = a.must("POST", "/v1/notifications", {"name": "team", "kind": "mail", "recipients": [me], "events": ["job-completed"]})
    a.must("POST", f"/v1/notifications/{team['notification_id']}/test")
    dead = until("nothing goes to an address that is not confirmed", lambda: deliveries(a, team, "DEAD"))
    assert "confirmed" in dead[0]["reason"], dead
    wrong = "000000" if code != "000000" else "111111"
    assert "confirmed_at" not in huda.must("POST", "/v1/me/notifications/confirm", {"code": wrong})
    assert huda.must("POST", "/v1/me/notifications/confirm", {"code": code})["confirmed_at"]
    assert huda.call("POST", "/v1/me/notifications/confirm", {"code": code})[0] == 409
    job(huda, "herons\u202fof huda")
    until("one mail, though two ways lead to it", lambda: len(post.to("huda@amana.example")) == 2)
    told = post.to("huda@amana.example")[1]
    assert told["From"].addresses[0].addr_spec == "falaj@cloud.example" and told["Auto-Submitted"] == "auto-generated"
    assert f"\n{p.url}/jobs/job_" in told.get_content().replace("\r", ""), told.get_content()
    assert "اكتمال مهمة" in told["Subject"] and "huda" in told["Subject"] and "COMPLETED" in told.get_content(), told
    job(a, "not hers")
    until("the team's mail", lambda: len(post.to("huda@amana.example")) == 3)
    assert "not hers" in post.to("huda@amana.example")[2]["Subject"]
    assert post.plain_attempts == 0
    assert p.sql("SELECT count(*) FROM notice_delivery WHERE detail::text LIKE '%code%'") == [["0"]]
    bad = person(a, "Nobody", "ml-engineer")
    bad.must("PUT", "/v1/me/notifications", {**own, "address": "nobody@amana.example"})
    until("what is refused for good is not tried again", lambda: p.sql(
        "SELECT 1 FROM notice_delivery WHERE state = 'DEAD' AND event = 'confirm' AND tries = 1 AND reason LIKE '%550%'"))
    assert huda.call("DELETE", "/v1/me/notifications")[0] == 204
    remove(a, team)
    log("mail: code, language, own jobs, team")


def main():
    folder = tempfile.mkdtemp(prefix="falaj-notify-")
    os.chmod(folder, 0o755)
    ca, ctx = certificates(folder)
    here, there, post = Receiver("127.0.0.1", ctx), Receiver("127.0.0.2", ctx), Mail(ctx)
    secret = os.path.join(folder, "password")
    open(secret, "w").write("a heron's secret\n")
    os.chmod(secret, 0o644)
    p = Platform({"FALAJ_NOTIFY_CA": ca, "FALAJ_NOTIFY_NETWORKS": "127.0.0.1/32", "FALAJ_NOTIFY_TRIES": str(TRIES),
        "FALAJ_NOTIFY_PAUSE_MS": "50",
                  "FALAJ_SMTP_URL": f"smtp://localhost:{post.server_address[1]}", "FALAJ_SMTP_FROM": "falaj@cloud.example",
                  "FALAJ_SMTP_USER": "falaj", "FALAJ_SMTP_PASSWORD_FILE": secret, "FALAJ_SMTP_CA": ca}, start_timeout=600)
    p.zone()
    (_, a), (_, b) = p.tenant("amana"), p.tenant("bahr")
    p.wait_node()
    webhooks(p, a, b, here, there)
    fair(a, b, here)
    mail(p, a, post)
    p.close()


main()
