#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sizes.sh - a .c file has at most 400 lines, a .h file 300, a function 60. Exceptions: sizes.allow (KEY is the function, or `file`). The
# list may only shrink: with it, lower `most`. It is empty.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

max_c=400 max_h=300 max_function=60
most=${LINT_MOST:-0}

load_allow
((${#allow_line[@]} <= most)) ||
    bad "${LINT_ALLOW#"$LINT_ROOT"/}:1" "${#allow_line[@]} are excused; there were $most, and they may only become fewer"
mapfile -t list < <(sources c h cu cuh)
[[ ${#list[@]} -gt 0 ]] || finish

while read -r lines file; do
    case $file in
        total) ;;
        *.c | *.cu) ((lines <= max_c)) || allowed file "$file" || bad "$file:$lines" "$lines lines; a source file has at most $max_c" ;;
        *) ((lines <= max_h)) || allowed file "$file" || bad "$file:$lines" "$lines lines; a header has at most $max_h" ;;
    esac
done < <(wc -l "${list[@]}")

if ! ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
    bad "tests/lint/sizes.sh:1" "universal-ctags is needed to measure functions (deploy/install-deps.sh --test)"
    finish
fi
printf '%s\n' "${list[@]}" | grep -E '\.(c|h)$' |
    ctags -x --languages=C --langmap=C:.c.h --kinds-C=f --_xformat='%N %n %{end} %F' -L - >"$scratch/functions"
while read -r name first last file; do
    [[ $last =~ ^[0-9]+$ ]] || continue
    size=$((last - first + 1))
    ((size <= max_function)) || allowed "$name" "$file" || bad "$file:$first" "$name has $size lines; a function has at most $max_function"
done <"$scratch/functions"
stale_allow
finish
