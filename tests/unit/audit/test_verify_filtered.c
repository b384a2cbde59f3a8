/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_filtered.c - a filtered range is accepted when nothing that fits was left out, and refused at the entry that was.
 * That the three verifiers agree on these and many more: console/tests/audit/kinds.test.ts. */
#include "tests/unit/audit/fixture.h"

enum { ENTRIES = 60 };
static const struct audit_filter filters[] = { { .action = "job." }, { .actor = "worker" }, { .resource = "dataset" },
    { .from_us = 1700000004000000 }, { .until_us = 1700000004000000, .action = "job." }, { .actor = "user" } };
enum { FILTERS = sizeof filters / sizeof filters[0] };

static struct key *key;
static struct log *logs;

static int setup(void **state)
{
    (void)state;
    key = key_make();
    logs = log_make(uuid_v7(1000), ENTRIES, 3);
    logs->opened_from = 1;
    log_rechain(logs, 0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(key);
    log_free(logs);
    return 0;
}

static uint64_t fitting(const struct audit_filter *f, uint64_t from)
{
    uint64_t n = 0;
    for (uint64_t t = from; t <= ENTRIES; t++)
        n += log_matches(logs, t, f);
    return n;
}

/* The line of entry t in a bundle from entry 1, as another record. */
static void replace(struct lines *s, uint64_t t, const struct bundle_record *r)
{
    buf_clear(&s->line[t]);
    ASSERT(bundle_record_encode(r, &s->line[t]));
}

static void refused(struct lines *s, enum verify_damage want, uint64_t tseq)
{
    struct verify_result r = verify_lines(s, key, NULL);
    if (r.damage != want || r.tseq != tseq)
        fail_msg("want %s at %llu, got %s at %llu: %s", verify_damage_text(want), (unsigned long long)tseq,
                 verify_damage_text(r.damage), (unsigned long long)r.tseq, r.text);
    lines_free(s);
}

static void what_fits_is_here_and_the_rest_shows_why_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILTERS; i++) {
        struct lines *s = lines_make(logs, key, (struct make){ .from = 3, .filter = &filters[i], .is_filtered = true,
                                                               .prev_size = 9,
                                                               .checkpoint = 20 });
        struct verify_result r = verify_lines(s, key, NULL);
        assert_string_equal(r.text, "");
        assert_true(r.damage == VERIFY_OK && r.is_filtered && !r.is_selection && r.count == ENTRIES - 2);
        assert_int_equal(r.count - r.withheld, fitting(&filters[i], 3));
        lines_free(s);
    }
}

/* Whatever field of an entry that fits is shown instead of its body: none says that it does not. */
static void an_entry_that_fits_cannot_be_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILTERS; i++)
        for (int field = 0; field < AUDIT_FIELDS; field++)
            for (uint64_t t = 1; t <= ENTRIES; t += 7) {
                struct lines *s;
                struct bundle_record r;
                if (!log_matches(logs, t, &filters[i]))
                    continue;
                s = lines_make(logs, key, (struct make){ .filter = &filters[i], .is_filtered = true });
                lines_withhold(logs, t, &filters[i], (enum audit_field)field, &r);
                replace(s, t, &r);
                refused(s, VERIFY_DELETED, t);
            }
}

static void a_false_field_does_not_make_the_leaf(void **state)
{
    (void)state;
    struct lines *s = lines_make(logs, key, (struct make){ .filter = &filters[5], .is_filtered = true });
    struct bundle_record r;
    lines_withhold(logs, 30, &filters[5], AUDIT_FIELD_ACTOR, &r);
    r.opened.member = STR("\"actor\":{\"type\":\"worker\",\"id\":null}");
    replace(s, 30, &r);
    refused(s, VERIFY_EDITED, 30);
}

static void a_body_that_does_not_fit_was_not_asked_for(void **state)
{
    (void)state;
    struct lines *s = lines_make(logs, key, (struct make){ .filter = &filters[1], .is_filtered = true });
    replace(s, 12, &(struct bundle_record){ .tseq = 12, .leaf = logs->e[11].leaf, .chain = logs->e[11].chain,
                                            .event = buf_str(&logs->e[11].body) });
    refused(s, VERIFY_INSERTED, 12);
}

static void a_withheld_entry_stands_in_a_filtered_range_only(void **state)
{
    (void)state;
    struct bundle_record r;
    struct lines *s = lines_make(logs, key, (struct make){ 0 });
    lines_withhold(logs, 12, &filters[1], AUDIT_FIELD_TIME, &r);
    replace(s, 12, &r);
    refused(s, VERIFY_MALFORMED, 12);
}

/* Before the switch leaves were plain: those entries keep verifying in a range, and can be withheld by nobody. */
static void older_entries_verify_and_cannot_be_opened(void **state)
{
    (void)state;
    struct log *l = log_make(uuid_v7(2000), 20, 5);
    struct bundle_record r;
    l->opened_from = 11;
    log_rechain(l, 0);
    struct lines *s = lines_make(l, key, (struct make){ .prev_size = 4 });
    assert_int_equal(verify_lines(s, key, NULL).damage, VERIFY_OK);
    lines_free(s);
    s = lines_make(l, key, (struct make){ .is_selection = true });
    assert_int_equal(verify_lines(s, key, NULL).damage, VERIFY_OK);
    lines_free(s);
    s = lines_make(l, key, (struct make){ .from = 11, .filter = &filters[1], .is_filtered = true });
    assert_int_equal(verify_lines(s, key, NULL).damage, VERIFY_OK);
    lines_free(s);
    s = lines_make(l, key, (struct make){ .filter = &filters[1], .is_filtered = true });
    lines_withhold(l, 1, &filters[1], AUDIT_FIELDS, &r);
    refused(s, VERIFY_EDITED, 1);
    log_free(l);
}

static void filtered_lines_read_back_and_cut_lines_do_not(void **state)
{
    (void)state;
    struct lines *s = lines_make(logs, key, (struct make){ .to = 20, .filter = &filters[2], .is_filtered = true });
    struct bundle_manifest *m = malloc(sizeof *m);
    for (size_t i = 0; i < s->n; i++) {
        struct buf again = BUF(AUDIT_LINE_MAX);
        struct bundle_record r;
        struct str line = str_n(s->line[i].ptr, s->line[i].len - 1);
        if (i == 0)
            assert_true(bundle_manifest_decode(line, m) && m->is_filtered && bundle_manifest_encode(m, &again));
        else
            assert_true(bundle_record_decode(line, &r) && bundle_record_encode(&r, &again));
        assert_string_equal(again.ptr, s->line[i].ptr);
        for (size_t n = 0; n < line.len; n++)
            assert_false(bundle_manifest_decode(str_n(line.ptr, n), m) ||
                         (bundle_record_decode(str_n(line.ptr, n), &r) && line.ptr[n - 1] != '}'));
        buf_release(&again);
    }
    free(m);
    lines_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_fits_is_here_and_the_rest_shows_why_not),
        cmocka_unit_test(an_entry_that_fits_cannot_be_left_out), cmocka_unit_test(a_false_field_does_not_make_the_leaf),
        cmocka_unit_test(a_body_that_does_not_fit_was_not_asked_for),
        cmocka_unit_test(a_withheld_entry_stands_in_a_filtered_range_only),
        cmocka_unit_test(older_entries_verify_and_cannot_be_opened),
        cmocka_unit_test(filtered_lines_read_back_and_cut_lines_do_not) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
