/* SPDX-License-Identifier: Apache-2.0 */
/* emu_operation.c - what an operation says it touches, the kernels it launches, and sequences that are kept and run again. */
#include "tests/cuda/emu_calls.h"
#include "core/base/cleanup.h"

static const float LAUNCH_MS = 0.25f;           /* of a kernel, by events */

enum { USES_MAX = 2 * GPU_USES_MAX };
static struct gpu_use uses[USES_MAX];
static size_t use_count, launches;
static const char *op;
static int op_code;

size_t emu_launches(void)
{
    return launches;
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
void emu_about(const char *what, void *stream, const struct gpu_use *of, size_t n)
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
        emu_queue_tick(emu_queue_of(stream));
        op_code = emu_on_card(what, stream);
    }
    ASSERT(use_count + n <= USES_MAX);
    if (!what)                          /* once for each piece, however often an operation asks for it */
        for (size_t i = 0; i < use_count && n; i++)
            n = uses[i].at == of[0].at && uses[i].size_bytes == of[0].size_bytes ? 0 : n;
    for (size_t i = 0; i < n; i++) {
        int code = emu_touch(op, emu_queue_of(stream), &of[i]);
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

int emu_done(void)
{
    int code = end_operation();
    emu_let_go();
    return code;
}

int call_launch(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y, unsigned threads_z,
                  unsigned shared_bytes, void *stream, void **arguments, void **extra)
{
    const struct emu_known *k = function;
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
    return op_code ? op_code : call(emu_queue_of(stream), arguments);
}

int call_capture_begin(void *stream, int mode)
{
    emu_hold();
    int code = emu_capture_begin(stream, mode);
    if (code)
        emu_let_go();
    return code;
}

int call_capture_end(void *stream, void **ret_graph)
{
    int code = emu_capture_end(stream, ret_graph);
    emu_let_go();
    return code;
}

int call_graph_make(void **ret_made, void *graph, unsigned long long flags)
{
    return emu_graph_make(ret_made, graph, flags);
}

int call_graph_free(void *graph)
{
    ALONE;
    return emu_graph_free(graph);
}

int call_graph_made_free(void *made)
{
    ALONE;
    return emu_graph_free(made);
}

static int run_kept(void *stream, const struct emu_kept *k)
{
    void *arguments[] = { (void *)(uintptr_t)k->arguments };
    if (k->kind == KEPT_DONE)
        return emu_done();
    if (k->kind == KEPT_CALL)
        return emu_call(stream, k->call, k->arguments, k->n, k->ms);
    if (k->kind == KEPT_LAUNCH)
        return call_launch((void *)(uintptr_t)k->function, k->grid[0], k->grid[1], k->grid[2], k->threads, 1, 1,
                      ((const struct emu_known *)k->function)->shared_bytes, stream, arguments, NULL);
    emu_about(k->what, stream, k->uses, k->n);
    return 0;
}

int call_graph_run(void *made, void *stream)
{
    ALONE;
    return emu_captures(stream) ? emu_not_now("another sequence") : emu_graph_run(made, stream, run_kept);
}
