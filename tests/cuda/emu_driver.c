/* SPDX-License-Identifier: Apache-2.0 */
/* emu_driver.c - the table: each call of the driver over the runner and the checker, and the backend cuda-emu. */
#include "tests/cuda/emu_int.h"
#include "core/base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(name, threads, shared_bytes) extern const size_t gpu_emu_size_##name;
#define FLASH_HOPPER KERNEL
#include "workers/compute/kernels/cuda/kernel.def"
#undef KERNEL

static const struct known {
    const char *name;
    emu_kernel run;
    const size_t *size_bytes;           /* of its arguments */
    unsigned shared_bytes;
    bool *may;                          /* have more than every kernel may */
} known[] = {
#define KERNEL(name, threads, shared_bytes) \
    { "kernel_" #name, gpu_emu_##name, &gpu_emu_size_##name, shared_bytes, &(bool){ shared_bytes <= GPU_SHARED_FREE } },
#include "workers/compute/kernels/cuda/kernel.def"
#undef FLASH_HOPPER
#undef KERNEL
};

enum { BAD_CARD = 101, BAD_CONTEXT = 201 };
static const float LAUNCH_MS = 0.25f;           /* of a kernel, by events */

struct stream {
    int queue, card;
    float ms;                           /* that its calls have taken */
};
struct emu_event {
    bool is_recorded, has_time;
    float ms;
    struct emu_clock clock;
};

enum { USES_MAX = 2 * GPU_USES_MAX };
static struct gpu_use uses[USES_MAX];
static size_t use_count, launches;
static const char *op;
static int op_code;
static struct stream streams[EMU_QUEUES];

size_t emu_launches(void)
{
    return launches;
}

static int queue_of(void *stream)
{
    return ((const struct stream *)stream)->queue;
}

int emu_queue_of(void *stream)
{
    return queue_of(stream);
}


static int init(unsigned flags)
{
    return (int)flags;
}

static int text(int code, const char **ret)
{
    *ret = code == EMU_FAILED ? emu_last() : code == GPU_NO_MEMORY ? "out of memory" : "no such thing";
    return 0;
}

static int version(int *ret)
{
    *ret = 12000;
    return 0;
}

static int device_count(int *ret)
{
    *ret = emu_cards();
    return 0;
}

static int device_get(int *ret, int ordinal)
{
    *ret = ordinal;
    return emu_is_card(ordinal) ? 0 : BAD_CARD;
}

static int device_name(char *ret, int size, int device)
{
    snprintf(ret, (size_t)size, "processor %d", device);
    return 0;
}

static int device_attribute(int *ret, int what, int device)
{
    (void)device;
    *ret = what == GPU_MAJOR ? 8 : 0;
    return 0;
}

static int context_keep(void **ret, int device)
{
    *ret = emu_context(device);
    return *ret ? 0 : BAD_CARD;
}

static int context_drop(int device)
{
    return emu_is_card(device) ? 0 : BAD_CARD;
}

static int context_use(void *context)
{
    return emu_context_use(context) ? 0 : BAD_CONTEXT;
}

/* What is asked for of a stream whose card is not the thread's. */
static int on_card(const char *what, void *stream)
{
    const struct stream *s = stream;
    return s->card == emu_card() ? 0 : emu_fail("%s: is asked of card %d by a thread on card %d", what, s->card, emu_card());
}

static int memory_info(size_t *ret_free, size_t *ret_total)
{
    *ret_total = emu_memory_most() ? emu_memory_most() : (size_t)1 << 30;
    *ret_free = *ret_total > emu_memory_used() ? *ret_total - emu_memory_used() : 0;
    return 0;
}

static int module_load(void **ret, const void *image)
{
    *ret = streams;
    return image ? 0 : 218;
}

static int module_unload(void *module)
{
    return module ? 0 : 400;
}

static int module_function(void **ret, void *module, const char *name)
{
    for (size_t i = 0; module && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            *ret = (void *)(uintptr_t)&known[i];
            return 0;
        }
    return 500;
}

static int function_set(void *function, int what, int value)
{
    const struct known *k = function;
    if (what != GPU_SHARED_MOST || value != (int)k->shared_bytes)
        return 1;
    *k->may = (size_t)value <= emu_shared_most();
    return *k->may ? 0 : 1;
}

static int not_now(const char *what)
{
    return emu_fail("%s is asked for while a sequence is captured", what);
}

static int memory_get(gpu_ptr *ret, size_t size_bytes)
{
    ALONE;
    if (emu_captures(NULL))
        return not_now("memory");
    return emu_get(ret, size_bytes);
}

static int memory_free(gpu_ptr at)
{
    ALONE;
    if (emu_captures(NULL))
        return not_now("the end of memory");
    return emu_drop(at);
}

static int host_get(void **ret, size_t size_bytes, unsigned flags)
{
    ALONE;
    if (emu_captures(NULL))
        return not_now("pinned memory");
    return flags ? 1 : emu_host_get(ret, size_bytes);
}

static int host_free(void *at)
{
    ALONE;
    return emu_captures(NULL) ? not_now("the end of pinned memory") : emu_host_drop(at);
}

/* One access of its own, outside of an operation. */
static int one_access(const char *what, void *stream, gpu_ptr at, size_t n, bool is_written)
{
    const struct gpu_use use = { at, n, !is_written, is_written, true };
    if (emu_captures(stream))
        return not_now(what);
    if (on_card(what, stream))
        return EMU_FAILED;
    emu_queue_tick(queue_of(stream));
    return emu_touch(what, queue_of(stream), &use);
}

static int memory_fill(gpu_ptr at, unsigned char value, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a fill", stream, at, n, true);
    if (!code) {
        emu_open(at, n);
        memset((void *)(uintptr_t)at, value, n);
        emu_close(at, n);
    }
    return code;
}

static int copy_in(gpu_ptr to, const void *from, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a copy to the card", stream, to, n, true);
    if (!code) {
        emu_open(to, n);
        memcpy((void *)(uintptr_t)to, from, n);
        emu_close(to, n);
        emu_host_reads(queue_of(stream), from, n);
    }
    return code;
}

static int copy_out(void *to, gpu_ptr from, size_t n, void *stream)
{
    ALONE;
    int code = one_access("a copy from the card", stream, from, n, false);
    if (!code) {
        emu_open(from, n);
        memcpy(to, (const void *)(uintptr_t)from, n);
        emu_close(from, n);
    }
    return code;
}

static int stream_new(void **ret, unsigned flags)
{
    static int made;
    struct stream *s = NULL;
    ALONE;
    for (int i = 0; i < made && !s; i++)
        if (!streams[i].queue)
            s = &streams[i];
    if (!s && made < EMU_QUEUES - 1) {
        s = &streams[made++];
        s->queue = emu_queue_new();
    } else if (s) {
        s->queue = (int)(s - streams) + 1;              /* its clock goes on */
    }
    if (s)
        s->card = emu_card();
    *ret = s;
    return s && flags == GPU_STREAM_ALONE ? 0 : 1;
}

static int stream_sync(void *stream)
{
    ALONE;
    if (emu_captures(stream))
        return not_now("a sync");
    emu_queue_learn(EMU_HOST, queue_of(stream));
    return emu_host_settle(queue_of(stream));
}

static int stream_query(void *stream)
{
    return stream_sync(stream);         /* all has run when it was asked for */
}

static int stream_free(void *stream)
{
    ALONE;
    stream_sync(stream);
    ((struct stream *)stream)->queue = 0;
    return 0;
}

static int stream_wait(void *stream, void *event, unsigned flags)
{
    const struct emu_event *ev = event;
    (void)flags;
    ALONE;
    if (emu_captures(stream))
        return not_now("a wait");
    if (ev->is_recorded)
        emu_clock_join(queue_of(stream), &ev->clock);
    return 0;
}

static int event_new(void **ret, unsigned flags)
{
    struct emu_event *ev = calloc(1, sizeof *ev);
    ASSERT(ev);
    ev->has_time = !(flags & GPU_EVENT_NO_TIME);
    *ret = ev;
    return flags & ~(unsigned)GPU_EVENT_NO_TIME ? 1 : 0;
}

static int event_free(void *event)
{
    free(event);
    return 0;
}

static int event_record(void *event, void *stream)
{
    struct emu_event *ev = event;
    ALONE;
    if (emu_captures(stream))
        return not_now("an event");
    ev->is_recorded = true;
    ev->clock = emu_clock_of(queue_of(stream));
    ev->ms = ((const struct stream *)stream)->ms;
    return 0;
}

static int event_ms(float *ret_ms, void *from, void *to)
{
    const struct emu_event *a = from, *b = to;
    if (!a->has_time || !b->has_time || !a->is_recorded || !b->is_recorded)
        return 400;
    *ret_ms = b->ms - a->ms;
    return 0;
}

static bool overlaps(const struct gpu_use *a, const struct gpu_use *b)
{
    return a->at < b->at + b->size_bytes && b->at < a->at + a->size_bytes;
}

/* Results that are read by nobody in this operation are spoiled first. */
static bool is_result(size_t i)
{
    bool is = uses[i].writes && !uses[i].reads && uses[i].is_dense && uses[i].size_bytes % 4 == 0;
    for (size_t k = 0; k < use_count && is; k++)
        is = k == i || !overlaps(&uses[i], &uses[k]);
    return is;
}

/* what NULL: more of the operation that is being told about, its scratch memory. */
static void about(const char *what, void *stream, const struct gpu_use *of, size_t n)
{
    if (what)
        emu_hold();
    if (emu_captures(stream)) {
        (void)emu_keep(&(struct emu_kept){ .kind = KEPT_ABOUT, .what = what, .uses = of, .n = n });
        return;
    }
    if (what) {
        op = what;
        op_code = 0;
        use_count = 0;
        emu_queue_tick(queue_of(stream));
        op_code = on_card(what, stream);
    }
    ASSERT(use_count + n <= USES_MAX);
    if (!what)                          /* once for each piece, however often an operation asks for it */
        for (size_t i = 0; i < use_count && n; i++)
            n = uses[i].at == of[0].at && uses[i].size_bytes == of[0].size_bytes ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        int code = emu_touch(op, queue_of(stream), &of[i]);
        op_code = op_code ? op_code : code;
        uses[use_count++] = of[i];
    }
    for (size_t i = 0; i < use_count && !op_code; i++) {
        emu_open(uses[i].at, uses[i].size_bytes);
        if (!what && i + n >= use_count)
            emu_spoil(uses[i].at, uses[i].size_bytes);
    }
    for (size_t i = 0; what && i < use_count && !op_code; i++)
        if (is_result(i))
            emu_spoil(uses[i].at, uses[i].size_bytes);
}

static int end_operation(void)
{
    if (emu_captures(NULL))             /* operations are the compute queue's, which is the one that is captured */
        return emu_keep(&(struct emu_kept){ .kind = KEPT_DONE });
    for (size_t i = 0; i < use_count && !op_code; i++) {
        if (is_result(i) && uses[i].is_dense && emu_is_spoiled(uses[i].at, uses[i].size_bytes))
            op_code = emu_fail("%s: leaves a part of its result unwritten", op);
    }
    for (size_t i = 0; i < use_count; i++)
        emu_close(uses[i].at, uses[i].size_bytes);
    use_count = 0;
    return op_code;
}

static int done(void)
{
    int code = end_operation();
    emu_let_go();
    return code;
}

static int launch(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y, unsigned threads_z,
                  unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    const struct known *k = function;
    ALONE;
    if (!k || threads_y != 1 || threads_z != 1 || shared_bytes != k->shared_bytes || !*k->may || extra)
        return 1;
    if (emu_captures(stream))
        return emu_keep(&(struct emu_kept){ .kind = KEPT_LAUNCH, .function = k, .arguments = arguments[0], .n = *k->size_bytes,
                                            .grid = { x, y, z }, .threads = threads });
    launches++;
    ((struct stream *)stream)->ms += LAUNCH_MS;
    return op_code ? op_code : emu_run_grid(k->name, k->run, arguments[0], x, y, z, threads, shared_bytes);
}

int emu_call(void *stream, int (*call)(int queue, const void *arguments), const void *arguments, size_t n, float ms)
{
    ALONE;
    if (emu_captures(stream))
        return emu_keep(&(struct emu_kept){ .kind = KEPT_CALL, .call = call, .arguments = arguments, .n = n, .ms = ms });
    launches++;
    ((struct stream *)stream)->ms += ms;
    return op_code ? op_code : call(queue_of(stream), arguments);
}

static int capture_begin(void *stream, int mode)
{
    emu_hold();
    int code = emu_capture_begin(stream, mode);
    if (code)
        emu_let_go();
    return code;
}

static int capture_end(void *stream, void **ret_graph)
{
    int code = emu_capture_end(stream, ret_graph);
    emu_let_go();
    return code;
}

static int graph_make(void **ret_made, void *graph, unsigned long long flags)
{
    return emu_graph_make(ret_made, graph, flags);
}

static int graph_free(void *graph)
{
    ALONE;
    return emu_graph_free(graph);
}

static int graph_made_free(void *made)
{
    ALONE;
    return emu_graph_free(made);
}

static int run_kept(void *stream, const struct emu_kept *k)
{
    void *arguments[] = { (void *)(uintptr_t)k->arguments };
    if (k->kind == KEPT_DONE)
        return done();
    if (k->kind == KEPT_CALL)
        return emu_call(stream, k->call, k->arguments, k->n, k->ms);
    if (k->kind == KEPT_LAUNCH)
        return launch((void *)(uintptr_t)k->function, k->grid[0], k->grid[1], k->grid[2], k->threads, 1, 1,
                      ((const struct known *)k->function)->shared_bytes, stream, arguments, NULL);
    about(k->what, stream, k->uses, k->n);
    return 0;
}

static int graph_run(void *made, void *stream)
{
    ALONE;
    return emu_captures(stream) ? not_now("another sequence") : emu_graph_run(made, stream, run_kept);
}

/* The same functions by the names of libcuda.so.1, for the test that opens a library. */
#define CALL(name, symbol, arguments) extern int by_name_##name arguments __asm__(symbol) __attribute__((alias(#name)));
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL

const struct gpu_driver *emu_driver(void)
{
    static const struct gpu_driver d = {
#define CALL(name, symbol, arguments) .name = name,
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
        .about = about, .done = done, .forget = emu_forget,
    };
    return &d;
}
