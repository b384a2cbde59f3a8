/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_int.h - what the files of the mirror of waiting jobs share: waiting.c the jobs, waiting_class.c what they ask for,
 * waiting_read.c what is read, waiting_load.c how all of it is read. */
#pragma once
#include "scheduler/mirror/runs.h"
#include "scheduler/mirror/waiting.h"

struct group;

/* What jobs of one tenant ask for, each once; job: a template without what differs. Its texts are in the same block. */
struct wish {
    struct group *group;
    struct wish *next;                  /* of the group, or of those that went */
    size_t refs, bytes;
    struct snap_job job;
};
/* Jobs of one tenant and shape. */
struct group {
    struct uuid tenant_id;
    int64_t shape;
    size_t n;                           /* jobs */
    struct wish *wishes;
    struct runs jobs;                   /* entries */
};
struct entry {
    struct uuid tenant_id, job_id;
    struct wish *wish;                  /* NULL: it left the queue */
    int64_t priority, version, fence, submitted_us, max_runtime_s, seen;
    uint64_t said;
    uint32_t next_free;
    uint8_t reason;
    bool may_go, is_used;
};

/* Where reading of all begins or goes on: with the jobs that came since a transaction, or walks behind a key. */
struct waiting_from { int64_t came; bool walks; struct waiting_key after; };
/* A part of all that waits; from, and seen: the number of a statement before it, are given. */
struct waiting_part {
    struct waiting_from from, next;
    int64_t seen;
    struct waiting_fact *items;
    size_t n;
    bool is_last;
};

struct waiters {
    struct entry *items;                /* 0 is nobody's: what is looked for stands there */
    uint32_t n, cap, first_free;
    uint32_t *index;                    /* open addressing, by job */
    size_t nindex, njobs;
    struct group **groups;              /* in the order of tenant and shape */
    size_t ngroups, capgroups, nshapes; /* shapes: groups that have jobs */
    struct wish *dead;
    size_t bytes;                       /* of wishes, groups and their runs */
    uint32_t *gone;                     /* who left, oldest first */
    size_t ngone, capgone;
    int64_t statement;
    struct waiting_count count;
    char *last;                         /* what the last read saw (pg_snapshot); NULL: nothing is known */
    char *epoch;                        /* and of which database */
    char *sweep;                        /* what was seen when notes were removed last; NULL: they were not yet */
    int64_t writer;                     /* whose plans are no news */
    bool is_whole, is_off;
    struct waiting_from from;           /* so far it was loaded */
    struct waiting_key after;           /* and compared */
    int64_t part;                       /* rows of a part */
    struct doubt { struct uuid tenant_id, job_id; } *doubts;
    size_t ndoubts, capdoubts;
};

/* waiting_read.c: what changed since the last read, or where nothing is known since now. */
enum errc waiting_read_changes(struct work *w, struct err *e) MUST_CHECK;
/* The rows of a part, at most so many, into w->arena; in any thread. */
enum errc waiting_read_part(struct work *w, struct waiting_part *p, int64_t most, struct err *e) MUST_CHECK;
void waiting_put(struct waiters *m, const struct waiting_part *p);
static inline struct waiting_key waiting_key_of(const struct waiting_fact *f)
{
    return (struct waiting_key){ f->j.tenant_id, f->j.job_id, f->j.shape, f->j.priority };
}

/* waiting_class.c: the wish of such a job, one more of its jobs; NULL never. */
struct wish *waiting_wish(struct waiters *m, const struct snap_job *j);
void waiting_unwish(struct waiters *m, struct wish *w);
bool waiting_wish_same(const struct wish *w, const struct snap_job *j);
/* The first group that does not stand before. */
size_t waiting_group_at(const struct waiters *m, struct uuid tenant_id, int64_t shape);
/* Wishes that went before the last statement; all: everything. */
void waiting_bury(struct waiters *m);
void waiting_forget_classes(struct waiters *m);
/* Its place in items; 0: unknown. */
uint32_t waiting_find(const struct waiters *m, struct uuid tenant_id, struct uuid job_id);
uint8_t waiting_reason(struct str s);
size_t waiting_bytes(const struct waiters *m);
