/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_tokens.c - windows over a shard: the answer of a token is the next one, the end is held out, too short is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/data/tokens.h"
#include "run_kit.h"
#include "workers/compute/train/data_tokens.h"

static struct str shard(unsigned char *file, size_t bytes, size_t count)
{
    memset(file + TOKENS_HEADER, 0, count * bytes);
    for (size_t i = 0; i < count; i++)
        file[TOKENS_HEADER + i * bytes] = (unsigned char)i;
    token_shard_header(&(struct token_shard){ file + TOKENS_HEADER, bytes, 200, count, 0, { NULL, 0 } }, file);
    return str_n((const char *)file, TOKENS_HEADER + count * bytes);
}

static void test_windows(void **st)
{
    (void)st;
    enum { COUNT = 104, T = 10 };
    unsigned char file[TOKENS_HEADER + 4 * COUNT];
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct train_job s = kit_spec();
    s.family = TRAIN_GPT;
    s.context = T;
    for (size_t bytes = 2; bytes <= 4; bytes += 2) {
        struct train_data d;
        struct err e;
        int32_t x[2 * T], next[2 * T];
        assert_int_equal(train_data_tokens(a, shard(file, bytes, COUNT), &s, &d, &e), ERR_OK);
        assert_true(d.train_count == 8 && d.holdout_count == 2 && d.shape.inputs == T && d.shape.outputs == 200);
        assert_int_equal(d.holdout[0], 8);
        d.fetch(&d, (const uint32_t[]){ 9, 0 }, 2, x, next);
        for (int i = 0; i < T; i++)
            assert_true(x[i] == 90 + i && next[i] == 91 + i && x[T + i] == i && next[T + i] == i + 1);
    }
}

static void test_too_short(void **st)
{
    (void)st;
    unsigned char file[TOKENS_HEADER + 2 * 21];
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct train_job s = kit_spec();
    struct train_data d;
    struct err e = { 0 };
    s.context = 10;
    assert_int_equal(train_data_tokens(a, shard(file, 2, 20), &s, &d, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "20 tokens make 1 sequence(s) of 10"));
    assert_int_equal(train_data_tokens(a, shard(file, 2, 21), &s, &d, &e), ERR_OK);
    assert_true(d.train_count == 1 && d.holdout_count == 1);
}

/* The shard's bytes are wiped when they have been read; the vocabulary goes on to the model. */
static void test_vocabulary(void **st)
{
    (void)st;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
#define TEXT "falaj-bpe 1\n257\n"
    static unsigned char bytes[TOKENS_HEADER + 60 + sizeof TEXT - 1];
    const struct train_job s = { .context = 5, .holdout = 0.2 };
    struct train_data d;
    struct err e;
    memcpy(bytes + TOKENS_HEADER + 60, TEXT, sizeof TEXT - 1);
    token_shard_header(&(struct token_shard){ bytes + TOKENS_HEADER, 2, 257, 30, 0, STR(TEXT) }, bytes);
    assert_int_equal(train_data_tokens(a, str_n((const char *)bytes, sizeof bytes), &s, &d, &e), ERR_OK);
    memset(bytes, 0, sizeof bytes);
    assert_true(str_eq_c(d.vocabulary, TEXT));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_windows), cmocka_unit_test(test_too_short),
                                        cmocka_unit_test(test_vocabulary) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
