/* SPDX-License-Identifier: Apache-2.0 */
/* test_range.c - a range gives its bytes and no more, says its digest, and ends where the file does with an error. */
#include "image_kit.h"
#include "workers/image/range.h"

static void a_range_is_its_bytes(void **state)
{
    (void)state;
    char got[8] = "";
    size_t n;
    struct err e = { 0 };
    struct range r;
    uint8_t sha[SHA256_BYTES], want[SHA256_BYTES];
    CLEANUP(fd_closep) int fd = archive_file(STR("0123456789"));
    struct source s = range_of(&r, fd, 3, 5);
    assert_int_equal(source_need(&s, got, 5, "five", &e), ERR_OK);
    assert_string_equal(got, "34567");
    assert_int_equal(range_read(&r, got, sizeof got, &n, &e), ERR_OK);
    assert_int_equal(n, 0);
    sha256_final(&r.sha, sha);
    sha256("34567", 5, want);
    assert_memory_equal(sha, want, sizeof sha);
    range_close(&r);
    s = range_of_trusted(&r, fd, 8, 3);
    assert_int_equal(range_read(&r, got, sizeof got, &n, &e), ERR_OK);
    assert_int_equal(n, 2);
    assert_int_equal(range_read(&r, got, sizeof got, &n, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "cut off"));
    (void)range_of(&r, -1, 0, 1);
    assert_int_equal(range_read(&r, got, sizeof got, &n, &e), ERR_IO);
    range_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_range_is_its_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
