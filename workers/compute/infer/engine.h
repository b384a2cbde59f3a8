/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - the table of an engine that is not ours, behind the models of model.h: whoever serves sees no difference.
 *
 * Calling order: door.open once it is needed -> model_new -> call_new (per thread) -> put*, compute, take* -> call_free ->
 * model_free; the engine outlives its models. Rows are laid out as in struct infer_io. A model is shared by threads, a call is
 * one thread's. */
#pragma once
#include <stddef.h>
#include "core/base/str.h"
#include "core/data/model_sig.h"

struct infer_engine {
    const char *name;               /* with its version, for people */
    void *ctx;
    /* onnx: read once, here. sig: outlives the model. What is wrong with the model: UNPROCESSABLE, BAD_DATA, LIMIT. */
    enum errc (*model_new)(void *ctx, struct str onnx, const struct model_sig *sig, void **ret, struct err *e);
    void (*model_free)(void *model);
    enum errc (*call_new)(void *model, size_t max_rows, void **ret, struct err *e);
    void (*call_free)(void *call);
    void (*put)(void *call, size_t at, const void *const *in, size_t rows);
    /* UNPROCESSABLE: the engine refuses these numbers, or gives what the signature does not say. */
    enum errc (*compute)(void *call, size_t rows, struct err *e);
    /* From another thread: the compute that runs ends with DEADLINE, soon if the engine can. One that only begins may not see it,
     * and a later one does not, so whoever watches says it until compute has returned. */
    void (*stop)(void *call);
    void (*take)(void *call, size_t at, size_t rows, void *const *out);
};

/* Where an engine comes from when a model needs it; UNAVAILABLE: it cannot be opened here. */
struct infer_door {
    enum errc (*open)(void *ctx, const struct infer_engine **ret, struct err *e);
    void *ctx;
};
