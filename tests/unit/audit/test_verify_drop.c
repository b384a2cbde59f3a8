/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_drop.c - an entry without body is accepted where the log's own retention entry lists it, and nowhere else. */
#include "tests/unit/audit/fixture.h"

enum { ENTRIES = 20, RECORD = 15 };

static struct key *k;
static struct uuid tenant;

static int setup(void **state)
{
    (void)state;
    k = key_make();
    tenant = uuid_v7(5);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    key_free(k);
    return 0;
}

/* Entry RECORD says that retention dropped 3, 4 and 7 of `whose` log. */
static struct log *log_with_drops(struct uuid whose)
{
    struct log *l = log_make(whose, ENTRIES, 4);
    struct audit_event ev = { .tenant_id = whose, .zone = STR("ae-dxb-1"), .ts_us = 1700000000000000, .code = AUDIT_RETENTION,
            .actor = AUDIT_SYSTEM };
    audit_event_detail(&ev, AUDIT_D_INT("dropped", 3));
    audit_event_detail(&ev, AUDIT_D_INT("from_tseq", 3));
    audit_event_detail(&ev, AUDIT_D_INT("until_tseq", 7));
    audit_event_detail(&ev, AUDIT_D_STR("list_1", STR("3-4,7")));
    buf_clear(&l->e[RECORD - 1].body);
    ASSERT(audit_event_encode(&ev, &l->e[RECORD - 1].body));
    log_rechain(l, 0);
    return l;
}

static struct buf retention_line(const struct log *l, uint64_t tseq, struct str event)
{
    struct buf b = BUF(AUDIT_LINE_MAX);
    struct merkle_range ranges[MERKLE_PROOF_MAX];
    struct bundle_record r = { .tseq = tseq, .has_proof = true, .event = event };
    r.proof_len = (size_t)merkle_inclusion_ranges(tseq - 1, l->n, ranges);
    for (size_t i = 0; i < r.proof_len; i++)
        log_root(l, ranges[i].start, ranges[i].end, &r.proof[i]);
    ASSERT(bundle_retention_encode(&r, &b));
    return b;
}

/* Entries 1 to 10 with `dropped` of them bare; the retention entry stands before them where `has_record`. */
static struct lines *bundle(const struct log *l, uint64_t dropped, bool has_record, bool is_selection)
{
    struct lines *s = lines_make(l, k, (struct make){ .to = 10, .dropped = dropped, .is_selection = is_selection });
    if (has_record)
        lines_insert(s, 1, retention_line(l, RECORD, buf_str(&l->e[RECORD - 1].body)));
    return s;
}

static void listed_entries_may_be_bare_and_no_others(void **state)
{
    (void)state;
    struct log *l = log_with_drops(tenant);
    for (uint64_t t = 1; t <= 10; t++) {
        bool is_listed = t == 3 || t == 4 || t == 7;
        for (int i = 0; i < 4; i++) {
            struct lines *s = bundle(l, t, i & 1, i & 2);
            struct verify_result r = verify_lines(s, k, NULL);
            bool is_good = is_listed && (i & 1);
            if (r.damage != (is_good ? VERIFY_OK : VERIFY_EDITED) || (!is_good && r.tseq != t) || r.dropped != 1 ||
                    r.unproved != !is_good)
                fail_msg("entry %llu, %d: %s at %llu: %s", (unsigned long long)t, i, verify_damage_text(r.damage),
                        (unsigned long long)r.tseq, r.text);
            lines_free(s);
        }
    }
    log_free(l);
}

static void a_retention_entry_is_of_the_log_and_in_its_place(void **state)
{
    (void)state;
    struct log *l = log_with_drops(tenant), *other = log_with_drops(uuid_v7(6));
    struct str event = buf_str(&l->e[RECORD - 1].body);
    struct lines *s = bundle(l, 3, false, false);
    lines_insert(s, 1, retention_line(l, RECORD - 1, event));               /* another number */
    struct verify_result r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_EDITED && r.tseq == RECORD - 1);
    lines_delete(s, 1);
    lines_insert(s, 1, retention_line(l, RECORD, buf_str(&other->e[RECORD - 1].body)));    /* another log's */
    r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_EDITED && r.tseq == RECORD);
    lines_delete(s, 1);
    lines_insert(s, 1, retention_line(l, 9, buf_str(&l->e[8].body)));       /* of the log, but no retention */
    r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_MALFORMED && r.tseq == 9);
    lines_delete(s, 1);
    lines_insert(s, 1, retention_line(l, RECORD, event));
    lines_insert(s, 1, retention_line(l, RECORD, event));                   /* twice */
    r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_MALFORMED && r.tseq == 0);
    lines_delete(s, 1);
    struct buf last = s->line[1];
    memmove(s->line + 1, s->line + 2, (s->n - 2) * sizeof *s->line);
    s->line[s->n - 1] = last;                                               /* behind the records */
    r = verify_lines(s, k, NULL);
    assert_true(r.damage == VERIFY_EDITED && r.tseq == 3);
    lines_free(s);
    log_free(l);
    log_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(listed_entries_may_be_bare_and_no_others),
        cmocka_unit_test(a_retention_entry_is_of_the_log_and_in_its_place) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
