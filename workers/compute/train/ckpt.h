/* SPDX-License-Identifier: Apache-2.0 */
/* ckpt.h - checkpoints: the file of one, and the place where a run keeps them.
 *
 * A file is a safetensors file that PyTorch reads. Its __metadata__ has format "pt", checkpoint "1" (the version of this
 * layout), and
 * what the family needs besides tensors to go on: `run` (a digest of all that decides the outcome), the step, the place in the
 * order
 * of rows. Families of the step loop have the model's tensors under their own names, exp_avg.<name> and exp_avg_sq.<name> of
 * AdamW
 * (SGD the first alone), best.<name> with early stopping. It is read as hostile input: ckpt_read proves what st_parse proves.
 *
 * The place is whoever runs the job (workers/lease/ckpt_link.h seals and sends; tests keep them in memory). A run knows no
 * files, no
 * keys and no network. Every family saves and restores through it.
 * Calling order: ckpt_restore once at the start -> (is_ready -> save)* -> [ckpt_restore to go back] -> save with wait when told
 * to stop.
 * Errors: DAMAGED (none of those that are there can be used), CONFLICT (they are of another run), LIMIT (memory). */
#pragma once
#include "core/data/safetensors.h"

enum { CKPT_PAIRS_MAX = 40 };

struct ckpt_store {
    void *ctx;
    /* Is the last one kept, and may one come already? What is due waits for it; the run does not. */
    bool (*is_ready)(void *ctx);
    /* Takes the buffer over. wait: not back before it is kept or lost; else an error of this one is only logged by the store. */
    enum errc (*save)(void *ctx, int64_t step, struct buf *file, bool wait, struct err *e);
    /* The i-th, the newest is 0; *ret_found false: there are no more. In the arena. An error is about this one alone. */
    enum errc (*load)(void *ctx, size_t i, struct arena *a, struct str *ret, bool *ret_found, struct err *e);
};

struct ckpt {
    struct st_file file;                /* tensor data is borrowed from the bytes */
    struct str run;
    int64_t step;
};

/* Appends the file. pairs: beside run and step, at most CKPT_PAIRS_MAX. */
MUST_CHECK enum errc ckpt_write(struct buf *out, struct str run, int64_t step, struct st_tensor *tensors, size_t tensor_count,
                                const struct st_pair *pairs, size_t pair_count, struct err *e);
MUST_CHECK enum errc ckpt_read(struct arena *a, struct str bytes, struct ckpt *ret, struct err *e);

/* Who takes a checkpoint up; what it refuses is passed over for the one before, but CONFLICT and LIMIT end the search. */
struct ckpt_taker {
    void *ctx;
    enum errc (*take)(void *ctx, struct arena *a, const struct ckpt *k, struct err *e);
    void (*log)(void *ctx, const char *line);
};
/* The newest that can be used. None there: *ret_found false. */
MUST_CHECK enum errc ckpt_restore(const struct ckpt_store *s, const struct ckpt_taker *t, bool *ret_found, struct err *e);
