/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - data sets and models as things in versions. Up to OBJECT_WHOLE_MAX nothing is sent before all is verified; a larger
 * object is verified chunk by chunk while it flows, and a damaged chunk cuts the connection before the stated length is reached.
 * */
#include "api/content_int.h"
#include "core/base/cleanup.h"
#include "core/db/run_tx.h"
#include "registry/vault/object.h"
#include "tenants/access/actor.h"
#include "tenants/home/residency_facts.h"

enum errc content_read_one(struct work *w, const struct content *t, const void *in, void *out, struct err *e)
{
    return versioned_get(w, t->kind, ((const struct content_ref *)in)->id, out, e);
}

enum errc content_list(struct work *w, const struct content *t, const void *in, struct str data_class, void *out, struct err *e)
{
    const struct content_page *page = in;
    const struct versioned_filter f = { page->project_id, page->created_by, data_class, page->zone, page->q,
                                        str_c(list_sort_names[page->sort]) };
    struct page_out *ret = out;
    struct uuid after;
    TRY(page_position_id(page->page_token, &after, e));
    TRY(versioned_list(w, t->kind, &f, after, page->page_size + 1, &ret->items, e));
    page_cut_by_id(ret, w->arena, page->page_size, t->kind->list->row->size, 0);
    return ERR_OK;
}

enum errc content_list_versions(struct work *w, const struct content *t, const void *in, void *out, struct err *e)
{
    const struct content_versions *page = in;
    struct page_out *ret = out;
    int64_t before;
    TRY(page_position_number(page->page_token, &before, e));
    TRY(versioned_version_list(w, t->kind, page->id, before, page->page_size + 1, &ret->items, e));
    if ((int64_t)ret->items.n > page->page_size) {
        ret->items.n = (size_t)page->page_size;
        const char *last = (const char *)ret->items.items + (ret->items.n - 1) * t->kind->version_list->row->size;
        ret->next = str_fmt(w->arena, "%ld", (long)versioned_number(t->kind, last));
    }
    return ERR_OK;
}

enum errc content_change(struct work *w, const struct content *t, const void *in, void *out, struct err *e)
{
    const struct content_edit *c = in;
    return versioned_change(w, t->kind, c->id, &SHOWN_NAME_OF(c), c->description, call_of(w)->if_match, out, e);
}

enum errc content_remove(struct work *w, const struct content *t, const void *in, void *out, struct err *e)
{
    struct content_deleted *gone = out;
    TRY(content_delete(w, t->kind, ((const struct content_ref *)in)->id, gone, e));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("objects", gone->objects));
    audit_event_detail(&call_of(w)->audit, AUDIT_D_INT("stored_bytes", gone->stored_bytes));
    return ERR_OK;
}

static ssize_t produce(void *p, void *buf, size_t n)
{
    return object_read(p, buf, n);
}

static void produced(void *p)
{
    object_reader_free(p);
}

/* whole: filled with an object of at most OBJECT_WHOLE_MAX; ret: the row. */
static enum errc open_version(struct call *c, const struct content *t, struct object_reader **r, struct buf *whole,
                              const void **ret,
                              struct err *e)
{
    const struct content_version_ref *ref = c->in;
    struct work *w = &c->work;
    void *version = arena_alloc(w->arena, t->kind->version_get->row->size);
    TRY(versioned_version_get(w, t->kind, ref->id, ref->version, version, e));
    *ret = version;
    TRY(object_open(w, versioned_object(t->kind, version), t->kind->name, r, e));
    const struct object *o = object_reader_object(*r);
    struct residency_question q = { .data_class = data_class_of(o->data_class), .zone = o->zone };
    TRY(residency_check(w, RACT_DOWNLOAD, &q, false, NULL, e));
    if (o->size_bytes <= OBJECT_WHOLE_MAX)
        TRY(object_read_all(*r, whole, e));
    struct audit_event ev = audit_event_by(w, c->principal, t->audit);
    ev.zone = o->zone;
    ev.resource_kind = str_c(t->kind->name);
    ev.resource_prefix = t->kind->prefix;
    ev.resource_id = ref->id;
    ev.http_status = 200;
    audit_event_detail(&ev, AUDIT_D_INT("version", ref->version));
    audit_event_detail(&ev, AUDIT_D_INT("size_bytes", o->size_bytes));
    return audit_append(w, &ev, e);
}

void content_reply(struct call *c, struct object_reader **r, struct buf *whole, struct str type, struct str file)
{
    struct work *w = &c->work;
    const struct object *o = object_reader_object(*r);
    int64_t size = o->size_bytes;
    struct str etag = str_fmt(w->arena, "\"sha256:%.*s\"", STR_ARG(object_sha_hex(w->arena, o->sha256)));
    struct http_header h[] = {
        { STR("X-Request-Id"), w->request_id }, { STR("Cache-Control"), STR("no-store") },
        { STR("X-Content-Type-Options"), STR("nosniff") },
        { STR("ETag"), etag }, { STR("Content-Disposition"), str_fmt(w->arena, "attachment; filename=\"%.*s\"", STR_ARG(file)) },
    };
    struct http_exchange *x = c->exchange;
    principal_unref(TAKE(c->principal));
    if (size <= OBJECT_WHOLE_MAX)
        http_reply_buf(x, 200, type, h, sizeof h / sizeof *h, whole);
    else
        http_reply_producer(x, 200, type, h, sizeof h / sizeof *h, size, produce, produced, TAKE(*r));
}

enum errc content_send(struct call *c, const struct content *t, struct err *e)
{
    const struct content_version_ref *ref = c->in;
    struct work *w = &c->work;
    CLEANUP(object_reader_freep) struct object_reader *r = NULL;
    CLEANUP(buf_releasep) struct buf whole = BUF(OBJECT_WHOLE_MAX + 1);
    const void *version = NULL;
    const char *type_name, *extension;
    TRY(RUN_WRITE(w, open_version(c, t, &r, &whole, &version, e), e));
    t->form(version, &type_name, &extension);
    char hex[UUID_HEX];
    hex_encode(ref->id.b, 16, hex);
    content_reply(c, &r, &whole, str_c(type_name), str_fmt(w->arena, "%s_%s-v%ld.%s", t->kind->prefix, hex, (long)ref->version,
        extension));
    return ERR_OK;
}
