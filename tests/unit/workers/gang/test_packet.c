/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet.c - heads at their edges and one past them; addresses of ranks, and all that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "workers/gang/packet.h"

static void heads_are_read_as_written(void **st)
{
    (void)st;
    static const struct { int kind; size_t bytes; bool ok; } rows[] = {
        { PACKET_IP, 1, true }, { PACKET_IP, PACKET_MAX, true }, { PACKET_IP, PACKET_MAX + 1, false }, { PACKET_IP, 0, false },
        { PACKET_STOP, PACKET_WORDS_MAX, true }, { PACKET_STOP, PACKET_WORDS_MAX + 1, false }, { PACKET_DONE, 1, true },
        { PACKET_DONE, 2, false }, { PACKET_FAILED, 7, true }, { PACKET_FAILED + 1, 1, false }, { 0, 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char head[PACKET_HEAD];
        enum packet_kind kind = PACKET_IP;
        size_t bytes = 0;
        struct err e = { 0 };
        packet_head_write((enum packet_kind)rows[i].kind, rows[i].bytes, head);
        enum errc rc = packet_head_read(head, &kind, &bytes, &e);
        assert_int_equal(rc, rows[i].ok ? ERR_OK : ERR_BAD_DATA);
        if (!rows[i].ok)
            continue;
        assert_int_equal(kind, rows[i].kind);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

static bool between(const unsigned char from[4], const unsigned char to[4], size_t n, int version)
{
    unsigned char p[20] = { (unsigned char)(version << 4 | 5) };
    int a = -1, b = -1;
    memcpy(p + 12, from, 4);
    memcpy(p + 16, to, 4);
    bool ok = packet_ranks(p, n, 3, &a, &b);
    if (ok)
        assert_true(a == from[3] - 1 && b == to[3] - 1);
    return ok;
}

static void only_ranks_send_and_are_sent_to(void **st)
{
    (void)st;
    static const unsigned char r0[4] = { 10, 91, 0, 1 }, r2[4] = { 10, 91, 0, 3 }, none[4] = { 10, 91, 0, 4 },
                               zero[4] = { 10, 91, 0, 0 }, all[4] = { 10, 91, 0, 255 }, other[4] = { 10, 92, 0, 1 },
                               metadata[4] = { 169, 254, 169, 254 }, group[4] = { 224, 0, 0, 251 };
    const unsigned char *const bad[] = { none, zero, all, other, metadata, group };
    assert_true(between(r0, r2, 20, 4));
    assert_true(between(r2, r0, 20, 4));
    assert_false(between(r0, r0, 20, 4));
    assert_false(between(r0, r2, 19, 4));
    assert_false(between(r0, r2, 20, 6));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(between(r0, bad[i], 20, 4));
        assert_false(between(bad[i], r0, 20, 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(heads_are_read_as_written),
                                        cmocka_unit_test(only_ranks_send_and_are_sent_to) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
