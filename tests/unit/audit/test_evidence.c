/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence.c - what convicts nobody; a head's place under the zone's head; a witness's signature. */
#include "audit/evidence.h"
#include "tests/unit/audit/heads_kit.h"

static void honest_heads_convict_nobody(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 20, 5), *theirs = log_make(uuid_v7(10), 20, 6);
    struct fork_file f = { .proof_len = 0 };
    struct audit_head a, b;
    struct merkle_range r[MERKLE_PROOF_MAX];
    log_head(l, 7, k, &f.a, &a);
    log_head(l, 20, k, &f.b, &b);
    f.root = a.root;
    f.proof_len = (size_t)merkle_consistency_ranges(7, 20, r);
    for (size_t i = 0; i < f.proof_len; i++)
        log_root(l, r[i].start, r[i].end, &f.proof[i]);
    assert_string_equal(fork_file_fault(&f, keys), "the second head extends the first");
    f.root.b[0] ^= 1;                                       /* a spoilt proof shows nothing */
    assert_string_equal(fork_file_fault(&f, keys), "the proof does not lead to the second head");
    log_head(theirs, 20, k, &f.b, &b);
    assert_string_equal(fork_file_fault(&f, keys), "the heads are of two logs");
    log_head(l, 7, k, &f.b, &b);
    f.root = b.root;
    f.proof_len = 0;
    assert_string_equal(fork_file_fault(&f, keys), "the heads say the same");
    log_free(l);
    log_free(theirs);
}

/* The zone's log: its entries are bodies of heads. */
static struct log *zone_log(struct bundle_head *heads, size_t n, uint32_t seed)
{
    struct log *z = log_make((struct uuid){ { 0xff } }, n, seed);
    for (size_t i = 0; i < n; i++) {
        buf_clear(&z->e[i].body);
        buf_add(&z->e[i].body, heads[i].body, heads[i].len);
    }
    log_rechain(z, 0);
    return z;
}

static void zone_head(const struct log *z, uint64_t size, struct bundle_head *ret)
{
    struct audit_head h = { .is_zone = true, .zone = "ae-dxb-1", .size = size, .ts_us = 7 };
    struct buf b = BUF(HEAD_BODY_MAX);
    struct err e;
    log_root(z, 0, size, &h.root);
    h.chain = z->e[size - 1].chain;
    snprintf(h.key_id, sizeof h.key_id, "%s", k->id);
    ASSERT(audit_head_encode(&h, &b));
    memcpy(ret->body, b.ptr, ret->len = b.len);
    ASSERT(ed25519_sign(&k->seed, b.ptr, b.len, ret->sig, &e) == ERR_OK);
    buf_release(&b);
}

static void a_head_is_under_the_head_of_its_zone(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 12, 5);
    struct bundle_head heads[12];
    struct audit_head h, z;
    struct merkle_range r[MERKLE_PROOF_MAX];
    for (size_t i = 0; i < 12; i++)
        log_head(l, i + 1, k, &heads[i], &h);
    struct log *zone = zone_log(heads, 12, 1);
    for (uint64_t t = 1; t <= 12; t++) {
        struct head_proof p = { .head = heads[t - 1], .tseq = t, .has_previous = true }, back;
        struct buf b = BUF(EVIDENCE_BYTES_MAX);
        zone_head(zone, 12, &p.zone_head);
        zone_head(zone, 5, &p.previous);
        p.proof_len = (size_t)merkle_inclusion_ranges(t - 1, 12, r);
        for (size_t i = 0; i < p.proof_len; i++)
            log_root(zone, r[i].start, r[i].end, &p.proof[i]);
        p.previous_proof_len = (size_t)merkle_consistency_ranges(5, 12, r);
        for (size_t i = 0; i < p.previous_proof_len; i++)
            log_root(zone, r[i].start, r[i].end, &p.previous_proof[i]);
        assert_true(head_proof_encode(&p, &b) && head_proof_decode(buf_str(&b), &back));
        assert_null(head_proof_fault(&back, keys, &h, &z));
        assert_true(h.size == t && z.size == 12);
        back.tseq = t % 12 + 1;
        assert_non_null(head_proof_fault(&back, keys, &h, &z));
        back = p;
        back.previous_proof[0].b[0] ^= 1;
        assert_non_null(head_proof_fault(&back, keys, &h, &z));
        back = p;
        back.zone_head = p.head;                            /* a tenant's head is no zone's */
        assert_non_null(head_proof_fault(&back, keys, &h, &z));
        back = p;
        back.head.sig[0] ^= 1;
        assert_non_null(head_proof_fault(&back, keys, &h, &z));
        buf_release(&b);
    }
    log_free(l);
    log_free(zone);
}

static void a_cosignature_is_of_a_known_witness(void **state)
{
    (void)state;
    struct log *l = log_make(tenant, 3, 5);
    struct cosignature c, back;
    struct audit_head h;
    struct err e;
    struct buf text = BUF(2048), b = BUF(EVIDENCE_BYTES_MAX);
    struct head_keys witnesses = { (const uint8_t(*)[AUDIT_PUB])other->pub, 1 };
    log_head(l, 3, k, &c.head, &h);
    memcpy(c.witness, other->pub, AUDIT_PUB);
    assert_true(cosignature_text(&c.head, &text));
    assert_int_equal(ed25519_sign(&other->seed, text.ptr, text.len, c.sig, &e), ERR_OK);
    assert_true(cosignature_encode(&c, &b) && cosignature_decode(buf_str(&b), &back));
    assert_null(cosignature_fault(&back, keys, witnesses));
    assert_non_null(cosignature_fault(&back, keys, keys));
    assert_non_null(cosignature_fault(&back, witnesses, witnesses));
    back.sig[5] ^= 1;
    assert_non_null(cosignature_fault(&back, keys, witnesses));
    buf_release(&text);
    buf_release(&b);
    log_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(honest_heads_convict_nobody),
        cmocka_unit_test(a_head_is_under_the_head_of_its_zone), cmocka_unit_test(a_cosignature_is_of_a_known_witness) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
