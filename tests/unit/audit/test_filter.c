/* SPDX-License-Identifier: Apache-2.0 */
/* test_filter.c - what a filter lets through, and its one spelling. */
#include "audit/filter.h"
#include "audit/scan_int.h"
#include "tests/unit/audit/fixture.h"

static struct audit_view view = { .ts_us = 1000, .actor = AUDIT_USER, .action = { "job.submit", 10 }, .resource_kind = { "job", 3 },
                                  .resource_id = { "job_0189", 8 } };

static void each_member_lets_through_what_it_says(void **state)
{
    (void)state;
    assert_true(uuid_parse(STR("01890000-0000-7000-8000-0000000000bb"), &view.actor_id));
    static const struct {
        struct audit_filter f;
        bool want;
    } rows[] = { { { 0 }, true }, { { .from_us = 1000 }, true }, { { .from_us = 1001 }, false }, { { .until_us = 1001 }, true },
        { { .until_us = 1000 }, false }, { { .actor = "user" }, true }, { { .actor = "worker" }, false },
        { { .actor = "01890000-0000-7000-8000-0000000000bb" }, true }, { { .actor = "00000000-0000-0000-0000-000000000000" }, false },
        { { .action = "job.submit" }, true }, { { .action = "job" }, false }, { { .action = "job." }, true }, { { .action = "job.s" }, false },
        { { .resource = "job" }, true }, { { .resource = "job_0189" }, true }, { { .resource = "job_01" }, false },
        { { .from_us = 1, .until_us = 2000, .actor = "user", .action = "job.", .resource = "job" }, true },
        { { .from_us = 1, .until_us = 2000, .actor = "user", .action = "key.", .resource = "job" }, false } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (audit_filter_match(&view, &rows[i].f) != rows[i].want)
            fail_msg("row %zu", i);
    struct audit_view none = { .actor = AUDIT_SYSTEM, .action = STR("x") };
    assert_false(audit_filter_match(&none, &(struct audit_filter){ .resource = "job" }));
    assert_false(audit_filter_match(&none, &(struct audit_filter){ .actor = "00000000-0000-0000-0000-000000000000" }));
}

/* One field is enough to say no, the first that says it is named, and a field that was not asked about never does. */
static void one_field_refutes_and_the_others_do_not(void **state)
{
    (void)state;
    static const struct {
        struct audit_filter f;
        enum audit_field want;
    } rows[] = { { { .from_us = 1001, .action = "key." }, AUDIT_FIELD_TIME }, { { .until_us = 1000 }, AUDIT_FIELD_TIME },
        { { .from_us = 1000, .action = "key." }, AUDIT_FIELD_ACTION }, { { .resource = "node" }, AUDIT_FIELD_RESOURCE },
        { { .actor = "worker", .resource = "job" }, AUDIT_FIELD_ACTOR }, { { .actor = "user", .action = "job." },
                                                                           AUDIT_FIELDS } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(audit_filter_refuter(&view, &rows[i].f), rows[i].want);
        for (int field = 0; field < (int)rows[i].want; field++)
            assert_false(audit_filter_refutes(&view, (enum audit_field)field, &rows[i].f));
    }
    assert_false(audit_filter_refutes(&view, AUDIT_FIELDS, &(struct audit_filter){ .actor = "worker" }));
}

static void a_filter_has_one_spelling(void **state)
{
    (void)state;
    struct audit_filter f = { .from_us = 5, .action = "job.", .resource = "job_1" }, g;
    struct buf b = BUF(4096);
    assert_true(audit_filter_encode(&f, &b));
    assert_string_equal(b.ptr, "{\"from_us\":5,\"until_us\":null,\"actor\":null,\"action\":\"job.\",\"resource\":\"job_1\"}");
    struct str s = buf_str(&b);
    assert_true(audit_filter_scan(&s, &g) && s.len == 0);
    assert_memory_equal(&f, &g, sizeof f);
    for (size_t n = 0; n < b.len; n++) {
        s = str_n(b.ptr, n);
        assert_false(audit_filter_scan(&s, &g));
    }
    buf_clear(&b);
    assert_true(audit_filter_encode(&(struct audit_filter){ 0 }, &b));
    assert_string_equal(b.ptr, "null");
    static const char *const bad[] = { "{\"from_us\":null,\"until_us\":null,\"actor\":null,\"action\":null,\"resource\":null}",
        "{\"from_us\":0,\"until_us\":null,\"actor\":\"a\",\"action\":null,\"resource\":null}",
        "{\"from_us\":null,\"until_us\":null,\"actor\":\"\",\"action\":null,\"resource\":null}",
        "{\"from_us\":9,\"until_us\":9,\"actor\":null,\"action\":null,\"resource\":null}" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        s = str_c(bad[i]);
        assert_false(audit_filter_scan(&s, &g));
    }
    assert_false(audit_filter_encode(&(struct audit_filter){ .actor = "a\"b" }, &b));
    assert_false(audit_filter_encode(&(struct audit_filter){ .from_us = 9, .until_us = 8 }, &b));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_member_lets_through_what_it_says),
        cmocka_unit_test(one_field_refutes_and_the_others_do_not), cmocka_unit_test(a_filter_has_one_spelling) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
