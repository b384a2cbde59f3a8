/* SPDX-License-Identifier: Apache-2.0 */
/* product_library.h - products by a library of the card's vendor, where a machine has it and a context is told to use it.
 *
 * Such a context is as deterministic as another one, but no longer SAME_BITS: a row's sum may be cut otherwise in another batch.
 * So nobody gets it who does not ask: trainings do, and who serves does not. A product that the library refuses is the own
 * kernels', and so is everything where it is not there.
 * Calling order, on a context that is open: use -> [bind, before the first product] -> (kernels, news)* -> keep. */
#pragma once
#include "core/base/str.h"
#include "workers/compute/kernels/backend.h"

struct product_library {
    /* setting: "auto", a path, or "off" (or NULL, ""). is_timed: of the ways that the library names for a shape the fastest is
     * found out, once; else its first is taken. ret: a line for a log, or empty. false: own kernels. */
    bool (*use)(struct backend_ctx *c, const char *setting, bool is_timed, char *ret, size_t size);
    /* What a log should know since the last call, or NULL: a product that was refused (the first alone), no room for more kinds
     * of products (once). */
    const char *(*news)(struct backend_ctx *c);
    /* The ways that were chosen, as one line of text, added; nothing where there are none. */
    void (*keep)(const struct backend_ctx *c, struct buf *ret);
    /* Takes them from such a text, so that the same products have the same bits. false: of another library, card or version,
     * or no such text; ways are chosen anew then. */
    bool (*bind)(struct backend_ctx *c, struct str text);
};
