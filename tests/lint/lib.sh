#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lib.sh - what every lint shares: the list of files, the way to complain, and the reading of allow lists.
#
# A lint sources this file, calls bad() for each finding and ends with finish. It looks at what git tracks and at new files
# that git does not ignore, so it works in a fresh clone and before a commit alike; a folder that is not there is no finding.
# LINT_ROOT names another tree to look at (tests/lint/selftest.sh uses it).
set -euo pipefail
export LC_ALL=C

lint_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LINT_ROOT=${LINT_ROOT:-$(cd "$lint_dir/../.." && pwd)}
lint_name=$(basename "$0" .sh)
lint_found=0
cd "$LINT_ROOT"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ! git -c safe.directory="$LINT_ROOT" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    printf '%s: skipped, %s is no git checkout (the lints ask git for the files)\n' "$lint_name" "$LINT_ROOT"
    exit 77
fi

# The folders of the product; tests may include, allocate and exit as they like.
product=(core keys audit tenants registry backup scheduler serving api workers cli migrations)

# files PATHSPEC…: existing files, sorted.
files() {
    git -c safe.directory="$LINT_ROOT" ls-files -co --exclude-standard -- "$@" | sort -u | while IFS= read -r f; do [[ ! -f $f ]] || printf '%s\n' "$f"; done
}

# sources EXT…: files of the product with one of these extensions.
sources() {
    local folder ext specs=()
    for folder in "${product[@]}"; do
        for ext in "$@"; do specs+=("$folder/*.$ext"); done
    done
    files "${specs[@]}"
}

bad() { # bad FILE:LINE RULE
    printf '%s: %s\n' "$1" "$2"
    lint_found=$((lint_found + 1))
}

# take_findings: complain about each "file:line<TAB>rule" on standard input.
take_findings() {
    local where rule
    while IFS=$'\t' read -r where rule; do bad "$where" "$rule"; done
}

# An allow list is lines of "KEY PATH REASON…"; every entry has a reason and still excuses something.
allow_file=$lint_dir/$lint_name.allow
declare -A allow_line=() allow_used=()
load_allow() {
    local key path reason n=0
    [[ -f ${LINT_ALLOW:=$allow_file} ]] || return 0
    while read -r key path reason; do
        n=$((n + 1))
        [[ -n $key && $key != \#* ]] || continue
        [[ -n $reason ]] || bad "${LINT_ALLOW#"$LINT_ROOT"/}:$n" "an allowed exception needs a reason"
        allow_line["$key $path"]=$n
    done <"$LINT_ALLOW"
}
allowed() { # allowed KEY PATH
    [[ -n ${allow_line["$1 $2"]:-} ]] || return 1
    allow_used["$1 $2"]=1
}
# An exception whose file exists but no longer needs it must go; one whose file is not there yet waits.
stale_allow() {
    local entry
    for entry in "${!allow_line[@]}"; do
        [[ -n ${allow_used[$entry]:-} || ! -e ${entry#* } ]] ||
            bad "${LINT_ALLOW#"$LINT_ROOT"/}:${allow_line[$entry]}" "nothing needs this exception any more: $entry"
    done
}

finish() {
    if ((lint_found > 0)); then
        printf '%s: %d finding(s)\n' "$lint_name" "$lint_found"
        exit 1
    fi
    printf '%s: clean\n' "$lint_name"
}
