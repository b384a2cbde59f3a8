/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_gates.c - is it right, on the card: every operation against the fp64 reference, outputs poisoned, each difference told. */
#include "tests/bench/training/gpu_kit.h"
#include "workers/compute/kernels/selftest_faults.h"

static size_t differences;
static struct backend told;             /* the backend, whose errors of the device are kept */
static char device_said[sizeof failure.msg];

static enum errc sync_told(struct backend_ctx *c, struct err *e)
{
    enum errc rc = BACKEND.sync(c, e);
    if (rc != ERR_OK)
        memcpy(device_said, e->msg, sizeof device_said);
    return rc;
}

static bool is_dead(void)
{
    struct err e;
    struct buffer *b = BACKEND.alloc(ctx, 64);
    bool ok = b && BACKEND.sync(ctx, &e) == ERR_OK;
    BACKEND.free(ctx, b);
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

/* From case arg[0] on: what ended the card's context before is left out. */
void stage_check(void)
{
    double began = now();
    struct selftest_faults f = { on_fault, arg[0], 0 };
    told = BACKEND;
    told.sync = sync_told;
    if (backend_selftest_all(&told, &f, &failure) != ERR_OK)
        stop("check");
    printf("{\"stage\": \"check\", \"ok\": %s, \"cases\": %zu, \"differences\": %zu, \"seconds\": %.2f}\n",
           differences ? "false" : "true", f.cases, differences, now() - began);
}
