/* SPDX-License-Identifier: Apache-2.0 */
/* test_bookings.c - what a booking keeps of machines and of its tenant's quota and rules, who may use it, and that all of it
 * comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scheduler/plan/bookings.h"

static struct bookings b;
static struct snap_node nodes[2];
static struct snap_tenant tenant;
static struct rule rule;
static struct snapshot s;

static struct uuid id_of(uint8_t n)
{
    return (struct uuid){ { n } };
}

static struct start_booking booking(uint8_t tenant_id, uint8_t node, int64_t start_us)
{
    struct start_booking k = { .tenant_id = id_of(tenant_id), .job_id = id_of(9), .start_us = start_us, .until_us = 10,
                               .is_exact = true, .n = 1,
                               .class_value = 3, .ask = { .slots = 4, .gpus = 1, .gpu_milli = 1000, .cpu_milli = 4000,
                                                          .memory_bytes = 100 } };
    k.seats[0] = (struct booked_seat){ .node_id = id_of(node), .devices = 2, .comes = { .slots = 3, .cpu_milli = 3500 } };
    return k;
}

static int fresh(void **state)
{
    (void)state;
    static struct arena *a;
    if (a)
        arena_free(a);
    a = arena_new(1 << 20);
    b = (struct bookings){ 0 };
    for (uint8_t i = 0; i < 2; i++)
        nodes[i] = (struct snap_node){ .node_id = id_of(i + 1), .slots = 8, .free_slots = 3, .gpus = 2, .free_gpus = 1,
                                       .held = STR("1:1:400"), .flavor = STR(""), .zone = STR("") };
    tenant = (struct snap_tenant){ .tenant_id = id_of(5), .slots_limit = 20 };
    rule = (struct rule){ .tenant_id = id_of(5), .resource = RULE_SLOTS, .nominal = 10, .borrowing_limit = -1,
                          .lending_limit = -1,
                          .weight = 1000 };
    s = (struct snapshot){ .nodes = { nodes, 2 }, .tenants = { &tenant, 1 } };
    s.book.rules.items = &rule;
    s.book.rules.n = 1;
    rulebook_link(&s.book, a);
    snapshot_fill(&s);
    return 0;
}

static void it_keeps_what_does_not_come_by_itself(void **state)
{
    (void)state;
    const struct snap_node before = nodes[0];
    struct start_booking k = booking(5, 1, 100);
    const struct start_booking *shown;
    k.comes_slots = 1;
    k.is_guarded = true;
    assert_true(bookings_put(&b, &k));
    bookings_begin(&b, &s);
    assert_int_equal(nodes[0].free_slots, 2);
    assert_int_equal(nodes[0].free_cpu_milli, before.free_cpu_milli - 500);
    assert_int_equal(nodes[0].free_memory_bytes, before.free_memory_bytes - 100);
    assert_true(nodes[0].devices.milli[0] == 600 && nodes[0].devices.milli[1] == 0 && nodes[0].free_gpus == 0);
    assert_int_equal(nodes[1].free_slots, 3);
    assert_int_equal(tenant.slots_kept, 3);
    assert_int_equal(rule.used, 4);
    assert_true(bookings_show(&b, &s, &shown) && shown == &b.items[0]);
    assert_memory_equal(&nodes[0].devices, &before.devices, sizeof before.devices);
    assert_true(nodes[0].free_slots == 3 && nodes[0].free_gpus == 1 && nodes[0].free_cpu_milli == before.free_cpu_milli);
    assert_true(tenant.slots_kept == 0 && rule.used == 0);
    assert_false(bookings_show(&b, &s, &shown));
}

static void all_is_kept_that_was_not_counted_lately(void **state)
{
    (void)state;
    struct start_booking k = booking(5, 1, 100);
    const struct start_booking *shown;
    k.is_exact = false;
    assert_true(bookings_put(&b, &k));
    bookings_begin(&b, &s);
    assert_true(nodes[0].free_slots == 0 && nodes[0].free_cpu_milli == 0 && devices_level(&nodes[0].devices) == 0);
    assert_int_equal(tenant.slots_kept, 4);
    assert_true(bookings_show(&b, &s, &shown));
    assert_true(nodes[0].free_slots == 3 && devices_whole(&nodes[0].devices) == 1);
}

/* Who may use the room of one may use that of all later ones, so the latest is shown first. */
static void the_latest_is_shown_first(void **state)
{
    (void)state;
    struct start_booking early = booking(5, 1, 100), late = booking(6, 2, 200);
    const struct start_booking *shown;
    assert_true(bookings_put(&b, &late) && bookings_put(&b, &early));
    bookings_begin(&b, &s);
    assert_true(bookings_show(&b, &s, &shown) && shown->start_us == 200);
    assert_true(nodes[1].free_slots == 3 && nodes[0].free_slots == 2);
    assert_true(bookings_show(&b, &s, &shown) && shown->start_us == 100);
    bookings_begin(&b, &s);
    b.items[0].is_started = true;       /* as a plan finds it on the next round */
    while (bookings_show(&b, &s, &shown))
        ;
    bookings_begin(&b, &s);
    assert_int_equal(nodes[0].free_slots, 3);
    assert_int_equal(nodes[1].free_slots, 2);
}

static void who_ends_before_or_goes_before_is_let_in(void **state)
{
    (void)state;
    const struct start_booking k = booking(5, 1, 100000000);
    struct snap_job j = { .tenant_id = id_of(6), .job_id = id_of(1), .max_runtime_s = 40, .class_value = 9 };
    assert_true(booking_lets(&k, &j, 30000000));
    assert_false(booking_lets(&k, &j, 30000001));
    j.max_runtime_s = 0;                /* it has no end */
    assert_false(booking_lets(&k, &j, 0));
    j.tenant_id = id_of(5);
    assert_true(booking_lets(&k, &j, 0));
    j.class_value = 3;
    assert_false(booking_lets(&k, &j, 0));
    j.job_id = k.job_id;
    assert_true(booking_lets(&k, &j, 0));
}

static void a_tenant_has_one_and_they_end(void **state)
{
    (void)state;
    struct start_booking k = booking(5, 1, 100);
    assert_true(bookings_put(&b, &k));
    k.job_id = id_of(10);
    assert_true(bookings_put(&b, &k) && b.n == 1);
    assert_null(bookings_find(&b, id_of(5), id_of(9)));
    assert_non_null(bookings_find(&b, id_of(5), id_of(10)));
    assert_ptr_equal(bookings_at(&b, id_of(1)), &b.items[0]);
    assert_null(bookings_at(&b, id_of(2)));
    for (uint8_t i = 1; i < BOOKINGS_MAX; i++) {
        k.tenant_id = id_of(100 + i);
        assert_true(bookings_put(&b, &k));
    }
    k.tenant_id = id_of(99);
    assert_false(bookings_put(&b, &k));
    bookings_end(&b, 9);
    assert_int_equal(b.n, BOOKINGS_MAX);
    bookings_end(&b, 10);
    assert_int_equal(b.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_keeps_what_does_not_come_by_itself, fresh),
        cmocka_unit_test_setup(all_is_kept_that_was_not_counted_lately, fresh),
        cmocka_unit_test_setup(the_latest_is_shown_first, fresh),
        cmocka_unit_test_setup(who_ends_before_or_goes_before_is_let_in, fresh),
        cmocka_unit_test_setup(a_tenant_has_one_and_they_end, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
