/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - each call is: a struct into a body by its schema, one HTTP call, a problem document into an error, the reply into a struct.
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
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/json/jsonvalue.h"
#include "core/wire/enrol_wire.h"

enum { NEXT_MAX = 1000, REGISTER_TIMEOUT_MS = 10000, REPORT_TIMEOUT_MS = 6000, KEYS_TIMEOUT_MS = 15000, POLL_EXTRA_MS = 15000,
       RETRY_FIRST_MS = 100, RETRY_MOST_MS = 5000 };
static const size_t BODY_MAX = 64 * 1024, REPLY_MAX = (size_t)32 << 20;

struct client {
    struct http_client *http;
    const char *cert_path;
    struct stat cert;                   /* the certificate file of the connection that is open */
    bool (*is_unwanted)(void *ctx);
    void *ctx;
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

void client_until(struct client *c, bool (*is_unwanted)(void *ctx), void *ctx)
{
    c->is_unwanted = is_unwanted;
    c->ctx = ctx;
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

/* A message and the schema it is written or read by; no schema: there is none. */
struct message {
    const struct schema *schema;
    void *at;
};

static enum errc post_text(struct client *c, struct arena *a, const char *path, struct str body, int timeout_ms, const char *what,
                           struct message out, struct err *e)
{
    const struct http_call call = { .method = "POST", .path = path, .body = body, .timeout_ms = timeout_ms, .response_max = REPLY_MAX,
                                    .is_unwanted = c->is_unwanted, .unwanted_ctx = c->ctx };
    struct http_result r;
    struct err odd = { 0 };
    TRY(http_client_call(fresh(c), a, &call, &r, e));
    if (r.status >= 400)
        return reply_error(a, &r, what, e);
    if (!out.schema)
        return ERR_OK;
    if (json_decode_reply(out.schema, r.body, a, out.at, &odd) != ERR_OK)
        return FAIL(e, UPSTREAM, "%s: the reply is not as it should be: %s%s%s", what, odd.msg, odd.field[0] ? " at " : "", odd.field);
    return ERR_OK;
}

static enum errc post(struct client *c, struct arena *a, const char *path, struct message in, int timeout_ms, const char *what,
                      struct message out, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BODY_MAX);
    json_encode(in.schema, in.at, &b);
    if (b.overflow)
        return FAIL(e, TOO_LARGE, "%s: the request is longer than %zu bytes", what, BODY_MAX);
    return post_text(c, a, path, buf_str(&b), timeout_ms, what, out, e);
}

enum errc client_register(struct client *c, struct arena *a, const struct node_register *f, struct node_identity *ret, struct err *e)
{
    struct node_register in = *f;
    struct node_registered r = { 0 };
    TRY(post(c, a, "/v1/nodes/register", (struct message){ &node_register_schema, &in }, REGISTER_TIMEOUT_MS, "registering",
             (struct message){ &node_registered_schema, &r }, e));
    *ret = (struct node_identity){ r.node_id, f->boot_id, r.heartbeat_ms, r.lease_ms };
    return ERR_OK;
}

enum errc client_next(struct client *c, struct arena *a, const struct node_identity *n, struct uuid after, struct slice told,
                      int64_t free_slots, int64_t wait_ms, struct lease_next_out *ret, struct err *e)
{
    const int64_t most = free_slots < NEXT_MAX ? free_slots : NEXT_MAX;
    struct lease_next_in in = { n->node_id, n->boot_id, free_slots, most ? most : 1, wait_ms, after, told };
    return post(c, a, "/v1/leases/next", (struct message){ &lease_next_in_schema, &in }, (int)wait_ms + POLL_EXTRA_MS, "asking for leases",
                (struct message){ &lease_next_out_schema, ret }, e);
}

enum errc client_report(struct client *c, struct arena *a, struct str body, struct lease_report_out *ret, struct err *e)
{
    return post_text(c, a, "/v1/leases/report", body, REPORT_TIMEOUT_MS, "reporting", (struct message){ &lease_report_out_schema, ret }, e);
}

/* Open a key message of a reply: its keys are for ids[0..n) in order. */
static enum errc open_message(const struct lease_keys_out *r, struct uuid node_id, const struct lease_grant *g, const struct secret32 *secret,
                              const uint8_t *public_key, struct release_key *keys, size_t n, struct err *e)
{
    struct release_terms t = { .zone = r->zone, .worker_id = node_id, .job_id = g->job_id, .fence = (uint64_t)g->fence,
                               .not_after_us = r->not_after_us };
    memcpy(t.worker_key, public_key, X25519_BYTES);
    if (r->key_ids.n != n)
        return FAIL(e, UPSTREAM, "asked for %zu keys, got %zu", n, r->key_ids.n);
    if (t.not_after_us < clock_wall_us(&clock_system))
        return FAIL(e, FORBIDDEN, "the key message has expired");
    return release_open(secret, &t, r->key_ids.items, n, r->message.data.ptr, r->message.data.len, keys, e);
}

static const char *lease_path(struct arena *a, const struct lease_grant *g, const char *tail)
{
    struct str id = id_text(a, "att", g->attempt_id);
    return arena_printf(a, "/v1/leases/%.*s/%s", STR_ARG(id), tail);
}

/* Of n inputs of one owner. */
static enum errc keys_of(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g,
                         const struct lease_input *inputs, size_t n, struct release_key *keys, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 secret;
    uint8_t public_key[X25519_BYTES];
    TRY(x25519_keygen(&secret, public_key, e));
    struct uuid *objects = ARENA_ARRAY(a, struct uuid, n);
    for (size_t i = 0; i < n; i++)
        objects[i] = inputs[i].object_id;
    struct lease_keys_in in = { .tenant_id = g->tenant_id, .fence = g->fence, .public_key = { str_n((const char *)public_key, X25519_BYTES) },
                                .objects = { objects, n } };
    struct lease_keys_out out = { 0 };
    TRY(post(c, a, lease_path(a, g, "keys"), (struct message){ &lease_keys_in_schema, &in }, KEYS_TIMEOUT_MS, "asking for keys",
             (struct message){ &lease_keys_out_schema, &out }, e));
    return open_message(&out, node_id, g, &secret, public_key, keys, n, e);
}

/* falaj-keyd seals keys of one tenant into a message, so a shared image, which is another's, is asked for by itself. */
enum errc client_keys(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g, struct release_key *keys,
                      struct err *e)
{
    const struct lease_input *inputs = g->inputs.items;
    for (size_t from = 0, n; from < g->inputs.n; from += n) {
        for (n = 1; from + n < g->inputs.n && uuid_eq(inputs[from + n].owner_id, inputs[from].owner_id); n++)
            ;
        TRY(keys_of(c, a, node_id, g, inputs + from, n, keys + from, e));
    }
    return ERR_OK;
}

static enum errc open_place(const struct lease_output_out *out, struct uuid node_id, const struct lease_grant *g,
                            const struct secret32 *secret, const uint8_t *public_key, struct output_place *ret, struct err *e)
{
    const struct lease_keys_out sealed = { out->message, out->not_after_us, out->zone, out->key_ids };
    struct release_key key;
    TRY(open_message(&sealed, node_id, g, secret, public_key, &key, 1, e));
    *ret = (struct output_place){ out->object_id, key.dek_id, out->version, out->part_bytes_max, key.key };
    secret_wipe(&key, sizeof key);
    return ERR_OK;
}

enum errc client_output(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g, struct str name,
                        enum lease_output_kind kind, struct output_place *ret, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 secret;
    uint8_t public_key[X25519_BYTES];
    TRY(x25519_keygen(&secret, public_key, e));
    struct lease_output_in in = { .tenant_id = g->tenant_id, .fence = g->fence, .name = name, .kind = (int)kind,
                                  .public_key = { str_n((const char *)public_key, X25519_BYTES) } };
    struct lease_output_out out = { 0 };
    TRY(post(c, a, lease_path(a, g, "outputs"), (struct message){ &lease_output_in_schema, &in }, KEYS_TIMEOUT_MS, "asking for an output",
             (struct message){ &lease_output_out_schema, &out }, e));
    return open_place(&out, node_id, g, &secret, public_key, ret, e);
}

enum errc client_checkpoint(struct client *c, struct arena *a, struct uuid node_id, const struct lease_grant *g,
                            struct output_place *ret, struct err *e)
{
    CLEANUP(secret32_wipe) struct secret32 secret;
    uint8_t public_key[X25519_BYTES];
    TRY(x25519_keygen(&secret, public_key, e));
    struct lease_checkpoint_in in = { .tenant_id = g->tenant_id, .fence = g->fence,
                                      .public_key = { str_n((const char *)public_key, X25519_BYTES) } };
    struct lease_output_out out = { 0 };
    TRY(post(c, a, lease_path(a, g, "checkpoints"), (struct message){ &lease_checkpoint_in_schema, &in }, KEYS_TIMEOUT_MS,
             "asking for a checkpoint", (struct message){ &lease_output_out_schema, &out }, e));
    return open_place(&out, node_id, g, &secret, public_key, ret, e);
}

enum errc client_checkpoint_keep(struct client *c, struct arena *a, const struct lease_grant *g, struct uuid object_id,
                                 int64_t step,
                                 struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    struct lease_checkpoint_keep in = { .tenant_id = g->tenant_id, .fence = g->fence, .step = step };
    buf_add_c(&b, "checkpoints/");
    buf_add_id(&b, "obj", object_id);
    return post(c, a, lease_path(a, g, b.ptr), (struct message){ &lease_checkpoint_keep_schema, &in }, KEYS_TIMEOUT_MS,
                "keeping a checkpoint", (struct message){ NULL, NULL }, e);
}

enum errc client_certificate(struct client *c, struct arena *a, const struct lease_grant *g, struct str csr_pem,
                             struct str *ret_cert_pem,
                             struct err *e)
{
    struct lease_cert_in in = { .tenant_id = g->tenant_id, .fence = g->fence, .csr_pem = csr_pem };
    struct lease_cert_out out = { 0 };
    TRY(post(c, a, lease_path(a, g, "certificate"), (struct message){ &lease_cert_in_schema, &in }, KEYS_TIMEOUT_MS,
             "asking for the lease's certificate", (struct message){ &lease_cert_out_schema, &out }, e));
    *ret_cert_pem = out.certificate_pem;
    return ERR_OK;
}

enum errc client_gang(struct client *c, struct arena *a, const struct lease_grant *g, struct str endpoint,
                      struct lease_gang_out *ret, struct err *e)
{
    struct lease_gang_in in = { .tenant_id = g->tenant_id, .fence = g->fence, .endpoint = endpoint };
    return post(c, a, lease_path(a, g, "gang"), (struct message){ &lease_gang_in_schema, &in }, KEYS_TIMEOUT_MS,
                "meeting the other machines of the job", (struct message){ &lease_gang_out_schema, ret }, e);
}

enum errc client_kept(struct client *c, struct arena *a, const struct lease_kept_in *kept, struct lease_kept_out *ret,
                      struct err *e)
{
    struct lease_kept_in in = *kept;
    return post(c, a, "/v1/leases/kept", (struct message){ &lease_kept_in_schema, &in }, REPORT_TIMEOUT_MS,
                "asking which images may be kept", (struct message){ &lease_kept_out_schema, ret }, e);
}

enum errc client_renew(struct client *c, struct arena *a, struct str csr_pem, struct str *ret_cert_pem, struct err *e)
{
    struct renew_in in = { csr_pem };
    struct enrol_out out = { 0 };
    TRY(post(c, a, "/v1/nodes/renew", (struct message){ &renew_in_schema, &in }, REGISTER_TIMEOUT_MS, "renewing the certificate",
             (struct message){ &enrol_out_schema, &out }, e));
    *ret_cert_pem = out.certificate_pem;
    return ERR_OK;
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

/* schema: of a struct lease_object_ref or lease_upload_in. */
static const char *object_path(struct arena *a, const struct lease_grant *g, const char *room, struct uuid object_id, const struct schema *schema,
                               const void *query)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1024);
    buf_add_id(&b, "obj", object_id);
    schema_to_query(schema, query, &b);
    return lease_path(a, g, arena_printf(a, "%s/%s", room, b.ptr));
}

enum errc client_download(struct client *c, struct arena *a, const struct lease_grant *g, struct uuid object_id, int fd, struct err *e)
{
    struct download d = { .fd = fd };
    if (lseek(fd, 0, SEEK_SET) != 0 || ftruncate(fd, 0) != 0)
        return FAIL(e, IO, "the work directory cannot be written");
    const struct lease_object_ref ref = { .tenant_id = g->tenant_id, .fence = g->fence };
    const struct http_call call = { .path = object_path(a, g, "objects", object_id, &lease_object_ref_schema, &ref), .on_data = on_data,
                                    .ctx = &d, .timeout_ms = -1, .idle_timeout_ms = 30000, .is_unwanted = c->is_unwanted,
                                    .unwanted_ctx = c->ctx };
    struct http_result r;
    TRY(http_client_call(fresh(c), a, &call, &r, e));
    if (d.failed)
        return FAIL(e, IO, "the work directory cannot be written");
    return r.status >= 400 ? reply_error(a, &r, "reading an input", e) : ERR_OK;
}

struct part_reader {
    int fd;
    int64_t at, end;
};

static ssize_t read_part(void *ctx, char *p, size_t n)
{
    struct part_reader *r = ctx;
    int64_t left = r->end - r->at;
    ssize_t k = pread(r->fd, p, (int64_t)n < left ? n : (size_t)left, r->at);
    r->at += k > 0 ? k : 0;
    return k == 0 && left > 0 ? -1 : k;     /* the file is shorter than was said */
}

enum errc client_upload(struct client *c, struct arena *a, const struct lease_grant *g, const struct upload_part *p,
                        struct err *e)
{
    struct part_reader r = { p->fd, p->offset, p->offset + p->bytes };
    const struct lease_upload_in about = { .tenant_id = g->tenant_id, .fence = g->fence, .size = p->plain_size,
                                           .offset = p->offset,
                                           .sha256 = p->sha256 };
    const struct http_call call = { .method = "PUT", .path = object_path(a, g, "outputs", p->object_id, &lease_upload_in_schema,
                                                                         &about),
                                    .content_type = "application/octet-stream", .read_body = read_part, .ctx = &r, .read_total = p->bytes,
                                    .timeout_ms = -1, .idle_timeout_ms = 60000, .response_max = BODY_MAX,
                                    .is_unwanted = c->is_unwanted, .unwanted_ctx = c->ctx };
    struct http_result answer;
    TRY(http_client_call(fresh(c), a, &call, &answer, e));
    return answer.status >= 400 ? reply_error(a, &answer, "sending an output", e) : ERR_OK;
}
