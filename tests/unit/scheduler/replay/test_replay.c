/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay.c - seeded cycles recorded and planned again byte for byte, and differences named: 300 cycles, 100,000 in the full
 * tier. */
#include "world.h"

#include "scheduler/replay/replay.h"
#include "tests/lib/share.h"

enum { SEEDS = 10 };

static const struct str path = { "cycle", 5 };

static void test_same(void **state)
{
    (void)state;
    const int cycles = share_of("cycles recorded and replayed", 300, 100000);
    struct recorder *r = recorder_new((size_t)16 << 20);
    int64_t placed = 0, waited = 0, left = 0, gangs = 0, bytes = 0, learned = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct world w;
        world_begin(&w, (uint64_t)seed * 1000 + 17);
        for (int i = 0; i < cycles / SEEDS; i++) {
            struct arena *a = arena_new((size_t)256 << 20);
            struct plan p;
            struct preemption x;
            struct cycle c;
            struct replay again;
            struct err e = { 0 };
            struct buf b = world_cycle(&w, r, a, &p, &x);
            if (record_read(path, buf_str(&b), a, &c, &e) != ERR_OK || replay_run(path, &c, a, &again, &e) != ERR_OK)
                fail_msg("seed %d cycle %d: %s", seed, i, e.msg);
            if (!again.is_same)
                fail_msg("seed %d cycle %d: %.*s", seed, i, STR_ARG(again.difference));
            assert_int_equal(again.was.places.n, p.places.n);
            assert_int_equal(again.was_choice.evictions.n, x.evictions.n);
            placed += (int64_t)p.places.n;
            waited += (int64_t)p.waits.n;
            left += (int64_t)x.evictions.n;
            gangs += (int64_t)again.was.seats.n;
            bytes += (int64_t)b.len;
            learned += c.head.epoch > 0;
            buf_release(&b);
            arena_free(a);
        }
        world_end(&w);
    }
    recorder_free(r);
    print_message("%ld placed, %ld waits, %ld made room, %ld further machines, %ld bytes\n", (long)placed, (long)waited,
        (long)left,
                  (long)gangs, (long)bytes);
    assert_true(placed > cycles / 4 && waited > cycles && left > cycles / 200 && gangs > cycles / 200 && learned > cycles / 2);
}

/* What the planner was given is changed; the difference is told by table, row and column. */
static void test_difference(void **state)
{
    (void)state;
    struct recorder *r = recorder_new((size_t)16 << 20);
    struct world w;
    int places = 0, others = 0;
    world_begin(&w, 5);
    for (int i = 0; i < 100; i++) {
        struct arena *a = arena_new((size_t)256 << 20);
        struct plan p;
        struct preemption x;
        struct cycle c;
        struct replay again;
        struct err e = { 0 };
        struct buf b = world_cycle(&w, r, a, &p, &x);
        assert_int_equal(record_read(path, buf_str(&b), a, &c, &e), ERR_OK);
        if (p.places.n) {
            for (size_t n = 0; n < c.s.nodes.n; n++)
                c.s.nodes.items[n].free_slots = 0;
            assert_int_equal(replay_run(path, &c, a, &again, &e), ERR_OK);
            assert_false(again.is_same);
            places += str_starts(again.difference, "places: there were ");
            others += !str_starts(again.difference, "places: there were ") &&
                      !str_starts(again.difference, "outcome row 1: is_cut was true");      /* it placed the last that was read */
        }
        buf_release(&b);
        arena_free(a);
    }
    world_end(&w);
    recorder_free(r);
    assert_true(places > 20 && !others);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same), cmocka_unit_test(test_difference) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
