#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spdx.sh - the first line of a source file (the second after #!) is its SPDX line.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

mapfile -t list < <(files '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.cmake' '*CMakeLists.txt' '*.sh' '*.pl' '*.sql' '*.ts' '*.tsx' \
    '*.mjs' '.ci/run' '*Dockerfile' | grep -vE '^(migrations/schema\.sql|tests/http/generated/|console/src/api/gen/)')
[[ ${#list[@]} -gt 0 ]] || finish
awk 'FNR == 1 { seen = 0; shebang = /^#!/ }
     FNR == 1 && !shebang || FNR == 2 && shebang { if ($0 !~ /SPDX-License-Identifier: Apache-2\.0/)
         printf "%s:%d\tno \"SPDX-License-Identifier: Apache-2.0\" in this line\n", FILENAME, FNR; nextfile }' \
    "${list[@]}" >"$scratch/findings"
take_findings <"$scratch/findings"
for file in "${list[@]}"; do
    [[ -s $file ]] || bad "$file:1" "the file is empty"
done
finish
