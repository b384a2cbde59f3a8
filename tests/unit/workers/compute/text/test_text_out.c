/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_out.c - however bytes are cut into tokens, the same text is shown, whole characters at a time, and none of a stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "workers/compute/text/text_out.h"

/* What is shown of bytes that come `step` at a time. *ret_more: what add said last. */
static void show(struct buf *ret, const char *bytes, size_t n, size_t step, const struct str *stops, size_t count, bool *ret_more)
{
    struct text_out o;
    text_out_init(&o, stops, count);
    *ret_more = true;
    for (size_t at = 0; at < n && *ret_more; at += step) {
        *ret_more = text_out_add(&o, str_n(bytes + at, n - at < step ? n - at : step), ret);
        assert_true(str_is_utf8(buf_str(ret)));
    }
    text_out_end(&o, ret);
    assert_true(str_is_utf8(buf_str(ret)));
    text_out_release(&o);
}

static void any_cut_shows_the_same(void **st)
{
    (void)st;
    static const struct { const char *in, *stop, *also, *out; bool more; } rows[] = {
        { "plain text", NULL, NULL, "plain text", true },
        { "فلج ماء \xf0\x9f\x92\xa7.", NULL, NULL, "فلج ماء \xf0\x9f\x92\xa7.", true },
        { "one\n\ntwo", "\n\n", NULL, "one", false },
        { "one\ntwo\n", "\n\n", NULL, "one\ntwo\n", true },
        { "aabaac", "aac", NULL, "aab", false },
        { "ababac tail", "abac", "tail", "ab", false },
        { "x tail end", "end", "tail", "x ", false },
        { "cut \xd9", NULL, NULL, "cut \xef\xbf\xbd", true },
        { "\xff\xc0\xaf\xed\xa0\x80!", NULL, NULL,
          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!", true },
        { "\xd9\x81STOP", "STOP", NULL, "\xd9\x81", false },
        { "stop", "stop", NULL, "", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t step = 1; step <= strlen(rows[i].in); step++) {
            CLEANUP(buf_releasep) struct buf b = BUF(1000);
            struct str stops[] = { str_c(rows[i].stop ? rows[i].stop : ""), str_c(rows[i].also ? rows[i].also : "") };
            bool more;
            show(&b, rows[i].in, strlen(rows[i].in), step, stops, rows[i].also ? 2 : rows[i].stop ? 1 : 0, &more);
            if (!str_eq_c(buf_str(&b), rows[i].out) || more != rows[i].more)
                fail_msg("row %zu by %zu: \"%.*s\", more %d", i, step, (int)b.len, b.ptr ? b.ptr : "", more);
        }
}

/* What cannot be a stop any more is shown at once. */
static void nothing_waits_longer_than_it_must(void **st)
{
    (void)st;
    struct text_out o;
    CLEANUP(buf_releasep) struct buf b = BUF(1000);
    const struct str stop = STR("END");
    text_out_init(&o, &stop, 1);
    assert_true(text_out_add(&o, STR("the E"), &b));
    assert_true(str_eq_c(buf_str(&b), "the "));
    assert_true(text_out_add(&o, STR("N"), &b));
    assert_true(str_eq_c(buf_str(&b), "the "));
    assert_true(text_out_add(&o, STR("E"), &b));
    assert_true(str_eq_c(buf_str(&b), "the EN"));
    assert_false(text_out_add(&o, STR("ND"), &b));
    assert_false(text_out_add(&o, STR("more"), &b));
    text_out_end(&o, &b);
    assert_true(str_eq_c(buf_str(&b), "the EN"));
    text_out_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_cut_shows_the_same),
                                        cmocka_unit_test(nothing_waits_longer_than_it_must) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
