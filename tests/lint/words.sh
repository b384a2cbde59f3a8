#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# words.sh - the project speaks of itself alone: no path of a particular machine, no tracker numbers, no unfinished work.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

mapfile -t list < <(files '*' '.ci/*' '.editorconfig' '.clang-format' |
    grep -vE '(^|/)(package-lock\.json|LICENSE)$|\.(csv|png|woff2?|ico|bin)$|^tests/lint/(words|selftest)\.sh$')
[[ ${#list[@]} -gt 0 ]] || finish

refuse() { # refuse PATTERN WHY [GREP OPTIONS]
    local pattern=$1 why=$2 hit
    shift 2
    while IFS= read -r hit; do
        [[ -z $hit ]] || bad "$(cut -d: -f1,2 <<<"$hit")" "$why: $(cut -d: -f3- <<<"$hit" | sed 's/^ *//' | cut -c1-100)"
    done < <(grep -HnIE "$@" -e "$pattern" -- "${list[@]}" || true)
}
refuse '(^|[^A-Za-z0-9_.$}/-])/(work|root|home/[a-z]+|Users/[A-Za-z]+)/' "the path of a machine"
refuse '(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z_]|$)' "unfinished work belongs in no file"
refuse '(issue|ticket|bug) ?#[0-9]+|[^A-Za-z0-9]GH-[0-9]+' "a tracker number explains nothing to a reader" -i
refuse '(claude|anthropic|chatgpt|copilot|language model wrote|as an ai |subagent|prompt engineer)' "words about tools" -i
refuse '(this|previous|next|my) (coding |working )?session (of|with|i|we) |the brief says|per the instructions' "words about the writing" -i
refuse '(BEGIN|END) [A-Z ]*PRIVATE KEY-----$' "a private key"
finish
