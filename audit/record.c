/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - one audit event and its canonical bytes.
 *
 * Encoding stands on the submit path of every request, so it writes straight into a buffer on the stack that the bounds of the
 * members make large enough, and copies once. Strings follow RFC 8785 §3.2.2.2 (short escapes, \u00xx in lower case, all else
 * as it is); numbers are decimal integers. */
#include "audit/record.h"
#include "audit/scan_int.h"
#include "core/base/assert.h"

static const struct audit_code_row code_rows[] = {
#define EVENT(name_, code_, action_, doc_) { #name_, code_, action_, doc_ },
#include "audit/event_code.def"
#undef EVENT
};
static const char hex_digits[] = "0123456789abcdef";

const struct audit_code_row *audit_code_row(enum audit_code c)
{
    ASSERT((unsigned)c < AUDIT_CODE_COUNT);
    return &code_rows[c];
}

bool audit_action_is_known(struct str action)
{
    for (size_t i = 0; action.len && i < AUDIT_CODE_COUNT; i++) {
        struct str known = str_c(audit_code_row((enum audit_code)i)->action);
        if (action.ptr[action.len - 1] == '.' ? known.len > action.len && memcmp(known.ptr, action.ptr, action.len) == 0
                                              : str_eq(known, action))
            return true;
    }
    return false;
}

const char *audit_actor_text(enum audit_actor a)
{
    static const char *const names[AUDIT_ACTOR_COUNT] = { "system", "user", "service", "worker", "anonymous" };
    ASSERT((unsigned)a < AUDIT_ACTOR_COUNT);
    return names[a];
}

#define PUT_LIT(p, lit) (memcpy((p), "" lit, sizeof(lit) - 1), (p) + sizeof(lit) - 1)

static char *put_c(char *p, const char *s)
{
    size_t n = strlen(s);
    memcpy(p, s, n);
    return p + n;
}

static char *put_i64(char *p, int64_t v)
{
    char tmp[24];
    int n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        tmp[n++] = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0)
        *p++ = '-';
    while (n > 0)
        *p++ = tmp[--n];
    return p;
}

static char *put_hex(char *p, const uint8_t *b, int n)
{
    for (int i = 0; i < n; i++) {
        *p++ = hex_digits[b[i] >> 4];
        *p++ = hex_digits[b[i] & 15];
    }
    return p;
}

/* "0192…-…" with quotes, or null for the nil uuid where `nullable`. */
static char *put_uuid(char *p, struct uuid u, bool nullable)
{
    if (nullable && uuid_is_nil(u))
        return PUT_LIT(p, "null");
    static const int groups[] = { 4, 2, 2, 2, 6 };
    const uint8_t *b = u.b;
    *p++ = '"';
    for (int g = 0; g < 5; g++) {
        if (g)
            *p++ = '-';
        p = put_hex(p, b, groups[g]);
        b += groups[g];
    }
    *p++ = '"';
    return p;
}

/* Length of the UTF-8 character at s (n bytes left), 0 when it is none (RFC 3629: no surrogates, no overlong forms). */
static size_t utf8_len(const unsigned char *s, size_t n)
{
    unsigned char c = s[0];
    size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || n < len)
        return 0;
    unsigned char lo = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, hi = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < lo || s[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* The escape of an ASCII byte that may not stand as it is; returns its length. */
static size_t escape(unsigned char c, char out[6])
{
    static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    for (const char *s = shorts; *s; s += 2) {
        if ((unsigned char)s[0] == c) {
            out[0] = '\\';
            out[1] = s[1];
            return 2;
        }
    }
    memcpy(out, "\\u00", 4);
    out[4] = hex_digits[c >> 4];
    out[5] = hex_digits[c & 15];
    return 6;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* A JSON string whose inside is at most max bytes, cut between characters; null when s is absent. */
static char *put_str(char *p, struct str s, size_t max)
{
    if (!s.ptr)
        return PUT_LIT(p, "null");
    const unsigned char *in = (const unsigned char *)s.ptr;
    size_t i = 0;
    *p++ = '"';
    while (i < s.len && max > 0) {
        size_t start = i, stop = s.len - i > max ? i + max : s.len;
        while (i < stop && is_plain(in[i]))
            i++;
        memcpy(p, in + start, i - start);
        p += i - start;
        max -= i - start;
        if (i == s.len || max == 0)
            break;
        char esc[6];
        const char *from = esc;
        size_t took = 1, n;
        if (in[i] < 0x80) {
            n = escape(in[i], esc);
        } else if ((took = n = utf8_len(in + i, s.len - i)) > 0) {
            from = s.ptr + i;
        } else {
            from = "\xef\xbf\xbd";
            n = 3;
            took = 1;
        }
        if (n > max)
            break;
        memcpy(p, from, n);
        p += n;
        max -= n;
        i += took;
    }
    *p++ = '"';
    return p;
}

static char *put_actor(char *p, const struct audit_event *ev)
{
    p = PUT_LIT(p, ",\"actor\":{\"type\":\"");
    p = put_c(p, audit_actor_text(ev->actor));
    p = PUT_LIT(p, "\",\"id\":");
    p = put_uuid(p, ev->actor_id, true);
    p = PUT_LIT(p, ",\"roles\":[");
    int n = ev->role_count < AUDIT_ROLES_MAX ? ev->role_count : AUDIT_ROLES_MAX;
    for (int i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        p = put_str(p, ev->roles[i], AUDIT_WORD_MAX);
    }
    p = PUT_LIT(p, "],\"token_id\":");
    p = put_uuid(p, ev->token_id, true);
    *p++ = '}';
    return p;
}

static char *put_resource(char *p, const struct audit_event *ev)
{
    p = PUT_LIT(p, ",\"resource\":{\"kind\":");
    p = put_str(p, ev->resource_kind, AUDIT_WORD_MAX);
    p = PUT_LIT(p, ",\"id\":");
    if (uuid_is_nil(ev->resource_id)) {
        p = put_str(p, ev->resource_name, AUDIT_TEXT_MAX);
    } else if (!ev->resource_prefix || !ev->resource_prefix[0]) {
        p = put_uuid(p, ev->resource_id, false);
    } else {
        p = put_str(p, str_c(ev->resource_prefix), AUDIT_WORD_MAX);
        p[-1] = '_';
        p = put_hex(p, ev->resource_id.b, 16);
        *p++ = '"';
    }
    *p++ = '}';
    return p;
}

static char *put_details(char *p, const struct audit_event *ev)
{
    p = PUT_LIT(p, ",\"details\":{");
    int n = ev->detail_count < AUDIT_DETAILS_MAX ? ev->detail_count : AUDIT_DETAILS_MAX;
    for (int i = 0; i < n; i++) {
        const struct audit_detail *d = &ev->details[i];
        if (i)
            *p++ = ',';
        p = put_str(p, str_c(d->name ? d->name : ""), AUDIT_WORD_MAX);
        *p++ = ':';
        p = d->text.ptr ? put_str(p, d->text, AUDIT_TEXT_MAX) : put_i64(p, d->number);
    }
    *p++ = '}';
    return p;
}

static char *put_verdict(char *p, const struct audit_event *ev, const struct audit_code_row *row)
{
    p = PUT_LIT(p, ",\"action\":\"");
    p = put_c(p, row->action);
    p = PUT_LIT(p, "\",\"decision\":{\"effect\":\"");
    p = put_c(p, ev->denied ? "deny" : "allow");
    p = PUT_LIT(p, "\",\"rule\":");
    p = put_str(p, ev->rule, AUDIT_TEXT_MAX);
    p = PUT_LIT(p, "},\"outcome\":\"");
    p = put_c(p, ev->error == ERR_OK ? "success" : err_row(ev->error)->wire);
    p = PUT_LIT(p, "\",\"http_status\":");
    return ev->http_status ? put_i64(p, ev->http_status) : PUT_LIT(p, "null");
}

bool audit_event_encode(const struct audit_event *ev, struct buf *b)
{
    const struct audit_code_row *row = audit_code_row(ev->code);
    char out[AUDIT_BODY_MAX], *p = out;
    p = PUT_LIT(p, "{\"v\":1,\"event_id\":");
    p = put_uuid(p, ev->event_id, false);
    p = PUT_LIT(p, ",\"zone\":");
    p = put_str(p, ev->zone.ptr ? ev->zone : STR(""), AUDIT_WORD_MAX);
    p = PUT_LIT(p, ",\"tenant\":");
    p = put_uuid(p, ev->tenant_id, false);
    p = PUT_LIT(p, ",\"ts_us\":");
    p = put_i64(p, ev->ts_us);
    p = PUT_LIT(p, ",\"code\":\"");
    p = put_c(p, row->code);
    *p++ = ev->denied ? 'D' : ev->error != ERR_OK ? 'F' : 'S';
    *p++ = '"';
    p = put_actor(p, ev);
    p = PUT_LIT(p, ",\"src_ip\":");
    p = put_str(p, ev->src_ip, AUDIT_TEXT_MAX);
    p = PUT_LIT(p, ",\"request_id\":");
    p = put_str(p, ev->request_id, AUDIT_TEXT_MAX);
    p = put_resource(p, ev);
    p = put_verdict(p, ev, row);
    p = put_details(p, ev);
    *p++ = '}';
    ASSERT((size_t)(p - out) <= sizeof out);
    return buf_add(b, out, (size_t)(p - out));
}

void audit_event_detail(struct audit_event *ev, struct audit_detail d)
{
    if (ev->detail_count < AUDIT_DETAILS_MAX)
        ev->details[ev->detail_count++] = d;
}

/* The inside of a JSON string up to its closing quote, still escaped; the quote is taken too. */
static bool scan_inside(struct str *s, struct str *ret)
{
    size_t n = 0;
    while (n < s->len && s->ptr[n] != '"')
        n += s->ptr[n] == '\\' ? 2 : 1;
    if (n >= s->len)
        return false;
    *ret = str_n(s->ptr, n);
    *s = str_n(s->ptr + n + 1, s->len - n - 1);
    return true;
}

bool audit_event_opening(struct str body, struct audit_opening *ret)
{
    struct str s = body;
    return scan_lit(&s, "{\"v\":1,\"event_id\":\"") && scan_uuid(&s, &ret->event_id) && scan_lit(&s, "\",\"zone\":\"") &&
           scan_inside(&s, &ret->zone) && scan_lit(&s, ",\"tenant\":\"") && scan_uuid(&s, &ret->tenant_id) &&
           scan_lit(&s, "\",\"ts_us\":") && scan_i53(&s, &ret->ts_us) && scan_lit(&s, ",\"code\":\"") &&
           scan_inside(&s, &ret->code) && s.len > 0 && s.ptr[s.len - 1] == '}';
}
