#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# resources.sh - what events are about has a row in audit/resource_kind.def: kinds that code and routes write, so that a
# search may ask by them.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

def=audit/resource_kind.def
[[ -f $def ]] || finish
known=$(grep -oE 'X\([a-z_]+\)' "$def" | tr -d 'X()')
mapfile -t list < <(sources c | grep -v '^tests/')
while IFS=: read -r file line word; do
    grep -qxF "$word" <<<"$known" || bad "$file:$line" "events are about a '$word', which has no row in $def"
done < <(grep -HnoE '(resource_kind = STR\("|\.resource = ")[a-z_]+' "${list[@]}" | sed -E 's/^([^:]+:[0-9]+:).*"/\1/')
finish
