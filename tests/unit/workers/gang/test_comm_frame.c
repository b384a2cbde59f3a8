/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm_frame.c - heads of frames, there and back, and each byte that may be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "workers/gang/comm_frame.h"

static const struct comm_frame data = { COMM_DATA, 3, 4, 0x01020304, "gradients", 0x1122334455 };

static void test_there_and_back(void **st)
{
    static const unsigned char bytes[COMM_HEAD] = "FJCM\1\2\3\4\4\3\2\1gradients\0\0\0\0\0\0\0\x55\x44\x33\x22\x11";
    unsigned char head[COMM_HEAD];
    struct comm_frame got;
    struct err e;
    (void)st;
    comm_frame_write(&data, head);
    assert_memory_equal(head, bytes, COMM_HEAD);
    assert_int_equal(comm_frame_read(head, &got, &e), ERR_OK);
    assert_int_equal(comm_frame_match(&got, &data, &e), ERR_OK);
    assert_string_equal(got.name, "gradients");
}

static void test_what_is_no_frame_says_what_was_expected(void **st)
{
    static const struct { int at; unsigned char is; const char *why; } rows[] = {
        { 0, 'G', "begins with FJCM" }, { 4, 2, "version 2" }, { 5, 0, "the kind 0" }, { 5, 4, "the kind 4" },
        { 6, 4, "rank 4 of 4" }, { 7, 3, "rank 3 of 3" }, { 7, 16, "rank 3 of 16" }, { 7, 0, "rank 3 of 0" },
        { 13, 0, "is no text" }, { 13, 7, "is no text" }, { 27, 'x', "is no text" }, { 33, 2, "announces" },
        { 5, COMM_HELLO, "announces" }, { 5, COMM_ABORT, "announces" },
    };
    struct comm_frame got;
    struct err e;
    (void)st;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char head[COMM_HEAD];
        comm_frame_write(&data, head);
        head[rows[i].at] = rows[i].is;
        if (comm_frame_read(head, &got, &e) != ERR_BAD_DATA || !strstr(e.msg, rows[i].why))
            fail_msg("byte %d = %d: %s", rows[i].at, rows[i].is, e.msg);
    }
}

static void test_ranks_that_differ_are_found_out(void **st)
{
    struct comm_frame other[6];
    struct err e;
    (void)st;
    for (int i = 0; i < 6; i++)
        other[i] = data;
    other[0].rank = 2;
    other[1].ranks = 8;
    other[2].sequence++;
    other[3].bytes--;
    other[4].name[0] = 'G';
    other[5].kind = COMM_HELLO;
    for (int i = 0; i < 6; i++)
        assert_int_equal(comm_frame_match(&other[i], &data, &e), ERR_BAD_DATA);
    assert_int_equal(comm_frame_match(&other[2], &data, &e), ERR_BAD_DATA);
    assert_string_equal(e.msg, "rank 3 of 4 sent part 16909061, 'gradients', 73588229205 bytes; expected of rank 3 of 4: "
                               "part 16909060, 'gradients', 73588229205 bytes");
}

static void test_last_words_are_text(void **st)
{
    unsigned char words[COMM_WORDS_MAX + 50];
    char out[COMM_WORDS_MAX + 1];
    (void)st;
    comm_frame_words((const unsigned char *)"no\x1b[2J memory\xff", 14, out);
    assert_string_equal(out, "no?[2J memory?");
    memset(words, 'w', sizeof words);
    comm_frame_words(words, sizeof words, out);
    assert_int_equal(strlen(out), COMM_WORDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_what_is_no_frame_says_what_was_expected),
        cmocka_unit_test(test_ranks_that_differ_are_found_out),
        cmocka_unit_test(test_last_words_are_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
