#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# main_job.sh - the main job with the real binaries: twice on one data folder, then after kill -9 of everything at once.
set -euo pipefail
: "${FALAJ_BIN:?}" "${FALAJ_SRC:?}"
data=$(mktemp -d /tmp/falaj-e2e-XXXXXX)
pid=
cleanup() {
    [[ -z $pid ]] || kill -TERM "$pid" 2>/dev/null || true
    [[ -z $pid ]] || wait "$pid" 2>/dev/null || true
    "$FALAJ_BIN/falaj" dev remove --data "$data" --yes >/dev/null 2>&1 || true
    rm -rf "$data"
}
trap cleanup EXIT
fail() { printf 'main_job.sh: %s\n' "$*" >&2; [[ ! -d $data/log ]] || tail -n 20 "$data"/log/*.log >&2; exit 1; }

start() {
    "$FALAJ_BIN/falaj" dev --data "$data" --port 0 --json-ready >"$data.ready" 2>"$data.err" &
    pid=$!
    for _ in $(seq 600); do
        grep -q '"ready":true' "$data.ready" 2>/dev/null && return
        kill -0 "$pid" 2>/dev/null || { cat "$data.err" >&2; fail "falaj dev ended before it was ready"; }
        sleep 0.1
    done
    fail "falaj dev was not ready within 60 s"
}

demo() {
    local out
    out=$("$FALAJ_BIN/falaj" demo --data "$data" --json --digits "$FALAJ_SRC/datasets/digits/digits.csv") || { printf '%s\n' "$out"; fail "the main job failed ($1)"; }
    printf '%s: %s\n' "$1" "$(tail -n 1 <<<"$out")"
    python3 - "$(tail -n 1 <<<"$out")" <<'PY'
import json, sys
r = json.loads(sys.argv[1])
assert r["ok"] is True, r
assert r["accuracy"] >= 0.96, r
PY
}

start
demo "first run"
demo "second run"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
pid=
sleep 0.5
start
demo "after kill -9"
begin=$(date +%s%N)
kill -TERM "$pid"
wait "$pid" || fail "falaj dev ended with $?"
pid=
printf 'stopped in %d ms\n' $((($(date +%s%N) - begin) / 1000000))
rm -f "$data.ready" "$data.err"
