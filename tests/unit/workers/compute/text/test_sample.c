/* SPDX-License-Identifier: Apache-2.0 */
/* test_sample.c - draws: by the probabilities, from the nucleus and the first k alone; the same for the same seed and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/rng.h"
#include "workers/compute/text/sample.h"

enum { VOCAB = 500, DRAWS = 15000 };
static float logits[VOCAB];
static struct sample_one list[VOCAB];
static struct sample_room room = { list };

static void some_logits(uint64_t seed)
{
    for (size_t i = 0; i < VOCAB; i++)
        logits[i] = (float)(3 * philox_normal(seed, 1, i));
}

static int32_t draw(double temperature, int64_t k, double p, uint64_t seed, uint64_t place)
{
    return sample_token(logits, VOCAB, &(struct sample_how){ temperature, k, p, seed }, place, &room);
}

static void greedy_takes_the_first_of_the_likeliest(void **st)
{
    (void)st;
    some_logits(1);
    logits[40] = logits[90] = 50;
    assert_int_equal(draw(0, 0, 1, 1, 1), 40);
    logits[0] = NAN;
    assert_int_equal(draw(0, 5, 0.5, 9, 7), 40);
    assert_int_equal(draw(1, 1, 1, 9, 7), 40);
    for (size_t i = 0; i < VOCAB; i++)
        logits[i] = NAN;
    assert_in_range(draw(1, 0, 1, 1, 1), 0, VOCAB - 1);
}

static void draws_follow_the_probabilities(void **st)
{
    (void)st;
    static size_t seen[VOCAB];
    some_logits(2);
    memset(seen, 0, sizeof seen);
    double sum = 0;
    for (size_t i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i] / 0.8);
    for (uint64_t i = 0; i < DRAWS; i++)
        seen[draw(0.8, 0, 1, 3, i)]++;
    for (size_t i = 0; i < VOCAB; i++) {
        double p = exp((double)logits[i] / 0.8) / sum, far = fabs((double)seen[i] - p * DRAWS);
        if (far > 5 * sqrt(p * DRAWS) + 3)
            fail_msg("token %zu of probability %g was drawn %zu times of %d", i, p, seen[i], DRAWS);
    }
}

static int by_size(const void *a, const void *b)
{
    float x = logits[*(const int *)a], y = logits[*(const int *)b];
    return (x < y) - (x > y);
}

/* Against the definition: sort all, cut. */
static void cuts_are_those_of_the_definition(void **st)
{
    (void)st;
    for (uint64_t round = 0; round < 60; round++) {
        int order[VOCAB];
        static bool in[VOCAB];
        struct philox r = philox(7, 8, round);
        int64_t k = round % 3 ? 1 + r.v[0] % VOCAB : 0;
        double p = round % 4 ? (double)r.v[1] * 0x1p-32 : 1, t = 0.3 + (double)r.v[2] * 0x1p-31, sum = 0, mass = 0;
        some_logits(100 + round);
        for (int i = 0; i < VOCAB; i++)
            order[i] = i;
        qsort(order, VOCAB, sizeof *order, by_size);
        size_t n = k ? (size_t)k : VOCAB, cut = 0;
        for (size_t i = 0; i < n; i++)
            mass += exp((double)(logits[order[i]] - logits[order[0]]) / t);
        memset(in, 0, sizeof in);
        while (cut < n && (p >= 1 || sum < p * mass)) {
            sum += exp((double)(logits[order[cut]] - logits[order[0]]) / t);
            in[order[cut++]] = true;
        }
        in[order[0]] = true;
        static bool seen[VOCAB];
        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < 1000; i++) {
            int32_t token = draw(t, k, p, round, i);
            if (!in[token])
                fail_msg("round %lu: token %d is outside the %zu of k %ld, p %g", (unsigned long)round, (int)token, cut, (long)k,
                         p);
            seen[token] = true;
        }
        if (cut <= 3)                       /* few: each of them comes */
            for (size_t i = 0; i < cut; i++)
                assert_true(seen[order[i]] || exp((double)(logits[order[i]] - logits[order[0]]) / t) < 0.01 * sum);
    }
}

static void the_seed_and_the_place_decide(void **st)
{
    (void)st;
    size_t other = 0;
    some_logits(5);
    for (uint64_t i = 0; i < 500; i++) {
        int32_t token = draw(1.3, 100, 0.95, 11, i);
        assert_int_equal(token, draw(1.3, 100, 0.95, 11, i));
        other += token != draw(1.3, 100, 0.95, 12, i);
    }
    assert_true(other > 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(greedy_takes_the_first_of_the_likeliest),
                                        cmocka_unit_test(draws_follow_the_probabilities),
                                        cmocka_unit_test(cuts_are_those_of_the_definition),
                                        cmocka_unit_test(the_seed_and_the_place_decide) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
