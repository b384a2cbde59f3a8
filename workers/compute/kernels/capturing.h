/* SPDX-License-Identifier: Apache-2.0 */
/* capturing.h - operations that are asked for again and again, kept on a device as one: the host asks once instead of for each.
 *
 * A backend with this table is one of devices, of which a process may have several. Calling order: begin -> calls of kernels,
 * and nothing else -> end -> replay* -> free. Between begin and end nothing runs. What lies in a tensor may change between
 * replays, tensors and attributes may not. */
#pragma once
#include "workers/compute/kernels/backend.h"

struct captured;
struct card_ops;

struct capturing {
    bool (*begin)(struct backend_ctx *c);               /* false: this time, or here, it cannot be done */
    struct captured *(*end)(struct backend_ctx *c);     /* NULL: it was not done, and the calls are to be made as ever */
    bool (*replay)(struct backend_ctx *c, const struct captured *g);    /* on QUEUE_COMPUTE; false: capture it anew */
    void (*free)(struct backend_ctx *c, struct captured *g);            /* NULL: nothing */
    const struct card_ops *cards;                          /* the devices themselves (cards.h) */
};
