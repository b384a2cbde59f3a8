#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh - makes one signed archive from which Falaj is installed on machines without the internet.
#
#   deploy/airgap/build.sh --sign-key FILE [--out DIR] [--debs DIR] [--without-debian]
#
# --sign-key FILE    Ed25519 private key (openssl genpkey -algorithm ed25519 -out FILE); its public half (openssl pkey -in FILE
#                    -pubout) goes to those who install, by another way than the archive
# --out DIR          where falaj-airgap_VERSION_ARCH.tar goes (build/airgap)
# --debs DIR         Falaj's packages; without it deploy/packages.sh builds them
# --without-debian   leave out what the packages need of Debian: the machines have a mirror of it inside
#
# In the archive: install.sh, packages/ (Falaj's and all they need of Debian, with an index for apt), docs/, sbom/ (CycloneDX and
# SPDX), SHA256SUMS of every file and SHA256SUMS.sig. The same packages make the same archive, byte for byte.
# Exit status: 0 it is there, 1 not, 2 wrong usage.
set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# What a server, a machine and its database need beside Falaj; install.sh installs of these what it is asked for.
debian=(postgresql-15 postgresql-client-15 redis-server softhsm2 bubblewrap ca-certificates openssl)
out=$root/build/airgap debs='' sign_key='' with_debian=1

usage() { sed -n '3,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
die() { printf 'build.sh: %s\n' "$2" >&2; exit "$1"; }
while [[ $# -gt 0 ]]; do
    case $1 in
        --sign-key | --out | --debs)
            [[ -n ${2:-} ]] || die 2 "$1 needs a value"
            case $1 in --sign-key) sign_key=$2 ;; --out) out=$2 ;; --debs) debs=$2 ;; esac
            shift 2 ;;
        --without-debian) with_debian=0; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; die 2 "unknown option '$1'" ;;
    esac
done
[[ -r $sign_key ]] || die 2 "--sign-key FILE is needed: openssl genpkey -algorithm ed25519 -out FILE"
openssl pkey -in "$sign_key" -noout -text 2>/dev/null | grep -q '^ED25519' || die 2 "$sign_key is no Ed25519 private key"
for tool in dpkg-scanpackages dpkg-deb apt-get python3; do
    command -v "$tool" >/dev/null || die 1 "$tool is missing: apt-get install dpkg-dev python3"
done

work=$(mktemp -d /tmp/falaj-airgap-XXXXXX)
trap 'rm -rf -- "$work"' EXIT
chmod 0755 "$work"
if [[ -z $debs ]]; then
    debs=$work/debs
    "$root/deploy/packages.sh" --out "$debs" >&2 || die 1 "the packages could not be built; the reason stands above"
fi
[[ -d $debs ]] || die 2 "there is no folder $debs"
debs=$(cd "$debs" && pwd) # apt takes a name with a leading / for a file, and others for packages
mapfile -t ours < <(find "$debs" -name '*.deb' -not -name '*-dbgsym_*' | sort)
((${#ours[@]})) || die 1 "no packages in $debs"
version=$(dpkg-deb -f "${ours[0]}" Version)
arch=all
for deb in "${ours[@]}"; do
    of=$(dpkg-deb -f "$deb" Architecture)
    [[ $of == all ]] || arch=$of
done
name=falaj-airgap_${version}_$arch
top=$work/$name
mkdir -p "$top/packages" "$top/sbom" "$out"
install -m 0644 -t "$top/packages" "${ours[@]}"

# All that they need, as if nothing at all were installed: what a machine has already, apt leaves alone there.
closure() {
    mkdir -p "$work/apt/partial"
    : >"$work/status"
    local apt=(apt-get -q -y -o "Dir::State::status=$work/status" -o "Dir::Cache::archives=$work/apt" -o Debug::NoLocking=1
        -o APT::Sandbox::User=root -o APT::Install-Recommends=0 -o Acquire::Retries=3)
    "${apt[@]}" install --download-only "${debian[@]}" "${ours[@]}" >"$work/apt.log" 2>&1 ||
        { tail -n 20 "$work/apt.log" >&2; die 1 "apt could not get what the packages need (apt-get update?)"; }
    find "$work/apt" -name '*.deb' -exec install -m 0644 -t "$top/packages" {} +
}
((!with_debian)) || closure

(cd "$top" && dpkg-scanpackages -m packages /dev/null >packages/Packages 2>"$work/scan.log") ||
    { cat "$work/scan.log" >&2; exit 1; }
sed -i 's#^Filename: packages/#Filename: ./#' "$top/packages/Packages"
install -m 0755 "$root/deploy/airgap/install.sh" "$top/install.sh"
mkdir -p "$top/docs"
cp -r "$root"/docs/{howto,quickstart.ar.md,threat-model.md,audit-format.md,gen} "$top/docs/"
cp "$root/CHANGELOG.md" "$root/LICENSE" "$top/docs/"
epoch=$(dpkg-parsechangelog -l "$root/debian/changelog" -STimestamp)
python3 "$root/deploy/airgap/sbom.py" --packages "$top/packages" --console "$root/console/package-lock.json" \
    --version "$version" --epoch "$epoch" --out "$top/sbom" || die 1 "the bill of materials could not be written"

(cd "$top" && find . -type f -not -name 'SHA256SUMS*' -printf '%P\n' | sort | xargs -d '\n' sha256sum >SHA256SUMS)
openssl pkeyutl -sign -rawin -inkey "$sign_key" -in "$top/SHA256SUMS" -out "$top/SHA256SUMS.sig" || die 1 "signing failed"
tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --format=gnu \
    -C "$work" -cf "$work/$name.tar" "$name"
mv -f "$work/$name.tar" "$out/$name.tar"
printf '%s: %d files, %d MB\n' "$out/$name.tar" "$(wc -l <"$top/SHA256SUMS")" $(($(stat -c %s "$out/$name.tar") >> 20))
