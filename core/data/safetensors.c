/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - what a header claims, checked against the file; and the writer.
 *
 * The ranges are sorted by begin and must tile the data exactly, which proves bounds, disjointness and "no hidden bytes" in one
 * pass. The writer's order (width descending, then name) keeps every tensor aligned to its width without padding between. */
#include "core/data/st_header_int.h"

#include <stdlib.h>

static const struct {
    const char *name;
    size_t width;
} dtypes[ST_DTYPES] = {
    [ST_BOOL] = { "BOOL", 1 }, [ST_U8] = { "U8", 1 },   [ST_I8] = { "I8", 1 },     [ST_F8_E5M2] = { "F8_E5M2", 1 },
    [ST_F8_E4M3] = { "F8_E4M3", 1 }, [ST_I16] = { "I16", 2 }, [ST_U16] = { "U16", 2 }, [ST_F16] = { "F16", 2 },
    [ST_BF16] = { "BF16", 2 }, [ST_I32] = { "I32", 4 }, [ST_U32] = { "U32", 4 },   [ST_F32] = { "F32", 4 },
    [ST_F64] = { "F64", 8 },   [ST_I64] = { "I64", 8 }, [ST_U64] = { "U64", 8 },
};

size_t st_width(enum st_dtype d)
{
    return (unsigned)d < ST_DTYPES ? dtypes[d].width : 0;
}

const char *st_dtype_name(enum st_dtype d)
{
    return (unsigned)d < ST_DTYPES ? dtypes[d].name : "?";
}

static uint64_t load_u64(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static int by_begin(const void *x, const void *y)
{
    const struct st_entry *a = x, *b = y;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;      /* an empty tensor comes before its neighbour */
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(((const struct st_tensor *)x)->name, ((const struct st_tensor *)y)->name);
}

static enum errc check_ranges(struct st_header *h, uint64_t data_size, struct err *e)
{
    uint64_t at = 0;
    if (h->entry_count)
        qsort(h->entries, h->entry_count, sizeof *h->entries, by_begin);
    for (size_t i = 0; i < h->entry_count; i++) {
        const struct st_entry *t = &h->entries[i];
        uint64_t size = st_width(t->tensor.dtype);
        for (uint32_t d = 0; d < t->tensor.rank; d++)
            if (__builtin_mul_overflow(size, t->tensor.shape[d], &size))
                return FAIL(e, BAD_DATA, "tensor \"%.*s\": its shape is beyond 64 bits", STR_ARG(t->tensor.name));
        if (t->begin != at || t->end < t->begin)
            return FAIL(e, BAD_DATA, "tensor \"%.*s\": its data does not begin where the one before ends", STR_ARG(t->tensor.name));
        if (t->end - t->begin != size)
            return FAIL(e, BAD_DATA, "tensor \"%.*s\": its shape needs %llu bytes, its range has %llu", STR_ARG(t->tensor.name),
                        (unsigned long long)size, (unsigned long long)(t->end - t->begin));
        at = t->end;
        if (at > data_size)
            return FAIL(e, BAD_DATA, "tensor \"%.*s\": its data is beyond the end of the file", STR_ARG(t->tensor.name));
    }
    return at == data_size ? ERR_OK : FAIL(e, BAD_DATA, "the model file has %llu bytes that belong to no tensor",
                                           (unsigned long long)(data_size - at));
}

enum errc st_header_size(const unsigned char prefix[ST_PREFIX], uint64_t file_size, size_t *ret, struct err *e)
{
    if (file_size < 10)
        return FAIL(e, BAD_DATA, "the model file is too short to be a safetensors file");
    uint64_t header_size = load_u64(prefix);
    if (header_size > file_size - ST_PREFIX)
        return FAIL(e, BAD_DATA, "the model file is cut off inside its header, or is no safetensors file");
    if (header_size > ST_HEADER_MAX)
        return FAIL(e, LIMIT, "the model file's header is longer than %d bytes", ST_HEADER_MAX);
    *ret = (size_t)header_size;
    return ERR_OK;
}

enum errc st_parse_header(struct arena *a, struct str header, uint64_t file_size, struct st_file *ret, struct err *e)
{
    struct st_header h;
    uint64_t data_at = ST_PREFIX + header.len;
    TRY(st_header_parse(a, header, &h, e));
    TRY(check_ranges(&h, file_size - data_at, e));
    struct st_file f = { .tensor_count = h.entry_count, .meta = h.meta, .meta_count = h.meta_count };
    f.tensors = arena_try(a, (h.entry_count + 1) * sizeof *f.tensors);
    if (!f.tensors)
        return FAIL(e, LIMIT, "the model file's header does not fit in memory");
    for (size_t i = 0; i < h.entry_count; i++) {
        f.tensors[i] = h.entries[i].tensor;
        f.tensors[i].at = data_at + h.entries[i].begin;
        f.tensors[i].size_bytes = (size_t)(h.entries[i].end - h.entries[i].begin);
    }
    qsort(f.tensors, f.tensor_count, sizeof *f.tensors, by_name);
    for (size_t i = 1; i < f.tensor_count; i++)
        if (str_eq(f.tensors[i - 1].name, f.tensors[i].name))
            return FAIL(e, BAD_DATA, "two tensors are named \"%.*s\"", STR_ARG(f.tensors[i].name));
    *ret = f;
    return ERR_OK;
}

enum errc st_parse(struct arena *a, const void *bytes, size_t n, struct st_file *ret, struct err *e)
{
    const unsigned char *p = bytes, *prefix = n < ST_PREFIX ? (const unsigned char *)"\0\0\0\0\0\0\0" : p;
    size_t header_size;
    TRY(st_header_size(prefix, n, &header_size, e));
    TRY(st_parse_header(a, str_n((const char *)p + ST_PREFIX, header_size), n, ret, e));
    for (size_t i = 0; i < ret->tensor_count; i++)
        ret->tensors[i].data = p + ret->tensors[i].at;
    return ERR_OK;
}

const struct st_tensor *st_find(const struct st_file *f, struct str name)
{
    size_t lo = 0, hi = f->tensor_count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(f->tensors[mid].name, name);
        if (c == 0)
            return &f->tensors[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

struct str st_pair_get(const struct st_pair *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq_c(pairs[i].key, key))
            return pairs[i].value;
    return STR_NULL;
}

struct str st_meta(const struct st_file *f, const char *key)
{
    return st_pair_get(f->meta, f->meta_count, key);
}

enum errc st_f32_shape(const struct st_file *f, const char *name, uint64_t rows, uint64_t cols, const struct st_tensor **ret,
                       struct err *e)
{
    const struct st_tensor *t = st_find(f, str_c(name));
    if (!t)
        return FAIL(e, BAD_DATA, "the model file has no tensor \"%s\"", name);
    if (t->dtype != ST_F32)
        return FAIL(e, BAD_DATA, "tensor \"%s\" is %s, not F32", name, st_dtype_name(t->dtype));
    uint32_t rank = cols ? 2 : 1;
    if (t->rank != rank || t->shape[0] != rows || (cols && t->shape[1] != cols))
        return FAIL(e, BAD_DATA, "tensor \"%s\" does not have the shape %llu × %llu that the model needs", name,
                    (unsigned long long)rows, (unsigned long long)(cols ? cols : 1));
    if (t->at % sizeof(float))
        return FAIL(e, BAD_DATA, "tensor \"%s\" is not aligned to 4 bytes", name);
    *ret = t;
    return ERR_OK;
}

enum errc st_f32(const struct st_file *f, const char *name, uint64_t rows, uint64_t cols, const float **ret, struct err *e)
{
    const struct st_tensor *t;
    TRY(st_f32_shape(f, name, rows, cols, &t, e));
    if ((uintptr_t)t->data % sizeof(float))
        return FAIL(e, BAD_DATA, "tensor \"%s\" is not aligned to 4 bytes", name);
    *ret = (const float *)(const void *)t->data;
    return ERR_OK;
}

static int by_width_then_name(const void *x, const void *y)
{
    const struct st_tensor *a = x, *b = y;
    size_t wa = st_width(a->dtype), wb = st_width(b->dtype);
    return wa != wb ? (wa > wb ? -1 : 1) : str_cmp(a->name, b->name);
}

static int by_key(const void *x, const void *y)
{
    return str_cmp(((const struct st_pair *)x)->key, ((const struct st_pair *)y)->key);
}

bool st_write_pairs(struct buf *out, struct st_pair *pairs, size_t count)
{
    if (count)
        qsort(pairs, count, sizeof *pairs, by_key);
    bool ok = buf_add_char(out, '{');
    for (size_t i = 0; i < count; i++)
        ok = ok && (i == 0 || buf_add_char(out, ',')) && buf_add_json(out, pairs[i].key) && buf_add_char(out, ':')
             && buf_add_json(out, pairs[i].value);
    return ok && buf_add_char(out, '}');
}

bool st_write_strings(struct buf *out, const struct str *items, size_t count)
{
    bool ok = buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++)
        ok = ok && (i == 0 || buf_add_char(out, ',')) && buf_add_json(out, items[i]);
    return ok && buf_add_char(out, ']');
}

static bool write_entry(struct buf *out, const struct st_tensor *t, uint64_t begin)
{
    bool ok = buf_add_json(out, t->name) && buf_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", st_dtype_name(t->dtype));
    for (uint32_t d = 0; ok && d < t->rank; d++)
        ok = buf_printf(out, "%s%llu", d ? "," : "", (unsigned long long)t->shape[d]);
    return ok && buf_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                            (unsigned long long)(begin + t->size_bytes));
}

enum errc st_write(struct buf *out, struct st_tensor *tensors, size_t tensor_count, struct st_pair *meta, size_t meta_count,
                   struct err *e)
{
    static const char blank[8] = { 0 };
    size_t start = out->len;
    uint64_t at = 0;
    if (tensor_count)
        qsort(tensors, tensor_count, sizeof *tensors, by_width_then_name);
    bool ok = buf_add(out, blank, 8) && buf_add_char(out, '{');
    if (meta_count)
        ok = ok && buf_add_c(out, "\"__metadata__\":") && st_write_pairs(out, meta, meta_count);
    for (size_t i = 0; ok && i < tensor_count; i++) {
        ok = (i == 0 && !meta_count) || buf_add_char(out, ',');
        ok = ok && write_entry(out, &tensors[i], at);
        at += tensors[i].size_bytes;
    }
    ok = ok && buf_add_char(out, '}');
    while (ok && (out->len - start) % 8)
        ok = buf_add_char(out, ' ');
    if (ok) {
        uint64_t header_size = out->len - start - 8;
        for (int i = 0; i < 8; i++)
            out->ptr[start + (size_t)i] = (char)(unsigned char)(header_size >> (8 * i));
    }
    for (size_t i = 0; ok && i < tensor_count; i++)
        ok = tensors[i].size_bytes == 0 || buf_add(out, tensors[i].data, tensors[i].size_bytes);
    return ok ? ERR_OK : FAIL(e, LIMIT, "the model does not fit in %zu bytes", out->max);
}
