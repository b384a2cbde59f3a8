#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-one.sh CHECK - one check of the console, as CTest runs it: static, unit, kinds (of tampering, by three verifiers), budget,
# smoke, pages, states, flows, both, inside, acts-govern, acts-people, speed or task-PERSON. Says why and ends with 77 where its Node packages, its build
# or Chromium are not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$(../deploy/node-env.sh)
export PATH NO_COLOR=1
if [[ ! -x node_modules/.bin/vite ]]; then
    printf 'skipped: the Node packages of the console are not installed; run npm ci in console\n'
    exit 77
fi
case ${1:?which check} in
    static)
        node generate.mjs
        node node_modules/typescript7/bin/tsc --noEmit
        node_modules/.bin/prettier --check --log-level warn src tests ./*.ts ./*.js ./*.mjs
        node_modules/.bin/eslint --max-warnings 0 src tests
        node_modules/.bin/stylelint 'src/**/*.css' ;;
    unit) node generate.mjs && exec node_modules/.bin/vitest run --no-color --exclude 'tests/audit/{kinds,fork}.test.ts' ;;
    kinds) node generate.mjs && exec node_modules/.bin/vitest run --no-color tests/audit/kinds.test.ts tests/audit/fork.test.ts ;;
    budget | smoke | pages | states | flows | both | inside | acts-* | speed | task-*)
        if [[ ! -f dist/index.html ]]; then
            printf 'skipped: the console is not built; run npm run build in console\n'
            exit 77
        fi
        case $1 in
            budget) exec node tests/budget.mjs ;;
            task-*) exec node "tests/browser/tasks/${1#task-}.mjs" "${FALAJ_SHOTS:-}" ;;
            *) exec node "tests/browser/$1.mjs" "${FALAJ_SHOTS:-}" ;;
        esac ;;
    *) exit 2 ;;
esac
