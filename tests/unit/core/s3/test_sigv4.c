/* SPDX-License-Identifier: Apache-2.0 */
/* test_sigv4.c - the signatures that Amazon's documents give as examples, and what must change one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/crypto/hash.h"
#include "core/s3/sigv4.h"

/* 2013-05-24T00:00:00Z */
static const int64_t THEN_US = INT64_C(1369353600) * 1000000;

static struct sigv4 example(const char *query)
{
    struct sigv4 in = { .method = "GET", .path = STR("/"), .query = str_c(query), .host = STR("examplebucket.s3.amazonaws.com"),
                        .at_us = THEN_US, .region = "us-east-1", .key_id = "AKIAIOSFODNN7EXAMPLE",
                        .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
    sha256("", 0, in.body_sha256);
    return in;
}

static void signs_as(const struct sigv4 *in, const char *signature)
{
    char got[SIGV4_HEADER], want[SIGV4_HEADER];
    snprintf(want, sizeof want, "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
             "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=%s", signature);
    assert_true(sigv4_header(in, got));
    assert_string_equal(got, want);
}

/* "Example: GET Bucket Lifecycle" and "Example: Get Bucket (List Objects)" of the Amazon S3 API Reference. */
static void published_examples(void **state)
{
    (void)state;
    struct sigv4 in = example("lifecycle=");
    signs_as(&in, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    in = example("max-keys=2&prefix=J");
    signs_as(&in, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void whatever_is_signed_changes_it(void **state)
{
    (void)state;
    char first[SIGV4_HEADER], other[SIGV4_HEADER];
    struct sigv4 in = example("lifecycle="), changed[8];
    for (int i = 0; i < 8; i++)
        changed[i] = in;
    changed[0].method = "PUT";
    changed[1].path = STR("/a");
    changed[2].query = STR("lifecycle=1");
    changed[3].host = STR("other.s3.amazonaws.com");
    changed[4].body_sha256[31] ^= 1;
    changed[5].at_us += 1000000;
    changed[6].region = "eu-west-1";
    changed[7].secret = "another";
    assert_true(sigv4_header(&in, first));
    for (int i = 0; i < 8; i++) {
        assert_true(sigv4_header(&changed[i], other));
        assert_string_not_equal(strrchr(first, '='), strrchr(other, '='));
    }
    char region[200];
    memset(region, 'r', sizeof region - 1);
    region[sizeof region - 1] = '\0';
    in.region = region;
    assert_false(sigv4_header(&in, other));
}

static void names_are_encoded_as_s3_wants(void **state)
{
    (void)state;
    struct buf b = BUF(200);
    assert_true(sigv4_encode(&b, STR("a/b c+~=%\xc3\xa9"), true));
    assert_string_equal(b.ptr, "a/b%20c%2B~%3D%25%C3%A9");
    buf_clear(&b);
    assert_true(sigv4_encode(&b, STR("a/b"), false));
    assert_string_equal(b.ptr, "a%2Fb");
    buf_release(&b);
    char when[SIGV4_TIME];
    sigv4_time(THEN_US + 999999, when);
    assert_string_equal(when, "20130524T000000Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(published_examples), cmocka_unit_test(whatever_is_signed_changes_it),
                                        cmocka_unit_test(names_are_encoded_as_s3_wants) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
