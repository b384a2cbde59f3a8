/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - the request guard: plain checks over the parsed request, most dangerous first.
 *
 * The header list is walked once; single headers are recognised by length and name. The layout check uses that the 0.9.75
 * parser leaves names and values where they were received, ending each with NULs over ": ", CR and LF: a value that is followed
 * by anything but CR LF and the next name was cut by a NUL, folded or ended by a bare LF. */
#include "core/http/guard.h"

#include <strings.h>

enum single { S_HOST, S_LENGTH, S_TE, S_AUTH, S_TYPE, S_REQUEST_ID, S_IDEMPOTENCY, S_EXPECT, S_COUNT };

static const struct str SINGLES[S_COUNT] = {
    [S_HOST] = { "host", 4 },
    [S_LENGTH] = { "content-length", 14 },
    [S_TE] = { "transfer-encoding", 17 },
    [S_AUTH] = { "authorization", 13 },
    [S_TYPE] = { "content-type", 12 },
    [S_REQUEST_ID] = { "x-request-id", 12 },
    [S_IDEMPOTENCY] = { "idempotency-key", 15 },
    [S_EXPECT] = { "expect", 6 },
};

/* RFC 9110 §5.6.2 */
static bool is_tchar(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_tchar((unsigned char)s.ptr[i]))
            return false;
    return s.len > 0;
}

bool http_guard_is_length(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0 && s.len <= 15;
}

/* As long as "Content-Length". */
static const char MASKED[] = "Refused-Length";

/* The line of a header up to its LF, and what folds onto it; 0: it has not come whole. */
static size_t line_len(const char *p, size_t max, bool *is_folded)
{
    *is_folded = false;
    for (size_t i = 0; i < max && p[i]; i++) {
        if (p[i] != '\n')
            continue;
        *is_folded = i + 1 < max && (p[i + 1] == ' ' || p[i + 1] == '\t');
        return i + 1;
    }
    return 0;
}

void http_guard_mask(char *p, size_t max)
{
    size_t i = 0, n = SINGLES[S_LENGTH].len;
    while (i < max && i < 64 && p[i] != 'H' && p[i] != 'h')      /* blanks before the version */
        i++;
    while (i < max && i < 96 && p[i])
        i++;
    for (int nuls = 0; i < max && nuls < 2 && !p[i]; nuls++)     /* over its CR LF */
        i++;
    bool is_folded;
    for (size_t len; i < max && (len = line_len(p + i, max - i, &is_folded)) > 2; i += len) {
        struct str line = { p + i, len }, name, value;
        if (!str_cut(line, ':', &name, &value) || name.len != n || strncasecmp(name.ptr, SINGLES[S_LENGTH].ptr, n) != 0)
            continue;
        while (value.len && (value.ptr[value.len - 1] == '\n' || value.ptr[value.len - 1] == '\r'))
            value.len--;
        if (is_folded || !http_guard_is_length(str_trim(value)))
            memcpy(p + i, MASKED, n);
    }
}

static bool value_is_clean(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* reg-name, IPv4 or [IPv6], and a port: no userinfo, path or blank can hide in it. */
static bool is_host(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && !(c && strchr("-._~:[]", c)))
            return false;
    }
    return s.len > 0 && s.len <= 255;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte of the URI at *i, decoded; -1: a bad escape. */
static int uri_byte(struct str s, size_t *i, bool *escaped)
{
    *escaped = s.ptr[*i] == '%';
    if (!*escaped)
        return (unsigned char)s.ptr[(*i)++];
    if (s.len - *i < 3)
        return -1;
    int hi = hex_digit(s.ptr[*i + 1]), lo = hex_digit(s.ptr[*i + 2]);
    if (hi < 0 || lo < 0)
        return -1;
    *i += 3;
    return hi * 16 + lo;
}

static bool dots_only(int dots, size_t bytes)
{
    return (dots == 1 && bytes == 1) || (dots == 2 && bytes == 2);
}

static enum errc check_path(struct str path, struct err *e)
{
    int dots = 0;               /* of the segment so far, escaped ones too */
    size_t bytes = 0;
    for (size_t i = 0; i < path.len;) {
        bool escaped;
        int c = uri_byte(path, &i, &escaped);
        if (c < 0)
            return FAIL(e, MALFORMED, "The path has a bad percent escape");
        if (c < 0x20 || c == 0x7f)
            return FAIL(e, MALFORMED, "The path has a control byte");
        if (c == '\\' || (escaped && c == '/'))
            return FAIL(e, MALFORMED, "The path has an encoded slash or a backslash");
        if (!escaped && (c == ' ' || c == '#' || c >= 0x80))
            return FAIL(e, MALFORMED, "The path has a byte that must be percent-encoded");
        if (c != '/') {
            bytes++;
            dots += c == '.';
            continue;
        }
        if (dots_only(dots, bytes))
            return FAIL(e, MALFORMED, "The path has a dot segment");
        dots = 0;
        bytes = 0;
    }
    if (dots_only(dots, bytes))
        return FAIL(e, MALFORMED, "The path has a dot segment");
    return ERR_OK;
}

static enum errc check_query(struct str query, struct err *e)
{
    for (size_t i = 0; i < query.len;) {
        bool escaped;
        int c = uri_byte(query, &i, &escaped);
        if (c < 0)
            return FAIL(e, MALFORMED, "The query has a bad percent escape");
        if (c == 0 || c == 0x7f || (!escaped && (c <= 0x20 || c == '#' || c >= 0x80)))
            return FAIL(e, MALFORMED, "The query has a byte that must be percent-encoded or must not be there");
    }
    return ERR_OK;
}

static enum errc check_uri(const struct http_guard_input *in, struct err *e)
{
    if (in->uri.len == 1 && in->uri.ptr[0] == '*' && str_eq_c(in->method, "OPTIONS"))
        return ERR_OK;
    if (in->uri.len == 0 || in->uri.ptr[0] != '/')
        return FAIL(e, MALFORMED, "The request target is not in origin form");
    if (in->uri.len > 1 && in->uri.ptr[1] == '/')
        return FAIL(e, MALFORMED, "The path begins with two slashes");
    struct str path, query;
    str_cut(in->uri, '?', &path, &query);
    if (path.len > GUARD_PATH_MAX)
        return FAIL(e, HEADERS, "The path is longer than %d bytes", GUARD_PATH_MAX);
    if (query.len > GUARD_QUERY_MAX)
        return FAIL(e, HEADERS, "The query is longer than %d bytes", GUARD_QUERY_MAX);
    TRY(check_path(path, e));
    return check_query(query, e);
}

static int single_of(struct str name)
{
    for (int i = 0; i < S_COUNT; i++)
        if (name.len == SINGLES[i].len && strncasecmp(name.ptr, SINGLES[i].ptr, name.len) == 0)
            return i;
    return -1;
}

static enum errc check_framing(const struct http_guard_input *in, const struct str *value, const int *count, struct err *e)
{
    bool is_11 = str_eq_c(in->version, "HTTP/1.1");
    if (count[S_LENGTH] && count[S_TE])
        return FAIL(e, MALFORMED, "Content-Length and Transfer-Encoding together");
    if (count[S_LENGTH] && !http_guard_is_length(str_trim(value[S_LENGTH])))
        return FAIL(e, MALFORMED, "Content-Length is not a number");
    if (count[S_TE]) {
        struct str te = str_trim(value[S_TE]);
        if (!is_11 || te.len != 7 || strncasecmp(te.ptr, "chunked", 7) != 0)
            return FAIL(e, MALFORMED, "The only known Transfer-Encoding is chunked, in version 1.1");
    }
    if (is_11 && !count[S_HOST])
        return FAIL(e, MALFORMED, "Host is missing");
    if (count[S_HOST] && !is_host(str_trim(value[S_HOST])))
        return FAIL(e, MALFORMED, "Host is not acceptable");
    return ERR_OK;
}

enum errc http_guard_check(const struct http_guard_input *in, struct err *e)
{
    if (!str_eq_c(in->version, "HTTP/1.1") && !str_eq_c(in->version, "HTTP/1.0"))
        return FAIL(e, MALFORMED, "The protocol version is not known");
    if (!is_token(in->method) || in->method.len > 32)
        return FAIL(e, MALFORMED, "The method is not a token");
    if (in->nheaders > GUARD_HEADERS_MAX)
        return FAIL(e, HEADERS, "More than %d headers", GUARD_HEADERS_MAX);
    int count[S_COUNT] = { 0 };
    struct str value[S_COUNT] = { { 0 } };
    for (size_t i = 0; i < in->nheaders; i++) {
        const struct http_header *h = &in->headers[i];
        if (!is_token(h->name))
            return FAIL(e, MALFORMED, "A header name is not a token");
        if (!value_is_clean(h->value))
            return FAIL(e, MALFORMED, "A header value has a control byte");
        if (str_eq_c(h->name, MASKED))
            return FAIL(e, MALFORMED, "Content-Length is not a number");
        int s = single_of(h->name);
        if (s < 0)
            continue;
        if (count[s]++)
            return FAIL(e, MALFORMED, "The header %s is repeated", SINGLES[s].ptr);
        value[s] = h->value;
    }
    TRY(check_framing(in, value, count, e));
    return check_uri(in, e);
}

bool http_guard_layout_known(const char *mhd_version)
{
    return strcmp(mhd_version, "0.9.75") == 0;
}

/* Does the line of h lie in one piece: name, colon, blanks, value? */
static bool is_whole(const struct http_header *h)
{
    const char *name_end = h->name.ptr + h->name.len;
    return h->value.ptr > name_end && h->value.ptr - name_end < 65536;
}

enum errc http_guard_layout(const struct http_guard_input *in, struct err *e)
{
    if (in->version.ptr - in->uri_end != 1)
        return FAIL(e, MALFORMED, "The request line holds a NUL or more than single blanks");
    const char *end = in->version.ptr + in->version.len;
    for (size_t i = 0; i < in->nheaders; i++) {
        const struct http_header *h = &in->headers[i];
        if (!is_whole(h))
            return FAIL(e, MALFORMED, "A header line is folded");
        if (h->name.ptr - end != 2)
            return FAIL(e, MALFORMED, "A header line holds a NUL, is folded or does not end in CR LF");
        end = h->value.ptr + h->value.len;
    }
    /* Over each CR LF stand two NULs, and the last line is followed by an empty one; what a NUL hid, or a line that the parser
     * dropped, shows in their place. */
    if (in->nheaders > 0 && (end[0] || end[1] || end[2] || end[3]))
        return FAIL(e, MALFORMED, "A header line holds a NUL, has no name or does not end in CR LF");
    return ERR_OK;
}
