#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# alerts.sh - each alert has its section in the runbooks and its test, each metric that alerts and the dashboard name exists,
# and the dashboard is the one that its table makes. That the rules parse and fire is the full tier's (tests/e2e/alerts.sh).
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

rules=deploy/monitoring/alerts.yml tests=deploy/monitoring/alerts_test.yml board=deploy/monitoring/dashboard.json
books=docs/howto/runbooks.md
[[ -f $rules ]] || finish

sed -n 's/^ *- alert: //p' "$rules" | sort >"$scratch/alerts"
sed -n 's/^## //p' "$books" | sort >"$scratch/sections"
sed -n 's/^ *- alertname: //p' "$tests" | sort -u >"$scratch/tested"
# missing A B FILE TEXT: what stands in A and not in B, told of FILE; %s is its name.
missing() {
    # shellcheck disable=SC2059
    while read -r name; do bad "$3:1" "$(printf "$4" "$name")"; done < <(comm -23 "$scratch/$1" "$scratch/$2")
}
missing alerts sections "$books" "no section '## %s' for that alert"
missing sections alerts "$books" "section '## %s' is of no alert"
missing alerts tested "$tests" "no test in which %s fires"

sed -n 's/^| `\(falaj_[a-z_]*\)` .*/\1/p' docs/gen/metrics.md | sort >"$scratch/metrics"
for file in "$rules" "$tests" "$board"; do
    { grep -oE '\bfalaj_[a-z_]+' "$file" || true; } | sed -E 's/_(bucket|sum|count)$//' | sort -u >"$scratch/named"
    missing named metrics "$file" "%s is no metric (docs/gen/metrics.md)"
done

python3 deploy/monitoring/dashboard.py >"$scratch/board"
cmp -s "$scratch/board" "$board" || bad "$board:1" "differs from what deploy/monitoring/dashboard.py prints; write it anew"
finish
