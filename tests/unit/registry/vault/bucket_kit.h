/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_kit.h - a blob store on the bucket that FALAJ_TEST_S3 names, with _KEY and _SECRET: of tests/lib/s3_server.py, which can
 * be told to fail, or of a real store (FALAJ_TEST_S3_REAL, tests/e2e/s3.py). */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/crypto/hash.h"
#include "core/http/client.h"
#include "core/s3/s3.h"
#include "registry/vault/blob_s3_int.h"

static struct blob_store *store;
static struct arena *scratch;
static struct err e;
static struct uuid tenant, object;

#define OK(call) do { if ((call) != ERR_OK) fail_msg("%s: %s (%s)", #call, e.msg, e.detail); } while (0)

static inline struct s3_options options(void)
{
    return (struct s3_options){ .url = getenv("FALAJ_TEST_S3"), .region = "us-east-1", .key_id = getenv("FALAJ_TEST_S3_KEY"),
                                .secret = getenv("FALAJ_TEST_S3_SECRET"), .timeout_ms = 20000 };
}

static inline bool can_fail(void)
{
    return !getenv("FALAJ_TEST_S3_REAL");
}

/* Only the server of the default tier takes orders; on a real store a test of faults ends here. */
static inline void order(const char *fault)
{
    struct s3_options o = options();
    char base[64], path[128];
    struct http_result r;
    snprintf(base, sizeof base, "%.*s", (int)strcspn(o.url + 7, "/") + 7, o.url);
    snprintf(path, sizeof path, "/__fault?%s", fault);
    struct http_client *c = http_client_new(&(struct http_client_options){ .base_url = base }, &e);
    assert_non_null(c);
    OK(http_client_call(c, scratch, &(struct http_call){ .path = path }, &r, &e));
    http_client_free(c);
}

static inline int setup(void **state)
{
    struct s3_options o = options();
    (void)state;
    assert_non_null(o.url);
    scratch = arena_new(64 << 20);
    tenant = uuid_v7(1), object = uuid_v7(2);
    OK(blob_store_open_s3(&o, &store, &e));
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    blob_store_free(store);
    arena_free(scratch);
    return 0;
}

static inline void put_in(struct blob_store *s, struct uuid o, const char *p, size_t n)
{
    struct blob_writer *w;
    uint64_t size;
    uint8_t sha[32], want[32];
    OK(blob_writer_new(s, tenant, o, &w, &e));
    for (size_t at = 0, k; at < n; at += k) {
        k = n - at < 1000003 ? n - at : 1000003;
        OK(blob_write(w, p + at, k, &e));
    }
    OK(blob_commit(w, &size, sha, &e));
    sha256(p, n, want);
    assert_int_equal(size, n);
    assert_memory_equal(sha, want, 32);
}

static inline void holds_in(struct blob_store *s, struct uuid o, const char *p, size_t n)
{
    struct blob_reader *r;
    uint64_t size;
    char *got = malloc(n + 1);
    size_t at = 0;
    OK(blob_reader_open(s, tenant, o, &r, &size, &e));
    assert_int_equal(size, n);
    for (ssize_t k; (k = blob_read(r, got + at, n + 1 - at)) != 0; at += (size_t)k)
        assert_true(k > 0);
    assert_int_equal(at, n);
    assert_memory_equal(got, p, n);
    if (n > 100) {
        OK(blob_seek(r, n - 100, &e));
        assert_int_equal(blob_read(r, got, 200), 100);
        assert_memory_equal(got, p + n - 100, 100);
        OK(blob_seek(r, 1, &e));
        assert_int_equal(blob_read(r, got, 1), 1);
        assert_int_equal(got[0], p[1]);
    }
    blob_reader_close(r);
    free(got);
}

#define ON_BUCKET(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
