/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - the next token out of logits: the likeliest, or one drawn by a seed.
 *
 * Drawn: softmax(logits / temperature), of which the top_k likeliest, and of those the fewest that have top_p of the
 * probability together; then by a number of Philox of (seed, place), so that the same logits, seed and place give the same token
 * wherever and with whomever it is drawn. Of equal logits the smaller token is the likelier; a logit that is no number is none.
 * Pure. Source: Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020 (top_p). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct sample_how {
    double temperature;         /* 0: the likeliest token, whatever the rest says */
    int64_t top_k;              /* 0: all */
    double top_p;               /* above 0; 1 and more: all */
    uint64_t seed;
};

struct sample_room {            /* of one caller: vocab candidates */
    struct sample_one { float logit; int32_t token; } *list;
};

int32_t sample_token(const float *logits, size_t vocab, const struct sample_how *how, uint64_t place, struct sample_room *room);
