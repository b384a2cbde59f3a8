/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_text_read.c - any bytes as a call for text: what is accepted has a prompt of tokens of the vocabulary that fits, limits
 * within their bounds, and stops that lie in the request. */
/* USES: core_base core_data core_json core_wire workers_compute workers_agent */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../unit/workers/lease/text_read_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(bool has_words, struct str body)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct text_info info = trk_info(a, has_words);
    struct text_call c;
    struct err e = { 0 };
    if (text_read(a, &info, body, 5, &c, &e) == ERR_OK) {
        const struct text_request *r = &c.request;
        if (r->prompt_count < 1 || r->prompt_count > info.max_context || r->max_tokens < 1 || !(r->how.top_p > 0)
            || !(r->how.temperature >= 0) || r->how.top_k < 0 || c.stop_count > TEXT_STOPS_MAX)
            abort();
        for (size_t i = 0; i < r->prompt_count; i++)
            if (r->prompt[i] < 0 || (size_t)r->prompt[i] >= info.vocab)
                abort();
        for (size_t i = 0; i < r->stop_count; i++)
            if (r->stops[i] < 0 || (size_t)r->stops[i] >= info.vocab)
                abort();
        for (size_t i = 0; i < c.stop_count; i++)
            if (c.stops[i].len < 1 || c.stops[i].len > TEXT_STOP_BYTES_MAX)
                abort();
    } else if (!e.msg[0]) {
        abort();
    }
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one(true, str_n((const char *)data, size));
    one(false, str_n((const char *)data, size));
    return 0;
}
