/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm_nccl.c - ranks with a card each, on the driver's test form: pieces that go from card to card are the tree's sums, a
 * training on two and four cards has the bytes of one, without a library they go through the process's memory, and a rank that
 * ends frees the others. */
#include "../kernels/cuda/emu_kit.h"

#include <pthread.h>

#include "comm_kit.h"
#include "run_kit.h"
#include "workers/compute/train/comm_nccl.h"

struct part {
    struct comm *comm;
    bool ends;                          /* in place of its second exchange */
    const char *wrong;
    struct err err;
};

static float *numbers_of(struct backend_ctx *ctx, struct buffer *b)
{
    float *x = malloc(b->size_bytes);
    struct err e;
    backend_cuda_emu.get(ctx, QUEUE_COMPUTE, b, 0, x, b->size_bytes);
    if (backend_cuda_emu.sync(ctx, &e) != ERR_OK) {
        free(x);
        return NULL;
    }
    return x;
}

/* Sums over 1 … size ranks, each rank's own piece, then all of them. */
static const char *sums(struct comm *c, struct backend_ctx *ctx, struct err *e)
{
    const struct comm_cards *k = c->ops->cards;
    size_t n = KIT_NUMBERS, piece = comm_piece(n, c->size), from = piece * (size_t)c->rank, end = from + piece;
    struct buffer *b = backend_cuda_emu.alloc(ctx, n * sizeof(float));
    float *x = malloc(n * sizeof *x);
    const char *wrong = NULL;
    from = from < n ? from : n;
    end = end < n ? end : n;
    for (int present = 1; present <= c->size && !wrong; present++) {
        for (size_t i = 0; i < n; i++)
            x[i] = kit_number(c->rank, i);
        backend_cuda_emu.put(ctx, QUEUE_COMPUTE, b, 0, x, n * sizeof *x);
        if (k->reduce_scatter(c, "sums", b, n, piece, present, e) != ERR_OK)
            wrong = "sums failed";
        float *own = numbers_of(ctx, b);
        if (!wrong && (!own || !kit_is_sum(own, from, end, c->size, present)))
            wrong = "a piece is not the sum";
        free(own);
        if (!wrong && k->all_gather(c, "sums", b, n, piece, e) != ERR_OK)
            wrong = "pieces failed";
        own = numbers_of(ctx, b);
        if (!wrong && (!own || !kit_is_sum(own, 0, n, c->size, present)))
            wrong = "all pieces are not the sum";
        free(own);
    }
    free(x);
    backend_cuda_emu.free(ctx, b);
    return wrong;
}

static const char *exchange(struct part *p, struct backend_ctx *ctx)
{
    const struct comm_cards *k = p->comm->ops->cards;
    const char *wrong = NULL;
    if (k->join(p->comm, &backend_cuda_emu, ctx, &p->err) != ERR_OK || !k->is_joined(p->comm))
        return "not joined";
    if (p->ends) {
        (void)err_set(&p->err, ERR_LIMIT, __FILE__, __LINE__, "no memory here");
        p->comm->ops->abort(p->comm, &p->err);
    } else {
        wrong = kit_script(p->comm, &p->err);
        wrong = wrong ? wrong : sums(p->comm, ctx, &p->err);
    }
    k->leave(p->comm);
    return wrong;
}

static void *play(void *arg)
{
    struct part *p = arg;
    struct backend_ctx *ctx;
    cuda_card_use(p->comm->rank);
    if (backend_cuda_emu.open(&backend_cuda_emu, NULL, &ctx, &p->err) != ERR_OK) {
        p->wrong = "no context";
        return NULL;
    }
    p->wrong = exchange(p, ctx);
    backend_cuda_emu.close(ctx);
    return NULL;
}

static void play_all(struct comm_local *l, struct part *p, int n)
{
    pthread_t t[EMU_CARDS];
    emu_set_cards(n);
    for (int r = 0; r < n; r++) {
        p[r].comm = comm_nccl_new(l, r);
        assert_int_equal(pthread_create(&t[r], NULL, play, &p[r]), 0);
    }
    for (int r = 0; r < n; r++)
        pthread_join(t[r], NULL);
    for (int r = 0; r < n; r++)
        comm_nccl_free(p[r].comm);
    emu_set_cards(1);
    kit_quiet();
    assert_int_equal(emu_nccl_links(), 0);
    assert_int_equal(emu_memory_used(), 0);
}

static void test_every_exchange(void **st)
{
    (void)st;
    for (int n = 1; n <= EMU_CARDS; n *= 2) {
        struct comm_local *l = comm_local_new(n);
        struct part p[EMU_CARDS] = { 0 };
        play_all(l, p, n);
        for (int r = 0; r < n; r++)
            if (p[r].wrong)
                fail_msg("rank %d of %d: %s (%s)", r, n, p[r].wrong, p[r].err.msg);
        comm_local_free(l);
    }
}

static void test_a_rank_that_ends_frees_the_others(void **st)
{
    struct comm_local *l = comm_local_new(2);
    struct part p[EMU_CARDS] = { { .ends = false }, { .ends = true } };
    struct err why;
    (void)st;
    play_all(l, p, 2);
    assert_non_null(p[0].wrong);
    assert_int_equal(comm_local_failed(l, &why), 1);
    assert_string_equal(why.msg, "no memory here");
    comm_local_free(l);
}

static char said[256];
static void on_log(void *ctx, const char *line)
{
    (void)ctx;
    if (strstr(line, "cards"))
        snprintf(said, sizeof said, "%s", line);
}

static struct train_job small_spec(void)
{
    static int64_t width = 12;
    struct train_job s = kit_spec();
    s.hidden = (struct slice){ &width, 1 };
    s.epochs = 1;
    s.max_steps = 4;
    s.batch_size = 6;
    s.accumulate = 4;
    s.clip_norm = 1;
    return s;
}

static struct train_result trained(struct arena *a, struct train_job s, int ranks)
{
    static const struct train_observer o = { .on_log = on_log };
    struct train_result r;
    struct err e = { 0 };
    struct train_data d = kit_digits(a, &s);
    s.ranks = ranks;
    d.holdout_count = 40;               /* few: the processor runs each thread of a card */
    const struct train_task job = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit") };
    said[0] = 0;
    if (train_run(a, &job, &o, &r, &e) != ERR_OK)
        fail_msg("%d ranks: %s (%s)", ranks, e.msg, e.detail);
    kit_quiet();
    assert_int_equal(emu_memory_used(), 0);
    return r;
}

static void same_bytes(const struct train_result *one, struct train_result *more)
{
    assert_int_equal(one->model.len, more->model.len);
    assert_memory_equal(one->model.ptr, more->model.ptr, one->model.len);
    assert_memory_equal(&one->holdout_loss, &more->holdout_loss, sizeof(double));
    train_result_release(more);
}

static void test_a_training_has_the_bytes_of_one_card(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    (void)st;
    struct train_result one = trained(a, small_spec(), 1), more;
    assert_string_equal(said, "");
    for (int n = 2; n <= EMU_CARDS; n *= 2) {
        emu_set_cards(n);
        more = trained(a, small_spec(), n);
        assert_non_null(strstr(said, "cards exchange by NCCL 2.28.9"));
        same_bytes(&one, &more);
    }
    emu_set_nccl(false);
    more = trained(a, small_spec(), 2);
    emu_set_nccl(true);
    assert_non_null(strstr(said, "the cards exchange through the processor's memory: NCCL: no meeting place"));
    same_bytes(&one, &more);
    emu_nccl_refuses(true);
    more = trained(a, small_spec(), 2);
    emu_nccl_refuses(false);
    emu_set_cards(1);
    assert_non_null(strstr(said, "the cards exchange through the processor's memory: NCCL: ranks do not meet"));
    same_bytes(&one, &more);
    train_result_release(&one);
}

static void test_more_ranks_than_cards_are_refused(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = small_spec();
    struct train_data d = kit_digits(a, &s);
    struct train_result r;
    struct err e = { 0 };
    (void)st;
    s.ranks = 4;
    const struct train_task job = { .spec = &s, .data = &d, .backend = &backend_cuda_emu, .clock = &clock_system,
                                    .dataset_digest = STR("sha256:kit") };
    emu_set_cards(2);
    assert_int_equal(train_run(a, &job, NULL, &r, &e), ERR_UNPROCESSABLE);
    emu_set_cards(1);
    assert_non_null(strstr(e.msg, "4 ranks, and this lease has 2 card(s)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_exchange),
        cmocka_unit_test(test_a_rank_that_ends_frees_the_others),
        cmocka_unit_test(test_a_training_has_the_bytes_of_one_card),
        cmocka_unit_test(test_more_ranks_than_cards_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
