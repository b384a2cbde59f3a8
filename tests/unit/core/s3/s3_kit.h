/* SPDX-License-Identifier: Apache-2.0 */
/* s3_kit.h - the bucket that tests/lib/s3_server.py gives. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/http/client.h"
#include "core/s3/s3.h"

static struct err e;

#define OK(call) do { if ((call) != ERR_OK) fail_msg("%s: %s (%s)", #call, e.msg, e.detail); } while (0)

static inline struct s3_options options(void)
{
    assert_non_null(getenv("FALAJ_TEST_S3"));
    return (struct s3_options){ .url = getenv("FALAJ_TEST_S3"), .region = "us-east-1", .key_id = getenv("FALAJ_TEST_S3_KEY"),
                                .secret = getenv("FALAJ_TEST_S3_SECRET"), .timeout_ms = 20000 };
}

static inline void order(const char *fault)
{
    struct s3_options o = options();
    struct arena *a = arena_new(8 << 20);
    char base[64], path[128];
    struct http_result r;
    snprintf(base, sizeof base, "%.*s", (int)strcspn(o.url + 7, "/") + 7, o.url);
    snprintf(path, sizeof path, "/__fault?%s", fault);
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = base }, &e);
    assert_non_null(c);
    OK(http_client_call(c, a, &(struct http_call){ .path = path }, &r, &e));
    http_client_free(c);
    arena_free(a);
}

static inline struct s3 *bucket(void)
{
    struct s3_options o = options();
    struct s3 *s;
    OK(s3_new(&o, &s, &e));
    return s;
}
