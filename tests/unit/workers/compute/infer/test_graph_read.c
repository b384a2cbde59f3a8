/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_read.c - a graph is built as its text says; wrong texts are refused by node and reason, and so is every cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../graph/graph_kit.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/infer/graph_file.h"

#define SIG "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3]}]," \
            "\"outputs\":[{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[-1,2]}]}"
#define HEAD "{\"inputs\":[{\"name\":\"x\",\"type\":\"f32\",\"shape\":[-1,3]}],\"constants\":[\"c0\",\"c1\"],\"nodes\":["
#define PRODUCT "{\"op\":\"matmul\",\"in\":[0,1],\"flags\":2}"
#define TAIL(value) "],\"outputs\":[{\"name\":\"y\",\"value\":" value "}]}"

static void make(struct buf *b, const char *graph, size_t n, const char *sig)
{
    static const float w[6] = { 1, 2, 3, 4, 5, 6 }, v[2] = { 10, 20 };
    struct st_tensor t[] = { { STR("c0"), ST_F32, 2, { 2, 3 }, (const void *)w, sizeof w }, { STR("c1"), ST_F32, 1, { 2 },
                                                                                              (const void *)v, sizeof v } };
    struct st_pair meta[] = { { STR("family"), STR("graph") }, { STR("graph_format"), STR(MODEL_GRAPH_FORMAT) },
                              { STR("signature"),
                                                                                                          str_c(sig) },
                              { STR("graph"), str_n(graph, n) } };
    struct err e;
    assert_int_equal(st_write(b, t, 2, meta, 4, &e), ERR_OK);
}

static enum errc load(const char *graph, size_t n, const char *sig, struct infer_model **ret, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(65536);
    make(&b, graph, n, sig);
    return infer_model_load(&backend_ref, NULL, b.ptr, b.len, ret, e);
}

static const char good[] = HEAD PRODUCT ",{\"op\":\"add_bias\",\"in\":[3,2]},{\"op\":\"reshape\",\"in\":[4],\"shape\":[-1,2]},"
                                "{\"op\":\"unary\",\"in\":[5],\"fn\":1}" TAIL("6");

static void test_it_runs(void **st)
{
    (void)st;
    struct infer_model *m;
    struct infer_session *s;
    struct err e = { 0 };
    float y[4];
    if (load(good, strlen(good), SIG, &m, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    assert_int_equal(infer_session_new(m, &s, &e), ERR_OK);
    assert_int_equal(infer_run(s, &(struct infer_io){ .in = { (const float[]){ 1, 0, 0, 0, 1, 1 } }, .out = { y } }, 2, &e),
                     ERR_OK);
    assert_true(y[0] == -11 && y[1] == -24 && y[2] == -15 && y[3] == -31);
    infer_session_free(s);
    infer_model_free(m);
}

static void refused(const char *graph, const char *sig, const char *why)
{
    struct infer_model *m;
    struct err e = { 0 };
    assert_int_not_equal(load(graph, strlen(graph), sig, &m, &e), ERR_OK);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
}

static void test_refusals(void **st)
{
    (void)st;
    refused(HEAD "{\"op\":\"adamw\",\"in\":[0,1,2,0,0]}" TAIL("3"), SIG, "node 0: the operation \"adamw\" is not known");
    refused(HEAD "{\"op\":\"softmax_xent\",\"in\":[0,1]}" TAIL("3"), SIG, "the operation \"softmax_xent\" is not known");
    refused(HEAD "{\"op\":\"maxpool\",\"in\":[0],\"window\":[2,2,2],\"stride\":2}" TAIL("3"), SIG,
            "node 0: the graph is not readable");
    refused(HEAD "{\"op\":\"maxpool\",\"in\":[0],\"window\":[2,2],\"stride\":2}" TAIL("3"), SIG, "expected images");
    refused(HEAD PRODUCT ",{\"op\":\"relu\",\"in\":[9]}" TAIL("3"), SIG,
            "node 1: it reads value 9, which nothing before it makes");
    refused(HEAD "{\"op\":\"matmul\",\"in\":[0,1],\"flags\":10}" TAIL("3"), SIG, "node 0: flags 10");
    refused(HEAD "{\"op\":\"matmul\",\"in\":[0,1]}" TAIL("3"), SIG, "node 0: input 1 of matmul");
    refused(HEAD "{\"op\":\"relu\",\"in\":[0],\"colour\":2}" TAIL("3"), SIG, "there is no attribute of this name");
    refused(HEAD "{\"op\":\"reshape\",\"in\":[0],\"shape\":[-1,2]}" TAIL("3"), SIG, "cannot be seen as");
    refused(HEAD "{\"op\":\"reshape\",\"in\":[0]}" TAIL("3"), SIG, "reshape takes one input and a shape");
    refused(HEAD PRODUCT TAIL("0"), SIG, "is an input or a constant");
    refused(HEAD PRODUCT TAIL("4"), SIG, "is value 4, which is none");
    refused(HEAD "{\"op\":\"relu\",\"in\":[0]}" TAIL("3"), SIG, "the signature does not have \"y\" as the graph has it");
    refused(HEAD "{\"op\":\"embed\",\"in\":[1,0]}" TAIL("3"), SIG, "expected i32 tokens");
    refused("{\"inputs\":[{\"name\":\"x\",\"type\":\"f32\",\"shape\":[-1,3]}],\"constants\":[\"c0\",\"c0\"],\"nodes\":[" PRODUCT
            TAIL("3"), SIG, "the graph names the constant \"c0\" twice");
    refused("{}", SIG, "the graph is not readable");
    refused(good, "{}", "the signature is not readable");
}

static void test_every_cut(void **st)
{
    (void)st;
    for (size_t n = 0; n < strlen(good); n++) {
        struct infer_model *m;
        struct err e;
        assert_int_not_equal(load(good, n, SIG, &m, &e), ERR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_it_runs), cmocka_unit_test(test_refusals),
                                        cmocka_unit_test(test_every_cut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
