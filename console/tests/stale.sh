#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stale.sh - src/api/schema.ts and src/api/roles.ts are what docs/gen makes of them; `npm run generate` brings them up to date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mktemp --suffix=.ts)
trap 'rm -f "$out"' EXIT
node_modules/.bin/openapi-typescript ../docs/gen/openapi.json -o "$out" >/dev/null
cmp -s "$out" src/api/schema.ts || { printf 'console/src/api/schema.ts is stale: run "npm run generate" in console\n' >&2; exit 1; }
node tests/permissions.mjs "$out"
cmp -s "$out" src/api/roles.ts || { printf 'console/src/api/roles.ts is stale: run "npm run generate" in console\n' >&2; exit 1; }
