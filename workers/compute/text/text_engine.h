/* SPDX-License-Identifier: Apache-2.0 */
/* text_engine.h - many texts at once out of one model: continuous batching.
 *
 * One thread steps. Before each step whoever waits and finds a free slot joins, fairly among the callers (infer/queue.h, counted
 * in tokens of prompt and answer); each text that is being made gives one row, and what is left of the step's DECODE_ROWS goes to
 * prompts, evenly. So a long prompt holds up nobody's next token for longer than a step, and a text that ends makes room for the
 * next one at once. A text depends on its prompt, its seed and the model alone (text_model.h).
 * Who is gone (is_gone, asked before each step, and of who waits at its turn) gives the slot back. Memory: requests belong to
 * the caller until done(); the engine's is planned at birth. on_token, is_gone and done are called on the engine's thread and
 * must not block; done(RATE) comes on the thread of who submits.
 * done() gets RATE (gave way to a caller with less), DEADLINE (its turn did not come in time), UNAVAILABLE (is_gone, or the
 * engine stops), or what the step says.
 * Calling order: text_engine_new -> text_engine_submit from any thread -> text_engine_free, which ends what is under way. */
#pragma once
#include "workers/compute/infer/queue.h"
#include "workers/compute/text/sample.h"
#include "workers/compute/text/text_model.h"

enum text_end { TEXT_LENGTH, TEXT_STOP };       /* max_tokens were made; a stop token or string came */

struct text_request {
    struct infer_request in;            /* the queue's; caller, priority and timeout_us are the caller's */
    const int32_t *prompt;              /* tokens, at least 1; with max_tokens at most max_context */
    size_t prompt_count, max_tokens;
    struct sample_how how;
    const int32_t *stops;               /* tokens after which the text is over; they are not given to on_token */
    size_t stop_count;
    bool (*on_token)(struct text_request *r, int32_t token);            /* false: the text is over (TEXT_STOP) */
    bool (*is_gone)(struct text_request *r);                            /* NULL: never */
    /* What may follow each token of the prompt, vocab numbers, in order; then max_tokens may be 0. NULL: nobody asks. */
    void (*on_scores)(struct text_request *r, size_t at, const float *logits);
    void (*done)(struct text_request *r, enum errc rc, enum text_end end);
    void *ctx;
    /* results */
    size_t made;                        /* tokens, without a stop token */
    int64_t wait_us, first_us;          /* until its turn; until the first token, from when it was submitted */
};

struct text_stats {
    uint64_t requests, ended, gone, gave_way, late, steps, rows, prompt_tokens, tokens;
    size_t waiting, running, running_max;
};

struct text_engine_options {
    size_t queue_requests;              /* that may wait; 0: 4096 */
    int64_t timeout_us;                 /* a request whose turn has not come by then is refused; 0: no limit */
};

struct text_engine;
enum errc text_engine_new(struct text_model *m, const struct text_engine_options *o, struct text_engine **ret, struct err *e);
void text_engine_free(struct text_engine *x);       /* NULL is fine */
/* INVALID: it does not fit (with the figures). RATE: as many wait as may. UNAVAILABLE: it stops. */
enum errc text_engine_submit(struct text_engine *x, struct text_request *r, struct err *e) MUST_CHECK;
void text_engine_get_stats(struct text_engine *x, struct text_stats *ret);
const struct text_info *text_engine_info(const struct text_engine *x);
