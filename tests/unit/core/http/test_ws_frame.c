/* SPDX-License-Identifier: Apache-2.0 */
/* test_ws_frame.c - messages in every cut, parts with control between them, and all that a frame must not be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/http/ws_frame.h"

static const uint8_t mask[4] = { 0x37, 0xfa, 0x21, 0x3d };

static size_t frame(char *out, enum ws_op op, bool is_last, bool is_masked, const char *body, size_t n)
{
    uint8_t head[WS_HEAD_MAX];
    const size_t h = ws_head(op, n, is_masked ? mask : NULL, head);
    if (!is_last)
        head[0] &= 0x7f;
    memcpy(out, head, h);
    memcpy(out + h, body, n);
    if (is_masked)
        ws_mask(out + h, n, mask);
    return h + n;
}

/* All messages of the bytes, given in steps, as "op:body " behind one another; the last word may be an error. */
static const char *read_in(const char *bytes, size_t n, bool from_client, size_t step)
{
    static char text[4096];
    struct ws_reader *r = calloc(1, sizeof *r);
    struct err e = { 0 };
    size_t at = 0;
    text[0] = 0;
    r->from_client = from_client;
    for (size_t i = 0; i < n; i += step) {
        struct str in = str_n(bytes + i, n - i < step ? n - i : step);
        for (enum ws_step got = WS_GOT; got == WS_GOT;) {
            struct ws_message m;
            const enum errc rc = ws_reader_take(r, &in, &got, &m, &e);
            if (rc != ERR_OK) {
                snprintf(text + at, sizeof text - at, "%s", err_row(rc)->wire);
                free(r);
                return text;
            }
            if (got == WS_GOT)
                at += (size_t)snprintf(text + at, sizeof text - at, "%d:%.*s ", (int)m.op, (int)m.body.len, m.body.ptr);
        }
    }
    free(r);
    return text;
}

static void the_example_of_the_standard_is_read(void **state)
{
    (void)state;
    static const char masked[] = "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", plain[] = "\x81\x05Hello";
    assert_string_equal(read_in(masked, sizeof masked - 1, true, 100), "1:Hello ");
    assert_string_equal(read_in(plain, sizeof plain - 1, false, 100), "1:Hello ");
    char own[32];
    assert_int_equal(frame(own, WS_TEXT, true, true, "Hello", 5), sizeof masked - 1);
    assert_memory_equal(own, masked, sizeof masked - 1);
}

static void messages_are_the_same_in_every_cut(void **state)
{
    (void)state;
    char bytes[2048], body[300];
    size_t n = 0;
    memset(body, 'x', sizeof body);
    n += frame(bytes + n, WS_BINARY, false, true, "ab", 2);
    n += frame(bytes + n, WS_PING, true, true, "p", 1);
    n += frame(bytes + n, WS_CONTINUATION, false, true, "", 0);
    n += frame(bytes + n, WS_CONTINUATION, true, true, "cd", 2);
    n += frame(bytes + n, WS_BINARY, true, true, "", 0);
    n += frame(bytes + n, WS_BINARY, true, true, body, sizeof body);
    n += frame(bytes + n, WS_CLOSE, true, true, "", 0);
    char want[512];
    snprintf(want, sizeof want, "9:p 2:abcd 2: 2:%.300s 8: ", body);
    for (size_t step = 1; step <= n; step++)
        assert_string_equal(read_in(bytes, n, true, step), want);
}

static void the_longest_message_passes_and_one_byte_more_does_not(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        const size_t size = WS_MESSAGE_MAX + more;
        char *body = calloc(1, size), *bytes = malloc(size + WS_HEAD_MAX);
        struct ws_reader *r = calloc(1, sizeof *r);
        struct ws_message m;
        enum ws_step step;
        struct str in = str_n(bytes, frame(bytes, WS_BINARY, true, false, body, size));
        const enum errc rc = ws_reader_take(r, &in, &step, &m, NULL);
        assert_int_equal(rc, more ? ERR_TOO_LARGE : ERR_OK);
        if (!more)
            assert_int_equal(m.body.len, WS_MESSAGE_MAX);
        free(r);
        free(body);
        free(bytes);
    }
}

static void parts_together_have_the_same_limit(void **state)
{
    (void)state;
    char *body = calloc(1, WS_MESSAGE_MAX), *bytes = malloc(2 * WS_MESSAGE_MAX);
    size_t n = frame(bytes, WS_BINARY, false, false, body, WS_MESSAGE_MAX - 1);
    n += frame(bytes + n, WS_CONTINUATION, true, false, "ab", 2);
    assert_string_equal(read_in(bytes, n, false, n), err_row(ERR_TOO_LARGE)->wire);
    free(body);
    free(bytes);
}

static void what_a_frame_must_not_be_is_refused(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t n; bool from_client; } all[] = {
        { "\x81\x01" "a", 3, true },                            /* a client without a mask */
        { "\x81\x81\1\2\3\4a", 7, false },                      /* a server with one */
        { "\xc1\x01" "a", 3, false }, { "\x83\x00", 2, false }, /* a reserved bit; an unknown kind */
        { "\x09\x00", 2, false }, { "\x89\x7e\x00\x7e", 4, false },     /* control in parts; too long */
        { "\x80\x01" "a", 3, false },                           /* a part of nothing */
        { "\x01\x01" "a\x81\x01" "b", 6, false },               /* a message within another */
        { "\x82\x7e\x00\x05hello", 9, false },                  /* a length of two bytes that needs one */
        { "\x82\x7f\0\0\0\0\0\0\0\5hello", 15, false },
        { "\x82\x7f\x80\0\0\0\0\0\0\5hello", 15, false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(read_in(all[i].bytes, all[i].n, all[i].from_client, 1), err_row(ERR_MALFORMED)->wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_standard_is_read),
        cmocka_unit_test(messages_are_the_same_in_every_cut),
        cmocka_unit_test(the_longest_message_passes_and_one_byte_more_does_not),
        cmocka_unit_test(parts_together_have_the_same_limit),
        cmocka_unit_test(what_a_frame_must_not_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
