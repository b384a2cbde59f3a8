/* SPDX-License-Identifier: Apache-2.0 */
/* event_feed.h - what a page can watch: topics, who may, and where each of the things in them stands now.
 *
 * A topic is read as (id, state, version) of the newest FEED_WINDOW things in it, newest first; of jobs also those that a wake-up has just
 * named, however old. Who keeps the rows of one reading sees by the next one what has changed.
 * One round reads a topic once for each tenant and set of projects, however many pages watch it.
 * Each reading is a short read-only transaction in the scope of the tenant and, for who has roles in projects only, of these projects.
 * Calling order: feed_topics_parse, feed_permission of each -> feed_read once a round. Memory: the round's arena.
 * Errors: feed_topics_parse: INVALID at /topics, NOT_FOUND (an id that is none). feed_read: as db_begin and db_many. */
#pragma once
#include "core/base/work.h"
#include "tenants/access/principal.h"

struct stmt;

enum { FEED_TOPICS_MAX = 16, FEED_WINDOW = 200, FEED_WOKEN_MAX = 256, FEED_ROWS_MAX = FEED_WINDOW + FEED_WOKEN_MAX };
enum feed_kind { FEED_JOBS, FEED_JOB, FEED_NODES, FEED_APPROVALS, FEED_DEPLOYMENTS, FEED_KIND_COUNT };

struct feed_topic {
    enum feed_kind kind;
    struct uuid id;                 /* FEED_JOB */
};
struct feed_row {
    struct uuid id;
    struct str state;
    int64_t version;
};
/* Where a topic is read. */
struct feed_place {
    struct uuid tenant_id;
    const struct uuid *projects;    /* NULL: the whole tenant */
    size_t nprojects;
};
struct feed_round {
    const struct app *app;
    struct arena *arena;
    struct uuid woken[FEED_WOKEN_MAX];
    size_t nwoken;
    struct feed_seen *seen;         /* what has been read in this round */
};

/* "jobs,job:job_0198…,nodes" */
enum errc feed_topics_parse(struct str list, struct feed_topic ret[FEED_TOPICS_MAX], size_t *ret_n, struct err *e) MUST_CHECK;
struct str feed_topic_name(struct arena *a, struct feed_topic t);
enum permission feed_permission(enum feed_kind kind);
const char *feed_prefix(enum feed_kind kind);           /* of the ids in it */
/* ret: struct feed_row. */
enum errc feed_read(struct feed_round *r, const struct feed_place *at, struct feed_topic t, struct slice *ret, struct err *e) MUST_CHECK;

extern const struct stmt *const feed_stmts[];
