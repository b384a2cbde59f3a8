/* SPDX-License-Identifier: Apache-2.0 */
/* format_cef.c - events as ArcSight Common Event Format 0, one line each.
 *
 * In the header a backslash and a bar are escaped, in the extension a backslash and an equals sign; a line break becomes \n there and
 * a space in the header, other control characters a space in both. Keys are those of the CEF dictionary; a member that is null is
 * left out. Custom strings: cs1 leaf, cs2 tenant, cs3 zone, cs4 rule, cs5 resource, cs6 request. */
#include "audit/format_int.h"

static void put_header(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\\' || c == '|')
            buf_add_char(b, '\\');
        buf_add_char(b, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

static void put_value(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\n' || c == '\r') {
            buf_add_c(b, c == '\n' ? "\\n" : "\\r");
            continue;
        }
        if (c == '\\' || c == '=')
            buf_add_char(b, '\\');
        buf_add_char(b, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

static void put(struct buf *b, const char *key, struct str s)
{
    if (!s.ptr)
        return;
    buf_add_c(b, key);
    put_value(b, s);
}

static void put_id(struct buf *b, const char *key, struct uuid id)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    put(b, key, uuid_is_nil(id) ? STR_NULL : str_c(text));
}

static void put_source(struct buf *b, const struct audit_view *v)
{
    if (!v->src_ip.ptr || audit_text_is_sealed(v->src_ip))
        put(b, " shost=", v->src_ip);
    else if (str_find(v->src_ip, ':') >= 0)
        put(b, " c6a2Label=Source IPv6 Address c6a2=", v->src_ip);
    else
        put(b, " src=", v->src_ip);
}

static void put_roles(struct buf *b, const struct audit_view *v)
{
    for (int i = 0; i < v->role_count; i++)
        put(b, i ? "," : " spriv=", v->roles[i].ptr ? v->roles[i] : STR(""));
}

static void put_resource(struct buf *b, const struct audit_view *v)
{
    if (!v->resource_kind.ptr && !v->resource_id.ptr)
        return;
    put(b, " cs5Label=resource cs5=", v->resource_kind.ptr ? v->resource_kind : STR("-"));
    put(b, "/", v->resource_id);
}

bool format_cef_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b)
{
    static const int severities[] = { 2, 7, 5 };
    (void)r;
    buf_add_c(b, "CEF:0|Falaj|Falaj|" FALAJ_VERSION "|");
    put_header(b, v ? v->code_text : STR("FLJ-AUD-000S"));
    buf_add_char(b, '|');
    put_header(b, v ? format_doc(v) : STR("The retention of this entry has ended"));
    buf_printf(b, "|%d|cn1Label=tseq cn1=%llu cs1Label=leaf cs1=", v ? severities[format_verdict(v)] : 0, (unsigned long long)e->tseq);
    buf_add_hex(b, e->leaf.b, MERKLE_HASH);
    if (v) {
        buf_printf(b, " rt=%lld", (long long)(v->ts_us / 1000));
        put_id(b, " externalId=", v->event_id);
        put(b, " act=", v->action);
        put(b, " outcome=", str_c(v->suffix == 'S' ? "success" : "failure"));
        put(b, " reason=", v->outcome);
        put(b, " sourceServiceName=", str_c(audit_actor_text(v->actor)));
        put_id(b, " suid=", v->actor_id);
        put_roles(b, v);
        put_source(b, v);
        put_id(b, " cs2Label=tenant cs2=", v->tenant_id);
        put(b, " cs3Label=zone cs3=", v->zone);
        put(b, " cs4Label=rule cs4=", v->rule);
        put_resource(b, v);
        put(b, " cs6Label=request cs6=", v->request_id);
        if (v->http_status)
            buf_printf(b, " cn2Label=httpStatus cn2=%d", v->http_status);
        if (v->detail_count) {
            buf_add_c(b, " msg=");
            format_details(v, b, put_value);
        }
    }
    return buf_add_char(b, '\n');
}
