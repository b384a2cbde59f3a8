/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a PostgreSQL with every migration, two tenants with users, roles, tokens and quotas, and units of work in any scope. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/base/work.h"
#include "core/crypto/token.h"
#include "core/db/pool.h"
#include "core/db/session.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "tenants/access/authz.h"
#include "tests/db/harness.h"

static const char DB[] = "falaj";
static struct pg_harness *pg;
static struct db_pool *app_pool;
static struct app app;
static struct config *world_config;
static struct err e;

#define OK(call)                                                                                                 \
    do {                                                                                                         \
        if ((call) != ERR_OK)                                                                                    \
            fail_msg("%s: %s (%s) at %s:%d", #call, e.msg, e.detail, e.file ? e.file : "?", e.line);             \
    } while (0)
#define REFUSED(call, CODE)                                                                                      \
    do {                                                                                                         \
        enum errc got_ = (call);                                                                                 \
        if (got_ != ERR_##CODE)                                                                                  \
            fail_msg("%s: %s instead of %s: %s (%s)", #call, err_row(got_)->name, #CODE, e.msg, e.detail);       \
    } while (0)

static inline void sql(const char *fmt, ...) PRINTF_LIKE(1, 2);
static inline void sql(const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    assert_in_range(vsnprintf(text, sizeof text, fmt, ap), 1, sizeof text - 1);
    va_end(ap);
    pg_harness_exec(pg, DB, text);
}

/* Hex text of an id in one of a few static buffers, for SQL. */
static inline const char *hex(struct uuid u)
{
    static _Thread_local char texts[8][UUID_TEXT];
    static _Thread_local int next;
    char *t = texts[next++ % 8];
    uuid_text(u, t);
    return t;
}

static inline struct uuid new_id(void)
{
    return uuid_v7(clock_wall_us(&clock_system));
}

static inline void tenant_make(struct uuid t, const char *name)
{
    sql("INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES ('%s', '%s', '%s', 'ae-dxb-1', '{ae-dxb-1}');"
        "INSERT INTO quota (tenant_id, resource, hard_limit) SELECT '%s', r, 100 FROM unnest('{jobs,slots,gpus,stored_bytes,objects}'::text[]) r",
        hex(t), name, name, hex(t));
}

static inline struct uuid user_make(struct uuid tenant, const char *name, const char *role)
{
    struct uuid u = new_id();
    sql("INSERT INTO app_user (tenant_id, user_id, name) VALUES ('%s', '%s', '%s')", hex(tenant), hex(u), name);
    if (role)
        sql("INSERT INTO role_binding (tenant_id, binding_id, user_id, role, created_by) VALUES ('%s', '%s', '%s', '%s', '%s')", hex(tenant),
            hex(new_id()), hex(u), role, hex(u));
    return u;
}

/* until: an SQL interval from now. scopes: "{}" for none. */
static inline struct uuid token_give(struct uuid tenant, struct uuid user, const char *until, const char *scopes, char text[TOKEN_TEXT])
{
    struct uuid id = new_id();
    uint8_t hash[32];
    char hash_hex[65];
    OK(token_make("user", text, &e));
    token_hash(str_c(text), hash);
    hex_encode(hash, 32, hash_hex);
    sql("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, scopes, expires_at) VALUES"
        " ('%s', '%s', '%s', 't', '\\x%s', 'x', '%s', now() + interval '%s')", hex(tenant), hex(id), hex(user), hash_hex, scopes, until);
    return id;
}

static inline struct db_pool *pool_make(const char *role, int size, const struct stmt *const *const *lists, unsigned allow)
{
    return db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, role, DB), .size = size, .lists = lists,
                                               .checkout_timeout_ms = 60000, .statement_timeout_ms = 60000,
                                               .role_allow = allow });
}

/* The schema as it ships, one zone, and the pool of falaj_app, checked. */
static inline void world_new(const struct stmt *const *const *lists, int pool_size)
{
    pg = pg_harness_new();
    pg_harness_migrate(pg, DB);
    sql("INSERT INTO zone (code, name, country) VALUES ('ae-dxb-1', 'Dubai', 'AE'), ('ae-auh-1', 'Abu Dhabi', 'AE')");
    app_pool = pool_make("falaj_app", pool_size, lists, 0);
    OK(db_pool_check(app_pool, &e));
    world_config = config_new_default();
    world_config->approval_separation = SEPARATION_ACCOUNTS;    /* rows of users are written here without a maker */
    app = (struct app){ .program = "test", .clock = &clock_system, .pool = app_pool, .config = world_config };
}

static inline void world_free(void)
{
    db_pool_free(app_pool);
    config_free(world_config);
    world_config = NULL;
    pg_harness_free(pg);
}

/* A principal with these roles, as authn would make it. */
static inline struct principal *principal_with(struct uuid tenant, struct uuid user, uint32_t roles)
{
    struct principal *p = principal_new();
    struct str *zone = ARENA_NEW(p->arena, struct str);
    *zone = STR("ae-dxb-1");
    p->tenant_id = tenant;
    p->user_id = user;
    p->token_id = new_id();
    p->home_zone = *zone;
    p->allowed_zones = (struct slice){ zone, 1 };
    p->roles = roles;
    p->permissions = roles_permissions(roles);
    p->scopes = ~(perm_set)0;
    p->expires_us = INT64_MAX;
    return p;
}
#define ROLES(r) (UINT32_C(1) << ROLE_##r)

/* A unit of work with a transaction in a tenant's scope. */
static inline struct work *unit_open(struct uuid tenant, const struct principal *p)
{
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){ .app = &app, .arena = arena_new(256u << 20), .tenant_id = tenant, .principal = p,
                        .now_us = clock_wall_us(&clock_system), .request_id = STR("req_test") };
    OK(db_begin(app.pool, SCOPE_TENANT(tenant), 0, w->arena, &w->tx, &e));
    return w;
}
static inline void unit_drop(struct work *w)
{
    db_rollback(w->tx);
    arena_free(w->arena);
    free(w);
}
static inline void unit_commit(struct work *w)
{
    OK(db_commit(w->tx, &e));
    arena_free(w->arena);
    free(w);
}

/* Rows of an SQL text as superuser, through a session of its own: what is really stored. The arena lives as long as the program. */
static inline struct db_text_rows rows_of(const char *fmt, ...) PRINTF_LIKE(1, 2);
static inline struct db_text_rows rows_of(const char *fmt, ...)
{
    static struct arena *arena;
    static struct db_session *session;
    static struct pg_harness *of;
    struct db_text_rows rows = { 0 };
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    assert_in_range(vsnprintf(text, sizeof text, fmt, ap), 1, sizeof text - 1);
    va_end(ap);
    if (of != pg) {
        db_session_free(session);
        arena_free(arena);
        session = NULL;
        arena = NULL;
        of = pg;
    }
    if (!arena)
        arena = arena_new(256u << 20);
    if (!session)
        OK(db_session_new(pg_harness_conninfo(pg, "postgres", DB), "test", 30000, &session, &e));
    OK(db_session_query(session, text, NULL, 0, arena, &rows, &e));
    return rows;
}
static inline int64_t number_of(struct db_text_rows r)
{
    int64_t n = -1;
    assert_int_equal(r.nrows, 1);
    assert_true(str_to_i64(r.cells[0], INT64_MIN, INT64_MAX, &n));
    return n;
}
#define NUMBER(...) number_of(rows_of(__VA_ARGS__))
