/* SPDX-License-Identifier: Apache-2.0 */
/* s3_call.c - the store's address, its connections, and one signed request with its tries. */
#include "core/s3/s3_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"
#include "core/crypto/secmem.h"
#include "core/s3/sigv4.h"

enum { IDLE_MAX = 16, FIRST_PAUSE_MS = 100, TEXT = 256, RESPONSE = 4 << 20, PATH = 2048 };

struct s3 {
    char base[TEXT], host[TEXT], bucket[TEXT], prefix[TEXT];    /* base: scheme and host; bucket: "/name"; prefix: "" or "a/b/" */
    char region[64], key_id[TEXT], secret[TEXT], ca[TEXT * 4];
    int timeout_ms;
    pthread_mutex_t lock;                       /* guards idle, n */
    struct http_client *idle[IDLE_MAX];
    size_t n;
};

const char *s3_prefix(const struct s3 *s)
{
    return s->prefix;
}

static bool put_text(char *out, size_t cap, struct str s)
{
    return snprintf(out, cap, "%.*s", STR_ARG(s)) < (int)cap;
}

/* "https://host:port/bucket/prefix" in its parts. A port that is the scheme's own does not stand in the Host header. */
static bool cut_url(struct s3 *s, const char *url)
{
    struct str rest = str_c(url), host, bucket, prefix;
    size_t scheme = str_starts(rest, "https://") ? 8 : str_starts(rest, "http://") ? 7 : 0;
    rest = str_n(rest.ptr + scheme, rest.len - scheme);
    if (!scheme || !str_cut(rest, '/', &host, &rest) || !host.len || str_find(host, '@') >= 0)
        return false;
    str_cut(rest, '/', &bucket, &prefix);
    while (prefix.len && prefix.ptr[prefix.len - 1] == '/')
        prefix.len--;
    bool has_own_port = str_ends(host, scheme == 8 ? ":443" : ":80");
    struct str shown = has_own_port ? str_n(host.ptr, host.len - (scheme == 8 ? 4 : 3)) : host;
    return bucket.len && put_text(s->base, sizeof s->base, str_n(url, scheme + host.len)) &&
           put_text(s->host, sizeof s->host, shown) && snprintf(s->bucket, sizeof s->bucket, "/%.*s", STR_ARG(bucket)) < TEXT &&
           snprintf(s->prefix, sizeof s->prefix, "%.*s%s", STR_ARG(prefix), prefix.len ? "/" : "") < TEXT / 2;
}

enum errc s3_new(const struct s3_options *o, struct s3 **ret, struct err *e)
{
    struct s3 *s = calloc(1, sizeof *s);
    ASSERT(s);
    pthread_mutex_init(&s->lock, NULL);
    s->timeout_ms = o->timeout_ms;
    bool is_good = cut_url(s, o->url);
    if (!is_good)
        FAIL(e, INVALID, "The address of an S3 store is https://host[:port]/bucket[/prefix]");
    else if (!*o->key_id || !*o->secret || !put_text(s->key_id, sizeof s->key_id, str_c(o->key_id)) ||
             snprintf(s->secret, 128, "%s", o->secret) >= 128 || !put_text(s->region, sizeof s->region, str_c(o->region)) ||
             !put_text(s->ca, sizeof s->ca, str_c(o->ca_file ? o->ca_file : "")))
        is_good = false, FAIL(e, INVALID, "An S3 store needs a key's id and its secret, of at most 255 and 127 bytes");
    if (!is_good) {
        s3_free(s);
        return ERR_INVALID;
    }
    *ret = s;
    return ERR_OK;
}

void s3_free(struct s3 *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        http_client_free(s->idle[i]);
    secret_wipe(s->secret, sizeof s->secret);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct http_client *take(struct s3 *s, struct err *e)
{
    struct http_client *c = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->n)
        c = s->idle[--s->n];
    pthread_mutex_unlock(&s->lock);
    return c ? c : http_client_new(&(struct http_client_options){ .base_url = s->base, .ca_file = *s->ca ? s->ca : NULL,
                                                                  .timeout_ms = s->timeout_ms }, e);
}

static void give_back(struct s3 *s, struct http_client *c)
{
    pthread_mutex_lock(&s->lock);
    bool is_kept = s->n < IDLE_MAX;
    if (is_kept)
        s->idle[s->n++] = c;
    pthread_mutex_unlock(&s->lock);
    if (!is_kept)
        http_client_free(c);
}

/* Doubles from FIRST_PAUSE_MS; up to half of it by chance, so that many callers do not come back together. */
static void rest_before(int number)
{
    struct err e;
    uint16_t chance = 0;
    int64_t ms = FIRST_PAUSE_MS << (number - 1);
    if (rand_bytes(&chance, sizeof chance, &e) == ERR_OK)
        ms += ms * chance / UINT16_MAX / 2;
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static enum errc one_try(struct s3 *s, struct http_client *c, const struct s3_request *q, struct arena *a,
                         struct http_result *ret,
                         struct err *e)
{
    struct buf path = BUF(PATH);
    char when[SIGV4_TIME], sha[65], signature[SIGV4_HEADER];
    struct sigv4 in = { .method = q->method, .query = str_c(q->query), .host = str_c(s->host), .region = s->region,
                        .at_us = clock_wall_us(&clock_system), .key_id = s->key_id, .secret = s->secret };
    sha256(q->body.ptr ? q->body.ptr : "", q->body.len, in.body_sha256);
    hex_encode(in.body_sha256, sizeof in.body_sha256, sha);
    sigv4_time(in.at_us, when);
    sigv4_encode(&path, str_c(s->bucket), true);
    if (q->key) {
        buf_add_char(&path, '/');
        sigv4_encode(&path, str_c(s->prefix), true);
        sigv4_encode(&path, str_c(q->key), true);
    }
    in.path = str_dup(a, buf_str(&path));
    bool is_whole = !path.overflow && sigv4_header(&in, signature);
    buf_release(&path);
    if (!is_whole)
        return FAIL(e, INVALID, "The names of an S3 object, region and key are too long together");
    const char *const headers[] = { arena_printf(a, "Authorization: %s", signature), arena_printf(a, "x-amz-date: %s", when),
                                    arena_printf(a, "x-amz-content-sha256: %s", sha), q->header, NULL };
    struct http_call call = { .method = q->method, .headers = headers, .body = q->body, .response_max = RESPONSE,
                              .content_type = "application/octet-stream", .on_data = q->on_data, .ctx = q->ctx,
                              .timeout_ms = q->timeout_ms,
                              .path = in.query.len ? arena_printf(a, "%.*s?%s", STR_ARG(in.path), q->query) : in.path.ptr };
    return http_client_call(c, a, &call, ret, e);
}

static bool is_worth_another(enum errc rc, const struct http_result *r)
{
    return rc == ERR_OK ? r->status == 429 || r->status == 500 || r->status == 502 || r->status == 503 || r->status == 504
                        : rc == ERR_UNAVAILABLE || rc == ERR_DEADLINE || rc == ERR_UPSTREAM;
}

enum errc s3_call(struct s3 *s, const struct s3_request *q, struct arena *a, struct http_result *ret, struct err *e)
{
    struct http_client *c = take(s, e);
    int tries = q->tries ? q->tries : S3_TRIES, made = 0;
    enum errc rc = ERR_OK;
    if (!c)
        return e->code;
    while (++made) {
        if (q->before_try)
            q->before_try(q->ctx);
        rc = one_try(s, c, q, a, ret, e);
        if (made == tries || !is_worth_another(rc, ret))
            break;
        rest_before(made);
    }
    give_back(s, c);
    return rc == ERR_OK && is_worth_another(rc, ret) ? s3_refusal(ret, e) : rc;
}

enum errc s3_refusal(const struct http_result *r, struct err *e)
{
    char code[S3_TEXT] = "";
    if (r->status >= 200 && r->status < 300)
        return ERR_OK;
    if (!s3_xml_first(r->body, "Code", code))
        snprintf(code, sizeof code, "no code");
    if (r->status == 404)
        FAIL(e, NOT_FOUND, "The store has no such object");
    else if (r->status == 412)
        FAIL(e, EXISTS, "The object is stored already");
    else if (r->status == 507 || strstr(code, "QuotaExceeded"))
        FAIL(e, LIMIT, "The blob store is full");
    else if (r->status >= 500 || r->status == 429)
        FAIL(e, UNAVAILABLE, "The blob store is too busy");
    else if (r->status == 401 || r->status == 403)
        FAIL(e, IO, "The blob store does not let Falaj in");
    else
        FAIL(e, IO, "The blob store failed");
    return err_note(e, "S3 answered %d %.80s", r->status, code);
}

bool s3_own_key(const struct s3 *s, const char *key, char out[S3_KEY])
{
    size_t n = strlen(s->prefix);
    return strncmp(key, s->prefix, n) == 0 && snprintf(out, S3_KEY, "%s", key + n) < S3_KEY;
}

int64_t s3_when(const char *text)
{
    int64_t us;
    return time_parse(str_c(text), &us) ? us : 0;
}
