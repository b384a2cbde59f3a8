/* SPDX-License-Identifier: Apache-2.0 */
/* test_record.c - a cycle written and read is the cycle, member by member; nothing of a job that is none of the planner's is in
 * the file; the same cycle is the same bytes. */
#include "world.h"

#include <stdlib.h>

static void same(const struct table *t, const void *x, size_t nx, const void *y, size_t ny, struct arena *a)
{
    const struct str d = tables_differ(t, (struct slice){ (void *)(uintptr_t)x, nx }, (struct slice){ (void *)(uintptr_t)y,
        ny }, a);
    if (d.ptr)
        fail_msg("%.*s", STR_ARG(d));
}

static struct buf inputs_of(const struct snapshot *s, struct arena *a)
{
    struct recorder *r = recorder_new((size_t)16 << 20);
    const struct cycle_head head = { .number = 3, .made_at_us = 5, .kind = CYCLE_DEEP, .version = STR("v") };
    const struct plan none = { 0 };
    record_inputs(r, &head, s, a);
    record_plan(r, s, &none, a);
    struct buf b = record_take(r);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    recorder_free(r);
    return b;
}

static void test_members(void **state)
{
    (void)state;
    struct world w;
    size_t jobs = 0;
    world_begin(&w, 99);
    for (int i = 0; i < 50; i++) {
        struct arena *a = arena_new((size_t)256 << 20);
        struct holders h;
        struct cycle c;
        struct err e = { 0 };
        int of[W_JOBS];
        world_pass_time(&w);
        const struct snapshot s = world_picture(&w, a, &h, of);
        struct buf b = inputs_of(&s, a), again = inputs_of(&s, a);
        assert_true(str_eq(buf_str(&b), buf_str(&again)));
        if (record_read(STR("f"), buf_str(&b), a, &c, &e) != ERR_OK)
            fail_msg("%s", e.msg);
        assert_true(c.head.number == 3 && c.head.kind == CYCLE_DEEP && c.s.revision == 7 && !c.has_choice);
        same(&node_table, s.nodes.items, s.nodes.n, c.s.nodes.items, c.s.nodes.n, a);
        same(&tenant_table, s.tenants.items, s.tenants.n, c.s.tenants.items, c.s.tenants.n, a);
        same(&job_table, s.jobs.items, s.jobs.n, c.s.jobs.items, c.s.jobs.n, a);
        same(&rule_table, s.book.rules.items, s.book.rules.n, c.s.book.rules.items, c.s.book.rules.n, a);
        same(&queue_table, s.book.queues.items, s.book.queues.n, c.s.book.queues.items, c.s.book.queues.n, a);
        for (size_t k = 0; k < s.jobs.n; k++) {
            assert_int_equal(s.jobs.items[k].zones.n, c.s.jobs.items[k].zones.n);
            for (size_t j = 0; j < k; j++)              /* who shares a list still does, and nobody else */
                assert_int_equal(s.jobs.items[k].zones.items == s.jobs.items[j].zones.items,
                                 c.s.jobs.items[k].zones.items == c.s.jobs.items[j].zones.items);
        }
        jobs += s.jobs.n;
        buf_release(&b);
        buf_release(&again);
        arena_free(a);
    }
    world_end(&w);
    assert_true(jobs > 200);
}

static bool holds(const struct buf *b, const char *what)
{
    return memmem(b->ptr, b->len, what, strlen(what)) != NULL;
}

static void test_nothing_else(void **state)
{
    (void)state;
    struct world w;
    struct arena *a = arena_new((size_t)256 << 20);
    struct holders h;
    int of[W_JOBS];
    world_begin(&w, 1);
    while (!w.jobs[0].waits)
        world_pass_time(&w);
    struct snapshot s = world_picture(&w, a, &h, of);
    for (size_t i = 0; i < s.jobs.n; i++) {
        s.jobs.items[i].message = STR("message of a job");
        s.jobs.items[i].reason = STR("reason of a job");
    }
    for (size_t i = 0; i < s.tenants.n; i++)
        s.tenants.items[i].residency.text = STR("{\"facts\":\"of a tenant\"}");
    struct buf b = inputs_of(&s, a);
    assert_true(holds(&b, "internal") && holds(&b, "z-a"));
    assert_false(holds(&b, "of a job") || holds(&b, "of a tenant"));
    buf_release(&b);
    world_end(&w);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_members), cmocka_unit_test(test_nothing_else) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
