/* SPDX-License-Identifier: Apache-2.0 */
/* test_tokens.c - a shard that is written reads back; every byte of its header that lies, and every token past the vocabulary,
 * is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/data/tokens.h"

enum { COUNT = 9 };

static struct str make(unsigned char file[TOKENS_HEADER + 4 * COUNT], size_t bytes)
{
    for (size_t i = 0; i < COUNT * bytes; i++)
        file[TOKENS_HEADER + i] = i % bytes ? 0 : (unsigned char)(i * 7 % 30);
    const struct token_shard s = { file + TOKENS_HEADER, bytes, 30, COUNT, 2, { NULL, 0 } };
    token_shard_header(&s, file);
    return str_n((const char *)file, TOKENS_HEADER + COUNT * bytes);
}

static void test_round_trip(void **st)
{
    (void)st;
    unsigned char file[TOKENS_HEADER + 4 * COUNT];
    struct token_shard s;
    struct err e;
    for (size_t bytes = 2; bytes <= 4; bytes += 2) {
        struct str text = make(file, bytes);
        assert_int_equal(token_shard_read(text, &s, &e), ERR_OK);
        assert_true(s.tokens == file + TOKENS_HEADER && s.token_bytes == bytes && s.vocab == 30);
        assert_true(s.count == COUNT && s.documents == 2);
    }
}

static void test_refusals(void **st)
{
    (void)st;
    static const struct { size_t at; unsigned char value; const char *why; } rows[] = {
        { 0, 'X', "byte 0: neither" },            { 4, 3, "byte 4: version 3" },        { 8, 3,
                                                                                          "byte 8: a token has 2 or 4 bytes" },
        { 12, 1, "byte 12: a vocabulary has" },   { 16, 8, "the header says 8 tokens" }, { 23, 255, "the header says" },
        { 32, 0, "byte 32: the checksum" },       { 44, 1, "byte 44: the rest" },       { 66, 1, "byte 32: the checksum" },
        { 12, 21, "token 28 is not below the vocabulary of 21" },
    };
    unsigned char file[TOKENS_HEADER + 4 * COUNT];
    struct token_shard s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = { 0 };
        struct str text = make(file, 2);
        file[rows[i].at] = file[rows[i].at] == rows[i].value ? rows[i].value ^ 1 : rows[i].value;
        if (token_shard_read(text, &s, &e) == ERR_OK || !strstr(e.msg, rows[i].why))
            fail_msg("row %zu: \"%s\" does not say \"%s\"", i, e.msg, rows[i].why);
    }
    for (size_t len = 0; len < TOKENS_HEADER + 2 * COUNT; len++) {
        struct err e = { 0 };
        make(file, 2);
        assert_int_equal(token_shard_read(str_n((const char *)file, len), &s, &e), ERR_BAD_DATA);
    }
}

static void test_llmc(void **st)
{
    (void)st;
    static unsigned char file[TOKENS_LLMC_HEADER + 6];
    struct token_shard s;
    struct err e;
    static const unsigned char head[] = { 0x88, 0xd8, 0x34, 0x01, 1, 0, 0, 0, 3 };     /* 20240520, version 1, three tokens */
    memcpy(file, head, sizeof head);
    assert_int_equal(token_shard_read(str_n((const char *)file, sizeof file), &s, &e), ERR_OK);
    assert_true(s.count == 3 && s.vocab == TOKENS_LLMC_VOCAB && s.token_bytes == 2);
    file[TOKENS_LLMC_HEADER] = file[TOKENS_LLMC_HEADER + 1] = 0xff;
    assert_int_equal(token_shard_read(str_n((const char *)file, sizeof file), &s, &e), ERR_BAD_DATA);
    assert_non_null(strstr(e.msg, "byte 1024: token 65535"));
}

#define VOCABULARY "falaj-bpe 1\n258\n97 98\n"

/* A shard with the vocabulary that made it. */
static struct str make_whole(unsigned char file[TOKENS_HEADER + 200], size_t vocab)
{
    for (size_t i = 0; i < COUNT; i++) {
        file[TOKENS_HEADER + 2 * i] = i == 4 ? 1 : 97;
        file[TOKENS_HEADER + 2 * i + 1] = i == 4;       /* token 257 */
    }
    const struct token_shard s = { file + TOKENS_HEADER, 2, vocab, COUNT, 2, STR(VOCABULARY) };
    memcpy(file + TOKENS_HEADER + 2 * COUNT, VOCABULARY, sizeof VOCABULARY - 1);
    token_shard_header(&s, file);
    return str_n((const char *)file, TOKENS_HEADER + 2 * COUNT + sizeof VOCABULARY - 1);
}

static void test_vocabulary(void **st)
{
    (void)st;
    unsigned char file[TOKENS_HEADER + 200];
    struct token_shard s;
    struct err e = { 0 };
    struct str text = make_whole(file, 258);
    assert_int_equal(token_shard_read(text, &s, &e), ERR_OK);
    assert_true(s.count == COUNT && str_eq_c(s.vocabulary, VOCABULARY));
    for (size_t len = 0; len < text.len; len++)
        assert_int_equal(token_shard_read(str_n(text.ptr, len), &s, &e), ERR_BAD_DATA);
    text = make_whole(file, 259);
    assert_int_equal(token_shard_read(text, &s, &e), ERR_BAD_DATA);
    assert_string_equal(e.msg, "byte 82: the vocabulary has 258 tokens, the header says 259");
    static const struct { size_t at; unsigned char value; const char *why;
    } rows[] = {
        { 4, 1, "byte 40: a vocabulary of 22 bytes; version 1 has none" },
        { 40, 0, "byte 40: a vocabulary of 0 bytes" },
        { 42, 255, "byte 40: a vocabulary of 16711702 bytes" },
        { 40, 200, "the header says a vocabulary of 200 bytes" },
        { 40, 20, "the header says 9 tokens of 2 bytes; 20 bytes follow it" },
        { 90, 'x', "the checksum" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        text = make_whole(file, 258);
        file[rows[i].at] = rows[i].value;
        if (token_shard_read(text, &s, &e) == ERR_OK || !strstr(e.msg, rows[i].why))
            fail_msg("row %zu: \"%s\" does not say \"%s\"", i, e.msg, rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_vocabulary), cmocka_unit_test(test_llmc) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
