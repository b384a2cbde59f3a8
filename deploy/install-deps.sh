#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install-deps.sh - installs what Falaj needs on Debian 12, and nothing that is already there.
#
#   deploy/install-deps.sh [--build] [--run] [--console] [--test] [--package] [--torch] [--s3] [--ha] [--images] [--mpi]
#                          [--all] [--list]
#
# --build  compiler, linker and libraries of the programs and of the tests in C
# --run    what the daemons need at run time (PostgreSQL, Redis)
# --console  Node, which builds the web console and is not needed to run it
# --test   what tests/run.sh and the benches need beyond these: psql, ctags, wrk, Node, Chromium, Slurm
# --torch    PyTorch with OpenBLAS, which reads model files, and scikit-learn, beside whose trees ours are judged, in the full
#            tier of the tests (1 GB); not part of --all
# --package  what makes Debian packages and tries them in a tree of their own, and promtool; not part of --all
# --s3     Ceph with its radosgw, a real S3 store for the full tier of the tests (320 MB); not part of --all
# --ha     HAProxy, Patroni, etcd and nft, for the drills of a highly available site in the full tier; not part of --all
# --images what makes container images, and looks at compose files; not part of --all
# --mpi    OpenMPI, for the full tier of the tests; not part of --all
# --all    all of the others (also the default)
# --list   print the packages of the chosen groups and stop
#
# Debian starts a PostgreSQL cluster and a Redis server when their packages are installed. Falaj runs its own, so both are
# held back while this script installs; services that run already are not touched. Runs as root or through sudo, asks nothing.
# Exit status: 0 everything is there, 1 a package could not be installed, 2 wrong usage or not Debian 12.
set -euo pipefail

# shellcheck disable=SC2034
packages_build=(build-essential gcc clang cmake ninja-build pkg-config git libmicrohttpd-dev libgnutls28-dev libssl-dev libpq-dev
    libhiredis-dev libjansson-dev libjwt-dev libargon2-dev libcurl4-openssl-dev libp11-kit-dev zlib1g-dev libzstd-dev
    libcmocka-dev lld python3)
# shellcheck disable=SC2034
packages_run=(postgresql-15 redis-server ca-certificates softhsm2 bubblewrap)
# shellcheck disable=SC2034
packages_test=(libclang-rt-14-dev llvm perl openssl curl postgresql-client-15 wrk universal-ctags
    chromium zsh fish python3-onnx busybox-static slurm-wlm slurmrestd slurm-wlm-basic-plugins slurm-wlm-jwt-plugin munge)
# shellcheck disable=SC2034
packages_console=()
# shellcheck disable=SC2034
packages_torch=(python3-torch libopenblas0-pthread python3-numpy python3-sklearn)
# shellcheck disable=SC2034
packages_s3=(ceph-mon ceph-mgr ceph-osd radosgw ceph-common)
# shellcheck disable=SC2034
packages_ha=(haproxy patroni etcd-server nftables)
# shellcheck disable=SC2034
packages_package=(debhelper lintian debootstrap prometheus)
# shellcheck disable=SC2034
packages_images=(mmdebstrap buildah docker-compose)
# shellcheck disable=SC2034
packages_mpi=(openmpi-bin)
node_minimum=20.19.0
node_pinned=20.20.2
npm_pinned=10.9.9 # Debian's 9 is refused by the engines field of a linter of the HTTP tests

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf 'install-deps: %s\n' "$*"; }
die() { printf 'install-deps: %s\n' "$2" >&2; exit "$1"; }
usage() { sed -n '3,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

want=() groups=() list=0
for arg in "$@"; do
    case $arg in
        --build | --run | --console | --test | --package | --torch | --s3 | --ha | --images | --mpi) groups+=("${arg#--}") ;;
        --all) groups+=(build run console test) ;;
        --list) list=1 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; die 2 "unknown option '$arg'" ;;
    esac
done
[[ ${#groups[@]} -gt 0 ]] || groups=(build run console test)
needs_node=0
for group in "${groups[@]}"; do
    declare -n packages=packages_$group
    want+=("${packages[@]}")
    [[ $group != test && $group != console ]] || needs_node=1
done
if ((list)); then
    printf '%s\n' "${want[@]}" | sort -u
    exit 0
fi

[[ -r /etc/os-release ]] || die 2 "this machine has no /etc/os-release; Falaj is built and tested on Debian 12 only"
# shellcheck disable=SC1091
distribution=$(. /etc/os-release && printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-unknown}")
if [[ $distribution != "debian 12" ]]; then
    die 2 "this machine runs '$distribution', and the package names are those of Debian 12 (bookworm). Install the equivalents
of these yourself, or use a Debian 12 machine or container: ${want[*]}"
fi

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -n -- "$@"
    else
        die 1 "root rights are needed to install packages: run this as root, or install sudo"
    fi
}

# missing_of PACKAGE…: those that dpkg does not report as installed, one per line.
missing_of() {
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | awk '$1 == "installed" { print $2 }' || true)
    comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$installed" | sort -u)
}

policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/falaj-install.conf
made_policy=0
hold_services() {
    as_root mkdir -p "${cluster%/*}"
    printf 'create_main_cluster = false\n' | as_root tee "$cluster" >/dev/null
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 0755 "$policy"
        made_policy=1
    fi
}
release_services() {
    as_root rm -f "$cluster"
    as_root rmdir "${cluster%/*}" 2>/dev/null || true
    ((made_policy == 0)) || as_root rm -f "$policy"
    made_policy=0
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
        apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@"
}

install_packages() {
    local missing=("$@") started=$SECONDS
    say "installing ${#missing[@]} packages: ${missing[*]}"
    trap release_services EXIT
    hold_services
    apt update >/dev/null || say "apt-get update failed; trying with the lists that are there"
    apt install --no-install-recommends "${missing[@]}" >/dev/null || die 1 "apt-get could not install: ${missing[*]}"
    release_services
    trap - EXIT
    say "installed in $((SECONDS - started)) s"
}

node_is_new_enough() {
    local version
    version=$("$1" --version 2>/dev/null) || return 1
    [[ $(printf '%s\n%s\n' "$node_minimum" "${version#v}" | sort -V | head -n 1) == "$node_minimum" ]]
}

# Debian 12 has Node 18 and the tools of the HTTP tests want 20.19. Node's own binary is published to npm as node-linux-<cpu>;
# it is unpacked into build/node, runs no install script and is found through deploy/node-env.sh.
install_node() {
    local cpu prefix=$root/build/node started=$SECONDS
    if command -v node >/dev/null && node_is_new_enough node && command -v npm >/dev/null; then
        return
    fi
    if ! command -v npm >/dev/null; then
        install_packages npm
    fi
    if node_is_new_enough node || { node_is_new_enough "$prefix/bin/node" && [[ -x $prefix/bin/npm ]]; }; then
        return
    fi
    case $(uname -m) in
        x86_64) cpu=x64 ;;
        aarch64) cpu=arm64 ;;
        *) die 1 "no Node $node_pinned is published for $(uname -m); install Node >= $node_minimum yourself" ;;
    esac
    say "installing Node $node_pinned into build/node (the system has $(node --version 2>/dev/null || echo none))"
    mkdir -p "$prefix/bin"
    npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$prefix" "node-linux-$cpu@$node_pinned" "npm@$npm_pinned" ||
        die 1 "npm could not fetch node-linux-$cpu@$node_pinned and npm@$npm_pinned"
    ln -sfn "../node_modules/node-linux-$cpu/bin/node" "$prefix/bin/node"
    ln -sfn ../node_modules/npm/bin/npm-cli.js "$prefix/bin/npm"
    node_is_new_enough "$prefix/bin/node" || die 1 "the Node that npm installed does not run"
    say "Node $node_pinned is in build/node after $((SECONDS - started)) s"
}

mapfile -t missing < <(missing_of "${want[@]}")
if [[ ${#missing[@]} -gt 0 ]]; then
    install_packages "${missing[@]}"
fi
((needs_node == 0)) || install_node
say "everything for $(IFS=+; echo "${groups[*]}") is installed"
