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

while read -r option file; do
    if ! timeout 20 "$bin/falaj-api" "$option" >"$scratch/out" 2>"$scratch/err"; then
        bad "docs/gen/$file:1" "falaj-api $option failed: $(head -n 1 "$scratch/err")"
        continue
    fi
    if [[ ! -s $scratch/out ]]; then
        bad "docs/gen/$file:1" "falaj-api $option prints nothing"
    elif ((write)); then
        mkdir -p docs/gen
        cp "$scratch/out" "docs/gen/$file"
    elif [[ ! -f docs/gen/$file ]]; then
        bad "docs/gen/$file:1" "missing; run tests/lint/gen.sh --write"
    elif ! cmp -s "$scratch/out" "docs/gen/$file"; then
        line=$(cmp "$scratch/out" "docs/gen/$file" 2>&1 | sed -n 's/.*line \([0-9]*\).*/\1/p' || true)
        bad "docs/gen/$file:${line:-1}" "differs from what falaj-api $option prints; run tests/lint/gen.sh --write"
    fi
done <<'LIST'
--print-openapi openapi.json
--print-errors errors.md
--print-config config.md
--print-metrics metrics.md
--print-permissions permissions.md
--print-job-states job_states.md
LIST
finish
