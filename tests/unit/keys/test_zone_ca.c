/* SPDX-License-Identifier: Apache-2.0 */
/* test_zone_ca.c - what the real falaj-keyd signs as the zone's authority, and all that it does not sign, whoever asks. */
#include "keys_test.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"

static char dir[] = "/tmp/falaj-keyd-XXXXXX";
static char socket_path[128], file[128], map[256];
static pid_t pid;
static struct keyd_client *client;
static struct arena *a;
static const char *const init_args[] = { "--init", NULL };

static int setup(void **state)
{
    (void)state;
    a = arena_new(8 << 20);
    pid = keyd_spawn(socket_path, file, init_args);
    OK(keyd_client_new(str_c(map), 5000, &client, NULL));
    assert_true(keyd_wait(client) >= 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    keyd_client_freep(&client);
    arena_free(a);
    return keyd_end(pid, SIGTERM);
}

static enum errc issue(const char *pool, const char *name, const char *lease, uint32_t seconds, struct str csr, struct str *ret)
{
    const struct keyd_ca_request r = { str_c(pool), str_c(name), str_c(lease), csr, seconds };
    return keyd_ca_sign(client, a, STR("ae-dxb-1"), &r, ret, NULL);
}

static void test_shape(void **state)
{
    struct x509_pair csr;
    struct x509_facts f, second;
    struct str ca, cert;
    (void)state;
    OK(x509_make_csr(a, STR("root-of-all"), &csr, NULL));
    OK(keyd_ca_certificate(client, a, STR("ae-dxb-1"), &ca, NULL));
    OK(issue("gpu", "node-17.rack_2", "", 86400, csr.cert_pem, &cert));
    OK(x509_verify(cert, ca, clock_wall_us(&clock_system), NULL));
    OK(x509_read(a, cert, &f, NULL));
    assert_true(f.uri_count == 1 && str_eq_c(f.uri, "spiffe://ae-dxb-1/worker/gpu/node-17.rack_2"));
    assert_true(f.is_client && !f.is_server && !f.is_ca && str_eq_c(f.common_name, "node-17.rack_2"));
    assert_true(f.not_after_us - clock_wall_us(&clock_system) <= INT64_C(86400000000));
    OK(issue("gpu", "node-17.rack_2", "", 60, csr.cert_pem, &cert));
    OK(x509_read(a, cert, &second, NULL));
    assert_memory_not_equal(f.fingerprint, second.fingerprint, 32);
    OK(x509_read(a, ca, &f, NULL));
    assert_true(f.is_ca && str_eq_c(f.uri, "spiffe://ae-dxb-1") && f.uri_count == 1);
}

/* The process of a lease: it serves under the lease's name and can call nobody. */
static void test_shape_of_a_lease(void **state)
{
    static const char *const bad[] = { "0123", "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0", "api",
                                       "0123456789abcdef/123456789abcdef", "10.1.2.3", "*" };
    struct x509_pair csr;
    struct x509_facts f;
    struct str ca, cert;
    (void)state;
    OK(x509_make_csr(a, STR("spiffe://ae-dxb-1/api"), &csr, NULL));
    OK(keyd_ca_certificate(client, a, STR("ae-dxb-1"), &ca, NULL));
    OK(issue("gpu", "n1", "0123456789abcdef0123456789abcdef", 60, csr.cert_pem, &cert));
    OK(x509_verify(cert, ca, clock_wall_us(&clock_system), NULL));
    OK(x509_read(a, cert, &f, NULL));
    assert_true(f.uri_count == 1 && str_eq_c(f.uri, "spiffe://ae-dxb-1/lease/gpu/n1/0123456789abcdef0123456789abcdef"));
    assert_true(f.is_server && !f.is_client && !f.is_ca);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(issue("gpu", "n1", bad[i], 60, csr.cert_pem, &cert), ERR_INVALID);
    assert_int_equal(issue("a/b", "n1", "0123456789abcdef0123456789abcdef", 60, csr.cert_pem, &cert), ERR_INVALID);
}

static void test_refusals(void **state)
{
    static const char *const bad[] = { "", ".", "..", "-a", ".a", "a/b", "../x", "A", "a b", "a\nb", "\xc3\xa9", "a%2fb", "a#b", "a?b", "a:b",
                                       "0123456789012345678901234567890123456789012345678901234567890123" };
    struct x509_pair csr;
    struct str cert, long_csr = str_fmt(a, "%*s", 9000, "x");
    (void)state;
    OK(x509_make_csr(a, STR("x"), &csr, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(issue(bad[i], "n", "", 60, csr.cert_pem, &cert), ERR_INVALID);
        assert_int_equal(issue("p", bad[i], "", 60, csr.cert_pem, &cert), ERR_INVALID);
    }
    assert_int_equal(issue("p", "n", "", 0, csr.cert_pem, &cert), ERR_INVALID);
    assert_int_equal(issue("p", "n", "", 7 * 86400 + 1, csr.cert_pem, &cert), ERR_INVALID);
    assert_int_equal(issue("p", "n", "", UINT32_MAX, csr.cert_pem, &cert), ERR_INVALID);
    assert_int_equal(issue("p", "n", "", 60, STR("junk"), &cert), ERR_INVALID);
    assert_int_equal(issue("p", "n", "", 60, STR(""), &cert), ERR_INVALID);
    assert_int_equal(issue("p", "n", "", 60, long_csr, &cert), ERR_TOO_LARGE);
    const struct keyd_ca_request r = { STR("p"), STR("n"), STR(""), csr.cert_pem, 60 };
    assert_int_equal(keyd_ca_sign(client, a, STR("ae-auh-1"), &r, &cert, NULL), ERR_UNAVAILABLE);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    assert_non_null(mkdtemp(dir));
    snprintf(socket_path, sizeof socket_path, "%s/s", dir);
    snprintf(file, sizeof file, "%s/root.key", dir);
    snprintf(map, sizeof map, "ae-dxb-1=%s", socket_path);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shape), cmocka_unit_test(test_shape_of_a_lease),
                                        cmocka_unit_test(test_refusals) };
    int rc = cmocka_run_group_tests(tests, setup, teardown);
    unlink(file);
    unlink(socket_path);
    rmdir(dir);
    return rc;
}
