/* SPDX-License-Identifier: Apache-2.0 */
/* format_csv.c - events as RFC 4180: comma, CRLF, a header line.
 *
 * A cell whose text begins with = + - @ tab, carriage return or line feed would be a formula in a spreadsheet: it gets an apostrophe in front.
 * A leading U+FEFF is an option, because some spreadsheets take UTF-8 for something else without it. */
#include <stdio.h>
#include "audit/format_int.h"

static const char columns[] =
    "tseq,time,code,action,verdict,outcome,actor_type,actor_id,roles,token_id,src_ip,request_id,resource_kind,resource_id,effect,rule,"
    "http_status,details,event_id,tenant,zone,leaf\r\n";
enum { COLUMNS_BEFORE_LEAF = 21 };

bool format_csv_header(struct audit_format_run *r, struct buf *b)
{
    if (r->opts.has_bom)
        buf_add_c(b, "\xef\xbb\xbf");
    return buf_add_c(b, columns);
}

static void put_inside(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"')
            buf_add_char(b, '"');
        buf_add_char(b, s.ptr[i] ? s.ptr[i] : ' ');
    }
}

static bool is_formula(struct str s)
{
    return s.len > 0 && memchr("=+-@\t\r\n", s.ptr[0], 7);
}

void audit_csv_cell(struct buf *b, struct str s)
{
    bool is_quoted = is_formula(s);
    for (size_t i = 0; i < s.len && !is_quoted; i++)
        is_quoted = (unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == '"' || s.ptr[i] == ',';
    if (!is_quoted) {
        buf_add(b, s.ptr ? s.ptr : "", s.len);
        return;
    }
    buf_add_c(b, is_formula(s) ? "\"'" : "\"");
    put_inside(b, s);
    buf_add_char(b, '"');
}

static void put(struct buf *b, struct str s)
{
    buf_add_char(b, ',');
    audit_csv_cell(b, s);
}

static void put_id(struct buf *b, struct uuid id)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    put(b, uuid_is_nil(id) ? STR_NULL : str_c(text));
}

static void put_roles(struct buf *b, const struct audit_view *v)
{
    buf_add_c(b, v->role_count && is_formula(v->roles[0]) ? ",\"'" : ",\"");
    for (int i = 0; i < v->role_count; i++) {
        if (i)
            buf_add_char(b, ' ');
        put_inside(b, v->roles[i]);
    }
    buf_add_char(b, '"');
}

static void put_details(struct buf *b, const struct audit_view *v)
{
    buf_add_c(b, v->detail_count && (!v->details[0].name.len || is_formula(v->details[0].name)) ? ",\"'" : ",\"");
    format_details(v, b, put_inside);
    buf_add_char(b, '"');
}

static void put_event(struct buf *b, const struct audit_view *v)
{
    char when[TIME_TEXT], status[16] = "";
    format_time(v->ts_us, when);
    put(b, str_c(when));
    put(b, v->code_text);
    put(b, v->action);
    put(b, str_c(audit_verdict_text(v)));
    put(b, v->outcome);
    put(b, str_c(audit_actor_text(v->actor)));
    put_id(b, v->actor_id);
    put_roles(b, v);
    put_id(b, v->token_id);
    put(b, v->src_ip);
    put(b, v->request_id);
    put(b, v->resource_kind);
    put(b, v->resource_id);
    put(b, v->denied ? STR("deny") : STR("allow"));
    put(b, v->rule);
    if (v->http_status)
        snprintf(status, sizeof status, "%d", v->http_status);
    put(b, str_c(status));
    put_details(b, v);
    put_id(b, v->event_id);
    put_id(b, v->tenant_id);
    put(b, v->zone);
}

bool format_csv_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b)
{
    (void)r;
    buf_printf(b, "%llu", (unsigned long long)e->tseq);
    for (int i = 1; i < COLUMNS_BEFORE_LEAF && !v; i++)
        buf_add_c(b, i == 4 ? ",dropped" : ",");
    if (v)
        put_event(b, v);
    buf_add_char(b, ',');
    buf_add_hex(b, e->leaf.b, MERKLE_HASH);
    return buf_add_c(b, "\r\n");
}
