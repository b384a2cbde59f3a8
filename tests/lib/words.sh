# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# words.sh - what tests/run.sh says of a disk that has too little room for a build and of a build that failed; sourced by it.

# MiB of one test's program with its objects under the sanitizers, of the daemons with all libraries, and of what tests
# write at once (clusters, platforms). Measured: 11,080 for 788 programs, 610 for the daemons. Each is a little less, so
# that a run that might do is not ended.
program_mib=13 daemons_mib=500 tests_mib=256

# room_wanted BUILD TARGET…: MiB that come when those are built there; what is there already costs nothing more.
room_wanted() {
    local build=$1 target sum=$tests_mib
    shift
    for target; do
        case $target in
            programs) [[ -e $build/bin/falaj-worker ]] || ((sum += daemons_mib)) ;;
            *) [[ -e $build/tests/$target ]] || ((sum += program_mib)) ;;
        esac
    done
    echo "$sum"
}

# room_check BUILD TARGET…: false, with what is missing and where, when the disk has less.
room_check() {
    local wanted free
    wanted=$(room_wanted "$@")
    free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [[ $free =~ ^[0-9]+$ ]] || return 0
    ((free >= wanted)) && return 0
    printf 'the disk of %s has %d MiB free, and this run needs at least %d MiB there: ' "$1" "$free" "$wanted"
    printf 'make room, or run fewer tests (-L LABEL, -R REGEX, --fast)\n'
    return 1
}

# build_words LOG: what the tools said at each failure of a build: ninja's FAILED, its command and what stands behind it, and
# errors wherever they are; a linker that dies says so in none of the words of a compiler.
build_words() {
    awk '/^FAILED/ { left = 7 } left-- > 0 || /error:|Error|undefined reference|fatal|No space left/ {
             print FNR ": " substr($0, 1, 300); if (++n == 80) exit }' "$1" | grep . || tail -n 40 "$1"
}
