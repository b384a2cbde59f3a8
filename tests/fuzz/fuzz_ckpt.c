/* SPDX-License-Identifier: Apache-2.0 */
/* USES: workers_compute core_data core_base */
/* fuzz_ckpt.c - a checkpoint's file: its metadata as the place of a run, its trees proven before they are walked, its words. */
#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "core/data/model_words.h"
#include "workers/compute/train/cursor.h"
#include "workers/compute/train/gbdt_model.h"

enum { COLUMNS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the reader lets through must be walked to a leaf by any row. */
static void walk(const struct gbdt_model *m)
{
    static const float rows[2][COLUMNS] = { { 0, 1, 2 }, { -1e30f, 1e30f, 0.5f } };
    const float *nodes = (const void *)m->nodes.ptr, *roots = (const void *)m->roots.ptr, *sets = (const void *)m->sets.ptr;
    volatile float sum = 0;
    for (size_t t = 0; t < m->tree_count; t++)
        for (size_t i = 0; i < 2; i++)
            sum += tree_leaf(nodes + (size_t)roots[t * TREE_ROOT_FIELDS] * TREE_FIELDS, sets, rows[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    struct gbdt_model m = { .outputs = 1, .scores = 1, .nodes = BUF(1 << 24), .roots = BUF(1 << 24), .sets = BUF(1 << 24) };
    struct model_words words;
    struct cursor at;
    struct ckpt k;
    struct err e = { 0 };
    char *copy = malloc(size + 1);      /* at a place of its own, as a file that was read */
    memcpy(copy, data, size);
    if (ckpt_read(a, str_n(copy, size), &k, &e) == ERR_OK) {
        if (cursor_read(&k, &at, &e) == ERR_OK && (at.step < 0 || at.taken < 0 || at.skipped < 0))
            abort();
        if (gbdt_model_read(&m, &k.file, COLUMNS, &e) == ERR_OK)
            walk(&m);
        if (model_words_read(a, &k.file, &words, &e) == ERR_OK)
            for (size_t i = 0; i < words.columns; i++)
                for (size_t w = 0; w < words.words[i].n; w++)
                    if (words_find(&words.words[i], words.words[i].items[w]) != (int32_t)w)
                        abort();
    }
    gbdt_model_release(&m);
    free(copy);
    return 0;
}
