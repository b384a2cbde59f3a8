#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# typecheck.sh - the tests themselves are well typed (vitest does not look).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$(../../deploy/node-env.sh)
export PATH
if [[ ! -x node_modules/.bin/tsc ]]; then
    printf 'tests/http: the Node packages are not installed; run tests/run.sh, or npm ci in tests/http\n' >&2
    exit 1
fi
exec node_modules/.bin/tsc --noEmit
