/* SPDX-License-Identifier: Apache-2.0 */
/* test_witness.c - the rule of a witness for every pair of sizes: what extends what was seen, and nothing else. The program:
 * test_verify_evidence.c. */
#include "audit/witness.h"
#include "tests/unit/audit/fixture.h"

static struct key *k;

static void ask_of(const struct log *l, uint64_t size, uint64_t previous, struct witness_ask *ret)
{
    struct head_keys keys = { (const uint8_t(*)[AUDIT_PUB])k->pub, 1 };
    struct lines *s = lines_make(l, k, (struct make){ .head_size = size, .prev_size = previous });
    assert_null(witness_read(str_n(s->line[0].ptr, s->line[0].len - 1), keys, ret));
    lines_free(s);
}

static void a_witness_goes_forward_only(void **state)
{
    (void)state;
    enum { N = 9 };
    k = key_make();
    struct head_keys keys = { (const uint8_t(*)[AUDIT_PUB])k->pub, 1 };
    struct uuid tenant = uuid_v7(3);
    struct log *l = log_make(tenant, N, 5), *other = log_make(tenant, N, 6);
    struct witness_ask ask;
    struct fork_file fork;
    bool is_fork;
    for (uint64_t seen = 1; seen <= N; seen++) {
        struct bundle_head kept;
        struct audit_head head;
        log_head(l, seen, k, &kept, &head);
        for (uint64_t size = 1; size <= N; size++) {
            ask_of(l, size, seen < size ? seen : 0, &ask);
            assert_int_equal(witness_fault(&ask, &kept, keys, &fork, &is_fork) == NULL, size >= seen);
            assert_false(is_fork);
            assert_null(witness_fault(&ask, NULL, keys, &fork, &is_fork));
            if (size > seen) {
                ask.proof[0].b[3] ^= 1;
                assert_non_null(witness_fault(&ask, &kept, keys, &fork, &is_fork));
                assert_false(is_fork);
            }
            ask_of(other, size, seen < size ? seen : 0, &ask);
            assert_non_null(witness_fault(&ask, &kept, keys, &fork, &is_fork));
            assert_int_equal(is_fork, size >= seen);
            if (is_fork)
                assert_null(fork_file_fault(&fork, keys));
        }
    }
    assert_non_null(witness_read(STR("{}"), keys, &ask));
    key_free(k);
    log_free(l);
    log_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_witness_goes_forward_only) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
