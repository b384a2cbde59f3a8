/* SPDX-License-Identifier: Apache-2.0 */
/* model_sig.c - the signature's JSON, read strictly and written as it is read. */
#include "core/data/model_sig.h"
#include "core/data/json_read.h"

static const char *const datatypes[] = { "FP32", "FP64", "FP16", "BF16", "INT64", "INT32", "INT16", "INT8",
                                         "UINT64", "UINT32", "UINT16", "UINT8", "BOOL", "BYTES", NULL };

static bool is_datatype(struct str s)
{
    for (size_t i = 0; datatypes[i]; i++)
        if (str_eq_c(s, datatypes[i]))
            return true;
    return false;
}

static enum errc check_tensor(const struct sig_tensor *all, size_t n, struct err *e)
{
    const struct sig_tensor *t = &all[n];
    uint64_t count = 1;
    if (t->name.len == 0 || sig_find(all, n, t->name) >= 0)
        return FAIL(e, BAD_DATA, "the signature has a tensor without a name, or two named \"%.*s\"", STR_ARG(t->name));
    if (!is_datatype(t->datatype))
        return FAIL(e, BAD_DATA, "the signature has \"%.*s\" of the unknown datatype \"%.*s\"", STR_ARG(t->name),
                    STR_ARG(t->datatype));
    for (uint32_t d = 0; d < t->rank; d++)
        if ((t->dim[d] < 1 && !(d == 0 && t->dim[d] == -1))
            || __builtin_mul_overflow(count, (uint64_t)(t->dim[d] < 0 ? 1 : t->dim[d]), &count) || count >> 40)
            return FAIL(e, BAD_DATA, "the signature has \"%.*s\" with %ld in dimension %u", STR_ARG(t->name), (long)t->dim[d], d);
    return t->rank ? ERR_OK : FAIL(e, BAD_DATA, "the signature has \"%.*s\" without a shape", STR_ARG(t->name));
}

static enum errc read_list(struct json_scan *s, struct arena *a, const char *key, struct sig_tensor *all, size_t *ret_n,
                           struct err *e)
{
    bool first = true, ok = json_read_key(s, key) && json_scan_take(s, '[');
    size_t n = 0;
    s->why = ok ? NULL : s->why;
    while (ok && json_read_more(s, ']', &first)) {
        struct sig_tensor *t = &all[n];
        size_t rank = 0;
        if (n == SIG_TENSORS_MAX)
            return FAIL(e, LIMIT, "the signature has more than %d %s", SIG_TENSORS_MAX, key);
        ok = json_scan_take(s, '{') && json_read_key(s, "name") && json_read_text(s, a, SIG_NAME_MAX, &t->name)
             && json_scan_take(s, ',') && json_read_key(s, "datatype") && json_read_text(s, a, 16, &t->datatype)
             && json_scan_take(s, ',') && json_read_key(s, "shape") && json_read_i64s(s, t->dim, SIG_DIMS_MAX, &rank)
             && json_scan_take(s, '}');
        t->rank = (uint32_t)rank;
        if (ok)
            TRY(check_tensor(all, n++, e));
    }
    *ret_n = n;
    return ok && !s->why && n ? ERR_OK : FAIL(e, BAD_DATA, "the signature is not readable: %s",
                                              s->why ? s->why : "a list is empty");
}

enum errc model_sig_parse(struct arena *a, struct str json, struct model_sig *ret, struct err *e)
{
    struct json_scan s = { json.ptr, json.len ? json.ptr + json.len : json.ptr, NULL };
    if (json.len == 0 || json.len > SIG_JSON_MAX || !json_scan_take(&s, '{'))
        return FAIL(e, BAD_DATA, "there is no signature, or it is no JSON of at most %d bytes", SIG_JSON_MAX);
    TRY(read_list(&s, a, "inputs", ret->inputs, &ret->input_count, e));
    if (!json_scan_take(&s, ','))
        return FAIL(e, BAD_DATA, "the signature is not readable: %s", s.why);
    TRY(read_list(&s, a, "outputs", ret->outputs, &ret->output_count, e));
    return json_scan_take(&s, '}') && s.at == s.end ? ERR_OK : FAIL(e, BAD_DATA,
                                                                    "the signature is not readable: it goes on behind its end");
}

static struct sig_tensor rows_of(const char *name, const char *datatype, size_t width)
{
    return (struct sig_tensor){ .name = str_c(name), .datatype = str_c(datatype), .rank = width ? 2 : 1,
                                .dim = { -1, (int64_t)width } };
}

void model_sig_perceptron(struct model_sig *ret, size_t inputs, size_t classes)
{
    ret->inputs[0] = rows_of("input", "FP32", inputs);
    ret->outputs[0] = rows_of("probabilities", "FP32", classes);
    ret->outputs[1] = rows_of("label", "INT64", 0);
    ret->input_count = 1;
    ret->output_count = 2;
}

static bool write_list(struct buf *out, const char *key, const struct sig_tensor *t, size_t n)
{
    bool ok = buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        ok = buf_add_c(out, i ? ",{\"name\":" : "{\"name\":") && buf_add_json(out, t[i].name)
             && buf_printf(out, ",\"datatype\":\"%.*s\",\"shape\":[", STR_ARG(t[i].datatype)) && ok;
        for (uint32_t d = 0; d < t[i].rank; d++)
            ok = buf_printf(out, d ? ",%ld" : "%ld", (long)t[i].dim[d]) && ok;
        ok = buf_add_c(out, "]}") && ok;
    }
    return buf_add_char(out, ']') && ok;
}

bool model_sig_write(struct buf *out, const struct model_sig *s)
{
    return buf_add_char(out, '{') && write_list(out, "inputs", s->inputs, s->input_count) && buf_add_char(out, ',')
           && write_list(out, "outputs", s->outputs, s->output_count) && buf_add_char(out, '}');
}

int sig_find(const struct sig_tensor *t, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(t[i].name, name))
            return (int)i;
    return -1;
}

size_t sig_count(const struct sig_tensor *t, size_t rows)
{
    size_t n = 1;
    for (uint32_t d = 0; d < t->rank; d++)
        n *= t->dim[d] < 0 ? rows : (size_t)t->dim[d];
    return n;
}

bool sig_print(struct buf *out, const struct sig_tensor *t, size_t n)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        ok = buf_printf(out, "%s%.*s %.*s[", i ? ", " : "", STR_ARG(t[i].name), STR_ARG(t[i].datatype)) && ok;
        for (uint32_t d = 0; d < t[i].rank; d++)
            ok = buf_printf(out, d ? ",%ld" : "%ld", (long)t[i].dim[d]) && ok;
        ok = buf_add_char(out, ']') && ok;
    }
    return ok;
}
