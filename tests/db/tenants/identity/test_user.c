/* SPDX-License-Identifier: Apache-2.0 */
/* test_user.c - roles: none beyond the granter's own, each in its place, the officer alone, the last administrator stays. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/user.h"
#include <pthread.h>
#include <unistd.h>

static struct uuid tenant, other, admin;
static struct principal *boss;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { user_stmts, binding_stmts, NULL };
    world_new(lists, 4);
    other = new_id();
    tenant_make(other, "bahr");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_free();
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    static int n;
    char name[32];
    snprintf(name, sizeof name, "amana-%d", n++);
    tenant = new_id();
    tenant_make(tenant, name);
    admin = user_make(tenant, "admin", "tenant-admin");
    boss = principal_with(tenant, admin, ROLES(TENANT_ADMIN));
    return 0;
}

static int done(void **state)
{
    (void)state;
    principal_unref(boss);
    return 0;
}

static struct uuid binding_of(struct uuid user, const char *role)
{
    struct uuid id = UUID_NIL;
    struct db_text_rows r = rows_of("SELECT binding_id FROM role_binding WHERE tenant_id = '%s' AND user_id = '%s' AND role = '%s'",
                                    hex(tenant), hex(user), role);
    assert_int_equal(r.nrows, 1);
    assert_true(uuid_parse(r.cells[0], &id));
    return id;
}

static void made_with_roles(void **state)
{
    (void)state;
    struct app_user u = { 0 };
    struct str roles[] = { STR("ml-engineer"), STR("viewer") };
    struct work *w = unit_open(tenant, boss);
    OK(user_create(w, STR("huda"), STR("person"), (struct slice){ roles, 2 }, &u, &e));
    assert_true(str_eq_c(u.name, "huda") && str_eq_c(u.kind, "person") && str_eq_c(u.state, "ACTIVE"));
    assert_true(str_eq_c(u.roles.text, "[\"ml-engineer\", \"viewer\"]"));
    unit_commit(w);
    w = unit_open(tenant, boss);
    REFUSED(user_create(w, STR("huda"), STR("person"), (struct slice){ 0 }, &u, &e), EXISTS);
    assert_string_equal(e.field, "/name");
    unit_drop(w);
    w = unit_open(other, boss);
    REFUSED(user_get(w, u.user_id, &u, &e), NOT_FOUND);     /* another tenant's user is nobody */
    unit_drop(w);
}

static void one_bad_role_and_nobody_is_made(void **state)
{
    (void)state;
    struct app_user u = { 0 };
    struct str roles[] = { STR("viewer"), STR("root") };
    struct work *w = unit_open(tenant, boss);
    REFUSED(user_create(w, STR("sami"), STR("person"), (struct slice){ roles, 2 }, &u, &e), INVALID);
    assert_string_equal(e.field, "/role");
    unit_drop(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM app_user WHERE tenant_id = '%s' AND name = 'sami'", hex(tenant)), 0);
}

static void nobody_grants_beyond_the_own(void **state)
{
    (void)state;
    struct role_binding b;
    struct uuid v = user_make(tenant, "v", NULL);
    struct principal *engineer = principal_with(tenant, v, ROLES(ML_ENGINEER));
    struct work *w = unit_open(tenant, engineer);
    REFUSED(role_grant(w, v, STR("tenant-admin"), &b, &e), FORBIDDEN);
    enum permission missing;
    struct binding wanted = { .role = ROLE_TENANT_ADMIN, .place = BOUND_TENANT };
    struct authz_context here = { .now_us = w->now_us };
    assert_false(authz_may_grant(engineer, &wanted, &here, &missing));
    assert_non_null(strstr(e.msg, perm_row(missing)->wire));            /* the message names what is missing */
    REFUSED(role_grant(w, v, STR("compliance-officer"), &b, &e), FORBIDDEN);
    unit_drop(w);
    w = unit_open(tenant, boss);
    REFUSED(role_grant(w, v, STR("platform-admin"), &b, &e), UNPROCESSABLE);
    REFUSED(role_grant(w, v, STR("worker"), &b, &e), UNPROCESSABLE);
    REFUSED(role_grant(w, v, STR("nobody"), &b, &e), INVALID);
    REFUSED(role_grant(w, new_id(), STR("viewer"), &b, &e), NOT_FOUND);
    unit_drop(w);
    principal_unref(engineer);
}

static void the_officer_stands_alone(void **state)
{
    (void)state;
    struct role_binding b;
    struct uuid o = user_make(tenant, "o", NULL), v = user_make(tenant, "v", "viewer");
    struct work *w = unit_open(tenant, boss);
    OK(role_grant(w, o, STR("compliance-officer"), &b, &e));
    REFUSED(role_grant(w, o, STR("viewer"), &b, &e), CONFLICT);
    REFUSED(role_grant(w, v, STR("compliance-officer"), &b, &e), CONFLICT);
    unit_commit(w);
}

struct grant_race {
    struct uuid user, binding;
    const char *role;               /* NULL: revoke binding */
    enum errc rc;
    pthread_barrier_t *barrier;
};

static void *grant_thread(void *arg)
{
    struct grant_race *g = arg;
    struct err mine = { 0 };
    struct role_binding b;
    struct work w = { .app = &app, .arena = arena_new(1 << 20), .tenant_id = tenant, .principal = boss, .now_us = clock_wall_us(&clock_system) };
    pthread_barrier_wait(g->barrier);
    g->rc = db_begin(app_pool, SCOPE_TENANT(tenant), 0, w.arena, &w.tx, &mine);
    if (g->rc == ERR_OK)
        g->rc = g->role ? role_grant(&w, g->user, str_c(g->role), &b, &mine) : role_revoke(&w, g->binding, &mine);
    if (g->rc == ERR_OK) {
        usleep(2000);                                       /* both have looked before either commits */
        g->rc = db_commit(w.tx, &mine);
    }
    db_rollback(w.tx);
    arena_free(w.arena);
    return NULL;
}

static int both(struct grant_race r[2])
{
    pthread_t t[2];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        r[i].barrier = &barrier;
        assert_int_equal(pthread_create(&t[i], NULL, grant_thread, &r[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&barrier);
    return (r[0].rc == ERR_OK) + (r[1].rc == ERR_OK);
}

static void the_officer_stands_alone_when_two_grant_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        struct uuid u = user_make(tenant, name, NULL);
        struct grant_race r[2] = { { .user = u, .role = "compliance-officer" }, { .user = u, .role = "viewer" } };
        assert_int_equal(both(r), 1);
        assert_true(r[0].rc == ERR_CONFLICT || r[1].rc == ERR_CONFLICT);
    }
}

static void the_last_administrator_stays(void **state)
{
    (void)state;
    struct role_binding b;
    struct uuid second = user_make(tenant, "second", "tenant-admin");
    struct work *w = unit_open(tenant, boss);
    OK(role_revoke(w, binding_of(second, "tenant-admin"), &e));
    unit_commit(w);
    w = unit_open(tenant, boss);
    REFUSED(role_revoke(w, binding_of(admin, "tenant-admin"), &e), CONFLICT);
    unit_drop(w);
    w = unit_open(tenant, boss);
    OK(role_grant(w, second, STR("viewer"), &b, &e));
    OK(role_revoke(w, b.binding_id, &e));                   /* other roles have no last one */
    REFUSED(role_revoke(w, new_id(), &e), NOT_FOUND);
    unit_commit(w);
}

static void two_administrators_cannot_remove_each_other_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        struct uuid second = user_make(tenant, name, "tenant-admin");
        struct grant_race r[2] = { { .binding = binding_of(admin, "tenant-admin") }, { .binding = binding_of(second, "tenant-admin") } };
        assert_int_equal(both(r), 1);
        assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE tenant_id = '%s' AND role = 'tenant-admin'", hex(tenant)), 1);
        sql("UPDATE role_binding SET user_id = '%s' WHERE tenant_id = '%s' AND role = 'tenant-admin'", hex(admin), hex(tenant));
    }
}

static void every_change_moves_the_revision(void **state)
{
    (void)state;
    struct role_binding b;
    struct uuid v = user_make(tenant, "v", NULL);
    int64_t before = NUMBER("SELECT authz_rev FROM tenant WHERE tenant_id = '%s'", hex(tenant));
    struct work *w = unit_open(tenant, boss);
    OK(role_grant(w, v, STR("viewer"), &b, &e));
    unit_commit(w);
    w = unit_open(tenant, boss);
    REFUSED(role_grant(w, v, STR("viewer"), &b, &e), EXISTS);
    unit_drop(w);
    w = unit_open(tenant, boss);
    OK(role_revoke(w, binding_of(v, "viewer"), &e));
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT authz_rev FROM tenant WHERE tenant_id = '%s'", hex(tenant)), before + 2);
}

static void pages_go_on_where_they_ended(void **state)
{
    (void)state;
    struct slice page = { 0 };
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        user_make(tenant, name, "viewer");
    }
    size_t seen = 0;
    struct uuid at = UUID_NIL;
    struct work *w = unit_open(tenant, boss);
    do {
        OK(user_list(w, &(struct user_filter){ 0 }, at, 2, &page, &e));
        const struct app_user *u = page.items;
        for (size_t i = 0; i < page.n; i++) {
            assert_true(uuid_is_nil(at) || uuid_cmp(u[i].user_id, at) < 0);
            at = u[i].user_id;
            seen++;
        }
    } while (page.n == 2);
    assert_int_equal(seen, 5);
    OK(role_binding_list(w, &(struct binding_filter){ 0 }, UUID_NIL, 10, &page, &e));
    assert_int_equal(page.n, 5);
    unit_commit(w);
}

/* One row of each kind of credential, of the user and of somebody else; the number of live ones of a user. */
static struct uuid holder_of_all(const char *name)
{
    static int n;
    struct uuid u = user_make(tenant, name, "viewer");
    sql("INSERT INTO api_token (tenant_id, token_id, user_id, name, hash, hint, expires_at) VALUES"
        " ('%s', '%s', '%s', 't', sha256('t%d'), 'x', now() + interval '1 day')", hex(tenant), hex(new_id()), hex(u), ++n);
    sql("INSERT INTO session (tenant_id, session_id, user_id, hash, method, stage, proved_at, until) VALUES"
        " ('%s', '%s', '%s', sha256('s%d'), 'password', 'full', now(), now() + interval '1 day')", hex(tenant), hex(new_id()), hex(u), n);
    sql("INSERT INTO device_grant (device_hash, user_hash, client, state, of_tenant, of_user, expires_at) VALUES"
        " (sha256('d%d'), sha256('u%d'), 'c', 'APPROVED', '%s', '%s', now() + interval '1 day')", n, n, hex(tenant), hex(u));
    sql("INSERT INTO invitation (tenant_id, invitation_id, name, hash, created_by, expires_at) VALUES"
        " ('%s', '%s', 'guest %d', sha256('i%d'), '%s', now() + interval '1 day')", hex(tenant), hex(new_id()), n, n, hex(u));
    return u;
}

static int live(struct uuid u)
{
    struct db_text_rows r = rows_of(
        "SELECT (SELECT count(*) FROM api_token WHERE user_id = '%s' AND revoked_at IS NULL) + (SELECT count(*) FROM session WHERE user_id = '%s'"
        " AND ended_at IS NULL) + (SELECT count(*) FROM device_grant WHERE of_user = '%s' AND state = 'APPROVED')"
        " + (SELECT count(*) FROM invitation WHERE created_by = '%s' AND state = 'OPEN')", hex(u), hex(u), hex(u), hex(u));
    return atoi(r.cells[0].ptr);
}

static void every_credential_ends_with_its_user(void **state)
{
    (void)state;
    struct app_user u;
    struct uuid off = holder_of_all("off"), gone = holder_of_all("gone"), stays = holder_of_all("stays");
    struct work *w = unit_open(tenant, boss);
    OK(user_update(w, off, STR_NULL, STR("DISABLED"), -1, &u, &e));
    OK(user_update(w, off, STR_NULL, STR("ACTIVE"), -1, &u, &e));      /* gives none back */
    OK(user_update(w, stays, STR("renamed"), STR_NULL, -1, &u, &e));
    OK(user_deactivate(w, gone, &e));
    unit_commit(w);
    assert_int_equal(live(off), 0);
    assert_int_equal(live(gone), 0);
    assert_int_equal(live(stays), 4);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, done)
    const struct CMUnitTest tests[] = {
        T(made_with_roles), T(one_bad_role_and_nobody_is_made), T(nobody_grants_beyond_the_own), T(the_officer_stands_alone),
        T(the_officer_stands_alone_when_two_grant_at_once), T(the_last_administrator_stays),
        T(two_administrators_cannot_remove_each_other_at_once), T(every_change_moves_the_revision), T(pages_go_on_where_they_ended),
        T(every_credential_ends_with_its_user),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
