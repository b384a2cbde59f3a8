/* SPDX-License-Identifier: Apache-2.0 */
/* bench_tx.c - transactions per second through db_begin, one statement, db_commit with 4 threads, against pgbench on the same server.
 *
 * Each of our transactions does more than pgbench's: BEGIN, the tenant scope, the statement under row-level security, COMMIT. pgbench
 * runs one prepared statement as a transaction of its own. Numbers only, never pass or fail. */
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, SECONDS = 4 };

struct item {
    int64_t id;
    struct str body;
};
SCHEMA_OF(item, "A row", FIELD(item, id, 0), FIELD(item, body, 0));
static const struct stmt item_get = { .name = "item_get", .params = "ui", .row = &item_schema, .card = CARD_ONE, .sql =
    "SELECT id, body FROM item WHERE tenant_id = $1 AND id = $2" };
static const struct stmt item_add = { .name = "item_add", .params = "us", .card = CARD_NONE, .sql =
    "INSERT INTO log (tenant_id, body) VALUES ($1, $2)" };
static const struct stmt *const list[] = { &item_get, &item_add, NULL };

static struct db_pool *pool;
static struct uuid tenant;
static atomic_bool is_over;
static bool is_insert;

static void *bench_main(void *arg)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct err e;
    long *n = arg;
    unsigned seed = (unsigned)(uintptr_t)arg;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        struct db_tx *tx;
        struct item item;
        enum errc rc = db_begin(pool, SCOPE_TENANT(tenant), is_insert ? 0 : TX_READ_ONLY, a, &tx, &e);
        if (rc == ERR_OK && is_insert)
            db_queue(tx, &item_add, ARGS(A_UUID(tenant), A_STR(STR("some text of usual length"))), false);
        else if (rc == ERR_OK)
            rc = db_one(tx, &item_get, ARGS(A_UUID(tenant), A_I64(1 + rand_r(&seed) % 10000)), &item, &e);
        if (rc != ERR_OK || db_commit(tx, &e) != ERR_OK) {
            fprintf(stderr, "%s %s\n", e.msg, e.detail);
            abort();
        }
        ++*n;
        arena_reset(a);
    }
    return NULL;
}

static void measure(const char *what)
{
    pthread_t threads[THREADS];
    long counts[THREADS][16] = { 0 }, sum = 0;
    atomic_store(&is_over, false);
    int64_t start = clock_mono_us(&clock_system);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, bench_main, counts[i]);
    struct timespec pause = { SECONDS, 0 };
    nanosleep(&pause, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += counts[i][0];
    }
    printf("%-28s %8.0f tx/s\n", what, (double)sum * 1e6 / (double)(clock_mono_us(&clock_system) - start));
}

static void pgbench(struct pg_harness *pg, const char *what, const char *sql)
{
    char path[200], command[800], line[300];
    snprintf(path, sizeof path, "%s/bench.sql", pg_harness_socket_dir(pg));
    FILE *f = fopen(path, "w");
    fputs(sql, f);
    fclose(f);
    snprintf(command, sizeof command, "/usr/lib/postgresql/15/bin/pgbench -n -M prepared -c %d -j %d -T %d -f %s -h %s -U app postgres 2>&1",
             THREADS, THREADS, SECONDS, path, pg_harness_socket_dir(pg));
    FILE *p = popen(command, "r");
    double tps;
    while (p && fgets(line, sizeof line, p))
        if (sscanf(line, "tps = %lf", &tps) == 1)
            printf("%-28s %8.0f tx/s\n", what, tps);
    if (p)
        pclose(p);
}

int main(void)
{
    struct pg_harness *pg = pg_harness_new();
    struct err e;
    char sql[1200], text[UUID_TEXT];
    tenant = uuid_v7(1);
    uuid_text(tenant, text);
    snprintf(sql, sizeof sql,
             "CREATE ROLE app LOGIN; CREATE TABLE item (tenant_id uuid, id bigint, body text, PRIMARY KEY (tenant_id, id));"
             "INSERT INTO item SELECT '%s', g, 'some text of usual length' FROM generate_series(1, 10000) g; ANALYZE item;"
             "CREATE TABLE log (tenant_id uuid, body text); ALTER TABLE item ENABLE ROW LEVEL SECURITY; ALTER TABLE log ENABLE ROW LEVEL SECURITY;"
             "CREATE POLICY t ON item USING (tenant_id = current_setting('app.tenant')::uuid);"
             "CREATE POLICY t ON log USING (tenant_id = current_setting('app.tenant')::uuid); GRANT ALL ON item, log TO app;"
             "ALTER ROLE app SET app.tenant = '%s'", text, text);
    pg_harness_exec(pg, NULL, sql);
    const struct stmt *const *lists[] = { list, NULL };
    pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "app", NULL), .size = THREADS, .lists = lists });
    if (db_pool_check(pool, &e) != ERR_OK) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    char select[300], insert[300], script[700];
    snprintf(select, sizeof select, "SELECT id, body FROM item WHERE tenant_id = '%s' AND id = :i;", text);
    snprintf(insert, sizeof insert, "INSERT INTO log (tenant_id, body) VALUES ('%s', 'some text of usual length');", text);
    for (int round = 0; round < 2; round++) {
        is_insert = false;
        measure("select: falaj");
        snprintf(script, sizeof script, "\\set i random(1, 10000)\n%s\n", select);
        pgbench(pg, "select: pgbench, 1 statement", script);
        snprintf(script, sizeof script, "\\set i random(1, 10000)\nBEGIN READ ONLY;\nSELECT set_config('app.tenant', '%s', true);\n%s\nCOMMIT;\n",
                 text, select);
        pgbench(pg, "select: pgbench, same work", script);
        is_insert = true;
        measure("insert: falaj");
        pgbench(pg, "insert: pgbench, 1 statement", insert);
        snprintf(script, sizeof script, "BEGIN;\nSELECT set_config('app.tenant', '%s', true);\n%s\nCOMMIT;\n", text, insert);
        pgbench(pg, "insert: pgbench, same work", script);
    }
    db_pool_free(pool);
    pg_harness_free(pg);
    return 0;
}
