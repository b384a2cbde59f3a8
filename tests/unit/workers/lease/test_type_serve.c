/* SPDX-License-Identifier: Apache-2.0 */
/* test_type_serve.c - a real serving child behind mutual TLS: trained here, sealed, served, asked, refused, stopped; and what it
 * does not hold. */
#include "serve_kit.h"
#include "memory_search.h"

static struct str infer_body(struct arena *a, int rows, int cols, const char *extra)
{
    struct buf b = BUF((size_t)1 << 20);
    buf_printf(&b, "{\"id\":\"r1\",\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[%d,%d],\"data\":[", rows,
               cols);
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
    assert_non_null(strstr(str_z(a, r.body),
                           "{\"error\":\"inputs[0].shape: [1,63] does not fit; the model takes input FP32[-1,64]"));
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

/* As many rows of the validation set are told right as training's own evaluation said. */
static void answers_as_evaluated(struct serve_zone *z, const struct serve_child *c, const struct serve_rows *rows,
                                 double accuracy)
{
    struct http_result r;
    struct http_client *api = serve_caller(z, "api", c->endpoint, c->attempt);
    CLEANUP(buf_releasep) struct buf b = BUF((size_t)1 << 20);
    size_t right = 0;
    assert_int_equal(serve_ask(api, z->a, "/metadata", STR_NULL, &r), 200);
    assert_non_null(strstr(str_z(z->a, r.body), "\"platform\":\"falaj_cnn\""));
    buf_printf(&b, "{\"inputs\":[{\"name\":\"input\",\"datatype\":\"FP32\",\"shape\":[%zu,64],\"data\":[", rows->count);
    for (size_t i = 0; i < rows->count * 64; i++)
        buf_printf(&b, "%s%d", i ? "," : "", rows->x[i / 64][i % 64]);
    buf_add_c(&b, "]}],\"outputs\":[{\"name\":\"label\"}]}");
    assert_int_equal(serve_ask(api, z->a, "/infer", buf_str(&b), &r), 200);
    char *at = strstr(str_z(z->a, r.body), "\"data\":[");
    assert_non_null(at);
    at += strlen("\"data\":[");
    for (size_t i = 0; i < rows->count; i++, at++)
        right += strtol(at, &at, 10) == rows->label[i];
    assert_int_equal(at[-1], ']');
    assert_true(right > rows->count / 2 && right < rows->count);
    assert_int_equal(right, (size_t)(accuracy * (double)rows->count + 0.5));
    http_client_free(api);
}

static void test_serves_a_convolutional_network(void **state)
{
    (void)state;
    static struct serve_rows rows;
    static int64_t image[] = { 8, 8, 1 }, channels[] = { 8, 16 }, blocks[] = { 1 };
    struct serve_zone z;
    struct serve_child c;
    struct train_job spec = kit_spec();
    spec.family = TRAIN_CNN;
    spec.image = (struct slice){ image, 3 };
    spec.channels = (struct slice){ channels, 2 };
    spec.blocks = (struct slice){ blocks, 1 };
    spec.learning_rate = 1e-2;
    spec.epochs = 4;
    serve_zone_init_empty(&z);
    double accuracy = serve_train_model(&z.store, &spec, &rows);
    serve_start(&z, NULL, 1, &c);
    assert_string_not_equal(c.endpoint, "");
    answers_as_evaluated(&z, &c, &rows, accuracy);
    serve_stop(&c, NULL);
    serve_zone_release(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_serves), cmocka_unit_test(test_serves_a_convolutional_network) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
