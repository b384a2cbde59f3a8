#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh - checks this archive of Falaj and installs packages from it on Debian 12.
#
#   ./install.sh --key FILE [--offline] server|worker|verify
#
# server      falaj-server, its console, documents and command line, PostgreSQL, Redis and SoftHSM
# worker      falaj-worker, the command line, bubblewrap
# verify      check the archive, install nothing
# --key FILE  the public key of those who made the archive (PEM), which came by another way than the archive
# --offline   take everything from the archive; without it what it lacks may come from the machine's own sources
#
# Nothing is installed before the signature and every file were found right. Then: falaj-setup (docs/howto/install-packages.md).
# Exit status: 0 done, 1 apt could not install, 2 wrong usage, 3 the archive is not what was signed: the file is named.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
key='' offline=0 what=''

usage() { sed -n '3,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
die() { printf 'install.sh: %s\n' "$2" >&2; exit "$1"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        --key) [[ -n ${2:-} ]] || die 2 "--key needs a file"; key=$2; shift 2 ;;
        --offline) offline=1; shift ;;
        server | worker | verify) [[ -z $what ]] || die 2 "one of server, worker, verify"; what=$1; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; die 2 "unknown word '$1'" ;;
    esac
done
[[ -n $what ]] || { usage >&2; die 2 "server, worker or verify is missing"; }
[[ -r $key ]] || die 2 "--key FILE is needed: the public key that came by another way than this archive"
key=$(realpath -- "$key")       # as the caller sees it: check goes into the archive, which may have a file of that name
[[ $key != "$here"/* ]] || die 2 "$key came with the archive: a key that travels with what it signs proves nothing"
command -v openssl >/dev/null || die 1 "openssl is missing, without which no signature can be checked. It is on \
Debian's own medium (apt-get install openssl)"

# refuse FILE REASON: names each file; the last word of check is one exit for all of them.
bad=0
refuse() { printf 'install.sh: %s: %s\n' "$1" "$2" >&2; bad=$((bad + 1)); }

check() {
    cd "$here"
    [[ -f SHA256SUMS && -f SHA256SUMS.sig ]] || die 3 "SHA256SUMS or its signature is missing: this is not the whole archive"
    openssl pkeyutl -verify -rawin -pubin -inkey "$key" -sigfile SHA256SUMS.sig -in SHA256SUMS >/dev/null 2>&1 ||
        die 3 "SHA256SUMS is not signed by the key in $key: it was changed, or another key made it. Nothing was installed"
    local sum name
    declare -A listed=()
    while IFS= read -r line; do
        sum=${line%%  *} name=${line#*  }
        [[ $sum =~ ^[0-9a-f]{64}$ && -n $name && /$name/ != */../* && $name != /* ]] ||
            die 3 "SHA256SUMS has a line that is none: $line"
        listed[$name]=1
        if [[ ! -f $name || -L $name ]]; then
            refuse "$name" "is missing"
        elif [[ $(sha256sum <"$name") != "$sum  -" ]]; then
            refuse "$name" "was changed: it has not the digest that was signed"
        fi
    done <SHA256SUMS
    while IFS= read -r -d '' name; do
        [[ -n ${listed[$name]:-} || $name == SHA256SUMS || $name == SHA256SUMS.sig ]] ||
            refuse "$name" "was added: it is not in SHA256SUMS"
    done < <(find . -mindepth 1 -not -type d -printf '%P\0')
    ((bad == 0)) || die 3 "the archive is not what was signed; nothing was installed. Bring it again"
    printf 'checked      %d files against the signature of %s\n' "${#listed[@]}" \
        "$(openssl pkey -pubin -in "$key" -outform DER | sha256sum | cut -c1-16)"
}

check
[[ $what != verify ]] || exit 0
[[ $EUID -eq 0 ]] || die 1 "it installs packages: run it as root"
case $what in
    server) packages=(falaj-server falaj-cli falaj-console falaj-doc postgresql-15 postgresql-client-15 redis-server softhsm2) ;;
    worker) packages=(falaj-worker falaj-cli bubblewrap) ;;
esac
tmp=$(mktemp -d /tmp/falaj-install-XXXXXX)
trap 'rm -rf -- "$tmp"' EXIT
ln -s "$here/packages" "$tmp/packages"        # a name without blanks
mkdir -p "$tmp/lists/partial"
printf 'deb [trusted=yes] file:%s/packages ./\n' "$tmp" >"$tmp/falaj.list" # trusted: each file was checked above
apt=(apt-get -q -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root -o APT::Install-Recommends=0 -o DPkg::Lock::Timeout=120
    -o "Dir::State::lists=$tmp/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
if ((offline)); then
    apt+=(-o "Dir::Etc::sourcelist=$tmp/falaj.list" -o Dir::Etc::sourceparts=-)
else
    mkdir "$tmp/sources"
    cp -a /etc/apt/sources.list.d/. "$tmp/sources/" 2>/dev/null || true
    cp "$tmp/falaj.list" "$tmp/sources/"
    apt+=(-o "Dir::Etc::sourceparts=$tmp/sources")
fi
export DEBIAN_FRONTEND=noninteractive
"${apt[@]}" update >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; die 1 "apt could not read the packages of the archive"; }
"${apt[@]}" install "${packages[@]}" >"$tmp/log" 2>&1 ||
    { tail -n 30 "$tmp/log" >&2; die 1 "apt could not install; its reason stands above"; }
for p in "${packages[@]}"; do
    printf 'installed    %s\n' "$(dpkg-query -W -f '${Package} ${Version}' "$p")"
done
printf 'next         falaj-setup %s --help\n' "$what"
