#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# red_run.sh - ctest with the switches of tests/run.sh over a tree of one good and one failing test must end badly and say "1 tests failed";
# over a tree without tests it must end badly too.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
run() { ctest --test-dir "$tree" -j 2 --output-on-failure --no-tests=error; }

printf 'add_test(good true)\nadd_test(bad bash "%s/red.sh")\n' "$here" >"$tree/CTestTestfile.cmake"
if run >"$tree/out" 2>&1; then
    echo 'a failing test did not fail the run'
    exit 1
fi
grep -q '1 tests failed out of 2' "$tree/out"
grep -q 'this failure is meant' "$tree/out"
: >"$tree/CTestTestfile.cmake"
if run >"$tree/out" 2>&1; then
    echo 'a run without tests passed'
    exit 1
fi
echo 'red is red'
