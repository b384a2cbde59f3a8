/* SPDX-License-Identifier: Apache-2.0 */
/* client_call.c - one call on a curl handle: its options, its callbacks, its outcome. Whoever drives the handle, client.c blocking or mux.c
 * with many at once, does the same between http_running_begin and http_running_end.
 *
 * Every call resets the handle's options (not its connections) and sets them from the target's and the call's. Reply headers of
 * the last response only are kept (an interim 100 is dropped). */
#include "core/http/client_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include "core/base/assert.h"

enum { HEADERS_MAX = 128, HEADER_BYTES_MAX = 64 * 1024, SENT_WITH_HEAD_MAX = 32 * 1024 };
static const size_t RESPONSE_MAX = (size_t)16 << 20;

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void curl_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void http_curl_start(void)
{
    pthread_once(&curl_once, curl_init);
}

static char *copy(const char *s)
{
    return s ? str_dup_heap(str_c(s)) : NULL;
}

struct http_target *http_target_new(const struct http_client_options *o, struct err *e)
{
    if (!o->base_url || (strncmp(o->base_url, "http://", 7) != 0 && strncmp(o->base_url, "https://", 8) != 0)) {
        FAIL(e, INVALID, "the base URL must begin with http:// or https://");
        return NULL;
    }
    if (!o->cert_file != !o->key_file) {
        FAIL(e, INVALID, "a client certificate needs its key, and the key its certificate");
        return NULL;
    }
    http_curl_start();
    struct http_target *t = calloc(1, sizeof *t);
    ASSERT(t);
    atomic_store(&t->refs, 1);
    t->base = copy(o->base_url);
    size_t n = strlen(t->base);
    if (t->base[n - 1] == '/')
        t->base[n - 1] = 0;
    t->unix_socket = copy(o->unix_socket);
    t->ca = copy(o->ca_file);
    t->ca_pem = o->ca_pem.ptr ? str_dup_heap(o->ca_pem) : NULL;
    t->cert = copy(o->cert_file);
    t->key = copy(o->key_file);
    t->agent = copy(o->user_agent ? o->user_agent : "falaj/" FALAJ_VERSION);
    t->connect_timeout_ms = o->connect_timeout_ms > 0 ? o->connect_timeout_ms : 5000;
    t->timeout_ms = o->timeout_ms > 0 ? o->timeout_ms : 30000;
    t->no_verify_host = o->no_verify_host;
    t->use_proxy_env = o->use_proxy_env;
    t->may_connect = o->may_connect;
    t->may_connect_ctx = o->may_connect_ctx;
    t->dial = o->dial;
    t->dial_ctx = o->dial_ctx;
    if (o->resolve)
        t->resolve = curl_slist_append(NULL, o->resolve);
    if (o->connect_to) {
        struct buf b = BUF(1024);
        buf_printf(&b, "::%s", o->connect_to);
        t->connect_to = curl_slist_append(NULL, b.ptr);
        buf_release(&b);
    }
    return t;
}

struct http_target *http_target_ref(struct http_target *t)
{
    atomic_fetch_add(&t->refs, 1);
    return t;
}

void http_target_unref(struct http_target *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    curl_slist_free_all(t->resolve);
    curl_slist_free_all(t->connect_to);
    free(t->base);
    free(t->unix_socket);
    free(t->ca);
    free(t->ca_pem);
    free(t->cert);
    free(t->key);
    free(t->agent);
    free(t);
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
    struct http_running *run = ctx;
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
    struct http_running *run = ctx;
    n *= size;
    long status = 0;
    curl_easy_getinfo(run->curl, CURLINFO_RESPONSE_CODE, &status);
    if (run->call->on_data && status >= 200 && status < 300) {
        const struct http_result head = { .status = (int)status, .headers = run->headers, .nheaders = run->nheaders };
        if (run->call->on_reply && !run->has_replied && !run->call->on_reply(run->call->ctx, &head)) {
            run->stopped = true;
            return 0;
        }
        run->has_replied = true;
        run->stopped = !run->call->on_data(run->call->ctx, p, n);
        return run->stopped ? 0 : n;
    }
    if (run->bytes && n > run->bytes_max - *run->bytes) {
        run->crowded = true;
        return 0;
    }
    run->too_large = !buf_add(&run->body, p, n);
    if (run->too_large)
        return 0;
    if (run->bytes)
        *run->bytes += n;
    run->counted += n;
    return n;
}

static size_t on_upload(char *p, size_t size, size_t n, void *ctx)
{
    struct http_running *run = ctx;
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
    struct http_running *run = ctx;
    struct str body = run->call->body;
    if (run->call->read_body || origin != SEEK_SET || offset < 0 || (size_t)offset > body.len)
        return CURL_SEEKFUNC_CANTSEEK;
    run->send = body.ptr + offset;
    run->send_left = body.len - (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* --- one call --- */

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
    bool ok = add_header(ret, "Expect:");
    if (call->body.ptr || call->read_body)
        ok = add_header(ret, arena_printf(a, "Content-Type: %s", call->content_type ? call->content_type : "application/json")) && ok;
    for (const char *const *h = call->headers; h && *h; h++)
        ok = add_header(ret, *h) && ok;
    return ok ? ERR_OK : FAIL(e, INVALID, "A header must not hold a line break");
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    const struct http_target *t = ctx;
    (void)purpose;
    if (t->dial) {
        int fd = t->dial(t->dial_ctx);
        return fd < 0 ? CURL_SOCKET_BAD : fd;
    }
    if (!t->may_connect(t->may_connect_ctx, &to->addr))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static int is_connected(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    (void)ctx;
    (void)fd;
    (void)purpose;
    return CURL_SOCKOPT_ALREADY_CONNECTED;
}

void http_target_set(CURL *h, const struct http_target *t)
{
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    if (!t->use_proxy_env)
        curl_easy_setopt(h, CURLOPT_PROXY, "");
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(h, CURLOPT_USERAGENT, t->agent);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)t->connect_timeout_ms);
    curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, t->no_verify_host ? 0L : 2L);
    if (t->unix_socket)
        curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, t->unix_socket);
    if (t->ca_pem) {
        const struct curl_blob blob = { t->ca_pem, strlen(t->ca_pem), CURL_BLOB_NOCOPY };
        curl_easy_setopt(h, CURLOPT_CAINFO_BLOB, &blob);
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    } else if (t->ca) {
        curl_easy_setopt(h, CURLOPT_CAINFO, t->ca);
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    }
    if (t->cert) {
        curl_easy_setopt(h, CURLOPT_SSLCERT, t->cert);
        curl_easy_setopt(h, CURLOPT_SSLKEY, t->key);
    }
    if (t->may_connect || t->dial) {
        curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, open_socket);
        curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, (void *)(uintptr_t)t);
    }
    if (t->dial)
        curl_easy_setopt(h, CURLOPT_SOCKOPTFUNCTION, is_connected);
    if (t->resolve)
        curl_easy_setopt(h, CURLOPT_RESOLVE, t->resolve);
    if (t->connect_to)
        curl_easy_setopt(h, CURLOPT_CONNECT_TO, t->connect_to);
}

static void set_upload(struct http_running *run)
{
    CURL *h = run->curl;
    const struct http_call *call = run->call;
    const char *method = call->method ? call->method : "GET";
    /* One record and one write with the head: an upload follows in a turn of its own, and wakes the other side twice. */
    if (call->body.ptr && !call->read_body && call->body.len <= SENT_WITH_HEAD_MAX) {
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, call->body.ptr);
    } else if (call->body.ptr || call->read_body) {
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

static enum errc outcome(const struct http_running *run, CURLcode rc, struct err *e)
{
    if (run->stopped)
        return ERR_OK;
    if (run->too_large)
        return FAIL(e, LIMIT, "The reply is larger than this call takes");
    if (run->crowded)
        return FAIL(e, UNAVAILABLE, "The replies under way fill the memory that is set apart for them; try again");
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
    err_note(e, "%s", run->text[0] ? run->text : curl_easy_strerror(rc));
    return e->code;
}

enum errc http_running_begin(struct http_running *run, CURL *h, const struct http_target *t, const struct http_call *call, struct arena *a,
                             struct err *e)
{
    if (!call->path || call->path[0] != '/')
        return FAIL(e, INVALID, "A path must begin with a slash");
    run->curl = h;
    run->call = call;
    run->arena = a;
    run->body = BUF(call->response_max ? call->response_max : RESPONSE_MAX);
    run->text[0] = 0;
    if (make_headers(call, a, &run->send_headers, e) != ERR_OK) {
        curl_slist_free_all(run->send_headers);
        return ERR_INVALID;
    }
    run->headers = ARENA_ARRAY(a, struct http_client_header, HEADERS_MAX);
    http_target_set(h, t);
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, run->text);
    curl_easy_setopt(h, CURLOPT_URL, arena_printf(a, "%s%s", t->base, call->path));
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, run->send_headers);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, run);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, run);
    long timeout = call->timeout_ms > 0 ? call->timeout_ms : call->timeout_ms < 0 ? 0 : t->timeout_ms;
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, timeout);
    if (call->idle_timeout_ms > 0) {
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, (long)((call->idle_timeout_ms + 999) / 1000));
    }
    set_upload(run);
    return ERR_OK;
}

static enum errc take_result(struct http_running *run, struct http_result *ret, struct err *e)
{
    long status = 0;
    curl_easy_getinfo(run->curl, CURLINFO_RESPONSE_CODE, &status);
    *ret = (struct http_result){ .status = (int)status, .stopped = run->stopped, .headers = run->headers, .nheaders = run->nheaders };
    ret->content_type = http_result_header(ret, "Content-Type");
    char *bytes = arena_try(run->arena, run->body.len + 1);
    if (!bytes)
        return FAIL(e, LIMIT, "The reply does not fit the arena");
    if (run->body.len)
        memcpy(bytes, run->body.ptr, run->body.len);
    ret->body = str_n(bytes, run->body.len);
    return ERR_OK;
}

enum errc http_running_end(struct http_running *run, CURLcode code, struct http_result *ret, struct err *e)
{
    struct err own = { 0 };
    enum errc rc = outcome(run, code, e ? e : &own);
    if (rc == ERR_OK)
        rc = take_result(run, ret, e);
    if (run->bytes)
        *run->bytes -= run->counted;
    buf_release(&run->body);
    curl_slist_free_all(run->send_headers);
    return rc;
}
