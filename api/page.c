/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - page tokens: base64url(HMAC-SHA256/128 || position), the MAC over tenant, path, filters and position.
 *
 * A token is thus worthless for another tenant, another list or other filters (400), and cannot be made up. The key comes from
 * the database connection string, which every falaj-api of an installation shares. */
#include "api/api_int.h"
#include "core/crypto/hash.h"

enum { MAC_BYTES = 16, POSITION_MAX = 200 };

static void page_mac(struct flight *f, struct str position, uint8_t mac[32])
{
    struct call *c = &f->call;
    struct buf b = BUF(1 << 16);
    buf_add(&b, c->work.tenant_id.b, 16);
    buf_add_str(&b, c->request->path);
    struct str rest = c->request->query, pair;
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, '&', &pair, &rest);
        if (pair.len && !str_starts(pair, "page_token=") && !str_starts(pair, "page_size=")) {
            buf_add_char(&b, '&');
            buf_add_str(&b, pair);
        }
    }
    buf_add_char(&b, '\n');
    buf_add_str(&b, position);
    hmac_sha256(f->pipeline->page_key, 32, b.ptr, b.len, mac);
    buf_release(&b);
}

struct str page_seal(struct flight *f, struct str position)
{
    uint8_t raw[MAC_BYTES + POSITION_MAX], mac[32];
    if (position.len > POSITION_MAX)
        position.len = POSITION_MAX;
    page_mac(f, position, mac);
    memcpy(raw, mac, MAC_BYTES);
    memcpy(raw + MAC_BYTES, position.ptr, position.len);
    size_t n = MAC_BYTES + position.len;
    char *text = arena_alloc(f->call.work.arena, BASE64_MAX(n));
    return str_n(text, base64_encode(raw, n, text, true));
}

enum errc page_open(struct flight *f, struct err *e)
{
    const struct field *fd = schema_find(f->match->row->in, STR("page_token"));
    struct str *token = field_at(fd, f->call.in);
    if (!token->ptr)
        return ERR_OK;
    uint8_t raw[MAC_BYTES + POSITION_MAX], mac[32];
    size_t n;
    if (!base64_decode(*token, raw, sizeof raw, &n, true) || n < MAC_BYTES)
        return FAIL_AT(e, PAGE_TOKEN, "/page_token", "page_token is not a token that this list returned; start again without it");
    struct str position = str_dup(f->call.work.arena, str_n((char *)raw + MAC_BYTES, n - MAC_BYTES));
    page_mac(f, position, mac);
    if (!mem_eq_ct(mac, raw, MAC_BYTES))
        return FAIL_AT(e, PAGE_TOKEN, "/page_token", "The page token belongs to another list or other filters; start again without it");
    *token = position;
    return ERR_OK;
}

void page_cut_by_id(struct page_out *p, struct arena *a, int64_t page_size, size_t item_size, size_t id_offset)
{
    if (p->items.n <= (size_t)page_size)
        return;
    p->items.n = (size_t)page_size;
    const struct uuid *id = (const void *)((char *)p->items.items + (p->items.n - 1) * item_size + id_offset);
    p->next = id_text(a, NULL, *id);
}

enum errc page_position_id(struct str page_token, struct uuid *ret, struct err *e)
{
    *ret = UUID_NIL;
    if (page_token.ptr && !uuid_parse(page_token, ret))
        return FAIL_AT(e, PAGE_TOKEN, "/page_token", "page_token is not a token that this list returned; start again without it");
    return ERR_OK;
}

void page_cut_by_number(struct page_out *p, struct arena *a, int64_t page_size, size_t item_size, size_t offset)
{
    if (p->items.n <= (size_t)page_size)
        return;
    p->items.n = (size_t)page_size;
    const int64_t *number = (const void *)((char *)p->items.items + (p->items.n - 1) * item_size + offset);
    p->next = str_fmt(a, "%ld", (long)*number);
}

enum errc page_position_number(struct str page_token, int64_t *ret, struct err *e)
{
    *ret = 0;
    if (page_token.ptr && !str_to_i64(page_token, 1, INT64_MAX, ret))
        return FAIL_AT(e, PAGE_TOKEN, "/page_token", "page_token is not a token that this list returned; start again without it");
    return ERR_OK;
}
