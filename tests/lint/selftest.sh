#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# selftest.sh - a lint that cannot fail is none: a tree with one breach of each rule must be refused at the right line,
# and the same tree without them must pass.
set -euo pipefail
lint_dir=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
export LINT_ROOT=$tree LINT_ALLOW=$tree/allow
failed=0
git init -q "$tree"
spdx='/* SPDX-License-Identifier: Apache-2.0 */'

put() { # put FILE LINE…
    mkdir -p "$tree/$(dirname "$1")"
    local file=$tree/$1
    shift
    printf '%s\n' "$@" >"$file"
}

expect() { # expect LINT FILE:LINE TEXT: LINT fails and names that place with that text
    local out
    if out=$(bash "$lint_dir/$1.sh" 2>&1); then
        printf 'selftest: %s passed a tree with a breach at %s\n' "$1" "$2"
        failed=1
    elif ! grep -F -- "$2:" <<<"$out" | grep -qF -- "$3"; then
        printf 'selftest: %s does not say "%s" at %s; it says:\n%s\n' "$1" "$3" "$2" "$out"
        failed=1
    fi
}

expect_clean() {
    local out
    if ! out=$(bash "$lint_dir/$1.sh" 2>&1); then
        printf 'selftest: %s refuses a clean tree:\n%s\n' "$1" "$out"
        failed=1
    fi
}

# A clean tree, with everything that looks like a breach and is none.
put core/base/a.h "$spdx" '#pragma once' '#include <stddef.h>' 'size_t a_len(const char *p);'
put core/base/a.c "$spdx" '#include "core/base/a.h"' '#include <stdlib.h>' '/* strcpy(a, b) in a comment */' \
    'size_t a_len(const char *p)' '{' '    char *q = malloc(4);' '    free(q);' '    return p ? 1 : sizeof("sprintf(x)");' '}'
put core/db/tx.h "$spdx" '#pragma once' 'int db_begin(void);'
put tenants/identity/authn.h "$spdx" '#pragma once' 'struct thing;' 'struct thing *thing_new(void);'
put tenants/identity/authn.c "$spdx" '#include "tenants/identity/authn.h"' '#include "core/base/a.h"' '#include <stdlib.h>' \
    'struct thing *thing_new(void)' '{' '    return calloc(1, 8);' '}' \
    'static const char *const sql = "UPDATE thing\n"' '    "SET name = $1\n"' '    "WHERE thing_id = $2"; /* SELECT * */' \
    'static const char *const scope = "SET LOCAL app.tenant = $1";' 'void copy(void) { row.actor_id = v->actor_id; }' \
    'static const char *const job = "UPDATE job SET cancel_requested = true WHERE state = $1"; /* UPDATE job SET state */'
put scheduler/jobs/job_apply.c "$spdx" 'static const char *const sql = "UPDATE job SET state = $1";'
put tenants/access/actor.c "$spdx" 'void by(void) { ev->actor_id = p->user_id; }'
put scheduler/plan/snapshot.h "$spdx" '#pragma once'
put scheduler/plan/order.c "$spdx" '#include "scheduler/plan/snapshot.h"' '#include "core/base/a.h"'
put core/json/decode.c "$spdx" '#include <jansson.h>'
for t in scheduler/jobs/test_job_apply core/base/test_a tenants/identity/test_authn tenants/access/test_actor scheduler/plan/test_order core/json/test_decode; do put "tests/unit/$t.c" "$spdx"; done
: >"$LINT_ALLOW"
for lint in layers doors headers banned credentials sizes mirror spdx words; do expect_clean "$lint"; done

# One breach of each rule.
put tenants/bad.c "$spdx" '#include "scheduler/plan/snapshot.h"' '#include "../core/base/a.h"' '#include <jansson.h>' '#include <bzlib.h>' \
    'int bad(char *p);' 'int bad(char *p)' '{' '    strcpy(p, "x");' '    p = malloc(3);' '    exit(atoi(p));' '    db_begin();' '}' \
    'const char *s = "SELECT *"' '    " FROM thing";' 'const char *u = "SET app.tenant = 1";' \
    'void by(void) { ev.actor_id = p->user_id; }' 'struct audit_event ev = { .actor = AUDIT_USER };' \
    'const char *v = "UPDATE job SET version = 2,"' '    " state = $1 WHERE job_id = $2";'
expect layers tenants/bad.c:2 'tenants may not include scheduler'
expect layers tenants/bad.c:3 'from the root'
put registry/vault/ring.h "$spdx" '#pragma once' '#include "registry/catalog/ring.h"'
put registry/catalog/ring.h "$spdx" '#pragma once'
put registry/catalog/ring.c "$spdx" '#include "registry/catalog/ring.h"' '#include "registry/vault/ring.h"'
expect layers registry/vault/ring.h:3 'circle through two rooms'
expect layers registry/catalog/ring.c:3 'circle through two rooms'
rm "$tree"/registry/vault/ring.h "$tree"/registry/catalog/ring.*
expect doors tenants/bad.c:4 'core/json/ only'
expect doors tenants/bad.c:5 'belongs to no door'
expect banned tenants/bad.c:9 'strcpy()'
expect banned tenants/bad.c:10 'malloc()'
expect banned tenants/bad.c:11 'exit()'
expect banned tenants/bad.c:11 'atoi()'
expect banned tenants/bad.c:12 'db_begin()'
expect banned tenants/bad.c:14 'name the columns'
expect banned tenants/bad.c:16 'SET LOCAL'
expect banned tenants/bad.c:17 'audit_event_by'
expect banned tenants/bad.c:18 'audit_event_by'
expect banned tenants/bad.c:19 'job_apply alone'
put workers/agent/bad.c "$spdx" 'void bad(struct buf *b)' '{' '    buf_printf(b, ",\"fence\":%ld", 1L);' '    buf_add_c(b, "{\"a\"");' \
    '    buf_add_json(b, STR("x"));' '    FAIL(e, INVALID, "there is no input \"%s\", \"x\": look", "y");' '    u = u > 0xDBFF;' '}'
expect banned workers/agent/bad.c:4 'put together by hand'
expect banned workers/agent/bad.c:5 'put together by hand'
expect banned workers/agent/bad.c:6 'buf_add_json()'
expect banned workers/agent/bad.c:8 'json_scan alone'
if bash "$lint_dir/banned.sh" | grep -q 'workers/agent/bad.c:7'; then
    printf 'selftest: banned takes a message with quotes in it for JSON\n'
    failed=1
fi
expect mirror tenants/bad.c:1 'test_bad.c'
printf 'untested tenants/bad.c\n' >"$LINT_ALLOW"
expect mirror allow:1 'needs a reason'
printf 'untested tenants/bad.c test_nothing.c has it\n' >"$LINT_ALLOW"
expect mirror allow:1 'names no test that exists'
printf 'untested tenants/bad.c test_authn.c has it\n' >"$LINT_ALLOW"
if bash "$lint_dir/mirror.sh" | grep -q 'tenants/bad.c'; then
    printf 'selftest: mirror ignores its allow list\n'
    failed=1
fi
export LINT_MOST=0
expect mirror allow:1 'may only become fewer'
unset LINT_MOST
printf 'untested tenants/identity/authn.c it has a test\n' >"$LINT_ALLOW"
expect mirror allow:1 'nothing needs this exception'
printf 'db_begin tenants/bad.c excused\n' >"$LINT_ALLOW"
expect banned tenants/bad.c:9 'strcpy()'
if bash "$lint_dir/banned.sh" | grep -q 'db_begin()'; then
    printf 'selftest: banned ignores its allow list\n'
    failed=1
fi
: >"$LINT_ALLOW"
put tenants/door.c "$spdx" 'const char *s = "INSERT INTO api_token (hash) VALUES ($1)";'
expect credentials tenants/door.c:2 'stored without credential_for_user'
put audit/resource_kind.def '#define AUDIT_RESOURCE_KINDS(X) X(job)'
put tenants/about.c "$spdx" 'void f(void) { ev.resource_kind = STR("job"); ev.resource_kind = STR("jab"); }'
expect resources tenants/about.c:2 "about a 'jab'"
put core/base/up.c "$spdx" '#include "core/db/tx.h"'
expect layers core/base/up.c:2 'core/base may not include'
put scheduler/plan/order.c "$spdx" '#include "core/db/tx.h"'
expect layers scheduler/plan/order.c:2 'scheduler/plan is pure'
put audit/merkle.c "$spdx" '#include "core/db/tx.h"'
expect layers audit/merkle.c:2 'the pure part of audit'
put cli/x.c "$spdx" '#include "audit/sequencer.h"'
expect layers cli/x.c:2 'cli may not include audit'
put registry/vault/blob_int.h "$spdx" '#pragma once'
put registry/vault/inner/a.c "$spdx" '#include "registry/vault/blob_int.h"'
put registry/catalog/model.c "$spdx" '#include "registry/vault/blob_int.h"' 'struct f f = { .doc = "x" };' 'struct f g = { .doc = "Name" };'
expect layers registry/catalog/model.c:2 'for the files of registry/vault/'
expect banned registry/catalog/model.c:3 'a .doc says'
if bash "$lint_dir/layers.sh" | grep -q 'vault/inner' || bash "$lint_dir/banned.sh" | grep -q 'model.c:4'; then
    printf 'selftest: layers or banned refuses what is allowed\n'
    failed=1
fi
put core/base/alone.h "$spdx" 'size_t alone(void);'
expect headers core/base/alone.h:1 'does not compile alone'
expect headers core/base/alone.h:1 '#pragma once'
mapfile -t many < <(seq 700 | sed 's/.*/\/* & *\//')
put core/base/long.c "$spdx" "${many[@]}"
expect sizes core/base/long.c:701 'at most 400'
printf 'file core/base/long.c being divided\n' >"$LINT_ALLOW"
export LINT_MOST=0
expect sizes allow:1 'may only become fewer'
unset LINT_MOST
: >"$LINT_ALLOW"
mapfile -t statements < <(seq 70 | sed 's/.*/    n += &;/')
put core/base/tall.c "$spdx" 'int tall(int n);' 'int tall(int n)' '{' "${statements[@]}" '    return n;' '}'
expect sizes core/base/tall.c:3 'tall has 74 lines'
wide=$(printf 'x%.0s' {1..131})
put core/base/wide.c "$spdx" "/* $wide */" "/* $wide */" "/* ${wide:11} */" '/* '"$(printf 'ا%.0s' {1..120})"' */'
expect width core/base/wide.c:3 '2 lines of more than 130 columns'
put tests/lint/width.counts '2 core/base/wide.c'
if bash "$lint_dir/width.sh" | grep -q 'core/base/wide.c'; then
    printf 'selftest: width ignores its counts\n'
    failed=1
fi
put tests/lint/width.counts '1 core/base/wide.c'
if bash "$lint_dir/width.sh" --write >"$tree/said" || ! grep -q 'there would be' "$tree/said"; then
    printf 'selftest: width --write lets the sum rise\n'
    failed=1
fi
rm "$tree/tests/lint/width.counts" "$tree/said"
put core/base/bare.c 'int bare;'
expect spdx core/base/bare.c:1 'SPDX'
put docs/x.md 'fine' 'see /work/here' 'TO''DO: finish'
expect words docs/x.md:2 'path of a machine'
expect words docs/x.md:3 'unfinished work'
put migrations/0001_x.sql '-- SPDX-License-Identifier: Apache-2.0' 'UPDATE t' 'SET a = 1;' 'SET search_path = x;' \
    'CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ UPDATE job AS j SET state =' "'HELD' \$\$;"
expect banned migrations/0001_x.sql:4 'SET LOCAL'
put migrations/0021_y.sql '-- SPDX-License-Identifier: Apache-2.0' 'CREATE FUNCTION free() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;'
put migrations/functions/f.sql '-- SPDX-License-Identifier: Apache-2.0' 'CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;'
expect_clean functions
put migrations/0022_z.sql '-- SPDX-License-Identifier: Apache-2.0' 'CREATE TABLE z (x int);' 'create or replace  function z() RETURNS int'
put migrations/functions/g.sql '-- SPDX-License-Identifier: Apache-2.0' 'CREATE FUNCTION g() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;'
put migrations/functions/h.sql '-- SPDX-License-Identifier: Apache-2.0' 'CREATE OR REPLACE FUNCTION h()' 'CREATE OR REPLACE FUNCTION f()'
mkdir -p "$tree/docs/gen"
put docs/gen/schema.sql 'CREATE TABLE public.thing (' 'CREATE TABLE public.new (' 'CREATE TABLE public.schema_migration ('
put tests/lint/tables.owner 'thing tenants' 'gone tenants'
put scheduler/reach.c "$spdx" 'static const char *const a = "SELECT n FROM thing";' 'static const char *const b = "UPDATE thing SET n = 1";' \
    'static const char *const c = "the words from thing and \"FROM\" are no SQL";'
expect tables docs/gen/schema.sql:2 'belongs to no folder'
expect tables tests/lint/tables.owner:2 'there is no table gone'
expect tables scheduler/reach.c:2 'reads thing, which belongs to tenants/'
expect tables scheduler/reach.c:3 'writes thing'
printf 'reads:thing scheduler/reach.c one read\n' >"$LINT_ALLOW"
expect tables scheduler/reach.c:3 'writes thing'
export LINT_MOST=0
expect tables allow:1 'may only become fewer'
unset LINT_MOST
printf 'writes:thing tenants/identity/authn.c never did\n' >"$LINT_ALLOW"
expect tables allow:1 'nothing needs this exception'
: >"$LINT_ALLOW"
expect functions migrations/0022_z.sql:3 'not in numbered migrations'
expect functions migrations/functions/g.sql:1 'named for'
expect functions migrations/functions/g.sql:2 'without OR REPLACE'
expect functions migrations/functions/h.sql:3 'stands in migrations/functions/f.sql'
expect banned migrations/0001_x.sql:5 'job_apply alone'
put core/wire/job_type.def "$spdx" 'JOB_TYPE(DANCE,  dance,  JT_SUBMIT, "compute", NULL, NULL, NULL)'
put scheduler/type_dance.c "$spdx" 'const char *dance = "dance";'
put console/src/api/gen/x.ts "export const K = ['dance'];"
put tenants/dancer.c "$spdx" '/* a "dance" in a comment */' 'int dances = 0;'
expect_clean kinds
put tenants/dancer.c "$spdx" 'int is(int k)' '{' '    return k == JOB_DANCE;' '}' \
    'const char *q = "j.kind <> '"'dance'"'";' 'const char *b = "{\"kind\":\"dance\"}";'
put migrations/0099_x.sql '-- SPDX-License-Identifier: Apache-2.0' "UPDATE job SET kind = 'dance';"
put console/src/x.ts "// 'dance' in a comment" "export const is = (k: string) => k === 'dance';"
expect kinds tenants/dancer.c:4 'type_dance'
expect kinds tenants/dancer.c:6 'type_dance'
expect kinds tenants/dancer.c:7 'type_dance'
expect kinds migrations/0099_x.sql:2 'type_dance'
expect kinds console/src/x.ts:2 'type_dance'
for side in core/wire scheduler/jobs workers/lease; do put "$side/type_dance.c" "$spdx" 'int dance;'; done
put tenants/access/permissions.def "$spdx" 'PERM(A_READ, "a:read", P, 0, "See")' 'PERM(B_READ, "b:read", P, 0, "See")'
put tenants/access/authz.c "$spdx" 'int is(int p)' '{' '    return p == PERM_ROLE_GRANT;' '}'
put api/routes/a.c "$spdx" '    { .method = HTTP_GET, .path = "/v1/a", .op = "a" },' '    { .method = HTTP_PUT, .path = "/v1/a", .op = "b" },'
expect_clean places
rm "$tree/workers/lease/type_dance.c"
put tenants/access/permissions.def "$spdx" 'PERM(A_READ, "a:read", P, 0, "See")' 'PERM(A_READ, "b:read", P, 0, "See")'
put tenants/access/authz.c "$spdx" 'int is(int p)' '{' '    return p == PERM_A_READ;' '}'
put api/routes/a.c "$spdx" '    { .method = HTTP_GET, .path = "/v1/a", .op = "a" },' '    { .method = HTTP_GET, .path = "/v1/a", .op = "b" },'
expect places core/wire/job_type.def:1 'workers/lease/type_dance.c'
expect places tenants/access/permissions.def:3 'stands in line 2'
expect places tenants/access/authz.c:4 'PERM_A_READ'
expect places api/routes/a.c:3 'stands twice'
put tenants/access/list.c "$spdx" '#define THING_COLUMNS "a, b"'
export LINT_MOST=0
expect places tenants/access/list.c:2 'lists of columns stand beside a schema'
unset LINT_MOST
put deploy/monitoring/alerts.yml '      - alert: FalajBad' '        expr: falaj_bad_total > 1'
put deploy/monitoring/alerts_test.yml '      - alertname: FalajOther'
put deploy/monitoring/dashboard.py 'print("new")'
put deploy/monitoring/dashboard.json old
put docs/howto/runbooks.md '## FalajGone'
put docs/gen/metrics.md '| `falaj_good_total` | all |'
expect alerts docs/howto/runbooks.md:1 "no section '## FalajBad'"
expect alerts docs/howto/runbooks.md:1 "'## FalajGone' is of no alert"
expect alerts deploy/monitoring/alerts_test.yml:1 'no test in which FalajBad fires'
expect alerts deploy/monitoring/alerts.yml:1 'falaj_bad_total is no metric'
expect alerts deploy/monitoring/dashboard.json:1 'differs'
put docs/gen/config.md '| `api.port` | 8080 |'
put core/base/log.c "$spdx" 'log_event(LOG_INFO, "api.ready", NULL);'
put docs/howto/operate.md 'Set `api.port`, see `api.ready` in `api.conf`.' '`api.prot`' \
    '[gone](gone.md#x), [there](runbooks.md)' '`/var/lib/gone`, `falaj-gone.service`' '| 8080, 9999 | x |' '`tests/gone.py`'
expect pages docs/howto/operate.md:2 'api.prot is no setting'
expect pages docs/howto/operate.md:3 'the link gone.md leads nowhere'
expect pages docs/howto/operate.md:1 'no runbook of the alert FalajBad'
expect pages docs/howto/operate.md:4 'the path /var/lib/gone'
expect pages docs/howto/operate.md:4 'the unit falaj-gone.service'
expect pages docs/howto/operate.md:5 'the port 9999'
expect pages docs/howto/operate.md:6 'there is no tests/gone.py'
put docs/howto/operate.md '`api.port`, `api.ready`, `api.conf`, [FalajBad](runbooks.md#falajbad)' '| 8080 | x |'
expect_clean pages
put build/dev/bin/falaj-api '#!/bin/sh' 'echo new'
cp "$tree/build/dev/bin/falaj-api" "$tree/build/dev/bin/falaj-worker"
chmod +x "$tree"/build/dev/bin/falaj-{api,worker}
put docs/gen/openapi.json old
export FALAJ_BIN=$tree/build/dev/bin
expect gen docs/gen/openapi.json:1 'differs'
expect gen docs/gen/errors.md:1 'missing'
bash "$lint_dir/gen.sh" --write >/dev/null
expect_clean gen

((failed == 0)) && printf 'selftest: every rule can fail\n'
exit "$failed"
