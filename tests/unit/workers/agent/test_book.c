/* SPDX-License-Identifier: Apache-2.0 */
/* test_book.c - order, combining, retry, bounds and the fence, with a clock that is turned by hand. */
#include "lease_kit.h"

static int64_t now;

static int64_t turn(void *ctx)
{
    (void)ctx;
    return now;
}

static const struct clock hand = { turn, turn, NULL };

static void settle(struct book *b, const int *ids, size_t n, int stale_id, bool cancel)
{
    struct lease_verdict v[64];
    for (size_t i = 0; i < n; i++)
        v[i] = (struct lease_verdict){ kit_id(ids[i]), ids[i] == stale_id ? STR("stale") : STR("ok"), cancel, 30000 };
    book_settle(b, v, n, now);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

static void test_combines_and_keeps_order(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g1 = kit_grant(1, "noop", "{}"), g2 = kit_grant(2, "noop", "{}");
    book_add_done(b, &g1, true, STR_NULL);
    book_add_done(b, &g2, false, STR("as asked"));
    kit_report(b, &out);
    assert_int_equal(count(out.ptr, "\"event\":"), 4);
    assert_true(strstr(out.ptr, "\"event\":\"start\"") < strstr(out.ptr, "\"event\":\"succeed\""));
    assert_non_null(strstr(out.ptr, "\"message\":\"as asked\""));
    assert_non_null(strstr(out.ptr, "\"text\":\"error: the job failed: as asked\""));
    book_unsettle(b);                                   /* the answer was lost: all of it again */
    CLEANUP(buf_releasep) struct buf again = BUF((size_t)4 << 20);
    kit_report(b, &again);
    assert_string_equal(out.ptr, again.ptr);
    settle(b, (int[]){ 1, 1, 2, 2 }, 4, -1, false);
    kit_report(b, &out);
    assert_int_equal(out.len, 0);
    struct book_counts c;
    book_get_counts(b, &c);
    assert_int_equal(c.live, 0);
    book_free(b);
}

/* What one of a gang has taken rides on its next word and is none by itself; once a report with it was refused, never again. */
static void test_energy_rides_along(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g = kit_grant(9, "train", "{}");
    struct held *h = book_add(b, &g, true);
    const int64_t cpu_mj = 1234, gpu_mj = 5;
    struct uuid refused;
    kit_report(b, &out);
    assert_null(strstr(out.ptr, "cpu_mj"));
    settle(b, (int[]){ 9 }, 1, -1, false);
    held_energy(h, &cpu_mj, NULL);
    kit_report(b, &out);
    assert_int_equal(out.len, 0);
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\",\"cpu_mj\":1234"));
    assert_null(strstr(out.ptr, "gpu_mj"));
    settle(b, (int[]){ 9 }, 1, -1, false);
    held_energy(h, &cpu_mj, &gpu_mj);
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"gpu_mj\":5"));
    assert_int_equal(book_refuse(b, STR("unknown member cpu_mj"), &refused), BOOK_STRIPPED);
    held_energy(h, &cpu_mj, &gpu_mj);
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\""));
    assert_null(strstr(out.ptr, "_mj"));
    held_unref(h);
    book_unsettle(b);
    book_free(b);
}

/* That what it has is used again is said once by who measures: no lost report may take that word with it. */
static void test_use_is_told_until_it_is_heard(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g = kit_grant(9, "train", "{}");
    struct held *h = book_add(b, &g, true);
    kit_report(b, &out);
    held_idle(h, 0);                                    /* while a report without it is on its way */
    settle(b, (int[]){ 9 }, 1, -1, false);
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"idle_ms\":0"));
    book_unsettle(b);                                   /* the answer was lost */
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"idle_ms\":0"));
    held_idle(h, 20000);
    settle(b, (int[]){ 9 }, 1, -1, false);
    now += 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"idle_ms\":20000"));
    settle(b, (int[]){ 9 }, 1, -1, false);
    now += 10000000;
    kit_report(b, &out);
    assert_null(strstr(out.ptr, "idle_ms"));
    held_unref(h);
    book_unsettle(b);
    book_free(b);
}

static void test_logs_are_bounded_and_said_once(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g = kit_grant(3, "train", "{}");
    struct held *h = book_add(b, &g, true);
    held_start(h, STR_NULL);
    for (int i = 0; i < HELD_LINES_MAX + 7; i++) {
        char line[32];
        held_log(h, "stdout", str_n(line, (size_t)snprintf(line, sizeof line, "line %d\x1b", i)));
    }
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "7 lines dropped"));
    assert_null(strstr(out.ptr, "\"line 6?\""));
    assert_non_null(strstr(out.ptr, "\"line 7?\""));
    held_log(h, "stdout", STR("later"));                /* while the report is under way */
    settle(b, (int[]){ 3 }, 1, -1, true);
    assert_true(held_is_cancelled(h));
    kit_report(b, &out);
    assert_int_equal(count(out.ptr, "\"text\":"), 1);
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\""));
    settle(b, (int[]){ 3 }, 1, 3, false);
    assert_true(held_is_stale(h));
    held_finish(h, &(struct lease_item){ .event = LE_SUCCEED });
    kit_report(b, &out);
    assert_int_equal(out.len, 0);                       /* a stale lease says nothing more */
    held_unref(h);
    book_free(b);
}

static void test_heartbeat_and_fence(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    now = 0;
    struct book *b = book_new(&hand, 10000);
    struct lease_grant g = kit_grant(4, "train", "{}");
    struct held *h = book_add(b, &g, true);
    now = 7000;
    kit_report(b, &out);                /* only this tells the database that it was taken, and when */
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\",\"held_ms\":7"));
    settle(b, (int[]){ 4 }, 1, -1, false);
    kit_report(b, &out);
    assert_int_equal(out.len, 0);
    now = 10007000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\""));
    assert_null(strstr(out.ptr, "held_ms"));
    now = 10000000;
    settle(b, (int[]){ 4 }, 1, -1, false);
    now = 29999999;
    assert_int_equal(book_fence(b, 20000), 0);
    assert_false(held_is_stale(h));
    now = 30000000;
    assert_int_equal(book_fence(b, 20000), 1);
    assert_true(held_is_stale(h));
    size_t room;
    assert_true(book_wait_room(b, 1, &room));
    held_unref(h);
    book_free(b);
}

/* However much the leases have to say, the API takes the report: one that it refuses would hold back all of them for ever. */
static void test_a_report_fits_into_a_body(void **state)
{
    (void)state;
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct config *cfg = config_new_default();
    struct book *b = book_new(&hand, 10000);
    char quotes[HELD_LINE_BYTES], values[HELD_LINE_BYTES];
    memset(quotes, '"', sizeof quotes);
    memset(values, '1', sizeof values);
    for (int l = 0; l < 6; l++) {
        struct lease_grant g = kit_grant(l + 1, "train", "{}");
        struct held *h = book_add(b, &g, false);
        for (int i = 0; i < (l ? 60 : 4); i++) {
            held_log(h, "stdout", str_n(quotes, sizeof quotes));
            held_metric(h, i, str_n(values, sizeof values));
        }
        held_unref(h);
    }
    kit_report(b, &out);
    assert_true(out.len > 500000 && out.len < (size_t)cfg->api_max_body);
    book_free(b);
    config_free(cfg);
}

/* The cause is in the log before the end is told, whatever was dropped, and cannot forge a second line. */
static void test_a_bad_end_is_the_last_line_of_the_log(void **state)
{
    (void)state;
    static const struct { const char *event, *message, *line; } ends[] = {
        { "fail", "1 row is\n too few", "{\"stream\":\"stderr\",\"text\":\"error: the job failed: 1 row is? too few\"}]" },
        { "oom", "the job needed more", "{\"stream\":\"stderr\",\"text\":\"error: out of memory: the job needed more\"}]" },
        { "timeout", "", "{\"stream\":\"stderr\",\"text\":\"error: out of time: the job may run 60 s\"}]" },
        { "cancel", "", NULL }, { "return", "no thread", NULL }, { "succeed", "", NULL },
    };
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    struct book *b = book_new(&hand, 10000);
    for (int i = 0; i < (int)(sizeof ends / sizeof *ends); i++) {
        struct lease_grant g = kit_grant(10 + i, "train", "{}");
        g.max_runtime_s = 60;
        struct held *h = book_add(b, &g, true);
        for (int line = 0; line < HELD_LINES_MAX; line++)
            held_log(h, "stdout", STR("info: epoch"));
        held_finish(h, &(struct lease_item){ .event = name_index(lease_event_names, str_c(ends[i].event)), .exit_code = 1, .message = str_c(ends[i].message) });
        held_log(h, "stdout", STR("too late"));
        kit_report(b, &out);
        char event[40];
        snprintf(event, sizeof event, "\"event\":\"%s\"", ends[i].event);
        assert_int_equal(count(out.ptr, event), 1);
        assert_int_equal(count(out.ptr, "error: "), ends[i].line ? 1 : 0);
        assert_int_equal(count(out.ptr, "\"text\":"), HELD_LINES_MAX + (ends[i].line ? 1 : 0));   /* one in place of the oldest, and how many went */
        if (ends[i].line)
            assert_non_null(strstr(out.ptr, ends[i].line));
        settle(b, (int[]){ 10 + i }, 1, -1, false);
        held_unref(h);
    }
    book_free(b);
}

/* The attempts in the report that comes next, as numbers of kit_id; their events. */
static size_t next_report(struct book *b, struct lease_item *items, int64_t *ret_dropped)
{
    CLEANUP(buf_releasep) struct buf out = BUF((size_t)4 << 20);
    static struct arena *a;
    if (!a)
        a = arena_new(1 << 20);
    arena_reset(a);
    struct lease_report_in in = { 0 };
    kit_report(b, &out);
    if (!out.len)
        return 0;
    assert_int_equal(json_decode(&lease_report_in_schema, buf_str(&out), a, &in, NULL), ERR_OK);
    memcpy(items, in.items.items, in.items.n * sizeof *items);
    *ret_dropped = in.has_dropped ? in.dropped : 0;
    return in.items.n;
}

/* A report that is refused is told again lease by lease; what is refused alone is dropped, and the end of its lease is told bare. */
static void test_what_the_api_refuses_is_split_and_dropped(void **state)
{
    (void)state;
    struct book *b = book_new(&hand, 10000);
    struct held *h[4];
    struct lease_item items[16];
    struct uuid attempt;
    int64_t dropped = 0;
    for (int i = 1; i <= 3; i++) {
        struct lease_grant g = kit_grant(i, "train", "{}");
        h[i] = book_add(b, &g, true);
        held_log(h[i], "stdout", STR("line"));
    }
    held_finish(h[2], &(struct lease_item){ .event = LE_SUCCEED, .result = { STR("{\"bad\":1}") } });
    assert_int_equal(next_report(b, items, &dropped), 3);
    assert_int_equal(book_refuse(b, STR("/items/1/result is odd"), &attempt), BOOK_SPLIT);
    for (int i = 1; i <= 3; i++) {                                  /* each alone; the second is refused again */
        assert_int_equal(next_report(b, items, &dropped), 1);
        assert_true(uuid_eq(items[0].attempt_id, kit_id(i)));
        assert_int_equal(items[0].logs.n, 1);
        if (i == 2) {
            assert_int_equal(items[0].event, LE_SUCCEED);
            assert_int_equal(book_refuse(b, STR("/items/0/result is odd"), &attempt), BOOK_STRIPPED);
            assert_true(uuid_eq(attempt, kit_id(2)));
            assert_int_equal(next_report(b, items, &dropped), 1);   /* what is left of it: that it has ended, and why it says no more */
            assert_int_equal(items[0].event, LE_FAIL);
            assert_true(str_eq_c(items[0].message, "the API refused the report of its end: /items/0/result is odd"));
            assert_null(items[0].result.text.ptr);
            assert_int_equal(dropped, 1);
        }
        settle(b, (int[]){ i }, 1, -1, false);
    }
    held_log(h[1], "stdout", STR("later"));
    held_log(h[3], "stdout", STR("later"));
    assert_int_equal(next_report(b, items, &dropped), 2);           /* together again, and the drop was told once */
    assert_int_equal(dropped, 0);
    book_unsettle(b);
    struct book_counts c;
    book_get_counts(b, &c);
    assert_int_equal(c.refused, 1);
    assert_int_equal(c.live, 2);

    struct uuid ids[2];
    assert_int_equal(next_report(b, items, &dropped), 2);
    assert_int_equal(book_refuse(b, STR("no"), &ids[0]), BOOK_SPLIT);
    assert_int_equal(next_report(b, items, &dropped), 1);
    assert_int_equal(book_refuse(b, STR("no"), &ids[0]), BOOK_STRIPPED);
    now += 10000000;
    assert_int_equal(next_report(b, items, &dropped), 1);
    assert_int_equal(items[0].event, LE_RENEW);
    assert_int_equal(items[0].logs.n, 0);
    assert_int_equal(book_refuse(b, STR("no"), &ids[1]), BOOK_GIVEN_UP);
    assert_true(uuid_eq(ids[0], ids[1]) && held_is_stale(h[1]) && !held_is_stale(h[3]));
    for (int i = 1; i <= 3; i++)
        held_unref(h[i]);
    book_free(b);
}

static void test_a_lease_holds_its_slots_while_it_runs(void **state)
{
    (void)state;
    struct book *b = book_new(&hand, 10000);
    struct lease_grant big = kit_grant(4, "noop", "{}"), done = kit_grant(5, "noop", "{}");
    size_t room;
    big.slots = 3;
    struct held *h = book_add(b, &big, true);
    book_add_done(b, &done, true, STR_NULL);            /* over already: it holds none */
    assert_true(book_wait_room(b, 5, &room));
    assert_int_equal(room, 2);
    assert_false(book_wait_room(b, 3, &room));
    assert_int_equal(room, 0);
    book_fence_all(b);
    assert_true(book_wait_room(b, 3, &room));
    assert_int_equal(room, 3);
    held_unref(h);
    book_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_combines_and_keeps_order), cmocka_unit_test(test_energy_rides_along),
                                        cmocka_unit_test(test_use_is_told_until_it_is_heard),
        cmocka_unit_test(test_logs_are_bounded_and_said_once),
                                        cmocka_unit_test(test_heartbeat_and_fence),
                                        cmocka_unit_test(test_a_report_fits_into_a_body),
                                        cmocka_unit_test(test_a_bad_end_is_the_last_line_of_the_log),
                                        cmocka_unit_test(test_what_the_api_refuses_is_split_and_dropped),
                                        cmocka_unit_test(test_a_lease_holds_its_slots_while_it_runs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
