/* SPDX-License-Identifier: Apache-2.0 */
/* test_rows.c - every byte of what a planner takes in is a column, or stands here with the reason why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "scheduler/replay/rows.h"

struct left { const char *name; size_t offset, size; };
#define LEFT(T, m) { #m, offsetof(struct T, m), sizeof(((struct T *)0)->m) }
#define N(list) (sizeof(list) / sizeof *(list))

/* bytes: 0xff where the struct has a member, 0 where it has none. */
static void check(const struct table *t, uint8_t *bytes, const struct left *left, size_t nleft)
{
    for (size_t i = 0; i < t->ncolumns; i++)
        for (size_t k = 0; k < t->columns[i].size; k++)
            bytes[t->columns[i].offset + k] = 0;
    for (size_t i = 0; i < nleft; i++)
        for (size_t k = 0; k < left[i].size; k++)
            bytes[left[i].offset + k] = 0;
    for (size_t at = 0; at < t->size; at++)
        if (bytes[at])
            fail_msg("%s: the member at byte %zu is no column", t->name, at);
}

static void test_members(void **state)
{
    (void)state;
#if defined __has_builtin && __has_builtin(__builtin_clear_padding)
    /* Filled by snapshot_fill, by the planner or, of tenants, by who reads them for the judge of residency alone. */
    static const struct left node[] = { LEFT(snap_node, free_cpu_milli), LEFT(snap_node, free_memory_bytes), LEFT(snap_node,
        devices), LEFT(snap_node, outsized) /* lent says what came of it */,
                                         LEFT(snap_node, kept), LEFT(snap_node, nkept), LEFT(snap_node, kept_at_us) };
    static const struct left tenant[] = { LEFT(snap_tenant, zones), LEFT(snap_tenant, allowed_zones), LEFT(snap_tenant,
        residency),
                                          LEFT(snap_tenant, borrowed), LEFT(snap_tenant, slots_kept),
                                          LEFT(snap_tenant, gpus_kept) };
    /* zones: table job_zones. What stands in the database beside the job is compared when the plan is written. */
    static const struct left job[] = { LEFT(snap_job, reason), LEFT(snap_job, message), LEFT(snap_job, said),
                                       LEFT(snap_job, fence), LEFT(snap_job, version),
                                       LEFT(snap_job, zones), LEFT(snap_job, is_placed), LEFT(snap_job, has_lane) };
    static const struct left rule[] = { LEFT(rule, cohort), LEFT(rule, usage) };      /* by rulebook_link */
    /* queue: a column of the row's own. Between plans nothing is kept. */
    static const struct left claim[] = { LEFT(claim_row, c.queue), LEFT(claim_row, c.keeps), LEFT(claim_row, c.node),
                                         LEFT(claim_row, c.took), LEFT(claim_row, c.devices), LEFT(claim_row, c.tenant) };
    static const struct left booking[] = { LEFT(booking_row, b.queue), LEFT(booking_row, b.n), LEFT(booking_row, b.seats),
                                           LEFT(booking_row, b.is_started), LEFT(booking_row, b.keeps),
                                           LEFT(booking_row, b.kept_slots), LEFT(booking_row, b.kept_gpus) };
    /* of what comes only these are counted */
    static const struct left seat[] = { LEFT(booked_seat_row, seat.comes.gpus), LEFT(booked_seat_row, seat.comes.gpu_milli),
                                        LEFT(booked_seat_row, seat.comes.groups), LEFT(booked_seat_row, seat.keeps),
                                        LEFT(booked_seat_row, seat.node), LEFT(booked_seat_row, seat.took),
                                        LEFT(booked_seat_row, seat.held), LEFT(booked_seat_row, seat.milli) };
#define CHECK(T, table, left, n)                                                                                             \
    do {                                                                                                                     \
        struct T all;                                                                                                        \
        memset(&all, 0xff, sizeof all);                                                                                      \
        __builtin_clear_padding(&all);                                                                                       \
        assert_int_equal((table)->size, sizeof all);                                                                         \
        check(table, (uint8_t *)&all, left, n);                                                                              \
    } while (0)
    CHECK(snap_node, &node_table, node, N(node));
    CHECK(snap_tenant, &tenant_table, tenant, N(tenant));
    CHECK(snap_job, &job_table, job, N(job));
    CHECK(rule, &rule_table, rule, N(rule));
    CHECK(rule_queue, &queue_table, NULL, 0);
    CHECK(reserved, &reserved_table, NULL, 0);
    CHECK(claim_row, &claim_table, claim, N(claim));
    CHECK(booking_row, &booking_table, booking, N(booking));
    CHECK(booked_seat_row, &booked_seat_table, seat, N(seat));
    CHECK(snap_holder, &holder_table, NULL, 0);
    CHECK(ask_row, &ask_table, NULL, 0);
    CHECK(cycle_head, &head_table, NULL, 0);
    CHECK(place_row, &place_table, NULL, 0);
    CHECK(wait_row, &wait_table, NULL, 0);
#else
    print_message("this compiler cannot tell members from padding: looked at by gcc's build\n");
#endif
}

/* Names are unique in a table, short enough for their byte, and no table is too wide for a row. */
static void test_names(void **state)
{
    (void)state;
    static const struct table *const all[] = { &head_table, &node_table, &tenant_table, &zone_table, &job_table, &job_zone_table,
        &rule_table, &queue_table, &claim_table, &reserved_table, &booking_table, &booked_seat_table, &ask_table, &future_table,
            &moment_table,
            &holder_table, &outcome_table,
        &place_table, &seat_table, &wait_table, &eviction_table, &making_table };
    for (size_t i = 0; i < N(all); i++) {
        assert_in_range(all[i]->ncolumns, 1, COLUMNS_MAX);
        for (size_t k = 0; k < all[i]->ncolumns; k++) {
            assert_in_range(strlen(all[i]->columns[k].name), 1, 127);
            for (size_t j = 0; j < k; j++)
                assert_string_not_equal(all[i]->columns[j].name, all[i]->columns[k].name);
        }
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i]->name, all[j]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_members), cmocka_unit_test(test_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
