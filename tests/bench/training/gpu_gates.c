/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_gates.c - is it right, on the card: every operation against the fp64 reference, outputs poisoned, each difference told. */
#include "tests/bench/training/gpu_kit.h"
#include "workers/compute/kernels/selftest_faults.h"

static size_t differences;
static struct backend told;             /* the backend, whose errors of the device are kept */
static char device_said[sizeof failure.msg];

/* The same with products by the library. */
static enum errc open_with_library(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e)
{
    enum errc rc = gpu.open(be, pool, ret, e);
    has_library = rc == ERR_OK && use_library(*ret);
    return rc;
}

static enum errc sync_told(struct backend_ctx *c, struct err *e)
{
    enum errc rc = gpu.sync(c, e);
    if (rc != ERR_OK)
        memcpy(device_said, e->msg, sizeof device_said);
    return rc;
}

static bool is_dead(void)
{
    struct err e;
    struct buffer *b = gpu.alloc(ctx, 64);
    bool ok = b && gpu.sync(ctx, &e) == ERR_OK;
    gpu.free(ctx, b);
    return !ok;
}

static void on_fault(struct selftest_faults *f, const char *why)
{
    differences++;
    snprintf(failure.msg, sizeof failure.msg, "%.150s %.100s", *device_said ? device_said : "", why);
    for (char *s = failure.msg; *s; s++)
        *s = *s == '"' || *s == '\\' ? ' ' : *s;
    printf("{\"stage\": \"check\", \"case\": %zu, \"failed\": \"%s\"}\n", f->cases - 1, failure.msg);
    *device_said = 0;
    if (!is_dead())
        return;
    printf("{\"stage\": \"check\", \"failed\": \"the card takes nothing more\", \"next\": %zu}\n", f->cases);
    fflush(stdout);
    _Exit(4);
}

static void check(size_t first)
{
    double began = now();
    struct selftest_faults f = { on_fault, first, 0 };
    differences = 0;
    if (backend_selftest_all(&told, &f, &failure) != ERR_OK)
        stop("check");
    printf("{\"stage\": \"check\", \"by\": \"%s\", \"ok\": %s, \"cases\": %zu, \"differences\": %zu, \"seconds\": %.2f}\n",
           has_library ? "library" : "own", differences ? "false" : "true", f.cases, differences, now() - began);
    fflush(stdout);
}

/* From case arg[0] on: what ended the card's context before is left out. */
void stage_check(void)
{
    told = gpu;
    told.sync = sync_told;
    check(arg[0]);
    struct backend_ctx *c;
    told.open = open_with_library;
    if (told.open(&told, NULL, &c, &failure) != ERR_OK)
        stop("check");
    gpu.close(c);
    if (has_library)
        check(0);
}
