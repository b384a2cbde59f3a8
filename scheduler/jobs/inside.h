/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - who is inside a running program now (core/wire/inside_wire.h): the row of a session from its beginning to its end.
 *
 * Calling order: inside_begin, which tells the machine -> inside_take, for the person's connection | inside_join, for the
 * machine's -> inside_heard every few seconds -> inside_end. A row of which nothing is heard for INSIDE_LOST_S was never come
 * for, or its process is gone: inside_sweep.h ends it, by the clock of falaj-api or at the next beginning in its tenant.
 * Bounds at one time: INSIDE_OF_USER, INSIDE_OF_JOB, INSIDE_OF_TENANT; beginnings of a tenant come one after the other.
 * Memory: w->arena. Errors: NOT_FOUND (as of any job that the caller does not see), CONFLICT (it does not run, is no program, or
 * has no standard input), UNPROCESSABLE (it has no machine of that rank), FORBIDDEN (the tenant lets nobody in), LIMIT. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "core/wire/inside_wire.h"

enum { INSIDE_OF_USER = 10, INSIDE_OF_JOB = 8, INSIDE_OF_TENANT = 50, INSIDE_LOST_S = 60 };

struct db_ask;
struct lease;
struct stmt;
extern const struct stmt inside_due_stmt;
extern const struct stmt *const inside_stmts[], *const inside_node_stmts[];    /* of the API's two roles */

struct inside_session {
    struct uuid session_id, job_id, attempt_id, node_id, user_id;
    int64_t rank;                       /* of its machine, of a job on several; else 0 */
    int kind;                           /* enum inside_kind */
    struct str ask;                     /* JSON */
    struct str ticket;                  /* from inside_begin alone: what opens its stream from a browser, once */
    struct str ticket_sha256;           /* in hex; empty: of the release before */
    struct timestamp asked_at;
};
extern const struct schema inside_session_schema;

/* Whether people may be let in at all. */
struct inside_policy {
    bool allowed;
    struct slice closed_projects;       /* struct uuid: in these they may not */
};
extern const struct schema inside_policy_schema;

/* rank: which of the job's machines. */
MUST_CHECK enum errc inside_begin(struct work *w, struct uuid job_id, int64_t rank, const struct inside_ask *ask,
                                  struct inside_session *ret, struct err *e);
/* Sessions of the tenant that nobody holds any more; they are ended. struct inside_session. */
MUST_CHECK enum errc inside_lost(struct work *w, struct slice *ret, struct err *e);
/* The caller's own, where people may be let in by now. */
MUST_CHECK enum errc inside_find(struct work *w, struct uuid job_id, struct uuid session_id, struct inside_session *ret,
                                 struct err *e);
/* The same, whose stream is opened now: CONFLICT where it was before, through whichever falaj-api. From a browser, whose
 * credential comes by itself, with its ticket: FORBIDDEN where it is not the session's; that opens nothing and leaves the
 * session to be opened. `ticket` NULL: not from a browser. */
MUST_CHECK enum errc inside_take(struct work *w, struct uuid job_id, struct uuid session_id, const struct str *ticket,
                                 struct inside_session *ret, struct err *e);
/* It is open. *ret_goes_on false: the attempt has ended; FORBIDDEN: nobody may be inside any more. */
MUST_CHECK enum errc inside_heard(struct work *w, struct uuid session_id, bool *ret_goes_on, struct err *e);
MUST_CHECK enum errc inside_end(struct work *w, struct uuid session_id, struct err *e);

/* Of machines, in the scope of all tenants: what this machine was not told in the last seconds (struct lease_session). In two
 * steps, between which other statements may be asked. */
struct db_ask *inside_notices_ask(struct work *w, struct uuid node_id);
MUST_CHECK enum errc inside_notices_told(struct work *w, struct db_ask *ask, struct slice *ret, struct err *e);
/* The machine of this lease has come for a session: STALE, where there is none of it, as where it is of another machine of the
 * same attempt. */
MUST_CHECK enum errc inside_join(struct work *w, const struct lease *l, struct uuid session_id, struct err *e);

MUST_CHECK enum errc inside_policy_get(struct work *w, struct inside_policy *ret, struct err *e);
MUST_CHECK enum errc inside_policy_set(struct work *w, const struct inside_policy *in, struct err *e);
