/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_serve.c - a real serving child behind mutual TLS: trained here, sealed, served, asked, refused, stopped. */
#include "lease_kit.h"

#include <pthread.h>
#include "core/crypto/x509.h"
#include "core/http/client.h"
#include "../train_kit.h"
#include "workers/compute/train/engine.h"

static void train_model(struct kit_store *s)
{
    struct buf csv;
    struct err e = { 0 };
    struct hw hw;
    const struct backend *be;
    struct arena *a = arena_new((size_t)1 << 30);
    kit_read_file("datasets/digits/digits.csv", &csv);
    struct train_job spec = kit_spec();
    spec.epochs = 5;
    struct train_data data;
    hw_read(&hw);
    assert_int_equal(backend_choose("auto", &hw, NULL, NULL, &be, &e), ERR_OK);
    assert_int_equal(train_data_csv(a, buf_str(&csv), &(struct csv_schema){ .label = STR("label") }, &spec, &data, &e), ERR_OK);
    struct train_task task = { .spec = &spec, .data = &data, .backend = be, .clock = &clock_system, .dataset_digest = STR("d") };
    struct train_observer obs = { 0 };
    struct train_result r = { 0 };
    assert_int_equal(train_run(a, &task, &obs, &r, &e), ERR_OK);
    kit_put(s, "model", r.model.ptr, r.model.len);
    train_result_release(&r);
    buf_release(&csv);
    arena_free(a);
}

static void issue(struct arena *a, const struct x509_pair *ca, const char *uri, const char *dir, const char *name)
{
    struct err e = { 0 };
    struct x509_pair p;
    static const char *const ips[] = { "127.0.0.1", NULL };
    const struct x509_req req = { .common_name = str_c(name), .uri_san = str_c(uri), .ip = ips, .is_client = true, .is_server = true, .lifetime_s = 3600 };
    assert_int_equal(x509_issue(a, ca, &req, clock_wall_us(&clock_system), &p, &e), ERR_OK);
    assert_int_equal(x509_write(&p, arena_printf(a, "%s/%s.pem", dir, name), arena_printf(a, "%s/%s.key", dir, name), &e), ERR_OK);
}

static void *run_thread(void *p)
{
    void **both = p;
    executor_run(both[0], both[1]);
    return NULL;
}

static struct http_client *caller(struct arena *a, const char *dir, const char *who, const char *endpoint)
{
    struct err e = { 0 };
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = arena_printf(a, "https://%s", endpoint),
        .ca_file = arena_printf(a, "%s/ca.pem", dir), .cert_file = arena_printf(a, "%s/%s.pem", dir, who),
        .key_file = arena_printf(a, "%s/%s.key", dir, who) }, &e);
    assert_non_null(c);
    return c;
}

static int ask(struct http_client *c, struct arena *a, const char *path, struct str body, struct http_result *r)
{
    struct err e = { 0 };
    struct http_call call = { .method = body.ptr ? "POST" : "GET", .path = path, .body = body };
    if (http_client_call(c, a, &call, r, &e) != ERR_OK)
        return -1;
    return r->status;
}

static struct str infer_body(struct arena *a, int rows, int cols, const char *extra)
{
    struct buf b = BUF((size_t)1 << 20);
    buf_printf(&b, "{\"id\":\"r1\",\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[%d,%d],\"data\":[", rows, cols);
    for (int i = 0; i < rows * 64; i++)
        buf_printf(&b, "%s%d", i ? "," : "", i % 17);
    buf_printf(&b, "]}]%s}", extra);
    struct str s = str_dup(a, buf_str(&b));
    buf_release(&b);
    return s;
}

static void ask_all(struct arena *a, const char *dir, const char *endpoint)
{
    struct http_result r;
    struct http_client *api = caller(a, dir, "api", endpoint), *other = caller(a, dir, "worker", endpoint);
    assert_int_equal(ask(other, a, "/metadata", STR_NULL, &r), 403);
    assert_int_equal(ask(api, a, "/ready", STR_NULL, &r), 200);
    assert_int_equal(ask(api, a, "/metadata", STR_NULL, &r), 200);
    assert_non_null(strstr(str_z(a, r.body), "\"shape\":[-1,64]"));
    assert_int_equal(ask(api, a, "/infer", infer_body(a, 3, 64, ""), &r), 200);
    assert_non_null(strstr(str_z(a, r.body), "\"id\":\"r1\""));
    assert_non_null(strstr(str_z(a, r.body), "\"shape\":[3,10]"));
    assert_non_null(strstr(str_z(a, r.body), "{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[3],\"data\":["));
    assert_int_equal(ask(api, a, "/infer", infer_body(a, 1, 64, ",\"outputs\":[{\"name\":\"label\"}]"), &r), 200);
    assert_null(strstr(str_z(a, r.body), "probabilities"));
    assert_int_equal(ask(api, a, "/infer", infer_body(a, 1, 63, ""), &r), 400);
    assert_non_null(strstr(str_z(a, r.body), "{\"error\":\"inputs[0].shape: this model takes 64 features"));
    assert_int_equal(ask(api, a, "/infer", infer_body(a, 1, 64, ",\"outputs\":[{\"name\":\"x\"}]"), &r), 400);
    assert_int_equal(ask(api, a, "/infer", STR("{\"inputs\":"), &r), 400);
    assert_int_equal(ask(api, a, "/nosuch", STR_NULL, &r), 404);
    http_client_free(api);
    http_client_free(other);
}

static void test_serves(void **state)
{
    (void)state;
    struct kit_store store;
    struct err e = { 0 };
    struct arena *a = arena_new((size_t)256 << 20);
    char dir[] = "/tmp/falaj-serve-XXXXXX", program[512];
    struct x509_pair ca;
    memset(&store, 0, sizeof store);
    train_model(&store);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(x509_make_ca(a, STR("ae-dxb-1"), STR("spiffe://ae-dxb-1"), clock_wall_us(&clock_system), 3600, &ca, &e), ERR_OK);
    assert_int_equal(x509_write(&ca, arena_printf(a, "%s/ca.pem", dir), NULL, &e), ERR_OK);
    issue(a, &ca, "spiffe://ae-dxb-1/api", dir, "api");
    issue(a, &ca, "spiffe://ae-dxb-1/worker/default/w1", dir, "worker");
    struct config *cfg = config_new_default();
    assert_int_equal(config_set(cfg, "worker.cert", arena_printf(a, "%s/worker.pem", dir), &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.key", arena_printf(a, "%s/worker.key", dir), &e), ERR_OK);
    assert_int_equal(config_set(cfg, "worker.ca", arena_printf(a, "%s/ca.pem", dir), &e), ERR_OK);
    struct executor_io io = kit_io(&store);
    _Atomic bool stopping = true;
    struct executor_env env = { .config = cfg, .work_dir = dir, .program = kit_program(program), .stopping = &stopping, .io = &io };
    struct book *b = book_new(&clock_system, 10000);
    struct lease_grant g = kit_grant(1, "serve", "{\"name\":\"digits\",\"model_id\":\"mdl_00000000000000000000000000000001\",\"model_version\":3,"
                                           "\"model_object_id\":\"obj_00000000000000000000000000000001\"}");
    kit_add_input(&g, &store, "model");
    void *both[2] = { &env, book_add(b, &g, true) };
    pthread_t t;
    pthread_create(&t, NULL, run_thread, both);
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    const char *at = NULL;
    for (int i = 0; i < 100 && !at; i++) {
        usleep(50000);
        kit_report(b, &report);
        at = report.len ? strstr(report.ptr, "\"endpoint\":\"") : NULL;
        book_unsettle(b);
    }
    assert_non_null(at);
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "%.*s", (int)strcspn(at + 12, "\""), at + 12);
    ask_all(a, dir, endpoint);
    book_cancel_all(b);
    pthread_join(t, NULL);
    kit_report(b, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"return\""));
    book_free(b);
    config_free(cfg);
    buf_release(&store.sealed);
    buf_release(&store.uploaded);
    for (const char *const *n = (const char *const[]){ "ca.pem", "api.pem", "api.key", "worker.pem", "worker.key", NULL }; *n; n++)
        unlink(arena_printf(a, "%s/%s", dir, *n));
    assert_int_equal(rmdir(dir), 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_serves) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
