#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# functions.sh - a function, trigger or view has one place: migrations/functions/NAME.sql, which falaj-migrate applies again when it
# changes (what migrations call: migrations/helpers/). Numbered migrations above 0021 make none, and a file makes the one it is named for.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

last_free=21
made='CREATE[[:space:]]+(OR[[:space:]]+REPLACE[[:space:]]+)?(CONSTRAINT[[:space:]]+)?(FUNCTION|PROCEDURE|TRIGGER|VIEW)\b'
while IFS= read -r file; do
    base=${file##*/}
    ((10#${base%%_*} > last_free)) || continue
    while IFS=: read -r line _; do
        bad "$file:$line" "functions, triggers and views stand in migrations/functions/, not in numbered migrations"
    done < <(grep -niE "$made" "$file" || true)
done < <(files 'migrations/[0-9][0-9][0-9][0-9]_*.sql')

while IFS= read -r file; do
    name=${file##*/}
    name=${name%.sql}
    grep -qiE "CREATE OR REPLACE (FUNCTION|VIEW|TRIGGER) $name\b" "$file" || bad "$file:1" "does not make the $name it is named for (with OR REPLACE)"
    while IFS=: read -r line _; do
        bad "$file:$line" "CREATE without OR REPLACE: the file is applied again whenever it changes"
    done < <(grep -nE '^CREATE (FUNCTION|VIEW|TRIGGER)' "$file" || true)
done < <(files 'migrations/functions/*.sql' 'migrations/helpers/*.sql')

# Each is made in one file only.
files 'migrations/functions/*.sql' 'migrations/helpers/*.sql' | xargs -r -d '\n' grep -HnoE '^CREATE OR REPLACE (FUNCTION|VIEW) \w+' |
    awk -F: '{ if ($3 in first) print $1 ":" $2 "\tstands in " first[$3] " already: " $3; else first[$3] = $1 }' >"$scratch/twice"
take_findings <"$scratch/twice"
finish
