/* SPDX-License-Identifier: Apache-2.0 */
/* tx_kit.h - a table of tenants' notes under row-level security, statements on it, and a pool of one connection. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"

#include <string.h>

struct note {
    int64_t id;
    struct str body;
};
SCHEMA_OF(note, "A row of a tenant", FIELD(note, id, 0), FIELD(note, body, 0));

static const struct stmt note_add = { .name = "note_add", .params = "uis", .card = CARD_NONE, .sql =
    "INSERT INTO note (tenant_id, id, body) VALUES ($1, $2, $3)" };
static const struct stmt note_set = { .name = "note_set", .params = "is", .card = CARD_NONE, .sql =
    "UPDATE note SET body = $2 WHERE id = $1" };
static const struct stmt note_set_one = { .name = "note_set_one", .params = "is", .card = CARD_ONE, .sql =
    "UPDATE note SET body = $2 WHERE id = $1" };
static const struct stmt note_get = { .name = "note_get", .params = "i", .row = &note_schema, .card = CARD_ONE, .sql =
    "SELECT id, body FROM note WHERE id = $1" };
static const struct stmt notes_all = { .name = "notes_all", .row = &note_schema, .card = CARD_MANY, .sql =
    "SELECT id, body FROM note ORDER BY id" };
static const struct stmt raise_it = { .name = "raise_it", .params = "s", .card = CARD_NONE, .sql = "SELECT raise_it($1)" };
static const struct stmt sleep_it = { .name = "sleep_it", .params = "f", .card = CARD_NONE, .sql = "SELECT pg_sleep($1)" };
static const struct stmt child_add = { .name = "child_add", .params = "i", .card = CARD_NONE,
                                      .sql = "INSERT INTO child VALUES ($1)" };
static const struct stmt parent_del = { .name = "parent_del", .params = "i", .card = CARD_NONE,
                                       .sql = "DELETE FROM parent WHERE id = $1" };
static const struct stmt *const list[] = { &note_add, &note_set, &note_set_one, &note_get, &notes_all, &raise_it, &sleep_it,
                                          &child_add,
                                           &parent_del, NULL };
static const struct stmt *const *const lists[] = { list, NULL };

static struct pg_harness *pg;
static struct db_pool *pool;
static struct arena *arena;
static struct uuid tenant_a, tenant_b;
static struct err e;

static inline int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    tenant_a = uuid_v7(1);
    tenant_b = uuid_v7(2);
    pg_harness_exec(pg, NULL,
                    "CREATE ROLE app LOGIN;"
                    "CREATE TABLE note (tenant_id uuid NOT NULL, id bigint PRIMARY KEY CHECK (id > 0), body text NOT NULL);"
                    "ALTER TABLE note ENABLE ROW LEVEL SECURITY; ALTER TABLE note FORCE ROW LEVEL SECURITY;"
                    "CREATE POLICY t ON note USING (tenant_id = current_setting('app.tenant')::uuid);"
                    "CREATE TABLE parent (id bigint PRIMARY KEY); INSERT INTO parent VALUES (1);"
                    "CREATE TABLE child (parent bigint REFERENCES parent); INSERT INTO child VALUES (1);"
                    "GRANT ALL ON note, parent, child TO app;"
                    "CREATE FUNCTION raise_it(code text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
                    " RAISE EXCEPTION 'the limit is 3' USING ERRCODE = code, COLUMN = '/gpus'; END $$");
    pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = 1, .lists = lists,
                                               .statement_timeout_ms = 300, .checkout_timeout_ms = 200 });
    if (db_pool_check(pool, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    db_pool_free(pool);
    pg_harness_free(pg);
    return 0;
}

static inline int fresh(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    pg_harness_exec(pg, NULL, "TRUNCATE note");
    return 0;
}

static inline int done(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static inline struct db_tx *begin(struct uuid tenant, unsigned flags)
{
    struct db_tx *tx = NULL;
    if (db_begin(pool, SCOPE_TENANT(tenant), flags, arena, &tx, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    return tx;
}

static inline void commit(struct db_tx *tx)
{
    if (db_commit(tx, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
}

static inline size_t count(struct uuid tenant)
{
    struct slice rows;
    struct db_tx *tx = begin(tenant, TX_READ_ONLY);
    if (db_many(tx, &notes_all, NO_ARGS, &rows, 100, &e) != ERR_OK)
        fail_msg("%s %s", e.msg, e.detail);
    commit(tx);
    return rows.n;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)
