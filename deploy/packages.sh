#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh - builds the Debian packages of this tree into a folder, and checks them.
#
#   deploy/packages.sh [--out DIR] [--twice]
#
# --out DIR   where they go (build/packages)
# --twice     builds a second time from a copy in another folder and compares every byte
#
# Needs debhelper and lintian (apt-get install debhelper lintian) beside what deploy/install-deps.sh --build --console installs.
# The last
# line names the packages. Exit status: 0 built and without error of lintian, 1 not, 2 wrong usage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/packages twice=0
while [[ $# -gt 0 ]]; do
    case $1 in
        --out) out=$(mkdir -p "$2" && cd "$2" && pwd); shift 2 ;;
        --twice) twice=1; shift ;;
        *) sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; [[ $1 == -h || $1 == --help ]] && exit 0 || exit 2 ;;
    esac
done
for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || { echo "packages.sh: $tool is missing: apt-get install debhelper lintian" >&2; exit 1; }
done

# build DIR: from a copy of the tree as it was when this began, in a folder of its own, so that nothing of this tree's own builds
# goes in and that both builds are of the same files, whatever is edited meanwhile.
build() {
    mkdir -p "$1"
    cp -a "$work/tree" "$1/source"
    [[ -d $1/source/console/dist ]] || (cd "$1/source/console" && npm ci --no-audit --no-fund >"$1/npm.log" 2>&1) ||
        { tail -n 30 "$1/npm.log" >&2; exit 1; }
    (cd "$1/source" && dpkg-buildpackage -us -uc -b "-j$(nproc)" >"$1/build.log" 2>&1) ||
        { tail -n 30 "$1/build.log" >&2; exit 1; }
}

# differs ONE OTHER: the names of what is in both packages with other bytes, and of what is in one of them alone.
differs() {
    local side one=$1 other=$2
    for side in one other; do
        mkdir -p "$work/differs/$side"
        dpkg-deb --raw-extract "${!side}" "$work/differs/$side"
    done
    diff --recursive --brief --no-dereference "$work/differs/one" "$work/differs/other" | sed "s|$work/differs/||g"
    rm -rf -- "$work/differs"
}

work=$(mktemp -d /tmp/falaj-packages-XXXXXX)
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/tree"
git -C "$root" ls-files -z | (cd "$root" && xargs -0 cp --parents -t "$work/tree")
[[ ! -d $root/console/dist ]] || cp -a "$root/console/dist" "$work/tree/console/"
build "$work/one"
lintian --allow-root --fail-on error "$work"/one/*.changes
if ((twice)); then
    build "$work/another-name"
    same=1
    for one in "$work"/one/*.deb; do
        other=$work/another-name/$(basename "$one")
        cmp --silent "$one" "$other" ||
            { echo "packages.sh: $(basename "$one") differs between two builds:" >&2
              differs "$one" "$other" >&2 || true
              same=0; }
    done
    ((same)) || exit 1
    echo "two builds are the same, byte for byte"
fi
mkdir -p "$out"
cp "$work"/one/*.deb "$out/"
ls "$out"/*.deb
