/* SPDX-License-Identifier: Apache-2.0 */
/* pool_int.h - what tx.c and check.c need of the pool; only for core/db. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include "core/db/conn_int.h"
#include "core/db/pool.h"

/* The statements every pool has, at the first slots. */
enum { SLOT_BEGIN, SLOT_BEGIN_RO, SLOT_SCOPE, SLOT_COMMIT, SLOT_ROLLBACK, SLOT_PING, SLOT_MARK, SLOT_BACK_TO_MARK, SLOT_OWN_COUNT };

struct db_pool {
    const char *conninfo, *app_name;        /* own copies */
    int size;
    unsigned role_allow;
    int64_t statement_timeout_ms, checkout_timeout_us;
    bool is_batch;
    const struct stmt **stmts;              /* by slot */
    int nstmts;
    int *index;                             /* open addressing: pointer of a statement -> slot + 1 */
    size_t index_size;                      /* a power of two */
    pthread_mutex_t lock;                   /* guards all below but the counters */
    pthread_cond_t freed;
    struct db_conn *idle;                   /* last in, first out */
    int open, busy, waiting;
    int64_t down_until_us, pause_us;
    atomic_int silences;                    /* how often connections of the pool were found silent, all of one age once */
    atomic_llong asked_us;
    atomic_llong checkouts, connects, broken, transactions, statements;
};

/* The slot of a statement; aborts when it stands in no list of the pool. */
int pool_slot(const struct db_pool *p, const struct stmt *st);
MUST_CHECK enum errc pool_take(struct db_pool *p, struct db_conn **ret, struct err *e);
void pool_give(struct db_pool *p, struct db_conn *c);
