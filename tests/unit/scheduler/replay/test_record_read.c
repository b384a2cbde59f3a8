/* SPDX-License-Identifier: Apache-2.0 */
/* test_record_read.c - files whose bytes are whole, but whose indexes lead nowhere or whose workload never was: refused, with
 * words. */
#include "world.h"

struct wrong {
    const char *words;
    void (*change)(struct snapshot *s);
};

static void tenant_of_job(struct snapshot *s) { s->jobs.items[0].tenant = (int64_t)s->tenants.n; }
static void order_of_tenants(struct snapshot *s) { s->tenants.items[1].tenant_id = s->tenants.items[0].tenant_id; }
static void many_nodes(struct snapshot *s) { s->jobs.items[0].nodes = 1000001; }
static void place_of_rule(struct snapshot *s) { s->book.rules.items[0].place = RULE_QUEUE + 1; }
static void mode_of_queue(struct snapshot *s) { s->book.queues.items[0].mode = -1; }
static void gpus_of_job(struct snapshot *s) { s->jobs.items[0].gpus = -1; }
static void claim_of_job(struct snapshot *s)
{
    s->claims->n = 1;
    s->claims->items[0] = (struct claim){ .ask.gpus = 99 };
}

static enum errc read_one(const struct snapshot *s, struct arena *a, struct err *e)
{
    struct recorder *r = recorder_new((size_t)16 << 20);
    const struct cycle_head head = { .kind = CYCLE_QUICK, .version = STR("v") };
    const struct plan none = { 0 };
    struct cycle c;
    record_inputs(r, &head, s, a);
    record_plan(r, s, &none, a);
    struct buf b = record_take(r);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    const enum errc rc = record_read(STR("f"), str_dup(a, buf_str(&b)), a, &c, e);
    buf_release(&b);
    recorder_free(r);
    return rc;
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct wrong all[] = {
        { "job 1 names tenant 4 of 4", tenant_of_job }, { "the tenants do not stand in the order of their ids",
            order_of_tenants },
        { "nodes of table jobs: 0 to 1000000 is expected, 1000001 came", many_nodes },
        { "place of table rules: 0 to 2 is expected, 3 came", place_of_rule },
        { "mode of table queues: 0 to 1 is expected, -1 came", mode_of_queue },
        { "gpus of table jobs: 0 to 2147483647 is expected, -1 came", gpus_of_job },
        { "claim 1 asks for what no job can", claim_of_job } };
    struct world w;
    world_begin(&w, 3);
    while (!w.jobs[0].waits)
        world_pass_time(&w);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct arena *a = arena_new((size_t)256 << 20);
        struct holders h;
        struct err e = { 0 };
        int of[W_JOBS];
        w.claims.n = 0;
        struct snapshot s = world_picture(&w, a, &h, of);
        assert_int_equal(read_one(&s, a, &e), ERR_OK);
        all[i].change(&s);
        assert_int_equal(read_one(&s, a, &e), ERR_INVALID);
        if (!strstr(e.msg, all[i].words) || strncmp(e.msg, "f: offset ", 10) != 0)
            fail_msg("\"%s\" is expected, \"%s\" came", all[i].words, e.msg);
        arena_free(a);
    }
    world_end(&w);
}

/* Memory that is too small is told as that. */
static void test_limit(void **state)
{
    (void)state;
    struct world w;
    struct arena *a = arena_new((size_t)256 << 20), *small = arena_new(1 << 10);
    struct holders h;
    struct cycle c;
    struct err e = { 0 };
    int of[W_JOBS];
    world_begin(&w, 3);
    const struct snapshot s = world_picture(&w, a, &h, of);
    struct recorder *r = recorder_new((size_t)16 << 20);
    const struct cycle_head head = { .version = STR("v") };
    const struct plan none = { 0 };
    record_inputs(r, &head, &s, a);
    record_plan(r, &s, &none, a);
    struct buf b = record_take(r);
    tables_seal(b.ptr, b.len, FILE_HEAD);
    assert_int_equal(record_read(STR("f"), buf_str(&b), small, &c, &e), ERR_LIMIT);
    buf_release(&b);
    recorder_free(r);
    world_end(&w);
    arena_free(small);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_wrong), cmocka_unit_test(test_limit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
