#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-one.sh FILE - one test file, as CTest runs it. FALAJ_BIN names the built binaries.
# Skipped (77) only where this configuration builds no binaries; missing Node packages are a failure that says what to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for name in falaj falaj-api falaj-scheduler falaj-keyd falaj-worker falaj-migrate; do
    if [[ ! -x ${FALAJ_BIN:?the directory of the built binaries}/$name ]]; then
        printf 'skipped: %s is not built in this configuration\n' "$FALAJ_BIN/$name"
        exit 77
    fi
done
PATH=$(../../deploy/node-env.sh)
export PATH NO_COLOR=1
if [[ ! -x node_modules/.bin/vitest ]]; then
    printf 'tests/http: the Node packages are not installed; run tests/run.sh, or npm ci in tests/http\n' >&2
    exit 1
fi
exec node_modules/.bin/vitest run --no-color "$1"
