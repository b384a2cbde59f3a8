/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_room.c - memory that operations take beside buffers: scratch memory and gathered windows, which grow with the largest
 * operation and stay, and what is said where the card has no more of it. */
#include "workers/compute/kernels/cuda/cuda_ops_int.h"
#include "workers/compute/kernels/cuda/lt_int.h"

static void *room_of(struct backend_ctx *c, gpu_ptr *room, size_t *room_bytes, size_t size_bytes)
{
    if (size_bytes > *room_bytes && c->capture) {
        cuda_refuse(c, "scratch memory grows while a sequence is captured");
        return NULL;
    }
    if (size_bytes > *room_bytes) {
        if (*room && cuda_did(c, c->d.stream_sync(c->stream[QUEUE_COMPUTE]), "stream_sync"))
            cuda_did(c, c->d.memory_free(*room), "memory_free");
        *room = 0;
        *room_bytes = 0;
        c->scratch_moves++;
        if (!cuda_did(c, c->d.memory_get(room, size_bytes), "memory_get")) {
            c->refused_bytes = size_bytes;
            c->refused_is_windows = room == &c->gathered;
            return NULL;
        }
        *room_bytes = size_bytes;
    }
    const struct gpu_use use = { *room, size_bytes, false, true, false };
    if (c->d.about)
        c->d.about(NULL, c->stream[QUEUE_COMPUTE], &use, 1);
    return (void *)(uintptr_t)*room;
}

void *cuda_scratch(struct backend_ctx *c, size_t size_bytes)
{
    return room_of(c, &c->scratch, &c->scratch_bytes, size_bytes);
}

void *cuda_gathered(struct backend_ctx *c, size_t size_bytes)
{
    return room_of(c, &c->gathered, &c->gathered_bytes, size_bytes);
}

void cuda_memory(struct backend_ctx *c, struct card_memory *ret)
{
    *ret = (struct card_memory){ .library_bytes = c->lt ? c->lt->api.room_bytes : 0, .windows_bytes = c->gathered_bytes,
                                 .scratch_bytes = c->scratch_bytes, .refused_bytes = c->refused_bytes,
                                 .refused_is_windows = c->refused_is_windows };
    (void)c->d.context_use(c->context);         /* a context that is gone shows at the next call */
    if (c->d.memory_info(&ret->free_bytes, &ret->total_bytes))
        ret->free_bytes = ret->total_bytes = 0;
}

/* What was asked for beside the plan, and what there is. */
enum errc cuda_no_memory(struct backend_ctx *c, const char *failed, struct err *e)
{
    struct card_memory m;
    cuda_memory(c, &m);
    if (!m.refused_bytes || !m.total_bytes)
        return FAIL(e, LIMIT, "backend %s: the card has no more memory (%s)", c->be->name, failed);
    return FAIL(e, LIMIT, "backend %s: the card has no more memory: beside the plan %zu KiB of %s are needed, %zu of %zu are "
                "free%s", c->be->name, m.refused_bytes >> 10, m.refused_is_windows ? "windows" : "scratch", m.free_bytes >> 10,
                m.total_bytes >> 10, m.library_bytes ? ", and cuBLASLt has a workspace" : "");
}
