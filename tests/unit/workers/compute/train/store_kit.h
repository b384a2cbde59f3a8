/* SPDX-License-Identifier: Apache-2.0 */
/* store_kit.h - checkpoints in memory, the two newest, as a run's store. Included after cmocka.h. */
#pragma once
#include <string.h>

#include "workers/compute/train/ckpt.h"

enum { KIT_KEPT = 2 };
struct kit_store {
    struct buf kept[KIT_KEPT];          /* the newest first */
    size_t n, saves, waits;
    bool is_busy;
    struct ckpt_store store;
};

static inline bool kit_store_is_ready(void *ctx)
{
    return !((struct kit_store *)ctx)->is_busy;
}
static inline enum errc kit_store_save(void *ctx, int64_t step, struct buf *file, bool wait, struct err *e)
{
    struct kit_store *k = ctx;
    (void)step, (void)e;
    k->saves++;
    k->waits += wait;
    if (k->n == KIT_KEPT)
        buf_release(&k->kept[KIT_KEPT - 1]);
    memmove(k->kept + 1, k->kept, (KIT_KEPT - 1) * sizeof *k->kept);
    k->kept[0] = *file;
    *file = BUF(0);
    k->n += k->n < KIT_KEPT;
    return ERR_OK;
}
static inline enum errc kit_store_load(void *ctx, size_t i, struct arena *a, struct str *ret, bool *ret_found, struct err *e)
{
    struct kit_store *k = ctx;
    (void)e;
    *ret_found = i < k->n;
    if (*ret_found)
        *ret = str_dup(a, buf_str(&k->kept[i]));
    return ERR_OK;
}
static inline const struct ckpt_store *kit_store_init(struct kit_store *k)
{
    *k = (struct kit_store){ .store = { k, kit_store_is_ready, kit_store_save, kit_store_load } };
    return &k->store;
}
static inline void kit_store_release(struct kit_store *k)
{
    for (size_t i = 0; i < k->n; i++)
        buf_release(&k->kept[i]);
    k->n = 0;
}
