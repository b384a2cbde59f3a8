/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_int.h - what the files of the mirror of waiting jobs share: waiting.c the jobs, waiting_class.c what they ask for,
 * waiting_read.c what is read. */
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
    bool is_whole, is_off;
    struct waiting_key after;           /* so far it was loaded or compared */
    struct doubt { struct uuid tenant_id, job_id; } *doubts;
    size_t ndoubts, capdoubts;
};

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
