/* SPDX-License-Identifier: Apache-2.0 */
/* run_kit.h - a program of a tenant's in a real box of the real binary: shell text in, report and files out. */
#pragma once
#include "executor_kit.h"

static inline void run_setup(struct fixture *f, const char *input)
{
    struct err e = { 0 };
    setup_with(f, "256m", input, strlen(input));
    assert_int_equal(config_set(f->config, "worker.programs", "host", &e), ERR_OK);
    assert_int_equal(config_set(f->config, "worker.checkpoint_gap_ms", "0", &e), ERR_OK);
}

/* The same in an image, whose archive it is; STR_NULL: without one. */
static inline struct held *run_add_image(struct fixture *f, int64_t fence, const char *script, const char *more, struct str image)
{
    static char spec[70000];
    struct buf b = BUF(sizeof spec - 1);
    buf_add_c(&b, "{\"command\":[\"sh\",\"/falaj/code/script\"],\"script\":");
    buf_add_json(&b, str_c(script));
    buf_printf(&b, "%s}", more);
    snprintf(spec, sizeof spec, "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    struct lease_grant g = kit_grant(1, "run", spec);
    g.fence = fence;
    kit_add_input(&g, &f->store, "dataset");
    if (image.ptr)
        kit_add_sealed(&g, &f->store, "image:", "dataset", STR(""), image);
    else
        kit_add_checkpoints(&g, &f->store);
    return book_add(f->book, &g, true);
}

/* A lease of a shell's text; more: further members of the spec, with a comma before them. */
static inline struct held *run_add(struct fixture *f, int64_t fence, const char *script, const char *more)
{
    return run_add_image(f, fence, script, more, STR_NULL);
}

/* The report of a lease that has ended. */
static inline const char *run_to_end(struct fixture *f, struct held *h)
{
    static struct buf report = BUF((size_t)4 << 20);
    executor_run(&f->env, h);
    kit_report(f->book, &report);
    buf_add_char(&report, '\0');
    return report.ptr;
}

static inline void expect(const char *report, const char *text)
{
    if (!strstr(report, text))
        fail_msg("no %s in %s", text, report);
}
