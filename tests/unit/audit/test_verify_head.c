/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_head.c - heads known from before: extension is proven, shrinking and forking are named. */
#include "tests/unit/audit/fixture.h"

static struct key *k;
static struct uuid tenant;

static int setup(void **state)
{
    (void)state;
    k = key_make();
    tenant = uuid_v7(77);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(k);
    return 0;
}

static void an_honest_log_extends_each_of_its_heads(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 17, 5);
    for (uint64_t prev = 1; prev <= 17; prev++) {
        struct bundle_head ignored;
        struct audit_head kept;
        log_head(l, prev, k, &ignored, &kept);
        /* A whole bundle shows it by itself; one of a late range needs the proof. */
        struct lines *s = lines_make(l, k, (struct make){ 0 });
        assert_int_equal(verify_lines(s, k, &kept).damage, VERIFY_OK);
        lines_free(s);
        s = lines_make(l, k, (struct make){ .from = 17, .to = 17, .prev_size = prev < 17 ? prev : 0 });
        struct verify_result r = verify_lines(s, k, &kept);
        assert_string_equal(r.text, "");
        lines_free(s);
    }
    log_free(l);
}

static void a_late_range_without_proof_is_refused(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 17, 5);
    struct bundle_head ignored;
    struct audit_head kept;
    log_head(l, 9, k, &ignored, &kept);
    struct lines *s = lines_make(l, k, (struct make){ .from = 12 });
    assert_int_equal(verify_lines(s, k, &kept).damage, VERIFY_MALFORMED);
    lines_free(s);
    s = lines_make(l, k, (struct make){ .from = 12, .prev_size = 9 });
    kept.root.b[0] ^= 1;
    assert_int_equal(verify_lines(s, k, &kept).damage, VERIFY_FORKED);
    lines_free(s);
    log_free(l);
}

static void a_log_that_shrank_is_truncated(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 17, 5);
    struct bundle_head ignored;
    struct audit_head kept;
    log_head(l, 17, k, &ignored, &kept);
    struct lines *s = lines_make(l, k, (struct make){ .head_size = 11 });
    struct verify_result r = verify_lines(s, k, &kept);
    assert_true(r.damage == VERIFY_TRUNCATED && r.tseq == 12);
    lines_free(s);
    log_free(l);
}

static void a_checkpoint_that_does_not_fit_bounds_the_fork(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 20, 5);
    struct bundle_head c5, c10;
    struct audit_head h;
    struct buf b5 = BUF(4096), b10 = BUF(4096);
    log_head(l, 5, k, &c5, &h);
    log_head(l, 10, k, &c10, &h);
    bundle_checkpoint_encode(&c5, &b5);
    bundle_checkpoint_encode(&c10, &b10);
    l->e[7].body.ptr[l->e[7].body.len - 3] ^= 1;
    log_rechain(l, 7);
    struct lines *s = lines_make(l, k, (struct make){ 0 });
    lines_insert(s, 11, b10);
    lines_insert(s, 6, b5);
    struct verify_result r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_FORKED && r.tseq == 6);
    lines_free(s);
    log_free(l);
}

/* A checkpoint at the wrong place, or one that is no checkpoint, speaks of no entry: all entries are as they were. */
static void a_misplaced_checkpoint_blames_no_entry(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 20, 5);
    for (int way = 0; way < 3; way++) {
        struct bundle_head c5;
        struct audit_head h;
        struct buf b5 = BUF(4096);
        log_head(l, 5, k, &c5, &h);
        bundle_checkpoint_encode(&c5, &b5);
        if (way == 2)
            b5.ptr[b5.len / 2] = '\n';
        struct lines *s = lines_make(l, k, (struct make){ 0 });
        lines_insert(s, way ? 6 + way : 5, b5);
        struct verify_result r = verify_lines(s, k, NULL);
        assert_true(r.damage == VERIFY_MALFORMED && r.tseq == 0 && r.line > 0);
        if (way < 2)
            assert_string_equal(r.text, way ? "a checkpoint of size 5 stands behind entry 6"
                                            : "a checkpoint of size 5 stands behind entry 4");
        lines_free(s);
    }
    log_free(l);
}

static void a_head_of_another_tenant_or_another_tree_is_refused(void **state)
{
    (void)state;
    struct log *a = log_make(tenant, 6, 5), *b = log_make(uuid_v7(78), 6, 6), *c = log_make(tenant, 6, 7);
    struct bundle_manifest *ma = malloc(sizeof *ma);
    struct audit_head h;
    for (int other = 0; other < 2; other++) {
        struct lines *s = lines_make(a, k, (struct make){ 0 });
        assert_true(bundle_manifest_decode(str_n(s->line[0].ptr, s->line[0].len - 1), ma));
        log_head(other ? c : b, 6, k, &ma->head, &h);
        buf_clear(&s->line[0]);
        assert_true(bundle_manifest_encode(ma, &s->line[0]));
        memcpy(s->sig, ma->head.sig, AUDIT_SIG);
        struct verify_result r = verify_lines(s, k, NULL);
        assert_int_equal(r.damage, other ? VERIFY_FORKED : VERIFY_SPLICED);
        lines_free(s);
    }
    free(ma);
    log_free(a);
    log_free(b);
    log_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_honest_log_extends_each_of_its_heads),
        cmocka_unit_test(a_late_range_without_proof_is_refused), cmocka_unit_test(a_log_that_shrank_is_truncated),
        cmocka_unit_test(a_checkpoint_that_does_not_fit_bounds_the_fork),
        cmocka_unit_test(a_misplaced_checkpoint_blames_no_entry),
        cmocka_unit_test(a_head_of_another_tenant_or_another_tree_is_refused) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
