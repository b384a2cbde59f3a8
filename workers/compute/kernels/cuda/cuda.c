/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - backend "cuda": contexts, memory, queues and events over the driver's table.
 *
 * A queue is a stream that waits for no other; an event is the driver's. Memory is asked for once, when a plan is made ready, and
 * zeroed before anybody sees it; scratch memory grows with the largest operation and stays. Calls return codes, which are kept:
 * the first failure is told by sync with the call's name, and nothing is launched after it. The device's own context is used,
 * so several contexts of this process share its code. Results in host memory are there after sync. */
#include "workers/compute/kernels/cuda/cuda_flash.h"
#include "workers/compute/kernels/cuda/cuda_hopper.h"
#include "workers/compute/kernels/cuda/lt_int.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned threads, shared_bytes;
} kernels[KERNEL_COUNT] = {
#define KERNEL(name, threads, shared_bytes) { "kernel_" #name, threads, shared_bytes },
#include "workers/compute/kernels/cuda/kernel.def"
#undef KERNEL
};

static _Thread_local int card;          /* of the contexts that this thread opens */

void cuda_card_use(int which)
{
    card = which;
}

enum { GATHERED_MOST = 256 << 20 };

struct event {
    void *handle;
    bool is_recorded;
};

bool cuda_did(struct backend_ctx *c, int code, const char *what)
{
    if (code && !c->failed) {
        c->code = code;
        c->failed = what;
    }
    return !code;
}

/* Something that the driver was not even asked for. */
void cuda_refuse(struct backend_ctx *c, const char *why)
{
    if (!c->failed)
        c->code = 0;
    c->failed = c->failed ? c->failed : why;
}

static void enter(struct backend_ctx *c)
{
    cuda_did(c, c->d.context_use(c->context), "context_use");
}

static const char *text_of(const struct gpu_driver *d, int code)
{
    const char *text = NULL;
    return d->text(code, &text) == 0 && text ? text : "an error without a text";
}

enum errc cuda_sync(struct backend_ctx *c, struct err *e)
{
    enter(c);
    for (int q = 0; q < QUEUE_COUNT; q++)
        if (c->stream[q])
            cuda_did(c, c->d.stream_sync(c->stream[q]), "stream_sync");
    const char *failed = c->failed;
    c->failed = NULL;
    if (!failed)
        return ERR_OK;
    if (!c->code)
        return FAIL(e, INTERNAL, "backend %s: %s", c->be->name, failed);
    if (c->code == GPU_NO_MEMORY)
        return cuda_no_memory(c, failed, e);
    return FAIL(e, INTERNAL, "backend %s: %s: %s (%d)", c->be->name, failed, text_of(&c->d, c->code), c->code);
}

static enum errc load(struct backend_ctx *c, const struct gpu_image *images, struct err *e)
{
    int n = 0;
    for (const struct gpu_image *i = images; i->name; i++) {
        ASSERT(n < GPU_MODULES_MAX);
        bool is_apart = !strcmp(i->name, HOPPER_IMAGE) || cuda_flash_is_own(i->name);
        int code = !is_apart ? c->d.module_load(&c->module[n++], i->text) : 0;
        if (code)
            return FAIL(e, UNAVAILABLE, "the card does not take the kernels of %s: %s (%d)", i->name, text_of(&c->d, code), code);
    }
    for (int k = 0; k < KERNEL_COUNT; k++) {
        for (int m = 0; m < n && !c->function[k]; m++)
            if (c->d.module_function(&c->function[k], c->module[m], kernels[k].name))
                c->function[k] = NULL;
        if (!c->function[k])
            return FAIL(e, INTERNAL, "this build has no GPU code for %s", kernels[k].name);
        c->is_too_large[k] = kernels[k].shared_bytes > GPU_SHARED_FREE
                             && c->d.function_set(c->function[k], GPU_SHARED_MOST, (int)kernels[k].shared_bytes);
    }
    return ERR_OK;
}

static enum errc set_up(struct backend_ctx *c, const struct gpu_image *images, struct err *e)
{
    int count = 0, device, code = c->d.init(0);
    if (code || (code = c->d.device_count(&count)) || !count)
        return FAIL(e, UNAVAILABLE, "the GPU driver shows this process no card%s%s", code ? ": " : "",
                    code ? text_of(&c->d, code) : "");
    if (card >= count)
        return FAIL(e, UNAVAILABLE, "the GPU driver shows this process %d card(s), and card %d is asked for", count, card);
    if (cuda_did(c, c->d.device_get(&device, card), "device_get")
        && cuda_did(c, c->d.context_keep(&c->context, device), "context_keep")) {
        c->device = device;
        enter(c);
        for (int q = 0; q < QUEUE_COUNT; q++)
            cuda_did(c, c->d.stream_new(&c->stream[q], GPU_STREAM_ALONE), "stream_new");
    }
    TRY(cuda_sync(c, e));
    return load(c, images, e);
}

enum errc cuda_open_by(const struct backend *be, const struct gpu_driver *d, const struct gpu_image *images,
                       struct backend_ctx **ret, struct err *e)
{
    struct backend_ctx *c = calloc(1, sizeof *c);
    if (!c)
        return FAIL(e, LIMIT, "no memory for a compute context");
    c->be = be;
    c->d = *d;
    c->images = images;
    c->device = -1;
    c->gathered_most = GATHERED_MOST;
    enum errc rc = set_up(c, images, e);
    if (rc != ERR_OK) {
        cuda_close(c);
        return rc;
    }
    *ret = c;
    return ERR_OK;
}

void cuda_close(struct backend_ctx *c)
{
    if (!c)
        return;
    if (c->context)
        enter(c);
    cuda_lt_close(c);
    cuda_hopper_close(c);
    cuda_flash_close(c);
    if (c->scratch)
        (void)c->d.memory_free(c->scratch);            /* at the end there is nobody to tell */
    if (c->gathered)
        (void)c->d.memory_free(c->gathered);
    for (int i = 0; i < GPU_MODULES_MAX; i++)
        if (c->module[i])
            (void)c->d.module_unload(c->module[i]);
    for (int q = 0; q < QUEUE_COUNT; q++)
        if (c->stream[q])
            (void)c->d.stream_free(c->stream[q]);
    if (c->context)
        (void)c->d.context_drop(c->device);
    free(c);
}

struct buffer *cuda_alloc(struct backend_ctx *c, size_t size_bytes)
{
    struct buffer *b = calloc(1, sizeof *b);
    gpu_ptr at = 0;
    enter(c);
    if (!b || c->d.memory_get(&at, size_bytes ? size_bytes : 1)) {
        free(b);
        return NULL;
    }
    cuda_did(c, c->d.memory_fill(at, 0, size_bytes ? size_bytes : 1, c->stream[QUEUE_COMPUTE]), "memory_fill");
    cuda_did(c, c->d.stream_sync(c->stream[QUEUE_COMPUTE]), "memory_fill");     /* other queues may use it at once */
    b->size_bytes = size_bytes;
    b->handle = (void *)(uintptr_t)at;
    return b;
}

void cuda_free(struct backend_ctx *c, struct buffer *b)
{
    if (!b)
        return;
    enter(c);
    cuda_did(c, c->d.memory_free((gpu_ptr)(uintptr_t)b->handle), "memory_free");        /* waits for what still uses it */
    free(b);
}

void cuda_put(struct backend_ctx *c, enum queue q, struct buffer *b, size_t offset_bytes, const void *src, size_t n)
{
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    enter(c);
    if (n)
        cuda_did(c, c->d.copy_in((gpu_ptr)(uintptr_t)b->handle + offset_bytes, src, n, c->stream[q]), "copy_in");
}

void cuda_get(struct backend_ctx *c, enum queue q, const struct buffer *b, size_t offset_bytes, void *dst, size_t n)
{
    ASSERT(offset_bytes <= b->size_bytes && n <= b->size_bytes - offset_bytes);
    enter(c);
    if (n)
        cuda_did(c, c->d.copy_out(dst, (gpu_ptr)(uintptr_t)b->handle + offset_bytes, n, c->stream[q]), "copy_out");
}

struct event *cuda_event_new(struct backend_ctx *c)
{
    struct event *ev = calloc(1, sizeof *ev);
    enter(c);
    if (ev && c->d.event_new(&ev->handle, GPU_EVENT_NO_TIME)) {
        free(ev);
        return NULL;
    }
    return ev;
}

void cuda_event_free(struct backend_ctx *c, struct event *ev)
{
    if (!ev)
        return;
    enter(c);
    cuda_did(c, c->d.event_free(ev->handle), "event_free");
    free(ev);
}

void cuda_record(struct backend_ctx *c, enum queue q, struct event *ev)
{
    enter(c);
    ev->is_recorded = cuda_did(c, c->d.event_record(ev->handle, c->stream[q]), "event_record");
}

void cuda_wait(struct backend_ctx *c, enum queue q, const struct event *ev)
{
    enter(c);
    if (!ev->is_recorded)
        cuda_refuse(c, "a queue waits for an event that nothing recorded");
    else
        cuda_did(c, c->d.stream_wait(c->stream[q], ev->handle, 0), "stream_wait");
}

void cuda_forget(struct backend_ctx *c, struct buffer *b)
{
    if (c->d.forget)
        c->d.forget((gpu_ptr)(uintptr_t)b->handle, b->size_bytes);
}

/* Weights are taken as they lie: nothing is packed (cuda_kernels has no PACK). */
size_t cuda_pack_bytes(size_t n, size_t k)
{
    return n * k * sizeof(float);
}

size_t cuda_pack_q8_bytes(size_t n, size_t slices, size_t depth)
{
    return n * slices * depth;
}

static struct gpu_use use_of(const struct tensor *t, bool reads, bool writes)
{
    size_t last = 0;
    for (unsigned i = 0; i < t->rank; i++)
        last += t->dim[i] ? (t->dim[i] - 1) * t->stride[i] : 0;
    return (struct gpu_use){ (gpu_ptr)(uintptr_t)t->buf->handle + t->offset_bytes, (last + 1) * elem_bytes(t->type), reads,
                             writes, last + 1 == tensor_count(t) };
}

/* Whether output i is added to: of what is made in one pass with sums, these alone. */
static bool adds_to(enum op op, const struct op_call *o, int i)
{
    bool is_sum = op == OP_NORM_ADD_BWD ? i < 3 : op != OP_GELU_BWD_SUM || i == 0;
    return o->attr.flags & OP_ACCUMULATE && is_sum;
}

void cuda_begin(struct backend_ctx *c, enum op op, const struct op_call *o)
{
    struct gpu_use uses[GPU_USES_MAX];
    size_t n = 0;
    enter(c);
    if (c->tries_hopper && !c->lt && o->in[0] && (o->in[0]->type == ELEM_BF16 || o->attr.flags & OP_BF16))
        cuda_hopper_try(c);
    if (!c->d.about)
        return;
    for (int i = 0; i < OP_INPUTS_MAX; i++)
        if (o->in[i])
            uses[n++] = use_of(o->in[i], true, op_row(op)->writes >> i & 1);
    for (int i = 0; i < OP_OUTPUTS_MAX; i++)
        if (o->out[i])
            uses[n++] = use_of(o->out[i], adds_to(op, o, i), true);
    c->d.about(op_name(op), c->stream[QUEUE_COMPUTE], uses, n);
}

void cuda_end(struct backend_ctx *c)
{
    if (c->d.done)
        cuda_did(c, c->d.done(), "an operation");
}

bool cuda_is_grid(struct backend_ctx *c, size_t x, size_t y, size_t z)
{
    if (x > INT32_MAX || y > UINT16_MAX || z > UINT16_MAX)
        cuda_refuse(c, "a batch is too large for one grid of blocks; a smaller batch_size with accumulate makes the same steps");
    return x && y && z && !c->failed;
}

void cuda_launch(struct backend_ctx *c, enum kernel k, size_t x, size_t y, size_t z, const void *args)
{
    void *arguments[] = { (void *)(uintptr_t)args };
    if (cuda_is_grid(c, x, y, z))
        cuda_did(c, c->d.launch(c->function[k], (unsigned)x, (unsigned)y, (unsigned)z, kernels[k].threads, 1, 1,
                            kernels[k].shared_bytes, c->stream[QUEUE_COMPUTE], arguments, NULL), kernels[k].name);
}

bool cuda_fits(const struct backend_ctx *c, enum kernel k)
{
    return !c->is_too_large[k];
}

static bool probe(const struct hw *hw)
{
    struct gpu_driver d;
    struct err e;
    int count = 0;
    (void)hw;
    if (!gpu_images[0].name || gpu_driver_open("libcuda.so.1", &d, &e) != ERR_OK)
        return false;
    return d.init(0) == 0 && d.device_count(&count) == 0 && count > 0;
}

static enum errc cuda_open(const struct backend *be, struct pool *pool, struct backend_ctx **ret, struct err *e)
{
    struct gpu_driver d;
    (void)pool;
    char line[160];
    TRY(gpu_driver_open("libcuda.so.1", &d, e));
    TRY(cuda_open_by(be, &d, gpu_images, ret, e));
    (void)cuda_flash_use(*ret, line, sizeof line);     /* the card's own attention, where there is one and it agrees */
    (*ret)->tries_hopper = true;
    return ERR_OK;
}

const struct backend backend_cuda = { .name = "cuda", .rank = 100, .probe = probe, .open = cuda_open,
                                      .capturing = &cuda_capturing, .library = &cuda_library, CUDA_BACKEND };
