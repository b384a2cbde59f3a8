/* SPDX-License-Identifier: Apache-2.0 */
/* test_net.c - every family in fp64: the gradient of each parameter by central differences, and that evaluation lets dropout
 * rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workers/compute/rng.h"
#include "workers/compute/train/family.h"

static const struct step_scalars at = { .loss_scale = 1, .grad_scale = 1, .seed = 9, .counter = 4, .is_training = 1 };
enum { ROWS = 3, NUMBERS = 4096 };

static double loss_of(struct net *n, unsigned phases, const struct step_scalars *s)
{
    struct err e;
    double loss;
    net_exec(n, ROWS, phases, false, s);
    assert_int_equal(net_loss(n, &loss, &e), ERR_OK);
    return loss;
}

static double x[NUMBERS], target[NUMBERS], soft[NUMBERS];
static int32_t tokens[NUMBERS], classes[NUMBERS];

/* Random data of the shape, and parameters that no default leaves at zero. */
static void fill(struct net *n)
{
    const struct net_shape *s = &n->spec.shape;
    bool is_gpt = n->spec.job->family == TRAIN_GPT, has_classes = s->goal == NET_CLASSES;
    double *p = run_region(n->run, REGION_PARAMS)->ptr;
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = philox_normal(5, 0, i);
        target[i] = i % 3 ? 0 : 1;
        tokens[i] = (int32_t)(philox(7, 1, i).v[0] % s->outputs);
        classes[i] = (int32_t)(philox(7, 2, i).v[0] % s->outputs);
    }
    net_init(n, 11);
    for (size_t i = 0; i < n->numbers; i++)
        p[i] += 0.1 * philox_normal(6, 0, i);
    net_put(n, is_gpt ? (const void *)tokens : x, has_classes ? (const void *)classes : target, ROWS);
    for (size_t i = 0; n->soft != VALUE_NONE && i < ROWS; i++)
        for (size_t j = 0; j < s->outputs; j++)         /* sums to 1 */
            soft[i * s->outputs + j] = 2.0 * (double)((i + j) % s->outputs + 1) / (double)(s->outputs * (s->outputs + 1));
    if (n->soft != VALUE_NONE)
        run_put(n->run, n->soft, 0, ROWS, soft);
}

/* Every k-th parameter, so that no family takes longer than a second. */
static void check(const char *name, const struct train_job *job, struct net_shape shape, size_t every)
{
    struct err e = { 0 };
    struct backend_ctx *c;
    struct net *n = NULL;
    const struct net_spec spec = { .type = ELEM_F64, .job = job, .shape = shape, .max_rows = ROWS };
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
    if (net_new(&backend_ref, c, &spec, &n, &e) != ERR_OK)
        fail_msg("%s: %s", name, e.msg);
    fill(n);
    double *p = run_region(n->run, REGION_PARAMS)->ptr, *g = run_region(n->run, REGION_GRADS)->ptr, worst = 0;
    double items = (double)(ROWS * n->items);
    size_t checked = 0, named = 0;
    loss_of(n, PHASE_FORWARD | PHASE_BACKWARD, &at);
    for (size_t i = 0; i < n->numbers; i += every, checked++) {
        double keep = p[i], h = 1e-5 * (fabs(keep) + 0.1);
        p[i] = keep + h;
        double up = loss_of(n, PHASE_FORWARD, &at);
        p[i] = keep - h;
        double down = loss_of(n, PHASE_FORWARD, &at), want = (up - down) / (2 * h) / items;
        p[i] = keep;
        double off = fabs(want - g[i]) / (fabs(want) + fabs(g[i]) + 1e-3);
        worst = off > worst || isnan(off) ? off : worst;
    }
    if (!(worst <= 1e-6))
        fail_msg("%s: the gradient is off by %g", name, worst);
    for (size_t i = 0; i < n->tensor_count; i++)
        named += n->tensors[i].count;
    assert_int_equal(named, n->numbers);        /* all that is learnt is in the file, once */
    assert_true(n->decayed > 0 && n->decayed < n->numbers);
    struct step_scalars rest = at;
    rest.is_training = 0;
    bool is_same = loss_of(n, PHASE_FORWARD, &at) == loss_of(n, PHASE_FORWARD, &rest);
    assert_true(is_same == (job->dropout == 0));
    print_message("%-10s %zu of %zu parameters, worst %.1e, %.0f flops per row\n", name, checked, n->numbers, worst,
                  net_flops(n));
    net_free(n);
    backend_ref.close(c);
}

#define LIST(...) { (int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t) }

static void test_mlp(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_MLP, .hidden = LIST(7, 4) };
    check("mlp", &s, (struct net_shape){ 5, 3, NET_CLASSES }, 1);
    check("regression", &s, (struct net_shape){ 5, 2, NET_REGRESSION }, 1);
    struct train_job taught = s;
    taught.teacher.b[0] = 1;
    taught.teacher_share = 0.7;
    taught.temperature = 3;
    check("taught", &taught, (struct net_shape){ 5, 3, NET_CLASSES }, 1);
    s.dropout = 0.3;
    check("labels", &s, (struct net_shape){ 5, 3, NET_LABELS }, 1);
}

static void test_cnn(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_CNN, .image = LIST(8, 9, 2), .channels = LIST(4, 6), .blocks = LIST(1, 2) };
    check("plain", &s, (struct net_shape){ 144, 3, NET_CLASSES }, 3);
    s.residual = true;
    s.dropout = 0.2;
    check("residual", &s, (struct net_shape){ 144, 3, NET_CLASSES }, 5);
}

static void test_gpt(void **st)
{
    (void)st;
    struct train_job s = { .family = TRAIN_GPT, .layers = 2, .width = 8, .heads = 2, .context = 6 };
    const struct net_shape shape = { 6, 11, NET_CLASSES };
    check("gpt-2", &s, shape, 4);
    s.rms_norm = s.rotary = s.gated = true;
    s.kv_heads = 1;
    s.dropout = 0.1;
    check("llama", &s, shape, 5);
    s.rotary = s.gated = false;
    check("rms", &s, shape, 7);
}

/* The gradient with products in bf16 on every backend of this machine, against fp64: it is off by what rounding the factors to
 * eight bits does, and points the same way. Rounded, not exact: in fp32 the same is a hundred times nearer. */
static void near_fp64(const char *name, const struct train_job *job, struct net_shape shape, const struct backend *be,
                      bool is_bf16)
{
    struct err e = { 0 };
    struct backend_ctx *rc, *c;
    struct net *ref, *n;
    const struct net_spec wide = { .type = ELEM_F64, .job = job, .shape = shape, .max_rows = ROWS };
    const struct net_spec spec = { .type = ELEM_F32, .job = job, .shape = shape, .max_rows = ROWS, .is_bf16 = is_bf16 };
    assert_int_equal(backend_ref.open(&backend_ref, NULL, &rc, &e), ERR_OK);
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    assert_int_equal(net_new(&backend_ref, rc, &wide, &ref, &e), ERR_OK);
    assert_int_equal(net_new(be, c, &spec, &n, &e), ERR_OK);
    fill(ref);
    const double *p64 = run_region(ref->run, REGION_PARAMS)->ptr, *g64 = run_region(ref->run, REGION_GRADS)->ptr;
    float *p = run_region(n->run, REGION_PARAMS)->ptr, narrow[NUMBERS];
    const float *g = run_region(n->run, REGION_GRADS)->ptr;
    for (size_t i = 0; i < n->numbers; i++)
        p[i] = (float)p64[i];
    for (size_t i = 0; i < NUMBERS; i++)
        narrow[i] = (float)x[i];
    bool is_gpt = job->family == TRAIN_GPT;
    net_put(n, is_gpt ? (const void *)tokens : narrow, classes, ROWS);
    for (size_t i = 0; i < NUMBERS; i++)
        narrow[i] = (float)soft[i];
    if (n->soft != VALUE_NONE)
        net_put_soft(n, narrow, ROWS);
    double want = loss_of(ref, PHASE_FORWARD | PHASE_BACKWARD, &at), got = loss_of(n, PHASE_FORWARD | PHASE_BACKWARD, &at);
    double off = 0, norm = 0, own = 0, both = 0;
    for (size_t i = 0; i < n->numbers; i++) {
        double a = (double)g[i], b = g64[i];
        off += (a - b) * (a - b), norm += b * b, own += a * a, both += a * b;
    }
    double distance = sqrt(off / norm), cosine = both / sqrt(norm * own);
    print_message("%-8s %-10s %s: gradient off by %.1e, cosine 1 - %.1e, loss %.5f of %.5f\n", name, be->name,
                  is_bf16 ? "bf16" : "fp32", distance, 1 - cosine, got, want);
    if (is_bf16)
        assert_true(distance < 3e-2 && distance > 1e-4 && cosine > 0.9995 && fabs(got - want) < 1e-2 * want);
    else
        assert_true(distance < 1e-5);
    net_free(n);
    net_free(ref);
    be->close(c);
    backend_ref.close(rc);
}

static void test_bf16(void **st)
{
    (void)st;
    const struct train_job mlp = { .family = TRAIN_MLP, .hidden = LIST(16, 12) };
    const struct train_job cnn = { .family = TRAIN_CNN, .image = LIST(8, 9, 2), .channels = LIST(4, 6), .blocks = LIST(1, 2),
                                   .residual = true };
    const struct train_job gpt = { .family = TRAIN_GPT, .layers = 2, .width = 8, .heads = 2, .context = 6 };
    struct train_job taught = mlp;
    struct hw hw;
    hw_read(&hw);
    taught.teacher.b[0] = 1;
    taught.teacher_share = 0.7;
    taught.temperature = 3;
    for (const struct backend *const *be = backend_list(); *be; be++)
        for (int is_bf16 = 0; is_bf16 < 2 && (*be)->probe(&hw); is_bf16++) {
            near_fp64("mlp", &mlp, (struct net_shape){ 20, 3, NET_CLASSES }, *be, is_bf16);
            near_fp64("taught", &taught, (struct net_shape){ 20, 3, NET_CLASSES }, *be, is_bf16);
            near_fp64("cnn", &cnn, (struct net_shape){ 144, 3, NET_CLASSES }, *be, is_bf16);
            near_fp64("gpt", &gpt, (struct net_shape){ 6, 11, NET_CLASSES }, *be, is_bf16);
        }
}

/* Loss and gradient of one batch, with dropout; *ret_bytes: of the arena. From the heap. */
static float *gradient(const struct net_spec *spec, const struct backend *be, double *loss, size_t *ret_bytes, size_t *ret_count)
{
    struct err e = { 0 };
    struct backend_ctx *c;
    struct net *n = NULL;
    float narrow[NUMBERS];
    assert_int_equal(be->open(be, NULL, &c, &e), ERR_OK);
    if (net_new(be, c, spec, &n, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    net_init(n, 11);
    for (size_t i = 0; i < NUMBERS; i++) {
        narrow[i] = (float)philox_normal(5, 0, i);
        tokens[i] = (int32_t)(philox(7, 1, i).v[0] % spec->shape.outputs);
        classes[i] = (int32_t)(philox(7, 2, i).v[0] % spec->shape.outputs);
    }
    net_put(n, spec->job->family == TRAIN_GPT ? (const void *)tokens : narrow, classes, ROWS);
    *loss = loss_of(n, PHASE_FORWARD | PHASE_BACKWARD, &at);
    *ret_bytes = n->plan->region_bytes[REGION_ARENA];
    float *grads = malloc(n->numbers * sizeof *grads);
    memcpy(grads, run_region(n->run, REGION_GRADS)->ptr, n->numbers * sizeof *grads);
    *loss += net_flops(n);                      /* what is made again is not counted */
    *ret_count = n->numbers;
    net_free(n);
    be->close(c);
    return grads;
}

static void kept_and_made_again(const char *name, const struct train_job *job, struct net_shape shape, double share)
{
    struct hw hw;
    hw_read(&hw);
    for (const struct backend *const *be = backend_list(); *be; be++)
        for (int is_bf16 = 0; is_bf16 < 2 && (*be)->probe(&hw); is_bf16++) {
            struct net_spec spec = { .type = ELEM_F32, .job = job, .shape = shape, .max_rows = ROWS, .is_bf16 = is_bf16 };
            double loss[2];
            size_t bytes[2], n;
            float *kept = gradient(&spec, *be, &loss[0], &bytes[0], &n);
            spec.recomputes = true;
            float *again = gradient(&spec, *be, &loss[1], &bytes[1], &n);
            print_message("%-8s %-10s %s: %zu bytes of arena kept, %zu made again\n", name, (*be)->name,
                          is_bf16 ? "bf16" : "fp32", bytes[0], bytes[1]);
            assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
            assert_memory_equal(kept, again, n * sizeof *kept);
            assert_true((double)bytes[1] < share * (double)bytes[0]);
            free(kept);
            free(again);
        }
}

/* Results of blocks that are dropped and made again leave no trace but the memory. */
static void test_recompute(void **st)
{
    (void)st;
    struct train_job cnn = { .family = TRAIN_CNN, .image = LIST(8, 9, 2), .channels = LIST(8, 8), .blocks = LIST(3, 2),
                             .residual = true, .dropout = 0.2 };
    struct train_job gpt = { .family = TRAIN_GPT, .layers = 5, .width = 16, .heads = 2, .context = 12, .dropout = 0.1 };
    kept_and_made_again("residual", &cnn, (struct net_shape){ 144, 3, NET_CLASSES }, 0.7);
    cnn.residual = false;
    kept_and_made_again("plain", &cnn, (struct net_shape){ 144, 3, NET_CLASSES }, 0.8);
    kept_and_made_again("gpt", &gpt, (struct net_shape){ 12, 11, NET_CLASSES }, 0.5);
    gpt.rms_norm = gpt.rotary = gpt.gated = true;
    kept_and_made_again("llama", &gpt, (struct net_shape){ 12, 11, NET_CLASSES }, 0.5);
}

/* A backend whose products know no bf16 is refused by name before anything runs. */
static void test_bf16_is_refused_by_name(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct backend_ctx *c;
    struct net *n;
    struct backend poor = backend_ref;
    const struct train_job job = { .family = TRAIN_MLP, .hidden = LIST(4) };
    const struct net_spec spec = { .type = ELEM_F32, .job = &job, .shape = { 5, 3, NET_CLASSES }, .max_rows = ROWS,
                                   .is_bf16 = true };
    poor.name = "poor";
    poor.properties &= ~(unsigned)BE_BF16;
    assert_int_equal(poor.open(&poor, NULL, &c, &e), ERR_OK);
    assert_int_equal(net_new(&poor, c, &spec, &n, &e), ERR_UNPROCESSABLE);
    assert_string_equal(e.msg, "backend poor has no matmul in bf16");
    poor.close(c);
    struct backend quick = backend_ref;
    quick.properties |= BE_FAST_BF16;
    struct train_job any = job;
    for (int p = 0; p < 3; p++) {
        any.precision = p;
        assert_int_equal(net_is_bf16(&any, &backend_ref), p == TRAIN_BF16);
        assert_int_equal(net_is_bf16(&any, &quick), p != TRAIN_FP32);
    }
}

/* Whether the mapping around p is marked for large pages ("hg"), as the kernel tells. */
static bool is_marked(const void *p)
{
    char line[512];
    bool is_here = false, found = false;
    size_t from, end;
    FILE *f = fopen("/proc/self/smaps", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%zx-%zx ", &from, &end) == 2)
            is_here = (size_t)(uintptr_t)p >= from && (size_t)(uintptr_t)p < end;
        else if (is_here && !strncmp(line, "VmFlags:", 8))
            found = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return found;
}

/* A training asks for large pages where the kernel has them; a served model does not. */
static void test_large_pages(void **st)
{
    (void)st;
    const struct train_job job = { .family = TRAIN_MLP, .hidden = { (int64_t[]){ 1024 }, 1 } };
    for (int serves = 0; serves < 2; serves++) {
        struct net_spec spec = { .type = ELEM_F32, .job = &job, .shape = { 512, 3, NET_CLASSES }, .max_rows = ROWS,
                                 .has_update = !serves, .is_serving = serves };
        struct err e = { 0 };
        struct backend_ctx *c;
        struct net *n;
        assert_int_equal(backend_ref.open(&backend_ref, NULL, &c, &e), ERR_OK);
        assert_int_equal(net_new(&backend_ref, c, &spec, &n, &e), ERR_OK);
        bool has_large = !access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK);
        assert_int_equal(is_marked((char *)run_region(n->run, REGION_PARAMS)->ptr + (1 << 20)), has_large && !serves);
        net_free(n);
        backend_ref.close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_large_pages), cmocka_unit_test(test_mlp),
                                        cmocka_unit_test(test_cnn), cmocka_unit_test(test_gpt), cmocka_unit_test(test_recompute),
                                        cmocka_unit_test(test_bf16), cmocka_unit_test(test_bf16_is_refused_by_name) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
