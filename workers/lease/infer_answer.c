/* SPDX-License-Identifier: Apache-2.0 */
/* infer_answer.c - the outputs of a call as JSON, or as JSON and binary tensors behind it. */
#include "workers/lease/infer_read_int.h"
#include "core/base/cleanup.h"
#include "core/json/encode.h"
#include "core/wire/infer_wire.h"

#include <stdio.h>

static const size_t ANSWER_MAX = (size_t)256 << 20;

static bool is_type(const struct sig_tensor *t, const char *name)
{
    return str_eq_c(t->datatype, name);
}

static void add_json(struct buf *b, const struct sig_tensor *t, const void *p, size_t n)
{
    const float *real = p;
    if (infer_is_whole(t)) {
        json_add_i32s(b, p, n);
        return;
    }
    if (!is_type(t, "BOOL")) {
        json_add_f32s(b, real, n);
        return;
    }
    buf_add_char(b, '[');
    for (size_t i = 0; i < n && !b->overflow; i++)
        buf_printf(b, "%s%s", i ? "," : "", real[i] != 0 ? "true" : "false");
    buf_add_char(b, ']');
}

/* Appends and returns how many bytes. */
static size_t add_binary(struct buf *b, const struct sig_tensor *t, const void *p, size_t n)
{
    size_t before = b->len;
    const int32_t *whole = p;
    const float *real = p;
    for (size_t i = 0; i < n && is_type(t, "INT64"); i++) {
        int64_t v = whole[i];
        buf_add(b, &v, sizeof v);
    }
    for (size_t i = 0; i < n && is_type(t, "BOOL"); i++)
        buf_add_char(b, real[i] != 0);
    if (!is_type(t, "INT64") && !is_type(t, "BOOL"))
        buf_add(b, p, n * 4);
    return b->len - before;
}

enum errc infer_answer(const struct infer_call *c, struct buf *ret, size_t *ret_json, struct err *e)
{
    CLEANUP(buf_releasep) struct buf binary = BUF(ANSWER_MAX);
    CLEANUP(buf_releasep) struct buf data = BUF(ANSWER_MAX);
    struct infer_tensor out[SIG_TENSORS_MAX];
    size_t from[SIG_TENSORS_MAX], to[SIG_TENSORS_MAX], n = 0;
    char version[24];
    bool any_binary = false;
    for (size_t i = 0; i < c->sig->output_count; i++) {
        const struct sig_tensor *t = &c->sig->outputs[i];
        size_t count = sig_count(t, c->rows);
        int64_t *dim = ARENA_ARRAY(c->arena, int64_t, t->rank);
        if (!c->is_wanted[i])
            continue;
        for (uint32_t d = 0; d < t->rank; d++)
            dim[d] = t->dim[d] < 0 ? (int64_t)c->rows : t->dim[d];
        out[n] = (struct infer_tensor){ .name = t->name, .datatype = t->datatype, .shape = { dim, t->rank } };
        from[n] = data.len;
        if (c->is_binary[i]) {
            size_t bytes = add_binary(&binary, t, c->io.out[i], count);
            CLEANUP(buf_releasep) struct buf p = BUF(64);
            json_encode(&infer_behind_schema, &(struct infer_behind){ (int64_t)bytes }, &p);
            out[n].parameters.text = str_dup(c->arena, buf_str(&p));
            any_binary = true;
        } else {
            add_json(&data, t, c->io.out[i], count);
        }
        to[n++] = data.len;
    }
    for (size_t i = 0; i < n; i++)      /* data moves while it grows */
        if (to[i] > from[i])
            out[i].data.text = str_n(data.ptr + from[i], to[i] - from[i]);
    snprintf(version, sizeof version, "%ld", (long)c->version);
    json_encode(&infer_reply_schema, &(struct infer_reply){ c->name, str_c(version), c->id, { out, n } }, ret);
    *ret_json = any_binary ? ret->len : 0;
    if (any_binary)
        buf_add_str(ret, buf_str(&binary));
    return ret->overflow || data.overflow || binary.overflow ? FAIL(e, LIMIT, "the answer is too large") : ERR_OK;
}
