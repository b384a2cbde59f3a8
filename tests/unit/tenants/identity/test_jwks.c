/* SPDX-License-Identifier: Apache-2.0 */
/* test_jwks.c - which keys of a set are kept, which are skipped, and what makes the whole set worthless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tenants/identity/jwks.h"

/* The base point of P-256, and 2048 odd bits. */
#define EC(kid, more) "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\",\"kid\":\"" kid "\"" more "}"
static const char X[] = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", Y[] = "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU";

static const struct { const char *what, *keys; unsigned algs; int kept; } rows[] = {
    { "an EC key", EC("a", ""), 3, 1 },
    { "and another", EC("a", "") "," EC("b", ",\"alg\":\"ES256\",\"use\":\"sig\",\"key_ops\":[\"verify\"]"), 3, 2 },
    { "an EC key that is not asked for", EC("a", ""), 1u << JWS_RS256, -1 },
    { "a key for encryption", EC("a", ",\"use\":\"enc\""), 3, -1 },
    { "a key for signing only", EC("a", ",\"key_ops\":[\"sign\"]"), 3, -1 },
    { "a key of another algorithm", EC("a", ",\"alg\":\"ES384\""), 3, -1 },
    { "a key whose algorithm is no text", EC("a", ",\"alg\":256"), 3, -1 },
    { "a kid that is none", EC("../a", ""), 3, -1 },
    { "one kid for two keys", EC("a", "") "," EC("a", ""), 3, -1 },
    { "a private key", EC("a", ",\"d\":\"AAAA\""), 3, -1 },
    { "a private key beside a good one", EC("a", "") "," EC("b", ",\"d\":null"), 3, -1 },
    { "a symmetric key beside a good one", EC("a", "") ",{\"kty\":\"oct\",\"k\":\"AAAA\"}", 3, -1 },
    { "unknown keys beside a good one", EC("a", "") ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\",\"kid\":\"c\"},7,\"x\"", 3, 1 },
    { "a point that is on no curve", "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%.1sAAA\",\"kid\":\"a\"}", 3, -1 },
    { "nothing", "", 3, -1 },
};

static struct str set_of(struct arena *a, const char *keys)
{
    struct buf b = BUF(65536);
    const char *next = X;
    buf_add_c(&b, "{\"keys\":[");
    for (const char *p = keys; *p; p++)
        if (p[0] == '%') {
            buf_add_c(&b, p[1] == 's' ? next : "A");
            p += p[1] == 's' ? 1 : 3;
            next = next == X ? Y : X;
        } else {
            buf_add_char(&b, *p);
        }
    buf_add_c(&b, "]}");
    struct str s = str_dup(a, buf_str(&b));
    buf_release(&b);
    return s;
}

static void keys_are_kept_skipped_or_refused(void **state)
{
    (void)state;
    struct jws_key keys[JWKS_KEYS_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *a = arena_new(1 << 20);
        struct err e;
        size_t n = 0;
        enum errc rc = jwks_read(a, set_of(a, rows[i].keys), rows[i].algs, keys, &n, &e);
        if ((rc == ERR_OK) != (rows[i].kept > 0) || (rc == ERR_OK && (int)n != rows[i].kept))
            fail_msg("%s: %s, %zu keys", rows[i].what, rc == ERR_OK ? "taken" : e.msg, n);
        arena_free(a);
    }
}

static void rsa_needs_2048_bits(void **state)
{
    (void)state;
    struct jws_key keys[JWKS_KEYS_MAX];
    struct err e;
    for (int groups = 41; groups <= 85; groups += 44) {
        struct arena *a = arena_new(1 << 20);
        struct buf b = BUF(8192);
        size_t n;
        buf_add_c(&b, "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"e\":\"AQAB\",\"n\":\"");
        for (int i = 0; i < groups; i++)
            buf_add_c(&b, "w8PD");
        buf_add_c(&b, "ww\"}]}");
        assert_int_equal(jwks_read(a, buf_str(&b), 1u << JWS_RS256, keys, &n, &e), groups == 85 ? ERR_OK : ERR_UNPROCESSABLE);
        buf_release(&b);
        arena_free(a);
    }
}

static void what_is_no_set_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "[]", "{}", "null", "{\"keys\":{}}", "{\"keys\":null}", "{\"keys\":[]}", "{\"keys\":[],\"keys\":[]}",
                                         "{\"keys\":[[[[[[[[[[]]]]]]]]]]}", "{\"keys\":[{\"kty\":\"EC\",\"kty\":\"EC\"}]}", "<html>" };
    struct jws_key keys[JWKS_KEYS_MAX];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena *a = arena_new(1 << 20);
        struct err e;
        size_t n;
        assert_int_equal(jwks_read(a, str_c(texts[i]), 3, keys, &n, &e), ERR_UNPROCESSABLE);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keys_are_kept_skipped_or_refused), cmocka_unit_test(rsa_needs_2048_bits),
                                        cmocka_unit_test(what_is_no_set_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
