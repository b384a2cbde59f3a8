/* SPDX-License-Identifier: Apache-2.0 */
/* test_split.c - layers that ranks share: the gradient of every kind of parameter in fp64 by central differences, the same as
 * on one rank; runs on 1, 2 and 4 ranks that agree within rounding, learn one batch by heart, and go on from checkpoints
 * of their number, and of no other, to the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>

#include "split_kit.h"
#include "store_kit.h"
#include "tests/lib/share.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/comm_local.h"
#include "workers/compute/train/split.h"

static size_t stride;                   /* of the numbers that are tried */
enum { ROWS = 2, CONTEXT = 6, WORDS = 11, RANKS_MAX = 4 };

struct side {                           /* a rank of a check of gradients */
    const struct train_job *job;
    struct comm *comm;
    const char *wrong;
    struct err err;
    double worst, loss;
    double *gradient;                   /* its part */
    size_t numbers;
};

static double loss_of(struct net *n, unsigned phases, struct err *e)
{
    static const struct step_scalars at = { .loss_scale = 1, .grad_scale = 1, .seed = 9, .counter = 4, .is_training = 1 };
    double loss = NAN;
    net_exec(n, ROWS, phases, false, &at);
    return net_loss(n, &loss, e) == ERR_OK ? loss : (double)NAN;
}

/* Each number of the whole model in turn, which some ranks have and others do not: all of them run the same passes. */
static const char *differences(struct side *s, struct net *n, int ranks)
{
    double *p = run_region(n->run, REGION_PARAMS)->ptr, *g = run_region(n->run, REGION_GRADS)->ptr;
    size_t *mine = calloc(n->whole, sizeof *mine);
    for (const struct net_cut *c = n->cuts; c < n->cuts + n->cut_count; c++)        /* 1 + where it lies here; 0: elsewhere */
        for (size_t k = 0; k < c->count * c->run; k++)
            mine[c->whole + (size_t)n->spec.tensor_rank * c->step + k / c->run * c->whole_pitch + k % c->run]
                = 1 + c->here + k / c->run * c->here_pitch + k % c->run;
    s->loss = loss_of(n, PHASE_FORWARD | PHASE_BACKWARD, &s->err);
    s->numbers = n->numbers;
    s->gradient = malloc(n->numbers * sizeof *g);
    memcpy(s->gradient, g, n->numbers * sizeof *g);
    for (size_t i = 0; i < n->whole; i += ranks > 2 ? 3 * stride : stride) {
        double *at = mine[i] ? &p[mine[i] - 1] : NULL, keep = at ? *at : 0, h = 1e-5 * 0.2;
        if (at)
            *at = keep + h;
        double up = loss_of(n, PHASE_FORWARD, &s->err);
        if (at)
            *at = keep - h;
        double down = loss_of(n, PHASE_FORWARD, &s->err), want = (up - down) / (2 * h) / (ROWS * CONTEXT);
        if (!at)
            continue;
        *at = keep;
        double off = fabs(want - s->gradient[mine[i] - 1]) / (fabs(want) + fabs(s->gradient[mine[i] - 1]) + 1e-3);
        s->worst = off > s->worst || isnan(off) ? off : s->worst;
    }
    free(mine);
    return s->worst <= 1e-6 ? NULL : "the gradient is off";
}

static void *play(void *arg)
{
    struct side *s = arg;
    struct backend_ctx *c;
    struct net *n = NULL;
    int32_t tokens[ROWS * CONTEXT], classes[ROWS * CONTEXT];
    int ranks = s->comm->size;
    const struct run_ranks over = { s->comm, split_sum };
    const struct net_spec spec = { .type = ELEM_F64, .job = s->job, .shape = { CONTEXT, WORDS, NET_CLASSES }, .max_rows = ROWS,
                                   .tensor_rank = s->comm->rank, .tensor_ranks = ranks, .over = &over };
    for (size_t i = 0; i < ROWS * CONTEXT; i++) {
        tokens[i] = (int32_t)(philox(7, 1, i).v[0] % WORDS);
        classes[i] = (int32_t)(philox(7, 2, i).v[0] % WORDS);
    }
    if (backend_ref.open(&backend_ref, NULL, &c, &s->err) != ERR_OK || net_new(&backend_ref, c, &spec, &n, &s->err) != ERR_OK) {
        s->wrong = "no net";
        s->comm->ops->abort(s->comm, &s->err);
        return NULL;
    }
    net_init(n, 11);
    double *p = run_region(n->run, REGION_PARAMS)->ptr;
    for (const struct net_cut *k = n->cuts; k < n->cuts + n->cut_count; k++)        /* far from zero and from each other */
        for (size_t i = 0; i < k->count * k->run; i++) {
            size_t whole = k->whole + (size_t)s->comm->rank * k->step + i / k->run * k->whole_pitch + i % k->run;
            const struct net_tensor *t = n->tensors;
            while (whole < t->at || whole >= t->at + t->count)
                t++;
            p[k->here + i / k->run * k->here_pitch + i % k->run]
                += 0.1 * philox_normal(str_hash(str_c(t->name)), 0, whole - t->at);
        }
    net_put(n, tokens, classes, ROWS);
    s->wrong = differences(s, n, ranks);
    if (s->wrong && s->err.code != ERR_OK)
        s->comm->ops->abort(s->comm, &s->err);
    net_free(n);
    backend_ref.close(c);
    return NULL;
}

/* The loss on so many ranks. */
static double check(const struct train_job *job, int ranks)
{
    struct comm_local *l = comm_local_new(ranks);
    struct side s[RANKS_MAX] = { 0 };
    pthread_t t[RANKS_MAX];
    for (int r = 0; r < ranks; r++) {
        s[r].job = job;
        s[r].comm = comm_local_rank(l, r);
        assert_int_equal(pthread_create(&t[r], NULL, play, &s[r]), 0);
    }
    for (int r = 0; r < ranks; r++)
        pthread_join(t[r], NULL);
    for (int r = 0; r < ranks; r++) {
        if (s[r].wrong)
            fail_msg("rank %d of %d: %s by %g (%s)", r, ranks, s[r].wrong, s[r].worst, s[r].err.msg);
        assert_memory_equal(&s[r].loss, &s[0].loss, sizeof(double));        /* the same bits on each */
        free(s[r].gradient);
    }
    print_message("%d ranks: worst %.1e, loss %.12f\n", ranks, s[0].worst, s[0].loss);
    comm_local_free(l);
    return s[0].loss;
}

static void check_all(const struct train_job *job, int most)
{
    double one = check(job, 1);
    for (int ranks = 2; ranks <= most; ranks *= 2)
        assert_true(fabs(check(job, ranks) - one) <= 1e-12 * fabs(one));
}

static void test_gradients(void **st)
{
    struct train_job s = { .family = TRAIN_GPT, .layers = 2, .width = 16, .heads = 4, .context = CONTEXT };
    (void)st;
    stride = 91 / (size_t)share_of("numbers in 91 whose gradient is tried", 1, 13);
    check_all(&s, 4);
    s.rms_norm = s.rotary = s.gated = true;
    s.kv_heads = 2;
    s.dropout = 0.1;                    /* the same numbers left out on every rank, or the losses would differ */
    check_all(&s, 2);
}

/* Runs of the engine. */
static struct train_result run(struct arena *a, struct train_job s, int ranks, const struct ckpt_store *store,
                               const struct train_observer *o)
{
    struct train_data d = text_of(a, &s);
    struct train_result r;
    struct err e = { 0 };
    s.tensor_ranks = ranks;
    s.ranks = 1;
    if (kit_run_in(a, &s, &d, store, store ? 3 : 0, o, &r, &e) != ERR_OK)
        fail_msg("%d ranks: %s (%s)", ranks, e.msg, e.detail);
    return r;
}

/* Biases of keys shift all scores of a query alike, which softmax does not see: their gradient is zero, and what is computed
 * in its place is rounding, which AdamW makes as long a step as any. Their own numbers say nothing. */
static bool is_of_keys(const struct st_tensor *t, size_t at_bytes)
{
    return t->rank == 1 && str_ends(t->name, "attn.c_attn.bias") && at_bytes / (t->size_bytes / 3) == 1;
}

/* The relative distance of the models' numbers; their names and shapes are the same. */
static double distance(const struct train_result *x, const struct train_result *y, bool of_keys)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct st_file f[2];
    struct err e;
    double off = 0, all = 0;
    assert_int_equal(st_parse(a, x->model.ptr, x->model.len, &f[0], &e), ERR_OK);
    assert_int_equal(st_parse(a, y->model.ptr, y->model.len, &f[1], &e), ERR_OK);
    assert_int_equal(f[0].tensor_count, f[1].tensor_count);
    for (size_t i = 0; i < f[0].tensor_count; i++) {
        const struct st_tensor *one = &f[0].tensors[i], *other = st_find(&f[1], one->name);
        assert_true(other && one->size_bytes == other->size_bytes);
        for (size_t k = 0; k < one->size_bytes; k += sizeof(float)) {
            float p, q;
            memcpy(&p, one->data + k, sizeof p);
            memcpy(&q, other->data + k, sizeof q);
            if (is_of_keys(one, k) != of_keys)
                continue;
            off += ((double)p - (double)q) * ((double)p - (double)q);
            all += (double)p * (double)p;
        }
    }
    return all > 0 ? sqrt(off / all) : 0;
}

static void near(const struct train_result *one, const struct train_result *more, const char *what)
{
    double off = distance(one, more, false), loss = fabs(one->holdout_loss - more->holdout_loss) / one->holdout_loss;
    print_message("%s: numbers off by %.1e (biases of keys %.1e), loss by %.1e\n", what, off, distance(one, more, true), loss);
    assert_true(loss <= 1e-6 && off <= 1e-6);
    assert_int_equal(one->steps, more->steps);
    assert_int_equal(one->parameters, more->parameters);
}

static void same_for_any_number(struct arena *a, struct train_job s)
{
    struct train_result one = run(a, s, 1, NULL, NULL), more, again;
    for (int ranks = 2; ranks <= 4; ranks *= 2) {
        more = run(a, s, ranks, NULL, NULL);
        near(&one, &more, ranks == 2 ? "two ranks" : "four ranks");
        again = run(a, s, ranks, NULL, NULL);
        assert_int_equal(again.model.len, more.model.len);      /* so many ranks give the same bytes each time */
        assert_memory_equal(again.model.ptr, more.model.ptr, again.model.len);
        train_result_release(&again);
        train_result_release(&more);
    }
    train_result_release(&one);
}

static void test_any_number_of_ranks_learns_the_same(void **st)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = run_spec();
    (void)st;
    same_for_any_number(a, s);
    s.rms_norm = s.rotary = s.gated = true;
    s.early_stop_patience = 2;
    s.eval_every = 4;
    same_for_any_number(a, s);
}

static double first_loss, last_loss;
static void note_loss(void *ctx, const struct train_step *s)
{
    (void)ctx;
    first_loss = s->step == 1 ? s->loss : first_loss;
    last_loss = s->loss;
}

static void test_one_batch_by_heart(void **st)
{
    static const struct train_observer o = { .on_step = note_loss };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = run_spec();
    (void)st;
    s.batch_size = 256;                 /* all rows: every step has the same batch */
    s.accumulate = 1;
    const int steps = share_of("steps with one batch", 25, 260);
    s.epochs = s.max_steps = steps;
    s.dropout = 0;
    s.clip_norm = 1;
    struct train_result r = run(a, s, 2, NULL, &o);
    print_message("%.3f, after %d steps %.4f\n", first_loss, steps, last_loss);
    assert_true(fabs(first_loss - log(64)) < 0.2 && last_loss < (steps < 260 ? first_loss / 2 : 0.05));
    train_result_release(&r);
}

struct stopper {
    int64_t at, seen;
};
static void on_step(void *ctx, const struct train_step *s) { ((struct stopper *)ctx)->seen = s->step; }
static bool should_stop(void *ctx)
{
    const struct stopper *p = ctx;
    return p->at && p->seen == p->at;
}

/* Two ranks are stopped three times and end with the bytes of two that never were. Their number cuts the sums, so a checkpoint
 * of another number is of another run. */
static void test_a_checkpoint_goes_on_to_the_same_bytes(void **st)
{
    static const int64_t stops[] = { 4, 6, 9, 0 };
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 30);
    struct train_job s = run_spec();
    struct train_result whole = run(a, s, 2, NULL, NULL), r = { 0 };
    struct train_data d = text_of(a, &s);
    struct err e = { 0 };
    struct kit_store kept;
    const struct ckpt_store *store = kit_store_init(&kept);
    int64_t before = -1;
    (void)st;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct stopper p = { .at = stops[i] };
        const struct train_observer o = { .ctx = &p, .on_step = on_step, .should_stop = should_stop };
        for (s.tensor_ranks = 1; before >= 0 && s.tensor_ranks <= 4; s.tensor_ranks += 3) {
            assert_int_equal(kit_run_in(a, &s, &d, store, 3, NULL, &r, &e), ERR_CONFLICT);
            assert_non_null(strstr(e.msg, "belongs to another specification"));
        }
        r = run(a, s, 2, store, &o);
        assert_int_equal(r.resumed_at_step, before);
        before = stops[i];
        if (stops[i])
            train_result_release(&r);
    }
    assert_int_equal(whole.model.len, r.model.len);
    assert_memory_equal(whole.model.ptr, r.model.ptr, r.model.len);
    train_result_release(&r);
    train_result_release(&whole);
    kit_store_release(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_any_number_of_ranks_learns_the_same),
        cmocka_unit_test(test_one_batch_by_heart),
        cmocka_unit_test(test_a_checkpoint_goes_on_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
