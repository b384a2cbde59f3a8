/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_look.c - what a line says by itself, and that a verdict does not depend on how many threads look at lines.
 *
 * Bundles of several blocks are damaged at random places; every one is judged by the caller alone, by one thread beside it and
 * by three, in reads of several sizes, and each result must be the same byte for byte, place and words included. */
#include "audit/lines_int.h"
#include "audit/verify_look_int.h"
#include "tests/lib/share.h"
#include "tests/unit/audit/fixture.h"

static struct key *right;
static struct uuid tenant;
static const struct audit_filter no_filter, jobs = { .action = "job." };

static int setup(void **state)
{
    (void)state;
    right = key_make();
    tenant = uuid_v7(1000);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(right);
    return 0;
}

static struct verify_result judge(struct str text, int threads, size_t step)
{
    struct reader r = { text, step };
    struct verify_opts o = { .pinned = (const uint8_t(*)[AUDIT_PUB])right->pub, .pinned_count = 1, .threads = threads };
    struct verify_result ret;
    audit_verify(read_mem, &r, &o, &ret);
    return ret;
}

/* The verdict, which is the same for any number of threads. */
static struct verify_result judge_all(struct str text, const char *what)
{
    static const struct { int threads; size_t step; } ways[] = { { 1, 0 }, { 3, 0 }, { 3, 50021 } };
    struct verify_result alone = judge(text, -1, 0);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct verify_result r = judge(text, ways[i].threads, ways[i].step);
        if (memcmp(&r, &alone, sizeof r) != 0)
            fail_msg("%s: alone %s at %llu (line %llu): %s; with %d threads %s at %llu (line %llu): %s", what,
                     verify_damage_text(alone.damage), (unsigned long long)alone.tseq, (unsigned long long)alone.line, alone.text,
                     ways[i].threads, verify_damage_text(r.damage), (unsigned long long)r.tseq, (unsigned long long)r.line,
                     r.text);
    }
    return alone;
}

/* One damage at record t (a line of s) and maybe a second one behind it, which must change nothing of what is said. */
static void damage(struct lines *s, size_t t, uint32_t kind, uint32_t *seed)
{
    struct buf x, *b = &s->line[t];
    switch (kind) {
    case 0:
        b->ptr[b->len / 2 + rnd(seed) % (b->len / 4)] ^= 1;             /* in the event */
        break;
    case 1:
        b->ptr[rnd(seed) % (b->len - 1)] ^= 2;                          /* anywhere */
        break;
    case 2:
        lines_delete(s, t);
        break;
    case 3:
        x = s->line[t];
        s->line[t] = s->line[t + 1];
        s->line[t + 1] = x;
        break;
    default:
        x = BUF(AUDIT_LINE_MAX);
        buf_add_str(&x, buf_str(b));
        lines_insert(s, t, x);
    }
}

static void assert_damage_is_found(const struct lines *whole, const char *mode, unsigned rounds)
{
    char what[64];
    struct buf all = lines_join(whole);
    assert_true(all.len > 3 * LINES_BYTES);
    assert_int_equal(judge_all(buf_str(&all), mode).damage, VERIFY_OK);
    buf_release(&all);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t seed = round * 7919 + 3, kind = round % 5;
        struct lines *s = lines_copy(whole);
        size_t t = 2 + rnd(&seed) % (s->n - 6);
        damage(s, t, kind, &seed);
        if (round % 2)
            damage(s, t + 2 + rnd(&seed) % (s->n - t - 4), rnd(&seed) % 2, &seed);
        all = lines_join(s);
        snprintf(what, sizeof what, "%s, kind %u at line %zu", mode, kind, t);
        struct verify_result r = judge_all(buf_str(&all), what);
        assert_int_not_equal(r.damage, VERIFY_OK);
        struct str cut = str_n(all.ptr, whole->line[0].len + rnd(&seed) % (all.len - whole->line[0].len));
        assert_int_not_equal(judge_all(cut, "cut").damage, VERIFY_OK);
        buf_release(&all);
        lines_free(s);
    }
}

static void a_range_gets_one_verdict(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 1500, 7);
    l->opened_from = 400;
    log_rechain(l, 0);
    struct lines *s = lines_make(l, right, (struct make){ .checkpoint = 700, .prev_size = 1200 });
    assert_damage_is_found(s, "range", (unsigned)share_of("damaged ranges", 20, 200));
    lines_free(s);
    log_free(l);
}

static void a_filtered_range_gets_one_verdict(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 2500, 8);
    l->opened_from = 1;
    log_rechain(l, 0);
    struct lines *s = lines_make(l, right, (struct make){ .filter = &jobs, .is_filtered = true });
    assert_damage_is_found(s, "filtered range", (unsigned)share_of("damaged filtered ranges", 10, 200));
    lines_free(s);
    log_free(l);
}

static void a_selection_gets_one_verdict(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 700, 9);
    struct lines *s = lines_make(l, right, (struct make){ .is_selection = true });
    assert_damage_is_found(s, "selection", (unsigned)share_of("damaged selections", 10, 200));
    lines_free(s);
    log_free(l);
}

/* The first fault counts, wherever others are and whoever sees them first. */
static void the_first_of_many_faults_is_named(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 1500, 10);
    struct lines *whole = lines_make(l, right, (struct make){ 0 });
    for (size_t t = 1; t <= 1500; t += 107) {
        struct lines *s = lines_copy(whole);
        for (size_t i = t; i < s->n; i += 5)
            *(strstr(s->line[i].ptr, "\"gpus\":") + 7) ^= 1;
        struct buf all = lines_join(s);
        struct verify_result r = judge_all(buf_str(&all), "many faults");
        assert_true(r.damage == VERIFY_EDITED && r.tseq == t && r.line == t + 1);
        buf_release(&all);
        lines_free(s);
    }
    lines_free(whole);
    log_free(l);
}

static void a_line_says_what_it_is(void **state)
{
    (void)state;
    static struct look_room room;
    struct bundle_manifest *m = calloc(1, sizeof *m);
    struct audit_head head = { .size = 3 };
    const struct look_case c = { m, &head };
    struct log *l = log_make(tenant, 3, 11);
    struct buf b = lines_record(2, &l->e[1]);
    struct str line = str_n(b.ptr, b.len - 1);
    struct line_facts f;
    m->tenant_id = tenant;
    m->version = 1;
    m->filter = no_filter;
    verify_look(&c, line, &room, &f);
    assert_true(f.is_record && f.has_event && f.is_opened && f.is_own && f.is_leaf && f.is_read && f.is_through);
    assert_true(!f.is_withheld && f.tseq == 2 && merkle_eq(&f.leaf, &l->e[1].leaf) && merkle_eq(&f.chain, &l->e[1].chain));
    assert_true(str_eq(f.line, line));
    m->tenant_id.b[0] ^= 1;
    m->filter = (struct audit_filter){ .resource = "model" };
    *(strstr(b.ptr, "\"gpus\":") + 7) ^= 1;
    verify_look(&c, line, &room, &f);
    assert_true(f.is_record && f.is_opened && !f.is_own && !f.is_leaf && f.is_read && !f.is_through);
    m->is_selection = true;                     /* there an entry brings a proof and no chain */
    verify_look(&c, line, &room, &f);
    assert_false(f.is_record);
    verify_look(&c, STR("{\"tseq\":0}"), &room, &f);
    assert_false(f.is_record);
    buf_release(&b);
    log_free(l);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_line_says_what_it_is), cmocka_unit_test(a_range_gets_one_verdict),
        cmocka_unit_test(a_filtered_range_gets_one_verdict), cmocka_unit_test(a_selection_gets_one_verdict),
        cmocka_unit_test(the_first_of_many_faults_is_named) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
