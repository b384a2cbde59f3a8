/* SPDX-License-Identifier: Apache-2.0 */
/* data_format.c - the table of formats. */
#include "core/data/data_format.h"

#include <string.h>
#include "core/base/assert.h"
#include "core/data/csv.h"
#include "core/data/npy_table.h"
#include "core/data/tokens.h"

enum { TAR_MAGIC_AT = 257 };

const char *const data_format_names[] = { "csv", "npy", "tokens", "onnx", "oci", NULL };

static void found_table(const struct data_table *t, struct data_found *ret)
{
    *ret = (struct data_found){ t->rows, t->cols, (uint64_t)t->classes };
}

static enum errc start_csv(struct arena *a, const struct data_schema *s, uint64_t size_bytes, void **ret, struct err *e)
{
    struct csv_checker *c;
    (void)size_bytes;
    TRY(csv_checker_new(a, s, &c, e));
    *ret = c;
    return ERR_OK;
}

static enum errc add_csv(void *checker, const char *p, size_t n, struct err *e)
{
    return csv_checker_add(checker, p, n, e);
}

static enum errc end_csv(void *checker, struct data_found *ret, struct err *e)
{
    struct data_table t;
    TRY(csv_checker_end(checker, &t, e));
    found_table(&t, ret);
    return ERR_OK;
}

static enum errc start_npy(struct arena *a, const struct data_schema *s, uint64_t size_bytes, void **ret, struct err *e)
{
    struct npy_checker *c;
    TRY(npy_checker_new(a, s, size_bytes, &c, e));
    *ret = c;
    return ERR_OK;
}

static enum errc add_npy(void *checker, const char *p, size_t n, struct err *e)
{
    return npy_checker_add(checker, p, n, e);
}

static enum errc end_npy(void *checker, struct data_found *ret, struct err *e)
{
    struct data_table t;
    TRY(npy_checker_end(checker, &t, e));
    found_table(&t, ret);
    return ERR_OK;
}

static void drop_tokens(void *checker)
{
    token_checker_drop(checker);
}

static enum errc start_tokens(struct arena *a, const struct data_schema *s, uint64_t size_bytes, void **ret, struct err *e)
{
    struct token_checker *c = arena_try(a, sizeof *c);
    (void)s;
    if (!c)
        return FAIL(e, LIMIT, "no memory to read the file");
    token_checker_start(c, size_bytes);
    arena_defer(a, drop_tokens, c);
    *ret = c;
    return ERR_OK;
}

static enum errc add_tokens(void *checker, const char *p, size_t n, struct err *e)
{
    return token_checker_add(checker, p, n, e);
}

static enum errc end_tokens(void *checker, struct data_found *ret, struct err *e)
{
    struct token_shard s;
    TRY(token_checker_end(checker, &s, e));
    *ret = (struct data_found){ s.count, 0, s.vocab };
    return ERR_OK;
}

static enum errc start_whole(struct arena *a, const struct data_schema *s, uint64_t size_bytes, void **ret, struct err *e)
{
    (void)a, (void)s;
    *ret = NULL;
    return size_bytes ? ERR_OK : FAIL(e, BAD_DATA, "the file is empty");
}

static enum errc add_whole(void *checker, const char *p, size_t n, struct err *e)
{
    (void)checker, (void)p, (void)n, (void)e;
    return ERR_OK;
}

static enum errc end_whole(void *checker, struct data_found *ret, struct err *e)
{
    (void)checker, (void)e;
    *ret = (struct data_found){ 0 };
    return ERR_OK;
}

const struct data_format_row data_formats[DATA_FORMATS] = {
    [DATA_CSV] = { "text/csv", "csv", true, false, false, start_csv, add_csv, end_csv, csv_read },
    [DATA_NPY] = { "application/octet-stream", "npy", true, false, false, start_npy, add_npy, end_npy, npy_table_read },
    [DATA_TOKENS] = { "application/octet-stream", "tokens", false, false, false, start_tokens, add_tokens, end_tokens, NULL },
    [DATA_ONNX] = { "application/octet-stream", "onnx", false, true, false, start_whole, add_whole, end_whole, NULL },
    [DATA_OCI] = { "application/octet-stream", "oci", false, false, true, start_whole, add_whole, end_whole, NULL },
};

/* A model begins with its field 1, a small number; no text begins with that byte. A tar archive says so in its first header. */
int data_format_guess(struct str start)
{
    if (start.len > 2 && start.ptr[0] == 0x08 && start.ptr[1] > 0 && start.ptr[1] < 32)
        return DATA_ONNX;
    if (start.len >= TAR_MAGIC_AT + 5 && memcmp(start.ptr + TAR_MAGIC_AT, "ustar", 5) == 0)
        return DATA_OCI;
    if (str_starts(start, "\x93NUMPY"))
        return DATA_NPY;
    return str_starts(start, "FTOK") || str_starts(start, "\x88\xd8\x34\x01") ? DATA_TOKENS : DATA_CSV;
}

int data_format_of(struct str name)
{
    for (int i = 0; i < DATA_FORMATS; i++)
        if (str_eq_c(name, data_format_names[i]))
            return i;
    return DATA_CSV;
}

enum errc data_checker_new(struct arena *a, int format, const struct data_schema *s, uint64_t size_bytes,
                           struct data_checker *ret,
                           struct err *e)
{
    ASSERT(format >= 0 && format < DATA_FORMATS);
    ret->row = &data_formats[format];
    return ret->row->start(a, s, size_bytes, &ret->state, e);
}

enum errc data_checker_add(struct data_checker *c, const char *p, size_t n, struct err *e)
{
    return c->row->add(c->state, p, n, e);
}

enum errc data_checker_end(struct data_checker *c, struct data_found *ret, struct err *e)
{
    return c->row->end(c->state, ret, e);
}

enum errc data_check(struct arena *a, int format, const struct data_schema *s, struct str bytes, struct data_found *ret,
                     struct err *e)
{
    struct data_checker c;
    TRY(data_checker_new(a, format, s, bytes.len, &c, e));
    TRY(data_checker_add(&c, bytes.ptr, bytes.len, e));
    return data_checker_end(&c, ret, e);
}
