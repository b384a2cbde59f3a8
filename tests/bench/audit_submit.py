#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""audit_submit.py - what the audit event costs a submission: POST /v1/jobs with it and without it, in turns, on one platform.

"Without" is the same build with the same function but for its INSERT INTO audit_event, put in place for the bench and taken back.
Prints one JSON line. Not a test: no figure fails. Needs wrk. usage: tests/bench/audit_submit.py [--seconds N] [--rounds N]"""
import argparse, json, os, re, signal, statistics, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from platform_falaj import Platform, log
from api import BODY, pause, wrk


def variants(p):
    """(with, without): the definition of job_submit_many, and the same without its audit event."""
    text = p.sql_text("SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'job_submit_many' ORDER BY pronargs DESC LIMIT 1")
    bare, n = re.subn(r"\n\s*a AS \(INSERT INTO audit_event [^\n]*\),", "", text)
    if n != 1:
        raise RuntimeError(f"the audit event was found {n} times in job_submit_many")
    return text, bare


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--seconds", type=int, default=5)
    a.add_argument("--rounds", type=int, default=6)
    a = a.parse_args()
    p = Platform()
    p.zone()
    tokens = [p.tenant(f"bench-{i}", jobs=2000000000)[1].token for i in range(16)]
    p.wait_node()
    pause(p, ("scheduler", "worker"), signal.SIGSTOP)
    both, rates = variants(p), ([], [])
    wrk(p, tokens, 3, body=BODY)
    for i in range(2 * a.rounds):
        which = (i + i // 2) % 2        # A B B A A B …: a drift of the machine meets both alike
        p.sql(both[which])
        r = wrk(p, tokens, a.seconds, body=BODY)
        if r["bad"] or r["socket_errors"]:
            raise RuntimeError(f"the bench itself failed: {r}")
        rates[which].append(r["rate"])
        log(("with", "without")[which], round(r["rate"]))
    p.sql(both[0])
    pause(p, ("scheduler", "worker"), signal.SIGCONT)
    with_it, without = statistics.median(rates[0]), statistics.median(rates[1])
    print(json.dumps({"figure": "audited submissions", "with_per_s": round(with_it), "without_per_s": round(without), "ratio": round(with_it / without, 3),
                      "rounds": a.rounds, "goal": 0.9}))
    p.close()


if __name__ == "__main__":
    main()
