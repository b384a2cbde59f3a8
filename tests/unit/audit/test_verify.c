/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify.c - ranges, selections, forks against a kept head, readers of every step. The nine kinds of tampering: test_verify_tamper.c. */
#include "tests/unit/audit/fixture.h"

enum { ROUNDS = 200 };

static struct key *right, *wrong;
static struct uuid tenant_a;

static int setup(void **state)
{
    (void)state;
    right = key_make();
    wrong = key_make();
    tenant_a = uuid_v7(1000);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(right);
    key_free(wrong);
    return 0;
}

/* The log is rewritten from entry t on and signed anew with the right key: the head kept from before, or a checkpoint, tells. */
static void forked_and_signed_again(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t seed = round * 7919 + 1;
        size_t n = 4 + rnd(&seed) % 40;
        struct log *l = log_make(tenant_a, n, seed);
        uint64_t kept_size = 2 + rnd(&seed) % (n - 1), t = 1 + rnd(&seed) % kept_size;
        struct bundle_head ignored, check;
        struct audit_head kept, head;
        struct buf line = BUF(AUDIT_LINE_MAX);
        log_head(l, kept_size, right, &ignored, &kept);
        if (t > 1)
            log_head(l, t - 1, right, &check, &head);
        buf_release(&l->e[t - 1].body);
        event_make(tenant_a, &seed, &l->e[t - 1].body);
        log_rechain(l, t - 1);
        struct lines *s = lines_make(l, right, (struct make){ 0 });
        if (t > 1) {        /* the checkpoint before the fork is genuine and bounds it from below */
            assert_true(bundle_checkpoint_encode(&check, &line));
            lines_insert(s, t, line);
        }
        struct verify_result r = verify_lines(s, right, &kept);
        if (r.damage != VERIFY_FORKED || r.tseq != t)
            fail_msg("round %u: fork at %llu of %zu, got %s at %llu: %s", round, (unsigned long long)t, n, verify_damage_text(r.damage),
                     (unsigned long long)r.tseq, r.text);
        lines_free(s);
        log_free(l);
    }
}

static void without_a_pinned_key_the_result_says_so(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 5, 1);
    struct lines *s = lines_make(l, wrong, (struct make){ 0 });
    assert_int_equal(verify_lines(s, right, NULL).damage, VERIFY_WRONG_KEY);
    struct verify_result r = verify_lines(s, NULL, NULL);
    assert_int_equal(r.damage, VERIFY_OK);
    assert_false(r.pinned);
    lines_free(s);
    log_free(l);
}

/* A filter in the manifest is a promise: what it would not let through is refused, and a range cannot have one. */
static void a_filtered_bundle_holds_what_was_asked_for(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 60, 3);
    static const struct audit_filter filters[] = { { .action = "job." }, { .actor = "user", .from_us = 1700000004000000 }, { .resource = "dataset" },
                                                   { .action = "key.create", .until_us = 1 } };
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        struct lines *s = lines_make(l, right, (struct make){ .from = 3, .filter = &filters[i] });
        struct verify_result r = verify_lines(s, right, NULL);
        assert_string_equal(r.text, "");
        assert_int_equal(r.damage, VERIFY_OK);
        lines_free(s);
    }
    struct lines *wide = lines_make(l, right, (struct make){ .is_selection = true }), *s = lines_make(l, right, (struct make){ .filter = &filters[0] });
    uint64_t alien = 1;
    while (log_matches(l, alien, &filters[0]))
        alien++;
    size_t at = 1;
    struct bundle_record rec;
    while (bundle_record_decode(str_n(s->line[at].ptr, s->line[at].len - 1), &rec) && rec.tseq < alien)
        at++;
    struct buf b = BUF(AUDIT_LINE_MAX);
    buf_add_str(&b, buf_str(&wide->line[alien]));
    lines_insert(s, at, b);
    struct verify_result r = verify_lines(s, right, NULL);
    assert_true(r.damage == VERIFY_INSERTED && r.tseq == alien);
    lines_free(wide);
    lines_free(s);
    s = lines_make(l, right, (struct make){ 0 });
    struct bundle_manifest *m = malloc(sizeof *m);
    assert_true(bundle_manifest_decode(str_n(s->line[0].ptr, s->line[0].len - 1), m));
    m->filter = filters[0];
    buf_clear(&s->line[0]);
    assert_true(bundle_manifest_encode(m, &s->line[0]));
    assert_int_equal(verify_lines(s, right, NULL).damage, VERIFY_MALFORMED);
    free(m);
    lines_free(s);
    log_free(l);
}

/* A sealed value is bytes like others: with its key or without, the log is whole. */
static void a_sealed_value_changes_nothing_for_the_chain(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 3, 3);
    struct audit_event ev = { .tenant_id = tenant_a, .zone = STR("ae-dxb-1"), .code = AUDIT_LOGIN, .actor = AUDIT_USER,
        .src_ip = STR("sealed:1:01890000-0000-7000-8000-000000000001:c29tZSBub25jZSBhbmQgY2lwaGVydGV4dCBhbmQgYSB0YWc") };
    struct audit_view *v = malloc(sizeof *v);
    buf_clear(&l->e[1].body);
    assert_true(audit_event_encode(&ev, &l->e[1].body));
    assert_true(audit_record_read(buf_str(&l->e[1].body), v) && audit_text_is_sealed(v->src_ip));
    log_rechain(l, 1);
    struct lines *s = lines_make(l, right, (struct make){ 0 });
    assert_int_equal(verify_lines(s, right, NULL).damage, VERIFY_OK);
    free(v);
    lines_free(s);
    log_free(l);
}

static void every_range_and_selection_of_a_log_verifies(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 21, 9);
    for (uint64_t from = 1; from <= 21; from++) {
        for (uint64_t to = from; to <= 21; to++) {
            struct lines *s = lines_make(l, right, (struct make){ .from = from, .to = to, .is_selection = (from + to) % 3 == 0 });
            struct verify_result r = verify_lines(s, right, NULL);
            assert_string_equal(r.text, "");
            assert_true(r.damage == VERIFY_OK && r.count == to - from + 1 && r.pinned);
            lines_free(s);
        }
    }
    log_free(l);
}

static void damage_in_a_range_and_in_a_selection_is_found(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 30, 4);
    for (int selection = 0; selection < 2; selection++) {
        struct lines *s = lines_make(l, right, (struct make){ .from = 7, .to = 19, .is_selection = selection });
        char *p = strstr(s->line[4].ptr, "\"gpus\":") + 7;
        *p = *p == '9' ? '1' : (char)(*p + 1);
        struct verify_result r = verify_lines(s, right, NULL);
        assert_true(r.damage == VERIFY_EDITED && r.tseq == 10 && r.line == 5);
        lines_free(s);
    }
    /* An honest looking selection of an event at another number. */
    struct lines *s = lines_make(l, right, (struct make){ .from = 7, .to = 19, .is_selection = true });
    memcpy(strstr(s->line[6].ptr, "\"tseq\":12"), "\"tseq\":13", 9);
    lines_delete(s, 7);
    struct verify_result r = verify_lines(s, right, NULL);
    assert_true(r.damage == VERIFY_EDITED && r.tseq == 13);
    lines_free(s);
    log_free(l);
}

static void dropped_bodies_need_permission(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 5, 4);
    struct lines *s = lines_make(l, right, (struct make){ 0 });
    struct log_entry e = l->e[2];
    struct buf b = BUF(4096);
    struct bundle_record rec = { .tseq = 3, .leaf = e.leaf, .chain = e.chain };
    bundle_record_encode(&rec, &b);
    buf_release(&s->line[3]);
    s->line[3] = b;
    struct verify_result r = verify_lines(s, right, NULL);
    assert_true(r.damage == VERIFY_EDITED && r.tseq == 3);
    struct buf all = lines_join(s);
    struct reader rd = { buf_str(&all), 0 };
    struct verify_opts o = { .pinned = (const uint8_t(*)[AUDIT_PUB])right->pub, .pinned_count = 1, .allow_unproved_drops = true };
    assert_int_equal(audit_verify(read_mem, &rd, &o, &r), 0);
    assert_true(r.dropped == 1 && r.unproved == 1);
    buf_release(&all);
    lines_free(s);
    log_free(l);
}

static void any_reader_step_gives_the_same_answer(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 12, 8);
    struct lines *s = lines_make(l, right, (struct make){ 0 });
    struct buf all = lines_join(s);
    for (size_t step = 1; step < 3000; step = step * 2 + 1) {
        struct reader rd = { buf_str(&all), step };
        struct verify_result r;
        struct verify_opts o = { .trust_embedded = true };
        assert_int_equal(audit_verify(read_mem, &rd, &o, &r), 0);
    }
    buf_release(&all);
    lines_free(s);
    log_free(l);
}

static void no_cut_and_no_flipped_bit_goes_unseen(void **state)
{
    (void)state;
    struct log *l = log_make(tenant_a, 3, 8);
    struct lines *s = lines_make(l, right, (struct make){ .prev_size = 2 });
    struct buf all = lines_join(s);
    for (size_t n = 0; n < all.len; n++)
        assert_int_not_equal(verify_text(str_n(all.ptr, n), right, NULL).damage, VERIFY_OK);
    for (size_t i = 0; i < all.len; i++) {
        all.ptr[i] ^= 1 << (i % 7);
        assert_int_not_equal(verify_text(buf_str(&all), right, NULL).damage, VERIFY_OK);
        all.ptr[i] ^= 1 << (i % 7);
    }
    buf_add_c(&all, "{}\n");
    assert_int_equal(verify_text(buf_str(&all), right, NULL).damage, VERIFY_MALFORMED);
    buf_release(&all);
    lines_free(s);
    log_free(l);
}

static ssize_t read_fails(void *ctx, void *p, size_t n)
{
    (void)ctx, (void)p, (void)n;
    return -1;
}

static void a_reader_that_fails_and_a_line_without_end(void **state)
{
    (void)state;
    struct verify_result r;
    struct verify_opts o = { 0 };
    audit_verify(read_fails, NULL, &o, &r);
    assert_int_equal(r.damage, VERIFY_UNREADABLE);
    char *p = malloc(1 << 20);
    memset(p, 'a', 1 << 20);
    assert_int_equal(verify_text(str_n(p, 1 << 20), NULL, NULL).damage, VERIFY_MALFORMED);
    assert_int_equal(verify_text(STR(""), NULL, NULL).damage, VERIFY_MALFORMED);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(forked_and_signed_again), cmocka_unit_test(without_a_pinned_key_the_result_says_so),
        cmocka_unit_test(a_filtered_bundle_holds_what_was_asked_for), cmocka_unit_test(a_sealed_value_changes_nothing_for_the_chain),
        cmocka_unit_test(every_range_and_selection_of_a_log_verifies), cmocka_unit_test(damage_in_a_range_and_in_a_selection_is_found),
        cmocka_unit_test(dropped_bodies_need_permission), cmocka_unit_test(any_reader_step_gives_the_same_answer),
        cmocka_unit_test(no_cut_and_no_flipped_bit_goes_unseen), cmocka_unit_test(a_reader_that_fails_and_a_line_without_end) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
