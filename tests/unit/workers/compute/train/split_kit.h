/* SPDX-License-Identifier: Apache-2.0 */
/* split_kit.h - a small gpt and a text for it, for runs whose ranks share layers. Included after cmocka.h. */
#pragma once
#include "run_kit.h"
#include "core/data/tokens.h"
#include "workers/compute/train/data_tokens.h"

static inline struct train_job run_spec(void)
{
    struct train_job s = kit_spec();
    s.family = TRAIN_GPT;
    s.layers = 2;
    s.width = 32;
    s.heads = 4;
    s.context = 16;
    s.accumulate = 2;
    s.batch_size = 4;
    s.classes = 64;
    s.max_steps = 12;
    s.clip_norm = 0.5;
    s.learning_rate = 0.01;
    s.dropout = 0.1;
    return s;
}

static inline struct train_data text_of(struct arena *a, const struct train_job *s)
{
    enum { TOKENS = 4000 };
    struct train_data d;
    struct err e = { 0 };
    char *p = arena_alloc(a, TOKENS_HEADER + 2 * TOKENS);
    for (int i = 0; i < TOKENS; i++) {
        p[TOKENS_HEADER + 2 * i] = (char)(i * i % 61);
        p[TOKENS_HEADER + 2 * i + 1] = 0;
    }
    const struct token_shard shard = { (unsigned char *)p + TOKENS_HEADER, 2, 64, TOKENS, 1 };
    token_shard_header(&shard, (unsigned char *)p);
    if (train_data_tokens(a, str_n(p, TOKENS_HEADER + 2 * TOKENS), s, &d, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return d;
}
