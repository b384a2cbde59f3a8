/* SPDX-License-Identifier: Apache-2.0 */
/* test_merkle.c - the tree against the vectors of the Certificate Transparency reference (RFC 6962) and against itself. */
#include "tests/unit/audit/fixture.h"

static const char *const inputs[8] = { "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
                                       "606162636465666768696a6b6c6d6e6f" };
static const char *const roots[8] = { "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328" };
#define H96 "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define H5F "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define H6B "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
#define H0E "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
#define HCA "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define HD3 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define HBC "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
#define H6E "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define HFA "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"

enum { LEAVES = 5000 };
static struct merkle_hash leaves[LEAVES];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        uint8_t raw[16];
        size_t n = strlen(inputs[i]) / 2;
        assert_true(hex_decode(str_c(inputs[i]), raw, n));
        merkle_leaf(raw, n, &leaves[i]);
    }
    for (int i = 8; i < LEAVES; i++)
        merkle_leaf(&i, sizeof i, &leaves[i]);
    return 0;
}

static void assert_hash(const struct merkle_hash *h, const char *hex)
{
    char text[65];
    hex_encode(h->b, 32, text);
    assert_string_equal(text, hex);
}

static void ranges_roots(const struct merkle_range *r, int n, struct merkle_hash *out)
{
    for (int i = 0; i < n; i++)
        merkle_root(leaves + r[i].start, r[i].end - r[i].start, &out[i]);
}

static void roots_match_the_vectors(void **state)
{
    (void)state;
    struct merkle_hash h;
    merkle_root(leaves, 0, &h);
    assert_hash(&h, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (int i = 0; i < 8; i++) {
        merkle_root(leaves, (size_t)i + 1, &h);
        assert_hash(&h, roots[i]);
    }
}

static void proofs_match_the_vectors(void **state)
{
    (void)state;
    static const struct { uint64_t a, b; bool is_consistency; int n; const char *h[3]; } v[] = {
        { 0, 1, false, 0, { 0 } }, { 0, 8, false, 3, { H96, H5F, H6B } }, { 5, 8, false, 3, { HBC, HCA, HD3 } },
        { 2, 3, false, 1, { HFA } }, { 1, 5, false, 3, { H6E, H5F, HBC } }, { 1, 1, true, 0, { 0 } },
        { 1, 8, true, 3, { H96, H5F, H6B } }, { 6, 8, true, 3, { H0E, HCA, HD3 } }, { 2, 5, true, 2, { H5F, HBC } } };
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        struct merkle_range r[MERKLE_PROOF_MAX];
        struct merkle_hash p[MERKLE_PROOF_MAX];
        int n = v[i].is_consistency ? merkle_consistency_ranges(v[i].a, v[i].b, r) : merkle_inclusion_ranges(v[i].a, v[i].b, r);
        assert_int_equal(n, v[i].n);
        ranges_roots(r, n, p);
        for (int k = 0; k < n; k++)
            assert_hash(&p[k], v[i].h[k]);
    }
}

static void every_inclusion_proof_holds_and_no_other(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= 70; size++) {
        struct merkle_hash root, p[MERKLE_PROOF_MAX];
        struct merkle_range r[MERKLE_PROOF_MAX];
        merkle_root(leaves, size, &root);
        for (uint64_t i = 0; i < size; i++) {
            int n = merkle_inclusion_ranges(i, size, r);
            ranges_roots(r, n, p);
            assert_true(merkle_verify_inclusion(&leaves[i], i, size, p, (size_t)n, &root));
            assert_false(merkle_verify_inclusion(&leaves[i + 1], i, size, p, (size_t)n, &root));
            assert_false(merkle_verify_inclusion(&leaves[i], i + 1, size, p, (size_t)n, &root) && i + 1 < size);
            assert_false(n > 0 && merkle_verify_inclusion(&leaves[i], i, size, p, (size_t)n - 1, &root));
            if (n > 0) {
                p[n / 2].b[7] ^= 1;
                assert_false(merkle_verify_inclusion(&leaves[i], i, size, p, (size_t)n, &root));
            }
        }
    }
}

static void every_consistency_proof_holds_and_no_other(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= 70; size++) {
        struct merkle_hash root, old, p[MERKLE_PROOF_MAX + 1];
        struct merkle_range r[MERKLE_PROOF_MAX];
        merkle_root(leaves, size, &root);
        for (uint64_t m = 1; m <= size; m++) {
            int n = merkle_consistency_ranges(m, size, r);
            ranges_roots(r, n, p);
            merkle_root(leaves, m, &old);
            assert_true(merkle_verify_consistency(m, &old, size, &root, p, (size_t)n));
            p[n] = old;
            assert_false(merkle_verify_consistency(m, &old, size, &root, p, (size_t)n + 1));
            old.b[0] ^= 1;
            assert_false(merkle_verify_consistency(m, &old, size, &root, p, (size_t)n));
        }
    }
}

/* The way from a leaf to the root as RFC 6962 2.1.1 defines it, one letter a step: which side the sibling is on. */
static char *way(uint64_t index, uint64_t size, char *to)
{
    uint64_t k = 1;
    if (size == 1)
        return *to = '\0', to;
    while (2 * k < size)
        k *= 2;
    char *end = index < k ? way(index, k, to) : way(index - k, size - k, to);
    *end++ = index < k ? 'r' : 'l';
    *end = '\0';
    return end;
}

/* The same of 2.1.2: where the old root is known, where a whole subtree is, and the steps upwards. */
static char *old_way(uint64_t old_size, uint64_t size, bool is_whole, char *to)
{
    uint64_t k = 1;
    if (old_size == size) {
        strcpy(to, is_whole ? "" : "s");
        return to + strlen(to);
    }
    while (2 * k < size)
        k *= 2;
    char *end = old_size <= k ? old_way(old_size, k, is_whole, to) : old_way(old_size - k, size - k, false, to);
    *end++ = old_size <= k ? 'r' : 'l';
    *end = '\0';
    return end;
}

/* A proof names a place and a size. With others it holds only if the way to the root is the same in both trees, as it is for the leaf 0
 * in trees of 5 to 8 leaves: there the signed head, which binds size and root, decides. */
static void a_proof_holds_for_no_size_with_another_way(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= 20; size++) {
        struct merkle_hash root, old, p[MERKLE_PROOF_MAX];
        struct merkle_range r[MERKLE_PROOF_MAX];
        merkle_root(leaves, size, &root);
        for (uint64_t i = 0; i < size; i++) {
            char mine[64], others[64];
            int n = merkle_inclusion_ranges(i, size, r);
            ranges_roots(r, n, p);
            way(i, size, mine);
            for (uint64_t other = 0; other <= 24; other++)
                for (uint64_t at = size <= 12 ? 0 : i; at <= (size <= 12 ? other : i); at++) {
                    bool is_same = at < other && (way(at, other, others), strcmp(mine, others) == 0);
                    if (merkle_verify_inclusion(&leaves[i], at, other, p, (size_t)n, &root) != is_same)
                        fail_msg("leaf %ju of %ju, told as %ju of %ju: %s", (uintmax_t)i, (uintmax_t)size, (uintmax_t)at, (uintmax_t)other,
                                 is_same ? "refused" : "accepted");
                }
        }
        for (uint64_t m = 1; m < size; m++) {
            char mine[64], others[64];
            int n = merkle_consistency_ranges(m, size, r);
            ranges_roots(r, n, p);
            merkle_root(leaves, m, &old);
            old_way(m, size, true, mine);
            for (uint64_t other = 0; other <= 36; other++) {
                bool is_same = m < other && (old_way(m, other, true, others), strcmp(mine, others) == 0);
                if (merkle_verify_consistency(m, &old, other, &root, p, (size_t)n) != is_same)
                    fail_msg("%ju in %ju, told as in %ju: %s", (uintmax_t)m, (uintmax_t)size, (uintmax_t)other, is_same ? "refused" : "accepted");
                is_same = other > 0 && other < size && (old_way(other, size, true, others), strcmp(mine, others) == 0);
                if (other != m && merkle_verify_consistency(other, &old, size, &root, p, (size_t)n) != is_same)
                    fail_msg("%ju in %ju, told as %ju: %s", (uintmax_t)m, (uintmax_t)size, (uintmax_t)other, is_same ? "refused" : "accepted");
            }
        }
    }
}

static void a_frontier_equals_the_recursive_tree(void **state)
{
    (void)state;
    struct merkle_frontier f = { 0 }, g;
    uint8_t packed[MERKLE_PROOF_MAX * MERKLE_HASH];
    for (uint64_t n = 0; n < 300; n++) {
        struct merkle_hash a, b;
        merkle_frontier_root(&f, &a);
        merkle_root(leaves, n, &b);
        assert_true(merkle_eq(&a, &b));
        size_t len = merkle_pack(&f, packed);
        assert_true(merkle_unpack(n, packed, len, &g));
        assert_false(merkle_unpack(n, packed, len + 32, &g));
        merkle_frontier_root(&g, &b);
        assert_true(merkle_eq(&a, &b));
        merkle_add(&f, &leaves[n]);
    }
}

static void a_cover_completes_the_tree_from_any_place(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= 20; size++) {
        struct merkle_hash root, h;
        merkle_root(leaves, size, &root);
        for (uint64_t start = 0; start <= size; start++) {
            struct merkle_frontier f = { 0 };
            struct merkle_range r[2 * MERKLE_PROOF_MAX];
            for (uint64_t i = 0; i < start; i++)
                merkle_add(&f, &leaves[i]);
            int n = merkle_cover_ranges(start, size, r);
            for (int i = 0; i < n; i++) {
                merkle_root(leaves + r[i].start, r[i].end - r[i].start, &h);
                assert_true(merkle_add_subtree(&f, &h, __builtin_ctzll(r[i].end - r[i].start)));
            }
            merkle_frontier_root(&f, &h);
            assert_true(f.size == size && merkle_eq(&h, &root));
        }
    }
}

static void long_leaves_hash_alike(void **state)
{
    (void)state;
    char *p = calloc(1, 10001);
    struct merkle_hash a, b;
    for (size_t n = 4094; n < 4099; n++) {
        memset(p + 1, 'x', n);
        sha256(p, n + 1, a.b);
        merkle_leaf(p + 1, n, &b);
        assert_true(merkle_eq(&a, &b));
    }
    free(p);
}

/* Any two sizes of a growing log; of each proof one bit is turned as well. */
static void heads_of_a_long_log_are_consistent(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < 150; round++) {
        uint64_t size = 2 + rnd(&seed) % (LEAVES - 1), m = 1 + rnd(&seed) % (size - 1);
        struct merkle_hash root, old, p[MERKLE_PROOF_MAX];
        struct merkle_range r[MERKLE_PROOF_MAX];
        int n = merkle_consistency_ranges(m, size, r);
        ranges_roots(r, n, p);
        merkle_root(leaves, size, &root);
        merkle_root(leaves, m, &old);
        assert_true(merkle_verify_consistency(m, &old, size, &root, p, (size_t)n));
        p[rnd(&seed) % (uint32_t)n].b[rnd(&seed) % 32] ^= 4;
        assert_false(merkle_verify_consistency(m, &old, size, &root, p, (size_t)n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(roots_match_the_vectors), cmocka_unit_test(proofs_match_the_vectors),
        cmocka_unit_test(every_inclusion_proof_holds_and_no_other), cmocka_unit_test(every_consistency_proof_holds_and_no_other),
        cmocka_unit_test(a_proof_holds_for_no_size_with_another_way), cmocka_unit_test(heads_of_a_long_log_are_consistent),
        cmocka_unit_test(a_frontier_equals_the_recursive_tree), cmocka_unit_test(a_cover_completes_the_tree_from_any_place),
        cmocka_unit_test(long_leaves_hash_alike) };
    return cmocka_run_group_tests(tests, setup, NULL);
}
