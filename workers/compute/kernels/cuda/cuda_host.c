/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_host.c - pinned memory: a copy from it is the card's alone, at the rate of the bus, and the host goes on.
 *
 * From memory that may move, the driver copies to pinned pieces of its own first, on the caller's thread: 3.2 MB took 0.25 ms
 * of a step of 0.43 ms. Nothing is staged here either: who fills a batch fills it where the card reads it. */
#include "workers/compute/kernels/cuda/cuda_int.h"

void *cuda_host_alloc(struct backend_ctx *c, size_t size_bytes)
{
    void *at = NULL;
    if (c->d.context_use(c->context) || c->d.host_get(&at, size_bytes, 0))
        return NULL;                    /* no failure of the context: other memory does */
    return at;
}

void cuda_host_free(struct backend_ctx *c, void *at)
{
    if (!at || !cuda_did(c, c->d.context_use(c->context), "context_use"))
        return;
    for (int q = 0; q < QUEUE_COUNT; q++)
        cuda_did(c, c->d.stream_sync(c->stream[q]), "stream_sync");
    cuda_did(c, c->d.host_free(at), "host_free");
}
