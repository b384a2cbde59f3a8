/* SPDX-License-Identifier: Apache-2.0 */
/* record_read.c - the strict reader of an event's canonical bytes.
 *
 * It follows the encoder member by member. A string is scanned once; most hold no escape and are then borrowed as they stand.
 * Escapes are accepted only as the encoder writes them (RFC 8785 §3.2.2.2), so one text has one spelling. */
#include "audit/record_read.h"
#include "audit/scan_int.h"

const char *audit_verdict_text(const struct audit_view *v)
{
    return v->suffix == 'D' ? "denied" : v->suffix == 'F' ? "failed" : "success";
}

bool audit_text_is_sealed(struct str s)
{
    struct uuid key;
    if (!s.ptr || !scan_lit(&s, "sealed:1:") || !scan_uuid(&s, &key) || !scan_lit(&s, ":") || s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!scan_is_word(str_n(s.ptr + i, 1)) || s.ptr[i] == '.' || s.ptr[i] == ':')
            return false;
    return true;
}

/* The byte that an escape at p (n bytes left, p[0] is a backslash) stands for; its length, 0 when it is not spelled as ours are. */
static size_t unescape(const char *p, size_t n, char *out)
{
    static const char shorts[] = "b\bt\tn\nf\fr\r\"\"\\\\";
    if (n < 2)
        return 0;
    for (const char *s = shorts; *s; s += 2) {
        if (s[0] == p[1]) {
            *out = s[1];
            return 2;
        }
    }
    uint8_t c;
    struct str hex = str_n(p + 4, 2);
    if (n < 6 || memcmp(p + 1, "u00", 3) != 0 || !scan_hex(&hex, &c, 1) || c >= 0x20 || c == '\b' || c == '\t' || c == '\n' ||
        c == '\f' || c == '\r')
        return 0;
    *out = (char)c;
    return 6;
}

/* The inside of a string of n escaped bytes at p, into v->text. */
static bool copy_unescaped(struct audit_view *v, const char *p, size_t n, struct str *ret)
{
    char *out = v->text + v->used, *start = out;
    if (n > sizeof v->text - v->used)
        return false;
    for (size_t i = 0; i < n;) {
        size_t took = 1;
        if (p[i] == '\\')
            took = unescape(p + i, n - i, out);
        else
            *out = p[i];
        if (took == 0)
            return false;
        out++;
        i += took;
    }
    v->used += (size_t)(out - start);
    *ret = str_n(start, (size_t)(out - start));
    return true;
}

/* How many bytes from p on are certainly ordinary, in steps of eight: from 0x20 to 0x7f and neither quote nor backslash. A byte is
 * zero where (x - 0x01…) & ~x has its top bit, and below 0x20 where (x - 0x20…) & ~x has it. */
static size_t plain_run(const char *p, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    size_t i = 0;
    for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
        uint64_t x, quote, slash;
        memcpy(&x, p + i, sizeof x);
        quote = x ^ ones * '"';
        slash = x ^ ones * '\\';
        if ((x | ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops)
            break;
    }
    return i;
}

/* A string with its quotes, at most max bytes between them. */
static bool read_str(struct audit_view *v, struct str *s, size_t max, struct str *ret)
{
    bool has_escape = false, is_ascii = true;
    if (!scan_lit(s, "\""))
        return false;
    const char *p = s->ptr;
    size_t n = plain_run(p, s->len < max ? s->len : max);
    for (; n < s->len && p[n] != '"'; n++) {
        unsigned char c = (unsigned char)p[n];
        if (c < 0x20 || n >= max)
            return false;
        is_ascii &= c < 0x80;
        if (c == '\\') {
            has_escape = true;
            n++;                       /* what is escaped is looked at below; a quote must not end the string */
        }
    }
    if (n >= s->len || n > max || (!is_ascii && !str_is_utf8(str_n(p, n))))
        return false;
    *s = str_n(p + n + 1, s->len - n - 1);
    *ret = str_n(p, n);
    return !has_escape || copy_unescaped(v, p, n, ret);
}

static bool read_str_or_null(struct audit_view *v, struct str *s, size_t max, struct str *ret)
{
    *ret = STR_NULL;
    return scan_lit(s, "null") || read_str(v, s, max, ret);
}

static bool read_uuid_or_null(struct str *s, struct uuid *ret)
{
    *ret = UUID_NIL;
    return scan_lit(s, "null") || (scan_lit(s, "\"") && scan_uuid(s, ret) && scan_lit(s, "\"") && !uuid_is_nil(*ret));
}

/* By the last eight bytes as one number: every code begins alike, and each event of a bundle is looked for here. */
static void find_code(struct audit_view *v)
{
    static const char codes[AUDIT_CODE_COUNT][sizeof "FLJ-AAA-000"] = {
#define EVENT(name_, code_, action_, doc_) code_,
#include "audit/event_code.def"
#undef EVENT
    };
    enum { LAST = sizeof codes[0] - 1 - sizeof(uint64_t) };
    uint64_t wanted, known = 0;
    int i = 0;
    memcpy(&wanted, v->code_text.ptr + LAST, sizeof wanted);
    for (; i < AUDIT_CODE_COUNT; i++) {
        memcpy(&known, codes[i] + LAST, sizeof known);
        if (known == wanted)
            break;
    }
    v->code = (enum audit_code)i;
}

/* FLJ, three letters, three digits, and the suffix. */
static bool read_code(struct audit_view *v, struct str *s)
{
    static const char shape[] = "FLJ-AAA-000";
    if (!read_str(v, s, sizeof shape, &v->code_text) || v->code_text.len != sizeof shape)
        return false;
    const char *p = v->code_text.ptr;
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        bool fits = shape[i] == 'A' && i > 3 ? p[i] >= 'A' && p[i] <= 'Z' : shape[i] == '0' ? p[i] >= '0' && p[i] <= '9' : p[i] == shape[i];
        if (!fits)
            return false;
    }
    v->suffix = p[sizeof shape - 1];
    find_code(v);
    return v->suffix == 'S' || v->suffix == 'D' || v->suffix == 'F';
}

/* Keeps where a member begins and, once it is read, how long it is. */
static bool begin(struct audit_view *v, enum audit_field f, const struct str *s)
{
    v->member[f].ptr = s->ptr;
    return true;
}

static bool end(struct audit_view *v, enum audit_field f, const struct str *s)
{
    v->member[f].len = (size_t)(s->ptr - v->member[f].ptr);
    return true;
}

static bool read_time(struct audit_view *v, struct str *s)
{
    return begin(v, AUDIT_FIELD_TIME, s) && scan_lit(s, "\"ts_us\":") && scan_i53(s, &v->ts_us) && end(v, AUDIT_FIELD_TIME, s);
}

static bool read_action(struct audit_view *v, struct str *s)
{
    return begin(v, AUDIT_FIELD_ACTION, s) && scan_lit(s, "\"action\":") && read_str(v, s, AUDIT_WORD_MAX, &v->action) &&
           end(v, AUDIT_FIELD_ACTION, s);
}

static bool read_resource(struct audit_view *v, struct str *s)
{
    return begin(v, AUDIT_FIELD_RESOURCE, s) && scan_lit(s, "\"resource\":{\"kind\":") &&
           read_str_or_null(v, s, AUDIT_WORD_MAX, &v->resource_kind) && scan_lit(s, ",\"id\":") &&
           read_str_or_null(v, s, AUDIT_TEXT_MAX, &v->resource_id) && scan_lit(s, "}") && end(v, AUDIT_FIELD_RESOURCE, s);
}

static bool read_actor_id(struct audit_view *v, struct str *s)
{
    struct str type;
    int n = 0;
    if (!begin(v, AUDIT_FIELD_ACTOR, s) || !scan_lit(s, "\"actor\":{\"type\":") || !read_str(v, s, AUDIT_WORD_MAX, &type))
        return false;
    while (n < AUDIT_ACTOR_COUNT && !str_eq_c(type, audit_actor_text((enum audit_actor)n)))
        n++;
    if (n == AUDIT_ACTOR_COUNT)
        return false;
    v->actor = (enum audit_actor)n;
    return scan_lit(s, ",\"id\":") && read_uuid_or_null(s, &v->actor_id) && end(v, AUDIT_FIELD_ACTOR, s);
}

static bool read_actor(struct audit_view *v, struct str *s)
{
    if (!read_actor_id(v, s) || !scan_lit(s, ",\"roles\":["))
        return false;
    for (v->role_count = 0; !scan_lit(s, "]"); v->role_count++)
        if (v->role_count == AUDIT_ROLES_MAX || (v->role_count && !scan_lit(s, ",")) ||
            !read_str_or_null(v, s, AUDIT_WORD_MAX, &v->roles[v->role_count]))
            return false;
    return scan_lit(s, ",\"token_id\":") && read_uuid_or_null(s, &v->token_id) && scan_lit(s, "}");
}

static bool read_verdict(struct audit_view *v, struct str *s)
{
    int64_t status = 0;
    if (!scan_lit(s, ",") || !read_action(v, s) || !scan_lit(s, ",\"decision\":{\"effect\":\""))
        return false;
    v->denied = scan_lit(s, "deny\"");
    if ((!v->denied && !scan_lit(s, "allow\"")) || !scan_lit(s, ",\"rule\":") || !read_str_or_null(v, s, AUDIT_TEXT_MAX, &v->rule) ||
        !scan_lit(s, "},\"outcome\":") || !read_str(v, s, AUDIT_WORD_MAX, &v->outcome) || !scan_lit(s, ",\"http_status\":"))
        return false;
    if (!scan_lit(s, "null") && (!scan_i64(s, &status) || status == 0 || status < INT32_MIN || status > INT32_MAX))
        return false;
    v->http_status = (int)status;
    return v->denied == (v->suffix == 'D') && (v->denied || (v->suffix == 'S') == str_eq_c(v->outcome, "success"));
}

static bool read_details(struct audit_view *v, struct str *s)
{
    if (!scan_lit(s, ",\"details\":{"))
        return false;
    for (v->detail_count = 0; !scan_lit(s, "}"); v->detail_count++) {
        if (v->detail_count == AUDIT_DETAILS_MAX || (v->detail_count && !scan_lit(s, ",")))
            return false;
        struct audit_view_detail *d = &v->details[v->detail_count];
        *d = (struct audit_view_detail){ 0 };
        if (!read_str(v, s, AUDIT_WORD_MAX, &d->name) || !scan_lit(s, ":"))
            return false;
        bool is_text = s->len > 0 && s->ptr[0] == '"';
        if (is_text ? !read_str(v, s, AUDIT_TEXT_MAX, &d->text) : !scan_i64(s, &d->number))
            return false;
    }
    return true;
}

bool audit_record_read(struct str body, struct audit_view *v)
{
    struct str s = body;
    v->used = 0;
    return scan_lit(&s, "{\"v\":1,\"event_id\":\"") && scan_uuid(&s, &v->event_id) && scan_lit(&s, "\",\"zone\":") &&
           read_str(v, &s, AUDIT_WORD_MAX, &v->zone) && scan_lit(&s, ",\"tenant\":\"") && scan_uuid(&s, &v->tenant_id) &&
           scan_lit(&s, "\",") && read_time(v, &s) && scan_lit(&s, ",\"code\":") && read_code(v, &s) &&
           scan_lit(&s, ",") && read_actor(v, &s) && scan_lit(&s, ",\"src_ip\":") && read_str_or_null(v, &s, AUDIT_TEXT_MAX,
                                                                                                      &v->src_ip) &&
           scan_lit(&s, ",\"request_id\":") && read_str_or_null(v, &s, AUDIT_TEXT_MAX, &v->request_id) &&
           scan_lit(&s, ",") && read_resource(v, &s) && read_verdict(v, &s) && read_details(v, &s) && scan_lit(&s,
                                                                                                               "}") && s.len == 0;
}

bool audit_member_read(struct str member, struct audit_view *v, enum audit_field *ret)
{
    struct str s = member;
    bool is_good = false;
    v->used = 0;
    if (str_starts(s, "\"ts_us\"")) {
        *ret = AUDIT_FIELD_TIME;
        is_good = read_time(v, &s);
    } else if (str_starts(s, "\"action\"")) {
        *ret = AUDIT_FIELD_ACTION;
        is_good = read_action(v, &s);
    } else if (str_starts(s, "\"resource\"")) {
        *ret = AUDIT_FIELD_RESOURCE;
        is_good = read_resource(v, &s);
    } else {
        *ret = AUDIT_FIELD_ACTOR;
        is_good = read_actor_id(v, &s) && scan_lit(&s, "}");
    }
    return is_good && s.len == 0;
}
