/* SPDX-License-Identifier: Apache-2.0 */
<<<<<<< HEAD
/* test_type_serve.c - a real serving child behind mutual TLS: trained here, sealed, served, asked, refused, stopped; and what it
 * does not hold. */
#include "serve_kit.h"
#include "memory_search.h"
=======
/* test_type_serve.c - a real serving child behind mutual TLS: trained here, sealed, served, asked, refused, stopped. */
#include "lease_kit.h"

#include <pthread.h>
#include "core/crypto/x509.h"
#include "core/http/client.h"
#include "../train_kit.h"
#include "workers/compute/train/data_csv.h"
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
    const struct x509_req req = { .common_name = str_c(name), .uri_san = str_c(uri), .ip = ips, .is_client = true,
                                  .is_server = true, .lifetime_s = 3600 };
    assert_int_equal(x509_issue(a, ca, &req, clock_wall_us(&clock_system), &p, &e), ERR_OK);
    assert_int_equal(x509_write(&p, arena_printf(a, "%s/%s.pem", dir, name), arena_printf(a, "%s/%s.key", dir, name), &e),
                     ERR_OK);
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
>>>>>>> 0aea35b (Train convolutional networks and decoders, each a builder of one net)

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

/* The machine's key is the agent's affair: no byte of it in the process that computes with what a tenant made. */
static void has_no_key_of_the_machine(struct serve_zone *z, pid_t child)
{
    struct buf key;
    uint8_t number[32];
    size_t bytes;
    const char *path = arena_printf(z->a, "%s/worker.key", z->dir);
    kit_read_file(path, &key);
    search_key_number(buf_str(&key), number);
    const char *second = strchr(strchr(key.ptr, '\n') + 1, '\n') + 1;
    assert_true(search_memory(child, "--run-lease", 11, &bytes) > 0);      /* the search finds what is there */
    assert_true(bytes > 1 << 20);
    assert_int_equal(search_memory(child, number, sizeof number, &bytes), 0);
    assert_int_equal(search_memory(child, second, 48, &bytes), 0);
    assert_false(search_files(child, path));
    buf_release(&key);
}

static void ask_all(struct serve_zone *z, const struct serve_child *c)
{
    struct http_result r;
    struct arena *a = z->a;
    struct http_client *api = serve_caller(z, "api", c->endpoint, c->attempt);
    struct http_client *other = serve_caller(z, "worker", c->endpoint, c->attempt);
    assert_int_equal(serve_ask(other, a, "/metadata", STR_NULL, &r), 403);
    assert_int_equal(serve_ask(api, a, "/ready", STR_NULL, &r), 200);
    assert_int_equal(serve_ask(api, a, "/metadata", STR_NULL, &r), 200);
    assert_non_null(strstr(str_z(a, r.body), "\"shape\":[-1,64]"));
    assert_int_equal(serve_ask(api, a, "/infer", infer_body(a, 3, 64, ""), &r), 200);
    assert_non_null(strstr(str_z(a, r.body), "\"id\":\"r1\""));
    assert_non_null(strstr(str_z(a, r.body), "\"shape\":[3,10]"));
    assert_non_null(strstr(str_z(a, r.body), "{\"name\":\"label\",\"datatype\":\"INT64\",\"shape\":[3],\"data\":["));
    assert_int_equal(serve_ask(api, a, "/infer", infer_body(a, 1, 64, ",\"outputs\":[{\"name\":\"label\"}]"), &r), 200);
    assert_null(strstr(str_z(a, r.body), "probabilities"));
    assert_int_equal(serve_ask(api, a, "/infer", infer_body(a, 1, 63, ""), &r), 400);
    assert_non_null(strstr(str_z(a, r.body), "{\"error\":\"inputs[0].shape: this model takes 64 features"));
    assert_int_equal(serve_ask(api, a, "/infer", infer_body(a, 1, 64, ",\"outputs\":[{\"name\":\"x\"}]"), &r), 400);
    assert_int_equal(serve_ask(api, a, "/infer", STR("{\"inputs\":"), &r), 400);
    assert_int_equal(serve_ask(api, a, "/nosuch", STR_NULL, &r), 404);
    http_client_free(api);
    http_client_free(other);
}

static void test_serves(void **state)
{
    (void)state;
    struct serve_zone z;
    struct serve_child c;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    serve_zone_init(&z);
    serve_start(&z, NULL, 1, &c);
    assert_string_not_equal(c.endpoint, "");
    ask_all(&z, &c);
    has_no_key_of_the_machine(&z, c.pid);
    serve_stop(&c, &report);
    assert_non_null(strstr(report.ptr, "\"event\":\"return\""));
    serve_zone_release(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_serves) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
