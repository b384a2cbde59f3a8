/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_graph.c - which files hold a graph, whoever else reads them, and which of those are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/data/model_graph.h"

#define SIG "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3]}]," \
            "\"outputs\":[{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[-1,2]}]}"

static void test_files(void **st)
{
    (void)st;
    static const struct { const char *family, *format, *signature, *graph; bool is; enum errc rc; } rows[] = {
        { "cnn", MODEL_GRAPH_FORMAT, SIG, "{}", true, ERR_OK },
        { "graph", MODEL_GRAPH_FORMAT, SIG, "{}", true, ERR_OK },
        { "graph", MODEL_GRAPH_FORMAT, SIG, "", true, ERR_BAD_DATA },
        { "cnn", "falaj-graph-2", SIG, "{}", true, ERR_BAD_DATA },
        { "cnn", MODEL_GRAPH_FORMAT, "{}", "{}", true, ERR_BAD_DATA },
        { "mlp", MODEL_GRAPH_FORMAT, SIG, "", false, ERR_BAD_DATA },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        struct st_pair meta[] = { { STR("family"), str_c(rows[i].family) }, { STR("graph"), str_c(rows[i].graph) },
                                  { STR("graph_format"), str_c(rows[i].format) },
                                  { STR("signature"), str_c(rows[i].signature) } };
        const struct st_file f = { .meta = meta, .meta_count = 4 };
        struct model_sig sig;
        struct err e;
        assert_int_equal(model_graph_is(&f), rows[i].is);
        assert_int_equal(model_graph_check(a, &f, &sig, &e), rows[i].rc);
        assert_true(rows[i].rc != ERR_OK || (sig_count(&sig.inputs[0], 1) == 3 && sig_count(&sig.outputs[0], 1) == 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
