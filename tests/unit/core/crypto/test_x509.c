/* SPDX-License-Identifier: Apache-2.0 */
/* test_x509.c - an authority, a worker and a server certificate, requests, other authorities, time, and file modes. */
#include "crypto_test.h"
#include <sys/stat.h>
#include <unistd.h>
#include "core/crypto/x509.h"

static const int64_t now_us = 1800000000000000, day_s = 86400;
static struct arena *a;

static const struct x509_req worker = { .common_name = { "w1", 2 },
                                        .uri_san = { "spiffe://ae-dxb-1/worker/gpu/w1", 31 },
                                        .is_client = true,
                                        .lifetime_s = 86400 };

static void test_issue_and_read(void **state)
{
    struct x509_pair ca, other, w;
    struct x509_facts f;
    (void)state;
    OK(x509_make_ca(a, STR("Falaj ae-dxb-1"), STR("spiffe://ae-dxb-1"), now_us, 365 * day_s, &ca, NULL));
    OK(x509_make_ca(a, STR("Falaj ae-dxb-1"), STR("spiffe://ae-dxb-1"), now_us, 365 * day_s, &other, NULL));
    OK(x509_issue(a, &ca, &worker, now_us, &w, NULL));
    OK(x509_read(a, w.cert_pem, &f, NULL));
    assert_true(str_eq_c(f.uri, "spiffe://ae-dxb-1/worker/gpu/w1"));
    assert_true(str_eq_c(f.common_name, "w1"));
    assert_int_equal(f.uri_count, 1);
    assert_true(f.is_client && !f.is_server && !f.is_ca);
    assert_int_equal(f.not_after_us - now_us, day_s * 1000000);
    OK(x509_verify(w.cert_pem, ca.cert_pem, now_us, NULL));
    assert_int_equal(x509_verify(w.cert_pem, other.cert_pem, now_us, NULL), ERR_FORBIDDEN);
    assert_int_equal(x509_verify(w.cert_pem, ca.cert_pem, now_us + 2 * day_s * 1000000, NULL), ERR_FORBIDDEN);
    assert_int_equal(x509_verify(w.cert_pem, ca.cert_pem, now_us - day_s * 1000000, NULL), ERR_FORBIDDEN);
    OK(x509_read(a, ca.cert_pem, &f, NULL));
    assert_true(f.is_ca);
    /* A leaf is no authority, and a pair must fit. */
    assert_int_equal(x509_issue(a, &w, &worker, now_us, &w, NULL), ERR_INVALID);
    struct x509_pair mixed = { ca.cert_pem, other.key_pem };
    assert_int_equal(x509_issue(a, &mixed, &worker, now_us, &w, NULL), ERR_INVALID);
}

static void test_request(void **state)
{
    struct x509_pair ca, csr;
    struct str cert;
    struct x509_facts f;
    (void)state;
    OK(x509_make_ca(a, STR("CA"), STR_NULL, now_us, day_s, &ca, NULL));
    OK(x509_make_csr(a, STR("i-am-root"), &csr, NULL));
    OK(x509_sign_csr(a, &ca, csr.cert_pem, &worker, now_us, &cert, NULL));
    OK(x509_read(a, cert, &f, NULL));
    assert_true(str_eq_c(f.common_name, "w1"));                    /* names come from us, not from the request */
    OK(x509_verify(cert, ca.cert_pem, now_us, NULL));
    char *bad = (char *)str_z(a, csr.cert_pem);
    bad[csr.cert_pem.len - 60] ^= 1;                               /* the signature */
    assert_int_equal(x509_sign_csr(a, &ca, str_c(bad), &worker, now_us, &cert, NULL), ERR_INVALID);
    assert_int_equal(x509_sign_csr(a, &ca, STR("junk"), &worker, now_us, &cert, NULL), ERR_INVALID);
}

static void test_server_and_names(void **state)
{
    const char *dns[] = { "localhost", NULL }, *ip[] = { "127.0.0.1", "::1", NULL }, *bad_ip[] = { "1.2.3", NULL };
    const char *bad_dns[] = { "a b", NULL };
    struct x509_req req = { .common_name = STR("api"), .dns = dns, .ip = ip, .is_server = true, .lifetime_s = 60 };
    struct x509_pair ca, s;
    struct x509_facts f;
    (void)state;
    OK(x509_make_ca(a, STR("CA"), STR_NULL, now_us, day_s, &ca, NULL));
    OK(x509_issue(a, &ca, &req, now_us, &s, NULL));
    OK(x509_read(a, s.cert_pem, &f, NULL));
    assert_true(f.is_server && !f.is_client && f.uri_count == 0);
    req.ip = bad_ip;
    assert_int_equal(x509_issue(a, &ca, &req, now_us, &s, NULL), ERR_INVALID);
    req.ip = NULL;
    req.dns = bad_dns;
    assert_int_equal(x509_issue(a, &ca, &req, now_us, &s, NULL), ERR_INVALID);
    req.dns = NULL;
    req.is_server = false;
    assert_int_equal(x509_issue(a, &ca, &req, now_us, &s, NULL), ERR_INVALID);
}

static void test_files(void **state)
{
    char dir[] = "/tmp/falaj-x509-XXXXXX";
    struct x509_pair ca;
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(dir));
    const char *cert = str_fmt(a, "%s/c.pem", dir).ptr, *key = str_fmt(a, "%s/k.pem", dir).ptr;
    OK(x509_make_ca(a, STR("CA"), STR_NULL, now_us, day_s, &ca, NULL));
    OK(x509_write(&ca, cert, key, NULL));
    OK(x509_write(&ca, cert, key, NULL));
    assert_int_equal(stat(key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal((size_t)st.st_size, ca.key_pem.len);
    assert_int_equal(x509_write(&ca, "/nonexistent/x.pem", NULL, NULL), ERR_IO);
    unlink(cert);
    unlink(key);
    rmdir(dir);
}

int main(void)
{
    a = arena_new(8 << 20);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_issue_and_read), cmocka_unit_test(test_request),
                                        cmocka_unit_test(test_server_and_names), cmocka_unit_test(test_files) };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(a);
    return rc;
}
