/* SPDX-License-Identifier: Apache-2.0 */
/* test_cert_watch.c - a listener takes up a pair of files when it is whole, keeps the old one while it is not, and says when
 * one ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/crypto/x509.h"
#include "core/http/cert_watch.h"
#include "core/http/client.h"
#include "core/table/metrics.h"

static char dir[64], cert_path[96], key_path[96], ca_path[96], log_path[96];
static struct arena *arena;
static struct x509_pair ca;

static void put(const char *path, struct str text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static struct x509_pair make(const char *name, int64_t days)
{
    static const char *const ip[] = { "127.0.0.1", NULL };
    struct x509_req req = { .common_name = str_c(name), .uri_san = STR("spiffe://z/api"), .ip = ip, .is_server = true,
                            .lifetime_s = days * 86400 };
    struct x509_pair leaf;
    struct err e;
    assert_int_equal(x509_issue(arena, &ca, &req, clock_wall_us(&clock_system), &leaf, &e), ERR_OK);
    return leaf;
}

static int setup(void **state)
{
    struct err e;
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/falaj-test-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(cert_path, sizeof cert_path, "%s/c.pem", dir);
    snprintf(key_path, sizeof key_path, "%s/c.key", dir);
    snprintf(ca_path, sizeof ca_path, "%s/ca.pem", dir);
    snprintf(log_path, sizeof log_path, "%s/log", dir);
    arena = arena_new(16 << 20);
    if (x509_make_ca(arena, STR("z"), STR("spiffe://z"), clock_wall_us(&clock_system), INT64_C(400) * 86400, &ca, &e) != ERR_OK)
        return -1;
    put(ca_path, ca.cert_pem);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    arena_free(arena);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static void answer(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    http_reply(x, &(struct http_response){ .status = 200 });
}

static struct http_server *serve(void)
{
    struct err e;
    struct http_server_options o = { .bind_addr = "127.0.0.1", .loops = 2, .on_request = answer, .tls_cert_file = cert_path,
                                     .tls_key_file = key_path };
    struct http_server *s = http_server_new(&o, &e);
    if (!s)
        fail_msg("%s", e.msg);
    return s;
}

/* Does a new connection get a certificate that is good for this address? The one named "bad" is another authority's. */
static bool answers(struct http_server *s)
{
    struct err e;
    struct http_result r;
    struct http_client_options o = { .base_url = arena_printf(arena, "https://127.0.0.1:%d", http_server_port(s)),
        .ca_file = ca_path };
    CLEANUP(http_client_freep) struct http_client *c = http_client_new(&o, &e);
    assert_non_null(c);
    return http_client_call(c, arena, &(struct http_call){ .path = "/" }, &r, &e) == ERR_OK && r.status == 200;
}

static double gauge(void)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    metrics_print(&b, "test");
    const char *at = strstr(b.ptr, "falaj_certificate_not_after_seconds{name=\"api\"} ");
    return at ? strtod(strchr(at, ' '), NULL) : 0;
}

static void a_pair_is_taken_up_when_it_is_whole(void **state)
{
    (void)state;
    struct err e;
    int64_t now = clock_wall_us(&clock_system);
    struct x509_pair first = make("first", 90), second = make("second", 120), other_ca, strange;
    struct x509_req req = { .common_name = STR("x"), .uri_san = STR("spiffe://z/api"), .is_server = true, .lifetime_s = 864000 };
    assert_int_equal(x509_make_ca(arena, STR("o"), STR("spiffe://o"), now, 8640000, &other_ca, &e), ERR_OK);
    assert_int_equal(x509_issue(arena, &other_ca, &req, now, &strange, &e), ERR_OK);
    put(cert_path, strange.cert_pem);
    put(key_path, strange.key_pem);
    struct http_server *s = serve();
    struct cert_watch *w = cert_watch_new();
    cert_watch_add(w, "api", cert_path, key_path, s);
    assert_int_equal(cert_watch_look(w, now), 0);
    assert_false(answers(s));
    put(cert_path, first.cert_pem);                     /* half of a replacement: of another key */
    assert_int_equal(cert_watch_look(w, now), 0);
    assert_false(answers(s));
    put(key_path, first.key_pem);
    assert_int_equal(cert_watch_look(w, now), 1);
    assert_true(answers(s));
    double ends = gauge();
    assert_true(ends > (double)now / 1e6 + 89 * 86400.0 && ends < (double)now / 1e6 + 91 * 86400.0);
    assert_int_equal(cert_watch_look(w, now), 0);       /* nothing has changed */
    put(cert_path, STR("-----BEGIN CERTIFICATE-----\njunk\n"));
    assert_int_equal(cert_watch_look(w, now), 0);
    assert_true(answers(s));
    unlink(cert_path);
    assert_int_equal(cert_watch_look(w, now), 0);
    assert_true(answers(s));
    put(key_path, second.key_pem);
    put(cert_path, second.cert_pem);
    assert_int_equal(cert_watch_look(w, now), 1);
    assert_true(answers(s));
    assert_true(gauge() > ends);
    cert_watch_free(w);
    http_server_free(s);
}

static int warnings(const char *event)
{
    int n = 0;
    char line[1024];
    FILE *f = fopen(log_path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, event) != NULL;
    fclose(f);
    return n;
}

static void an_end_is_told_of_thirty_days_before(void **state)
{
    (void)state;
    const int64_t day = INT64_C(86400) * 1000000, now = clock_wall_us(&clock_system);
    struct x509_pair long_lived = make("long", 200);
    put(cert_path, long_lived.cert_pem);
    put(key_path, long_lived.key_pem);
    FILE *log = fopen(log_path, "w");
    assert_non_null(log);
    log_setup("test", LOG_INFO, LOGFMT, fileno(log));
    struct cert_watch *w = cert_watch_new();
    cert_watch_add(w, "api", cert_path, NULL, NULL);
    cert_watch_look(w, now);
    cert_watch_look(w, now + 169 * day);
    assert_int_equal(warnings("certificate.ends_soon"), 0);
    cert_watch_look(w, now + 171 * day);
    assert_int_equal(warnings("certificate.ends_soon"), 1);
    cert_watch_look(w, now + 171 * day + day / 2);      /* once a day */
    assert_int_equal(warnings("certificate.ends_soon"), 1);
    cert_watch_look(w, now + 173 * day);
    assert_int_equal(warnings("certificate.ends_soon"), 2);
    cert_watch_look(w, now + 201 * day);
    assert_int_equal(warnings("certificate.ended"), 1);
    struct x509_pair brief = make("brief", 4);          /* one that renews itself: its last quarter */
    put(cert_path, brief.cert_pem);
    cert_watch_look(w, now);
    cert_watch_look(w, now + 2 * day);
    assert_int_equal(warnings("certificate.ends_soon"), 2);
    cert_watch_look(w, now + 3 * day + day / 2);
    assert_int_equal(warnings("certificate.ends_soon"), 3);
    cert_watch_free(w);
    log_setup("test", LOG_INFO, LOGFMT, STDERR_FILENO);
    fclose(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_pair_is_taken_up_when_it_is_whole),
                                        cmocka_unit_test(an_end_is_told_of_thirty_days_before) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
