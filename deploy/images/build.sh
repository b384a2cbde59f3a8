#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh - makes the OCI image falaj-server from Falaj's Debian packages and Debian itself; no registry is asked.
#
#   deploy/images/build.sh [--debs DIR] [--out DIR] [--with PACKAGE]…
#
# --debs DIR       Falaj's packages; without it deploy/packages.sh builds them
# --out DIR        where falaj-server_VERSION_ARCH.oci.tar goes (build/images): `podman load`, `skopeo copy oci-archive:…`
# --with PACKAGE   one more package of Debian, as the client of an HSM
#
# In the image: falaj-server, falaj-cli, falaj-console, SoftHSM (for trying out), no package manager, no program with the rights
# of its owner, users with fixed numbers: falaj-api 10001, falaj-scheduler 10002, falaj-keyd 10003, group falaj 10000. It runs
# with a root that cannot be written. Entry: the program's name, as `falaj-api --config=/etc/falaj/api.conf`.
# Needs root, mmdebstrap and buildah (deploy/install-deps.sh --images). Exit status: 0 it is there, 1 not, 2 wrong usage.
set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$root/build/images debs='' with=softhsm2

usage() { sed -n '3,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
die() { printf 'build.sh: %s\n' "$2" >&2; exit "$1"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        --debs | --out | --with)
            [[ -n ${2:-} ]] || die 2 "$1 needs a value"
            case $1 in --debs) debs=$2 ;; --out) out=$2 ;; --with) with+=",$2" ;; esac
            shift 2 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; die 2 "unknown option '$1'" ;;
    esac
done
[[ $EUID -eq 0 ]] || die 1 "it makes a tree of Debian: run it as root"
for tool in mmdebstrap buildah dpkg-scanpackages dpkg-deb; do
    command -v "$tool" >/dev/null || die 1 "$tool is missing: apt-get install mmdebstrap buildah dpkg-dev"
done
work=$(mktemp -d /tmp/falaj-image-XXXXXX)
trap 'rm -rf -- "$work"' EXIT
chmod 0755 "$work"
if [[ -z $debs ]]; then
    debs=$work/debs
    "$root/deploy/packages.sh" --out "$debs" >&2 || die 1 "the packages could not be built; the reason stands above"
fi
mkdir -p "$work/repo" "$out"
for name in falaj-server falaj-cli falaj-console; do
    compgen -G "$debs/${name}_*.deb" >/dev/null || die 1 "$debs has no $name"
    cp "$debs/${name}"_*.deb "$work/repo/"
done
(cd "$work/repo" && dpkg-scanpackages -m . /dev/null >Packages 2>/dev/null)
one=$(echo "$work"/repo/falaj-server_*.deb)
version=$(dpkg-deb -f "$one" Version) arch=$(dpkg-deb -f "$one" Architecture)
# The time of the last change of the packages' changelog, so that the same packages make the same tree.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(dpkg-parsechangelog -l "$root/debian/changelog" -S Timestamp)}
export SOURCE_DATE_EPOCH

# Debian comes from where this machine has it from.
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [[ ! -s $file ]] || sources+=("$file")
done
((${#sources[@]})) || die 1 "this machine has no sources of Debian in /etc/apt"

# Users before the packages, whose own sysusers then leave them alone. apt and what it keeps go; dpkg's list stays, for scanners.
# passwd: SoftHSM's package calls groupadd without naming who has it.
mmdebstrap --quiet --variant=essential --mode=root --format=tar --skip=cleanup/apt \
    --include="passwd,falaj-server,falaj-console,ca-certificates,openssl,$with" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --essential-hook='echo falaj:x:10000: >>"$1/etc/group"; for u in api:10001 scheduler:10002 keyd:10003; do
        echo "falaj-${u%:*}:x:${u#*:}:10000::/var/lib/falaj:/usr/sbin/nologin" >>"$1/etc/passwd"; done' \
    --customize-hook='find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +' \
    --customize-hook='cd "$1" && rm -rf var/lib/apt etc/apt/sources.list* var/cache/* var/log/* etc/hostname etc/resolv.conf' \
    --customize-hook='install -d -o 10001 -g 10000 "$1"/var/lib/falaj' \
    bookworm "$work/tree.tar" "${sources[@]}" "deb [trusted=yes] copy:$work/repo ./" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; die 1 "no tree of Debian could be made"; }

store=(--storage-driver vfs --root "$work/store" --runroot "$work/run")
image=$(buildah "${store[@]}" from --quiet scratch)
buildah "${store[@]}" add --quiet "$image" "$work/tree.tar" / >/dev/null
buildah "${store[@]}" config --user 10001:10000 --workingdir / --env PATH=/usr/sbin:/usr/bin --env LC_ALL=C.UTF-8 \
    --cmd '["falaj-api", "--help"]' --port 8080 --port 8443 --stop-signal SIGTERM \
    --label org.opencontainers.image.title=falaj-server \
    --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=Apache-2.0 "$image"
file=$out/falaj-server_${version}_$arch.oci.tar
rm -f "$file"
buildah "${store[@]}" commit --quiet --format oci --timestamp "$SOURCE_DATE_EPOCH" "$image" \
    "oci-archive:$file:falaj-server:$version" >/dev/null
echo "$file"
