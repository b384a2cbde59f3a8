/* SPDX-License-Identifier: Apache-2.0 */
/* test_child_engine.c - a model outside our operations, from the ONNX file to its answers, through real children in their
 * sandbox: the library of another engine is opened inside, by its descriptor and nothing beside it. FALAJ_ONNXRUNTIME: the real
 * library (full tier, tests/e2e/onnxruntime.sh); else the stand-in. */
#include "serve_kit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "../compute/ort/ort_kit.h"
#include "workers/lease/sandbox.h"

#define SPEC "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1}"

static const char *library(void)
{
    const char *real = getenv("FALAJ_ONNXRUNTIME");
    return real ? real : kit_fake_path();
}

static bool is_real(void)
{
    return getenv("FALAJ_ONNXRUNTIME") != NULL;
}

/* y = 2x of the stand-in, which refuses what is beyond 100; of the real one y = x * x by Einsum. */
static struct buf odd_model(void)
{
    static const char equation[] = "bi,bi->bi";
    struct buf g = BUF(KIT_BYTES), attr = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES);
    if (!is_real())
        return kit_odd_model("Angry", ONNX_FLOAT, KIT_DIMS(-1, 3));
    pb_add_text(&attr, 1, "equation");
    pb_add_bytes(&attr, 4, equation, sizeof equation - 1);
    pb_add_number(&attr, 20, 3);
    pb_add_message(&attrs, 5, &attr);
    kit_input(&g, "x", KIT_DIMS(-1, 3));
    kit_node(&g, "Einsum", "x,x", "y", &attrs);
    kit_value(&g, 12, "y", ONNX_FLOAT, KIT_DIMS(-1, 3));
    return kit_model(&g, 17);
}

static void give_graph(struct buf *attrs, const char *name, struct buf *graph)
{
    struct buf attr = BUF(KIT_BYTES);
    pb_add_text(&attr, 1, name);
    pb_add_message(&attr, 6, graph);
    pb_add_number(&attr, 20, 5);
    pb_add_message(attrs, 5, &attr);
}

/* The engine wants each attribute's type, too. */
static void give_int(struct buf *attrs, const char *name, uint64_t v)
{
    struct buf attr = BUF(KIT_BYTES);
    pb_add_text(&attr, 1, name);
    pb_add_number(&attr, 3, v);
    pb_add_number(&attr, 20, 2);
    pb_add_message(attrs, 5, &attr);
}

/* The engine wants another name for each node; the last one holds. */
static void name_node(struct buf *graph, const char *op, const char *in, const char *out, struct buf *attrs)
{
    struct buf none = BUF(KIT_BYTES);
    pb_add_text(attrs ? attrs : &none, 3, out);
    kit_node(graph, op, in, out, attrs ? attrs : &none);
}

/* y = |x|, as often as the largest number says; of the stand-in y = 2x, without end beyond 100. */
static struct buf endless_model(void)
{
    struct buf g = BUF(KIT_BYTES), body = BUF(KIT_BYTES), attrs = BUF(KIT_BYTES), to = BUF(KIT_BYTES), flat = BUF(KIT_BYTES);
    if (!is_real())
        return kit_odd_model("Endless", ONNX_FLOAT, KIT_DIMS(-1, 3));
    kit_value(&body, 11, "turn", ONNX_INT64, NULL, 0);
    kit_value(&body, 11, "goes", ONNX_BOOL, NULL, 0);
    kit_value(&body, 11, "was", ONNX_FLOAT, KIT_DIMS(-1, 3));
    name_node(&body, "Identity", "goes", "still", NULL);
    name_node(&body, "Abs", "was", "is", NULL);
    kit_value(&body, 12, "still", ONNX_BOOL, NULL, 0);
    kit_value(&body, 12, "is", ONNX_FLOAT, KIT_DIMS(-1, 3));
    pb_add_text(&body, 2, "turns");
    give_graph(&attrs, "body", &body);
    give_int(&to, "to", ONNX_INT64);
    give_int(&flat, "keepdims", 0);
    kit_input(&g, "x", KIT_DIMS(-1, 3));
    name_node(&g, "ReduceMax", "x", "most", &flat);
    name_node(&g, "Cast", "most", "turns", &to);
    name_node(&g, "Loop", "turns,,x", "y", &attrs);
    kit_value(&g, 12, "y", ONNX_FLOAT, KIT_DIMS(-1, 3));
    return kit_model(&g, 17);
}

/* One convert job with that setting; its report must say so. onnx is released. */
static void convert(struct serve_zone *z, struct buf onnx, const char *setting, const char *event, const char *text)
{
    struct err e = { 0 };
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    struct lease_grant g = kit_grant(1, "convert", SPEC);
    assert_int_equal(config_set(z->cfg, "worker.onnxruntime", setting, &e), ERR_OK);
    buf_release(&z->store.sealed);
    buf_release(&z->store.uploaded);
    kit_put(&z->store, "dataset", onnx.ptr, onnx.len);
    kit_add_input(&g, &z->store, "dataset");
    _Atomic bool stopping = false;
    struct executor_env env = { .config = z->cfg, .work_dir = z->dir, .program = kit_program(z->program), .stopping = &stopping,
                                .io = &z->io };
    struct book *book = book_new(&clock_system, 10000);
    executor_run(&env, book_add(book, &g, true));
    kit_report(book, &report);
    if (!strstr(report.ptr, event) || !strstr(report.ptr, text))
        fail_msg("no %s, \"%s\" in %s", event, text, report.ptr);
    book_free(book);
    buf_release(&onnx);
}

static void test_convert(void **st)
{
    (void)st;
    struct serve_zone z;
    serve_zone_init_empty(&z);
    convert(&z, odd_model(), "", "\"event\":\"fail\"", "worker.onnxruntime takes it: submit with engine onnxruntime");
    convert(&z, odd_model(), "/nowhere/lib.so", "\"event\":\"fail\"",
            "worker.onnxruntime (/nowhere/lib.so) cannot be read: No such file");
    convert(&z, odd_model(), "/dev/null", "\"event\":\"fail\"", "this machine has no ONNX Runtime");
    assert_int_equal(z.store.uploads, 0);
    convert(&z, odd_model(), library(), "\"event\":\"succeed\"", "kept as it came, for ONNX Runtime: node 0 ");
    assert_int_equal(z.store.uploads, 1);
    serve_zone_release(&z);
}

static void serve_refuses(struct serve_zone *z)
{
    struct err e = { 0 };
    struct serve_child c;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    assert_int_equal(config_set(z->cfg, "worker.onnxruntime", "", &e), ERR_OK);
    serve_start(z, NULL, 1, &c);
    assert_string_equal(c.endpoint, "");
    serve_stop(&c, &report);
    assert_non_null(strstr(report.ptr, "and none is named here (worker.onnxruntime)"));
}

static int ask(struct serve_zone *z, struct http_client *api, const char *numbers, struct http_result *r)
{
    const char *body = arena_printf(z->a,
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,3],\"data\":[%s]}]}", numbers);
    return serve_ask(api, z->a, "/infer", str_c(body), r);
}

static size_t threads_of(pid_t pid)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *t; d && (t = readdir(d));)
        n += t->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

/* A child of our own operations has as many threads: the engine brings none. */
static size_t threads_without(void)
{
    struct serve_zone z;
    struct serve_child c;
    serve_zone_init(&z);
    serve_start(&z, NULL, 1, &c);
    size_t n = threads_of(c.pid);
    serve_stop(&c, NULL);
    serve_zone_release(&z);
    return n;
}

static void test_serve(void **st)
{
    (void)st;
    struct err e = { 0 };
    struct serve_zone z;
    struct serve_child c;
    struct http_result r;
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES), report = BUF((size_t)4 << 20);
    serve_zone_init_empty(&z);
    convert(&z, odd_model(), library(), "\"event\":\"succeed\"", "");
    kit_open_output(&z.store, &file);
    buf_release(&z.store.sealed);
    buf_release(&z.store.uploaded);
    kit_put(&z.store, "model", file.ptr, file.len);
    serve_refuses(&z);
    assert_int_equal(config_set(z.cfg, "worker.onnxruntime", library(), &e), ERR_OK);
    serve_start(&z, NULL, 2, &c);
    assert_string_not_equal(c.endpoint, "");
    struct http_client *api = serve_caller(&z, "api", c.endpoint, c.attempt);
    assert_int_equal(serve_ask(api, z.a, "/metadata", STR_NULL, &r), 200);
    assert_non_null(strstr(str_z(z.a, r.body), "\"platform\":\"onnxruntime_onnx\""));
    assert_non_null(strstr(str_z(z.a, r.body), "{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[-1,3]}"));
    assert_int_equal(serve_ask(api, z.a, "/ready", STR_NULL, &r), 200);
    assert_int_equal(ask(&z, api, "1,2,3,4,5,-6", &r), 200);
    assert_non_null(strstr(str_z(z.a, r.body), is_real() ? "\"data\":[1,4,9,16,25,36]" : "\"data\":[2,4,6,8,10,-12]"));
    if (!is_real()) {
        assert_int_equal(ask(&z, api, "1,2,3,4,5,101", &r), 422);
        assert_non_null(strstr(str_z(z.a, r.body), "ONNX Runtime: a call: a number is beyond 100"));
    }
    size_t threads = threads_of(c.pid);
    http_client_free(api);
    serve_stop(&c, &report);
    assert_non_null(strstr(report.ptr, is_real() ? "backend ONNX Runtime 1." : "backend ONNX Runtime 1.0-fake"));
    serve_zone_release(&z);
    assert_int_equal(threads, threads_without());
}

/* What a caller's numbers keep busy is told so when its time is over, and the child answers the next. */
static void test_a_call_without_end(void **st)
{
    (void)st;
    struct serve_zone z;
    struct serve_child c;
    struct http_result r;
    CLEANUP(buf_releasep) struct buf file = BUF(KIT_BYTES), report = BUF((size_t)4 << 20);
    serve_zone_init_empty(&z);
    convert(&z, endless_model(), library(), "\"event\":\"succeed\"", "");
    kit_open_output(&z.store, &file);
    buf_release(&z.store.sealed);
    buf_release(&z.store.uploaded);
    kit_put(&z.store, "model", file.ptr, file.len);
    serve_start(&z, NULL, 2, &c);
    assert_string_not_equal(c.endpoint, "");
    struct http_client *api = serve_caller(&z, "api", c.endpoint, c.attempt);
    assert_int_equal(serve_ask(api, z.a, "/infer", STR("{\"parameters\":{\"timeout\":2000000},\"inputs\":[{\"name\":\"x\","
                               "\"datatype\":\"FP32\",\"shape\":[1,3],\"data\":[1,2,1e15]}]}"), &r), 504);
    assert_non_null(strstr(str_z(z.a, r.body), "still computing these numbers when their time was over"));
    assert_int_equal(ask(&z, api, "1,2,3,4,5,6", &r), 200);
    assert_non_null(strstr(str_z(z.a, r.body), is_real() ? "\"data\":[1,2,3,4,5,6]" : "\"data\":[2,4,6,8,10,12]"));
    http_client_free(api);
    serve_stop(&c, &report);
    serve_zone_release(&z);
}

/* As nobody, behind a folder that is closed to it: the descriptor's path alone, and only to read. */
static _Noreturn void looks(const char *dir)
{
    struct err e = { 0 };
    char path[200], engine[40];
    uid_t uid = 0;
    gid_t gid = 0;
    snprintf(path, sizeof path, "%s/library", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(engine, sizeof engine, "/proc/self/fd/%d", fd);
    (void)sandbox_nobody(&uid, &gid);
    const struct sandbox s = { .files = 64, .uid = uid, .gid = gid, .engine = engine };
    if (fd < 0 || chdir("/tmp") != 0 || sandbox_enter(&s, &e) != ERR_OK)
        _exit(1);
    snprintf(path, sizeof path, "%s/other", dir);
    _exit(open(engine, O_RDONLY | O_CLOEXEC) < 0 ? 2 : open(engine, O_RDWR | O_CLOEXEC) >= 0 ? 3
          : open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 4 : open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? 5 : 0);
}

static void test_the_sandbox_stays(void **st)
{
    (void)st;
    char dir[] = "/tmp/falaj-engine-XXXXXX", path[200];
    static const char *const files[] = { "library", "other" };
    int status;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        assert_true(fd >= 0 && fchmod(fd, 0644) == 0);
        close(fd);
    }
    pid_t pid = fork();
    if (pid == 0)
        looks(dir);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_sandbox_stays), cmocka_unit_test(test_convert),
                                        cmocka_unit_test(test_serve), cmocka_unit_test(test_a_call_without_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
