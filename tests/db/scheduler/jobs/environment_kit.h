/* SPDX-License-Identifier: Apache-2.0 */
/* environment_kit.h - environments in each state, by the jobs that imported them, and jobs that run in one. */
#pragma once
#include "tests/db/scheduler/jobs/submit_kit.h"
#include "core/db/run_tx.h"
#include "core/wire/type_run.h"
#include "registry/catalog/content_delete.h"
#include "registry/vault/blob_store.h"
#include "scheduler/jobs/environment.h"

#include <stdlib.h>

static const char digest_a[] = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                  digest_b[] = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static struct work w;
static struct err e;

static inline void begin(void)
{
    arena = arena_new(64 << 20);
    e = (struct err){ 0 };
    w = (struct work){ .app = &f.api, .arena = arena, .tenant_id = f.tenant_a, .principal = who,
                       .now_us = clock_wall_us(&clock_system) };
}

/* state: of the import's job. */
static inline struct uuid add(int n, const char *name, const char *digest, const char *state, bool owns)
{
    char t[UUID_TEXT], d[UUID_TEXT], o[UUID_TEXT], v[UUID_TEXT], j[UUID_TEXT];
    const struct uuid env = uuid_v7(5000000 + (int64_t)n * 1000000), job = uuid_v7(1000000000 + (int64_t)n * 1000000);
    const bool is_over = strcmp(state, "RUNNING") != 0;
    uuid_text(f.tenant_a, t);
    uuid_text(dataset, d);
    uuid_text(object, o);
    uuid_text(env, v);
    uuid_text(job, j);
    fixture_exec(&f, "SET session_replication_role = replica;"
        "INSERT INTO job (tenant_id, job_id, name, kind, spec, state, queued, message, finished_at, result, created_by)"
        " VALUES ('%s', '%s', 'import', 'inspect', '{}', '%s', false, '%s', %s, %s, '%s');"
        "INSERT INTO environment (tenant_id, environment_id, name, dataset_id, dataset_version, object_id, allow_setuid,"
        " owns_archive, job_id, created_by) VALUES ('%s', '%s', '%s', '%s', 2, '%s', false, %s, '%s', '%s')",
        t, j, state, strcmp(state, "FAILED") ? "" : "layer 2 of the image: entry x: why", is_over ? "now()" : "NULL",
        strcmp(state, "COMPLETED") ? "NULL" : arena_printf(arena, "'{\"digest\":\"%s\",\"package_count\":2,\"packages\":"
        "[\"bash 5.2 amd64\",\"zlib1g 1.3 amd64\"],\"layers\":[]}'", digest), t, t, v, name, d, o, owns ? "true" : "false", j, t);
    return env;
}

static inline void reset(void)
{
    fixture_exec(&f, "UPDATE dataset_version SET format = 'oci'; DELETE FROM environment; DELETE FROM environment_key;"
                     "DELETE FROM environment_policy");
}

static inline enum errc run(const char *environment, struct job_submission *s)
{
    e = (struct err){ 0 };
    return prepare(who, JOB_RUN, arena_printf(arena, "{\"command\":[\"x\"],\"environment\":\"%s\"}", environment), NULL, 1, 0,
        s, &e);
}

static inline void job_in(struct uuid job, const char *environment, const char *state)
{
    char t[UUID_TEXT], j[UUID_TEXT], o[UUID_TEXT];
    uuid_text(f.tenant_a, t);
    uuid_text(job, j);
    uuid_text(object, o);
    fixture_exec(&f, "SET session_replication_role = replica;"
        "INSERT INTO job (tenant_id, job_id, name, kind, spec, state, queued, created_by)"
        " VALUES ('%s', '%s', 'user', 'run', '{\"environment\":\"%s\"}', '%s', false, '%s');"
        "INSERT INTO job_object (tenant_id, job_id, direction, name, object_id) VALUES ('%s', '%s', 'input', 'image:', '%s')",
        t, j, environment, state, t, t, j, o);
}
