#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the whole check of a change: builds twice, then runs every test under CTest.
#
#   tests/run.sh [-L LABEL]… [-R REGEX]… [--fast] [-j N] [--no-install] [--list]
#
# -L LABEL      only tests with that label (tests/README.md lists them; fuzz60 runs only when asked for so)
# -R REGEX      only tests whose name matches
# --fast        unit tests and lint alone: no second compiler, no servers, no Node
# -j N          build N at once, and run one test more than that (2): half of a test's time is waiting
# --no-install  take the machine as it is instead of running deploy/install-deps.sh
# --list        name the tests that would run, and stop
#
# The tests run on the build `asan` (gcc, AddressSanitizer and UndefinedBehaviorSanitizer); the unit tests run once more on
# the build `clang` (clang, optimised), as one CTest test named builds_clang_unit. CTest's summary is printed last and its
# status is the exit status; a build that fails ends the run with status 1 before any test.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

jobs=2 fast=0 install=1 list=0
selection=()
usage() { sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        -L | -R) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; selection+=("$1" "$2"); shift 2 ;;
        -j) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; jobs=$2; shift 2 ;;
        --fast) fast=1; shift ;;
        --no-install) install=0; shift ;;
        --list) list=1; shift ;;
        -h | --help) usage; exit 0 ;;
        *) printf 'run.sh: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
done
if ((fast)); then
    selection=(-L '^(unit|lint)$' "${selection[@]}")
fi

export LANG=C.UTF-8 TZ=UTC NO_COLOR=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:halt_on_error=1:detect_leaks=1:strict_string_checks=1:allocator_may_return_null=0:color=never}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1:color=never}
symbolizer=$(command -v llvm-symbolizer || true)
[[ -z $symbolizer ]] || export ASAN_SYMBOLIZER_PATH=$symbolizer

started=$SECONDS
say() { printf 'run.sh: [%4d s] %s\n' $((SECONDS - started)) "$*"; }

# wants REGEX: a test with such a name is among those chosen. For a build that is configured.
wants() {
    [[ ${#selection[@]} -gt 0 ]] || return 0
    ctest --test-dir build/asan -N "${selection[@]}" 2>/dev/null | grep -qE "Test +#[0-9]+: ($1)"
}

build() {
    local preset=$1 log=build/$1.log
    mkdir -p build
    say "building $preset (log: $log)"
    if ! { cmake --preset "$preset" -DCMAKE_COLOR_DIAGNOSTICS=OFF && ninja -C "build/$preset" -j "$jobs"; } >"$log" 2>&1; then
        grep -nE 'FAILED|error:|Error|undefined reference' "$log" | head -n 40 || tail -n 40 "$log"
        say "the build '$preset' failed; the whole log is $log"
        exit 1
    fi
}

# The lock file and the installed tree agree, or npm ci makes it so. No install script of any package is run (.npmrc).
node_packages() {
    local dir=$1 stamp=$1/node_modules/.falaj-lock
    [[ -f $dir/package-lock.json ]] || return 0
    if [[ -f $stamp ]] && cmp -s "$stamp" "$dir/package-lock.json"; then
        return 0
    fi
    say "installing the Node packages of $dir (log: build/npm.log)"
    if ! (cd "$dir" && npm ci --no-audit --no-fund) >build/npm.log 2>&1; then
        tail -n 30 build/npm.log
        say "npm ci failed in $dir"
        exit 1
    fi
    cp "$dir/package-lock.json" "$stamp"
}

if ((install)); then
    deploy/install-deps.sh --all
fi
PATH=$(deploy/node-env.sh)
export PATH

build asan
if ((fast == 0)) && wants builds_clang; then
    build clang
fi
if ((fast == 0)) && wants http_; then
    node_packages tests/http
fi
if ((fast == 0)) && wants console_; then
    node_packages console
    (cd console && npm run --silent build >/dev/null)
fi

# Tests that nobody runs by accident are registered for a configuration of their own name.
configuration=()
[[ " ${selection[*]:-} " != *" fuzz60 "* ]] || configuration=(-C fuzz60)

if ((list)); then
    exec ctest --test-dir build/asan -N "${configuration[@]}" "${selection[@]}"
fi
say "running the tests; logs: build/asan/Testing/Temporary/LastTest.log, results: build/asan/junit.xml"
exec ctest --test-dir build/asan -j "$((jobs + 1))" --output-on-failure --no-tests=error --output-junit "$root/build/asan/junit.xml" \
    "${configuration[@]}" "${selection[@]}"
