/* SPDX-License-Identifier: Apache-2.0 */
/* test_custody.c - the regular work of the audit log: heads into the anchor file, and the access log compared. */
#include "tests/db/audit/fixture.h"
#include "core/table/config.h"
#include "scheduler/duty/custody.h"

#include <stdlib.h>
#include <unistd.h>

static struct config *cfg;
static struct app app;
static struct db_pool *pool;
static struct arena *arena;
static char dir[] = "/tmp/custody_XXXXXX", path[64];

static int begin(void **state)
{
    static const struct stmt *const *const lists[] = { audit_event_stmts, audit_anchor_stmts, audit_reconcile_stmts, custody_stmts, NULL };
    setup(state);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/access.log", dir);
    cfg = config_new_default();
    arena = arena_new(64u << 20);
    pool = db_pool_new(&(struct db_pool_opts){ .conninfo = pg_harness_conninfo(pg, "falaj_sequencer", DB), .size = 2, .lists = lists });
    OK(db_pool_check(pool, &e));
    app = (struct app){ .program = "test", .clock = &clock_system, .config = cfg };
    return 0;
}

static int end(void **state)
{
    char cmd[64];
    db_pool_free(pool);
    arena_free(arena);
    config_free(cfg);
    teardown(state);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

/* Events of the platform's log that hold these words. */
static size_t platform_events(const char *words)
{
    struct unit *u = unit_open(seq_pool, SCOPE_SYSTEM);
    struct audit_row *rows;
    size_t n, found = 0;
    tick(1000);
    OK(audit_list(&u->w, UUID_NIL, 0, 1000, &rows, &n, &e));
    for (size_t i = 0; i < n; i++)
        found += memmem(rows[i].body.ptr, rows[i].body.len, words, strlen(words)) != NULL;
    unit_commit(u);
    return found;
}

static void a_head_is_anchored_once(void **state)
{
    (void)state;
    cfg->audit_anchor_dir = dir;
    OK(custody_anchor(&app, pool, arena, &e));                      /* nothing is signed yet */
    assert_int_equal(platform_events("audit.anchor"), 0);
    append_committed(tenant_a, 3);
    tick(1000);
    sign_heads();
    OK(custody_anchor(&app, pool, arena, &e));
    OK(custody_anchor(&app, pool, arena, &e));
    assert_int_equal(platform_events("FLJ-AUD-007S"), 1);
    sign_heads();
    cfg->audit_anchor_dir = "/nowhere";
    OK(custody_anchor(&app, pool, arena, &e));                      /* a target that fails is told, and asked again next time */
    assert_int_equal(platform_events("FLJ-AUD-007F"), 1);
    cfg->audit_anchor_dir = "";
}

static void line(FILE *f, struct uuid tenant, bool audited, const char *id, int64_t age_s)
{
    struct buf b = BUF(512);
    assert_true(reconcile_print(&b, clock_wall_us(&clock_system) - age_s * 1000000, tenant, "job_submit", 201, audited, str_c(id)));
    fwrite(b.ptr, 1, b.len, f);
    buf_release(&b);
}

static void act(const char *request)
{
    struct unit *u = unit_open(app_pool, SCOPE_TENANT(tenant_a));
    struct audit_event ev = audit_event_of(&u->w, AUDIT_JOB_SUBMIT);
    ev.request_id = str_c(request);
    OK(audit_append(&u->w, &ev, &e));
    unit_commit(u);
    tick(1000);
}

static void a_call_without_its_event_shows(void **state)
{
    (void)state;
    FILE *f = fopen(path, "w");
    act("req_one");
    act("req_twice");
    line(f, tenant_a, true, "req_one", 900);
    line(f, tenant_a, false, "req_read", 900);
    OK(({ fflush(f); custody_reconcile(&app, pool, arena, path, &e); }));
    assert_int_equal(platform_events("FLJ-AUD-009S"), 1);
    line(f, tenant_a, true, "req_twice", 800);
    line(f, tenant_a, true, "req_twice", 800);                      /* the same id again, and one event only */
    line(f, tenant_b, true, "req_one", 800);                        /* another tenant's event does not count */
    line(f, tenant_a, true, "req_new", 1);                          /* too new to be judged */
    OK(({ fflush(f); custody_reconcile(&app, pool, arena, path, &e); }));
    assert_int_equal(platform_events("FLJ-AUD-009F"), 1);
    assert_int_equal(platform_events("\"lines\":3,\"audited\":3,\"missing\":2,\"malformed\":0,\"missing_1\":\"req_one\",\"missing_2\":\"req_twice\""), 1);
    fclose(f);
    f = fopen(path, "w");                                           /* rotated: begun anew */
    fputs("not a line\n", f);
    fclose(f);
    OK(custody_reconcile(&app, pool, arena, path, &e));
    assert_int_equal(platform_events("\"malformed\":1"), 1);
}

/* Under the role that counts on a platform, which owns nothing. */
static void events_in_no_log_are_counted(void **state)
{
    (void)state;
    OK(custody_count(&app, pool, arena, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_head_is_anchored_once), cmocka_unit_test(a_call_without_its_event_shows),
                                        cmocka_unit_test(events_in_no_log_are_counted) };
    return cmocka_run_group_tests(tests, begin, end);
}
