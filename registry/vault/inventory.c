/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c - pages of objects by key, so that no page costs more than the one before. */
#include "registry/vault/inventory.h"

static const char page_sql[] =
    "SELECT tenant_id, object_id, stored_bytes, encode(stored_sha256, 'hex') FROM object\n"
    " WHERE state = 'COMMITTED' AND (tenant_id, object_id) > ($1::uuid, $2::uuid) ORDER BY tenant_id, object_id LIMIT 2000";

enum errc inventory_page(struct db_session *s, struct arena *a, struct uuid tenant, struct uuid object,
                         struct inventory_object **ret, size_t *ret_n, struct err *e)
{
    char t[UUID_TEXT], o[UUID_TEXT];
    struct db_text_rows rows;
    uuid_text(tenant, t);
    uuid_text(object, o);
    TRY(db_session_query(s, page_sql, (const char *const[]){ t, o }, 2, a, &rows, e));
    struct inventory_object *list = ARENA_ARRAY(a, struct inventory_object, rows.nrows + 1);
    for (size_t i = 0; i < rows.nrows; i++) {
        const struct str *c = &rows.cells[i * rows.ncols];
        int64_t bytes = 0;
        if (!uuid_parse(c[0], &list[i].tenant) || !uuid_parse(c[1], &list[i].object) || !str_to_i64(c[2], 0, INT64_MAX, &bytes) ||
            !hex_decode(c[3], list[i].stored_sha256, SHA256_BYTES))
            return FAIL(e, DAMAGED, "the row of object %.*s has no size or digest", STR_ARG(c[1]));
        list[i].stored_bytes = (uint64_t)bytes;
    }
    *ret = list;
    *ret_n = rows.nrows;
    return ERR_OK;
}

enum errc inventory_has(struct db_session *s, struct arena *a, struct uuid tenant, struct uuid object, bool *ret, struct err *e)
{
    char t[UUID_TEXT], o[UUID_TEXT];
    struct db_text_rows rows;
    uuid_text(tenant, t);
    uuid_text(object, o);
    TRY(db_session_query(s, "SELECT 1 FROM object WHERE tenant_id = $1::uuid AND object_id = $2::uuid AND state = 'COMMITTED'",
                         (const char *const[]){ t, o }, 2, a, &rows, e));
    *ret = rows.nrows == 1;
    return ERR_OK;
}

enum errc inventory_roots(struct db_session *s, struct arena *a, struct db_text_rows *ret, struct err *e)
{
    return db_session_query(s, "SELECT zone, provider, version FROM root_key WHERE state = 'CURRENT' ORDER BY zone LIMIT 64",
                            NULL, 0, a, ret, e);
}
