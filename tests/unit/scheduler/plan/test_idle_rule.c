/* SPDX-License-Identifier: Apache-2.0 */
/* test_idle_rule.c - properties of the judge, over facts at random and over lives of jobs at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "scheduler/plan/idle_rule.h"

static const int64_t S = 1000000;
static uint64_t seed = 88172645463325252u;

static int64_t any(int64_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)most);
}

/* What is not known is use, a stop comes after a notice alone, and nobody is told twice of the same. */
static void whatever_the_facts_are(void **state)
{
    (void)state;
    int64_t seen[4] = { 0 };
    for (int i = 0; i < 200000; i++) {
        const int64_t now = 1000000 * S;
        const struct idle_facts f = { .after_s = any(3) * 300, .notice_s = 60 + any(600), .machines = 1 + any(2),
            .idle_machines = any(3), .told_us = now - any(300) * S, .idle_us = any(4) ? now - any(2000) * S : 0,
            .visited_us = any(3) ? 0 : now - any(2000) * S, .noticed_us = any(2) ? 0 : now - any(1500) * S,
            .is_visited = !any(5) };
        const int64_t since = f.idle_us > f.visited_us ? f.idle_us : f.visited_us;
        const bool is_known = f.after_s && !f.is_visited && f.idle_machines >= f.machines && f.idle_us
                              && now - f.told_us <= IDLE_FRESH_S * S;
        const enum idle_verdict v = idle_judge(&f, now);
        seen[v]++;
        if (!is_known || now - since < f.after_s * S)
            assert_int_equal(v, f.noticed_us ? IDLE_WITHDRAW : IDLE_NOTHING);
        else if (!f.noticed_us || f.noticed_us < since)
            assert_int_equal(v, IDLE_NOTICE);
        else
            assert_int_equal(v, now - f.noticed_us >= f.notice_s * S ? IDLE_STOP : IDLE_NOTHING);
    }
    for (int v = 0; v < 4; v++)
        assert_true(seen[v] > 1000);
}

/* A life in steps: what it holds is used, or not, or somebody is inside. It is put aside exactly when nothing was for
 * both terms. */
static void whatever_its_life_is(void **state)
{
    (void)state;
    int stops = 0, lives = 2000;
    for (int n = 0; n < lives; n++) {
        const int64_t step = 15 * S, after = 300, notice = 60 + any(300);
        struct idle_facts f = { .after_s = after, .notice_s = notice, .machines = 1 };
        int64_t now = 1000 * S, quiet_since = now, chance = 5 + any(60);
        bool is_stopped = false;
        for (int i = 0; i < 400 && !is_stopped; i++, now += step) {
            const bool is_used = !any(chance), is_visited = !is_used && !any(chance);
            if (is_used || is_visited)
                quiet_since = now;
            f.idle_machines = !is_used;
            f.idle_us = is_used ? 0 : f.idle_us ? f.idle_us : now;
            f.is_visited = is_visited;
            f.visited_us = is_visited ? now : f.visited_us;
            f.told_us = now;
            const enum idle_verdict v = idle_judge(&f, now);
            f.noticed_us = v == IDLE_NOTICE ? now : v == IDLE_WITHDRAW ? 0 : f.noticed_us;
            is_stopped = v == IDLE_STOP;
            if (is_stopped)
                assert_true(now - quiet_since >= (after + notice) * S && f.noticed_us >= quiet_since + after * S);
            else
                assert_true(now - quiet_since < (after + notice) * S + 2 * step);
        }
        stops += is_stopped;
    }
    assert_true(stops > lives / 10 && stops < lives);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(whatever_the_facts_are), cmocka_unit_test(whatever_its_life_is) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
