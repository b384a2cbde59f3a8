/* SPDX-License-Identifier: Apache-2.0 */
/* test_bundle.c - every line of a bundle reads back, and every line cut short is refused. */
#include "tests/unit/audit/fixture.h"

static void lines_read_back_and_cut_lines_do_not(void **state)
{
    (void)state;
    struct key *k = key_make();
    struct log *l = log_make(uuid_v7(5), 13, 3);
    struct lines *s = lines_make(l, k, (struct make){ .from = 4, .to = 9, .prev_size = 6, .checkpoint = 7 });
    struct bundle_manifest *m = malloc(sizeof *m);
    struct bundle_record r;
    struct bundle_head h;
    for (size_t i = 0; i < s->n; i++) {
        struct buf again = BUF(AUDIT_LINE_MAX);
        struct str line = str_n(s->line[i].ptr, s->line[i].len - 1);
        if (i == 0) {
            assert_true(bundle_manifest_decode(line, m) && bundle_manifest_encode(m, &again));
        } else if (bundle_checkpoint_decode(line, &h)) {
            assert_true(bundle_checkpoint_encode(&h, &again));
        } else {
            assert_true(bundle_record_decode(line, &r) && bundle_record_encode(&r, &again));
        }
        assert_string_equal(again.ptr, s->line[i].ptr);
        buf_release(&again);
        for (size_t n = 0; n < line.len; n++) {
            struct str cut = str_n(line.ptr, n);
            assert_false(bundle_manifest_decode(cut, m) || bundle_checkpoint_decode(cut, &h));
            /* The event is not parsed, only hashed: a cut inside it can still end in a brace. */
            assert_false(bundle_record_decode(cut, &r) && line.ptr[n - 1] != '}');
        }
    }
    free(m);
    lines_free(s);
    log_free(l);
    key_free(k);
}

static void an_event_that_would_break_its_line_is_refused(void **state)
{
    (void)state;
    struct buf b = BUF(1000);
    struct bundle_record r = { .tseq = 1, .event = STR("{\"a\":\n1}") };
    assert_false(bundle_record_encode(&r, &b));
    buf_release(&b);
}

static void a_dropped_event_is_null(void **state)
{
    (void)state;
    struct buf b = BUF(1000);
    struct bundle_record r = { .tseq = 1 }, q;
    assert_true(bundle_record_encode(&r, &b) && strstr(b.ptr, ",\"event\":null}\n"));
    assert_true(bundle_record_decode(str_n(b.ptr, b.len - 1), &q) && q.event.ptr == NULL);
    buf_release(&b);
}

static void end_lines_read_back(void **state)
{
    (void)state;
    struct bundle_end e = { .count = 5, .sig = { 1, 2, 3 } }, f;
    struct buf b = BUF(1000);
    assert_true(bundle_end_encode(&e, &b) && bundle_end_decode(str_n(b.ptr, b.len - 1), &f) && f.count == 5);
    assert_memory_equal(&e, &f, sizeof e);
    assert_false(bundle_end_decode(buf_str(&b), &f));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lines_read_back_and_cut_lines_do_not),
        cmocka_unit_test(an_event_that_would_break_its_line_is_refused), cmocka_unit_test(a_dropped_event_is_null),
        cmocka_unit_test(end_lines_read_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
