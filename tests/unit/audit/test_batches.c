/* SPDX-License-Identifier: Apache-2.0 */
/* test_batches.c - lines and their sum across blocks: the same with no thread and with several, in reads of every size. */
#include "audit/batches_int.h"
#include "tests/unit/audit/fixture.h"

static const struct bundle_manifest manifest = { .version = 1 };
static const struct audit_head head;
static const struct look_case look = { &manifest, &head };
static struct look_room room;

/* Lines of every length, one of them as long as a line may be. */
static size_t make_text(struct buf *all, uint32_t seed, size_t bytes, size_t *ends, size_t max)
{
    size_t n = 0;
    while (all->len < bytes && n < max) {
        size_t len = n == 7 ? AUDIT_LINE_MAX : rnd(&seed) % (n % 3 ? 3000 : 60000);
        for (size_t i = 0; i < len; i++)
            buf_add_char(all, (char)('a' + i % 23));
        buf_add_char(all, '\n');
        ends[n++] = all->len;
    }
    return n;
}

/* Takes all lines and compares them, and the sum of all but the last. */
static void assert_lines(const struct buf *all, const size_t *ends, size_t n, size_t step, int threads)
{
    struct reader r = { buf_str(all), step };
    struct batches b;
    const struct line_facts *f;
    struct str line;
    uint8_t want[32], got[32];
    batches_open(&b, read_mem, &r, threads, &room);
    assert_int_equal(batches_first(&b, &line), LINE_HERE);
    assert_true(str_eq(line, str_n(all->ptr, ends[0] - 1)));
    batches_look(&b, &look);
    for (size_t i = 1, from = ends[0]; i < n; from = ends[i++]) {
        assert_int_equal(batches_next(&b, &f), LINE_HERE);
        assert_true(str_eq(f->line, str_n(all->ptr + from, ends[i] - from - 1)));
    }
    assert_int_equal(batches_next(&b, &f), LINE_END);
    batches_sum(&b, got);
    sha256(all->ptr, n > 1 ? ends[n - 2] : 0, want);
    assert_memory_equal(want, got, 32);
    batches_close(&b);
}

static void lines_and_their_sum_cross_the_blocks(void **state)
{
    (void)state;
    static const size_t steps[] = { 0, 1000, 65536, LINES_BYTES, LINES_BYTES + 1 };
    static size_t ends[4000];
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        struct buf all = BUF(16 << 20);
        size_t n = make_text(&all, (uint32_t)k + 1, 9 * LINES_BYTES - 100000, ends, 4000);
        for (int threads = -1; threads <= BATCH_THREADS_MAX; threads++)
            assert_lines(&all, ends, n, steps[k], threads);
        buf_release(&all);
    }
}

/* A file that ends with a block, one byte before it and one behind; the last line alone in its block, and two lines in all. */
static void the_last_line_may_stand_anywhere(void **state)
{
    (void)state;
    size_t ends[10];
    for (size_t d = 0; d < 4; d++) {
        struct buf all = BUF(4 << 20);
        for (size_t n = 1; n <= 10; n++) {
            size_t to = n % 5 ? n * (LINES_BYTES / 5) - 64 : n / 5 * LINES_BYTES - 2 + d;
            while (all.len + 1 < to)
                buf_add_char(&all, 'x');
            buf_add_char(&all, '\n');
            ends[n - 1] = all.len;
            for (int threads = -1; threads <= 1; threads += 2)
                assert_lines(&all, ends, n, 0, threads);
        }
        buf_release(&all);
    }
}

/* More lines in a block than it has room for facts of. */
static void short_lines_are_all_given_out(void **state)
{
    (void)state;
    static size_t ends[300000];
    struct buf all = BUF(4 << 20);
    for (size_t n = 0; n < 300000; n++) {
        buf_add_c(&all, n % 5 ? "\n" : "ab\n");
        ends[n] = all.len;
    }
    for (int threads = -1; threads <= 2; threads++)
        assert_lines(&all, ends, 300000, 0, threads);
    buf_release(&all);
}

static enum line_state last_state(struct str text, int threads, size_t *ret_lines)
{
    struct reader r = { text, 0 };
    struct batches b;
    const struct line_facts *f;
    struct str line;
    *ret_lines = 0;
    batches_open(&b, read_mem, &r, threads, &room);
    enum line_state s = batches_first(&b, &line);
    if (s == LINE_HERE) {
        batches_look(&b, &look);
        do
            ++*ret_lines;
        while ((s = batches_next(&b, &f)) == LINE_HERE);
    }
    batches_close(&b);
    return s;
}

static void ends_of_a_file(void **state)
{
    (void)state;
    static char big[4 * LINES_BYTES];
    size_t n;
    for (int threads = -1; threads <= 1; threads += 2) {
        assert_true(last_state(STR(""), threads, &n) == LINE_END && n == 0);
        assert_true(last_state(STR("a"), threads, &n) == LINE_PARTIAL && n == 0);
        assert_true(last_state(STR("a\nb"), threads, &n) == LINE_PARTIAL && n == 1);
        memset(big, 'x', sizeof big);
        assert_true(last_state(str_n(big, sizeof big), threads, &n) == LINE_LONG && n == 0);
        for (size_t at = 1; at < LINES_BYTES; at += 40000)
            big[at] = '\n';                     /* lines of 40,000; behind them one that is too long, whole or not */
        assert_true(last_state(str_n(big, sizeof big), threads, &n) == LINE_LONG && n == 7);
        big[2 * LINES_BYTES] = '\n';
        assert_true(last_state(str_n(big, sizeof big), threads, &n) == LINE_LONG && n == 7);
        big[240001 + AUDIT_LINE_MAX + 1] = '\n';
        assert_true(last_state(str_n(big, 240001 + AUDIT_LINE_MAX + 2), threads, &n) == LINE_END && n == 8);
    }
}

/* Closing at any point leaves no thread behind and touches nothing twice; the sanitizers watch. */
static void a_caller_may_stop_anywhere(void **state)
{
    (void)state;
    static size_t ends[4000];
    struct buf all = BUF(16 << 20);
    size_t n = make_text(&all, 5, 12 * LINES_BYTES, ends, 4000);
    for (size_t stop = 0; stop < n; stop += 17) {
        struct reader r = { buf_str(&all), 0 };
        struct batches b;
        const struct line_facts *f;
        struct str line;
        batches_open(&b, read_mem, &r, BATCH_THREADS_MAX, &room);
        assert_int_equal(batches_first(&b, &line), LINE_HERE);
        batches_look(&b, &look);
        for (size_t i = 0; i < stop && i + 1 < n; i++)
            assert_int_equal(batches_next(&b, &f), LINE_HERE);
        batches_close(&b);
    }
    buf_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines_and_their_sum_cross_the_blocks),
        cmocka_unit_test(the_last_line_may_stand_anywhere), cmocka_unit_test(short_lines_are_all_given_out),
        cmocka_unit_test(ends_of_a_file), cmocka_unit_test(a_caller_may_stop_anywhere) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
