#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh - from a fresh clone to a trained, served and audited model: installs what is missing, builds, starts the
# whole platform on this machine and does the main job in front of your eyes.
#
#   deploy/quickstart.sh [--check] [--data DIR] [--port N] [--no-install] [--no-build] [--no-console]
#
# --check       unattended: stops everything at the end and prints one JSON object as the last line
# --data DIR    data folder ($XDG_DATA_HOME/falaj, for root /var/lib/falaj-dev; with --check a folder that is removed)
# --port N      port of the API (8080, or the next free one; with --check any free one)
# --no-install  take the machine as it is            --no-build  take build/release and console/dist as they are
# --no-console  neither build nor serve the web console
#
# Without --check the platform stays running. Running it again works: what is there is taken up again.
# Exit status: 0 all steps worked; otherwise the reason and the place of the log stand on standard error.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

check=0 install=1 build=1 console=1 data='' port=''
usage() { sed -n '6,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        --check) check=1; shift ;;
        --no-install) install=0; shift ;;
        --no-build) build=0; shift ;;
        --no-console) console=0; shift ;;
        --data | --port) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; printf -v "${1#--}" '%s' "$2"; shift 2 ;;
        -h | --help) usage; exit 0 ;;
        *) printf 'quickstart: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
    esac
done

say() { printf '%s\n' "$*" >&2; }
now() { printf '%s' "$EPOCHREALTIME"; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f", b - a }'; }

[[ -f console/package.json ]] || console=0
began=$(now) install_s=0 build_s=0 console_s=0 log=$root/build/quickstart.log scratch=''
falaj=$root/build/release/bin/falaj
mkdir -p build

finish() {
    local rc=$?
    trap - EXIT INT TERM
    if ((check)) && [[ -n $data && -x $falaj ]]; then
        "$falaj" dev stop --data "$data" --quiet >/dev/null 2>&1 || true
    fi
    if ((rc != 0)); then
        say "quickstart: failed (status $rc)."
        [[ -z $data || ! -d $data/log ]] || say "  the logs of the platform are in $data/log"
    elif [[ -n $scratch ]]; then
        "$falaj" dev remove --yes --data "$data" --quiet >/dev/null 2>&1 || true
        rm -rf -- "$scratch"
    fi
    exit "$rc"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ((install)); then
    start=$(now)
    say "Installing what is missing …"
    wanted=(--build --run)
    ((console == 0 || build == 0)) || wanted+=(--console)
    deploy/install-deps.sh "${wanted[@]}" >&2
    install_s=$(since "$start")
fi
if ((build)); then
    start=$(now)
    say "Building the release (log: $log) …"
    if ! { cmake --preset release && cmake --build build/release --target programs; } >"$log" 2>&1; then
        grep -nE 'FAILED|error:|CMake Error|undefined reference' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
        say "quickstart: the build failed; the whole log is $log"
        exit 1
    fi
    build_s=$(since "$start")
    say "Built in $build_s s."
fi

# From the lockfile, without a script of any package; the same lockfile makes the same files.
build_console() {
    local PATH
    PATH=$(deploy/node-env.sh)
    export PATH
    (cd console && npm ci --ignore-scripts --no-audit --no-fund && npm run build) && node deploy/compress-console.mjs console/dist
}
if ((console && build)); then
    start=$(now)
    say "Building the web console (log: build/console.log) …"
    if ! build_console >build/console.log 2>&1; then
        tail -n 20 build/console.log >&2
        say "quickstart: the web console was not built; the whole log is $root/build/console.log (--no-console goes on without it)"
        exit 1
    fi
    console_s=$(since "$start")
    say "Built in $console_s s."
fi
[[ -x $falaj ]] || { say "quickstart: $falaj is not there; run without --no-build"; exit 1; }

if ((check)) && [[ -z $data ]]; then
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/falaj-check-XXXXXX")
    data=$scratch/data
fi
if ((check)); then
    FALAJ_CONFIG_DIR=$(mktemp -d "${scratch:-${TMPDIR:-/tmp}}/falaj-config-XXXXXX")   # no profile of the person is touched
    export FALAJ_CONFIG_DIR
    [[ -n $port ]] || port=0
fi
where=() page=()
((console)) || page=(--no-console)
[[ -z $data ]] || where=(--data "$data")

# Last on the screen, so that it is found.
tell_console() {
    local at folder tenant name password
    at=$("$falaj" dev status "${where[@]}" -o jsonpath=.console_url 2>/dev/null) || return 0
    folder=$("$falaj" dev status "${where[@]}" -o jsonpath=.data_dir)
    [[ -n $at ]] || return 0
    read -r tenant name password <"$folder/secrets/admin-login" || [[ -n ${password:-} ]] || return 0
    say ""
    say "Console $at  login $tenant / $name / $password"
}

start=$(now)
say "Starting the platform …"
if ! "$falaj" dev status "${where[@]}" >/dev/null 2>&1; then
    "$falaj" dev --detach "${where[@]}" "${page[@]}" ${port:+--port "$port"} >&2
fi
start_s=$(since "$start")

if ((check == 0)); then
    say ""
    "$falaj" demo "${where[@]}"
    tell_console
    exit
fi
result=$("$falaj" demo --json "${where[@]}")
"$falaj" dev stop "${where[@]}" --quiet
printf '%s,"install_s":%s,"build_s":%s,"console_s":%s,"start_s":%s,"total_s":%s}\n' "${result%\}}" "$install_s" "$build_s" "$console_s" "$start_s" "$(since "$began")"
