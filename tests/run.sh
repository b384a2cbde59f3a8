#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh - the whole check of a change: builds what the chosen tests need, then runs them under CTest.
#
#   tests/run.sh [--fast | --full] [-L LABEL]… [-R REGEX]… [-j N] [--no-install] [--list]
#
# --fast        unit tests and lint alone: no servers of the platform, no Node; three minutes with a warm build
# --full        everything: the second compiler, long fuzzing, long faults, every look of the console, stress, mutants
# -L LABEL      only tests with that label (tests/README.md lists them)
# -R REGEX      only tests whose name matches
# -j N          build N at once, and run one test more than that (2): half of a test's time is waiting
# --no-install  take the machine as it is instead of running deploy/install-deps.sh
# --list        name the tests that would run, and stop
#
# The tests run on the build `asan` (gcc, AddressSanitizer and UndefinedBehaviorSanitizer); with --full the unit tests run once more on
# the build `clang` (clang, optimised). Before CTest's summary stand the minutes of each label and what is over its budget; the summary is
# printed last and its status is the exit status. A build that fails ends the run with status 1 before any test, and a disk with
# too little room for it before the build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

jobs=2 tier=default install=1 list=0
selection=()
usage() { sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        -L | -R) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; selection+=("$1" "$2"); shift 2 ;;
        -j) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; jobs=$2; shift 2 ;;
        --fast | --full) tier=${1#--}; shift ;;
        --no-install) install=0; shift ;;
        --list) list=1; shift ;;
        -h | --help) usage; exit 0 ;;
        *) printf 'run.sh: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
done
# Tests of the full tier alone are registered for a configuration of that name; how much of a count a test does, it reads in FALAJ_TIER.
configuration=()
[[ $tier != fast ]] || selection=(-L '^(unit|lint)$' "${selection[@]}")
[[ $tier != full ]] || configuration=(-C full)
export FALAJ_TIER=$tier

export LANG=C.UTF-8 TZ=UTC NO_COLOR=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=0:halt_on_error=1:detect_leaks=1:strict_string_checks=1:allocator_may_return_null=0:color=never}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1:color=never}

# shellcheck source=tests/lib/words.sh
source tests/lib/words.sh
started=$SECONDS
say() { printf 'run.sh: [%4d s] %s\n' $((SECONDS - started)) "$*"; }

# wants REGEX: a test with such a name is among those chosen (names is set once the build is configured).
names=''
wants() { [[ $names =~ Test\ +#[0-9]+:\ $1 ]]; }

# ccache, where there is one, keeps what it compiled inside the folder unless the caller says where.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache} CCACHE_DIR=${CCACHE_DIR:-$root/build/ccache}
fi

failed_build() {
    wait    # what install_rest does is not left running
    build_words "build/$1.log"
    say "the build '$1' failed; the whole log is build/$1.log"
    exit 1
}
configure() {
    mkdir -p build
    cmake --preset "$1" -DCMAKE_COLOR_DIAGNOSTICS=OFF >"build/$1.log" 2>&1 || failed_build "$1"
}
# build PRESET [TARGET…]: all targets without a name.
build() {
    local preset=$1
    shift
    say "building $preset (log: build/$preset.log)"
    ninja -C "build/$preset" -j "$jobs" "$@" >>"build/$preset.log" 2>&1 || failed_build "$preset"
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

# What the tests need beyond the build comes over the network, and one thread bundles the console: both go on while the compiler
# works.
install_rest() {
    if ((install)); then
        deploy/install-deps.sh --all
    fi
    PATH=$(deploy/node-env.sh)
    if wants http_; then
        node_packages tests/http
    fi
    if wants console_; then
        node_packages console
        (cd console && npm run --silent build >/dev/null)
    fi
}

if ((install)); then
    deploy/install-deps.sh --build
fi
configure asan
if ((list)); then
    exec ctest --test-dir build/asan -N "${configuration[@]}" "${selection[@]}"
fi
names=$(ctest --test-dir build/asan -N "${configuration[@]}" "${selection[@]}")
install_rest &
rest=$!
mapfile -t targets < <(python3 tests/lib/tier.py targets build/asan "${configuration[@]}" "${selection[@]}")
if [[ ${#targets[@]} -gt 0 ]]; then
    short=$(room_check build/asan "${targets[@]}") || { wait; say "$short"; exit 1; }
    build asan "${targets[@]}"
fi
if wants builds_clang; then
    configure clang
    build clang
fi
say "waiting for the packages, where they are not there yet"
wait "$rest" || exit 1
PATH=$(deploy/node-env.sh)
export PATH
symbolizer=$(command -v llvm-symbolizer || true)
[[ -z $symbolizer ]] || export ASAN_SYMBOLIZER_PATH=$symbolizer

junit=build/asan/junit.xml said=build/asan/ctest.out
rm -f "$junit"
say "running the tests; logs: build/asan/Testing/Temporary/LastTest.log, results: $junit"
status=0
ctest --test-dir build/asan -j "$((jobs + 1))" --output-on-failure --no-tests=error --output-junit "$root/$junit" \
    "${configuration[@]}" "${selection[@]}" 2>&1 | tee "$said" | sed -u '/^[0-9]*% tests passed/,$d' || status=${PIPESTATUS[0]}
python3 tests/lib/tier.py minutes build/asan "$junit" tests/budget.txt "$tier" "${configuration[@]}" "${selection[@]}" || true
say "the tests have run"
# CTest's own summary, held back until now.
sed -n '/^[0-9]*% tests passed/,$p' "$said"
exit "$status"
