/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_cert.c - the certificate of a lease that serves: it names that lease and no other, is renewed while calls go on, and a
 * signer that is away for a while costs nothing. Real children of the real binary. */
#include "serve_kit.h"

static void another_lease_and_the_machine_are_not_believed(void **state)
{
    (void)state;
    struct serve_zone z;
    struct serve_child first, second;
    serve_zone_init(&z);
    serve_start(&z, NULL, 1, &first);
    serve_start(&z, NULL, 2, &second);
    assert_string_not_equal(first.endpoint, "");
    assert_string_not_equal(second.endpoint, "");
    assert_int_equal(serve_ask_once(&z, "api", first.endpoint, first.attempt), 200);
    assert_int_equal(serve_ask_once(&z, "api", second.endpoint, second.attempt), 200);
    /* A lease that listens elsewhere, or has ended while another took its port. */
    assert_int_equal(serve_ask_once(&z, "api", second.endpoint, first.attempt), -1);
    assert_int_equal(serve_ask_once(&z, "api", first.endpoint, second.attempt), -1);
    assert_int_equal(serve_ask_once(&z, "worker", first.endpoint, first.attempt), 403);    /* the machine itself may not call */
    serve_stop(&first, NULL);
    assert_int_equal(serve_ask_once(&z, "api", first.endpoint, first.attempt), -1);        /* the port went with it */
    assert_int_equal(serve_ask_once(&z, "api", second.endpoint, second.attempt), 200);
    serve_stop(&second, NULL);
    serve_zone_release(&z);
}

static void a_renewed_certificate_takes_over_while_it_serves(void **state)
{
    (void)state;
    enum { LOOKS = 6000, LOOK_US = 10000 };
    struct serve_zone z;
    struct serve_child c;
    serve_zone_init(&z);
    z.first_life_s = 2;
    z.refusals = 2;                                                 /* keys are sealed when the lease begins */
    serve_start(&z, NULL, 1, &c);
    assert_string_not_equal(c.endpoint, "");
    int status = -1;
    for (int i = 0; i < LOOKS && clock_wall_us(&clock_system) < z.first_ends_us; i++)
        usleep(LOOK_US);
    for (int i = 0; i < LOOKS && status != 200; i++) {              /* the first one has ended: only a renewed one is believed */
        status = serve_ask_once(&z, "api", c.endpoint, c.attempt);
        usleep(LOOK_US);
    }
    assert_int_equal(status, 200);
    assert_true(z.signed_certs >= 2);
    serve_stop(&c, NULL);
    serve_zone_release(&z);
}

static enum errc stranger(void *ctx, struct arena *a, const struct lease_grant *g, struct str csr, struct str *ret, struct err *e)
{
    (void)ctx, (void)a, (void)g, (void)csr, (void)ret;
    return FAIL(e, STALE, "This lease is not held by this machine, or no longer");
}

static void a_lease_without_a_certificate_fails_with_the_reason(void **state)
{
    (void)state;
    struct serve_zone z;
    struct serve_child c;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    serve_zone_init(&z);
    z.io.certificate = stranger;
    serve_start(&z, NULL, 1, &c);
    assert_string_equal(c.endpoint, "");
    serve_stop(&c, &report);
    assert_non_null(strstr(report.ptr, "This lease is not held by this machine"));
    serve_zone_release(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(another_lease_and_the_machine_are_not_believed),
                                        cmocka_unit_test(a_renewed_certificate_takes_over_while_it_serves),
                                        cmocka_unit_test(a_lease_without_a_certificate_fails_with_the_reason) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
