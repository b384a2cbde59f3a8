#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# node-env.sh - prints the PATH with which the tests find a Node that is new enough.
#
#   PATH=$(deploy/node-env.sh) npm ci
#
# build/node/bin comes first when deploy/install-deps.sh had to put a Node there; else the PATH is printed unchanged.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -x $root/build/node/bin/node ]]; then
    printf '%s\n' "$root/build/node/bin:$PATH"
else
    printf '%s\n' "$PATH"
fi
