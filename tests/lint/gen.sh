#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gen.sh - what the binaries print is what docs/gen and migrations hold. `gen.sh --write` refreshes them.
#
# Exit status 77 (skipped) only where falaj-api is not built in this configuration.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

write=0
[[ ${1:-} != --write ]] || write=1
bin=${FALAJ_BIN:-}
if [[ -z $bin ]]; then
    # The one built last: an older build beside it would judge today's documents by yesterday's tables.
    newest=$(ls -t build/{asan,dev,release,clang}/bin/falaj-api 2>/dev/null | head -n 1 || true)
    bin=${newest%/falaj-api}
fi
if [[ -z $bin || ! -x $bin/falaj-api ]]; then
    printf 'gen: skipped, falaj-api is not built in this configuration (FALAJ_BIN=%s)\n' "${bin:-unset}"
    exit 77
fi

while read -r option file program; do
    program=${program:-falaj-api}
    if ! timeout 20 "$bin/$program" "$option" >"$scratch/out" 2>"$scratch/err"; then
        bad "$file:1" "$program $option failed: $(head -n 1 "$scratch/err")"
        continue
    fi
    if [[ ! -s $scratch/out ]]; then
        bad "$file:1" "$program $option prints nothing"
    elif ((write)); then
        mkdir -p "$(dirname "$file")"
        cp "$scratch/out" "$file"
    elif [[ ! -f $file ]]; then
        bad "$file:1" "missing; run tests/lint/gen.sh --write"
    elif ! cmp -s "$scratch/out" "$file"; then
        line=$(cmp "$scratch/out" "$file" 2>&1 | sed -n 's/.*line \([0-9]*\).*/\1/p' || true)
        bad "$file:${line:-1}" "differs from what $program $option prints; run tests/lint/gen.sh --write"
    fi
done <<'LIST'
--print-openapi docs/gen/openapi.json
--print-errors docs/gen/errors.md
--print-config docs/gen/config.md
--print-metrics docs/gen/metrics.md
--print-permissions docs/gen/permissions.md
--print-job-states docs/gen/job_states.md
--print-job-types docs/gen/job_types.md
--print-lanes docs/gen/lanes.md
--print-onnx docs/gen/onnx.md falaj-worker
--print-sql-job_purpose migrations/functions/job_purpose.sql
--print-sql-job_stays migrations/functions/job_stays.sql
--print-sql-job_kind_is_known migrations/helpers/job_kind_is_known.sql
LIST
# The specification's cases run in the full tier; here: every claimed operator has its row among their results, and no other.
rows() { sed -nE 's/^\| `([A-Za-z.]+)` \|.*/\1/p' "$1" | sort; }
if [[ -f docs/gen/onnx.md ]] && ! cmp -s <(rows docs/gen/onnx.md) <(rows docs/gen/onnx_nodes.md); then
    bad "docs/gen/onnx_nodes.md:1" "has other operators than docs/gen/onnx.md; tests/onnx/nodes.py --write writes it anew"
fi
finish
