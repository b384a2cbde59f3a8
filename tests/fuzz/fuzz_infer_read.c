/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_infer_read.c - any bytes as a request of the Open Inference Protocol: a line with the length of its JSON (empty: all
 * of it is JSON), then the JSON and the binary tensors behind it. What is accepted is computed and answered. */
/* USES: core_base core_data core_json core_wire workers_compute workers_agent */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define fail_msg(...) abort()
#include "../unit/workers/lease/infer_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(struct infer_call *c, const struct infer_model *m)
{
    struct infer_session *s = NULL;
    struct buf b = BUF((size_t)64 << 20);
    struct err e;
    size_t json;
    if (infer_session_new(m, &s, &e) != ERR_OK)
        abort();
    for (size_t i = 0; i < c->sig->output_count; i++)       /* as the batcher, which computes all of them */
        if (!c->io.out[i])
            c->io.out[i] = arena_alloc(c->arena, sig_count(&c->sig->outputs[i], c->rows) * sizeof(float));
    if (infer_run(s, &c->io, c->rows, &e) == ERR_OK)
        (void)!infer_answer(c, &b, &json, &e);
    infer_session_free(s);
    buf_release(&b);
}

static void one(struct infer_model *m, struct str data)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct str length, body;
    struct err e = { 0 };
    struct infer_call c = kit_call(m, a);
    str_cut(data, '\n', &length, &body);
    if (infer_read(&c, length.len ? length : STR_NULL, body, &e) == ERR_OK && c.rows <= 64)
        answer(&c, m);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct infer_model *of_numbers, *of_words;
    of_numbers = of_numbers ? of_numbers : kit_model_of_two();
    of_words = of_words ? of_words : kit_model_of_words("[[\"red\",\"blue\"],[\"north\"]]");
    one(of_numbers, str_n((const char *)data, size));
    one(of_words, str_n((const char *)data, size));
    return 0;
}
