/* SPDX-License-Identifier: Apache-2.0 */
/* test_reserved_fit.c - the machines that are free for a span, and the first moment at which enough are, against a search by the
 * second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduler/plan/reserved_fit.h"

enum { MACHINES = 5, WINDOWS = 4, LATEST = 200 };

static uint64_t seed;

static int64_t pick(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static struct uuid id_of(int64_t n)
{
    struct uuid u = { { 0 } };
    u.b[15] = (uint8_t)n;
    return u;
}

static size_t count(const struct reserved *w, size_t n, int64_t from, int64_t until)
{
    size_t free = 0;
    for (int64_t m = 1; m <= MACHINES; m++) {
        bool is_taken = false;
        for (size_t i = 0; i < n; i++)
            is_taken |= uuid_eq(w[i].node_id, id_of(2 * m)) && w[i].from_us < until && w[i].until_us > from;
        free += !is_taken;
    }
    return free;
}

static void the_first_span_that_fits_is_found(void **state)
{
    (void)state;
    size_t later = 0;
    for (seed = 1; seed < 3000; seed++) {
        const uint64_t this = seed;
        struct arena *a = arena_new(1 << 20);
        struct uuid ids[MACHINES];
        struct reserved w[3 * MACHINES * WINDOWS];
        bool is_taken[MACHINES];
        size_t n = 0;
        for (int64_t m = 1; m <= 2 * MACHINES + 1; m++) {       /* the odd ones are of others */
            int64_t at = pick(40);
            for (int64_t k = pick(WINDOWS + 1); k > 0; k--) {
                const int64_t len = 1 + pick(25);
                w[n++] = (struct reserved){ .node_id = id_of(m), .from_us = at, .until_us = at + len };
                at += len + pick(20);                           /* some follow at once */
            }
            if (m <= MACHINES)
                ids[m - 1] = id_of(2 * m);
        }
        const int64_t from = pick(60), len = 1 + pick(30);
        const size_t wanted = 1 + (size_t)pick(MACHINES);
        const struct reserved_ask q = { ids, MACHINES, w, n, from, from + len };
        int64_t expected = from, got;
        assert_int_equal(reserved_free(&q, is_taken), count(w, n, from, from + len));
        while (count(w, n, expected, expected + len) < wanted && expected < LATEST * 10)
            expected++;
        assert_true(reserved_next(&q, wanted, a, &got));
        assert_int_equal(got, expected);
        later += got > from;
        assert_false(reserved_next(&q, MACHINES + 1, a, &got));
        arena_free(a);
        seed = this;
    }
    assert_true(later > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_span_that_fits_is_found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
