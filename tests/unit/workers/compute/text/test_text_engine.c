/* SPDX-License-Identifier: Apache-2.0 */
/* test_text_engine.c - texts join and leave between steps, each the same as alone; limits are told with their figures, who is
 * gone makes room, and a caller who asks for much does not shut out another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>

#include "../../../../lib/wait.h"
#include "core/base/clock.h"
#include "text_kit.h"

enum { MADE_MAX = 64 };

struct asked {
    struct text_request r;
    int32_t made[MADE_MAX];
    size_t count, enough;               /* enough: on_token says stop after so many; 0: never */
    _Atomic bool is_gone, is_done;
    enum errc rc;
    enum text_end why;
    size_t order;
};

static _Atomic size_t ends;

static bool on_token(struct text_request *r, int32_t token)
{
    struct asked *a = r->ctx;
    assert_true(a->count < MADE_MAX);
    a->made[a->count++] = token;
    return !a->enough || a->count < a->enough;
}

static bool is_gone(struct text_request *r)
{
    return ((struct asked *)r->ctx)->is_gone;
}

static void done(struct text_request *r, enum errc rc, enum text_end why)
{
    struct asked *a = r->ctx;
    a->rc = rc;
    a->why = why;
    a->order = ends++;
    a->is_done = true;
}

static void ask(struct text_engine *x, struct asked *a, const int32_t *prompt, size_t n, size_t more, uint64_t seed)
{
    struct err e = { 0 };
    a->r.prompt = prompt;
    a->r.prompt_count = n;
    a->r.max_tokens = more;
    a->r.how = (struct sample_how){ seed ? 1.1 : 0, 40, 0.95, seed };
    a->r.on_token = a->r.on_token ? a->r.on_token : on_token;
    a->r.is_gone = is_gone;
    a->r.done = done;
    a->r.ctx = a;
    if (text_engine_submit(x, &a->r, &e) != ERR_OK)
        fail_msg("%s", e.msg);
}

static struct text_engine *engine(const struct text_kit *k, struct text_model **m, size_t sequences, size_t queue)
{
    struct text_engine *x = NULL;
    struct err e = { 0 };
    *m = tk_load(k, kit_backend(), NULL, &(struct text_options){ DECODE_BF16, sequences, 0, 0 });
    assert_int_equal(text_engine_new(*m, &(struct text_engine_options){ .queue_requests = queue }, &x, &e), ERR_OK);
    return x;
}

static void the_company_changes_nothing(void **st)
{
    (void)st;
    enum { MANY = 24 };
    static struct asked alone[MANY], together[MANY];
    struct text_kit k;
    struct text_model *m;
    struct text_stats s;
    memset(alone, 0, sizeof alone);
    memset(together, 0, sizeof together);
    tk_make(&k, true, true, true);
    struct text_engine *x = engine(&k, &m, 5, 0);
    for (size_t i = 0; i < MANY; i++) {
        ask(x, &alone[i], k.tokens + i % 7, 1 + i * 5 % 30, 1 + i * 7 % 17, i % 4 ? i + 1 : 0);
        WAIT_WHILE(!alone[i].is_done);
    }
    for (size_t i = 0; i < MANY; i++)
        ask(x, &together[i], k.tokens + i % 7, 1 + i * 5 % 30, 1 + i * 7 % 17, i % 4 ? i + 1 : 0);
    for (size_t i = 0; i < MANY; i++) {
        WAIT_WHILE(!together[i].is_done);
        assert_true(together[i].rc == ERR_OK && together[i].why == TEXT_LENGTH && together[i].count == 1 + i * 7 % 17);
        assert_int_equal(together[i].count, alone[i].count);
        assert_memory_equal(together[i].made, alone[i].made, alone[i].count * sizeof *alone[i].made);
        assert_true(together[i].r.made == together[i].count && together[i].r.first_us >= together[i].r.wait_us);
    }
    text_engine_get_stats(x, &s);
    assert_true(s.requests == 2 * MANY && s.ended == 2 * MANY && s.running == 0 && s.waiting == 0);
    assert_true(s.running_max > 1 && s.running_max <= 5);
    size_t tokens = 0;
    for (size_t i = 0; i < MANY; i++)
        tokens += 2 * alone[i].count;
    assert_int_equal(s.tokens, tokens);
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

static void texts_end_where_they_are_told_to(void **st)
{
    (void)st;
    static struct asked free_one, by_token, by_caller;
    struct text_kit k;
    struct text_model *m;
    memset(&free_one, 0, sizeof free_one);
    memset(&by_token, 0, sizeof by_token);
    memset(&by_caller, 0, sizeof by_caller);
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 2, 0);
    ask(x, &free_one, k.tokens, 5, 20, 77);
    WAIT_WHILE(!free_one.is_done);
    size_t nth = 0;                     /* the first time that this token comes */
    while (free_one.made[nth] != free_one.made[9])
        nth++;
    by_token.r.stops = &free_one.made[9];
    by_token.r.stop_count = 1;
    ask(x, &by_token, k.tokens, 5, 20, 77);
    WAIT_WHILE(!by_token.is_done);
    assert_true(by_token.why == TEXT_STOP && by_token.count == nth && by_token.r.made == nth);
    by_caller.enough = 4;
    ask(x, &by_caller, k.tokens, 5, 20, 77);
    WAIT_WHILE(!by_caller.is_done);
    assert_true(by_caller.why == TEXT_STOP && by_caller.count == 4);
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

static void what_does_not_fit_is_told(void **st)
{
    (void)st;
    struct text_kit k;
    struct text_model *m;
    struct err e = { 0 };
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 1, 2);
    struct text_request r = { .prompt = k.tokens, .prompt_count = 40, .max_tokens = 9, .on_token = on_token, .done = done };
    assert_int_equal(text_engine_submit(x, &r, &e), ERR_INVALID);
    assert_string_equal(e.msg, "the prompt has 40 tokens and 9 more are asked for; the model has room for 48 in all");
    r.prompt_count = 0;
    assert_int_equal(text_engine_submit(x, &r, &e), ERR_INVALID);
    r = (struct text_request){ .prompt = (int32_t[]){ 1, TK_VOCAB }, .prompt_count = 2, .max_tokens = 1, .on_token = on_token,
                               .done = done };
    assert_int_equal(text_engine_submit(x, &r, &e), ERR_INVALID);
    assert_non_null(strstr(e.msg, "token 1 of the prompt, 71, is not below the vocabulary of 71"));
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

static float scores[TK_CONTEXT * TK_VOCAB];
static size_t scored;

static void on_scores(struct text_request *r, size_t at, const float *logits)
{
    (void)r;
    assert_int_equal(at, scored++);
    memcpy(scores + at * TK_VOCAB, logits, TK_VOCAB * sizeof *logits);
}

/* What follows each token of a prompt, beside a text that is being made: as the steps of the model have it. */
static void scores_are_those_of_the_model(void **st)
{
    (void)st;
    static struct asked text, asked;
    static float want[TK_CONTEXT * TK_VOCAB];
    struct text_kit k;
    struct text_model *m;
    memset(&text, 0, sizeof text);
    memset(&asked, 0, sizeof asked);
    scored = 0;
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 3, 0);
    ask(x, &text, k.tokens, 8, 40, 5);
    asked.r.on_scores = on_scores;
    ask(x, &asked, k.tokens, TK_CONTEXT, 0, 0);
    WAIT_WHILE(!asked.is_done || !text.is_done);
    assert_true(asked.rc == ERR_OK && asked.count == 0 && scored == TK_CONTEXT && text.count == 40);
    text_engine_free(x);
    tk_logits(&k, m, 1, 16, 0, want);
    assert_memory_equal(scores, want, sizeof want);
    text_model_free(m);
    tk_free(&k);
}

static _Atomic bool may_go_on;

/* Holds the engine's thread. */
static bool holding(struct text_request *r, int32_t token)
{
    WAIT_WHILE(!may_go_on);
    return on_token(r, token);
}

/* One slot: the small caller's request goes before the rest of the big one's, the queue is bounded, who has left is passed
 * over. */
static void callers_take_turns(void **st)
{
    (void)st;
    static struct asked big[4], small, late, gone;
    struct text_kit k;
    struct text_model *m;
    struct text_stats s;
    struct err e = { 0 };
    memset(big, 0, sizeof big);
    memset(&small, 0, sizeof small);
    memset(&late, 0, sizeof late);
    memset(&gone, 0, sizeof gone);
    may_go_on = false;
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 1, 4);
    for (size_t i = 0; i < 4; i++) {
        big[i].r.in.caller = 1;
        big[i].r.on_token = i ? NULL : holding;
        ask(x, &big[i], k.tokens, 10, 3, 1);
        WAIT_WHILE(({ text_engine_get_stats(x, &s); s.running == 0; }));
    }
    gone.r.in.caller = 3;
    ask(x, &gone, k.tokens, 2, 2, 1);
    gone.is_gone = true;
    late.r = (struct text_request){ .in.caller = 1, .prompt = k.tokens, .prompt_count = 2, .max_tokens = 2, .on_token = on_token,
                                    .done = done };
    late.r.ctx = &late;
    assert_int_equal(text_engine_submit(x, &late.r, &e), ERR_RATE);
    assert_non_null(strstr(e.msg, "4 texts wait already for the 1 that are made at a time"));
    small.r.in.caller = 2;
    ask(x, &small, k.tokens, 2, 2, 1);          /* the newest of who has most gives way */
    WAIT_WHILE(!big[3].is_done);
    assert_int_equal(big[3].rc, ERR_RATE);
    may_go_on = true;
    for (size_t i = 0; i < 3; i++)
        WAIT_WHILE(!big[i].is_done);
    WAIT_WHILE(!small.is_done || !gone.is_done);
    assert_true(small.rc == ERR_OK && big[1].rc == ERR_OK && small.order < big[1].order && small.order < big[2].order);
    assert_true(gone.rc == ERR_UNAVAILABLE && gone.count == 0);
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

/* Who left while it waited costs no step of a slot: the one behind begins with the text that it waited beside. */
static void who_left_holds_up_nobody(void **st)
{
    (void)st;
    static struct asked first, gone[8], last;
    struct text_kit k;
    struct text_model *m;
    struct text_stats s;
    memset(&first, 0, sizeof first);
    memset(gone, 0, sizeof gone);
    memset(&last, 0, sizeof last);
    may_go_on = false;
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 2, 0);
    first.r.on_token = holding;
    ask(x, &first, k.tokens, 2, 6, 1);
    WAIT_WHILE(({ text_engine_get_stats(x, &s); s.running == 0; }));
    for (size_t i = 0; i < 8; i++) {
        gone[i].is_gone = true;
        ask(x, &gone[i], k.tokens, 2, 2, 1);
    }
    ask(x, &last, k.tokens, 2, 1, 1);
    may_go_on = true;
    WAIT_WHILE(!first.is_done || !last.is_done || !gone[7].is_done);
    assert_true(last.rc == ERR_OK && first.rc == ERR_OK && last.order < first.order);
    text_engine_get_stats(x, &s);
    assert_int_equal(s.gone, 8);
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

static struct asked hasty;

/* Holds the engine's thread until the hasty one is late. */
static bool until_late(struct text_request *r, int32_t token)
{
    WAIT_WHILE(!may_go_on || clock_mono_us(&clock_system) <= hasty.r.in.arrived_us + hasty.r.in.timeout_us);
    return on_token(r, token);
}

/* One slot, which a text has for long: who waits is told when its time is over, not when the slot is free. */
static void who_is_late_is_told_so_in_time(void **st)
{
    (void)st;
    static struct asked first, patient;
    struct text_kit k;
    struct text_model *m;
    struct text_stats s;
    memset(&first, 0, sizeof first);
    memset(&patient, 0, sizeof patient);
    memset(&hasty, 0, sizeof hasty);
    may_go_on = false;
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 1, 0);
    first.r.on_token = until_late;
    ask(x, &first, k.tokens, 2, 6, 1);
    WAIT_WHILE(({ text_engine_get_stats(x, &s); s.running == 0; }));
    patient.r.in.timeout_us = INT64_MAX;
    ask(x, &patient, k.tokens, 2, 2, 1);
    hasty.r.in.timeout_us = 1000;
    ask(x, &hasty, k.tokens, 2, 2, 1);
    may_go_on = true;
    WAIT_WHILE(!first.is_done || !hasty.is_done || !patient.is_done);
    assert_true(hasty.rc == ERR_DEADLINE && hasty.order < first.order && first.rc == ERR_OK && patient.rc == ERR_OK);
    text_engine_get_stats(x, &s);
    assert_int_equal(s.late, 1);
    text_engine_free(x);
    text_model_free(m);
    tk_free(&k);
}

static void an_end_is_told_to_all(void **st)
{
    (void)st;
    static struct asked many[6];
    struct text_kit k;
    struct text_model *m;
    memset(many, 0, sizeof many);
    tk_make(&k, false, false, false);
    struct text_engine *x = engine(&k, &m, 2, 0);
    for (size_t i = 0; i < 6; i++)
        ask(x, &many[i], k.tokens, 20, 28, 3);
    text_engine_free(x);
    for (size_t i = 0; i < 6; i++)
        assert_true(many[i].is_done && (many[i].rc == ERR_OK || many[i].rc == ERR_UNAVAILABLE));
    text_model_free(m);
    tk_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_company_changes_nothing),
                                        cmocka_unit_test(texts_end_where_they_are_told_to),
                                        cmocka_unit_test(what_does_not_fit_is_told),
                                        cmocka_unit_test(scores_are_those_of_the_model), cmocka_unit_test(callers_take_turns),
                                        cmocka_unit_test(who_left_holds_up_nobody),
                                        cmocka_unit_test(who_is_late_is_told_so_in_time),
                                        cmocka_unit_test(an_end_is_told_to_all) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
