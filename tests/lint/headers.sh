#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh - every header has #pragma once and compiles alone, under the warnings of the build. A header that is a template, included
# once per variant with macros defined before, is named in headers.allow (KEY is "template").
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

load_allow
list=()
while IFS= read -r header; do
    allowed template "$header" || list+=("$header")
done < <(sources h)
stale_allow
[[ ${#list[@]} -gt 0 ]] || finish

mkdir "$scratch/inc"
for folder in "${product[@]}"; do
    ln -s "$LINT_ROOT/$folder" "$scratch/inc/$folder"
done
for header in "${list[@]}"; do
    grep -q '^#pragma once' "$header" || bad "$header:1" "a header says #pragma once"
done

# The doors' libraries that have an include directory of their own.
export DOOR_FLAGS
DOOR_FLAGS=$(pkg-config --cflags libpq p11-kit-1 2>/dev/null || true)

cat >"$scratch/one.sh" <<'SH'
header=$1 scratch=$2
# shellcheck disable=SC2086
out=$(printf '#include "%s"\nextern int falaj_lint_unit;\n' "$header" |
    gcc -std=gnu17 -D_GNU_SOURCE -DFALAJ_VERSION='"lint"' -fsyntax-only -Wall -Wextra -Wshadow -Wstrict-prototypes \
        -Wno-missing-field-initializers -Werror $DOOR_FLAGS -I"$scratch/inc" -x c - 2>&1) && exit 0
printf '%s:1\tdoes not compile alone: %s\n' "$header" "$(printf '%s' "$out" | grep -m1 -E 'error|fatal' | tr '\t' ' ')"
SH
printf '%s\0' "${list[@]}" | xargs -0 -P 2 -I{} bash "$scratch/one.sh" {} "$scratch" >"$scratch/findings" || true
take_findings < <(sort "$scratch/findings")
finish
