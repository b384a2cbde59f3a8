#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-one.sh FILE [OPTION…] - one test file, as CTest runs it, with options of vitest. FALAJ_BIN names the built binaries,
# FALAJ_PLATFORM the platform to use (platform.setup.ts).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for name in falaj falaj-api falaj-scheduler falaj-keyd falaj-worker falaj-migrate; do
    if [[ ! -x ${FALAJ_BIN:?the directory of the built binaries}/$name ]]; then
        printf 'tests/http: %s is not built\n' "$FALAJ_BIN/$name" >&2
        exit 1
    fi
done
PATH=$(../../deploy/node-env.sh)
export PATH NO_COLOR=1
if [[ ! -x node_modules/.bin/vitest ]]; then
    printf 'tests/http: the Node packages are not installed; run tests/run.sh, or npm ci in tests/http\n' >&2
    exit 1
fi
exec node_modules/.bin/vitest run --no-color "$@"
