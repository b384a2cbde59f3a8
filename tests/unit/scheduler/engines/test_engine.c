/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - names, digests, what differs from what was sent, and addresses. */
#include <string.h>

#include "tests/unit/scheduler/engines/engine_kit.h"
#include "scheduler/engines/engine.h"

static void names_are_read_as_they_were_made(void **state)
{
    (void)state;
    const struct uuid run = uuid_v7(1);
    struct uuid got;
    char name[ENGINE_NAME_TEXT];
    int64_t tries;
    engine_name(run, 12, name);
    assert_true(engine_name_read(str_c(name), &got, &tries));
    assert_true(uuid_eq(run, got));
    assert_int_equal(tries, 12);
    static const struct str others[] = { STR(""), STR("falaj-"), STR("falaj-0123456789abcdef0123456789abcdef"),
        STR("falaj-0123456789abcdef0123456789abcdef-0"), STR("falaj-0123456789abcdef0123456789abcdef-1x"),
        STR("falaj-0123456789abcdef0123456789abcde-1"), STR("Falaj-0123456789abcdef0123456789abcdef-1") };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(engine_name_read(others[i], &got, &tries));
}

static void what_differs_is_named_and_more_than_asked_is_not(void **state)
{
    (void)state;
    struct engine_ask ask = { .name = STR("n"), .comment = STR("c"), .place = STR("p"), .machines = 1, .cpus = 2,
                              .memory_bytes = 100 << 20, .minutes = 30 };
    const struct engine_seen same = { .name = STR("n"), .comment = STR("c"), .place = STR("p"), .account = STR("svc"),
                                      .machines = 1, .cpus = 2, .memory_bytes = 100 << 20, .minutes = 30 };
    struct engine_seen s = same;
    assert_null(engine_differs(&ask, &s, STR("svc")));
    s.cpus = 4;
    s.minutes = 60;
    s.memory_bytes = 0;
    assert_null(engine_differs(&ask, &s, STR("svc")));
#define DIFFERS(member, value, word) s = same; s.member = value; assert_string_equal(engine_differs(&ask, &s, STR("svc")), word)
    DIFFERS(comment, STR("d"), "comment");
    DIFFERS(account, STR("root"), "account");
    DIFFERS(place, STR("q"), "place");
    DIFFERS(minutes, 29, "time limit");
    DIFFERS(machines, 2, "machines");
    DIFFERS(cpus, 1, "processors");
    DIFFERS(memory_bytes, 99 << 20, "memory");
    struct str was = engine_digest(arena, &ask);
    ask.script = STR("other");
    assert_false(str_eq(was, engine_digest(arena, &ask)));
    was = engine_digest(arena, &ask);
    ask.variables[0].value = STR("secret");
    assert_true(str_eq(was, engine_digest(arena, &ask)));           /* no secret is in it */
}

static void what_an_engine_says_is_plain_and_bounded(void **state)
{
    (void)state;
    assert_string_equal(engine_word(arena, STR("<b>a:b</b>\n\"c\"")).ptr, "bab/bc");
    assert_string_equal(engine_words(arena, STR("<b>a: b=1</b>\n")).ptr, "ba: b=1/b");
    char text[ENGINE_SAYS_MAX + 9];
    memset(text, 'x', sizeof text);
    assert_int_equal(engine_word(arena, str_n(text, sizeof text)).len, ENGINE_WORD_MAX);
    assert_int_equal(engine_words(arena, str_n(text, sizeof text)).len, ENGINE_SAYS_MAX);
}

static void addresses_are_encrypted_or_stay_here(void **state)
{
    (void)state;
    static const struct str good[] = { STR("https://slurm.example:6820"), STR("http://127.0.0.1:6820"), STR("http://localhost:1"),
                                       STR("http://[::1]:6820"), STR("unix:/run/slurmrestd/s") };
    static const struct str bad[] = { STR("http://slurm.example"), STR("http://127.0.0.1.example"), STR("unix:s"), STR("ftp://x"),
                                      STR(""), STR("https://a/b"), STR("http://127.0.0.1:1/x"), STR("https://"),
                                      STR("http://127.0.0.1:80@slurm.example"), STR("http://[::1]@slurm.example"),
                                      STR("https://a@b"), STR("https://a b"), STR("https://a\n"), STR("https://a?b"),
                                      STR("https://a#b") };
    const char *why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(engine_address_check(good[i], &why));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(engine_address_check(bad[i], &why));
}

enum { LONG = 1 << 20 };

/* An engine that answers each call with a megabyte. */
static enum errc long_submit(const struct engine_call *c, const struct engine_ask *ask, struct str *ret_id, struct err *e)
{
    (void)e;
    (void)arena_alloc(c->arena, LONG);
    *ret_id = str_dup(c->arena, ask->name);
    return ERR_OK;
}

static enum errc long_cancel(const struct engine_call *c, struct str id, struct err *e)
{
    (void)arena_alloc(c->arena, LONG);
    return FAIL(e, UPSTREAM, "no %.*s", STR_ARG(id));
}

static void what_an_engine_answers_to_one_call_ends_with_it(void **state)
{
    (void)state;
    const struct engine_door door = { .submit = long_submit, .cancel = long_cancel };
    const struct engine_call call = { .arena = arena };
    const struct engine_ask ask = { .name = STR("n") };
    const size_t before = arena_used(arena);
    struct str id;
    struct err e;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(engine_submit(&door, &call, &ask, &id, &e), ERR_OK);
        assert_true(str_eq_c(id, "n"));
        assert_int_equal(engine_cancel(&door, &call, STR("n"), &e), ERR_UPSTREAM);
        assert_string_equal(e.msg, "no n");
    }
    assert_in_range(arena_used(arena), before, before + LONG - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_as_they_were_made),
        cmocka_unit_test(what_differs_is_named_and_more_than_asked_is_not),
        cmocka_unit_test(what_an_engine_says_is_plain_and_bounded),
        cmocka_unit_test(addresses_are_encrypted_or_stay_here),
        cmocka_unit_test(what_an_engine_answers_to_one_call_ends_with_it),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
