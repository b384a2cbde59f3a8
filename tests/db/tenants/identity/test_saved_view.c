/* SPDX-License-Identifier: Apache-2.0 */
/* test_saved_view.c - a view is its owner's until it is shared, another tenant's never, and a person has only so many. */
#include "tests/db/tenants/fixture.h"
#include "tenants/identity/saved_view.h"

static struct uuid tenant, other, huda, omar;
static struct principal *as_huda, *as_omar, *as_admin, *as_stranger;

static int setup(void **state)
{
    (void)state;
    static const struct stmt *const *const lists[] = { saved_view_stmts, NULL };
    world_new(lists, 4);
    tenant = new_id();
    other = new_id();
    tenant_make(tenant, "amana");
    tenant_make(other, "bahr");
    huda = user_make(tenant, "Huda", "ml-engineer");
    omar = user_make(tenant, "Omar", "ml-engineer");
    as_huda = principal_with(tenant, huda, ROLES(ML_ENGINEER));
    as_omar = principal_with(tenant, omar, ROLES(ML_ENGINEER));
    as_admin = principal_with(tenant, user_make(tenant, "Admin", "tenant-admin"), ROLES(TENANT_ADMIN));
    as_stranger = principal_with(other, user_make(other, "Stranger", "tenant-admin"), ROLES(TENANT_ADMIN));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    principal_unref(as_huda);
    principal_unref(as_omar);
    principal_unref(as_admin);
    principal_unref(as_stranger);
    world_free();
    return 0;
}

static struct saved_view put(const struct principal *p, const char *list, const char *name, const char *query, bool shared)
{
    struct work *w = unit_open(p->tenant_id, p);
    const struct saved_view in = { .list = str_c(list), .name = str_c(name), .query = str_c(query), .shared = shared };
    struct saved_view v;
    OK(saved_view_put(w, &in, &v, &e));
    v.name = v.list = v.query = v.owner_name = STR_NULL;
    unit_commit(w);
    return v;
}

static size_t seen_by(const struct principal *p, const char *list)
{
    struct work *w = unit_open(p->tenant_id, p);
    struct slice rows;
    OK(saved_view_list(w, str_c(list), UUID_NIL, 100, &rows, &e));
    const size_t n = rows.n;
    unit_drop(w);
    return n;
}

static void a_view_is_its_owners_until_it_is_shared(void **state)
{
    (void)state;
    struct slice rows;
    const struct saved_view mine = put(as_huda, "/v1/jobs", "failed", "?state=FAILED", false);
    assert_int_equal(seen_by(as_huda, "/v1/jobs"), 1);
    assert_int_equal(seen_by(as_huda, "/v1/models"), 0);
    assert_int_equal(seen_by(as_omar, "/v1/jobs"), 0);
    const struct saved_view again = put(as_huda, "/v1/jobs", "failed", "?state=TIMEOUT", true);
    assert_true(uuid_eq(mine.view_id, again.view_id));      /* one of the same name is replaced */
    assert_int_equal(seen_by(as_omar, "/v1/jobs"), 1);
    assert_int_equal(seen_by(as_stranger, "/v1/jobs"), 0);
    struct work *w = unit_open(tenant, as_omar);
    OK(saved_view_list(w, STR_NULL, UUID_NIL, 100, &rows, &e));
    const struct saved_view *v = rows.items;
    assert_true(str_eq_c(v->query, "?state=TIMEOUT") && str_eq_c(v->owner_name, "Huda") && v->shared);
    unit_drop(w);
    put(as_omar, "/v1/jobs", "failed", "?state=FAILED", false);     /* each has names of its own */
    assert_int_equal(seen_by(as_omar, "/v1/jobs"), 2);
    assert_int_equal(seen_by(as_huda, "/v1/jobs"), 1);
}

static void only_its_owner_or_who_manages_users_removes_it(void **state)
{
    (void)state;
    const struct saved_view shared = put(as_huda, "/v1/nodes", "mine", "", true);
    const struct saved_view own = put(as_huda, "/v1/nodes", "own", "", false);
    struct work *w = unit_open(tenant, as_omar);
    REFUSED(saved_view_delete(w, shared.view_id, &e), FORBIDDEN);
    REFUSED(saved_view_delete(w, own.view_id, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(other, as_stranger);
    REFUSED(saved_view_delete(w, shared.view_id, &e), NOT_FOUND);
    unit_drop(w);
    w = unit_open(tenant, as_admin);
    REFUSED(saved_view_delete(w, own.view_id, &e), NOT_FOUND);
    OK(saved_view_delete(w, shared.view_id, &e));
    unit_commit(w);
    w = unit_open(tenant, as_huda);
    OK(saved_view_delete(w, own.view_id, &e));
    unit_commit(w);
    assert_int_equal(seen_by(as_huda, "/v1/nodes"), 0);
}

static void a_person_has_only_so_many(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < VIEWS_OF_LIST; i++) {
        snprintf(name, sizeof name, "v%d", i);
        put(as_omar, "/v1/zones", name, "", false);
    }
    put(as_omar, "/v1/zones", "v3", "?x=1", false);         /* replacing one is no new one */
    struct work *w = unit_open(tenant, as_omar);
    const struct saved_view in = { .list = STR("/v1/zones"), .name = STR("one more"), .query = STR("") };
    struct saved_view v;
    REFUSED(saved_view_put(w, &in, &v, &e), LIMIT);
    unit_drop(w);
    put(as_huda, "/v1/zones", "one more", "", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_view_is_its_owners_until_it_is_shared),
                                        cmocka_unit_test(only_its_owner_or_who_manages_users_removes_it),
                                        cmocka_unit_test(a_person_has_only_so_many) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
