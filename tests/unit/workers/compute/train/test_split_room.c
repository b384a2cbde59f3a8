/* SPDX-License-Identifier: Apache-2.0 */
/* test_split_room.c - ranks that share layers and have memory of their own, one of them too little to keep all results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "split_kit.h"
#include "workers/compute/train/comm_local.h"

struct part {                           /* a rank with memory of its own */
    const struct train_job *job;
    const struct train_data *data;
    struct comm *comm;
    size_t memory;
    bool recomputes;
    struct train_result r;
    struct err e;
    enum errc rc;
};

static void note_plan(void *ctx, const char *line)
{
    struct part *p = ctx;
    p->recomputes |= strstr(line, "(recomputing)") != NULL;
}

static void *play_part(void *arg)
{
    struct part *p = arg;
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    const struct train_observer o = { .ctx = p, .on_log = note_plan };
    const struct train_task task = { .spec = p->job, .data = p->data, .backend = kit_backend(), .clock = &clock_system,
                                     .dataset_digest = STR("sha256:kit"), .comm = p->comm, .memory_max_bytes = p->memory };
    p->rc = train_run(a, &task, &o, &p->r, &p->e);
    if (p->rc != ERR_OK)
        p->comm->ops->abort(p->comm, &p->e);
    else if (p->comm->rank)
        train_result_release(&p->r);    /* it has no model */
    return NULL;
}

static enum errc play_parts(const struct train_job *s, const struct train_data *d, size_t first, size_t second, struct part p[2])
{
    struct comm_local *l = comm_local_new(2);
    pthread_t t[2];
    for (int r = 0; r < 2; r++) {
        p[r] = (struct part){ .job = s, .data = d, .comm = comm_local_rank(l, r), .memory = r ? second : first };
        assert_int_equal(pthread_create(&t[r], NULL, play_part, &p[r]), 0);
    }
    for (int r = 0; r < 2; r++)
        pthread_join(t[r], NULL);
    comm_local_free(l);
    return p[0].rc == ERR_OK ? p[1].rc : p[0].rc;
}

/* One has no room for all results: both make them again, or the sums of one would meet other sums of the other. */
static void test_all_make_results_again_where_one_must(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    const size_t plenty = (size_t)64 << 20;
    struct train_job s = run_spec();
    struct train_data d = text_of(a, &s);
    struct part whole[2], p[2];
    size_t low = 0, high = plenty;
    (void)st;
    s.tensor_ranks = 2;
    s.max_steps = 3;
    s.batch_size = 16;
    assert_int_equal(play_parts(&s, &d, plenty, plenty, whole), ERR_OK);
    assert_true(!whole[0].recomputes);
    while (high - low > 256) {          /* the least with which nothing is made again */
        const size_t at = low + (high - low) / 2;
        const bool fits = play_parts(&s, &d, at, at, p) == ERR_OK && !p[0].recomputes;
        if (p[0].rc == ERR_OK)
            train_result_release(&p[0].r);
        low = fits ? low : at;
        high = fits ? at : high;
    }
    if (play_parts(&s, &d, plenty, low, p) != ERR_OK)
        fail_msg("%s | %s", p[0].e.msg, p[1].e.msg);
    assert_true(p[0].recomputes);
    assert_int_equal(p[0].r.model.len, whole[0].r.model.len);
    assert_memory_equal(p[0].r.model.ptr, whole[0].r.model.ptr, p[0].r.model.len);
    train_result_release(&p[0].r);
    train_result_release(&whole[0].r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_make_results_again_where_one_must) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
