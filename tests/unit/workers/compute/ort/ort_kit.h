/* SPDX-License-Identifier: Apache-2.0 */
/* ort_kit.h - the stand-in for ONNX Runtime, and models of one operator that nobody else has; after cmocka.h. */
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "../onnx/onnx_kit.h"
#include "fake_ort.h"
#include "workers/compute/ort/ort_convert.h"
#include "workers/compute/ort/ort_model.h"

static inline const char *kit_fake_path(void)
{
    static char path[600];
    const char *bin = getenv("FALAJ_BIN");
    snprintf(path, sizeof path, "%s/../tests/libfake_ort.so", bin ? bin : "build/asan/bin");
    return path;
}

static inline struct fake_ort_told *kit_told(void)
{
    struct fake_ort_told *(*get)(void);
    void *library = dlopen(kit_fake_path(), RTLD_NOW | RTLD_LOCAL), *f = library ? dlsym(library, "fake_ort_told") : NULL;
    assert_non_null(f);
    memcpy(&get, &f, sizeof get);
    return get();
}

/* x of a type and shape -> y by an operator with that name. */
static inline struct buf kit_odd_model(const char *op, int type, const int64_t *dim, size_t rank)
{
    struct buf g = BUF(KIT_BYTES);
    kit_value(&g, 11, "x", type, dim, rank);
    kit_node(&g, op, "x", "y", NULL);
    kit_output(&g, "y");
    return kit_model(&g, 17);
}

struct kit_engine {
    struct ort *ort;
    char name[64];
    struct infer_engine engine;
};

static inline enum errc kit_open_engine(void *ctx, const struct infer_engine **ret, struct err *e)
{
    struct kit_engine *k = ctx;
    if (!k->ort) {
        TRY(ort_open(kit_fake_path(), 1 << 20, &k->ort, e));
        ort_engine_of(k->ort, k->name, &k->engine);
    }
    *ret = &k->engine;
    return ERR_OK;
}

/* The file of such a model; refused: e says why. */
static inline enum errc kit_odd_file(struct kit_engine *k, struct buf onnx, struct buf *file, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)64 << 20);
    const struct infer_door door = { kit_open_engine, k };
    struct onnx_about about;
    enum errc rc = ort_convert(a, buf_str(&onnx), NULL, &door, file, &about, e);
    buf_release(&onnx);
    return rc;
}

static inline struct infer_model *kit_odd(struct kit_engine *k, const char *op, int type, const int64_t *dim, size_t rank)
{
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES);
    const struct infer_door door = { kit_open_engine, k };
    struct infer_model *m = NULL;
    struct err e = { 0 };
    if (kit_odd_file(k, kit_odd_model(op, type, dim, rank), &file, &e) != ERR_OK
        || infer_model_load_from(&backend_ref, NULL, file.ptr, file.len, &(struct infer_load){ .door = &door }, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    return m;
}
