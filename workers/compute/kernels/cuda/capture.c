/* SPDX-License-Identifier: Apache-2.0 */
/* capture.c - launches of the compute queue as one graph of the driver's.
 *
 * A graph has the arguments of its launches inside, so it stands as long as what they point to: tensors of a run, which never
 * move, and scratch memory, which may; then it is out of date. What a step changes (rate, seed, counter) lies in device memory
 * and is no argument. A driver that does not take a sequence is not asked again: launches are made one by one, as before. */
#include "workers/compute/kernels/cuda/cuda_int.h"

#include <stdlib.h>

struct captured {
    void *made;
    uint64_t scratch_moves;
};

bool cuda_capture_begin(struct backend_ctx *c)
{
    if (c->failed || c->never_captures || !cuda_did(c, c->d.context_use(c->context), "context_use"))
        return false;
    c->capture = calloc(1, sizeof *c->capture);
    if (c->capture && c->d.capture_begin(c->stream[QUEUE_COMPUTE], GPU_CAPTURE_THREAD)) {
        free(c->capture);
        c->capture = NULL;
    }
    c->never_captures = !c->capture;
    return c->capture != NULL;
}

struct captured *cuda_capture_end(struct backend_ctx *c)
{
    struct captured *g = c->capture;
    void *graph = NULL;
    c->capture = NULL;
    bool is_whole = !c->d.capture_end(c->stream[QUEUE_COMPUTE], &graph) && graph && !c->failed;
    is_whole = is_whole && !c->d.graph_make(&g->made, graph, 0);
    if (graph)
        (void)c->d.graph_free(graph);           /* the made one has its own copy */
    if (is_whole) {
        g->scratch_moves = c->scratch_moves;
        return g;
    }
    c->failed = NULL;                           /* of the capture alone: nothing has run */
    c->never_captures = true;
    free(g);
    return NULL;
}

bool cuda_replay(struct backend_ctx *c, const struct captured *g)
{
    if (g->scratch_moves != c->scratch_moves)
        return false;
    if (!c->failed && cuda_did(c, c->d.context_use(c->context), "context_use"))
        cuda_did(c, c->d.graph_run(g->made, c->stream[QUEUE_COMPUTE]), "graph_run");
    return true;
}

void cuda_capture_free(struct backend_ctx *c, struct captured *g)
{
    if (!g)
        return;
    (void)c->d.context_use(c->context);
    (void)c->d.graph_made_free(g->made);        /* at the end there is nobody to tell; it waits for what still runs */
    free(g);
}

const struct capturing cuda_capturing = { cuda_capture_begin, cuda_capture_end, cuda_replay, cuda_capture_free, &cuda_cards };
