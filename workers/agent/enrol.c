/* SPDX-License-Identifier: Apache-2.0 */
/* enrol.c - enrolment over the API's client listener, renewal over the worker listener. */
#include "workers/agent/enrol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/crypto/x509.h"
#include "core/http/cert_watch.h"
#include "core/http/client.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/wire/enrol_wire.h"
#include "workers/agent/client.h"

enum { FILE_MAX = 64 * 1024, STEP_MS = 50, RETRY_MOST_MS = 60000, RETRY_FIRST_MS = 1000, NAME_MAX_BYTES = 160 };
static const size_t ARENA = (size_t)4 << 20;

static enum errc read_file(struct arena *a, const char *path, struct str *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? FAIL(e, NOT_FOUND, "there is no file %s", path) : FAIL(e, IO, "%s cannot be read", path);
    char *text = arena_alloc(a, FILE_MAX);
    size_t n = 0;
    ssize_t got = 1;
    while (got > 0 && n < FILE_MAX) {
        got = read(fd, text + n, FILE_MAX - n);
        n += got > 0 ? (size_t)got : 0;
    }
    if (got < 0 || n == FILE_MAX)
        return FAIL(e, IO, "%s cannot be read, or is too long", path);
    *ret = str_n(text, n);
    return ERR_OK;
}

static void wait_ms(const _Atomic bool *stop, int64_t ms)
{
    for (; ms > 0 && !*stop; ms -= STEP_MS)
        poll(NULL, 0, STEP_MS);
}

static struct str name_of(const struct config *cfg, struct arena *a)
{
    char host[NAME_MAX_BYTES] = "worker";
    if (!cfg->worker_name[0] && gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "worker");
    return str_dup(a, str_c(cfg->worker_name[0] ? cfg->worker_name : host));
}

static enum errc answer(struct arena *a, const struct http_result *r, struct str *ret_cert, struct err *e)
{
    const struct jval *doc = NULL;
    if (jval_parse(a, r->body, 0, &doc, NULL) != ERR_OK)
        return FAIL(e, UPSTREAM, "enrolling: the reply is not JSON");
    if (r->status >= 400) {
        struct str code = jval_str(jval_get(doc, "code")), detail = jval_str(jval_get(doc, "detail"));
        enum errc rc = code.ptr ? err_by_wire(code.ptr) : ERR_COUNT;
        return err_set(e, rc == ERR_COUNT || rc == ERR_OK ? ERR_UPSTREAM : rc, __FILE__, __LINE__, "enrolling: %.*s", STR_ARG(detail));
    }
    struct enrol_out out = { 0 };
    if (json_decode_reply(&enrol_out_schema, r->body, a, &out, NULL) != ERR_OK)
        return FAIL(e, UPSTREAM, "enrolling: the reply has no certificate");
    *ret_cert = out.certificate_pem;
    return ERR_OK;
}

static enum errc enrol_once(const struct config *cfg, struct arena *a, struct str token, const struct x509_pair *csr, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    const struct http_client_options o = { .base_url = cfg->worker_enrol_url, .ca_file = cfg->worker_enrol_ca[0] ? cfg->worker_enrol_ca : NULL };
    CLEANUP(http_client_freep) struct http_client *c = http_client_new(&o, e);
    if (!c)
        return e->code;
    const struct enrol_in in = { token, csr->cert_pem, name_of(cfg, a), str_c(cfg->worker_zone), str_c(cfg->worker_pool) };
    json_encode(&enrol_in_schema, &in, &b);
    struct http_result r;
    struct x509_pair made = { .key_pem = csr->key_pem };
    TRY(http_client_call(c, a, &(struct http_call){ .method = "POST", .path = "/v1/enrol", .body = buf_str(&b) }, &r, e));
    TRY(answer(a, &r, &made.cert_pem, e));
    return x509_write(&made, cfg->worker_cert, cfg->worker_key, e);
}

/* Does the certificate on disk hold for now? */
static bool is_held(const struct config *cfg, struct arena *a)
{
    struct str pem;
    struct x509_facts f;
    struct err e;
    int64_t now = clock_wall_us(&clock_system);
    return read_file(a, cfg->worker_cert, &pem, &e) == ERR_OK && x509_read(a, pem, &f, &e) == ERR_OK && now < f.not_after_us;
}

enum errc enrol_first(const struct config *cfg, const _Atomic bool *stop, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct str token;
    struct x509_pair csr;
    if (is_held(cfg, a))
        return ERR_OK;
    if (!cfg->worker_join_token_file[0] || !cfg->worker_enrol_url[0])
        return FAIL(e, NOT_FOUND, "%s is no certificate that holds; give worker.join_token_file and worker.enrol_url", cfg->worker_cert);
    TRY(read_file(a, cfg->worker_join_token_file, &token, e));
    while (token.len && strchr("\r\n\t ", token.ptr[token.len - 1]))
        token.len--;
    TRY(x509_make_csr(a, STR("falaj-worker"), &csr, e));
    for (int failures = 0; !*stop; failures++) {
        CLEANUP(arena_freep) struct arena *call = arena_new(ARENA);
        enum errc rc = enrol_once(cfg, call, token, &csr, e);
        if (rc == ERR_OK) {
            log_event(LOG_INFO, "node.enrolled", "zone", LOG_S(cfg->worker_zone), "pool", LOG_S(cfg->worker_pool), NULL);
            return ERR_OK;
        }
        int64_t ms = client_retry_ms(rc, failures);
        if (ms < 0)
            return rc;
        if (failures == 0)
            log_err(LOG_WARN, "node.enrol_waits", e);
        wait_ms(stop, ms < RETRY_FIRST_MS ? RETRY_FIRST_MS : ms);
    }
    return FAIL(e, DEADLINE, "told to stop before the machine was enrolled");
}

struct renewer {
    const struct config *config;
    _Atomic bool stop;
    pthread_t thread;
};

int64_t renew_at_us(int64_t not_before_us, int64_t not_after_us)
{
    int64_t issued_us = not_before_us + X509_BACKDATE_S * INT64_C(1000000);
    return issued_us < not_after_us ? issued_us + (not_after_us - issued_us) / 2 : not_before_us;
}

static enum errc renew(const struct config *cfg, struct arena *a, struct err *e)
{
    struct x509_pair made = { 0 };
    struct str key, csr;
    TRY(read_file(a, cfg->worker_key, &key, e));
    TRY(x509_csr_of(a, STR("falaj-worker"), key, &csr, e));
    CLEANUP(client_freep) struct client *c = client_new(cfg, e);
    if (!c)
        return e->code;
    TRY(client_renew(c, a, csr, &made.cert_pem, e));
    return x509_write(&made, cfg->worker_cert, NULL, e);
}

/* Microseconds until the certificate on disk is due; < 0: it is. */
static int64_t due_in_us(const struct config *cfg, struct arena *a)
{
    struct str pem;
    struct x509_facts f;
    struct err e;
    if (read_file(a, cfg->worker_cert, &pem, &e) != ERR_OK || x509_read(a, pem, &f, &e) != ERR_OK)
        return RETRY_MOST_MS * INT64_C(1000);
    return renew_at_us(f.not_before_us, f.not_after_us) - clock_wall_us(&clock_system);
}

static void *renewer_main(void *p)
{
    struct renewer *r = p;
    struct cert_watch *watch = cert_watch_new();
    cert_watch_add(watch, "worker", r->config->worker_cert, NULL, NULL);
    for (int failures = 0; !r->stop;) {
        CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
        struct err e = { 0 };
        cert_watch_look(watch, clock_wall_us(&clock_system));
        int64_t left_us = due_in_us(r->config, a);
        if (left_us > 0) {
            wait_ms(&r->stop, left_us / 1000 < RETRY_MOST_MS ? left_us / 1000 + 1 : RETRY_MOST_MS);
            continue;
        }
        if (renew(r->config, a, &e) == ERR_OK) {
            log_event(LOG_INFO, "node.renewed", "zone", LOG_S(r->config->worker_zone), NULL);
            failures = 0;
            continue;
        }
        if (failures++ == 0)
            log_err(LOG_WARN, "node.renew_failed", &e);
        int64_t ms = (int64_t)RETRY_FIRST_MS << (failures < 6 ? failures - 1 : 6);
        wait_ms(&r->stop, ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS);
    }
    cert_watch_free(watch);
    return NULL;
}

struct renewer *renewer_new(const struct config *cfg)
{
    struct renewer *r = calloc(1, sizeof *r);
    ASSERT(r);
    r->config = cfg;
    ASSERT(pthread_create(&r->thread, NULL, renewer_main, r) == 0);
    return r;
}

void renewer_free(struct renewer *r)
{
    if (!r)
        return;
    r->stop = true;
    pthread_join(r->thread, NULL);
    free(r);
}
