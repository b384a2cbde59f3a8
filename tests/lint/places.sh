#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# places.sh - prints how many places a usual change touches, counted in the tree, and refuses a second one: a row that stands twice, a
# kind of job without its file on a side, a permission named in the code that judges, a route's path outside its row, a kernel
# variant or a page with more than its file and its line. Documents and SQL that are printed from rows do not count.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"
lists_most=${LINT_MOST:-30}

# rows FILE PATTERN WHAT: the names that PATTERN finds in FILE, each once; prints the line of the table.
rows() {
    local file=$1 pattern=$2 what=$3 name line n=0
    local -A first=()
    [[ -f $file ]] || return 0
    while IFS=: read -r line name; do
        n=$((n + 1))
        [[ -z ${first[$name]:-} ]] || bad "$file:$line" "$name stands in line ${first[$name]} already"
        first[$name]=$line
    done < <(grep -nE "$pattern" "$file" | sed -nE "s/^([0-9]+):$pattern.*/\1:\2\3/p")
    ((n > 0)) || bad "$file:1" "no row can be read"
    printf '%-22s %3d of them: 1 row\n' "$what" "$n"
}
rows core/table/config.def 'CFG(_ENUM)?\(([a-z]+, [a-z_0-9]+),' setting
rows core/table/metrics.def '(COUNTER|GAUGE|HISTOGRAM)\(([a-z_0-9]+),' metric
rows core/base/err.def '(ERR)\(([A-Z_0-9]+),' error
rows tenants/access/permissions.def '(PERM)\(([A-Z_0-9]+),' permission

# A permission means what its row says: the code that judges names none but those its own rules are about.
if [[ -f tenants/access/authz.c ]]; then
    while IFS=: read -r line name; do
        bad "tenants/access/authz.c:$line" "names $name: what a permission may do stands in its row (permissions.def)"
    done < <(grep -noE '\bPERM_[A-Z_]+\b' tenants/access/authz.c | grep -vE ':PERM_(NONE|PUBLIC|SIGNED_IN|COUNT|BIT|ROLE_GRANT|ZONE_CREATE|TOKEN_OWN|)$' || true)
fi

# A kind: its row, its spec, what its submission needs, how it runs.
if [[ -f core/wire/job_type.def ]]; then
    while read -r kind; do
        n=1
        for place in "core/wire/type_$kind.c" "scheduler/jobs/type_$kind.c" "workers/lease/type_$kind.c"; do
            if [[ -f $place ]]; then n=$((n + 1)); else bad "core/wire/job_type.def:1" "the kind $kind has no $place"; fi
        done
        more=$(files "*/type_$kind.h" "*/type_${kind}_int.h" "console/src/lib/type_$kind.ts" | paste -sd' ')
        printf '%-22s %d: its row and a file on each of three sides%s\n' "job kind $kind" "$n" "${more:+ (and $more)}"
    done < <(sed -nE 's/^JOB_TYPE\([A-Z_0-9]+, *([a-z_0-9]+),.*/\1/p' core/wire/job_type.def)
fi

# A route: its row, with the handler in the same file.
mapfile -t route_files < <(files 'api/routes/*.c' 'api/*.c')
if ((${#route_files[@]})); then
    perl -ne 'print "$1 $2\t$ARGV:$.\n" if /\.method = (HTTP_\w+), \.path = "([^"]+)"/; close ARGV if eof' "${route_files[@]}" >"$scratch/routes"
    while read -r route; do bad "${route##*$'\t'}" "the route ${route%%$'\t'*} stands twice"; done < <(sort "$scratch/routes" | awk -F'\t' 'seen[$1]++')
    (($(wc -l <"$scratch/routes") > 0)) || bad "${route_files[0]}:1" "no route can be read"
    printf '%-22s %3d of them: 1 row and a handler in the same file\n' route "$(wc -l <"$scratch/routes")"
fi

# A column: its migration, its member, its row of the schema, where statements say ROW_COLUMNS. Lists of columns beside a schema become fewer.
mapfile -t sql_files < <(files 'audit/*.[ch]' 'registry/*.[ch]' 'scheduler/*.[ch]' 'serving/*.[ch]' 'tenants/*.[ch]' 'api/*.[ch]')
if ((${#sql_files[@]})); then
    perl -0ne 'while (/struct stmt \w+ = \{(.*?)\};/gs) { my $s = $1; $is{$1} = 1 if $s =~ /\bROW_COLUMNS\b/ && $s =~ /\.row = &(\w+)_schema/ }
               END { print join(", ", sort keys %is), "\n" }' "${sql_files[@]}" >"$scratch/by_schema"
    printf '%-22s 3: its migration, its member, its row of the schema, for %s\n' 'column' "$(<"$scratch/by_schema")"
    grep -HnE '^#define \w*COLUMNS\b' "${sql_files[@]}" | cut -d: -f1,2 >"$scratch/lists" || true
    n=$(wc -l <"$scratch/lists")
    ((n <= lists_most)) || bad "$(tail -n 1 "$scratch/lists")" "$n lists of columns stand beside a schema, $lists_most did; say ROW_COLUMNS (core/db/stmt.h)"
fi

# A kernel variant: its file and its line of the registry.
registry=workers/compute/kernels/registry.c
if [[ -f $registry ]]; then
    while IFS=: read -r line name; do
        where=$(files 'workers/compute/kernels/*.c' | xargs grep -lE "^const struct backend backend_$name\b" | paste -sd' ')
        [[ -n $where && $where != *' '* ]] || bad "$registry:$line" "backend_$name is made in ${where:-no file}, and has one"
        printf '%-22s 2: %s and its line of the registry\n' "kernel $name" "$where"
    done < <(grep -nE '^ +&backend_[a-z0-9_]+,' "$registry" | sed -E 's/^([0-9]+): +&backend_([a-z0-9_]+),.*/\1:\2/')
fi

# A page of the console: its file or folder and its row of the router.
router=console/src/router.tsx
if [[ -f $router ]]; then
    n=0
    while IFS=: read -r line file; do
        n=$((n + 1))
        [[ -f console/src/${file#./} ]] || bad "$router:$line" "draws $file, which is not there"
    done < <(grep -nE "^ +page\('" "$router" | sed -nE "s/^([0-9]+):.*import\('([^']+)'\).*/\1:\2/p")
    ((n > 0)) || bad "$router:1" "no page can be read"
    printf '%-22s %3d of them: its folder with its words, and 1 row of the router\n' 'console page' "$n"
fi
finish
