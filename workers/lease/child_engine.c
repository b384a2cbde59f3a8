/* SPDX-License-Identifier: Apache-2.0 */
/* child_engine.c - the library by a descriptor: its folders may be closed to the lease's account, and are hidden inside. */
#include "workers/lease/child_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "workers/compute/ort/ort_model.h"

struct child_engine {
    struct infer_door door;
    int fd;                             /* -1: it cannot be opened */
    int why;                            /* errno of that */
    char path[40], name[64];
    struct ort *ort;                    /* NULL: not opened yet */
    struct infer_engine engine;
};

/* The lease's memory is what there is, less what the process itself needs. */
static enum errc open_door(void *ctx, const struct infer_engine **ret, struct err *e)
{
    struct child *c = ctx;
    struct child_engine *x = c->engine;
    if (x->fd < 0)
        return FAIL(e, UNAVAILABLE, "worker.onnxruntime (%.100s) cannot be read: %s", c->grant.onnxruntime.ptr, strerror(x->why));
    if (!x->ort) {
        TRY(ort_open(x->path, (size_t)(c->grant.memory_bytes / 16 * 15), &x->ort, e));
        ort_engine_of(x->ort, x->name, &x->engine);
        child_log(c, "info: %s opened", x->name);
    }
    *ret = &x->engine;
    return ERR_OK;
}

void child_engine_find(struct child *c)
{
    if (!c->grant.onnxruntime.len)
        return;
    struct child_engine *x = ARENA_NEW(c->arena, struct child_engine);
    *x = (struct child_engine){ .door = { open_door, c }, .fd = open(c->grant.onnxruntime.ptr, O_RDONLY | O_CLOEXEC) };
    x->why = x->fd < 0 ? errno : 0;
    snprintf(x->path, sizeof x->path, "/proc/self/fd/%d", x->fd);
    c->engine = x;
}

const char *child_engine_path(const struct child *c)
{
    return c->engine && c->engine->fd >= 0 ? c->engine->path : NULL;
}

const struct infer_door *child_engine_door(struct child *c)
{
    return c->engine ? &c->engine->door : NULL;
}

void child_engine_close(struct child *c)
{
    if (!c->engine)
        return;
    ort_free(c->engine->ort);
    fd_closep(&c->engine->fd);
    c->engine = NULL;
}
