/* SPDX-License-Identifier: Apache-2.0 */
/* submit_kit.h - a tenant with a data set of two versions and one machine, and what a submission becomes before it is stored. */
#pragma once
#include "tests/db/scheduler/fixture.h"
#include "scheduler/mirror/capacity.h"
#include "core/wire/type_train.h"
#include "scheduler/jobs/submit.h"
#include "tenants/access/principal.h"

#include <string.h>

static struct fixture f;
static struct machine m;
static struct principal *who;
static struct uuid dataset, object;

static inline struct principal *person(struct uuid tenant, const struct str *zones, size_t n)
{
    struct principal *p = principal_new();
    struct str *all = ARENA_ARRAY(p->arena, struct str, n);
    memcpy(all, zones, n * sizeof *zones);
    p->tenant_id = tenant;
    p->user_id = uuid_v7(1);
    p->home_zone = all[0];
    p->allowed_zones = (struct slice){ all, n };
    return p;
}

static inline void add_version(struct uuid tenant, int version, struct uuid obj, const char *zone)
{
    char t[UUID_TEXT], d[UUID_TEXT], o[UUID_TEXT];
    uuid_text(tenant, t);
    uuid_text(dataset, d);
    uuid_text(obj, o);
    fixture_exec(&f,
                 "INSERT INTO object (tenant_id, object_id, zone, kind, state, sha256, stored_sha256)"
                     " VALUES ('%s','%s','%s','dataset','COMMITTED',"
                     "sha256('a'), sha256('b'));"
                     "INSERT INTO dataset (tenant_id, dataset_id, name, data_class, label_column, classes, created_by)"
                     " VALUES ('%s','%s','digits','health','label',10,'%s')"
                     " ON CONFLICT DO NOTHING;"
                     "INSERT INTO dataset_version (tenant_id, dataset_id, version, object_id, row_count,"
                     " column_count, created_by)"
                     " VALUES ('%s','%s',%d,'%s',2,2,'%s');"
                     "UPDATE dataset SET latest_version = %d WHERE dataset_id = '%s'",
                 t, o, zone, t, d, o, t, d, version, o, o, version, d);
}

static inline int setup(void **state)
{
    (void)state;
    static const struct str zones[] = { { "ae-dxb-1", 8 } };
    fixture_open(&f);
    machine_up(&f, &m, "ae-dxb-1", "w1", 8, 1);
    who = person(f.tenant_a, zones, 1);
    dataset = uuid_v7(10);
    object = uuid_v7(20);
    add_version(f.tenant_a, 1, uuid_v7(30), "ae-dxb-1");
    add_version(f.tenant_a, 2, object, "ae-dxb-1");
    f.api.capacity = capacity_cache_new();
    return 0;
}
static inline int teardown(void **state)
{
    (void)state;
    capacity_cache_free(f.api.capacity);
    principal_unref(who);
    fixture_close(&f);
    return 0;
}

static struct arena *arena;
static int64_t nodes_asked;                 /* of each submission; 0: one machine */
static inline enum errc prepare(const struct principal *p, int kind, const char *spec, const char *zone, int64_t slots,
                                int64_t gpus,
                         struct job_submission *s, struct err *e)
{
    struct work w = { .app = &f.api, .arena = arena, .tenant_id = p->tenant_id, .principal = p,
                      .now_us = clock_wall_us(&clock_system) };
    struct job_create in = { .name = STR("j"), .kind = kind, .spec = { str_c(spec) }, .zone = zone ? str_c(zone) : STR_NULL,
                             .pool = STR("default"),
                             .slots = slots, .gpus = gpus, .nodes = { nodes_asked, nodes_asked },
                             .max_attempts = 3, .max_runtime_seconds = 60 };
    *s = (struct job_submission){ 0 };
    *e = (struct err){ 0 };
    return submit_prepare_one(&w, &in, p, s, e);
}

static inline const char *train_spec(int64_t version)
{
    return arena_printf(arena,
                        "{\"dataset_id\":\"%.*s\",\"dataset_version\":%ld,\"family\":\"mlp\",\"hidden\":[8],\"epochs\":1}",
                        STR_ARG(id_text(arena, "dst", dataset)), (long)version);
}
