/* SPDX-License-Identifier: Apache-2.0 */
/* test_sse.c - event streams, cut at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/http/sse.h"

struct seen {
    struct buf text;
    int stop_after;
};

static bool on_event(void *ctx, const struct sse_event *ev)
{
    struct seen *s = ctx;
    buf_printf(&s->text, "[%.*s|%.*s|%.*s]", STR_ARG(ev->type), STR_ARG(ev->id), STR_ARG(ev->data));
    return --s->stop_after != 0;
}

static const char STREAM[] = "\xef\xbb\xbf:hello\r\ndata: one\r\n\r\nevent: tick\nid: 7\ndata:two\ndata: three\n\nretry: 1500\r"
                             "data\r\rid\ndata:  x\n\nevent: lost\n\ndata: cut";
static const char WANT[] = "[message||one][tick|7|two\nthree][message|7|][message|| x]";

static void parses_the_same_at_every_cut(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof STREAM - 1; cut++) {
        struct seen s = { BUF(4096), -1 };
        struct sse_parser *p = sse_parser_new(64, on_event, &s);
        assert_int_equal(sse_parser_feed(p, STREAM, cut, NULL, NULL), ERR_OK);
        assert_int_equal(sse_parser_feed(p, STREAM + cut, sizeof STREAM - 1 - cut, NULL, NULL), ERR_OK);
        assert_string_equal(s.text.ptr, WANT);
        assert_int_equal(sse_parser_retry_ms(p), 1500);
        sse_parser_free(p);
        buf_release(&s.text);
    }
}

static void limits_and_stops(void **state)
{
    (void)state;
    struct seen s = { BUF(4096), 1 };
    struct sse_parser *p = sse_parser_new(8, on_event, &s);
    bool stopped;
    assert_int_equal(sse_parser_feed(p, "data: a\n\ndata: b\n\n", 18, &stopped, NULL), ERR_OK);
    assert_true(stopped);
    assert_string_equal(s.text.ptr, "[message||a]");
    sse_parser_free(p);
    p = sse_parser_new(8, on_event, &s);
    assert_int_equal(sse_parser_feed(p, "data: 123456789\n", 16, NULL, NULL), ERR_LIMIT);
    sse_parser_free(p);
    buf_release(&s.text);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    struct buf b = BUF(4096);
    assert_true(sse_write_comment(&b, "beat"));
    assert_true(sse_write_event(&b, STR("log"), STR("12"), STR("a\r\nb\n\nc")));
    assert_true(sse_write_event(&b, STR_NULL, STR_NULL, STR("")));
    assert_true(sse_write_retry(&b, 99));
    assert_false(sse_write_event(&b, STR("a\nb"), STR_NULL, STR("x")));
    struct seen s = { BUF(4096), -1 };
    struct sse_parser *p = sse_parser_new(64, on_event, &s);
    assert_int_equal(sse_parser_feed(p, b.ptr, b.len, NULL, NULL), ERR_OK);
    assert_string_equal(s.text.ptr, "[log|12|a\nb\n\nc][message|12|]");
    assert_int_equal(sse_parser_retry_ms(p), 99);
    sse_parser_free(p);
    buf_release(&s.text);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_the_same_at_every_cut),
        cmocka_unit_test(limits_and_stops),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
