/* SPDX-License-Identifier: Apache-2.0 */
/* shape_kit.h - one graph for each test, the shape of a value, and a value that was refused; included after cmocka.h. */
#pragma once
#include "graph_kit.h"

static struct graph *g;
static struct err e;

static inline int begin(void **st)
{
    (void)st;
    g = graph_new(ELEM_F32, 32);
    return 0;
}
static inline int end(void **st)
{
    (void)st;
    graph_freep(&g);
    return 0;
}
static inline void is_shape(int value, const char *want)
{
    char text[96];
    assert_int_not_equal(value, VALUE_NONE);
    assert_string_equal(shape_text(&g->values[value].shape, text, sizeof text), want);
}
/* The first error is kept, so the next refusal needs a new graph. */
static inline void refused(int value, enum errc code, const char *why)
{
    assert_int_equal(value, VALUE_NONE);
    e = (struct err){ 0 };
    assert_int_equal(graph_check(g, &e), code);
    if (!strstr(e.msg, why))
        fail_msg("\"%s\" does not say \"%s\"", e.msg, why);
    (void)end(NULL);
    (void)begin(NULL);
}
