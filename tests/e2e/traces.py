#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traces.py - one trace from a browser's call to the model that answers it, and one of a job from its submission to its
outputs, as a collector of OpenTelemetry sees them.

The collector speaks OTLP over HTTP in JSON and is strict about it. It refuses the first spans with 503, so that they come
again. It sees: spans of falaj-api, falaj-scheduler and falaj-worker that hang together by parents and lie within each other;
a caller's trace where it gave one that is sampled, none where it said no; the metrics of each daemon; and no name, text or
number of anybody's. Exit status 0 only then."""
import http.server, json, os, re, subprocess, sys, threading, urllib.request
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from platform_falaj import BIN, Platform, log, until

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../datasets/digits/digits.csv")
GIVEN, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
UNTOLD = "1af7651916cd43dd8448eb211c80319c"
NAMES = ("heronry-of-hatta", "digits of a person", "the secret training")


class Collector(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.spans, self.metrics, self.raw, self.refused, self.lock = [], {}, [], 0, threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def of(self, trace):
        with self.lock:
            return [s for s in self.spans if s["traceId"] == trace]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body, c = self.rfile.read(int(self.headers["Content-Length"])), self.server
        status = 200
        asked = (self.headers["Authorization"], self.headers["Content-Type"])
        if asked != ("Bearer of-the-collector", "application/json"):
            status = 401
        with c.lock:
            if status == 200 and self.path == "/v1/traces" and not c.refused:
                c.refused, status = len(body), 503
            elif status == 200:
                c.raw.append(body.decode())
                take(c, self.path, json.loads(body))
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *a):
        pass


def attributes(of):
    out = {}
    for a in of.get("attributes", []):
        assert set(a) == {"key", "value"} and len(a["value"]) == 1, a
        kind, value = next(iter(a["value"].items()))
        assert kind in ("stringValue", "intValue") and isinstance(value, str), a
        assert a["key"] not in out, a
        out[a["key"]] = value
    return out


def take(c, path, body):
    kind = {"/v1/traces": ("resourceSpans", "scopeSpans", "spans"),
            "/v1/metrics": ("resourceMetrics", "scopeMetrics", "metrics")}[path]
    assert list(body) == [kind[0]], body
    for r in body[kind[0]]:
        who = attributes(r["resource"])
        assert who["service.namespace"] == "falaj" and who["service.version"] and who["service.instance.id"], who
        for scope in r[kind[1]]:
            for item in scope[kind[2]]:
                if path == "/v1/traces":
                    item["service"], item["at"] = who["service.name"], attributes(item)
                    assert re.fullmatch("[0-9a-f]{32}", item["traceId"]) and re.fullmatch("[0-9a-f]{16}", item["spanId"]), item
                    assert int(item["startTimeUnixNano"]) <= int(item["endTimeUnixNano"]), item
                    c.spans.append(item)
                else:
                    c.metrics.setdefault(who["service.name"], {})[item["name"]] = item


def within(a, b, slack_ms=1):
    slack = slack_ms * 1000000
    return (int(b["startTimeUnixNano"]) - slack <= int(a["startTimeUnixNano"])
            and int(a["endTimeUnixNano"]) <= int(b["endTimeUnixNano"]) + slack)


def by_name(spans):
    out = {}
    for s in spans:
        assert s["name"] not in out, f"twice: {s['name']}"
        out[s["name"]] = s
    return out


def training(api, c):
    data = api.must("POST", "/v1/datasets", {"name": NAMES[0], "label_column": "label", "classes": 10})
    with open(DIGITS, "rb") as f:
        api.must("POST", f"/v1/datasets/{data['dataset_id']}/versions", f.read(), headers={"Content-Type": "text/csv"})
    job = api.must("POST", "/v1/jobs", {"name": NAMES[2], "kind": "train", "spec": {
        "dataset_id": data["dataset_id"], "dataset_version": 1, "family": "mlp", "hidden": [16], "epochs": 3, "seed": 1}},
        headers={"traceparent": f"00-{GIVEN}-{CALLER}-01"})["job_id"]
    until("the training ends", lambda: api.must("GET", f"/v1/jobs/{job}")["state"] == "COMPLETED")
    s = until("the job's trace", lambda: len(c.of(job[4:])) >= 6 and by_name(c.of(job[4:])))
    assert sorted(s) == ["inputs", "lease", "outputs", "submit job", "wait", "work"], sorted(s)
    root, lease = s["submit job"], s["lease"]
    assert [x["service"] for x in (root, s["wait"], lease)] == ["falaj-api", "falaj-scheduler", "falaj-worker"], s
    assert "parentSpanId" not in root and root["kind"] == 4, root
    assert all(s[x]["parentSpanId"] == root["spanId"] for x in ("wait", "lease")), s
    assert all(x["parentSpanId"] == lease["spanId"] and within(x, lease) for x in (s["inputs"], s["work"], s["outputs"])), s
    assert all(x["at"]["falaj.job.id"] == job for x in (root, s["wait"], s["lease"])), s
    assert lease["at"]["falaj.job.kind"] == "train", lease
    assert s["wait"]["at"]["falaj.attempt.id"] == lease["at"]["falaj.attempt.id"], s
    # The wait began when the job was made, and the lease after it.
    assert int(s["wait"]["startTimeUnixNano"]) <= int(s["lease"]["startTimeUnixNano"]), s
    call = until("the call that submitted it", lambda: by_name(c.of(GIVEN)).get("POST /v1/jobs"))
    assert call["parentSpanId"] == CALLER and call["at"]["http.response.status_code"] == "201", call
    assert call["links"] == [{"traceId": root["traceId"], "spanId": root["spanId"]}], call
    assert root["links"] == [{"traceId": GIVEN, "spanId": call["spanId"]}], root
    log("a job: submit, wait, lease, inputs, work, outputs, of three programs; linked with the call")
    return job


def inference(api, c, job):
    model = api.must("POST", "/v1/models", {"name": NAMES[0], "job_id": job})
    api.must("POST", "/v1/deployments", {"name": NAMES[0], "model_id": model["model_id"]})
    path = "/v2/models/" + NAMES[0]

    def ask(trace, flags):
        status, meta = api.call("GET", path)
        if status != 200:
            return False
        ask = {"inputs": [{"name": meta["inputs"][0]["name"], "shape": [1, 64], "datatype": "FP32", "data": [0.0] * 64}]}
        return api.call("POST", path + "/infer", ask, headers={"traceparent": f"00-{trace}-{CALLER}-{flags}"})[0] == 200
    until("the model answers", lambda: ask(UNTOLD, "00"))
    trace = "2af7651916cd43dd8448eb211c80319c"
    assert ask(trace, "01")
    want = ["POST /v2/models/{name}/infer", "ask model", "model compute", "model queue"]
    s = until("the call's trace", lambda: len(c.of(trace)) >= 4 and by_name(c.of(trace)))
    assert sorted(s) == want, sorted(s)
    call, asked, queue, compute = (s[x] for x in (want[0], "ask model", "model queue", "model compute"))
    assert call["parentSpanId"] == CALLER and call["kind"] == 2 and asked["kind"] == 3, s
    assert asked["parentSpanId"] == call["spanId"], s
    assert queue["parentSpanId"] == compute["parentSpanId"] == asked["spanId"], s
    assert within(asked, call) and within(queue, asked) and within(compute, asked), s
    assert queue["endTimeUnixNano"] == compute["startTimeUnixNano"] and compute["at"]["falaj.batch.rows"] == "1", s
    assert not c.of(UNTOLD), "a trace that its caller did not want was told"
    log("a call: browser, api, model's queue and batch in one trace")


def answers(p, api, c):
    def header(given):
        r = urllib.request.Request(p.url + "/v1/me", headers={"Authorization": "Bearer " + api.token, **given})
        return urllib.request.urlopen(r).headers["Traceparent"]
    own = header({"traceparent": f"00-{UNTOLD}-{CALLER}-00"})
    assert own.startswith(f"00-{UNTOLD}-") and own.endswith("-00") and CALLER not in own, own
    for bad in ({}, {"traceparent": "00-zz-1-01"}, {"traceparent": f"00-{'0' * 32}-{CALLER}-01"}):
        own = header(bad)
        assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", own) and "0" * 32 not in own, own
        span = until("a trace of its own", lambda: c.of(own[3:35]))[0]
        assert span["spanId"] == own[36:52] and "parentSpanId" not in span and span["name"] == "GET /v1/me", span
    status, _ = api.call("GET", "/v1/jobs/job_" + "0" * 32, headers={"traceparent": f"00-{'3' * 32}-{CALLER}-01"})
    assert status == 404
    gone = until("an error", lambda: c.of("3" * 32))[0]
    assert gone["at"]["http.response.status_code"] == "404" and gone["at"]["error.type"] == "not_found", gone
    assert "status" not in gone, gone


def command_line(p, api, c):
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token}
    for trace, is_good in (("4" * 32, True), ("not a trace", False)):
        r = subprocess.run([os.path.join(BIN, "falaj"), "job", "list"], capture_output=True, text=True,
                           env={**env, "TRACEPARENT": f"00-{trace}-{CALLER}-01"})
        assert r.returncode == 0, r.stderr
        if is_good:
            call = until("a call of the CLI in its pipeline's trace", lambda: c.of(trace))[0]
            assert call["parentSpanId"] == CALLER and call["name"] == "GET /v1/jobs", call


def figures(c):
    for who, name in (("falaj-api", "falaj_http_requests_total"), ("falaj-scheduler", "falaj_leases_granted_total"),
                      ("falaj-worker", "falaj_worker_leases_taken_total")):
        m = until(f"metrics of {who}", lambda: c.metrics.get(who, {}).get(name))
        assert m["sum"]["isMonotonic"] and m["sum"]["aggregationTemporality"] == 2, m
        assert all(float(x["asDouble"]) >= 0 for x in m["sum"]["dataPoints"]), m
    h = c.metrics["falaj-api"]["falaj_http_request_seconds"]["histogram"]
    for x in h["dataPoints"]:
        assert len(x["bucketCounts"]) == len(x["explicitBounds"]) + 1 and sum(map(int, x["bucketCounts"])) == int(x["count"]), x


def main():
    c = Collector()
    p = Platform({"FALAJ_OTLP_ENDPOINT": f"http://127.0.0.1:{c.server_address[1]}", "FALAJ_OTLP_METRICS_MS": "1000",
                  "FALAJ_OTLP_HEADER": "Authorization: Bearer of-the-collector"}, start_timeout=600)
    p.zone()
    tenant, api = p.tenant(NAMES[1].replace(" ", "-"))
    p.wait_node()
    job = training(api, c)
    inference(api, c, job)
    answers(p, api, c)
    command_line(p, api, c)
    figures(c)
    assert c.refused, "the first spans were not refused"
    p.close()
    with c.lock:
        told = "\n".join(c.raw)
    for name in (*NAMES, NAMES[1].replace(" ", "-"), api.token, "127.0.0.1"):
        assert name not in told, f"a collector was told {name}"
    log(f"{len(c.spans)} spans, metrics of {sorted(c.metrics)}; nothing of anybody's in them")


main()
