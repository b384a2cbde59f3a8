/* SPDX-License-Identifier: Apache-2.0 */
/* USES: scheduler */
/* fuzz_kube_read.c - what a kube-apiserver answers: the same text as its Jobs and as its pods, and held against itself.
 *
 * Oracle: what is seen has our names and words of bounded length, numbers are not negative, a document is the same as itself,
 * and a refusal is no success. */
#include "core/json/jsonvalue.h"
#include "scheduler/engines/kube_read.h"
#include "scheduler/engines/kube_same.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct str body = str_n((const char *)p, n);
    const struct jval *doc = NULL;
    struct slice rows = { 0 };
    struct err e = { 0 };
    (void)kube_quantity(body);
    if (n < 65536 && kube_read(a, 200, body, false, &doc, &e) == ERR_OK) {
        if (kube_differs(a, doc, doc).ptr)
            abort();
        const struct kube_pods *pods = NULL;
        if (kube_read_pods(a, 200, body, 1600000000000000, &pods, &e) == ERR_OK
            && kube_read_runs(a, 200, body, pods, &rows, &e) == ERR_OK)
            for (size_t i = 0; i < rows.n; i++) {
                const struct engine_seen *s = &((const struct engine_seen *)rows.items)[i];
                struct uuid run;
                int64_t tries;
                if (!engine_name_read(s->name, &run, &tries) || s->word.len > ENGINE_WORD_MAX || s->reason.len > ENGINE_WORD_MAX
                    || s->cpus < 0 || s->memory_bytes < 0 || s->machines < 0 || s->minutes < 0)
                    abort();
            }
        if (kube_read(a, 422, body, true, &doc, &e) == ERR_OK || kube_read_gone(a, 403, body, &e) == ERR_OK)
            abort();
    }
    arena_free(a);
    return 0;
}
