/* SPDX-License-Identifier: Apache-2.0 */
/* test_fork.c - a forked log convicts by its own bundle, whatever the two sizes; an honest log does not. */
#include "audit/fork.h"
#include "tests/unit/audit/heads_kit.h"

static const char *fork_of(const struct log *l, const struct bundle_head *kept, struct fork_file *f)
{
    struct lines *s = lines_make(l, k, (struct make){ 0 });
    struct buf b = lines_join(s);
    struct reader r = { buf_str(&b), 100 };
    const char *fault = fork_of_bundle(read_mem, &r, kept, keys, f);
    buf_release(&b);
    lines_free(s);
    return fault;
}

/* For every pair of sizes: the log of n entries forked before m. What comes out convicts, reads back, and holds against any
 * change. */
static void a_forked_log_convicts(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 13; n++) {
        for (uint64_t m = 1; m <= n; m++) {
            struct log *l = log_make(tenant, n, 5), *fork = log_make(tenant, n, 6);
            struct bundle_head kept;
            struct audit_head head;
            struct fork_file f, back;
            struct buf b = BUF(EVIDENCE_BYTES_MAX);
            log_head(l, m, k, &kept, &head);
            assert_null(fork_of(fork, &kept, &f));
            assert_true(fork_file_encode(&f, &b) && fork_file_decode(buf_str(&b), &back));
            assert_null(fork_file_fault(&back, keys));
            assert_non_null(fork_file_fault(&back, (struct head_keys){ (const uint8_t(*)[AUDIT_PUB])other->pub, 1 }));
            back.root.b[7] ^= 1;
            assert_non_null(fork_file_fault(&back, keys));
            back = f;
            back.b.sig[9] ^= 1;
            assert_non_null(fork_file_fault(&back, keys));
            for (size_t cut = 0; cut + 1 < b.len; cut += 37)
                assert_false(fork_file_decode(str_n(b.ptr, cut), &back));
            buf_release(&b);
            assert_non_null(fork_of(l, &kept, &f));         /* an honest log convicts nobody */
            log_free(l);
            log_free(fork);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_forked_log_convicts) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
