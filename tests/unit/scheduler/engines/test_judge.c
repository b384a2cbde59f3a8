/* SPDX-License-Identifier: Apache-2.0 */
/* test_judge.c - random engines that lose what they took, take what nobody heard of, deliver late and give ids to others: no try
 * begins two machines that count, nothing is lost, and when it grows quiet one object at most is left. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/scheduler/engines/engine_kit.h"
#include "scheduler/engines/judge.h"

enum { WORLDS = 3000, STEPS = 60, OBJECTS = 256, SECOND = 1000000 };

static uint64_t seed;

static int64_t pick(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static struct uuid id_of(int64_t n)
{
    struct uuid u = { { 7 } };
    u.b[15] = (uint8_t)n;
    return u;
}

struct object {
    struct engine_seen seen;
    int64_t tries;
    bool is_late;           /* taken by its front alone, and comes when its controller is back */
    bool has_begun;
};

struct world {
    struct run_facts run;
    struct engine_ask ask;
    struct object objects[OBJECTS];
    size_t n;
    int64_t now_us, next_id;
    int machines[ENGINE_TRIES + 2];     /* begun with the token of each try */
    bool has_ended, is_done;
};

static struct engine_seen object_of(const struct world *w, int64_t id, struct str name)
{
    return (struct engine_seen){ .id = str_fmt(arena, "%lld", (long long)id), .name = name, .comment = w->ask.comment,
                                 .state = ENGINE_WAITS, .machines = 1, .minutes = 60 };
}

static void take(struct world *w, bool is_late)
{
    char name[ENGINE_NAME_TEXT];
    if (w->n == OBJECTS)
        return;
    engine_name(w->run.run_id, w->run.tries, name);
    w->objects[w->n++] = (struct object){ object_of(w, w->next_id++, str_dup(arena, str_c(name))), w->run.tries, is_late, false };
}

/* A machine counts when its token is that of the last try and was not used. */
static void begin(struct world *w, struct object *o)
{
    o->seen.state = ENGINE_RUNS;
    o->has_begun = true;
    if (o->tries != w->run.tries || w->machines[o->tries])
        o->seen.state = ENGINE_FAILED;
    else
        w->machines[o->tries]++;
}

static void engine_moves(struct world *w)
{
    if (!w->n)
        return;
    const size_t i = (size_t)pick((int64_t)w->n);
    struct object *o = &w->objects[i];
    switch (pick(7)) {
    case 0:                                             /* killed before its state was saved: gone, and its id is given again */
        if (o->seen.state == ENGINE_WAITS && !o->is_late) {
            w->next_id = w->next_id > 1 ? w->next_id - 1 : 1;
            w->objects[i] = w->objects[--w->n];
        }
        return;
    case 1:
        o->is_late = false;
        return;
    case 2:
        if (o->seen.state == ENGINE_RUNS && !pick(4)) {         /* in its queue again, under its id */
            o->seen.state = ENGINE_WAITS;
            o->seen.is_again = true;
        } else if (o->seen.state == ENGINE_RUNS) {
            o->seen.state = pick(3) ? ENGINE_DONE : pick(2) ? ENGINE_LOST : ENGINE_PREEMPTED;
            w->is_done = o->seen.state == ENGINE_DONE;
        }
        return;
    default:
        if (o->seen.state == ENGINE_WAITS && !o->is_late)
            begin(w, o);
    }
}

static void cancel(struct world *w, struct str id)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->objects[i].seen.id, id) && !w->objects[i].is_late && !engine_has_ended(w->objects[i].seen.state))
            w->objects[i].seen.state = ENGINE_CANCELLED;
}

static void submit(struct world *w, bool is_calm)
{
    w->run.tries++;
    w->run.state = RUN_SENT;
    w->run.sent_us = w->now_us;
    assert_true(w->run.tries <= ENGINE_TRIES);
    switch (is_calm ? 0 : pick(5)) {
    case 0:
    case 1:                                             /* heard of or not: the judge knows no id */
        take(w, false);
        return;
    case 2:
        take(w, true);
        return;
    case 3:                                             /* twice, by one who repeated the call */
        take(w, false);
        take(w, false);
        return;
    default:                                            /* killed between the record and the call */
        return;
    }
}

static void turn(struct world *w, bool is_calm)
{
    struct engine_seen seen[OBJECTS];
    size_t n = 0;
    const bool is_whole = is_calm || pick(3);
    for (size_t i = 0; i < w->n; i++)
        if (!w->objects[i].is_late && (is_whole || pick(2)))
            seen[n++] = w->objects[i].seen;
    const struct run_verdict v = run_judge(&w->run, seen, n, is_whole, w->now_us);
    assert_true(v.ncancel <= RUN_CANCELS);
    if (v.act == ACT_SUBMIT) {
        for (size_t i = 0; i < n; i++) {
            struct uuid run;
            int64_t tries;
            if (engine_name_read(seen[i].name, &run, &tries) && tries == w->run.tries)
                fail_msg("submitted beside object %.*s of this try", STR_ARG(seen[i].id));
        }
        submit(w, is_calm);
    }
    if (is_calm || pick(4))
        for (size_t i = 0; i < v.ncancel; i++)
            cancel(w, v.cancel[i]);
    if (v.act == ACT_KEEP)
        assert_false(engine_has_ended(v.seen->state));
    if (v.act == ACT_END)
        assert_non_null(v.outcome);
    w->has_ended |= v.act == ACT_END;
}

static void world_new(struct world *w)
{
    *w = (struct world){ .next_id = 1, .now_us = 1000 * (int64_t)SECOND };
    w->ask = (struct engine_ask){ .machines = 1, .minutes = 60, .comment = STR("falaj x") };
    w->run = (struct run_facts){ .run_id = id_of(1), .is_wanted = true, .is_open = true };
}

static void whatever_an_engine_does_a_try_begins_once_and_nothing_is_lost(void **state)
{
    (void)state;
    static struct world w;
    int kept = 0, ended = 0, tried = 0;
    for (int i = 0; i < WORLDS; i++) {
        seed = (uint64_t)i + 1;
        arena_reset(arena);
        world_new(&w);
        const int64_t steps = 1 + pick(STEPS);
        for (int64_t k = 0; k < steps && !w.has_ended; k++) {
            w.now_us += pick(2 * SECOND);
            if (!pick(30))
                w.run.is_wanted = false;
            if (pick(2))
                turn(&w, false);
            else
                engine_moves(&w);
            for (int t = 0; t <= ENGINE_TRIES; t++)
                assert_true(w.machines[t] <= 1);
        }
        tried += w.run.tries > 1;
        for (size_t k = 0; k < w.n; k++)
            w.objects[k].is_late = false;
        for (int k = 0; k < 40 && !w.has_ended; k++) {           /* quiet: all answers are whole, all calls work */
            w.now_us += ENGINE_SETTLE_US;
            turn(&w, true);
        }
        size_t live = 0, waiting_others = 0;
        for (size_t k = 0; k < w.n; k++) {
            const struct object *o = &w.objects[k];
            live += !engine_has_ended(o->seen.state);
            waiting_others += !engine_has_ended(o->seen.state) && o->tries != w.run.tries;
        }
        if (w.has_ended) {
            ended++;
            continue;
        }
        kept++;
        assert_int_equal(waiting_others, 0);
        assert_int_equal(live, 1);                              /* not lost, not twice */
        assert_true(w.run.is_wanted || w.machines[w.run.tries]);
    }
    assert_true(kept > WORLDS / 10 && ended > WORLDS / 10 && tried > WORLDS / 10);
}

static struct engine_seen seen_of(struct world *w, int64_t id, int64_t tries, enum engine_state s)
{
    char name[ENGINE_NAME_TEXT];
    engine_name(w->run.run_id, tries, name);
    struct engine_seen x = object_of(w, id, str_dup(arena, str_c(name)));
    x.state = s;
    return x;
}

static void each_case_by_itself(void **state)
{
    (void)state;
    struct world w;
    struct run_verdict v;
    world_new(&w);
    assert_int_equal(run_judge(&w.run, NULL, 0, false, w.now_us).act, ACT_SUBMIT);
    w.run.is_open = false;
    v = run_judge(&w.run, NULL, 0, false, w.now_us);
    assert_int_equal(v.act, ACT_END);
    assert_string_equal(v.outcome, "UNWANTED");
    w.run = (struct run_facts){ .run_id = id_of(1), .is_wanted = true, .is_open = true, .state = RUN_SENT, .tries = 2,
                                .ask = &w.ask, .sent_us = w.now_us };
    assert_int_equal(run_judge(&w.run, NULL, 0, true, w.now_us + ENGINE_SETTLE_US - 1).act, ACT_WAIT);
    assert_int_equal(run_judge(&w.run, NULL, 0, false, w.now_us + 100 * ENGINE_SETTLE_US).act, ACT_WAIT);
    assert_int_equal(run_judge(&w.run, NULL, 0, true, w.now_us + ENGINE_SETTLE_US).act, ACT_SUBMIT);
    w.run.has_work = true;                                      /* forgotten there, and at work all the same */
    assert_int_equal(run_judge(&w.run, NULL, 0, true, w.now_us + ENGINE_SETTLE_US).act, ACT_WAIT);
    w.run.has_work = false;
    struct engine_seen s[3] = { seen_of(&w, 5, 2, ENGINE_WAITS), seen_of(&w, 4, 1, ENGINE_RUNS),
                                seen_of(&w, 6, 2, ENGINE_RUNS) };
    w.ask.name = s[0].name;
    v = run_judge(&w.run, s, 3, true, w.now_us);
    assert_int_equal(v.act, ACT_KEEP);
    assert_ptr_equal(v.seen, &s[2]);                            /* it may have used the token */
    assert_int_equal(v.ncancel, 2);
    s[2].minutes = 30;
    v = run_judge(&w.run, &s[2], 1, true, w.now_us);
    assert_int_equal(v.act, ACT_END);
    assert_string_equal(v.differs, "time limit");
    assert_int_equal(v.ncancel, 1);
    s[2] = seen_of(&w, 6, 2, ENGINE_WAITS);
    s[2].is_again = true;
    v = run_judge(&w.run, &s[2], 1, false, w.now_us);           /* its token is used */
    assert_string_equal(v.outcome, "REQUEUED");
    assert_int_equal(v.ncancel, 1);
    s[2] = seen_of(&w, 6, 2, ENGINE_LOST);
    v = run_judge(&w.run, &s[2], 1, false, w.now_us);
    assert_string_equal(v.outcome, "LOST");
    w.run.tries = ENGINE_TRIES;
    assert_string_equal(run_judge(&w.run, NULL, 0, true, w.now_us + ENGINE_SETTLE_US).outcome, "ABSENT");
    w.run.tries = 2;
    w.run.is_wanted = false;
    v = run_judge(&w.run, s, 1, true, w.now_us);
    assert_int_equal(v.ncancel, 1);                             /* it waits, and nobody does any more */
    s[0].state = ENGINE_RUNS;
    assert_int_equal(run_judge(&w.run, s, 1, true, w.now_us).ncancel, 0);
}

static void what_was_told_to_go_is_told_once_where_that_is_seen(void **state)
{
    (void)state;
    struct engine_seen s = { .state = ENGINE_LOST };
    assert_true(run_is_stray(&s, true));                        /* nobody removes it but us */
    assert_false(run_is_stray(&s, false));
    s.is_leaving = true;                                        /* its pod stays until its machine is back */
    assert_false(run_is_stray(&s, true));
    s = (struct engine_seen){ .state = ENGINE_RUNS };
    assert_true(run_is_stray(&s, true) && run_is_stray(&s, false));
    s.state = ENGINE_LEAVES;
    assert_true(!run_is_stray(&s, true) && run_is_stray(&s, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_an_engine_does_a_try_begins_once_and_nothing_is_lost), cmocka_unit_test(each_case_by_itself),
        cmocka_unit_test(what_was_told_to_go_is_told_once_where_that_is_seen),
    };
    return cmocka_run_group_tests(tests, arena_up, arena_down);
}
