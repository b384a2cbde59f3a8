#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# words.sh - tests/run.sh says what a full disk and a failed link are: before the build, and with the linker's own words.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# shellcheck source=tests/lib/words.sh
source "$here/../lib/words.sh"
bad() { printf 'words: %s\n' "$*"; exit 1; }

# A disk of a chosen size; of what is built already nothing more is wanted.
mkdir -p "$tree/build/tests" "$tree/build/bin"
df() { printf 'Filesystem 1M-blocks Used Available Use%% Mounted\n/dev/x 9 9 %s 9%% /\n' "$has"; }
[[ $(room_wanted "$tree/build" a b programs) -eq $((tests_mib + 2 * program_mib + daemons_mib)) ]] || bad "a build's sum"
has=$((tests_mib + 2 * program_mib - 1))
if said=$(room_check "$tree/build" a b); then bad "$has MiB are taken for enough"; fi
[[ $said == *"$has MiB free"*"at least $((has + 1)) MiB"*"make room"* ]] || bad "it says: $said"
has=$((has + 1))
room_check "$tree/build" a b || bad "$has MiB are enough"
touch "$tree/build/tests/b" "$tree/build/bin/falaj-worker"
has=$((tests_mib + program_mib))
room_check "$tree/build" a b programs || bad "what is there costs nothing"

# The linker's death has none of a compiler's words, and stands behind a command of many thousand bytes.
{
    printf '[1/9] Building C object a.o\n'
    printf 'FAILED: tests/x\n: && /usr/bin/cc %s -o tests/x\n' "$(printf 'o%.0s' {1..9000})"
    printf 'collect2: ld terminated with signal 6 [Aborted]\n/usr/bin/ld: final link: no more space\n'
    printf '[2/9] Building C object b.o\nninja: build stopped: subcommand failed.\n'
} >"$tree/log"
said=$(build_words "$tree/log")
[[ $said == *"2: FAILED: tests/x"*"4: collect2: ld terminated with signal 6"*"5: /usr/bin/ld: final link"* ]] ||
    bad "it says: $said"
((${#said} < 1500)) || bad "the command is not cut: ${#said} bytes"
printf 'CMake stopped\n' >"$tree/log"
[[ $(build_words "$tree/log") == 'CMake stopped' ]] || bad "a log without failures is not shown"
echo 'words are told'
