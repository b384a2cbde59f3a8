/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify.c - nine mutations, 200 random logs each: all found, at the entry where they are, with the right name. */
#include "tests/unit/audit/fixture.h"

enum { ROUNDS = 200 };

static struct key *right, *wrong;
static struct uuid tenant_a, tenant_b;

struct expected {
    enum verify_damage damage;
    uint64_t tseq;
};

static int setup(void **state)
{
    (void)state;
    right = key_make();
    wrong = key_make();
    tenant_a = uuid_v7(1000);
    tenant_b = uuid_v7(2000);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(right);
    key_free(wrong);
    return 0;
}

static void replace_record(struct lines *s, size_t at, uint64_t tseq, const struct log_entry *e)
{
    buf_release(&s->line[at]);
    s->line[at] = lines_record(tseq, e);
}

/* How careful the attacker is: raw lines; numbers made dense again; leaf hashes fitted as well. */
static void renumber(struct lines *s)
{
    for (size_t i = 1; i < s->n; i++) {
        struct bundle_record r;
        struct buf b = BUF(AUDIT_LINE_MAX);
        ASSERT(bundle_record_decode(str_n(s->line[i].ptr, s->line[i].len - 1), &r));
        r.tseq = i;
        ASSERT(bundle_record_encode(&r, &b));
        buf_release(&s->line[i]);
        s->line[i] = b;
    }
}

static struct expected mut_edit(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log_entry e = l->e[t - 1];
    e.body = BUF(AUDIT_BODY_MAX);
    buf_add_str(&e.body, buf_str(&l->e[t - 1].body));
    char *p = strstr(e.body.ptr, "\"gpus\":") + 7;
    *p = *p == '9' ? '1' : (char)(*p + 1);
    if (care > 0)
        merkle_leaf(e.body.ptr, e.body.len, &e.leaf);
    replace_record(s, t, t, &e);
    buf_release(&e.body);
    return (struct expected){ VERIFY_EDITED, t };
}

static struct expected mut_delete(struct lines *s, struct log *l, uint64_t t, int care)
{
    (void)l;
    lines_delete(s, t);
    if (care > 0)
        renumber(s);
    return (struct expected){ VERIFY_DELETED, t };
}

static struct expected mut_tail(struct lines *s, struct log *l, uint64_t t, int care)
{
    (void)l;
    (void)care;
    while (s->n > t)
        lines_delete(s, s->n - 1);
    return (struct expected){ VERIFY_TRUNCATED, t };
}

static struct expected mut_insert(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log_entry e;
    uint32_t seed = (uint32_t)t;
    event_make(l->tenant, &seed, &e.body);
    merkle_leaf(e.body.ptr, e.body.len, &e.leaf);
    chain_start(l->tenant, &e.chain);
    if (care > 0)
        chain_next(t > 1 ? &l->e[t - 2].chain : &(struct merkle_hash){ 0 }, &e.leaf, &e.chain);
    if (care > 0 && t == 1) {
        struct merkle_hash start;
        chain_start(l->tenant, &start);
        chain_next(&start, &e.leaf, &e.chain);
    }
    lines_insert(s, t, lines_record(t, &e));
    if (care > 1)
        renumber(s);
    buf_release(&e.body);
    return (struct expected){ VERIFY_INSERTED, t };
}

static struct expected mut_swap(struct lines *s, struct log *l, uint64_t t, int care)
{
    uint64_t u = care == 1 || t + 3 > l->n ? t + 1 : t + 3;
    struct buf x = s->line[t];
    s->line[t] = s->line[u];
    s->line[u] = x;
    if (care == 1)
        renumber(s);
    return (struct expected){ VERIFY_SWAPPED, t };
}

static struct expected mut_duplicate(struct lines *s, struct log *l, uint64_t t, int care)
{
    lines_insert(s, t + 1, lines_record(t, &l->e[t - 1]));
    if (care > 0)
        renumber(s);
    return (struct expected){ VERIFY_DUPLICATED, t + 1 };
}

static struct expected mut_splice(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log *other = log_make(tenant_b, l->n, (uint32_t)t);
    struct log_entry e = other->e[t - 1];
    if (care > 0)
        chain_next(t > 1 ? &l->e[t - 2].chain : &e.chain, &e.leaf, &e.chain);
    replace_record(s, t, t, &e);
    log_free(other);
    return (struct expected){ VERIFY_SPLICED, t };
}

typedef struct expected (*mutation)(struct lines *, struct log *, uint64_t, int);

static void run_mutation(mutation mutate, int cares)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t seed = round * 7919 + 1;
        size_t n = 4 + rnd(&seed) % 40;
        struct log *l = log_make(tenant_a, n, seed);
        struct lines *s = lines_make(l, right, (struct make){ 0 });
        if (round < 20)
            assert_int_equal(verify_lines(s, right, NULL).damage, VERIFY_OK);
        uint64_t t = 1 + rnd(&seed) % (n - 1);
        struct expected want = mutate(s, l, t, (int)(round % (uint32_t)cares));
        struct verify_result r = verify_lines(s, right, NULL);
        if (r.damage != want.damage || r.tseq != want.tseq)
            fail_msg("round %u, n %zu, entry %llu: wanted %s at %llu, got %s at %llu: %s", round, n, (unsigned long long)t,
                     verify_damage_text(want.damage), (unsigned long long)want.tseq, verify_damage_text(r.damage),
                     (unsigned long long)r.tseq, r.text);
        lines_free(s);
        log_free(l);
    }
}

static void edited(void **state) { (void)state; run_mutation(mut_edit, 2); }
static void deleted_in_the_middle(void **state) { (void)state; run_mutation(mut_delete, 2); }
static void deleted_tail(void **state) { (void)state; run_mutation(mut_tail, 1); }
static void inserted(void **state) { (void)state; run_mutation(mut_insert, 3); }
static void swapped(void **state) { (void)state; run_mutation(mut_swap, 2); }
static void duplicated(void **state) { (void)state; run_mutation(mut_duplicate, 2); }
static void spliced(void **state) { (void)state; run_mutation(mut_splice, 2); }

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

static void signed_with_the_wrong_key(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct log *l = log_make(tenant_a, 3 + round % 5, round);
        struct lines *s = lines_make(l, wrong, (struct make){ 0 });
        struct verify_result r = verify_lines(s, right, NULL);
        assert_int_equal(r.damage, VERIFY_WRONG_KEY);
        r = verify_lines(s, NULL, NULL);
        assert_int_equal(r.damage, VERIFY_OK);
        assert_false(r.pinned);
        lines_free(s);
        log_free(l);
    }
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
    struct verify_opts o = { .pinned = (const uint8_t(*)[AUDIT_PUB])right->pub, .pinned_count = 1, .allow_dropped = true };
    assert_int_equal(audit_verify(read_mem, &rd, &o, &r), 0);
    assert_int_equal(r.dropped, 1);
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
        struct verify_opts o = { 0 };
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(edited), cmocka_unit_test(deleted_in_the_middle), cmocka_unit_test(deleted_tail),
        cmocka_unit_test(inserted), cmocka_unit_test(swapped), cmocka_unit_test(duplicated), cmocka_unit_test(spliced),
        cmocka_unit_test(forked_and_signed_again), cmocka_unit_test(signed_with_the_wrong_key),
        cmocka_unit_test(every_range_and_selection_of_a_log_verifies), cmocka_unit_test(damage_in_a_range_and_in_a_selection_is_found),
        cmocka_unit_test(dropped_bodies_need_permission), cmocka_unit_test(any_reader_step_gives_the_same_answer),
        cmocka_unit_test(no_cut_and_no_flipped_bit_goes_unseen), cmocka_unit_test(a_reader_that_fails_and_a_line_without_end) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
