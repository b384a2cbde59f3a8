/* SPDX-License-Identifier: Apache-2.0 */
/* job_repo_kit.h - tenants with a user and an object each, and submissions of theirs made by hand, for job_repo.c's tests. */
#pragma once
#include "tests/db/tenants/fixture.h"
#include "core/crypto/hash.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/job_apply.h"
#include "scheduler/jobs/job_repo.h"
#include "scheduler/jobs/job_search.h"
#include "tenants/accounts/quota.h"

enum { TENANTS = 4 };
static struct uuid tenants[TENANTS], users[TENANTS], objects[TENANTS];
static struct arena *arena;

static inline int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { job_stmts, job_apply_stmts, job_search_stmts, quota_stmts, NULL };
    world_new(lists, 8);
    arena = arena_new(256u << 20);
    for (int i = 0; i < TENANTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "tenant-%d", i);
        tenants[i] = new_id();
        tenant_make(tenants[i], name);
        users[i] = user_make(tenants[i], "u", "ml-engineer");
        objects[i] = new_id();
        sql("INSERT INTO object (tenant_id, object_id, zone, kind, state, sha256, stored_sha256)"
            " VALUES ('%s', '%s', 'ae-dxb-1', 'dataset', 'COMMITTED', sha256(''), sha256(''))", hex(tenants[i]), hex(objects[i]));
    }
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    world_free();
    return 0;
}

static inline int fresh(void **state)
{
    (void)state;
    sql("DELETE FROM job_object; DELETE FROM job_event; DELETE FROM job; DELETE FROM idempotency; DELETE FROM audit_event;"
        "DELETE FROM job_end; UPDATE quota SET used = 0, ended = 0, hard_limit = 100");
    return 0;
}

/* body stands for the request: the same body has the same hash. */
static inline struct job_submission *item(int tenant, const char *key, const char *body)
{
    struct job_submission *s = ARENA_NEW(arena, struct job_submission);
    uint8_t *sha = arena_alloc(arena, 32);
    sha256(body, strlen(body), sha);
    s->job = (struct job){ .tenant_id = tenants[tenant], .job_id = new_id(), .name = str_dup(arena, str_c(body)), .kind = JOB_NOOP,
        .spec = { STR("{\"sleep_ms\": 1}") }, .pool = STR("default"), .data_class = STR("internal"), .queue = STR("default"), .slots = 1, .max_attempts = 3,
        .max_runtime_s = 60, .version = 1, .created_by = users[tenant] };
    s->kind_name = STR("noop");
    s->route = STR("job_submit");
    s->key = str_dup(arena, str_c(key));
    s->sha = str_n((char *)sha, 32);
    s->event_id = new_id();
    s->event = STR("{}");
    return s;
}

static inline struct work a_work(void)
{
    return (struct work){ .app = &app, .arena = arena, .now_us = clock_wall_us(&clock_system) };
}

static inline void submit(struct job_submission **items, size_t n)
{
    struct work w = a_work();
    OK(job_submit_many(&w, items, n, &e));
}

static inline int64_t used(int tenant)
{
    return NUMBER("SELECT " JOBS_USED " FROM quota WHERE tenant_id = '%s' AND resource = 'jobs'", hex(tenants[tenant]));
}

static inline int64_t jobs_of(int tenant)
{
    return NUMBER("SELECT count(*) FROM job WHERE tenant_id = '%s'", hex(tenants[tenant]));
}
