/* SPDX-License-Identifier: Apache-2.0 */
/* keeping_kit.h - two tenants with keys from a real falaj-keyd, three people, and what they do. */
#pragma once
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/crypto/hash.h"
#include "core/crypto/secmem.h"
#include "keys/client.h"
#include "tests/db/audit/fixture.h"
#include "tests/lib/wait.h"

static char dir[64];
static pid_t keyd;
static struct uuid ann, bob, officer;
static struct db_pool *retention_pool;
static struct arena *results;

static inline void sql(const char *fmt, ...) PRINTF_LIKE(1, 2);
static inline void sql(const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    assert_in_range(vsnprintf(text, sizeof text, fmt, ap), 1, sizeof text - 1);
    va_end(ap);
    pg_harness_exec(pg, DB, text);
}

static inline const char *hex(struct uuid u)
{
    static char texts[8][UUID_TEXT];
    static int next;
    char *t = texts[next++ % 8];
    uuid_text(u, t);
    return t;
}

static inline void start_keyd(void)
{
    char bin[512], sock[128], file[128], zones[160];
    snprintf(dir, sizeof dir, "/tmp/audit_XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN") ? getenv("FALAJ_BIN") : ".");
    snprintf(sock, sizeof sock, "%s/keyd.sock", dir);
    snprintf(file, sizeof file, "%s/root", dir);
    keyd = fork();
    if (keyd == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(bin, bin, "--zone", "ae-dxb-1", "--socket", sock, "--softfile", file, "--init", (char *)NULL);
        _exit(127);
    }
    WAIT_WHILE(access(sock, F_OK));
    snprintf(zones, sizeof zones, "ae-dxb-1=%s", sock);
    OK(keyd_client_new(str_c(zones), 3000, &fx_keyd, &e));
}

static inline void give_key(struct uuid tenant)
{
    struct tkek_ref ref = { STR("ae-dxb-1"), tenant, STR(KEY_PURPOSE_DATA), 1 };
    struct key_blob blob;
    char text[2 * KEY_BLOB_MAX + 1];
    OK(keyd_tkek_new(fx_keyd, &ref, &blob, &e));
    hex_encode(blob.b, blob.n, text);
    sql("INSERT INTO tenant_key (tenant_id, zone, version, state, wrapped, root_version, provider) VALUES ('%s', 'ae-dxb-1', 1, "
        "'PRIMARY', '\\x%s', 1, 's')",
        hex(tenant), text);
}

static inline struct uuid add_user(const char *name)
{
    struct uuid u = uuid_v7(clock_wall_us(&clock_system));
    sql("INSERT INTO app_user (tenant_id, user_id, name) VALUES ('%s', '%s', '%s')", hex(tenant_a), hex(u), name);
    return u;
}

static inline int begin(void **state)
{
    static const struct stmt *const *const lists[] = { audit_retention_drop_stmts, NULL };
    OK(secmem_init(1 << 20, false, &e));
    results = arena_new(64u << 20);
    setup(state);
    start_keyd();
    give_key(tenant_a);
    give_key(tenant_b);
    ann = add_user("ann");
    bob = add_user("bob");
    officer = add_user("officer");
    fx_pii = audit_pii_new();
    retention_pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_retention", DB), .size = 1,
        .lists = lists });
    OK(db_pool_check(retention_pool, &e));
    sql("UPDATE audit_shadow SET event_id = gen_random_uuid()");
    return 0;
}

static inline int end(void **state)
{
    char cmd[96];
    audit_pii_free(fx_pii);
    keyd_client_free(fx_keyd);
    kill(keyd, SIGTERM);
    waitpid(keyd, NULL, 0);
    db_pool_free(retention_pool);
    teardown(state);
    arena_free(results);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

/* n acts of a person, at a time: on a person, or on a job where that is nil. */
static inline void act_on(struct uuid who, struct uuid whom, enum audit_code code, int n, int64_t at_us)
{
    struct unit *k = unit_open(NULL, SCOPE_TENANT(tenant_a));
    if (!audit_pii_is_ready(fx_pii, who, k->w.now_us))
        OK(audit_pii_load(&k->w, fx_pii, tenant_a, who, STR("ae-dxb-1"), &e));
    unit_close(k);
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    for (int i = 0; i < n; i++) {
        struct audit_event ev = audit_event_of(&u->w, code);
        ev.actor = AUDIT_USER;
        ev.actor_id = who;
        ev.ts_us = at_us ? at_us : u->w.now_us;
        ev.src_ip = STR("203.0.113.7");
        ev.request_id = STR("req_keeping");
        ev.resource_kind = uuid_is_nil(whom) ? STR("job") : STR("user");
        ev.resource_prefix = uuid_is_nil(whom) ? "job" : "usr";
        ev.resource_id = uuid_is_nil(whom) ? who : whom;
        ev.denied = i == 1;
        OK(audit_append(&u->w, &ev, &e));
    }
    unit_commit(u);
    tick(1000);
}

static inline void act(struct uuid who, enum audit_code code, int n, int64_t at_us)
{
    act_on(who, UUID_NIL, code, n, at_us);
}
