#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboard.py - the dashboard of Grafana, made from one table of panels.

usage: deploy/monitoring/dashboard.py [--queries] >deploy/monitoring/dashboard.json

--queries prints the panels' queries as recording rules, which `promtool check rules` parses.
A row of PANELS: title, unit (of Grafana), and (query, legend) of each line. A row with a title alone begins a section."""
import json, sys

PANELS = [
    ("Is it well",),
    ("Processes that answer", "short", ('sum by (job) (up{job="falaj"})', "up"), ('count(up{job="falaj"})', "known")),
    ("Parts that are not ready", "short", ("count by (part) (falaj_part_ready == 0) or vector(0)", "{{part}}")),
    ("Errors of the server, of all answers", "percentunit",
     ('sum(rate(falaj_http_requests_total{status=~"5.."}[5m])) / sum(rate(falaj_http_requests_total[5m]))', "5xx")),
    ("Days until a certificate ends", "d",
     ("(falaj_certificate_not_after_seconds - time()) / 86400", "{{instance}} {{name}}")),
    ("Work",),
    ("Jobs", "short", ("sum(falaj_jobs_waiting)", "waiting"), ("sum(falaj_attempts_running)", "running")),
    ("Ends of jobs", "ops", ("sum by (state) (rate(falaj_finished_jobs_total[5m]))", "{{state}}")),
    ("Slots", "short", ("sum by (use) (falaj_slots)", "{{use}}")),
    ("Machines", "short", ("sum by (state) (falaj_machines)", "{{state}}")),
    ("Time of a plan", "s",
     ('histogram_quantile(0.5, sum by (le) (rate(falaj_scheduler_tick_seconds_bucket{phase="plan"}[5m])))', "p50"),
     ('histogram_quantile(0.99, sum by (le) (rate(falaj_scheduler_tick_seconds_bucket{phase="plan"}[5m])))', "p99")),
    ("Leases", "ops", ("sum(rate(falaj_leases_granted_total[5m]))", "granted"),
     ("sum(rate(falaj_leases_expired_total[5m]))", "expired")),
    ("API",),
    ("Requests", "reqps", ("sum by (route) (rate(falaj_http_requests_total[5m])) > 0", "{{route}}")),
    ("Time of an answer", "s",
     ("histogram_quantile(0.5, sum by (le) (rate(falaj_http_request_seconds_bucket[5m])))", "p50"),
     ("histogram_quantile(0.99, sum by (le) (rate(falaj_http_request_seconds_bucket[5m])))", "p99")),
    ("Calls that wait for their lane", "short", ('sum by (lane) (falaj_lane_calls{state="waiting"})', "{{lane}}")),
    ("Connections to the database that work", "short", ('sum by (pool) (falaj_db_connections{state="busy"})', "{{pool}}")),
    ("Connections", "short", ("sum by (listener) (falaj_connections)", "{{listener}}"),
     ("sum by (listener) (rate(falaj_connections_turned_away[5m]))", "{{listener}} turned away each second")),
    ("Memory of request bodies", "bytes", ("sum by (sender) (falaj_body_bytes)", "{{sender}} senders")),
    ("Space left for blobs", "bytes", ("min by (instance) (falaj_blob_free_bytes)", "{{instance}}")),
    ("Models",),
    ("Calls to models", "reqps", ("sum by (outcome) (rate(falaj_inference_requests_total[5m]))", "{{outcome}}")),
    ("Time of a call to a model", "s",
     ("histogram_quantile(0.5, sum by (le) (rate(falaj_inference_request_seconds_bucket[5m])))", "p50"),
     ("histogram_quantile(0.99, sum by (le) (rate(falaj_inference_request_seconds_bucket[5m])))", "p99")),
    ("Trust",),
    ("Events without a number", "short", ("max(falaj_audit_lag_events)", "events")),
    ("Age of the oldest of them, and of the newest head", "s", ("max(falaj_audit_merge_delay_seconds)", "event"),
     ("max(falaj_audit_checkpoint_age_seconds)", "head")),
    ("Refused", "ops", ("sum by (permission) (rate(falaj_authz_denied_total[5m])) > 0", "{{permission}}"),
     ("sum by (reason) (rate(falaj_residency_denials_total[5m])) > 0", "residency: {{reason}}")),
    ("Requests to the keys", "ops", ("sum by (verb, result) (rate(falaj_keyd_requests_total[5m])) > 0", "{{verb}} {{result}}")),
]
WIDTH, HEIGHT, COLUMNS = 8, 7, 3


def panels():
    y = column = 0
    for title, *rest in PANELS:
        if not rest:
            y, column = y + (HEIGHT if column else 0), 0
            yield {"type": "row", "title": title, "panels": [], "gridPos": {"x": 0, "y": y, "w": WIDTH * COLUMNS, "h": 1}}
            y += 1
            continue
        unit, *lines = rest
        yield {"type": "timeseries", "title": title, "datasource": {"type": "prometheus", "uid": "${source}"},
               "gridPos": {"x": column * WIDTH, "y": y, "w": WIDTH, "h": HEIGHT},
               "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
               "targets": [{"refId": "ABCDEFGH"[i], "expr": q, "legendFormat": legend} for i, (q, legend) in enumerate(lines)]}
        column = (column + 1) % COLUMNS
        y += 0 if column else HEIGHT


def dashboard():
    return {"uid": "falaj", "title": "Falaj", "tags": ["falaj"], "timezone": "utc", "schemaVersion": 36, "refresh": "30s",
            "time": {"from": "now-6h", "to": "now"},
            "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]},
            "panels": [{"id": i, **p} for i, p in enumerate(panels(), 1)]}


def queries():
    found = [t["expr"] for p in panels() for t in p.get("targets", [])]
    rules = [{"record": f"falaj:dashboard:{i}", "expr": q} for i, q in enumerate(found)]
    return {"groups": [{"name": "dashboard", "rules": rules}]}


json.dump(queries() if sys.argv[1:] == ["--queries"] else dashboard(), sys.stdout, indent=1)
print()
