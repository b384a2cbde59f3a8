/* SPDX-License-Identifier: Apache-2.0 */
/* test_conn.c - the link to PostgreSQL falls silent in the middle of a message: of a request that is small, or larger than what
 * the sockets between hold, and of an answer. A caller waits for as long as a statement may take and 5 s more, at most, and the
 * next call has another connection. Each cut on a thread of its own, since each takes those seconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/db/pool.h"
#include "core/db/session.h"
#include "core/db/tx.h"
#include "core/table/schema.h"
#include "tests/db/harness.h"
#include "tests/lib/cut_link.h"
#include "tests/lib/wait.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { STATEMENT_MS = 1000, LARGE = 8 << 20, TRIES = 50 };

struct text {
    struct str t;
};
SCHEMA_OF(text, "A text", FIELD(text, t, 0, .max = LARGE));
static const struct stmt echo = { .name = "echo", .params = "s", .row = &text_schema, .card = CARD_ONE,
                                  .sql = "SELECT $1::text AS t" };
static const struct stmt *const list[] = { &echo, NULL };
static const struct stmt *const *const lists[] = { list, NULL };

static struct pg_harness *pg;
static char dir[] = "/tmp/falaj-cut-XXXXXX", large[LARGE + 1];

static int setup(void **state)
{
    (void)state;
    pg = pg_harness_new();
    pg_harness_exec(pg, NULL, "CREATE ROLE app LOGIN");
    assert_non_null(mkdtemp(dir));
    memset(large, 'x', LARGE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rmdir(dir);
    pg_harness_free(pg);
    return 0;
}

/* A place in a call where the link is cut, as bytes after the call before it was over. */
static const struct cut {
    const char *name;
    int64_t up, down;
    bool is_large;
} cuts[] = {
    { "a request", 3, -1, false }, { "an answer", -1, 3, false }, { "the head of a large request", 10, -1, true },
    { "a large request", LARGE / 2, -1, true }, { "a large answer", -1, LARGE / 2, true },
};
enum { CUTS = sizeof cuts / sizeof *cuts };

struct run {
    const struct cut *cut;
    int number;
    enum errc before, during, after;
    char said[700];
    _Atomic bool is_over;
};

static enum errc ask(struct db_pool *p, bool is_large, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct db_tx *tx;
    struct text t;
    TRY(db_begin(p, SCOPE_SYSTEM, TX_READ_ONLY, a, &tx, e));
    enum errc rc = db_one(tx, &echo, ARGS(A_STR(str_n(large, is_large ? LARGE : 1))), &t, e);
    if (rc != ERR_OK) {
        db_rollback(tx);
        return rc;
    }
    return db_commit(tx, e);
}

static void *run_main(void *arg)
{
    struct run *r = arg;
    char at[80], path[100], to[200], words[400];
    struct err e = { 0 };
    snprintf(at, sizeof at, "%s/%d", dir, r->number);
    (void)mkdir(at, 0700);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", at);
    snprintf(to, sizeof to, "%s/.s.PGSQL.5432", pg_harness_socket_dir(pg));
    snprintf(words, sizeof words, "%s host=%s", pg_harness_conninfo(pg, "app", NULL), at);
    struct cut_link *l = calloc(1, sizeof *l);
    cut_link_unix(l, path, to);
    struct db_pool *p = db_pool_new(&(struct db_pool_opts){ .conninfo = words, .size = 1, .lists = lists,
                                                            .statement_timeout_ms = STATEMENT_MS });
    for (int i = 0; i < TRIES && (r->before = ask(p, false, &e)) != ERR_OK; i++)
        continue;                       /* a statement may take longer than its time on a busy machine */
    r->during = ERR_DEADLINE;           /* then it ended before the cut, and says nothing */
    for (int i = 0; i < TRIES && r->during == ERR_DEADLINE; i++) {
        cut_link_after(l, r->cut->up, r->cut->down);
        r->during = ask(p, r->cut->is_large, &e);
    }
    snprintf(r->said, sizeof r->said, "%s: %s (%s)", r->cut->name, e.msg, e.detail);
    cut_link_after(l, -1, -1);
    for (int i = 0; i < TRIES && (r->after = ask(p, false, &e)) != ERR_OK; i++)
        continue;
    db_pool_free(p);
    cut_link_free(l);
    free(l);
    rmdir(at);
    atomic_store(&r->is_over, true);
    return NULL;
}

static void a_cut_in_a_message_has_an_end(void **state)
{
    (void)state;
    static struct run runs[CUTS];
    pthread_t t[CUTS];
    for (int i = 0; i < CUTS; i++) {
        runs[i] = (struct run){ .cut = &cuts[i], .number = i };
        assert_int_equal(pthread_create(&t[i], NULL, run_main, &runs[i]), 0);
    }
    for (int i = 0; i < CUTS; i++) {
        print_message("%s\n", cuts[i].name);
        WAIT_WHILE(!atomic_load(&runs[i].is_over));
        pthread_join(t[i], NULL);
        assert_int_equal(runs[i].before, ERR_OK);
        if (runs[i].during != ERR_UNAVAILABLE)
            fail_msg("%s", runs[i].said);
        assert_int_equal(runs[i].after, ERR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_in_a_message_has_an_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
