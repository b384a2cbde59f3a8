/* SPDX-License-Identifier: Apache-2.0 */
/* test_lease_idle.c - what machines say of use is kept by attempt, the last word counts, and only of what they hold. */
#include "tests/db/scheduler/fixture.h"

static struct machine m, next;
FIXTURE_GROUP((machine_up(&f, &m, "ae-dxb-1", "one", 8, 0), machine_up(&f, &next, "ae-dxb-1", "two", 8, 0)), NOTHING_MORE)

static size_t say(const struct machine *who, const struct lease_grant *g, int64_t fence, int64_t idle_ms)
{
    const struct lease_item it = { .tenant_id = g->tenant_id, .attempt_id = g->attempt_id, .fence = fence, .event = LE_RENEW,
                                   .has_idle_ms = idle_ms >= 0, .idle_ms = idle_ms };
    return say_all(&f, who, &it, 1, NULL);
}

static int64_t idle_s(void)
{
    return fixture_count(&f, "SELECT"
                             " coalesce(max(extract(epoch FROM clock_timestamp() - idle_since)), -1)::bigint FROM attempt_idle");
}

static void the_last_word_counts_and_only_of_what_is_held(void **state)
{
    (void)state;
    struct lease_grant g;
    assert_int_equal(submit(&f, f.tenant_a, 1, 1, 1, NULL), 1);
    plan(&f);
    assert_int_equal(take(&f, &m, 1, &g), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_START, NULL), 1);
    const struct machine *other = uuid_eq(m.node.node_id, next.node.node_id) ? &m : &next;
    assert_int_equal(say(&m, &g, g.fence, -1), 1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_idle"), 0);        /* who says nothing costs nothing */
    assert_int_equal(say(other, &g, g.fence, 900000), 0);                               /* not its own */
    assert_int_equal(say(&m, &g, g.fence + 1, 900000), 0);                              /* of another time */
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_idle"), 0);
    assert_int_equal(say(&m, &g, g.fence, 100000000), 1);
    assert_true(idle_s() >= 100000);
    assert_int_equal(say(&m, &g, g.fence, 0), 1);
    assert_int_equal(idle_s(), -1);
    assert_int_equal(fixture_count(&f, "SELECT count(*) FROM attempt_idle"), 1);
    assert_int_equal(tell(&f, &m, &g, 1, LE_SUCCEED, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_last_word_counts_and_only_of_what_is_held) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
