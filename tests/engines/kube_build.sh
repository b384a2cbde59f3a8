#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kube_build.sh - makes kube-apiserver, kube-controller-manager and kube-scheduler of Debian 12's source package `kubernetes`
# (1.20.2), which Debian builds no servers of, for tests/engines/kubernetes.py. Once: what is there is left alone.
#
#   tests/engines/kube_build.sh [FOLDER]      (default: ~/.cache/falaj/kubernetes); the programs come into FOLDER/bin
#
# The source comes by apt from where this machine has Debian from; its lists are kept in FOLDER, and /etc/apt is only read.
# Needs golang-go (1.19), make, rsync, dpkg-dev and 4 GiB there; 7 minutes on two processors. Programs of any version will do
# instead: name their folder in
# KUBE_BIN. Exit status: 0 they are there, 1 not.
set -euo pipefail
export LC_ALL=C.UTF-8
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/falaj/kubernetes}
programs=(kube-apiserver kube-controller-manager kube-scheduler)
die() { printf 'kube_build.sh: %s\n' "$1" >&2; exit 1; }
there() { for p in "${programs[@]}"; do [[ -x $folder/bin/$p ]] || return 1; done; }
if there; then
    printf '%s\n' "$folder/bin"
    exit 0
fi
for tool in go make rsync dpkg-source apt-get python3; do
    command -v "$tool" >/dev/null || die "$tool is missing: apt-get install golang-go make rsync dpkg-dev"
done
mkdir -p "$folder"/{lists/partial,bin,cache}
folder=$(cd "$folder" && pwd)
# Each place of Debian that packages come from, as a place of sources.
python3 - >"$folder/src.list" <<'P'
import glob, re
for path in glob.glob("/etc/apt/sources.list") + glob.glob("/etc/apt/sources.list.d/*.list"):
    for line in open(path, encoding="utf-8"):
        if re.match(r"deb\s.*\bbookworm", line):
            print(re.sub(r"^deb\b", "deb-src", line).strip())
for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
    for part in re.split(r"\n\s*\n", open(path, encoding="utf-8").read()):
        own = dict(re.findall(r"^([A-Za-z-]+):[ \t]*(.+)$", part, re.M))
        if "bookworm" in own.get("Suites", ""):
            key = f"[signed-by={own['Signed-By']}] " if "Signed-By" in own else ""
            for uri in own["URIs"].split():
                for suite in own["Suites"].split():
                    print(f"deb-src {key}{uri} {suite} {own.get('Components', '')}")
P
[[ -s $folder/src.list ]] || die "this machine has no sources of Debian 12 in /etc/apt"
own=(-o "Dir::Etc::SourceList=$folder/src.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$folder/lists"
    -o "APT::Sandbox::User=$(id -un)")
apt-get "${own[@]}" -qq update || die "apt has no lists of sources"
cd "$folder"
rm -rf src
apt-get "${own[@]}" -qq --download-only source kubernetes || die "apt has no source of kubernetes"
dpkg-source --no-check -x kubernetes_*.dsc src >/dev/null         # apt has checked it
cd src
# Its own Makefile, with what is in the package: nothing is fetched.
env -u GOFLAGS GOPATH="$PWD/.go" GO111MODULE=auto GOPROXY=off CGO_ENABLED=0 GOCACHE="$folder/cache" \
    make WHAT="cmd/kube-apiserver cmd/kube-controller-manager cmd/kube-scheduler" >"$folder/build.log" 2>&1 ||
    { tail -n 20 "$folder/build.log" >&2; die "it could not be built; all of it stands in $folder/build.log"; }
for p in "${programs[@]}"; do
    cp "_output/bin/$p" "$folder/bin/$p"
done
cd "$folder"
rm -rf src cache
there || die "the programs are not there after the build"
printf '%s\n' "$folder/bin"
