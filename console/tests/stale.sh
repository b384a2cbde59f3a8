#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stale.sh - src/api/schema.ts is what docs/gen/openapi.json makes; `npm run generate` brings it up to date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mktemp --suffix=.ts)
trap 'rm -f "$out"' EXIT
node_modules/.bin/openapi-typescript ../docs/gen/openapi.json -o "$out" >/dev/null
cmp -s "$out" src/api/schema.ts || { printf 'console/src/api/schema.ts is stale: run "npm run generate" in console\n' >&2; exit 1; }
