/* SPDX-License-Identifier: Apache-2.0 */
/* test_set.c - a manifest comes back as it was sealed, and whatever is changed behind it is refused. */
#include "tests/unit/backup/kit.h"

static enum errc count(void *ctx, const struct set_object *o, struct err *err)
{
    (void)err;
    ((int *)ctx)[o->state]++;
    return ERR_OK;
}

static void what_is_sealed_is_read(void **state)
{
    (void)state;
    struct set s;
    int n[3] = { 0 };
    kit_make("good");
    assert_int_equal(access(fx_path("good/sets/20261124T020000Z-00000001.partial"), F_OK), -1);
    OK(set_read(fx_arena, &kit_repo, STR_NULL, kit_key.signer, &s, &e));
    assert_true(str_eq(s.name, kit_set.name) && uuid_eq(s.id, kit_set.id) && s.schema == 97 && s.snapshot_us == 2 &&
                s.objects == 3 && s.gone == 1);
    assert_true(s.nparts == 2 && set_part_find(&s, "database") && set_part_find(&s, "files") && !set_part_find(&s, "erasures"));
    assert_true(s.nzones == 1 && s.zones[0].has_key && s.zones[0].audit_key[0] == 4 && s.zones[0].root_version == 3);
    OK(set_file_check(fx_arena, &kit_repo, &s, "database.fbk", &set_part_find(&s, "database")->sum, &e));
    OK(set_objects(fx_arena, &kit_repo, &s, count, n, &e));
    assert_true(n[OBJECT_PRESENT] == 2 && n[OBJECT_GONE] == 1 && n[OBJECT_MISSING] == 0);
}

static void what_is_changed_is_refused(void **state)
{
    (void)state;
    struct set s;
    uint8_t other[32] = { 1 };
    int n[3] = { 0 };
    kit_make("bad");
    FAILS(set_read(fx_arena, &kit_repo, STR_NULL, other, &s, &e), DAMAGED, "not signed");
    FAILS(set_read(fx_arena, &kit_repo, STR("nothing"), NULL, &s, &e), NOT_FOUND, "no backup");
    FAILS(set_read(fx_arena, &kit_repo, STR("../../etc"), NULL, &s, &e), INVALID, "as falaj-backup list names it");
    FAILS(set_read(fx_arena, &kit_repo, STR("x.partial"), NULL, &s, &e), CONFLICT, "not finished");
    flip(kit_path("manifest.json"), 40);
    FAILS(set_read(fx_arena, &kit_repo, STR_NULL, NULL, &s, &e), DAMAGED, "not signed");
    flip(kit_path("manifest.json"), 40);
    flip(kit_path("manifest.sig"), 3);
    FAILS(set_read(fx_arena, &kit_repo, STR_NULL, NULL, &s, &e), DAMAGED, "not signed");
    flip(kit_path("manifest.sig"), 3);
    OK(set_read(fx_arena, &kit_repo, STR_NULL, NULL, &s, &e));
    flip(kit_path("objects"), 0);
    FAILS(set_file_check(fx_arena, &kit_repo, &s, "objects", &s.list, &e), DAMAGED, "was changed");
    flip(kit_path("objects"), 36);          /* the space between the ids */
    FAILS(set_objects(fx_arena, &kit_repo, &s, count, n, &e), DAMAGED, "line 1");
    assert_int_equal(truncate(kit_path("objects"), 10), 0);
    FAILS(set_file_check(fx_arena, &kit_repo, &s, "objects", &s.list, &e), DAMAGED, "cut: 10 of");
    assert_int_equal(truncate(kit_path("objects"), 0), 0);
    FAILS(set_objects(fx_arena, &kit_repo, &s, count, n, &e), DAMAGED, "0 objects");
}

/* One that was signed under another name is not this one: nobody can pass an old backup off as a new one. */
static void a_set_keeps_its_name(void **state)
{
    (void)state;
    struct set s;
    kit_make("renamed");
    assert_int_equal(rename(kit_path(""), fx_path("renamed/sets/20991124T020000Z-00000001")), 0);
    FAILS(set_read(fx_arena, &kit_repo, STR_NULL, NULL, &s, &e), DAMAGED, "that of another backup");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_sealed_is_read), cmocka_unit_test(what_is_changed_is_refused),
                                        cmocka_unit_test(a_set_keeps_its_name) };
    return cmocka_run_group_tests_name("backup_set", tests, fx_setup, fx_teardown);
}
