/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.h - what a scheduler knows of waiting jobs from plan to plan, so that a plan reads those that changed and not those
 * that wait; who stands by reads the same, so that it can plan at once.
 *
 * Kept is each job that may start now or as soon as there is room (queued, without not_before): what it asks for once for
 * all that ask for the same, and of the job itself what differs. Groups of one tenant and shape stand in the order of the
 * planner's index, the jobs of each by priority and id, so the front of every queue is the one that snapshot.c would read.
 *
 * Facts may come twice, late or out of order: a job's version only grows, and of one version what was read later stands. Who
 * left the queue is remembered until two further reads, for facts of it that come late. What is read (waiting_read.c) is
 * exact at the moment of its statement; between two of those the leader's own plans are told by waiting_doubt and
 * waiting_settle; what another scheduler's plans did is read from their notes.
 *
 * Where notes are gone that were not read, or the database is another one, all is forgotten and read again (ADR 0151).
 *
 * Memory: its own, about 130 bytes a job, WAITING_BYTES_MAX in all: beyond that nothing is kept until the next term, and
 * plans read the front as they do without a mirror. Texts that a snapshot got live until the next waiting_begin. One thread.
 * Errors of the reads: the database's. */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan/snapshot.h"

struct waiters;
struct stmt;
struct plan_line;

/* Rows that are read at once while not all is known, and that are compared. */
enum { WAITING_PART = 16384, WAITING_SLICE = 1024, WAITING_CHANGES = 50000, WAITING_MAX = 1000000,
       WAITING_SWEPT = 20000 };
#define WAITING_BYTES_MAX ((size_t)1 << 30)

/* A job as the database has it; version INT64_MAX: it is not there any more. */
struct waiting_fact {
    struct snap_job j;
    bool may_go, is_ready;              /* not asked to stop; in the queue */
    int64_t seen;                       /* the number of the statement that read it */
};

/* What was read so far: for tests and figures. */
struct waiting_count { int64_t loads, changed, compared, differing; size_t jobs, bytes; };

struct waiters *waiting_new(void);
void waiting_free(struct waiters *m);   /* NULL is fine */
void waiting_forget(struct waiters *m); /* all is read anew. NULL is fine */
void waiting_lead(struct waiters *m);   /* a new term: one that grew too large begins anew. NULL is fine */
/* Under which number its own plans are noted; NULL: 0. */
int64_t waiting_writer(const struct waiters *m);
struct waiting_count waiting_counted(const struct waiters *m);

/* Pure: the store. waiting_begin gives the next statement its number. */
int64_t waiting_begin(struct waiters *m);
void waiting_apply(struct waiters *m, const struct waiting_fact *f, size_t n);
/* The ready rows behind *after in the order of the index up to the last of them or, is_last, to the end: the same are known. */
struct waiting_key { struct uuid tenant_id, job_id; int64_t shape, priority; };
bool waiting_same(struct waiters *m, const struct waiting_fact *f, size_t n, const struct waiting_key *after, bool is_last);
/* Of every group the first jobs that may go, `limit` in all and one of a group at least; ret: struct snap_job, in the arena. */
void waiting_front(const struct waiters *m, int64_t limit, struct arena *a, struct slice *ret);
/* What a job is told, as one number. */
uint64_t waiting_said(struct str reason, struct str message);

/* Whether all is known; and whether anything is. */
bool waiting_is_whole(const struct waiters *m);
bool waiting_is_begun(const struct waiters *m);
/* Asked between two parts: no more of them now. */
typedef bool (*waiting_enough)(void *ctx);
/* Parts of what is not known yet, each in a transaction of its own and the next one read while one is put in, until all is known
 * or it is enough; one at least. ret_more: there is more. Without a mirror nothing. */
enum errc waiting_load(const struct app *app, waiting_enough enough, void *ctx, bool *ret_more, struct err *e) MUST_CHECK;
/* After the first one. */
bool waiting_one_part(void *ctx);
/* What changed since the last read; compares: a slice too. Asked first (db_ask), so that it is read in the same wait as what is
 * asked for next to it; nothing else of the mirror may be called in between. After the read it may not be whole any more. An ask
 * that is never read is as none. */
struct waiting_ask;
struct waiting_ask *waiting_asked(struct work *w, bool compares);
enum errc waiting_read(struct work *w, struct waiting_ask *a, struct err *e) MUST_CHECK;
/* Removes the notes that were there when this was asked before, as the leader read them then or, where it keeps nothing, by the
 * database: whoever stands by has read them since. WAITING_SWEPT of a kind at most; ret_more: so many. */
enum errc waiting_tidy(struct work *w, bool *ret_more, struct err *e) MUST_CHECK;

/* Before a plan's lines are written: what becomes of these jobs is not known, until waiting_settle says or the next read
 * looks. NULL is fine in each. */
void waiting_doubt(struct waiters *m, const struct snapshot *s, const struct plan *p);
/* Committed: the lines are attempts. */
void waiting_settle(struct waiters *m, const struct plan_line *lines, size_t n);
/* Committed: the plan's reasons are written. */
void waiting_told(struct waiters *m, const struct snapshot *s, const struct plan *p);

extern const struct stmt *const waiting_stmts[];
