/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm_tcp.c - ranks in two and four processes: every exchange, a whole training with the bytes of one process, and the end
 * of all when one is killed, holds still, fails or differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../compute/train/comm_kit.h"
#include "../compute/train/run_kit.h"
#include "../compute/train/store_kit.h"
#include "gang_kit.h"

static void exchange(struct kit_gang *g, int rank, struct kit_said *said)
{
    struct err e = { 0 };
    struct comm *c = NULL;
    enum errc rc = kit_join(g, rank, "one", &c, &e);
    const char *wrong = rc == ERR_OK ? kit_script(c, &e) : "";
    kit_say(said, wrong ? ERR_INTERNAL : ERR_OK, &e);
    if (wrong && *wrong && !e.msg[0])
        snprintf(said->msg, sizeof said->msg, "%s", wrong);
    comm_tcp_free(c);
}

static void test_every_exchange(void **st)
{
    (void)st;
    for (int size = 2; size <= COMM_RANKS_MAX; size *= 2) {
        struct kit_gang g;
        struct kit_said said;
        kit_gang_init(&g, size);
        for (int r = 0; r < size; r++)
            kit_start(&g, r, exchange);
        for (int r = 0; r < size; r++)
            if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
                fail_msg("rank %d of %d: %s", r, size, said.msg);
        kit_gang_release(&g);
    }
}

static struct train_job gang_spec(void)
{
    struct train_job s = kit_spec();
    s.epochs = 2;
    s.batch_size = 16;
    s.accumulate = 4;
    s.clip_norm = 1;
    s.early_stop_patience = 5;
    return s;
}

static struct {
    int64_t epochs, kills_at, stops_at;         /* of the last rank: signals itself behind that step */
} plan;

struct seen {
    struct kit_gang *gang;
    int rank;
};

static void on_step(void *ctx, const struct train_step *s)
{
    const struct seen *p = ctx;
    if (p->rank != p->gang->size - 1)
        return;
    if (plan.kills_at && s->step == plan.kills_at)
        (void)kill(getpid(), SIGKILL);
    if (plan.stops_at && s->step == plan.stops_at)
        (void)kill(getpid(), SIGSTOP);
}

/* A rank's whole run, as a process would: own data, own backend, one thread. */
static void train(struct kit_gang *g, int rank, struct kit_said *said)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = gang_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r = { 0 };
    struct err e = { 0 };
    struct comm *c = NULL;
    struct kit_store kept;
    struct seen seen = { g, rank };
    const struct train_observer o = { .ctx = &seen, .on_step = on_step };
    s.epochs = plan.epochs;
    s.ranks = g->size;
    enum errc rc = kit_join(g, rank, "one", &c, &e);
    const struct train_task job = { .spec = &s, .data = &d, .backend = kit_backend(), .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit"), .comm = c,
                                    .store = rank ? NULL : kit_store_init(&kept), .checkpoint_every_steps = 7 };
    if (rc == ERR_OK && (rc = train_run(a, &job, &o, &r, &e)) != ERR_OK)
        c->ops->abort(c, &e);
    if (rc == ERR_OK && r.model.len)
        said->digest = str_hash(buf_str(&r.model));
    kit_say(said, rc, &e);
    if (!rank)
        kit_store_release(&kept);
    if (rc == ERR_OK)
        train_result_release(&r);
    comm_tcp_free(c);
}

static void test_processes_make_the_bytes_of_one(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = gang_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result one;
    (void)st;
    kit_train(a, &s, &d, &one);
    uint64_t want = str_hash(buf_str(&one.model));
    train_result_release(&one);
    plan.epochs = s.epochs;
    for (int size = 2; size <= 4; size *= 2) {
        struct kit_gang g;
        struct kit_said said;
        kit_gang_init(&g, size);
        for (int r = 0; r < size; r++)
            kit_start(&g, r, train);
        for (int r = 0; r < size; r++) {
            if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
                fail_msg("rank %d of %d: %s", r, size, said.msg);
            assert_true(said.digest == (r ? 0 : want));         /* rank 0 makes the model */
        }
        kit_gang_release(&g);
    }
}

/* All others of the gang end with an error of their own; at least one names the rank that is gone. */
static void others_end(struct kit_gang *g, int gone, const char *why)
{
    struct kit_said said;
    int named = 0;
    char name[32];
    snprintf(name, sizeof name, "rank %d was lost", gone);
    for (int r = 0; r < g->size; r++) {
        if (r == gone)
            continue;
        if (!kit_end(g, r, &said) || said.rc == ERR_OK)
            fail_msg("rank %d went on", r);
        print_message("rank %d: %s\n", r, said.msg);
        named += strstr(said.msg, name) && strstr(said.msg, why);
    }
    assert_true(named >= 1);
}

static void test_a_killed_rank_ends_all(void **st)
{
    struct kit_gang g;
    struct kit_said said;
    (void)st;
    plan.epochs = 100000;                       /* without the kill nobody would ever end */
    plan.kills_at = 5;
    kit_gang_init(&g, 4);
    for (int r = 0; r < 4; r++)
        kit_start(&g, r, train);
    others_end(&g, 3, "connection");
    assert_false(kit_end(&g, 3, &said));
    kit_gang_release(&g);
    plan.kills_at = 0;
}

static void test_a_rank_that_holds_still_ends_all(void **st)
{
    struct kit_gang g;
    struct kit_said said;
    (void)st;
    plan.epochs = 100000;
    plan.stops_at = 5;
    kit_gang_init(&g, 4);
    g.silence_ms = 6000;
    for (int r = 0; r < 4; r++)
        kit_start(&g, r, train);
    others_end(&g, 3, "silent for 6000 ms");
    assert_int_equal(kill(g.pid[3], SIGKILL), 0);
    assert_false(kit_end(&g, 3, &said));
    kit_gang_release(&g);
    plan.stops_at = 0;
}

static void fail_or_wait(struct kit_gang *g, int rank, struct kit_said *said)
{
    struct err e = { 0 };
    struct comm *c = NULL;
    float x[8] = { 0 };
    enum errc rc = kit_join(g, rank, "one", &c, &e);
    if (rc == ERR_OK && rank == 1) {
        rc = FAIL(&e, LIMIT, "no memory for batch 7");
        c->ops->abort(c, &e);
    } else if (rc == ERR_OK) {
        rc = c->ops->all_gather(c, "one thing", x, sizeof x, sizeof x / 2, &e);
    }
    kit_say(said, rc, &e);
    comm_tcp_free(c);
}

static void test_last_words_reach_the_others(void **st)
{
    struct kit_gang g;
    struct kit_said said;
    (void)st;
    kit_gang_init(&g, 2);
    kit_start(&g, 0, fail_or_wait);
    kit_start(&g, 1, fail_or_wait);
    assert_true(kit_end(&g, 0, &said));
    assert_string_equal(said.msg, "rank 1 ended: no memory for batch 7");
    assert_int_equal(said.rc, ERR_UPSTREAM);
    assert_true(kit_end(&g, 1, &said));
    assert_int_equal(said.rc, ERR_LIMIT);
    kit_gang_release(&g);
}

static void differ(struct kit_gang *g, int rank, struct kit_said *said)
{
    struct err e = { 0 };
    struct comm *c = NULL;
    float x[8] = { 0 };
    enum errc rc = kit_join(g, rank, "one", &c, &e);
    if (rc == ERR_OK)
        rc = c->ops->all_gather(c, rank ? "one thing" : "another", x, sizeof x, sizeof x / 2, &e);
    kit_say(said, rc, &e);
    if (rc != ERR_OK && c) {                    /* what failed once is not begun again */
        struct err again;
        if (c->ops->barrier(c, "go on", &again) == ERR_OK || strcmp(again.msg, e.msg) != 0)
            said->rc = ERR_OK;
    }
    comm_tcp_free(c);
}

static void test_ranks_that_differ_are_told(void **st)
{
    struct kit_gang g;
    struct kit_said said[2];
    (void)st;
    kit_gang_init(&g, 2);
    for (int r = 0; r < 2; r++)
        kit_start(&g, r, differ);
    for (int r = 0; r < 2; r++)
        assert_true(kit_end(&g, r, &said[r]));
    assert_true(said[0].rc != ERR_OK && said[1].rc != ERR_OK);
    assert_non_null(strstr(said[1].msg, "sent part 1, 'another', 16 bytes; expected of rank 0 of 2: part 1, 'one thing'"));
    kit_gang_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_exchange),
        cmocka_unit_test(test_processes_make_the_bytes_of_one),
        cmocka_unit_test(test_a_killed_rank_ends_all),
        cmocka_unit_test(test_a_rank_that_holds_still_ends_all),
        cmocka_unit_test(test_last_words_reach_the_others),
        cmocka_unit_test(test_ranks_that_differ_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
