/* SPDX-License-Identifier: Apache-2.0 */
/* test_bpe_train.c - pairs are merged as a plain recount of the text after each merge would merge them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpe_kit.h"

/* Counts all pairs of all words anew before each merge. */
static uint32_t recount(struct str s, struct bpe_pair *merges, uint32_t most)
{
    static uint32_t t[TEXT], word[TEXT];
    static int64_t count[512][512];
    size_t n = 0;
    uint32_t words = 0;
    for (size_t at = 0, len; at < s.len; at += len, words++) {
        len = bpe_word((const unsigned char *)s.ptr + at, s.len - at);
        for (size_t k = 0; k < len; k++, n++) {
            t[n] = (unsigned char)s.ptr[at + k];
            word[n] = words;
        }
    }
    for (uint32_t m = 0; m < most; m++) {
        struct bpe_pair best = { 0, 0 };
        int64_t top = 1;
        memset(count, 0, sizeof count);
        for (size_t i = 0; i + 1 < n; i++)
            count[t[i]][t[i + 1]] += word[i] == word[i + 1];
        for (uint32_t l = 0; l < BPE_BYTES + m; l++)
            for (uint32_t r = 0; r < BPE_BYTES + m; r++)
                if (count[l][r] > top) {
                    top = count[l][r];
                    best = (struct bpe_pair){ l, r };
                }
        if (top < 2)
            return m;
        merges[m] = best;
        size_t to = 0;
        for (size_t i = 0; i < n; to++) {
            bool is_here = i + 1 < n && word[i] == word[i + 1] && t[i] == best.left && t[i + 1] == best.right;
            t[to] = is_here ? BPE_BYTES + m : t[i];
            word[to] = word[i];
            i += is_here ? 2 : 1;
        }
        n = to;
    }
    return most;
}

static void test_as_counted_plainly(void **st)
{
    (void)st;
    enum { MOST = 60 };
    struct bpe_pair want[MOST];
    struct bpe v;
    struct err e = { 0 };
    for (uint32_t seed = 1; seed < 4; seed++) {
        struct str s = make_text(seed);
        uint32_t n = recount(s, want, MOST);
        assert_int_equal(bpe_train(arena, s, BPE_TOKENS_MIN + MOST, &v, &e), ERR_OK);
        assert_int_equal(v.tokens, BPE_TOKENS_MIN + n);
        assert_memory_equal(v.merges, want, n * sizeof *want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_counted_plainly) };
    return cmocka_run_group_tests(tests, make, drop);
}
