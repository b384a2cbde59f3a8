/* SPDX-License-Identifier: Apache-2.0 */
/* data_tokens.c - windows over a shard. */
#include "workers/compute/train/data_tokens.h"
#include "core/data/tokens.h"

#include <math.h>
#include <string.h>

static int32_t token_at(const struct train_data *d, size_t i)
{
    const unsigned char *p = d->tokens + i * d->token_bytes;
    uint32_t low = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    return (int32_t)(d->token_bytes == 2 ? low : low | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

static void fetch(const struct train_data *d, const uint32_t *rows, size_t n, void *x, void *target)
{
    size_t t = d->shape.inputs;
    int32_t *in = x, *next = target;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < t; j++) {
            in[i * t + j] = token_at(d, rows[i] * t + j);
            next[i * t + j] = token_at(d, rows[i] * t + j + 1);
        }
}

enum errc train_data_tokens(struct arena *a, struct str shard, const struct train_job *spec, struct train_data *ret,
                            struct err *e)
{
    struct token_shard s;
    size_t t = (size_t)spec->context;
    TRY(token_shard_read(shard, &s, e));
    size_t rows = s.count > 0 ? (size_t)((s.count - 1) / t) : 0;
    if (rows < 2)
        return FAIL(e, BAD_DATA, "%llu tokens make %zu sequence(s) of %zu; two are needed, one to train on and one held out",
                    (unsigned long long)s.count, rows, t);
    if (rows > UINT32_MAX)
        return FAIL(e, LIMIT, "the shard makes more than %u sequences; give longer ones or shards of fewer tokens", UINT32_MAX);
    size_t held = (size_t)floor((double)rows * spec->holdout + 0.5);
    held = held < 1 ? 1 : held > rows - 1 ? rows - 1 : held;
    uint32_t *order = arena_try(a, rows * sizeof *order);
    if (!order)
        return FAIL(e, LIMIT, "the numbers of %zu sequences do not fit in the memory of this job", rows);
    for (size_t i = 0; i < rows; i++)
        order[i] = (uint32_t)i;
    struct str vocabulary = { NULL, 0 };
    if (s.vocabulary.len) {
        char *own = arena_try(a, s.vocabulary.len);
        if (!own)
            return FAIL(e, LIMIT, "the vocabulary does not fit in the memory of this job");
        memcpy(own, s.vocabulary.ptr, s.vocabulary.len);
        vocabulary = str_n(own, s.vocabulary.len);
    }
    *ret = (struct train_data){ .shape = { t, s.vocab, NET_CLASSES }, .train = order, .train_count = rows - held,
                                .holdout = order + rows - held, .holdout_count = held, .fetch = fetch, .tokens = s.tokens,
                                .token_bytes = s.token_bytes, .vocabulary = vocabulary };
    return ERR_OK;
}
