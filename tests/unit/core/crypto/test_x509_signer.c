/* SPDX-License-Identifier: Apache-2.0 */
/* test_x509_signer.c - an authority whose key is elsewhere: its certificates hold, and a signer that lies gets none out. */
#include "crypto_test.h"
#include "core/crypto/ecdsa.h"
#include "core/crypto/x509.h"

static const int64_t now_us = 1800000000000000;
static struct arena *a;

static enum errc sign(void *ctx, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e)
{
    return ecdsa_sign(ctx, digest, ret_sig, e);
}

static enum errc refuse(void *ctx, const uint8_t digest[32], uint8_t ret_sig[64], struct err *e)
{
    (void)ctx, (void)digest, (void)ret_sig;
    return FAIL(e, SEALED, "no");
}

static void test_signer(void **state)
{
    struct secret32 key = { { 1, 2, 3 } }, wrong = { { 9 } };
    struct x509_signer s = { &key, sign, { 0 }, STR("Falaj zone ae-dxb-1"), STR("spiffe://ae-dxb-1") };
    const struct x509_req req = { .common_name = STR("w1"), .uri_san = STR("spiffe://ae-dxb-1/worker/gpu/w1"), .is_client = true, .lifetime_s = 60 };
    struct x509_pair csr;
    struct x509_facts f;
    struct str ca, again, cert;
    (void)state;
    OK(ecdsa_public(&key, s.point, NULL));
    OK(x509_make_csr(a, STR("anything"), &csr, NULL));
    OK(x509_signer_ca(a, &s, &ca, NULL));
    OK(x509_signer_ca(a, &s, &again, NULL));
    for (int i = 0; i < 64; i++) {                                  /* signatures with and without leading zeros and high bits */
        OK(x509_signer_csr(a, &s, csr.cert_pem, &req, now_us, &cert, NULL));
        OK(x509_verify(cert, ca, now_us, NULL));
        OK(x509_verify(cert, again, now_us, NULL));
    }
    OK(x509_read(a, cert, &f, NULL));
    assert_true(f.uri_count == 1 && str_eq_c(f.uri, "spiffe://ae-dxb-1/worker/gpu/w1") && f.is_client && !f.is_server && !f.is_ca);
    OK(x509_read(a, ca, &f, NULL));
    assert_true(f.is_ca && str_eq_c(f.uri, "spiffe://ae-dxb-1"));
    s.ctx = &wrong;
    assert_int_equal(x509_signer_csr(a, &s, csr.cert_pem, &req, now_us, &cert, NULL), ERR_INTERNAL);
    s.sign = refuse;
    assert_int_equal(x509_signer_csr(a, &s, csr.cert_pem, &req, now_us, &cert, NULL), ERR_SEALED);
    assert_int_equal(x509_signer_csr(a, &s, STR("junk"), &req, now_us, &cert, NULL), ERR_INVALID);
}

int main(void)
{
    a = arena_new(8 << 20);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_signer) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(a);
    return rc;
}
