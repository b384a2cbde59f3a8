/* SPDX-License-Identifier: Apache-2.0 */
/* row.c - result columns to struct members. Everything is checked for its length before it is read, although the peer is our own
 * PostgreSQL: a changed type must be an error and never a wild read. Texts are copied to the arena with a final NUL. */
#include "core/db/row_int.h"
#include "core/base/assert.h"
#include "core/db/param_int.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum {
    OID_BOOL = 16, OID_BYTEA = 17, OID_NAME = 19, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25, OID_JSON = 114,
    OID_FLOAT4 = 700, OID_FLOAT8 = 701, OID_BPCHAR = 1042, OID_VARCHAR = 1043, OID_TIMESTAMPTZ = 1184, OID_UUID = 2950,
    OID_JSONB = 3802, OID_INT2S = 1005, OID_INT4S = 1007, OID_TEXTS = 1009, OID_VARCHARS = 1015, OID_INT8S = 1016,
    OID_FLOAT4S = 1021, OID_FLOAT8S = 1022, OID_UUIDS = 2951, OID_FIRST_OWN = 16384
};

static bool is_text_oid(Oid o)
{
    return o == OID_TEXT || o == OID_VARCHAR || o == OID_BPCHAR || o == OID_NAME || o >= OID_FIRST_OWN;
}

static bool list_fits(const struct field *f, Oid o)
{
    switch (f->item) {
    case FT_STR:
    case FT_ENUM:
        return o == OID_TEXTS || o == OID_VARCHARS || o >= OID_FIRST_OWN;
    case FT_UUID:
        return o == OID_UUIDS;
    case FT_I64:
        return o == OID_INT8S || o == OID_INT4S || o == OID_INT2S;
    case FT_F64:
        return o == OID_FLOAT8S || o == OID_FLOAT4S;
    default:
        return false;
    }
}

bool row_type_fits(const struct field *f, Oid o)
{
    switch (f->type) {
    case FT_BOOL:
        return o == OID_BOOL;
    case FT_I32:
        return o == OID_INT4 || o == OID_INT2;
    case FT_I64:
        return o == OID_INT8 || o == OID_INT4 || o == OID_INT2;
    case FT_F64:
        return o == OID_FLOAT8 || o == OID_FLOAT4;
    case FT_STR:
        return is_text_oid(o) || o == OID_JSON;
    case FT_ENUM:
        return is_text_oid(o);
    case FT_UUID:
        return o == OID_UUID;
    case FT_TIME:
        return o == OID_TIMESTAMPTZ;
    case FT_JSON:
        return o == OID_JSONB || o == OID_JSON;
    case FT_BYTES:
        return o == OID_BYTEA;
    case FT_LIST:
        return list_fits(f, o);
    case FT_SUB:
        return false;
    }
    return false;
}

const char *stmt_text(const struct stmt *st, struct buf *b)
{
    const char *from = st->sql, *at;
    for (; st->row && (at = strstr(from, ROW_COLUMNS)); from = at + strlen(ROW_COLUMNS)) {
        buf_add(b, from, (size_t)(at - from));
        const char *comma = "";
        for (size_t i = 0; i < st->row->nfields; i++)
            if (st->row->fields[i].flags & F_COL) {
                buf_printf(b, "%s%s", comma, st->row->fields[i].name);
                comma = ", ";
            }
    }
    ASSERT(buf_add_c(b, from));      /* a statement is a constant of the program */
    return b->ptr;
}

static const struct field *column_field(const struct schema *s, const char *name)
{
    for (size_t i = 0; i < s->nfields; i++)
        if ((s->fields[i].flags & F_COL) && strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    return NULL;
}

enum errc row_map_build(const struct stmt *st, const PGresult *desc, struct arena *a, struct row_map **ret, struct err *e)
{
    int n = st->row ? PQnfields(desc) : 0;
    if (st->row && n == 0)
        return FAIL(e, INTERNAL, "statement %s gives no columns for %s", st->name, st->row->name);
    struct row_map *map = arena_alloc(a, sizeof *map + (size_t)n * sizeof *map->cols);
    map->ncols = n;
    for (int i = 0; i < n; i++) {
        const char *name = PQfname(desc, i);
        const struct field *f = column_field(st->row, name);
        if (!f)
            return FAIL(e, INTERNAL, "statement %s: column %s is no member of %s", st->name, name, st->row->name);
        if (!row_type_fits(f, PQftype(desc, i)))
            return FAIL(e, INTERNAL, "statement %s: column %s has a type (oid %u) that %s.%s cannot take", st->name, name,
                        PQftype(desc, i), st->row->name, name);
        for (int k = 0; k < i; k++)
            if (map->cols[k].field == f)
                return FAIL(e, INTERNAL, "statement %s gives column %s twice", st->name, name);
        map->cols[i] = (struct row_col){ f, PQftype(desc, i) };
    }
    *ret = map;
    return ERR_OK;
}

static uint32_t get_u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static bool get_int(const char *p, size_t n, int64_t *ret)
{
    uint64_t v8;
    uint16_t v2;
    switch (n) {
    case 8:
        memcpy(&v8, p, 8);
        *ret = (int64_t)be64toh(v8);
        return true;
    case 4:
        *ret = (int32_t)get_u32(p);
        return true;
    case 2:
        memcpy(&v2, p, 2);
        *ret = (int16_t)be16toh(v2);
        return true;
    default:
        return false;
    }
}

static bool get_float(const char *p, size_t n, double *ret)
{
    uint64_t v8;
    if (n == 8) {
        memcpy(&v8, p, 8);
        v8 = be64toh(v8);
        memcpy(ret, &v8, 8);
        return true;
    }
    if (n != 4)
        return false;
    uint32_t v4 = get_u32(p);
    float f;
    memcpy(&f, &v4, 4);
    *ret = f;
    return true;
}

static bool get_time(const char *p, size_t n, int64_t *ret)
{
    int64_t v;
    if (n != 8 || !get_int(p, n, &v))
        return false;
    bool is_infinite = v == INT64_MAX || v == INT64_MIN;
    *ret = is_infinite || v > INT64_MAX - PG_EPOCH_US ? v : v + PG_EPOCH_US;
    return true;
}

static enum errc copy_text(struct str src, struct arena *a, struct str *ret, struct err *e)
{
    char *p = arena_try(a, src.len + 1);
    if (!p)
        return FAIL(e, LIMIT, "the answer is larger than one call may use");
    if (src.len)
        memcpy(p, src.ptr, src.len);
    *ret = str_n(p, src.len);
    return ERR_OK;
}

static enum errc bad_value(const struct field *f, struct err *e)
{
    return FAIL(e, INTERNAL, "a stored value of %s cannot be read", f->name);
}

/* One value of type ft (a scalar or the item of a list) at `to`. */
static enum errc get_value(const struct field *f, enum ftype ft, Oid oid, struct str v, void *to, struct arena *a, struct err *e)
{
    int64_t i = 0;
    bool ok = true;
    switch (ft) {
    case FT_BOOL:
        ok = v.len == 1;
        *(bool *)to = ok && *v.ptr != 0;
        break;
    case FT_I32:
        ok = v.len <= 4 && get_int(v.ptr, v.len, &i);
        *(int32_t *)to = (int32_t)i;
        break;
    case FT_I64:
        ok = get_int(v.ptr, v.len, to);
        break;
    case FT_F64:
        ok = get_float(v.ptr, v.len, to);
        break;
    case FT_TIME:
        ok = get_time(v.ptr, v.len, &((struct timestamp *)to)->us);
        break;
    case FT_UUID:
        ok = v.len == sizeof(struct uuid);
        if (ok)
            memcpy(to, v.ptr, v.len);
        break;
    case FT_ENUM:
        *(int *)to = name_index(f->names, v);
        ok = *(int *)to >= 0;
        break;
    case FT_JSON:
        if (oid == OID_JSONB) {
            if (v.len < 1 || *v.ptr != 1)
                return bad_value(f, e);
            v = str_n(v.ptr + 1, v.len - 1);
        }
        return copy_text(v, a, &((struct json *)to)->text, e);
    case FT_BYTES:
        return copy_text(v, a, &((struct bytes *)to)->data, e);
    case FT_STR:
        return copy_text(v, a, to, e);
    default:
        ok = false;
    }
    return ok ? ERR_OK : bad_value(f, e);
}

static enum errc get_list(const struct field *f, struct str v, struct slice *to, struct arena *a, struct err *e)
{
    if (v.len < 12)
        return bad_value(f, e);
    uint32_t ndim = get_u32(v.ptr);
    if (ndim == 0)
        return ERR_OK;
    if (ndim != 1 || v.len < 20)
        return bad_value(f, e);
    size_t n = get_u32(v.ptr + 12), at = 20, size = ftype_size(f);
    if (n > v.len / 4)
        return bad_value(f, e);
    char *items = arena_try(a, n * size);
    if (!items)
        return FAIL(e, LIMIT, "the answer is larger than one call may use");
    for (size_t i = 0; i < n; i++) {
        if (v.len - at < 4)
            return bad_value(f, e);
        uint32_t len = get_u32(v.ptr + at);
        at += 4;
        if (len == UINT32_MAX)
            continue;                       /* a NULL element stays zero */
        if (v.len - at < len)
            return bad_value(f, e);
        TRY(get_value(f, f->item, 0, str_n(v.ptr + at, len), items + i * size, a, e));
        at += len;
    }
    *to = (struct slice){ items, n };
    return ERR_OK;
}

enum errc row_decode(const struct row_map *map, const PGresult *res, int row, void *base, struct arena *a, struct err *e)
{
    for (int i = 0; i < map->ncols; i++) {
        if (PQgetisnull(res, row, i))
            continue;
        const struct field *f = map->cols[i].field;
        struct str v = str_n(PQgetvalue(res, row, i), (size_t)PQgetlength(res, row, i));
        void *to = field_at(f, base);
        if (f->type == FT_LIST)
            TRY(get_list(f, v, to, a, e));
        else
            TRY(get_value(f, f->type, map->cols[i].oid, v, to, a, e));
        if (f->has)
            field_set_has(f, base, true);
    }
    return ERR_OK;
}
