/* SPDX-License-Identifier: Apache-2.0 */
/* test_net.c - every family in fp64: the gradient of each parameter by central differences, and that evaluation lets dropout
 * rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Random data of the shape, and parameters that no default leaves at zero. */
static void fill(struct net *n)
{
    static double x[NUMBERS], target[NUMBERS];
    static int32_t tokens[NUMBERS], classes[NUMBERS];
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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_mlp), cmocka_unit_test(test_cnn), cmocka_unit_test(test_gpt) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
