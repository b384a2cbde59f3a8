/* SPDX-License-Identifier: Apache-2.0 */
/* format_syslog.c - events as RFC 5424 messages, one line each, without free text: all stands in one structured data element.
 *
 * PRI: facility 13 (log audit); severity 6 informational for success, 5 notice for failed, 4 warning for denied.
 * In a parameter value `"`, `\` and `]` are escaped by a backslash (§6.3.3). The RFC allows control characters there, but a line
 * break would end the line, so they are written as # and three octal digits, as rsyslog does. 32473 is the enterprise number that
 * RFC 5612 sets aside for documentation: the project has none of its own. */
#include "audit/format_int.h"

static void put_value(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            buf_printf(b, "#%03o", c);
            continue;
        }
        if (c == '"' || c == '\\' || c == ']')
            buf_add_char(b, '\\');
        buf_add_char(b, (char)c);
    }
}

static void put(struct buf *b, const char *name, struct str s)
{
    if (!s.ptr)
        return;
    buf_printf(b, " %s=\"", name);
    put_value(b, s);
    buf_add_char(b, '"');
}

static void put_id(struct buf *b, const char *name, struct uuid id)
{
    char text[UUID_TEXT];
    uuid_text(id, text);
    put(b, name, uuid_is_nil(id) ? STR_NULL : str_c(text));
}

/* HOSTNAME: printable ASCII only; "-" for none. */
static void put_host(struct buf *b, struct str zone)
{
    buf_add_char(b, ' ');
    for (size_t i = 0; i < zone.len; i++)
        buf_add_char(b, zone.ptr[i] > 0x20 && zone.ptr[i] < 0x7f ? zone.ptr[i] : '_');
    buf_add_c(b, zone.len ? " falaj - " : "- falaj - ");
}

static void put_who(struct buf *b, const struct audit_view *v)
{
    put(b, "actor", str_c(audit_actor_text(v->actor)));
    put_id(b, "actorId", v->actor_id);
    for (int i = 0; i < v->role_count; i++)
        put(b, "role", v->roles[i]);
    put_id(b, "tokenId", v->token_id);
    put(b, "srcIp", v->src_ip);
    put(b, "requestId", v->request_id);
}

static void put_event(struct buf *b, const struct audit_view *v)
{
    put_id(b, "eventId", v->event_id);
    put_id(b, "tenant", v->tenant_id);
    put(b, "action", v->action);
    put(b, "verdict", str_c(audit_verdict_text(v)));
    put(b, "outcome", v->outcome);
    put_who(b, v);
    put(b, "resourceKind", v->resource_kind);
    put(b, "resourceId", v->resource_id);
    put(b, "effect", str_c(v->denied ? "deny" : "allow"));
    put(b, "rule", v->rule);
    if (v->http_status)
        buf_printf(b, " httpStatus=\"%d\"", v->http_status);
    if (v->detail_count) {
        buf_add_c(b, " details=\"");
        format_details(v, b, put_value);
        buf_add_char(b, '"');
    }
}

bool format_syslog_row(struct audit_format_run *r, const struct audit_entry *e, const struct audit_view *v, struct buf *b)
{
    enum { FACILITY = 13 };
    static const int severities[] = { 6, 4, 5 };
    char when[TIME_TEXT] = "";
    if (v)
        format_time(v->ts_us, when);
    buf_printf(b, "<%d>1 %s", FACILITY * 8 + (v ? severities[format_verdict(v)] : 6), when[0] ? when : "-");
    put_host(b, v ? v->zone : r->opts.zone);
    buf_add_str(b, v ? v->code_text : STR("-"));
    buf_printf(b, " [falaj@32473 tseq=\"%llu\" leaf=\"", (unsigned long long)e->tseq);
    buf_add_hex(b, e->leaf.b, MERKLE_HASH);
    buf_add_char(b, '"');
    if (v)
        put_event(b, v);
    else
        put(b, "dropped", STR("retention"));
    return buf_add_c(b, "]\n");
}
