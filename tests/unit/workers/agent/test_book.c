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
    kit_report(b, &out);
    assert_int_equal(out.len, 0);
    now = 10000000;
    kit_report(b, &out);
    assert_non_null(strstr(out.ptr, "\"event\":\"renew\""));
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_combines_and_keeps_order), cmocka_unit_test(test_logs_are_bounded_and_said_once),
                                        cmocka_unit_test(test_heartbeat_and_fence),
                                        cmocka_unit_test(test_a_report_fits_into_a_body),
                                        cmocka_unit_test(test_a_bad_end_is_the_last_line_of_the_log) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
