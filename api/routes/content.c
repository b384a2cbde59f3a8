/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - the content of stored objects. Up to OBJECT_WHOLE_MAX nothing is sent before all is verified; a larger object is verified
 * chunk by chunk while it flows, and a damaged chunk cuts the connection before the stated length is reached. */
#include "api/content_int.h"
#include "core/base/cleanup.h"
#include "core/db/tx.h"
#include "registry/vault/object.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_facts.h"

static ssize_t produce(void *p, void *buf, size_t n)
{
    return object_read(p, buf, n);
}

static void produced(void *p)
{
    object_reader_free(p);
}

static enum errc note_read(struct call *c, const struct content *t, const struct object *o, struct err *e)
{
    struct audit_event ev = audit_event_by(&c->work, c->principal, t->audit);
    ev.zone = o->zone;
    ev.resource_kind = str_c(t->resource);
    ev.resource_prefix = t->prefix;
    ev.resource_id = t->resource_id;
    ev.http_status = 200;
    audit_event_detail(&ev, AUDIT_D_INT("version", t->version));
    audit_event_detail(&ev, AUDIT_D_INT("size_bytes", o->size_bytes));
    return audit_append(&c->work, &ev, e);
}

enum errc content_send(struct call *c, const struct content *t, struct err *e)
{
    struct work *w = &c->work;
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    CLEANUP(buf_releasep) struct buf whole = BUF(OBJECT_WHOLE_MAX + 1);
    TRY(object_open(w, t->object_id, t->object_kind, &r, e));
    const struct object *o = object_reader_object(r);
    struct residency_question q = { .data_class = data_class_of(o->data_class), .zone = o->zone };
    TRY(residency_check(w, RACT_DOWNLOAD, &q, false, NULL, e));
    int64_t size = o->size_bytes;
    bool is_small = size <= OBJECT_WHOLE_MAX;
    struct str etag = str_fmt(w->arena, "\"sha256:%.*s\"", STR_ARG(object_sha_hex(w->arena, o->sha256)));
    if (is_small)
        TRY(object_read_all(r, &whole, e));
    TRY(note_read(c, t, o, e));
    TRY(db_commit(w->tx, e));
    w->tx = NULL;
    char hex[UUID_HEX];
    hex_encode(t->resource_id.b, 16, hex);
    struct http_header h[] = {
        { STR("X-Request-Id"), w->request_id }, { STR("Cache-Control"), STR("no-store") }, { STR("X-Content-Type-Options"), STR("nosniff") },
        { STR("ETag"), etag },
        { STR("Content-Disposition"), str_fmt(w->arena, "attachment; filename=\"%s_%s-v%ld.%s\"", t->prefix, hex, (long)t->version, t->extension) },
    };
    struct http_exchange *x = c->exchange;
    struct str type = t->content_type;
    principal_unref(TAKE(c->principal));
    if (is_small)
        http_reply_buf(x, 200, type, h, sizeof h / sizeof *h, &whole);
    else
        http_reply_producer(x, 200, type, h, sizeof h / sizeof *h, size, produce, produced, TAKE(r));
    return ERR_OK;
}
