/* SPDX-License-Identifier: Apache-2.0 */
/* test_lines.c - lines of every length across the blocks, in reads of every size. */
#include "audit/lines_int.h"
#include "tests/unit/audit/fixture.h"

static void lines_cross_the_blocks(void **state)
{
    (void)state;
    static const size_t steps[] = { 0, 1000, 4093, 65536, LINES_BYTES, LINES_BYTES + 1 };
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        uint32_t seed = (uint32_t)k + 1;
        struct buf all = BUF(16 << 20);
        size_t ends[4000], n = 0;
        while (all.len < 5 * LINES_BYTES - 100000 && n < 4000) {
            size_t len = n == 7 ? AUDIT_LINE_MAX : rnd(&seed) % (n % 3 ? 3000 : 60000);
            for (size_t i = 0; i < len; i++)
                buf_add_char(&all, (char)('a' + i % 23));
            buf_add_char(&all, '\n');
            ends[n++] = all.len;
        }
        struct reader r = { buf_str(&all), steps[k] };
        struct line_feed l;
        struct str line;
        lines_open(&l, read_mem, &r);
        for (size_t i = 0, from = 0; i < n; from = ends[i++]) {
            assert_int_equal(lines_next(&l, &line), LINE_HERE);
            assert_true(str_eq(line, str_n(all.ptr + from, ends[i] - from - 1)));
        }
        assert_int_equal(lines_next(&l, &line), LINE_END);
        lines_close(&l);
        buf_release(&all);
    }
}

static void ends_of_a_file(void **state)
{
    (void)state;
    static char big[3 * LINES_BYTES];
    struct line_feed l;
    struct str line;
    struct reader r = { STR("a\nb"), 0 };
    lines_open(&l, read_mem, &r);
    assert_int_equal(lines_next(&l, &line), LINE_HERE);
    assert_int_equal(lines_next(&l, &line), LINE_PARTIAL);
    lines_close(&l);
    memset(big, 'x', sizeof big);
    for (size_t n = AUDIT_LINE_MAX; n < AUDIT_LINE_MAX + 2; n++) {
        big[n] = '\n';
        r = (struct reader){ str_n(big, n + 1), 0 };
        lines_open(&l, read_mem, &r);
        assert_int_equal(lines_next(&l, &line), n == AUDIT_LINE_MAX ? LINE_HERE : LINE_LONG);
        lines_close(&l);
        big[n] = 'x';
    }
    r = (struct reader){ str_n(big, sizeof big), 0 };
    lines_open(&l, read_mem, &r);
    assert_int_equal(lines_next(&l, &line), LINE_LONG);
    lines_close(&l);
}

/* All that was read before the failure. */
static ssize_t read_then_fail(void *ctx, void *p, size_t n)
{
    size_t *left = ctx;
    if (*left == 0)
        return -1;
    n = n < *left ? n : *left;
    memset(p, '\n', n);
    *left -= n;
    return (ssize_t)n;
}

static void a_reader_may_fail_anywhere(void **state)
{
    (void)state;
    static const size_t lefts[] = { 0, 1, LINES_BYTES, LINES_BYTES + 1, 3 * LINES_BYTES };
    for (size_t i = 0; i < sizeof lefts / sizeof lefts[0]; i++) {
        size_t left = lefts[i], seen = 0;
        struct line_feed l;
        struct str line;
        enum line_state s;
        lines_open(&l, read_then_fail, &left);
        while ((s = lines_next(&l, &line)) == LINE_HERE)
            seen += line.len == 0;
        assert_int_equal(s, LINE_ERROR);
        assert_int_equal(seen, lefts[i]);
        lines_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines_cross_the_blocks), cmocka_unit_test(ends_of_a_file),
        cmocka_unit_test(a_reader_may_fail_anywhere) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
