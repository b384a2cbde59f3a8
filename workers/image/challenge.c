/* SPDX-License-Identifier: Apache-2.0 */
/* challenge.c - tokens, and words between quotes; whatever is written in another way ends the reading. */
#include "workers/image/challenge.h"
#include <string.h>
#include <strings.h>
#include "core/wire/image_ref.h"

struct reader { struct str s; size_t at; struct arena *a; };

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static void pass_blanks(struct reader *r)
{
    while (r->at < r->s.len && (r->s.ptr[r->at] == ' ' || r->s.ptr[r->at] == '\t'))
        r->at++;
}

static struct str take_token(struct reader *r)
{
    const size_t from = r->at;
    while (r->at < r->s.len && is_token(r->s.ptr[r->at]))
        r->at++;
    return str_n(r->s.ptr + from, r->at - from);
}

static bool take_quoted(struct reader *r, struct str *ret)
{
    char *out = arena_alloc(r->a, r->s.len + 1);
    size_t n = 0;
    for (r->at++; r->at < r->s.len; r->at++) {
        char c = r->s.ptr[r->at];
        if (c == '"') {
            r->at++;
            *ret = str_n(out, n);
            return true;
        }
        if (c == '\\' && ++r->at < r->s.len)
            c = r->s.ptr[r->at];
        out[n++] = c;
    }
    return false;
}

/* NAME=VALUE; false: what stands here is none, and nothing was read. */
static bool take_param(struct reader *r, struct str *ret_name, struct str *ret_value)
{
    const size_t from = r->at;
    *ret_name = take_token(r);
    pass_blanks(r);
    if (ret_name->len && r->at < r->s.len && r->s.ptr[r->at] == '=') {
        r->at++;
        pass_blanks(r);
        if (r->at < r->s.len && r->s.ptr[r->at] == '"' ? take_quoted(r, ret_value) : (*ret_value = take_token(r)).len > 0)
            return true;
    }
    r->at = from;
    return false;
}

static bool is_word(struct str s, const char *word)
{
    return s.len == strlen(word) && !strncasecmp(s.ptr, word, s.len);
}

bool challenge_url(struct str url, struct arena *a, struct str *ret_host, struct str *ret_path)
{
    struct str host, path, name;
    int port;
    if (url.len <= 8 || strncasecmp(url.ptr, "https://", 8) != 0)
        return false;
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~' || strchr("\\\"<>^`{|}#", url.ptr[i]))
            return false;
    host = str_n(url.ptr + 8, url.len - 8);
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] == '/' || host.ptr[i] == '?')
            host.len = i;
    path = str_n(host.ptr + host.len, url.len - 8 - host.len);
    if (!image_host_parse(host, &name, &port))      /* no user, no brackets, lower case */
        return false;
    *ret_host = host;
    *ret_path = path.len && path.ptr[0] == '/' ? path : str_fmt(a, "/%.*s", STR_ARG(path));
    return true;
}

/* The parameters of one challenge. */
static struct challenge read_one(struct reader *r, struct str scheme)
{
    struct challenge c = { .kind = is_word(scheme, "bearer") ? CHALLENGE_BEARER : is_word(scheme, "basic") ? CHALLENGE_BASIC
                                                             : CHALLENGE_NONE };
    struct str name, value, realm = STR_NULL;
    for (int i = 0; i < CHALLENGE_PARTS_MAX; i++) {
        pass_blanks(r);
        if (!take_param(r, &name, &value))
            break;
        if (is_word(name, "realm"))
            realm = value;
        else if (is_word(name, "service"))
            c.service = value;
        pass_blanks(r);
        if (r->at < r->s.len && r->s.ptr[r->at] == ',')
            r->at++;
    }
    if (c.kind == CHALLENGE_BEARER && !challenge_url(realm, r->a, &c.host, &c.path))
        c.kind = CHALLENGE_NONE;
    return c;
}

struct challenge challenge_read(struct str text, struct arena *a)
{
    struct reader r = { .s = text, .a = a };
    struct challenge best = { .kind = CHALLENGE_NONE };
    if (text.len > CHALLENGE_TEXT_MAX)
        return best;
    for (int i = 0; i < CHALLENGE_PARTS_MAX && r.at < r.s.len; i++) {
        while (r.at < r.s.len && (r.s.ptr[r.at] == ',' || r.s.ptr[r.at] == ' ' || r.s.ptr[r.at] == '\t'))
            r.at++;
        const struct str scheme = take_token(&r);
        if (!scheme.len)
            break;
        const struct challenge c = read_one(&r, scheme);
        if (c.kind > best.kind)
            best = c;
    }
    return best;
}
