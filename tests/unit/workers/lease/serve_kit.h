/* SPDX-License-Identifier: Apache-2.0 */
/* serve_kit.h - a zone of one authority and real serving children in it: a model trained here, sealed, served behind mutual TLS.
 * The API's part, signing for a lease, is done here with the zone's authority by the rules of falaj-keyd (keys/zone_ca.h). */
#pragma once
#include "lease_kit.h"

#include <dirent.h>
#include <pthread.h>
#include "../train_kit.h"
#include "core/crypto/x509.h"
#include "core/http/client.h"
#include "core/wire/lease_host.h"
#include "workers/compute/train/data_rows.h"
#include "workers/compute/train/engine.h"

struct serve_zone {
    struct kit_store store;             /* first: what the other calls of executor_io get */
    struct arena *a;
    char dir[40], program[512];
    struct x509_pair ca;
    struct config *cfg;
    struct executor_io io;
    _Atomic bool stopping;
    _Atomic int signed_certs, refusals; /* refusals > 0: so many calls for certificates fail first */
    int64_t first_life_s;               /* of the first certificate; the others live an hour */
    int64_t first_ends_us;
};

enum { SERVE_ROWS = 400 };

struct serve_rows {
    size_t count;
    int x[SERVE_ROWS][64], label[SERVE_ROWS];
};

struct serve_child {
    struct executor_env env;
    struct book *book;
    struct held *held;
    pthread_t thread;
    struct uuid attempt;
    char endpoint[64];
    pid_t pid;
};

/* ret_rows: what is kept for validation; NULL: nobody wants it. Returns the hold-out accuracy. */
static inline double serve_train_model(struct kit_store *s, const struct train_job *spec, struct serve_rows *ret_rows)
{
    struct buf csv;
    struct err e = { 0 };
    struct hw hw;
    const struct backend *be;
    struct arena *a = arena_new((size_t)1 << 30);
    kit_read_file("datasets/digits/digits.csv", &csv);
    struct train_data data;
    hw_read(&hw);
    assert_int_equal(backend_choose("auto", &hw, NULL, NULL, &be, &e), ERR_OK);
    assert_int_equal(train_data_rows(a, buf_str(&csv), &(struct data_schema){ .label = STR("label") }, spec, &data, &e), ERR_OK);
    struct train_task task = { .spec = spec, .data = &data, .backend = be, .clock = &clock_system, .dataset_digest = STR("d") };
    struct train_observer obs = { 0 };
    struct train_result r = { 0 };
    assert_int_equal(train_run(a, &task, &obs, &r, &e), ERR_OK);
    kit_put(s, "model", r.model.ptr, r.model.len);
    double accuracy = r.holdout_accuracy;
    for (size_t i = 0; ret_rows && i < data.holdout_count && i < SERVE_ROWS; i++, ret_rows->count++) {
        for (size_t k = 0; k < 64; k++)
            ret_rows->x[i][k] = (int)data.table.x[data.holdout[i] * 64 + k];
        ret_rows->label[i] = data.table.labels[data.holdout[i]];
    }
    train_result_release(&r);
    buf_release(&csv);
    arena_free(a);
    return accuracy;
}

static inline void serve_issue(struct serve_zone *z, const char *uri, const char *name)
{
    struct err e = { 0 };
    struct x509_pair p;
    const struct x509_req req = { .common_name = str_c(name), .uri_san = str_c(uri), .is_client = true, .lifetime_s = 3600 };
    assert_int_equal(x509_issue(z->a, &z->ca, &req, clock_wall_us(&clock_system), &p, &e), ERR_OK);
    const char *cert = arena_printf(z->a, "%s/%s.pem", z->dir, name), *key = arena_printf(z->a, "%s/%s.key", z->dir, name);
    assert_int_equal(x509_write(&p, cert, key, &e), ERR_OK);
}

static inline enum errc serve_sign(void *ctx, struct arena *a, const struct lease_grant *g, struct str csr_pem,
                                   struct str *ret_cert_pem,
                                   struct err *e)
{
    struct serve_zone *z = ctx;
    char host[LEASE_HOST_MAX];
    if (z->refusals-- > 0)
        return FAIL(e, SEALED, "the zone's keys are sealed");
    assert_true(lease_host(g->attempt_id, g->zone, host));
    const char *const dns[] = { host, NULL };
    bool is_first = z->signed_certs == 0;
    int64_t life_s = is_first && z->first_life_s ? z->first_life_s : 3600, now_us = clock_wall_us(&clock_system);
    const struct x509_req req = { .common_name = STR("lease"), .uri_san = STR("spiffe://ae-dxb-1/lease/default/w1/x"), .dns = dns,
                                  .is_server = true, .lifetime_s = life_s };
    assert_int_equal(x509_sign_csr(a, &z->ca, csr_pem, &req, now_us, ret_cert_pem, e), ERR_OK);
    if (is_first)
        z->first_ends_us = now_us + life_s * 1000000;
    z->signed_certs++;
    return ERR_OK;
}

/* A zone whose model is not there yet. */
static inline void serve_zone_init_empty(struct serve_zone *z)
{
    struct err e = { 0 };
    memset(z, 0, sizeof *z);
    z->a = arena_new((size_t)256 << 20);
    z->stopping = true;
    snprintf(z->dir, sizeof z->dir, "/tmp/falaj-serve-XXXXXX");
    assert_non_null(mkdtemp(z->dir));
    int64_t now_us = clock_wall_us(&clock_system);
    assert_int_equal(x509_make_ca(z->a, STR("ae-dxb-1"), STR("spiffe://ae-dxb-1"), now_us, 3600, &z->ca, &e), ERR_OK);
    assert_int_equal(x509_write(&z->ca, arena_printf(z->a, "%s/ca.pem", z->dir), NULL, &e), ERR_OK);
    serve_issue(z, "spiffe://ae-dxb-1/api", "api");
    serve_issue(z, "spiffe://ae-dxb-1/worker/default/w1", "worker");
    z->cfg = config_new_default();
    assert_int_equal(config_set(z->cfg, "worker.cert", arena_printf(z->a, "%s/worker.pem", z->dir), &e), ERR_OK);
    assert_int_equal(config_set(z->cfg, "worker.key", arena_printf(z->a, "%s/worker.key", z->dir), &e), ERR_OK);
    assert_int_equal(config_set(z->cfg, "worker.ca", arena_printf(z->a, "%s/ca.pem", z->dir), &e), ERR_OK);
    z->io = kit_io(&z->store);
    z->io.certificate = serve_sign;
}

static inline void serve_zone_init(struct serve_zone *z)
{
    struct train_job spec = kit_spec();
    spec.epochs = 5;
    serve_zone_init_empty(z);
    (void)serve_train_model(&z->store, &spec, NULL);
}

static inline void *serve_thread(void *p)
{
    struct serve_child *c = p;
    executor_run(&c->env, c->held);
    return NULL;
}

/* Processes of this one that run leases. */
static inline size_t serve_pids(pid_t *ret, size_t max)
{
    char path[300], text[4096];
    size_t found = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
        FILE *f = fopen(path, "r");
        for (long pid; f && fscanf(f, "%ld", &pid) == 1;) {
            snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
            FILE *c = fopen(path, "r");
            size_t n = c ? fread(text, 1, sizeof text, c) : 0;
            if (n && memmem(text, n, "--run-lease", 11) && found < max)
                ret[found++] = (pid_t)pid;
            if (c)
                fclose(c);
        }
        if (f)
            fclose(f);
    }
    closedir(d);
    return found;
}

/* Starts lease n and waits until it says where it answers; child->endpoint stays empty when it has ended instead. */
static inline void serve_start(struct serve_zone *z, struct isolation *isolation, int n, struct serve_child *c)
{
    pid_t before[16], now[16];
    size_t nbefore = serve_pids(before, 16);
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    struct lease_grant g = kit_grant(n, "serve", "{\"name\":\"digits\",\"model_version\":3,"
                                                 "\"model_id\":\"mdl_00000000000000000000000000000001\","
                                                 "\"model_object_id\":\"obj_00000000000000000000000000000001\"}");
    memset(c, 0, sizeof *c);
    kit_add_input(&g, &z->store, "model");
    c->env = (struct executor_env){ .config = z->cfg, .work_dir = z->dir, .program = kit_program(z->program),
                                    .stopping = &z->stopping,
                                    .isolation = isolation, .io = &z->io };
    c->attempt = g.attempt_id;
    c->book = book_new(&clock_system, 10000);
    c->held = book_add(c->book, &g, true);
    assert_int_equal(pthread_create(&c->thread, NULL, serve_thread, c), 0);
    const char *at = NULL, *end = NULL;
    for (int i = 0; i < 15000 && !at && !end; i++) {
        usleep(10000);
        kit_report(c->book, &report);
        at = report.len ? strstr(report.ptr, "\"endpoint\":\"") : NULL;
        end = report.len ? strstr(report.ptr, "\"event\":\"fail\"") : NULL;
        book_unsettle(c->book);
    }
    if (!at)
        return;
    snprintf(c->endpoint, sizeof c->endpoint, "%.*s", (int)strcspn(at + 12, "\""), at + 12);
    size_t nnow = serve_pids(now, 16);
    assert_int_equal(nnow, nbefore + 1);
    for (size_t i = 0; i < nnow; i++) {
        bool is_new = true;
        for (size_t j = 0; j < nbefore; j++)
            is_new = is_new && now[i] != before[j];
        c->pid = is_new ? now[i] : c->pid;
    }
}

/* ret: the last report; NULL: nobody wants it. */
static inline void serve_stop(struct serve_child *c, struct buf *ret)
{
    book_cancel_all(c->book);
    pthread_join(c->thread, NULL);
    if (ret)
        kit_report(c->book, ret);
    book_free(c->book);
}

static inline void serve_zone_release(struct serve_zone *z)
{
    config_free(z->cfg);
    buf_release(&z->store.sealed);
    buf_release(&z->store.uploaded);
    static const char *const files[] = { "ca.pem", "api.pem", "api.key", "worker.pem", "worker.key", NULL };
    for (const char *const *n = files; *n; n++)
        unlink(arena_printf(z->a, "%s/%s", z->dir, *n));
    assert_int_equal(rmdir(z->dir), 0);
    arena_free(z->a);
}

/* A client with that certificate, for which the lease of `attempt` must answer at the endpoint. */
static inline struct http_client *serve_caller(struct serve_zone *z, const char *who, const char *endpoint, struct uuid attempt)
{
    struct err e = { 0 };
    char host[LEASE_HOST_MAX];
    assert_true(lease_host(attempt, STR("ae-dxb-1"), host));
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = arena_printf(z->a, "https://%s", host),
        .connect_to = endpoint, .ca_file = arena_printf(z->a, "%s/ca.pem", z->dir),
        .cert_file = arena_printf(z->a, "%s/%s.pem", z->dir, who),
        .key_file = arena_printf(z->a, "%s/%s.key", z->dir, who) }, &e);
    assert_non_null(c);
    return c;
}

/* The status of the answer, -1: none. */
static inline int serve_ask(struct http_client *c, struct arena *a, const char *path, struct str body, struct http_result *r)
{
    struct err e = { 0 };
    struct http_call call = { .method = body.ptr ? "POST" : "GET", .path = path, .body = body };
    if (http_client_call(c, a, &call, r, &e) != ERR_OK)
        return -1;
    return r->status;
}

/* The same over a connection of its own. */
static inline int serve_ask_once(struct serve_zone *z, const char *who, const char *endpoint, struct uuid attempt)
{
    struct http_result r;
    struct http_client *c = serve_caller(z, who, endpoint, attempt);
    int status = serve_ask(c, z->a, "/ready", STR_NULL, &r);
    http_client_free(c);
    return status;
}
