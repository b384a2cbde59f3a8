/* SPDX-License-Identifier: Apache-2.0 */
/* test_zone_law.c - which zones a tenant may ask for: those that there are, its home among them. */
#include "tests/db/tenants/fixture.h"
#include "audit/event.h"
#include "tenants/access/approval.h"
#include "tenants/home/zone.h"
#include "tenants/home/zone_law.h"

static struct uuid tenant;
static struct principal *boss;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { zone_stmts, zone_law_stmts, approval_stmts, audit_event_stmts, NULL };
    world_new(lists, 2);
    tenant = new_id();
    tenant_make(tenant, "amana");
    boss = principal_with(tenant, user_make(tenant, "admin", "tenant-admin"), ROLES(TENANT_ADMIN));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(boss);
    world_free();
    return 0;
}

static void a_tenant_asks_for_zones_that_there_are(void **state)
{
    (void)state;
    struct str both[] = { STR("ae-dxb-1"), STR("ae-auh-1") }, no_home[] = { STR("ae-auh-1") }, strange[] = { STR("ae-dxb-1"),
                                                                                                             STR("xx-yyy-1") };
    struct class_zones here = { 0, { no_home, 1 } }, nowhere = { 0, { strange, 2 } };
    const struct {
        struct tenant_zones in;
        const char *says;       /* NULL: it becomes a request */
    } rows[] = {
        { { .allowed_zones = { strange, 2 } }, "There is no zone xx-yyy-1" },
        { { .allowed_zones = { no_home, 1 } }, "The home zone ae-dxb-1" },
        { { { both, 2 }, { &nowhere, 1 } }, "There is no zone xx-yyy-1" },
        { { { both, 2 }, { &here, 1 } }, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct approval made;
        struct work *w = unit_open(tenant, boss);
        enum errc rc = tenant_zones_request(w, &rows[i].in, STR("growth"), &made, &e);
        if (!rows[i].says) {
            OK(rc);
            unit_commit(w);
            continue;
        }
        assert_int_equal(rc, ERR_UNPROCESSABLE);
        assert_string_equal(e.field, "/allowed_zones");
        assert_non_null(strstr(e.msg, rows[i].says));
        unit_drop(w);
    }
    assert_int_equal(NUMBER("SELECT count(*) FROM approval WHERE tenant_id = '%s' AND kind = 'tenant.zones'", hex(tenant)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_tenant_asks_for_zones_that_there_are) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
