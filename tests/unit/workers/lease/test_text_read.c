/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_read.c - calls for text: what is taken, what holds where nothing is said, and what each refusal says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "text_read_kit.h"

static struct arena *arena;
static struct text_info words, numbers;

static int begin(void **st)
{
    (void)st;
    arena = arena_new((size_t)64 << 20);
    words = trk_info(arena, true);
    numbers = trk_info(arena, false);
    return words.vocabulary ? 0 : -1;
}

static int end(void **st)
{
    (void)st;
    arena_free(arena);
    return 0;
}

static struct text_call take(const struct text_info *i, const char *body)
{
    struct text_call c;
    struct err e = { 0 };
    if (text_read(arena, i, str_c(body), 0xffffffffffffffffu, &c, &e) != ERR_OK)
        fail_msg("%s: %s", body, e.msg);
    return c;
}

static void what_is_not_said(void **st)
{
    (void)st;
    struct text_call c = take(&words, "{\"text_input\":\"xab\",\"more\":1}");
    assert_true(c.request.prompt_count == 2 && c.request.prompt[0] == 'x' && c.request.prompt[1] == 256);
    assert_true(c.request.max_tokens == 18 && c.request.how.temperature == 0 && c.request.how.top_k == 0);
    assert_true(c.request.how.top_p >= 1 && c.request.how.seed == c.seed && c.seed < (uint64_t)1 << 53);
    assert_true(c.stop_count == 0 && c.request.stop_count == 1 && c.request.stops[0] == 257);
    c = take(&words, "{\"text_input\":\"\"}");
    assert_true(c.request.prompt_count == 1 && c.request.prompt[0] == 257);
    words.max_context = numbers.max_context = 1000;
    assert_int_equal(take(&words, "{\"text_input\":\"x\"}").request.max_tokens, 128);
    words.max_context = numbers.max_context = 20;
}

static void what_is_said(void **st)
{
    (void)st;
    struct text_call c = take(&words, "{\"id\":\"m\",\"text_input\":\"a\",\"parameters\":{\"max_tokens\":5,\"temperature\":0.5,"
                                      "\"top_k\":7,\"top_p\":0.25,\"seed\":9007199254740993,\"stop\":[\"\\n\",\"END\"],"
                                      "\"stop_tokens\":[3,4],\"timeout\":10,\"priority\":2,\"stream\":true}}");
    assert_true(str_eq_c(c.id, "m") && c.request.max_tokens == 5 && c.request.how.temperature > 0.49);
    assert_true(c.request.how.top_k == 7 && c.request.how.top_p < 0.26 && c.seed == 9007199254740993);
    assert_true(c.stop_count == 2 && str_eq_c(c.stops[1], "END") && c.request.stop_count == 3 && c.request.stops[1] == 4);
    assert_true(c.request.in.timeout_us == 10 && c.request.in.priority == 2);
    assert_int_equal(take(&words, "{\"text_input\":\"a\",\"parameters\":{\"stop\":\"x\"}}").stop_count, 1);
    c = take(&numbers, "{\"input_ids\":[0,257],\"parameters\":{\"max_tokens\":1000}}");
    assert_true(c.request.prompt_count == 2 && c.request.prompt[1] == 257 && c.request.stop_count == 0);
    assert_int_equal(c.request.max_tokens, 1000);       /* whether there is room says the engine, with its figures */
    assert_int_equal(take(&words, "{\"input_ids\":[5]}").request.prompt[0], 5);
}

static void refusals(void **st)
{
    (void)st;
#define P(more) "{\"text_input\":\"a\",\"parameters\":{" more "}}"
    static const struct { bool of_numbers; const char *body, *why; } rows[] = {
        { false, "[1]", "an object with text_input" },
        { false, "{}", "text_input or input_ids is expected" },
        { false, "{\"text_input\":\"a\",\"input_ids\":[1]}", "one of the two" },
        { false, "{\"text_input\":7}", "text_input: a text is expected" },
        { false, "{\"text_input\":\"a\",\"id\":7}", "id: a text of at most 255 bytes" },
        { true, "{\"text_input\":\"a\"}", "it takes input_ids, tokens below 258" },
        { true, "{\"input_ids\":[]}", "at least one token" },
        { true, "{\"input_ids\":7}", "input_ids: a list of at most 20 tokens" },
        { true, "{\"input_ids\":[1,258]}", "input_ids: item 1 is no token: a whole number below 258" },
        { true, "{\"input_ids\":[1.5]}", "item 0 is no token" },
        { true, "{\"input_ids\":[-1]}", "item 0 is no token" },
        { true, "{\"input_ids\":[1],\"parameters\":{\"stop\":\"x\"}}", "it takes stop_tokens" },
        { false, "{\"text_input\":\"xxxxxxxxxxxxxxxxxxxxx\"}", "more than the 20 tokens" },
        { false, "{\"text_input\":\"a\",\"parameters\":[]}", "parameters: an object" },
        { false, P("\"max_token\":5"), "\"max_token\" is not known; max_tokens" },
        { false, P("\"max_tokens\":0"), "parameters.max_tokens: a whole number of 1" },
        { false, P("\"max_tokens\":\"5\""), "parameters.max_tokens" },
        { false, P("\"temperature\":-0.1"), "parameters.temperature: a number from 0 up to 100" },
        { false, P("\"temperature\":101"), "parameters.temperature" },
        { false, P("\"top_p\":0"), "parameters.top_p: a number above 0 up to 1" },
        { false, P("\"top_p\":1.01"), "parameters.top_p" },
        { false, P("\"top_k\":-1"), "parameters.top_k" },
        { false, P("\"seed\":-1"), "parameters.seed" },
        { false, P("\"stop\":[1]"), "parameters.stop: each is a text of 1 to 128 bytes" },
        { false, P("\"stop\":\"\""), "parameters.stop: each" },
        { false, P("\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"), "a list of at most 8" },
        { false, P("\"stop_tokens\":[258]"), "parameters.stop_tokens: item 0" },
        { false, P("\"timeout\":-1"), "parameters.timeout" },
        { false, P("\"priority\":101"), "parameters.priority" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_call c;
        struct err e = { 0 };
        enum errc rc = text_read(arena, rows[i].of_numbers ? &numbers : &words, str_c(rows[i].body), 1, &c, &e);
        if (rc != ERR_INVALID || !strstr(e.msg, rows[i].why))
            fail_msg("%s: %d, \"%s\" does not say \"%s\"", rows[i].body, rc, e.msg, rows[i].why);
    }
    struct text_call c;
    struct err e = { 0 };
    for (int n = 255; n < 257; n++) {
        const char *body = arena_printf(arena, "{\"text_input\":\"a\",\"id\":\"%0*d\"}", n, 7);
        assert_int_equal(text_read(arena, &words, str_c(body), 1, &c, &e), n == 255 ? ERR_OK : ERR_INVALID);
    }
    assert_int_equal(text_read(arena, &words, STR("{\"text_input\":"), 1, &c, &e), ERR_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_not_said), cmocka_unit_test(what_is_said),
                                        cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, begin, end);
}
