/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - connections at rest in a stack under one lock, opened outside the lock. A connection is looked at (one poll) when it
 * is taken: whatever the server sends to an idle connection is a goodbye, so that a restart of PostgreSQL costs no request an
 * error. */
#include "core/db/pool_int.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mono_cond.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_MIN_US 50000
#define PAUSE_MAX_US 1000000

static const struct stmt own_stmts[SLOT_OWN_COUNT] = {
    [SLOT_BEGIN] = { .name = "falaj_begin", .sql = "BEGIN" },
    [SLOT_BEGIN_RO] = { .name = "falaj_begin_ro", .sql = "BEGIN READ ONLY" },
    [SLOT_SCOPE] = { .name = "falaj_scope", .params = "ss",
                     .sql = "SELECT set_config('app.tenant', $1, true), set_config('app.projects', $2, true)" },
    [SLOT_COMMIT] = { .name = "falaj_commit", .sql = "COMMIT" },
    [SLOT_ROLLBACK] = { .name = "falaj_rollback", .sql = "ROLLBACK" },
    [SLOT_PING] = { .name = "falaj_ping", .sql = "SELECT 1" },
    [SLOT_MARK] = { .name = "falaj_mark", .sql = "SAVEPOINT falaj_mark" },
    [SLOT_BACK_TO_MARK] = { .name = "falaj_back_to_mark", .sql = "ROLLBACK TO SAVEPOINT falaj_mark" },
};

static size_t pointer_hash(const void *p)
{
    return (size_t)(((uintptr_t)p >> 3) * 0x9E3779B97F4A7C15ull >> 20);
}

static void index_add(struct db_pool *p, int slot)
{
    size_t at = pointer_hash(p->stmts[slot]) & (p->index_size - 1);
    while (p->index[at])
        at = (at + 1) & (p->index_size - 1);
    p->index[at] = slot + 1;
}

int pool_slot(const struct db_pool *p, const struct stmt *st)
{
    for (size_t at = pointer_hash(st) & (p->index_size - 1); p->index[at]; at = (at + 1) & (p->index_size - 1))
        if (p->stmts[p->index[at] - 1] == st)
            return p->index[at] - 1;
    log_event(LOG_ERROR, "db.statement_in_no_list", "statement", LOG_S(st->name), NULL);
    ASSERT(!"the statement stands in no list given to db_pool_new");
    return -1;
}

/* Gathers the lists; a statement may stand in two of them, but two statements may not share a name. */
static void collect(struct db_pool *p, const struct stmt *const *const *lists)
{
    size_t max = SLOT_OWN_COUNT;
    for (size_t l = 0; lists && lists[l]; l++)
        for (size_t i = 0; lists[l][i]; i++)
            max++;
    p->stmts = calloc(max, sizeof *p->stmts);
    p->index_size = 16;
    while (p->index_size < 2 * max)
        p->index_size *= 2;
    p->index = calloc(p->index_size, sizeof *p->index);
    ASSERT(p->stmts && p->index);
    for (int i = 0; i < SLOT_OWN_COUNT; i++)
        p->stmts[p->nstmts++] = &own_stmts[i];
    for (size_t l = 0; lists && lists[l]; l++) {
        for (size_t i = 0; lists[l][i]; i++) {
            const struct stmt *st = lists[l][i];
            bool is_known = false;
            for (int k = 0; k < p->nstmts && !is_known; k++) {
                is_known = p->stmts[k] == st;
                ASSERT(is_known || strcmp(p->stmts[k]->name, st->name) != 0);   /* two statements of one name */
            }
            if (!is_known)
                p->stmts[p->nstmts++] = st;
        }
    }
    for (int i = 0; i < p->nstmts; i++)
        index_add(p, i);
}

struct db_pool *db_pool_new(const struct db_pool_opts *o)
{
    struct db_pool *p = calloc(1, sizeof *p);
    ASSERT(p && o->conninfo);
    p->conninfo = str_dup_heap(str_c(o->conninfo));
    p->app_name = str_dup_heap(str_c(o->app_name ? o->app_name : "falaj"));
    p->size = o->size > 0 ? o->size : 4;
    p->role_allow = o->role_allow;
    p->statement_timeout_ms = o->statement_timeout_ms ? o->statement_timeout_ms : 10000;
    p->is_batch = o->is_batch;
    p->checkout_timeout_us = (o->checkout_timeout_ms ? o->checkout_timeout_ms : 2000) * 1000;
    collect(p, o->lists);
    pthread_mutex_init(&p->lock, NULL);
    mono_cond_init(&p->freed);
    return p;
}

void db_pool_free(struct db_pool *p)
{
    if (!p)
        return;
    ASSERT(p->busy == 0);
    while (p->idle) {
        struct db_conn *c = p->idle;
        p->idle = c->next;
        conn_free(c);
    }
    pthread_cond_destroy(&p->freed);
    pthread_mutex_destroy(&p->lock);
    free(p->stmts);
    free(p->index);
    free((char *)p->conninfo);
    free((char *)p->app_name);
    free(p);
}

void db_pool_freep(struct db_pool **p)
{
    db_pool_free(*p);
    *p = NULL;
}

static void wait_until(struct db_pool *p, int64_t mono_us)
{
    p->waiting++;
    mono_cond_wait(&p->freed, &p->lock, mono_us);
    p->waiting--;
}

/* With the lock held and a place reserved in `open`: connects without the lock. */
static enum errc open_one(struct db_pool *p, struct db_conn **ret, struct err *e)
{
    int born = atomic_load(&p->silences);
    pthread_mutex_unlock(&p->lock);
    enum errc rc = conn_new(p->conninfo, p->app_name, p->statement_timeout_ms, p->is_batch, p->stmts, p->nstmts, ret, e);
    pthread_mutex_lock(&p->lock);
    if (rc == ERR_OK) {
        (*ret)->silences = &p->silences;
        (*ret)->asked_us = &p->asked_us;
        (*ret)->born = born;
        atomic_fetch_add(&p->connects, 1);
        p->pause_us = 0;
        p->down_until_us = 0;
        return ERR_OK;
    }
    p->open--;
    p->pause_us = p->pause_us ? p->pause_us * 2 : PAUSE_MIN_US;
    if (p->pause_us > PAUSE_MAX_US)
        p->pause_us = PAUSE_MAX_US;
    p->down_until_us = clock_mono_us(&clock_system) + p->pause_us;
    pthread_cond_broadcast(&p->freed);
    return rc;
}

/* One idle connection that is alive, or NULL. */
static struct db_conn *take_idle(struct db_pool *p)
{
    while (p->idle) {
        struct db_conn *c = p->idle;
        p->idle = c->next;
        c->next = NULL;
        if (conn_is_usable(c))
            return c;
        conn_free(c);
        p->open--;
        atomic_fetch_add(&p->broken, 1);
    }
    return NULL;
}

static enum errc take_locked(struct db_pool *p, struct db_conn **ret, struct err *e)
{
    int64_t until = clock_mono_us(&clock_system) + p->checkout_timeout_us;
    for (;;) {
        if ((*ret = take_idle(p)))
            return ERR_OK;
        int64_t now = clock_mono_us(&clock_system);
        bool is_down = now < p->down_until_us;
        if (p->open < p->size && !is_down) {
            p->open++;
            return open_one(p, ret, e);
        }
        if (is_down && p->open == 0)
            return FAIL(e, UNAVAILABLE, "the database cannot be reached");
        if (now >= until)
            return FAIL(e, UNAVAILABLE, "all connections to the database are busy");
        wait_until(p, is_down && p->down_until_us < until ? p->down_until_us : until);
    }
}

enum errc pool_take(struct db_pool *p, struct db_conn **ret, struct err *e)
{
    pthread_mutex_lock(&p->lock);
    enum errc rc = take_locked(p, ret, e);
    if (rc == ERR_OK)
        p->busy++;
    pthread_mutex_unlock(&p->lock);
    if (rc == ERR_OK)
        atomic_fetch_add_explicit(&p->checkouts, 1, memory_order_relaxed);
    return rc;
}

void pool_give(struct db_pool *p, struct db_conn *c)
{
    /* Nobody sends the rest of what the sockets did not take: the server would wait for it, with a transaction's locks. */
    const bool is_sent = !c->is_broken && PQflush(c->pg) == 0;
    const bool is_broken = !is_sent || !conn_is_synced(c) || conn_is_suspect(c);
    if (is_broken)
        conn_free(c);
    else
        c->old = c->count;
    pthread_mutex_lock(&p->lock);
    p->busy--;
    if (is_broken) {
        p->open--;
        atomic_fetch_add(&p->broken, 1);
    } else {
        c->next = p->idle;
        p->idle = c;
    }
    if (p->waiting)
        pthread_cond_signal(&p->freed);
    pthread_mutex_unlock(&p->lock);
}

void db_pool_stats(struct db_pool *p, struct db_pool_stats *ret)
{
    pthread_mutex_lock(&p->lock);
    *ret = (struct db_pool_stats){ .size = p->size, .open = p->open, .busy = p->busy, .waiting = p->waiting };
    pthread_mutex_unlock(&p->lock);
    ret->checkouts = atomic_load(&p->checkouts);
    ret->connects = atomic_load(&p->connects);
    ret->broken = atomic_load(&p->broken);
    ret->transactions = atomic_load(&p->transactions);
    ret->statements = atomic_load(&p->statements);
}

enum errc db_pool_ping(struct db_pool *p, struct err *e)
{
    struct db_conn *c;
    TRY(pool_take(p, &c, e));
    enum errc rc = conn_send(c, SLOT_PING, NO_ARGS, (struct note){ .is_target = true }, e);
    conn_sync(c);
    while (rc == ERR_OK && c->count) {
        struct note n;
        PGresult *res;
        bool is_old;
        if (!conn_next(c, &n, &res, &is_old))
            rc = pg_fail(e, c->pg, res, "falaj_ping");
        else if (PQresultStatus(res) == PGRES_FATAL_ERROR && !is_old)
            rc = pg_fail(e, c->pg, res, "falaj_ping");
        PQclear(res);
    }
    pool_give(p, c);
    return rc;
}
