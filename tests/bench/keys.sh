#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# keys.sh - the bench of the keys: SoftHSM in a scratch folder, then sealing and hashing beside `openssl speed` on the same machine in
# the same minute, three times in turn.
#
#   tests/bench/keys.sh [BUILD]     BUILD: build/release; needs `ninja -C BUILD bench_keys falaj-keyd`
set -euo pipefail
build=${1:-build/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tokens"
printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\nlog.level = ERROR\n' "$scratch" >"$scratch/conf"
(umask 077 && echo 1234 >"$scratch/pin" && echo 56785678 >"$scratch/so")
export SOFTHSM2_CONF=$scratch/conf
module=/usr/lib/softhsm/libsofthsm2.so
"$build/bin/falaj-keyd" --log logfmt --init-token --zone ae-dxb-1 --module "$module" --token-label bench --pin-file "$scratch/pin" \
    --so-pin-file "$scratch/so" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$build/bin/bench_keys" token "$module" bench "$scratch/pin"
for round in 1 2 3; do
    printf 'round %d\n' "$round"
    openssl speed -seconds 2 -bytes 1048576 -evp aes-256-gcm 2>/dev/null | awk '/^AES-256-GCM/ { print "openssl aes-256-gcm " $2 " (kB/s)" }'
    openssl speed -seconds 2 -bytes 1048576 -evp sha256 2>/dev/null | awk '/^sha256/ { print "openssl sha256 " $2 " (kB/s)" }'
    "$build/bin/bench_keys" bulk
done
