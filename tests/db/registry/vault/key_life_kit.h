/* SPDX-License-Identifier: Apache-2.0 */
/* key_life_kit.h - what the tests of the life of keys do as a tenant (0 and 1 of the fixture) and as the leader: store and read
 * back, rotate, move data keys, shred what is due. */
#pragma once
#include "tests/db/registry/fixture.h"

static const struct object_new DATASET = { .kind = "dataset", .data_class = { "internal", 8 } };
static struct db_pool *leader;

static inline int open_leader(void **state)
{
    static const struct stmt *const *const lists[] = { key_rewrap_leader_stmts, key_shred_leader_stmts, audit_event_stmts, NULL };
    int rc = setup(state);
    leader = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_scheduler", DB), .size = 2, .lists = lists });
    OK(db_pool_check(leader, &e));
    pg_harness_exec(pg, DB, "UPDATE quota SET hard_limit = 1000000000");
    return rc;
}

static inline int close_leader(void **state)
{
    db_pool_free(leader);
    return teardown(state);
}

static inline struct uuid put(int tenant, const char *text)
{
    struct work w = begin(tenant);
    struct object o;
    OK(object_put(&w, &DATASET, str_c(text), &o, &e));
    end(&w);
    return o.object_id;
}

static inline enum errc read_back(int tenant, struct uuid id, const char *want)
{
    struct work w = begin(tenant);
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    enum errc rc = object_open(&w, id, "dataset", &r, &e);
    db_rollback(w.tx);
    if (rc == ERR_OK)
        rc = object_read_all(r, &b, &e);
    if (rc == ERR_OK)
        assert_true(str_eq_c(buf_str(&b), want));
    return rc;
}

/* One batch as the leader does it; commit false: the leader died before its commit. */
static inline bool batch(bool commit, int64_t *moved)
{
    struct work w = { .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
    bool any;
    OK(db_begin(leader, SCOPE_SYSTEM, 0, arena, &w.tx, &e));
    OK(rewrap_next(&w, &any, moved, &e));
    if (commit)
        OK(db_commit(w.tx, &e));
    db_rollback(w.tx);
    return any;
}

static inline void rewrap_all(void)
{
    int64_t moved;
    while (batch(true, &moved))
        ;
}

static inline int64_t shred_due(void)
{
    struct work w = { .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
    int64_t n;
    OK(db_begin(leader, SCOPE_SYSTEM, 0, arena, &w.tx, &e));
    OK(key_shred_due(&w, 10, &n, &e));
    OK(db_commit(w.tx, &e));
    return n;
}

static inline int64_t rotate(int tenant)
{
    struct work w = begin(tenant);
    struct key_version v;
    OK(key_rotate(&w, str_c(ZONE), false, &v, &e));
    end(&w);
    assert_true(str_eq_c(v.state, "PRIMARY"));
    return v.key_version;
}

/* What fn makes of version v of the tenant, committed. */
static inline struct key_version act(int tenant,
    enum errc (*fn)(struct work *, struct str, int64_t, struct key_version *, struct err *), int64_t v)
{
    struct work w = begin(tenant);
    struct key_version ret;
    OK(fn(&w, str_c(ZONE), v, &ret, &e));
    end(&w);
    return ret;
}

/* Work of the platform, in its scope. */
static inline struct work platform(void)
{
    struct work w = { .app = &app, .arena = arena, .principal = people[0], .tenant_id = UUID_NIL,
        .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(app.pool, SCOPE_TENANT(UUID_NIL), 0, arena, &w.tx, &e));
    return w;
}
