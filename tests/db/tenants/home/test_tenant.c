/* SPDX-License-Identifier: Apache-2.0 */
/* test_tenant.c - a tenant is made whole, with a key from the real falaj-keyd, or not at all. */
#include "tests/db/tenants/fixture.h"
#include "tests/lib/wait.h"
#include "keys/client.h"
#include "tenants/identity/authn.h"
#include "tenants/home/tenant.h"
#include "tenants/home/zone.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/falaj-tenant-XXXXXX", socket_path[64], file[64], map[160];
static pid_t keyd;
static struct keyd_client *keys;
static struct principal *staff;

static pid_t keyd_start(void)
{
    char bin[512];
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN") ? getenv("FALAJ_BIN") : "build/dev/bin");
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(bin, bin, "--zone", "ae-dxb-1", "--socket", socket_path, "--softfile", file, "--init", NULL);
        _exit(127);
    }
    return pid;
}

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { tenant_stmts, zone_stmts, authn_stmts, NULL };
    struct keyd_health h;
    assert_non_null(mkdtemp(dir));
    snprintf(socket_path, sizeof socket_path, "%s/keyd.sock", dir);
    snprintf(file, sizeof file, "%s/root.key", dir);
    snprintf(map, sizeof map, "ae-dxb-1=%s,ae-auh-1=%s/nobody.sock", socket_path, dir);
    keyd = keyd_start();
    OK(keyd_client_new(str_c(map), 3000, &keys, &e));
    WAIT_WHILE(keyd_health(keys, STR("ae-dxb-1"), &h, NULL) != ERR_OK);
    world_new(lists, 2);
    app.keyd = keys;
    staff = principal_with(UUID_NIL, user_make(UUID_NIL, "operator", "platform-admin"), ROLES(PLATFORM_ADMIN));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(staff);
    keyd_client_free(keys);
    kill(keyd, SIGTERM);
    waitpid(keyd, NULL, 0);
    unlink(file);
    unlink(socket_path);
    rmdir(dir);
    world_free();
    return 0;
}

static struct tenant_new wish(const char *name)
{
    return (struct tenant_new){ .name = str_c(name), .home_zone = STR("ae-dxb-1") };
}

static int64_t rows_about(const char *name)
{
    return NUMBER("SELECT count(*) FROM tenant WHERE name = '%s'", name);
}

static void made_whole(void **state)
{
    (void)state;
    struct tenant_created made = { 0 };
    struct tenant_new in = wish("amana");
    in.admin_name = STR("laila");
    struct work *w = unit_open(UUID_NIL, staff);
    OK(tenant_create(w, &in, &made, &e));
    assert_true(str_eq_c(made.tenant.name, "amana") && str_eq_c(made.tenant.display_name, "amana") && str_eq_c(made.tenant.state, "ACTIVE"));
    assert_true(str_eq_c(made.tenant.allowed_zones.text, "[\"ae-dxb-1\"]"));
    struct uuid t = made.tenant.tenant_id;
    unit_commit(w);
    assert_int_equal(NUMBER("SELECT count(*) FROM app_user WHERE tenant_id = '%s' AND name = 'laila'", hex(t)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM role_binding WHERE tenant_id = '%s' AND role = 'tenant-admin'", hex(t)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM quota WHERE tenant_id = '%s' AND used = 0", hex(t)), 5);
    assert_int_equal(NUMBER("SELECT count(*) FROM tenant_key WHERE tenant_id = '%s' AND state = 'PRIMARY' AND version = 1 AND zone = 'ae-dxb-1'", hex(t)), 1);
    assert_int_equal(NUMBER("SELECT count(*) FROM audit_event WHERE tenant_id = '%s' AND convert_from(body, 'UTF8') LIKE '%%FLJ-TEN-001%%'", hex(t)), 1);

    struct authn *authn = authn_new(app_pool, &clock_system, 0);        /* the first administrator is let in */
    struct principal *p = NULL;
    struct arena *a = arena_new(1 << 20);
    OK(authn_token(authn, str_c(made.admin_token), STR_NULL, a, &p, &e));
    assert_int_equal(p->roles, ROLES(TENANT_ADMIN));
    assert_true(uuid_eq(p->user_id, made.admin_user_id) && uuid_eq(p->tenant_id, t));
    principal_unref(p);
    arena_free(a);
    authn_free(authn);
}

/* In its own scope alone, whoever asks; a lost race is told. */
static void it_is_called_otherwise(void **state)
{
    (void)state;
    struct tenant t;
    struct db_text_rows r = rows_of("SELECT tenant_id FROM tenant WHERE name = 'amana'");
    struct uuid id = UUID_NIL;
    assert_true(uuid_parse(r.cells[0], &id));
    struct work *w = unit_open(UUID_NIL, staff);
    REFUSED(tenant_rename(w, id, &(struct shown_name){ .en = STR("Elsewhere") }, -1, &t, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(id, staff);
    OK(tenant_rename(w, id, &(struct shown_name){ STR("Amana Health"), STR("أمانة الصحية") }, -1, &t, &e));
    assert_true(str_eq_c(t.display_name, "Amana Health") && str_eq_c(t.display_name_ar, "أمانة الصحية"));
    REFUSED(tenant_rename(w, id, &(struct shown_name){ .ar = STR("") }, t.version - 1, &t, &e), PRECONDITION);
    unit_commit(w);
    w = unit_open(id, staff);
    OK(tenant_rename(w, id, &(struct shown_name){ .ar = STR("") }, -1, &t, &e));
    assert_true(str_eq_c(t.display_name, "Amana Health") && t.display_name_ar.len == 0);
    REFUSED(tenant_rename(w, new_id(), &(struct shown_name){ .en = STR("x") }, -1, &t, &e), NOT_FOUND);
    unit_commit(w);
}

/* The stored key opens at the daemon, for this tenant and for no other. */
static void its_key_works(void **state)
{
    (void)state;
    struct uuid t = UUID_NIL;
    struct key_blob blob = { 0 }, wrapped;
    struct db_text_rows r = rows_of("SELECT k.tenant_id, encode(k.wrapped, 'hex') FROM tenant_key k JOIN tenant USING (tenant_id) WHERE name = 'amana'");
    assert_int_equal(r.nrows, 1);
    assert_true(uuid_parse(r.cells[0], &t));
    blob.n = r.cells[1].len / 2;
    assert_true(hex_decode(r.cells[1], blob.b, blob.n));
    struct tkek_ref ref = { STR("ae-dxb-1"), t, STR(KEY_PURPOSE_DATA), 1 };
    struct dek_ref dek = { STR("ae-dxb-1"), t, STR("dataset"), new_id(), 1, new_id() };
    OK(keyd_dek_new(keys, &ref, &blob, &dek, &wrapped, NULL, &e));
    ref.tenant = dek.tenant = new_id();
    REFUSED(keyd_dek_new(keys, &ref, &blob, &dek, &wrapped, NULL, &e), DAMAGED);
}

static void a_name_is_taken_once(void **state)
{
    (void)state;
    struct tenant_created made = { 0 };
    struct tenant_new in = wish("amana");
    struct work *w = unit_open(UUID_NIL, staff);
    REFUSED(tenant_create(w, &in, &made, &e), EXISTS);
    assert_string_equal(e.field, "/name");
    unit_drop(w);
    assert_int_equal(rows_about("amana"), 1);
}

static void zones_that_do_not_fit(void **state)
{
    (void)state;
    struct tenant_created made = { 0 };
    struct tenant_new in = wish("bahr");
    struct str zones[] = { STR("ae-auh-1"), STR("xx-yyy-1") };
    struct work *w = unit_open(UUID_NIL, staff);
    in.home_zone = STR("zz-zzz-1");
    REFUSED(tenant_create(w, &in, &made, &e), UNPROCESSABLE);           /* no such zone */
    in.home_zone = STR("ae-dxb-1");
    in.allowed_zones = (struct slice){ zones, 1 };
    REFUSED(tenant_create(w, &in, &made, &e), UNPROCESSABLE);           /* home not among the allowed */
    assert_string_equal(e.field, "/home_zone");
    in.home_zone = STR("ae-auh-1");
    in.allowed_zones.n = 2;
    REFUSED(tenant_create(w, &in, &made, &e), UNPROCESSABLE);           /* one of the allowed does not exist */
    assert_string_equal(e.field, "/allowed_zones");
    unit_drop(w);
    assert_int_equal(rows_about("bahr"), 0);
}

static void no_key_no_tenant(void **state)
{
    (void)state;
    struct tenant_created made = { 0 };
    struct tenant_new in = wish("cedar");
    in.home_zone = STR("ae-auh-1");                                      /* nobody listens there */
    struct work *w = unit_open(UUID_NIL, staff);
    REFUSED(tenant_create(w, &in, &made, &e), UNAVAILABLE);
    unit_drop(w);
    kill(keyd, SIGUSR1);                                                 /* sealed */
    struct keyd_health h = { 0 };
    WAIT_WHILE(keyd_health(keys, STR("ae-dxb-1"), &h, &e) == ERR_OK && !h.is_sealed);
    in.home_zone = STR("ae-dxb-1");
    w = unit_open(UUID_NIL, staff);
    REFUSED(tenant_create(w, &in, &made, &e), SEALED);
    unit_drop(w);
    kill(keyd, SIGHUP);
    WAIT_WHILE(keyd_health(keys, STR("ae-dxb-1"), &h, &e) == ERR_OK && h.is_sealed);
    assert_int_equal(rows_about("cedar"), 0);
    assert_int_equal(NUMBER("SELECT count(*) FROM tenant_key"), 1);
}

static void the_platform_lists_and_a_tenant_sees_itself(void **state)
{
    (void)state;
    struct tenant_created made = { 0 };
    struct tenant t;
    struct slice list = { 0 };
    struct tenant_new in = wish("dana");
    struct work *w = unit_open(UUID_NIL, staff);
    OK(tenant_create(w, &in, &made, &e));
    OK(tenant_list(w, &(struct tenant_filter){ 0 }, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 2);                                         /* newest first, the platform itself is none */
    assert_true(str_eq_c(((struct tenant *)list.items)[0].name, "dana"));
    struct uuid amana = ((struct tenant *)list.items)[1].tenant_id, dana = made.tenant.tenant_id;
    unit_commit(w);
    w = unit_open(dana, NULL);
    OK(tenant_get(w, dana, &t, &e));
    REFUSED(tenant_get(w, amana, &t, &e), NOT_FOUND);
    OK(tenant_list(w, &(struct tenant_filter){ 0 }, UUID_NIL, 10, &list, &e));
    assert_int_equal(list.n, 1);
    unit_commit(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_whole), cmocka_unit_test(its_key_works), cmocka_unit_test(it_is_called_otherwise),
        cmocka_unit_test(a_name_is_taken_once), cmocka_unit_test(zones_that_do_not_fit),
        cmocka_unit_test(no_key_no_tenant), cmocka_unit_test(the_platform_lists_and_a_tenant_sees_itself),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
