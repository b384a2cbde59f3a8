/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - one connection in pipeline mode. libpq gives for each query its result and then NULL, and for each sync one result
 * without NULL after it; conn_next hides that. Reading waits with poll and a limit, because a dead network must not hold a thread
 * for ever. */
#include "core/db/conn_int.h"
#include "core/db/servers.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/db/param_int.h"
#include "core/db/pgerr.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONN_ARENA_MAX = 16 << 20,
    IDLE_IN_TX_MS = 10000,
    SCRATCH_KEEP = 1 << 20,
    ROOM_FOR_ONE = 16,
    SUSPECT_US = 5000000,
    SLICE_US = 1000000,
};

static void ignore_notice(void *ctx, const PGresult *res)
{
    (void)ctx;
    (void)res;
}

/* The `options` of the caller's conninfo, kept in front of ours; empty when there are none. */
static enum errc own_options(const char *conninfo, struct buf *ret, struct err *e)
{
    char *why = NULL;
    PQconninfoOption *all = PQconninfoParse(conninfo, &why);
    if (!all) {
        FAIL(e, INVALID, "the database address is not a libpq connection string");
        err_note(e, "%s", why ? why : "");
        PQfreemem(why);
        return ERR_INVALID;
    }
    for (PQconninfoOption *o = all; o->keyword; o++)
        if (strcmp(o->keyword, "options") == 0 && o->val)
            buf_add_c(ret, o->val);
    PQconninfoFree(all);
    return ERR_OK;
}

enum errc pg_open(const char *conninfo, const char *app_name, int64_t statement_timeout_ms, bool is_batch, PGconn **ret,
                  struct err *e)
{
    CLEANUP(buf_releasep) struct buf options = BUF(4096);
    TRY(own_options(conninfo, &options, e));
    buf_printf(&options, " -c idle_in_transaction_session_timeout=%d", IDLE_IN_TX_MS);
    /* A link that is cut in the middle of a message leaves a backend that waits for its rest, within a transaction and with its
     * locks; no timeout of the server's ends that, only its own look at the connection, which is two hours away by default. */
    buf_add_c(&options, " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3");
    buf_add_c(&options, " -c tcp_user_timeout=15000");
    /* A prepared statement keeps the plan it got when its tables were small. Every statement of ours has an index to go by, so
     * plans that read whole tables are never what is wanted: on a fresh installation they cost four fifths of a submission. The
     * price of a disabled scan makes a plan look dear enough to compile, which takes longer than the rows it reads. */
    buf_add_c(&options, " -c enable_seqscan=off -c enable_mergejoin=off -c random_page_cost=1.1 -c jit=off");
    /* Left to itself the server plans some statements anew each time, because it guesses that arrays are long: that took longer
     * than to run them. And a bitmap scan reads the entries of ended rows again and again, which a plain index scan marks as
     * dead. */
    if (is_batch)
        buf_add_c(&options, " -c plan_cache_mode=force_generic_plan -c enable_bitmapscan=off");
    if (statement_timeout_ms > 0)
        buf_printf(&options, " -c statement_timeout=%lld", (long long)statement_timeout_ms);
    /* What stands before dbname is only a default; what stands after it wins over the conninfo. */
    const char *keys[] = { "connect_timeout", "tcp_user_timeout", "keepalives_idle", "dbname", "application_name",
                          "client_encoding",
                           "options", NULL };
    const char *values[] = { "5", "15000", "10", conninfo, app_name ? app_name : "falaj", "UTF8", options.ptr, NULL };
    CLEANUP(buf_releasep) struct buf why = BUF(4096);
    PGconn *pg = servers_connect(conninfo, keys, values, &why);
    if (PQstatus(pg) != CONNECTION_OK) {
        FAIL(e, UNAVAILABLE, "the database cannot be reached");
        err_note(e, "%s", why.len ? why.ptr : "");
        PQfinish(pg);
        return ERR_UNAVAILABLE;
    }
    PQsetNoticeReceiver(pg, ignore_notice, NULL);
    /* Else libpq waits without a limit until the server takes what is larger than the sockets between; pg_wait sends it on. */
    if (PQsetnonblocking(pg, 1) != 0) {
        PQfinish(pg);
        return FAIL(e, UNAVAILABLE, "the connection to the database was lost");
    }
    *ret = pg;
    return ERR_OK;
}

enum pg_waited pg_wait(PGconn *pg, int64_t wait_us)
{
    int64_t until = clock_mono_us(&clock_system) + wait_us;
    while (PQisBusy(pg)) {
        int flushed = PQflush(pg);
        int64_t left_ms = (until - clock_mono_us(&clock_system)) / 1000;
        if (flushed < 0)
            return PG_LOST;
        if (left_ms <= 0)
            return PG_SILENT;
        struct pollfd fd = { PQsocket(pg), (short)(POLLIN | (flushed ? POLLOUT : 0)), 0 };
        if (fd.fd < 0)
            return PG_LOST;
        if (poll(&fd, 1, (int)(left_ms < 1000 ? left_ms : 1000)) > 0 && (fd.revents & ~POLLOUT) && !PQconsumeInput(pg))
            return PG_LOST;
    }
    return PG_READY;
}

enum errc pg_fail(struct err *e, PGconn *pg, const PGresult *res, const char *stmt_name)
{
    const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
    const char *primary = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    return pgerr_fill(e, state, primary ? primary : PQerrorMessage(pg), res ? PQresultErrorField(res, PG_DIAG_CONSTRAINT_NAME)
                      : NULL,
                      res ? PQresultErrorField(res, PG_DIAG_COLUMN_NAME) : NULL, stmt_name);
}

enum errc conn_new(const char *conninfo, const char *app_name, int64_t statement_timeout_ms, bool is_batch,
                   const struct stmt *const *stmts, int nstmts, struct db_conn **ret, struct err *e)
{
    PGconn *pg;
    TRY(pg_open(conninfo, app_name, statement_timeout_ms, is_batch, &pg, e));
    if (!PQenterPipelineMode(pg)) {
        PQfinish(pg);
        return FAIL(e, INTERNAL, "the database connection cannot pipeline");
    }
    struct db_conn *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->pg = pg;
    c->arena = arena_new(CONN_ARENA_MAX);
    c->stmts = stmts;
    c->nstmts = nstmts;
    c->is_prepared = ARENA_ARRAY(c->arena, bool, nstmts);
    c->maps = ARENA_ARRAY(c->arena, struct row_map *, nstmts);
    c->scratch = BUF(DB_PARAM_BYTES_MAX);
    c->wait_us = (statement_timeout_ms + 5000) * 1000;
    c->server = server_silences(pg);
    c->server_born = c->server ? atomic_load(c->server) : 0;
    *ret = c;
    return ERR_OK;
}

void conn_free(struct db_conn *c)
{
    if (!c)
        return;
    PQfinish(c->pg);
    arena_free(c->arena);
    buf_release(&c->scratch);
    free(c);
}

static void note_add(struct db_conn *c, struct note n)
{
    ASSERT(c->count < NOTES_MAX);
    c->notes[(c->first + c->count++) % NOTES_MAX] = n;
}

static void send_prepare(struct db_conn *c, int slot)
{
    const struct stmt *st = c->stmts[slot];
    Oid types[DB_PARAMS_MAX];
    int n = 0;
    for (const char *l = st->params ? st->params : ""; *l; l++)
        types[n++] = param_oid(*l);
    CLEANUP(buf_releasep) struct buf text = BUF(STMT_TEXT_MAX);
    if (!PQsendPrepare(c->pg, st->name, stmt_text(st, &text), n, types) || !PQsendDescribePrepared(c->pg, st->name)) {
        c->is_broken = true;
        return;
    }
    note_add(c, (struct note){ .kind = NOTE_PREPARE, .slot = slot });
    note_add(c, (struct note){ .kind = NOTE_DESCRIBE, .slot = slot });
    c->is_prepared[slot] = true;
}

enum errc conn_send(struct db_conn *c, int slot, const struct arg *args, int nargs, struct note as, struct err *e)
{
    struct params p;
    const struct stmt *st = c->stmts[slot];
    if (!params_encode(&p, st, args, nargs, &c->scratch))
        return FAIL(e, LIMIT, "the values of one statement are too large");
    if (c->is_broken)
        return ERR_OK;
    if (!c->is_prepared[slot])
        send_prepare(c, slot);
    if (!c->is_broken && PQsendQueryPrepared(c->pg, st->name, p.n, p.values, p.lengths, p.formats, 1))
        note_add(c, (struct note){ NOTE_QUERY, as.must_affect, as.is_target, as.is_asked, slot });
    else
        c->is_broken = true;
    if (c->scratch.cap > SCRATCH_KEEP) {
        buf_release(&c->scratch);
        c->scratch = BUF(DB_PARAM_BYTES_MAX);
    }
    return ERR_OK;
}

void conn_sync(struct db_conn *c)
{
    if (c->is_broken)
        return;
    if (PQpipelineSync(c->pg))
        note_add(c, (struct note){ .kind = NOTE_SYNC });
    else
        c->is_broken = true;
}

bool conn_is_synced(const struct db_conn *c)
{
    return c->count == 0 || c->notes[(c->first + c->count - 1) % NOTES_MAX].kind == NOTE_SYNC;
}

bool conn_has_room(const struct db_conn *c)
{
    return c->count + ROOM_FOR_ONE <= NOTES_MAX;
}

/* A preparation that failed or was skipped must be sent again; a description makes the map. */
static void learn(struct db_conn *c, const struct note *n, const PGresult *res)
{
    if (n->kind == NOTE_PREPARE && PQresultStatus(res) != PGRES_COMMAND_OK)
        c->is_prepared[n->slot] = false;
    if (n->kind != NOTE_DESCRIBE || PQresultStatus(res) != PGRES_COMMAND_OK)
        return;
    struct err e;
    if (row_map_build(c->stmts[n->slot], res, c->arena, &c->maps[n->slot], &e) != ERR_OK)
        log_err(LOG_ERROR, "db.schema_drift", &e);      /* the map stays NULL: the reader of the rows fails */
}

/* Of all connections of the pool that wait one asks, every SUSPECT_US. */
static bool is_my_turn_to_ask(struct db_conn *c)
{
    long long now = clock_mono_us(&clock_system), last = atomic_load(c->asked_us);
    return now - last >= SUSPECT_US && atomic_compare_exchange_strong(c->asked_us, &last, now);
}

/* The answer can be read. A frozen server goes on confirming what comes, so no connection fails: one that has waited for long
 * asks whether the server still takes new ones. A connection whose server is silent, or that waited for as long as it may, tells
 * the others of its pool: what they wait for will not come either, so they wait SUSPECT_US at most, and none of its age is used
 * again. */
static bool conn_wait(struct db_conn *c)
{
    int64_t began = clock_mono_us(&clock_system);
    for (;;) {
        int64_t most = conn_is_suspect(c) && SUSPECT_US < c->wait_us ? SUSPECT_US : c->wait_us;
        int64_t waits = clock_mono_us(&clock_system) - began, left = most - waits;
        enum pg_waited waited = pg_wait(c->pg, left < SLICE_US ? left : SLICE_US);
        if (waited != PG_SILENT)
            return waited == PG_READY;
        if (left > SLICE_US && (waits < SUSPECT_US || !c->silences || !is_my_turn_to_ask(c) || server_answers(c->pg)))
            continue;
        server_is_silent(c->pg);
        if (c->silences)
            atomic_compare_exchange_strong(c->silences, &(int){ c->born }, c->born + 1);
        return false;
    }
}

bool conn_next(struct db_conn *c, struct note *ret_note, PGresult **ret_res, bool *ret_is_old)
{
    *ret_res = NULL;
    if (c->is_broken || c->count == 0)
        return false;
    struct note n = c->notes[c->first];
    PGresult *res = conn_wait(c) ? PQgetResult(c->pg) : NULL;
    bool ok = res && (PQresultStatus(res) == PGRES_PIPELINE_SYNC) == (n.kind == NOTE_SYNC);
    if (ok && n.kind != NOTE_SYNC) {
        PGresult *end = conn_wait(c) ? PQgetResult(c->pg) : res;
        if (end) {                                      /* silence, or rows of a statement that has more than one result */
            ok = false;
            if (end != res)
                PQclear(end);
        }
    }
    if (PQstatus(c->pg) != CONNECTION_OK)
        ok = false;
    *ret_is_old = c->old > 0;
    *ret_note = n;
    if (!ok) {
        c->is_broken = true;
        *ret_res = res;                                 /* may say why, as 57P01 does */
        return false;
    }
    learn(c, &n, res);
    c->first = (c->first + 1) % NOTES_MAX;
    c->count--;
    if (c->old)
        c->old--;
    *ret_res = res;
    return true;
}

static bool has_input(const struct db_conn *c)
{
    struct pollfd fd = { PQsocket(c->pg), POLLIN, 0 };
    return fd.fd < 0 || poll(&fd, 1, 0) > 0;
}

bool conn_is_suspect(const struct db_conn *c)
{
    return c->silences && atomic_load(c->silences) != c->born;
}

bool conn_is_usable(struct db_conn *c)
{
    /* Another pool may have found out; one of several answers that wait may be slow for its own reasons, so they wait on. */
    bool is_stale = c->server && atomic_load(c->server) != c->server_born;
    if (c->is_broken || is_stale || conn_is_suspect(c))
        return false;
    if (c->count == 0 && !has_input(c))
        return true;
    /* An answer that is owed may have come with the server's goodbye behind it: read until nothing is left to read. */
    while (has_input(c)) {
        if (c->count == 0 || !PQconsumeInput(c->pg))
            return false;                               /* an idle connection has nothing to say but goodbye */
        while (c->count && !PQisBusy(c->pg)) {
            struct note n;
            PGresult *res;
            bool is_old, ok = conn_next(c, &n, &res, &is_old);
            PQclear(res);
            if (!ok)
                return false;
        }
    }
    return c->count > 0 || PQtransactionStatus(c->pg) == PQTRANS_IDLE;
}
