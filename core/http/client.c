/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - one libcurl easy handle per client: it keeps its connections, so calls to the same place are cheap.
 *
 * Every call resets the handle's options (not its connections) and sets them from the client's and the call's. Reply headers of
 * the last response only are kept (an interim 100 is dropped). */
#include "core/http/client.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"

enum { HEADERS_MAX = 128, HEADER_BYTES_MAX = 64 * 1024 };
static const size_t RESPONSE_MAX = (size_t)16 << 20;

struct http_client {
    CURL *curl;
    struct curl_slist *resolve;
    char *base, *unix_socket, *ca, *ca_pem, *cert, *key, *agent;
    int connect_timeout_ms, timeout_ms;
    bool no_verify_host;
    bool (*may_connect)(void *ctx, const struct sockaddr *to);
    void *may_connect_ctx;
};

/* One call while it runs. */
struct running {
    CURL *curl;
    const struct http_call *call;
    struct arena *arena;
    struct buf body;
    struct http_client_header *headers;
    size_t nheaders, header_bytes;
    bool stopped, too_large, read_failed;
    const char *send;
    size_t send_left;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *copy(const char *s)
{
    return s ? str_dup_heap(str_c(s)) : NULL;
}

struct http_client *http_client_new(const struct http_client_options *o, struct err *e)
{
    if (!o->base_url || (strncmp(o->base_url, "http://", 7) != 0 && strncmp(o->base_url, "https://", 8) != 0)) {
        FAIL(e, INVALID, "the base URL must begin with http:// or https://");
        return NULL;
    }
    if (!o->cert_file != !o->key_file) {
        FAIL(e, INVALID, "a client certificate needs its key, and the key its certificate");
        return NULL;
    }
    pthread_once(&curl_once, curl_start);
    struct http_client *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->curl = curl_easy_init();
    ASSERT(c->curl);
    c->base = copy(o->base_url);
    size_t n = strlen(c->base);
    if (c->base[n - 1] == '/')
        c->base[n - 1] = 0;
    c->unix_socket = copy(o->unix_socket);
    c->ca = copy(o->ca_file);
    c->ca_pem = o->ca_pem.ptr ? str_dup_heap(o->ca_pem) : NULL;
    c->cert = copy(o->cert_file);
    c->key = copy(o->key_file);
    c->agent = copy(o->user_agent ? o->user_agent : "falaj/" FALAJ_VERSION);
    c->connect_timeout_ms = o->connect_timeout_ms > 0 ? o->connect_timeout_ms : 5000;
    c->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : 30000;
    c->no_verify_host = o->no_verify_host;
    c->may_connect = o->may_connect;
    c->may_connect_ctx = o->may_connect_ctx;
    if (o->resolve)
        c->resolve = curl_slist_append(NULL, o->resolve);
    return c;
}

bool http_client_reset(struct http_client *c)
{
    CURL *fresh = curl_easy_init();
    if (!fresh)
        return false;
    curl_easy_cleanup(c->curl);
    c->curl = fresh;
    return true;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    curl_slist_free_all(c->resolve);
    free(c->base);
    free(c->unix_socket);
    free(c->ca);
    free(c->ca_pem);
    free(c->cert);
    free(c->key);
    free(c->agent);
    free(c);
}

void http_client_freep(struct http_client **c)
{
    http_client_free(*c);
    *c = NULL;
}

struct str http_result_header(const struct http_result *r, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < r->nheaders; i++)
        if (r->headers[i].name.len == n && strncasecmp(r->headers[i].name.ptr, name, n) == 0)
            return r->headers[i].value;
    return STR_NULL;
}

/* --- callbacks --- */

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct running *run = ctx;
    n *= size;
    struct str line = { p, n };
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (str_starts(line, "HTTP/")) {
        run->nheaders = 0;      /* a new response begins */
        return n;
    }
    struct str name, value;
    if (!str_cut(line, ':', &name, &value))
        return n;
    run->header_bytes += n;
    if (run->nheaders >= HEADERS_MAX || run->header_bytes > HEADER_BYTES_MAX) {
        run->too_large = true;
        return 0;
    }
    run->headers[run->nheaders++] =
        (struct http_client_header){ str_dup(run->arena, str_trim(name)), str_dup(run->arena, str_trim(value)) };
    return n;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct running *run = ctx;
    n *= size;
    long status = 0;
    curl_easy_getinfo(run->curl, CURLINFO_RESPONSE_CODE, &status);
    if (run->call->on_data && status >= 200 && status < 300) {
        run->stopped = !run->call->on_data(run->call->ctx, p, n);
        return run->stopped ? 0 : n;
    }
    run->too_large = !buf_add(&run->body, p, n);
    return run->too_large ? 0 : n;
}

static size_t on_upload(char *p, size_t size, size_t n, void *ctx)
{
    struct running *run = ctx;
    n *= size;
    if (run->call->read_body) {
        ssize_t got = run->call->read_body(run->call->ctx, p, n);
        run->read_failed = got < 0 || (size_t)got > n;
        return run->read_failed ? CURL_READFUNC_ABORT : (size_t)got;
    }
    n = n < run->send_left ? n : run->send_left;
    memcpy(p, run->send, n);
    run->send += n;
    run->send_left -= n;
    return n;
}

/* curl rewinds an upload when a kept connection turns out to be dead; only a body in memory can start again. */
static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    struct running *run = ctx;
    struct str body = run->call->body;
    if (run->call->read_body || origin != SEEK_SET || offset < 0 || (size_t)offset > body.len)
        return CURL_SEEKFUNC_CANTSEEK;
    run->send = body.ptr + offset;
    run->send_left = body.len - (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* --- one call --- */

static void slist_freep(struct curl_slist **l)
{
    curl_slist_free_all(*l);
    *l = NULL;
}

static bool add_header(struct curl_slist **l, const char *text)
{
    if (strpbrk(text, "\r\n"))
        return false;
    struct curl_slist *more = curl_slist_append(*l, text);
    ASSERT(more);
    *l = more;
    return true;
}

static enum errc make_headers(const struct http_call *call, struct arena *a, struct curl_slist **ret, struct err *e)
{
    bool has_body = call->body.ptr || call->read_body;
    bool ok = add_header(ret, "Expect:");
    if (has_body)
        ok = add_header(ret, arena_printf(a, "Content-Type: %s", call->content_type ? call->content_type : "application/json")) && ok;
    for (const char *const *h = call->headers; h && *h; h++)
        ok = add_header(ret, *h) && ok;
    return ok ? ERR_OK : FAIL(e, INVALID, "A header must not hold a line break");
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct http_client *c = ctx;
    (void)purpose;
    if (!c->may_connect(c->may_connect_ctx, &to->addr))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static void set_client_options(struct http_client *c)
{
    CURL *h = c->curl;
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h, CURLOPT_PROXY, "");
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(h, CURLOPT_USERAGENT, c->agent);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_timeout_ms);
    curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, c->no_verify_host ? 0L : 2L);
    if (c->unix_socket)
        curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, c->unix_socket);
    if (c->ca_pem) {
        const struct curl_blob blob = { c->ca_pem, strlen(c->ca_pem), CURL_BLOB_NOCOPY };
        curl_easy_setopt(h, CURLOPT_CAINFO_BLOB, &blob);
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    } else if (c->ca) {
        curl_easy_setopt(h, CURLOPT_CAINFO, c->ca);
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    }
    if (c->cert) {
        curl_easy_setopt(h, CURLOPT_SSLCERT, c->cert);
        curl_easy_setopt(h, CURLOPT_SSLKEY, c->key);
    }
    if (c->may_connect) {
        curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, open_socket);
        curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, c);
    }
    if (c->resolve)
        curl_easy_setopt(h, CURLOPT_RESOLVE, c->resolve);
}

static void set_upload(struct running *run)
{
    CURL *h = run->curl;
    const struct http_call *call = run->call;
    const char *method = call->method ? call->method : "GET";
    bool has_body = call->body.ptr || call->read_body;
    if (has_body) {
        int64_t size = call->read_body ? call->read_total : (int64_t)call->body.len;
        curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(h, CURLOPT_READFUNCTION, on_upload);
        curl_easy_setopt(h, CURLOPT_READDATA, run);
        curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(h, CURLOPT_SEEKDATA, run);
        curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)(size >= 0 ? size : -1));
        run->send = call->body.ptr;
        run->send_left = call->body.len;
    } else if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
        return;
    } else if (strcmp(method, "GET") != 0) {
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt(h, CURLOPT_COPYPOSTFIELDS, "");
    }
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
}

static enum errc outcome(struct running *run, CURLcode rc, const char *text, struct err *e)
{
    if (run->stopped)
        return ERR_OK;
    if (run->too_large)
        return FAIL(e, LIMIT, "The reply is larger than this call takes");
    if (run->read_failed)
        return FAIL(e, IO, "The upload could not be read");
    switch (rc) {
    case CURLE_OK:
        return ERR_OK;
    case CURLE_OPERATION_TIMEDOUT:
        FAIL(e, DEADLINE, "The server took too long");
        break;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        FAIL(e, INVALID, "The URL is not acceptable");
        break;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        FAIL(e, UPSTREAM, "The server did not answer in HTTP");
        break;
    default:
        FAIL(e, UNAVAILABLE, "The server cannot be reached");
        break;
    }
    err_note(e, "%s", text[0] ? text : curl_easy_strerror(rc));
    return e->code;
}

enum errc http_client_call(struct http_client *c, struct arena *a, const struct http_call *call, struct http_result *ret,
                           struct err *e)
{
    if (!call->path || call->path[0] != '/')
        return FAIL(e, INVALID, "A path must begin with a slash");
    char text[CURL_ERROR_SIZE] = "";
    CLEANUP(slist_freep) struct curl_slist *headers = NULL;
    TRY(make_headers(call, a, &headers, e));
    struct running run = { .curl = c->curl, .call = call, .arena = a,
                           .body = BUF(call->response_max ? call->response_max : RESPONSE_MAX),
                           .headers = ARENA_ARRAY(a, struct http_client_header, HEADERS_MAX) };
    CURL *h = c->curl;
    set_client_options(c);
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, text);
    curl_easy_setopt(h, CURLOPT_URL, arena_printf(a, "%s%s", c->base, call->path));
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, &run);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, &run);
    long timeout = call->timeout_ms > 0 ? call->timeout_ms : call->timeout_ms < 0 ? 0 : c->timeout_ms;
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, timeout);
    if (call->idle_timeout_ms > 0) {
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)((call->idle_timeout_ms + 999) / 1000));
    }
    set_upload(&run);
    struct err own = { 0 };
    enum errc rc = outcome(&run, curl_easy_perform(h), text, e ? e : &own);
    if (rc == ERR_OK) {
        long status = 0;
        curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
        *ret = (struct http_result){ .status = (int)status, .stopped = run.stopped, .headers = run.headers,
                                     .nheaders = run.nheaders };
        ret->content_type = http_result_header(ret, "Content-Type");
        char *bytes = arena_try(a, run.body.len + 1);
        if (bytes) {
            if (run.body.len)
                memcpy(bytes, run.body.ptr, run.body.len);
            ret->body = str_n(bytes, run.body.len);
        } else {
            rc = FAIL(e, LIMIT, "The reply does not fit the arena");
        }
    }
    buf_release(&run.body);
    return rc;
}
