/* SPDX-License-Identifier: Apache-2.0 */
/* test_create_objects.c - a backup has every object once, and says which has no bytes. */
#include "tests/db/backup/kit.h"

static void objects_are_copied_once(void **state)
{
    (void)state;
    says(run(backup_init, ERR_OK, 0), "recovery key");
    says(run(backup_init, ERR_CONFLICT, 0), "already");
    for (int i = 1; i <= 3; i++)
        add_object(i);
    says(run(backup_create, ERR_OK, 0), "3, of them 0 deleted meanwhile and 0 without bytes; 72 bytes copied");
    says(run(backup_create, ERR_OK, 0), "; 0 bytes copied");
    add_object(4);
    says(run(backup_create, ERR_OK, 0), "; 24 bytes copied");
    says(run(backup_list, ERR_OK, 0), "4 objects (0 missing)");
}

/* The pool has what the folder lost; an object that was never copied is named, and the backup says that it is not whole. */
static void lost_bytes_are_named(void **state)
{
    (void)state;
    drop_blob(1);
    says(run(backup_create, ERR_OK, 0), "0 without bytes");
    add_object(5);
    add_object(6);
    drop_blob(5);
    FILE *f = fopen(fx_path("blobs/aa/000000000000000000000000000000aa/06/00000000000000000000000000000006"), "r+");
    assert_non_null(f);
    fputc('X', f);
    fclose(f);
    const char *said = run(backup_create, ERR_OK, 1);
    says(said, "2 without bytes");
    says(said, "obj_00000000-0000-0000-0000-000000000005");
    says(said, "its bytes are not those that were stored");
    says(run(backup_list, ERR_OK, 0), "6 objects (2 missing)");
    says(run(backup_verify, ERR_OK, 1), "had no bytes when the backup was made");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(objects_are_copied_once), cmocka_unit_test(lost_bytes_are_named) };
    return cmocka_run_group_tests_name("backup_create_objects", tests, kit_setup, kit_teardown);
}
