/* SPDX-License-Identifier: Apache-2.0 */
/* test_blob_store.c - what holds for every kind of store: nothing is nothing, and a kind that cannot say whether it is there is.
 * */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "registry/vault/blob_store.h"

static void nothing_is_nothing(void **state)
{
    (void)state;
    blob_abort(NULL);
    blob_reader_close(NULL);
    blob_store_free(NULL);
}

static void a_folder_is_there_and_does_not_move(void **state)
{
    (void)state;
    char dir[] = "/tmp/blob_store_XXXXXX", tmp[64];
    struct blob_store *s;
    struct err e;
    int64_t blobs = 7, bytes = 7;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(blob_store_open_local(dir, &s, &e), ERR_OK);
    assert_int_equal(blob_store_look(s, &e), ERR_OK);
    assert_int_equal(blob_store_move(s, &blobs, &bytes, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "blob.s3_url"));
    assert_true(blobs == 7 && bytes == 7);
    blob_store_free(s);
    snprintf(tmp, sizeof tmp, "%s/tmp", dir);
    assert_int_equal(rmdir(tmp), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_nothing),
                                        cmocka_unit_test(a_folder_is_there_and_does_not_move) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
