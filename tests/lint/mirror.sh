#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mirror.sh - each .c has its test at the mirrored path, or a line with a reason in mirror.allow (KEY is "untested").
#
# core/base/str.c is tested by tests/<kind>/core/base/test_str.c, for any kind (unit, db, kernels, faults …). A route file,
# api/routes/jobs.c, may be tested by tests/http/routes/jobs.test.ts instead. A main.c is tested by running the binary.
# A reason names the test that covers the file, and that test exists. The list may only shrink: with it, lower `most`.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

most=${LINT_MOST:-212}
load_allow
((${#allow_line[@]} <= most)) || bad "${LINT_ALLOW#"$LINT_ROOT"/}:1" "${#allow_line[@]} files are excused; there were $most, and they may only become fewer"
files tests console/tests | sed -E 'p; s#.*/##; p; s#\.[^.]*$##' | sort -u >"$scratch/tests"
files tests | sed -nE 's#/[^/]+$##p' | sort -u >>"$scratch/tests"
while read -r key path reason; do
    [[ $key == untested && -n $reason ]] || continue
    tr -c 'A-Za-z0-9_./-' '\n' <<<"$reason" | sed -E 's#[.,/]$##' | grep -E '^tests/|^(.*/)?(test|fuzz)_|\.(test\.ts|sh|py)$' | sed -E 'p; s#.*/##' |
        grep -qxFf "$scratch/tests" || bad "${LINT_ALLOW#"$LINT_ROOT"/}:${allow_line["$key $path"]}" "the reason for $path names no test that exists"
done < <([[ ! -f $LINT_ALLOW ]] || cat "$LINT_ALLOW")
mapfile -t list < <(sources c | grep -vE '(^|/)main\.c$')
declare -A have=()
while IFS= read -r test; do
    rest=${test#tests/*/}
    have["${rest%/*}/${rest##*/}"]=1
done < <(files 'tests/*.c' 'tests/*.test.ts')

for file in "${list[@]}"; do
    dir=${file%/*} base=${file##*/}
    base=${base%.c}
    [[ -z ${have["$dir/test_$base.c"]:-} ]] || continue
    if [[ $dir == api/routes && (-n ${have["routes/$base.test.ts"]:-} || -n ${have["$base.test.ts/$base.test.ts"]:-}) ]]; then
        continue
    fi
    allowed untested "$file" || bad "$file:1" "no tests/unit/$dir/test_$base.c (nor db, http …), and no reason in mirror.allow"
done
stale_allow
finish
