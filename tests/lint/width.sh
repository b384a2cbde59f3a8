#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# width.sh - lines have at most 130 columns. Those that were longer when the rule came are counted by file in width.counts, and no count may
# rise. `width.sh --write` writes the counts as they are, and refuses when there would be more in all than before.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

counts=tests/lint/width.counts
files '*.c' '*.h' '*.def' '*.sql' '*.sh' '*.py' '*.pl' '*.cmake' '*CMakeLists.txt' '*.ts' '*.tsx' '*.mjs' '*.css' |
    grep -vE '^docs/gen/|^tests/http/generated/|^console/src/api/(schema|generated|enums)|^tests/fuzz/corpus/' >"$scratch/files"
# Characters, not bytes: a line of Arabic is as wide as one of English. The first line past the count is the one to look at.
xargs -r -d '\n' perl -CSD -ne 'chomp; if (length > 130) { push @{ $at{$ARGV} }, $. } close ARGV if eof;
    END { print scalar(@{ $at{$_} }), " $_ @{ $at{$_} }\n" for sort keys %at }' <"$scratch/files" >"$scratch/long"

sum() { awk '/^[0-9]/ { n += $1 } END { print n + 0 }' "$@"; }
if [[ ${1:-} == --write ]]; then
    if [[ -f $counts ]] && (($(sum "$scratch/long") > $(sum "$counts"))); then
        bad "$counts:1" "there would be $(sum "$scratch/long") lines of more than 130 columns; there were $(sum "$counts")"
    else
        { echo '# LINES FILE: how many lines of more than 130 columns a file may have (width.sh).' && awk '{ print $1, $2 }' "$scratch/long"; } >"$counts"
    fi
    finish
fi
declare -A may=()
if [[ -f $counts ]]; then
    while read -r n file; do [[ $n == \#* ]] || may["$file"]=$n; done <"$counts"
fi
while read -r n file lines; do
    ((n <= ${may["$file"]:-0})) || bad "$file:${lines##* }" "$n lines of more than 130 columns, ${may["$file"]:-0} allowed; they are: ${lines}"
done <"$scratch/long"
finish
