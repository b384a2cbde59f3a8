/* SPDX-License-Identifier: Apache-2.0 */
/* test_inventory.c - every stored object once, page by page, over the end of a page; the current root of each zone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "registry/vault/inventory.h"
#include "tests/db/harness.h"

static void pages_have_every_object_once(void **state)
{
    (void)state;
    struct pg_harness *pg = pg_harness_new();
    struct arena *a = arena_new(16 << 20);
    struct db_session *s;
    struct db_text_rows roots;
    struct err e = { 0 };
    struct inventory_object *list;
    struct uuid t = UUID_NIL, o = UUID_NIL;
    size_t n, seen = 0;
    bool is_there;
    pg_harness_migrate(pg, "falaj");
    pg_harness_exec(pg, "falaj",
        "INSERT INTO zone (code, name, country) VALUES ('ae-dxb-1', 'Dubai', 'AE');"
        "INSERT INTO tenant (tenant_id, name, display_name, home_zone, allowed_zones) SELECT gen_random_uuid(), 't' || i, 't', "
        "'ae-dxb-1',"
        " ARRAY['ae-dxb-1'] FROM generate_series(1, 3) i;"
        "INSERT INTO object (tenant_id, object_id, zone, kind, state, stored_bytes, sha256, stored_sha256) SELECT t.tenant_id, "
        "gen_random_uuid(),"
        " 'ae-dxb-1', 'dataset', 'COMMITTED', i, sha256('x'), sha256(i::text::bytea) FROM tenant t, generate_series(1, 1400) i "
        "WHERE t.name ~ '^t[123]$';"
        "UPDATE object SET state = 'DELETED' WHERE stored_bytes > 1398;"
        "INSERT INTO root_key (zone, version, provider, state) VALUES ('ae-dxb-1', 1, 'softfile', 'RETIRED'), ('ae-dxb-1', 2, "
        "'pkcs11', 'CURRENT')");
    assert_int_equal(db_session_new(pg_harness_conninfo(pg, "falaj_backup", "falaj"), "test", 0, &s, &e), ERR_OK);
    do {
        assert_int_equal(inventory_page(s, a, t, o, &list, &n, &e), ERR_OK);
        for (size_t i = 0; i < n; i++) {
            int after = uuid_cmp(t, list[i].tenant);
            assert_true(after < 0 || (after == 0 && uuid_cmp(o, list[i].object) < 0));
            t = list[i].tenant;
            o = list[i].object;
            assert_in_range(list[i].stored_bytes, 1, 1398);
        }
        seen += n;
    } while (n == INVENTORY_PAGE);
    assert_int_equal(seen, 3 * 1398);
    assert_int_equal(inventory_has(s, a, t, o, &is_there, &e), ERR_OK);
    assert_true(is_there);
    assert_int_equal(inventory_has(s, a, o, t, &is_there, &e), ERR_OK);
    assert_false(is_there);
    assert_int_equal(inventory_roots(s, a, &roots, &e), ERR_OK);
    assert_int_equal(roots.nrows, 1);
    assert_true(str_eq_c(roots.cells[1], "pkcs11") && str_eq_c(roots.cells[2], "2"));
    db_session_free(s);
    arena_free(a);
    pg_harness_free(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pages_have_every_object_once) };
    return cmocka_run_group_tests_name("vault_inventory", tests, NULL, NULL);
}
