/* SPDX-License-Identifier: Apache-2.0 */
/* fixture.h - a PostgreSQL with the schema, a real falaj-keyd, a blob directory, two tenants, and the frame of a unit of work. */
#pragma once
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "audit/actor_name.h"
#include "audit/event.h"
#include "audit/search.h"
#include "core/base/cleanup.h"
#include "core/base/work.h"
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"
#include "core/db/pool.h"
#include "core/db/tx.h"
#include "core/table/config.h"
#include "keys/client.h"
#include "registry/catalog/dataset.h"
#include "registry/catalog/secret.h"
#include "registry/vault/blob_store.h"
#include "registry/evidence/passport.h"
#include "registry/evidence/what_if.h"
#include "registry/vault/key_impact.h"
#include "registry/vault/key_life.h"
#include "registry/vault/key_rewrap.h"
#include "registry/vault/key_shred.h"
#include "registry/vault/shred_again.h"
#include "registry/vault/object.h"
#include "registry/registry.h"
#include "registry/vault/root_key.h"
#include "serving/deployment.h"
#include "tenants/access/principal.h"
#include "tenants/home/project.h"
#include "tenants/accounts/quota.h"
#include "tenants/home/residency_facts.h"
#include "tenants/home/zone.h"
#include "tests/db/harness.h"
#include "tests/lib/wait.h"

static const char DB[] = "falaj";
static const char ZONE[] = "ae-dxb-1";
static struct pg_harness *pg;
static struct app app;
static char dir[64];
static pid_t keyd;
static struct principal *people[2];
static struct arena *arena;
static struct err e;

/* It stands still when this returns. A signal alone stops a process of several threads only once the one that takes it
 * has run. */
static inline void keyd_stop(void)
{
    int status = 0;
    assert_int_equal(kill(keyd, SIGSTOP), 0);
    assert_int_equal(waitpid(keyd, &status, WUNTRACED), keyd);
    assert_true(WIFSTOPPED(status));
}

/* The one integer that a query of the superuser gives. */
static inline int64_t number(const char *sql)
{
    return pg_harness_number(pg, DB, sql);
}

#define OK(call)                                                                                  \
    do {                                                                                          \
        if ((call) != ERR_OK)                                                                     \
            fail_msg("%s: %s (%s) at %s:%d", #call, e.msg, e.detail, e.file ? e.file : "?", e.line); \
    } while (0)

static inline void start_keyd(void)
{
    char bin[512], sock[128], file[128];
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN") ? getenv("FALAJ_BIN") : ".");
    snprintf(sock, sizeof sock, "%s/keyd.sock", dir);
    snprintf(file, sizeof file, "%s/root", dir);
    keyd = fork();
    if (keyd == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(bin, bin, "--zone", ZONE, "--socket", sock, "--softfile", file, "--init", (char *)NULL);
        _exit(127);
    }
    WAIT_WHILE(access(sock, F_OK));
    char zones[160];
    snprintf(zones, sizeof zones, "%s=%s", ZONE, sock);
    OK(keyd_client_new(str_c(zones), 3000, &app.keyd, &e));
}

static inline void add_tenant(int i, const char *name)
{
    char sql[2048], t[UUID_TEXT], u[UUID_TEXT];
    struct str *zones;
    struct principal *p = people[i] = principal_new();
    p->tenant_id = uuid_v7(1000000 * (i + 1));
    p->user_id = uuid_v7(2000000 * (i + 1));
    p->home_zone = str_dup(p->arena, str_c(ZONE));
    zones = ARENA_NEW(p->arena, struct str);
    *zones = p->home_zone;
    p->allowed_zones = (struct slice){ zones, 1 };
    uuid_text(p->tenant_id, t);
    uuid_text(p->user_id, u);
    snprintf(sql, sizeof sql,
             "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) VALUES ('%s', '%s', '%s', '%s', ARRAY['%s']);"
             "INSERT INTO app_user (tenant_id, user_id, name) VALUES ('%s', '%s', 'ann');"
             "INSERT INTO quota (tenant_id, resource, hard_limit) VALUES ('%s', 'stored_bytes', %d), ('%s', 'objects', 100), ('%s', 'jobs', 100)",
             t, name, name, ZONE, ZONE, t, u, t, i ? 8000000 : 80000000, t, t);
    pg_harness_exec(pg, DB, sql);
}

static inline int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const app_lists[] = { residency_stmts, registry_stmts, deployment_stmts, project_stmts,
                                                           quota_stmts, audit_event_stmts, audit_search_stmts,
                                                           audit_actor_name_stmts, passport_stmts, key_impact_stmts, key_life_stmts, key_rewrap_stmts,
                                                           key_shred_stmts, shred_again_stmts, erasure_keeper_stmts,
                                                           root_key_stmts, what_if_stmts, zone_stmts,
                                                           zone_law_stmts, secret_stmts, NULL };
    static const struct stmt *const *const node_lists[] = { residency_stmts, registry_node_stmts, audit_event_stmts,
                                                           secret_node_stmts, NULL };
    OK(secmem_init(1 << 20, false, &e));
    snprintf(dir, sizeof dir, "/tmp/registry_XXXXXX");
    assert_non_null(mkdtemp(dir));
    pg = pg_harness_new();
    pg_harness_migrate(pg, DB);
    pg_harness_exec(pg, DB, "INSERT INTO zone (code, name, country, data_classes) VALUES ('ae-dxb-1', 'Dubai', 'AE', data_classes()), ('de-fra-1', 'Frankfurt', 'DE', data_classes())");
    char blobs[96];
    snprintf(blobs, sizeof blobs, "%s/blobs", dir);
    app = (struct app){ .program = "test", .clock = &clock_system, .config = config_new_default() };
    OK(blob_store_open_local(blobs, &app.blobs, &e));
    app.residency = residency_cache_new();
    start_keyd();
    add_tenant(0, "aaa");
    add_tenant(1, "bbb");
    app.pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_app", DB), .size = 3, .lists = app_lists });
    app.node_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_worker_api", DB), .size = 2, .lists = node_lists });
    OK(db_pool_check(app.pool, &e));
    OK(db_pool_check(app.node_pool, &e));
    arena = arena_new((size_t)256 << 20);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    char cmd[96];
    arena_free(arena);
    db_pool_free(app.pool);
    db_pool_free(app.node_pool);
    keyd_client_free(app.keyd);
    blob_store_free(app.blobs);
    residency_cache_free(app.residency);
    config_free((struct config *)(uintptr_t)app.config);
    kill(keyd, SIGTERM);
    waitpid(keyd, NULL, 0);
    principal_unref(people[0]);
    principal_unref(people[1]);
    pg_harness_free(pg);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

/* A unit of work of one tenant, its transaction begun. */
static inline struct work begin(int tenant)
{
    struct work w = { .app = &app, .arena = arena, .principal = people[tenant], .tenant_id = people[tenant]->tenant_id,
                      .now_us = clock_wall_us(&clock_system) };
    OK(db_begin(app.pool, SCOPE_TENANT(w.tenant_id), 0, arena, &w.tx, &e));
    return w;
}

static inline void end(struct work *w)
{
    OK(db_commit(w->tx, &e));
    db_rollback(w->tx);
    w->tx = NULL;
}

/* What was done so far is committed, the content sealed without a transaction, and the version added in another. */
static inline enum errc add_version(struct work *w, struct uuid dataset_id, struct str zone, int format, struct str content,
                                    struct dataset_version *ret, struct err *why)
{
    const struct dataset_content *c;
    end(w);
    TRY(dataset_content_seal(w, dataset_id, zone, format, content, &c, why));
    OK(db_begin(app.pool, SCOPE_TENANT(w->tenant_id), 0, w->arena, &w->tx, why));
    return dataset_version_add(w, c, ret, why);
}

static inline int64_t used(int tenant, const char *resource)
{
    struct work w = begin(tenant);
    struct slice s;
    int64_t n = -1;
    OK(quota_list(&w, &s, &e));
    for (size_t i = 0; i < s.n; i++)
        if (str_eq_c(((struct quota *)s.items)[i].resource, resource))
            n = ((struct quota *)s.items)[i].used;
    end(&w);
    return n;
}

static inline void blob_path(struct uuid tenant, struct uuid object, char out[256])
{
    char t[UUID_HEX], o[UUID_HEX];
    hex_encode(tenant.b, 16, t);
    hex_encode(object.b, 16, o);
    snprintf(out, 256, "%s/blobs/%s/%s/%s/%s", dir, t + 30, t, o + 30, o);
}
