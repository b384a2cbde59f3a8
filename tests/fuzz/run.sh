#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - builds every fuzzer with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and runs each one for a while.
#
#   FALAJ_FUZZ_SECONDS=60 tests/fuzz/run.sh [--build | --run] [NAME…]     NAME: fuzz_csv …; all without
#
# --build builds them and stops, --run runs what is built.
# Inputs that libFuzzer finds are kept in build/fuzz/corpus/NAME; it begins with tests/fuzz/corpus/NAME. An input that breaks something
# lies in build/fuzz/found/ and its path is printed: when it is mended, copy the input to tests/fuzz/corpus/NAME, so that it is replayed for ever.
# Exit status: 0 nothing was found, 1 a fuzzer found something or could not be built.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
seconds=${FALAJ_FUZZ_SECONDS:-60}
build=build/fuzz
mkdir -p "$build/found"
steps=both
case ${1:-} in
    --build | --run) steps=$1; shift ;;
esac
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(fuzzers)
if [[ $steps != --run ]] && ! { CC=clang cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DFALAJ_FUZZ=ON \
    -DFALAJ_SANITIZE=address,undefined -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link && ninja -C "$build" -j 2 "${targets[@]}"; } >"$build/build.log" 2>&1; then
    grep -nE 'FAILED|error:' "$build/build.log" | head -n 20 || tail -n 20 "$build/build.log"
    exit 1
fi
[[ $steps != --build ]] || exit 0

names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
    for file in tests/fuzz/fuzz_*.c; do
        names+=("$(basename "$file" .c)")
    done
fi
failed=0
for name in "${names[@]}"; do
    [[ -x $build/tests/$name ]] || { printf '%s is not built\n' "$name"; failed=1; continue; }
    mkdir -p "$build/corpus/$name"
    seeds=()
    [[ ! -d tests/fuzz/corpus/$name ]] || seeds=("tests/fuzz/corpus/$name")
    if "$build/tests/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "${seeds[@]}" >"$build/$name.log" 2>&1; then
        printf '%s: %s runs, nothing found\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")"
    else
        printf '%s: FOUND something; the log is %s\n' "$name" "$build/$name.log"
        grep -E 'ERROR:|SUMMARY:|runtime error|Test unit written' "$build/$name.log" | head -n 8 || true
        failed=1
    fi
done
exit "$failed"
