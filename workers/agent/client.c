/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - each call is: body into a buffer, one HTTP call, a problem document into an error, fields out of the reply.
 *
 * Replies of the API are checked like any input: a missing or odd member is UPSTREAM, never a crash. */
#include "workers/agent/client.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/secmem.h"
#include "core/http/client.h"

enum { NEXT_MAX = 1000, REGISTER_TIMEOUT_MS = 10000, REPORT_TIMEOUT_MS = 6000, KEYS_TIMEOUT_MS = 15000, POLL_EXTRA_MS = 15000,
       RETRY_FIRST_MS = 100, RETRY_MOST_MS = 5000 };
static const size_t BODY_MAX = 64 * 1024, REPLY_MAX = (size_t)32 << 20;

struct client {
    struct http_client *http;
    const char *cert_path;
    struct stat cert;                   /* the certificate file of the connection that is open */
};

struct client *client_new(const struct config *cfg, struct err *e)
{
    const struct http_client_options o = { .base_url = cfg->worker_api_url, .ca_file = cfg->worker_ca, .cert_file = cfg->worker_cert,
                                           .key_file = cfg->worker_key, .connect_timeout_ms = 3000 };
    struct http_client *http = http_client_new(&o, e);
    if (!http)
        return NULL;
    struct client *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->http = http;
    c->cert_path = cfg->worker_cert;
    if (stat(c->cert_path, &c->cert) != 0)
        c->cert = (struct stat){ 0 };
    return c;
}

/* A connection keeps the certificate it was made with; what the API ends soon must not be used on. */
static struct http_client *fresh(struct client *c)
{
    struct stat now;
    if (stat(c->cert_path, &now) == 0 && (now.st_ino != c->cert.st_ino || now.st_mtim.tv_sec != c->cert.st_mtim.tv_sec ||
                                          now.st_mtim.tv_nsec != c->cert.st_mtim.tv_nsec) && http_client_reset(c->http))
        c->cert = now;
    return c->http;
}

void client_free(struct client *c)
{
    if (c)
        http_client_free(c->http);
    free(c);
}

void client_freep(struct client **c)
{
    client_free(*c);
    *c = NULL;
}

int client_retry_ms(enum errc rc, int n)
{
    if (err_row(rc)->retry == RETRY_NEVER)
        return -1;
    if (err_row(rc)->retry == RETRY_NOW)
        return 0;
    int ms = RETRY_FIRST_MS << (n < 6 ? n : 6);
    return ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS;
}

/* The error that a reply of 400 and above stands for. */
static enum errc reply_error(struct arena *a, const struct http_result *r, const char *what, struct err *e)
{
    const struct jval *doc = NULL;
    if (r->body.len && jval_parse(a, r->body, 0, &doc, NULL) == ERR_OK) {
        struct str code = jval_str(jval_get(doc, "code")), detail = jval_str(jval_get(doc, "detail"));
        enum errc rc = code.ptr ? err_by_wire(code.ptr) : ERR_COUNT;
        if (rc != ERR_COUNT && rc != ERR_OK)
            return err_set(e, rc, __FILE__, __LINE__, "%s: %.*s", what, STR_ARG(detail.ptr ? detail : str_c(err_row(rc)->title)));
    }
    if (r->status == 404)
        return FAIL(e, NOT_FOUND, "%s: the API answered 404", what);
    if (r->status == 409)
        return FAIL(e, STALE, "%s: the API answered 409", what);
    if (r->status == 503 || r->status == 429)
        return FAIL(e, UNAVAILABLE, "%s: the API answered %d", what, r->status);
    if (r->status >= 500)
        return FAIL(e, UPSTREAM, "%s: the API answered %d", what, r->status);
    return FAIL(e, INVALID, "%s: the API answered %d", what, r->status);
}

static enum errc post(struct client *c, struct arena *a, const char *path, struct str body, int timeout_ms, const char *what,
                      const struct jval **ret, struct err *e)
{
    const struct http_call call = { .method = "POST", .path = path, .body = body, .timeout_ms = timeout_ms, .response_max = REPLY_MAX };
    struct http_result r;
    TRY(http_client_call(fresh(c), a, &call, &r, e));
    if (r.status >= 400)
        return reply_error(a, &r, what, e);
    if (jval_parse(a, r.body, 0, ret, e) != ERR_OK)
        return FAIL(e, UPSTREAM, "%s: the reply is not JSON", what);
    return ERR_OK;
}

static void add_id(struct buf *b, const char *name, const char *prefix, struct uuid u)
{
    buf_printf(b, "\"%s\":\"", name);
    buf_add_id(b, prefix, u);
    buf_add_c(b, "\"");
}

static void add_text(struct buf *b, const char *name, struct str s)
{
    buf_printf(b, ",\"%s\":", name);
    buf_add_json(b, s);
}

enum errc client_register(struct client *c, struct arena *a, const struct node_facts *f, struct node_identity *ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    char boot[UUID_TEXT];
    uuid_text(f->boot_id, boot);
    buf_add_c(&b, "{\"name\":");
    buf_add_json(&b, f->name);
    add_text(&b, "zone", f->zone);
    add_text(&b, "pool", f->pool);
    add_text(&b, "backend", f->backend);
    buf_printf(&b, ",\"slots\":%ld,\"cpus\":%ld,\"memory_bytes\":%ld,\"gpus\":%ld,\"version\":\"%s\",\"boot_id\":\"%s\"}", (long)f->slots,
               (long)f->cpus, (long)f->memory_bytes, (long)f->gpus, FALAJ_VERSION, boot);
    const struct jval *r;
    TRY(post(c, a, "/v1/nodes/register", buf_str(&b), REGISTER_TIMEOUT_MS, "registering", &r, e));
    struct str id;
    TRY(jval_need_str(r, "node_id", &id, e));
    struct node_identity n = { .boot_id = f->boot_id };
    if (!id_parse("nod", id, &n.node_id))
        return FAIL(e, UPSTREAM, "registering: the reply's node_id is not an id");
    TRY(jval_need_i64(r, "heartbeat_ms", 1, 3600000, &n.heartbeat_ms, e));
    TRY(jval_need_i64(r, "lease_ms", 1, 3600000, &n.lease_ms, e));
    *ret = n;
    return ERR_OK;
}

enum errc client_next(struct client *c, struct arena *a, const struct node_identity *n, int64_t free_slots, int64_t wait_ms,
                      struct grant **ret, size_t *ret_n, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    char boot[UUID_TEXT];
    uuid_text(n->boot_id, boot);
    buf_add_c(&b, "{");
    add_id(&b, "node_id", "nod", n->node_id);
    long most = (long)(free_slots < NEXT_MAX ? free_slots : NEXT_MAX);
    buf_printf(&b, ",\"boot_id\":\"%s\",\"free_slots\":%ld,\"max\":%ld,\"wait_ms\":%ld}", boot, (long)free_slots, most, (long)wait_ms);
    const struct jval *r;
    TRY(post(c, a, "/v1/leases/next", buf_str(&b), (int)wait_ms + POLL_EXTRA_MS, "asking for leases", &r, e));
    return grants_parse(a, jval_get(r, "leases"), ret, ret_n, e);
}

enum errc client_report(struct client *c, struct arena *a, struct str body, struct report_verdict **ret, size_t *ret_n, struct err *e)
{
    const struct jval *r;
    TRY(post(c, a, "/v1/leases/report", body, REPORT_TIMEOUT_MS, "reporting", &r, e));
    const struct jval *items = jval_get(r, "items");
    size_t n = jval_len(items);
    struct report_verdict *v = ARENA_ARRAY(a, struct report_verdict, n + 1);
    size_t i = 0;
    for (struct jval_iter it = jval_iter(items); jval_next(&it); i++) {
        if (!id_parse("att", jval_str(jval_get(it.value, "attempt_id")), &v[i].attempt_id))
            return FAIL(e, UPSTREAM, "reporting: a verdict lacks its attempt");
        v[i].is_stale = !str_eq_c(jval_str(jval_get(it.value, "verdict")), "ok");
        v[i].cancel = jval_bool(jval_get(it.value, "cancel"), false);
        v[i].lease_ms = jval_i64(jval_get(it.value, "lease_ms"), 0);
    }
    *ret = v;
    *ret_n = n;
    return ERR_OK;
}

/* Open a key message of a reply: its keys are for ids[0..n) in order. */
static enum errc open_message(const struct jval *r, struct str zone, struct uuid node_id, const struct grant *g,
                              const struct secret32 *secret, const uint8_t *public_key, const struct uuid *ids, size_t n,
                              struct release_key *keys, struct err *e)
{
    struct str text;
    struct release_terms t = { .zone = zone, .worker_id = node_id, .job_id = g->job_id, .fence = (uint64_t)g->fence };
    TRY(jval_need_str(r, "message", &text, e));
    TRY(jval_need_i64(r, "not_after_us", 0, INT64_MAX, &t.not_after_us, e));
    memcpy(t.worker_key, public_key, X25519_BYTES);
    if (t.not_after_us < clock_wall_us(&clock_system))
        return FAIL(e, FORBIDDEN, "the key message has expired");
    uint8_t message[RELEASE_MESSAGE_MAX];
    size_t len;
    if (!base64_decode(text, message, sizeof message, &len, false))
        return FAIL(e, UPSTREAM, "the key message is not base64");
    return release_open(secret, &t, ids, n, message, len, keys, e);
}

static void keys_path(struct arena *a, const struct grant *g, const char *tail, const char **ret)
{
    struct str id = id_text(a, "att", g->attempt_id);
    *ret = arena_printf(a, "/v1/leases/%.*s/%s", STR_ARG(id), tail);
}

/* {"tenant_id":…,"fence":…,"public_key":…  without its end */
static void begin_key_body(struct buf *b, const struct grant *g, const uint8_t *public_key)
{
    char text[BASE64_MAX(X25519_BYTES)];
    base64_encode(public_key, X25519_BYTES, text, false);
    buf_add_c(b, "{");
    add_id(b, "tenant_id", "tnt", g->tenant_id);
    buf_printf(b, ",\"fence\":%ld,\"public_key\":\"%s\"", (long)g->fence, text);
}

enum errc client_keys(struct client *c, struct arena *a, struct uuid node_id, const struct grant *g, struct release_key *keys,
                      struct err *e)
{
    if (!g->n_inputs)
        return ERR_OK;
    CLEANUP(secret32_wipe) struct secret32 secret;
    uint8_t public_key[X25519_BYTES];
    TRY(x25519_keygen(&secret, public_key, e));
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    begin_key_body(&b, g, public_key);
    buf_add_c(&b, ",\"objects\":[");
    for (size_t i = 0; i < g->n_inputs; i++) {
        buf_add_c(&b, i ? ",\"" : "\"");
        buf_add_id(&b, "obj", g->inputs[i].object_id);
        buf_add_c(&b, "\"");
    }
    buf_add_c(&b, "]}");
    const char *path;
    keys_path(a, g, "keys", &path);
    const struct jval *r;
    TRY(post(c, a, path, buf_str(&b), KEYS_TIMEOUT_MS, "asking for keys", &r, e));
    struct str zone;
    TRY(jval_need_str(r, "zone", &zone, e));
    const struct jval *list = jval_get(r, "key_ids");
    struct uuid ids[INPUTS_MAX];
    if (jval_len(list) != g->n_inputs)
        return FAIL(e, UPSTREAM, "asked for %zu keys, got %zu", g->n_inputs, jval_len(list));
    for (size_t i = 0; i < g->n_inputs; i++)
        if (!id_parse("dek", jval_str(jval_at(list, i)), &ids[i]) && !uuid_parse(jval_str(jval_at(list, i)), &ids[i]))
            return FAIL(e, UPSTREAM, "key_ids has what is not an id");
    return open_message(r, zone, node_id, g, &secret, public_key, ids, g->n_inputs, keys, e);
}

enum errc client_output(struct client *c, struct arena *a, struct uuid node_id, const struct grant *g, const char *name, const char *kind,
                        struct output_place *ret, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 secret;
    uint8_t public_key[X25519_BYTES];
    TRY(x25519_keygen(&secret, public_key, e));
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    begin_key_body(&b, g, public_key);
    buf_printf(&b, ",\"name\":\"%s\",\"kind\":\"%s\"}", name, kind);
    const char *path;
    keys_path(a, g, "outputs", &path);
    const struct jval *r;
    TRY(post(c, a, path, buf_str(&b), KEYS_TIMEOUT_MS, "asking for an output", &r, e));
    struct output_place p = { 0 };
    if (!id_parse("obj", jval_str(jval_get(r, "object_id")), &p.object_id))
        return FAIL(e, UPSTREAM, "the output lacks its object_id");
    TRY(jval_need_i64(r, "version", 0, UINT32_MAX, &p.version, e));
    struct str id = jval_str(jval_get(r, "key_id"));
    if (!id.ptr)
        id = jval_str(jval_at(jval_get(r, "key_ids"), 0));
    if (!id_parse("dek", id, &p.dek_id) && !uuid_parse(id, &p.dek_id))
        return FAIL(e, UPSTREAM, "the output lacks its key_id");
    struct str zone = jval_str(jval_get(r, "zone"));
    struct release_key key;
    enum errc rc = open_message(r, zone.ptr ? zone : g->zone, node_id, g, &secret, public_key, &p.dek_id, 1, &key, e);
    if (rc == ERR_OK) {
        p.key = key.key;
        *ret = p;
    }
    secret_wipe(&key, sizeof key);
    secret_wipe(&p, sizeof p);
    return rc;
}

enum errc client_renew(struct client *c, struct arena *a, struct str csr_pem, struct str *ret_cert_pem, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    const struct jval *r;
    buf_add_c(&b, "{\"csr_pem\":");
    buf_add_json(&b, csr_pem);
    buf_add_c(&b, "}");
    TRY(post(c, a, "/v1/nodes/renew", buf_str(&b), REGISTER_TIMEOUT_MS, "renewing the certificate", &r, e));
    return jval_need_str(r, "certificate_pem", ret_cert_pem, e);
}

struct download {
    int fd;
    bool failed;
};

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w <= 0)
            return false;
        p += w;
        n -= (size_t)w;
    }
    return true;
}

static bool on_data(void *ctx, const char *p, size_t n)
{
    struct download *d = ctx;
    d->failed = d->failed || !write_all(d->fd, p, n);
    return !d->failed;
}

static const char *object_path(struct arena *a, const struct grant *g, const char *kind, struct uuid object_id, const char *more)
{
    struct str att = id_text(a, "att", g->attempt_id), obj = id_text(a, "obj", object_id), tnt = id_text(a, "tnt", g->tenant_id);
    return arena_printf(a, "/v1/leases/%.*s/%s/%.*s?tenant_id=%.*s&fence=%ld%s", STR_ARG(att), kind, STR_ARG(obj), STR_ARG(tnt),
                        (long)g->fence, more);
}

enum errc client_download(struct client *c, struct arena *a, const struct grant *g, struct uuid object_id, int fd, struct err *e)
{
    struct download d = { .fd = fd };
    if (lseek(fd, 0, SEEK_SET) != 0 || ftruncate(fd, 0) != 0)
        return FAIL(e, IO, "the work directory cannot be written");
    const struct http_call call = { .path = object_path(a, g, "objects", object_id, ""), .on_data = on_data, .ctx = &d, .timeout_ms = -1,
                                    .idle_timeout_ms = 30000 };
    struct http_result r;
    TRY(http_client_call(fresh(c), a, &call, &r, e));
    if (d.failed)
        return FAIL(e, IO, "the work directory cannot be written");
    return r.status >= 400 ? reply_error(a, &r, "reading an input", e) : ERR_OK;
}

static ssize_t read_file(void *ctx, char *p, size_t n)
{
    return read(*(int *)ctx, p, n);
}

enum errc client_upload(struct client *c, struct arena *a, const struct grant *g, struct uuid object_id, int64_t plain_size,
                        struct str sha256, int fd, struct err *e)
{
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || lseek(fd, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "the sealed output cannot be read");
    const char *more = arena_printf(a, "&size=%ld&sha256=%.*s", (long)plain_size, STR_ARG(sha256));
    const struct http_call call = { .method = "PUT", .path = object_path(a, g, "outputs", object_id, more),
                                    .content_type = "application/octet-stream", .read_body = read_file, .ctx = &fd, .read_total = size,
                                    .timeout_ms = -1, .idle_timeout_ms = 60000, .response_max = BODY_MAX };
    struct http_result r;
    TRY(http_client_call(fresh(c), a, &call, &r, e));
    return r.status >= 400 ? reply_error(a, &r, "sending an output", e) : ERR_OK;
}
