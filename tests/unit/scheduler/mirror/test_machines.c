/* SPDX-License-Identifier: Apache-2.0 */
/* test_machines.c - rows of machines that come shuffled, doubled and late leave what the newest of them say; a row that was lost
 * is noticed by a comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "scheduler/mirror/machines.h"
#include "scheduler/plan/random.h"

enum { MACHINES = 60, STEPS = 300, SEEDS = 200 };

static struct machine_fact of(struct arena *a, int64_t n, int64_t version, struct random *r)
{
    struct machine_fact f = { .zone = str_fmt(a, "z-%d", (int)random_below(r, 3)), .pool = STR("default"), .flavor = STR("cpu"),
                              .gpu_model = STR(""), .build = str_fmt(a, "0.%d cpu", (int)random_below(r, 5)),
                              .slots = (int64_t)random_below(r, 64), .version = version, .is_ready = random_below(r, 4) > 0 };
    f.node_id.b[0] = 1;
    f.node_id.b[7] = (uint8_t)(n * 37 % 251);           /* not in the order of numbers */
    f.node_id.b[15] = (uint8_t)n;
    return f;
}

static int by_id(const void *a, const void *b)
{
    return uuid_cmp(((const struct machine_fact *)a)->node_id, ((const struct machine_fact *)b)->node_id);
}

/* Slices of the truth, as the database gives them, against what is known. */
static bool all_same(const struct machines *m, const struct machine_fact *truth, size_t n, size_t slice)
{
    struct uuid after = UUID_NIL;
    bool is_same = true;
    for (size_t i = 0;; i += slice) {
        const size_t k = n - i < slice ? n - i : slice;
        is_same &= machines_same(m, truth + i, k, after, k < slice);
        if (k < slice)
            return is_same;
        after = truth[i + k - 1].node_id;
    }
}

static void shuffle(struct machine_fact *f, size_t n, struct random *r)
{
    for (size_t i = n; i-- > 1;) {
        const size_t k = random_below(r, i + 1);
        const struct machine_fact t = f[i];
        f[i] = f[k];
        f[k] = t;
    }
}

static void test_deliveries(void **state)
{
    (void)state;
    int lost = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct arena *a = arena_new((size_t)8 << 20);
        struct machines *m = machines_new();
        struct random r = { (uint64_t)seed };
        struct machine_fact truth[MACHINES], *sent = ARENA_ARRAY(a, struct machine_fact, 3 * STEPS);
        int64_t version[MACHINES] = { 0 };
        size_t n = 0;
        const bool loses = seed % 2;
        for (int i = 0; i < STEPS; i++) {
            const int64_t k = i < MACHINES ? i : (int64_t)random_below(&r, MACHINES);
            truth[k] = sent[n++] = of(a, k, ++version[k], &r);
            if (random_below(&r, 3) == 0)
                sent[n++] = truth[k];                   /* twice */
        }
        if (loses) {                                    /* the newest row of one machine, wherever it stands */
            size_t kept = 0;
            for (size_t i = 0; i < n; i++)
                if (sent[i].node_id.b[15] != seed % MACHINES || sent[i].version != version[seed % MACHINES])
                    sent[kept++] = sent[i];
            n = kept;
        }
        shuffle(sent, n, &r);
        for (size_t i = 0; i < n;) {                    /* in answers of any length */
            const size_t k = 1 + random_below(&r, n - i < 20 ? n - i : 20);
            machines_apply(m, sent + i, k);
            i += k;
        }
        qsort(truth, MACHINES, sizeof *truth, by_id);
        for (size_t slice = 1; slice <= MACHINES + 1; slice += 13)
            assert_int_equal(all_same(m, truth, MACHINES, slice), !loses);
        lost += loses;
        if (loses) {                                    /* what a comparison reads mends it */
            machines_apply(m, truth, MACHINES);
            assert_true(all_same(m, truth, MACHINES, 7));
        }
        assert_false(all_same(m, truth, MACHINES - 1, 7));      /* one that is gone */
        struct machine_fact other = truth[5];
        truth[5].slots++;                               /* changed without a new version */
        assert_false(all_same(m, truth, MACHINES, 7));
        truth[5] = other;
        machines_forget(m);
        assert_false(all_same(m, truth, MACHINES, 7));
        assert_true(all_same(m, truth, 0, 7));
        machines_free(m);
        arena_free(a);
    }
    assert_int_equal(lost, SEEDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_deliveries) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
