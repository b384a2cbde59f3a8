/* SPDX-License-Identifier: Apache-2.0 */
/* test_err.c - codes, rows, and an error's way up. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/err.h"
#include "core/base/str.h"

static void rows(void **state)
{
    (void)state;
    for (int i = 0; i < ERR_COUNT; i++) {
        const struct err_row *r = err_row((enum errc)i);
        assert_true(r->name && r->wire && r->title && r->http >= 200 && r->http < 600);
        assert_int_equal(err_by_wire(r->wire), i);      /* wire codes are unique */
    }
    assert_string_equal(err_row((enum errc)9999)->name, "INTERNAL");
    assert_string_equal(err_row((enum errc)-1)->name, "INTERNAL");
    assert_int_equal(err_by_wire("no_such_code"), ERR_COUNT);
    assert_int_equal(err_row(ERR_OK)->http, 200);
    assert_int_equal(err_row(ERR_RETRY)->retry, RETRY_NOW);
}

static enum errc inner(struct err *e)
{
    return FAIL_AT(e, INVALID, "/gpus", "must be at most %d", 64);
}

static enum errc outer(struct err *e)
{
    TRY(inner(e));
    return ERR_OK;
}

static void way_up(void **state)
{
    (void)state;
    struct err e = { 0 };
    assert_int_equal(outer(&e), ERR_INVALID);
    assert_int_equal(e.code, ERR_INVALID);
    assert_string_equal(e.msg, "must be at most 64");
    assert_string_equal(e.field, "/gpus");
    assert_true(e.line > 0 && strstr(e.file, "test_err.c"));
    assert_int_equal(err_note(&e, "while doing %s", "this"), ERR_INVALID);
    assert_int_equal(err_errno(&e, ENOENT), ERR_INVALID);
    assert_string_equal(e.detail, "while doing this; errno 2: No such file or directory");
    /* A new failure keeps nothing of the old one. */
    assert_int_equal(FAIL(&e, NOT_FOUND, "gone"), ERR_NOT_FOUND);
    assert_string_equal(e.detail, "");
    assert_string_equal(e.field, "");
    err_clear(&e);
    assert_int_equal(e.code, ERR_OK);
}

static void bounds(void **state)
{
    (void)state;
    struct err e = { 0 };
    char big[2000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    (void)FAIL(&e, INVALID, "%s", big);
    err_field(&e, "%s", big);
    for (int i = 0; i < 300; i++)
        err_note(&e, "%s", i % 2 ? "ab" : big);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_int_equal(strlen(e.field), sizeof e.field - 1);
    assert_int_equal(strlen(e.detail), sizeof e.detail - 1);
    assert_int_equal(outer(NULL), ERR_INVALID);
    err_clear(NULL);
}

/* Every length of one, two, three and four byte characters before the end: what is kept is whole. */
static void cut_between_characters(void **state)
{
    (void)state;
    static const char *const letters[] = { "x", "\xD8\xB9", "\xE0\xA4\x85", "\xF0\x9F\x8C\x99" };
    for (size_t l = 0; l < 4; l++)
        for (int before = 0; before < 8; before++) {
            struct err e = { 0 };
            char text[600] = "";
            memset(text, 'a', (size_t)before);
            while (strlen(text) + 4 < sizeof text)
                strcat(text, letters[l]);
            (void)FAIL(&e, INVALID, "%s", text);
            err_note(&e, "%s", text);
            err_field(&e, "%s", text);
            assert_true(str_is_utf8(str_c(e.msg)) && str_is_utf8(str_c(e.detail)) && str_is_utf8(str_c(e.field)));
            assert_true(strlen(e.msg) + strlen(letters[l]) > sizeof e.msg - 1 && !strncmp(e.msg, text, strlen(e.msg)));
        }
    struct err e = { 0 };
    (void)FAIL(&e, INVALID, "%s", "\xD8");            /* what fits is not touched */
    assert_string_equal(e.msg, "\xD8");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows), cmocka_unit_test(way_up), cmocka_unit_test(bounds),
                                        cmocka_unit_test(cut_between_characters) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
