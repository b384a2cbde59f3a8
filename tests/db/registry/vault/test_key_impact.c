/* SPDX-License-Identifier: Apache-2.0 */
/* test_key_impact.c - what is said to hang on a version is what stops opening when it is disabled, and no other; after a
 * rotation it is counted where its data keys lie; an act is foretold as the act itself answers; another tenant finds nothing. */
#include "tests/db/registry/fixture.h"
#include "registry/catalog/dataset.h"

static struct dataset_version upload(const char *name)
{
    struct dataset_new in = { .name = str_c(name), .description = STR(""), .data_class = 1, .label_column = STR("label"),
                              .classes = 2, .display_name = STR("The first"), .display_name_ar = STR("الأولى") };
    struct dataset d;
    struct dataset_version v;
    struct work w = begin(0);
    OK(dataset_create(&w, &in, &d, &e));
    OK(add_version(&w, d.dataset_id, STR_NULL, DATA_CSV, STR("a,b,label\n1,2,0\n3,4,1\n"), &v, &e));
    end(&w);
    return v;
}

static struct key_impact impact(int64_t version)
{
    struct key_impact k;
    struct work w = begin(0);
    OK(key_impact_read(&w, str_c(ZONE), version, &k, &e));
    end(&w);
    assert_int_equal(k.acts.n, 3);
    return k;
}

static bool has(const struct key_impact *k, const char *kind, const char *name)
{
    const struct key_thing *all = k->things.items;
    for (size_t i = 0; i < k->things.n; i++)
        if (str_eq_c(all[i].kind, kind) && str_eq_c(all[i].name, name))
            return true;
    return false;
}

static bool names(const struct key_impact *k, const char *name)
{
    const struct key_thing *all = k->things.items;
    for (size_t i = 0; i < k->things.n; i++)
        if (str_eq_c(all[i].kind, "dataset") && str_eq_c(all[i].name, name))
            return str_eq_c(all[i].display_name, "The first") && str_eq_c(all[i].display_name_ar, "الأولى");
    return false;
}

static enum errc opens(struct uuid object)
{
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    struct work w = begin(0);
    enum errc rc = object_open(&w, object, "dataset", &r, &e);
    db_rollback(w.tx);
    return rc;
}

static void test_what_hangs_is_what_stops(void **state)
{
    (void)state;
    struct dataset_version first = upload("first"), second;
    struct key_version made;
    struct key_impact one = impact(1), two;
    const struct key_rehearsal *acts = one.acts.items;
    assert_true(names(&one, "first"));
    assert_true(acts[0].allowed && str_eq_c(acts[0].stops, "nothing") && acts[0].moves >= 1);
    assert_true(acts[1].allowed && str_eq_c(acts[1].stops, "reads"));
    assert_false(acts[2].allowed);                              /* the primary one: rotate first */
    assert_int_equal(acts[2].why.len > 0, 1);

    struct work w = begin(0);
    OK(key_rotate(&w, str_c(ZONE), false, &made, &e));
    end(&w);
    second = upload("second");
    one = impact(1);
    two = impact(made.key_version);
    assert_true(names(&one, "first") && !names(&one, "second"));
    char object[UUID_TEXT], tenant[UUID_TEXT], sql[1024];
    uuid_text(first.object_id, object);
    uuid_text(people[0]->tenant_id, tenant);
    snprintf(sql, sizeof sql,
        "INSERT INTO shared_environment (shared_id, zone, digest, name, owner_id, environment_id, object_id, data_class,"
        " size_bytes, unpacked_bytes, files, package_count, package_source, layers, packages, published_by) VALUES"
        " ('%s', '%s', 'sha256:' || repeat('d', 64), 'base', '%s', '%s', '%s', 'public', 6, 6, 1, 0, 'none', '[]', '[]', '%s')",
        object, ZONE, tenant, object, object, tenant);
    pg_harness_exec(pg, DB, sql);
    one = impact(1);
    assert_true(has(&one, "shared", "base") && !has(&two, "shared", "base"));
    assert_true(names(&two, "second") && !names(&two, "first"));
    acts = one.acts.items;
    assert_int_equal(acts[0].moves, 0);
    assert_true(acts[2].allowed && acts[2].takes_approval && str_eq_c(acts[2].stops, "forever"));

    w = begin(0);
    OK(key_disable(&w, str_c(ZONE), 1, &made, &e));
    end(&w);
    assert_int_not_equal(opens(first.object_id), ERR_OK);
    OK(opens(second.object_id));
    one = impact(1);
    acts = one.acts.items;
    assert_true(names(&one, "first"));
    assert_false(acts[1].allowed);
    w = begin(0);
    assert_int_equal(key_disable(&w, str_c(ZONE), 1, &made, &e), ERR_CONFLICT);
    db_rollback(w.tx);
}

static void test_other_tenant(void **state)
{
    (void)state;
    struct key_impact k;
    struct work w = begin(1);
    assert_int_equal(key_impact_read(&w, str_c(ZONE), 1, &k, &e), ERR_NOT_FOUND);
    db_rollback(w.tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_hangs_is_what_stops), cmocka_unit_test(test_other_tenant) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
