/* SPDX-License-Identifier: Apache-2.0 */
/* ort.c - the library by dlopen, its table by version, its entries by position. */
#include "workers/compute/ort/ort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/assert.h"
#include "core/base/library.h"

struct base {                                           /* OrtApiBase */
    const void *const *(*api)(uint32_t version);
    const char *(*version)(void);
};

static const struct {
    size_t position, at;
} entries[] = {
    { 1, offsetof(struct ort_api, code) }, { 2, offsetof(struct ort_api, text) },
#define STATUS(position, name, arguments) { position, offsetof(struct ort_api, name) },
#define GONE(position, name) { position, offsetof(struct ort_api, name) },
#include "workers/compute/ort/ort.def"
#undef STATUS
#undef GONE
};

static enum errc read_table(struct ort *o, const char *path, struct err *e)
{
    const struct base *(*get)(void) = NULL;
    if (setenv("ORT_DISABLE_TELEMETRY", "1", 1) != 0)
        return FAIL(e, UNAVAILABLE, "ONNX Runtime's telemetry cannot be switched off");
    void *library;
    TRY(library_open(path, "ONNX Runtime", &library, e));
    void *symbol = dlsym(library, "OrtGetApiBase");
    memcpy(&get, &symbol, sizeof get);
    const struct base *base = get ? get() : NULL;
    const void *const *table = base ? base->api(ORT_API) : NULL;
    if (!table)
        return FAIL(e, UNAVAILABLE, "%.100s is no ONNX Runtime with the table of 1.%d or later", path, ORT_API);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        memcpy((char *)&o->api + entries[i].at, &table[entries[i].position], sizeof *table);
    snprintf(o->version, sizeof o->version, "%s", base->version());
    return ERR_OK;
}

enum errc ort_check(const struct ort *o, enum errc code, const char *what, void *status, struct err *e)
{
    if (!status)
        return ERR_OK;
    const char *text = o->api.text(status);
    struct str whole = str_c(text ? text : ""), line;
    (void)str_cut(whole, '\n', &line, &whole);
    enum errc rc = err_set(e, code, __FILE__, __LINE__, "ONNX Runtime: %s: %.*s", what,
                           str_is_utf8(line) ? (int)(line.len < ORT_TEXT_MAX ? line.len : ORT_TEXT_MAX) : 0, line.ptr);
    o->api.status_free(status);
    return rc;
}

/* The arena is the environment's, so that all models of the process share one bound. */
static enum errc begin(struct ort *o, size_t max_bytes, struct err *e)
{
    void *arena = NULL, *memory = NULL;
    TRY(ort_check(o, ERR_UNAVAILABLE, "it does not begin", o->api.env_new(ORT_FATAL, "falaj", &o->env), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "telemetry", o->api.telemetry_off(o->env), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "memory", o->api.memory_new(ORT_ALLOCATOR_DEVICE, ORT_MEMORY_DEFAULT, &o->memory), e));
    TRY(ort_check(o, ERR_UNAVAILABLE, "arena", o->api.arena_new(max_bytes, ORT_EXTEND_AS_ASKED, -1, -1, &arena), e));
    enum errc rc = ort_check(o, ERR_UNAVAILABLE, "arena",
                             o->api.memory_new(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &memory), e);
    if (rc == ERR_OK)
        rc = ort_check(o, ERR_UNAVAILABLE, "arena", o->api.env_arena(o->env, memory, arena), e);
    if (memory)
        o->api.memory_free(memory);
    o->api.arena_free(arena);
    return rc;
}

enum errc ort_open(const char *path, size_t max_bytes, struct ort **ret, struct err *e)
{
    struct ort *o = calloc(1, sizeof *o);
    ASSERT(o);
    enum errc rc = read_table(o, path, e);
    if (rc == ERR_OK)
        rc = begin(o, max_bytes, e);
    if (rc != ERR_OK) {
        ort_free(o);
        return rc;
    }
    *ret = o;
    return ERR_OK;
}

void ort_free(struct ort *o)
{
    if (!o)
        return;
    if (o->memory)
        o->api.memory_free(o->memory);
    if (o->env)
        o->api.env_free(o->env);
    free(o);
}
