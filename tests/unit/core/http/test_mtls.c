/* SPDX-License-Identifier: Apache-2.0 */
/* test_mtls.c - a TLS listener that demands client certificates, against every kind of bad one, made with openssl. */
#include "net.h"

#include "core/base/cleanup.h"
#include "core/http/client.h"

#define IDENTITY "spiffe://falaj.test/worker/pool/w1"

static char dir[] = "/tmp/mtls-test-XXXXXX";
static struct http_server *server;
static struct arena *arena;
static _Atomic int handled;

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *fmt, ...)
{
    char cmd[2048];
    int n = snprintf(cmd, sizeof cmd, "cd %s && ( ", dir);
    va_list ap;
    va_start(ap, fmt);
    n += vsnprintf(cmd + n, sizeof cmd - (size_t)n, fmt, ap);
    va_end(ap);
    snprintf(cmd + n, sizeof cmd - (size_t)n, " ) >>log 2>&1");
    if (system(cmd) != 0)
        fail_msg("failed: %s", cmd);
}

/* A leaf NAME signed by CA with the extensions given; extra: more options of `openssl x509`/`ca`. */
static void make_leaf(const char *name, const char *ca, const char *ext, const char *days)
{
    run("openssl ecparam -name prime256v1 -genkey -noout -out %s.key && openssl req -new -key %s.key -subj /CN=%s -out %s.csr && "
        "printf '%s' > %s.ext && openssl x509 -req -in %s.csr -CA %s.pem -CAkey %s.key -CAcreateserial -days %s -extfile %s.ext "
        "-out %s.pem", name, name, name, name, ext, name, name, ca, ca, days, name, name);
}

static void make_ca(const char *name)
{
    run("openssl ecparam -name prime256v1 -genkey -noout -out %s.key && openssl req -x509 -new -key %s.key -subj /CN=%s -days 2 "
        "-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign -out %s.pem", name, name, name, name);
}

static const char *path_of(const char *name, const char *ext)
{
    return arena_printf(arena, "%s/%s.%s", dir, name, ext);
}

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    const struct http_request *r = http_exchange_request(x);
    struct buf b = BUF(4096);
    buf_printf(&b, "%.*s %zu", STR_ARG(r->peer_identity), r->peer_fingerprint.len);
    http_reply_buf(x, 200, STR("text/plain"), NULL, 0, &b);
}

static void reject(void *ctx, struct http_exchange *x, enum errc code, const char *why)
{
    (void)ctx;
    net_reply_text(x, err_row(code)->http, why);
}

static struct http_server *serve(bool require)
{
    return net_serve((struct http_server_options){ .on_request = on_request, .reject = reject,
                                                   .tls_cert_file = path_of("server", "pem"), .tls_key_file = path_of("server", "key"),
                                                   .tls_client_ca_file = path_of("ca", "pem"), .require_client_cert = require });
}

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    arena = arena_new(1 << 20);
    make_ca("ca");
    make_ca("other");
    make_leaf("server", "ca", "subjectAltName=DNS:api.falaj.internal,IP:127.0.0.1\\nextendedKeyUsage=serverAuth", "2");
    make_leaf("good", "ca", "subjectAltName=URI:" IDENTITY "\\nextendedKeyUsage=clientAuth", "2");
    make_leaf("stranger", "other", "subjectAltName=URI:" IDENTITY "\\nextendedKeyUsage=clientAuth", "2");
    make_leaf("wrongeku", "ca", "subjectAltName=URI:" IDENTITY "\\nextendedKeyUsage=serverAuth", "2");
    make_leaf("noeku", "ca", "subjectAltName=URI:" IDENTITY, "2");
    make_leaf("twouris", "ca", "subjectAltName=URI:" IDENTITY ",URI:spiffe://falaj.test/x\\nextendedKeyUsage=clientAuth", "2");
    make_leaf("nouri", "ca", "subjectAltName=DNS:worker\\nextendedKeyUsage=clientAuth", "2");
    run("mkdir -p db && touch db/index && printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=db/index\\nnew_certs_dir=db\\n"
        "default_md=sha256\\npolicy=p\\nrand_serial=yes\\n[p]\\ncommonName=supplied\\n' > ca.cnf && "
        "openssl ecparam -name prime256v1 -genkey -noout -out expired.key && "
        "openssl req -new -key expired.key -subj /CN=expired -out expired.csr && "
        "openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -in expired.csr -extfile good.ext -notext "
        "-startdate 20200101000000Z -enddate 20210101000000Z -out expired.pem");
    run("cp stranger.key selfsigned.key && openssl req -x509 -new -key selfsigned.key -subj /CN=me -days 2 "
        "-addext subjectAltName=URI:" IDENTITY " -addext extendedKeyUsage=clientAuth -out selfsigned.pem");
    server = serve(true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_server_free(server);
    arena_free(arena);
    char cmd[64];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static struct http_client *client(const struct http_server *s, const char *cert, const char *ca)
{
    int port = http_server_port(s);
    struct http_client_options o = { .base_url = arena_printf(arena, "https://api.falaj.internal:%d", port),
                                     .resolve = arena_printf(arena, "api.falaj.internal:%d:127.0.0.1", port),
                                     .ca_file = path_of(ca, "pem") };
    if (cert) {
        o.cert_file = path_of(cert, "pem");
        o.key_file = path_of(cert, "key");
    }
    struct http_client *c = http_client_new(&o, NULL);
    assert_non_null(c);
    return c;
}

static void good_certificates_give_their_identity(void **state)
{
    (void)state;
    CLEANUP(http_client_freep) struct http_client *c = client(server, "good", "ca");
    for (int i = 0; i < 3; i++) {
        struct http_result r;
        struct err e = { 0 };
        if (http_client_call(c, arena, &(struct http_call){ .path = "/x" }, &r, &e) != ERR_OK)
            fail_msg("%s (%s)", e.msg, e.detail);
        assert_int_equal(r.status, 200);
        assert_true(str_eq_c(r.body, IDENTITY " 64"));
    }
}

static void bad_certificates_are_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = { NULL, "stranger", "selfsigned", "expired", "wrongeku", "noeku", "twouris", "nouri" };
    int before = atomic_load(&handled);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        CLEANUP(http_client_freep) struct http_client *c = client(server, BAD[i], "ca");
        struct http_result r;
        struct err e = { 0 };
        enum errc rc = http_client_call(c, arena, &(struct http_call){ .path = "/x" }, &r, &e);
        if (rc != ERR_OK || r.status != 401 || !str_eq_c(http_result_header(&r, "Connection"), "close"))
            fail_msg("%s: rc %d %s %s", BAD[i] ? BAD[i] : "none", rc, e.msg, e.detail);
    }
    assert_int_equal(atomic_load(&handled), before);
}

static void the_client_checks_the_server(void **state)
{
    (void)state;
    struct http_result r;
    CLEANUP(http_client_freep) struct http_client *other_ca = client(server, "good", "other");
    assert_int_equal(http_client_call(other_ca, arena, &(struct http_call){ .path = "/x" }, &r, NULL), ERR_UNAVAILABLE);
    struct http_client_options o = { .base_url = arena_printf(arena, "https://wrong.name:%d", http_server_port(server)),
                                     .resolve = arena_printf(arena, "wrong.name:%d:127.0.0.1", http_server_port(server)),
                                     .ca_file = path_of("ca", "pem") };
    CLEANUP(http_client_freep) struct http_client *wrong = http_client_new(&o, NULL);
    assert_int_equal(http_client_call(wrong, arena, &(struct http_call){ .path = "/x" }, &r, NULL), ERR_UNAVAILABLE);
    o.no_verify_host = true;
    CLEANUP(http_client_freep) struct http_client *lax = http_client_new(&o, NULL);
    assert_int_equal(http_client_call(lax, arena, &(struct http_call){ .path = "/x" }, &r, NULL), ERR_OK);
    assert_int_equal(r.status, 401);
}

static void certificates_may_be_optional(void **state)
{
    (void)state;
    struct http_server *s = serve(false);
    static const struct {
        const char *cert, *body;
    } ROWS[] = { { NULL, " 0" }, { "stranger", " 0" }, { "twouris", " 0" }, { "good", IDENTITY " 64" } };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        CLEANUP(http_client_freep) struct http_client *c = client(s, ROWS[i].cert, "ca");
        struct http_result r;
        assert_int_equal(http_client_call(c, arena, &(struct http_call){ .path = "/x" }, &r, NULL), ERR_OK);
        assert_true(str_eq_c(r.body, ROWS[i].body));
    }
    http_server_free(s);
}

static void only_tls_13_is_spoken(void **state)
{
    (void)state;
    char cmd[256];
    for (int v = 2; v <= 3; v++) {
        snprintf(cmd, sizeof cmd, "openssl s_client -connect 127.0.0.1:%d -tls1_%d </dev/null >/dev/null 2>&1", http_server_port(server), v);
        assert_int_equal(system(cmd) == 0, v == 3);
    }
}

static struct http_client *trusting(const struct http_server *s, const char *ca)
{
    return client(s, "good", ca);
}

static enum errc ask(struct http_client *c)
{
    struct http_result r;
    struct err e = { 0 };
    return http_client_call(c, arena, &(struct http_call){ .path = "/x" }, &r, &e);
}

static struct str pem_of(const char *name)
{
    char *text = arena_alloc(arena, 64 * 1024);
    FILE *f = fopen(path_of(name, "pem"), "r");
    assert_non_null(f);
    size_t n = fread(text, 1, 64 * 1024, f);
    assert_int_equal(fclose(f), 0);
    return str_n(text, n);
}

/* The other authority's certificate of the same key tells who has been shown which. */
static void a_renewed_certificate_is_shown_to_new_connections_only(void **state)
{
    (void)state;
    struct err e = { 0 };
    run("openssl req -new -key server.key -subj /CN=server -out again.csr && openssl x509 -req -in again.csr -CA other.pem -CAkey other.key "
        "-CAcreateserial -days 2 -extfile server.ext -out again.pem");
    struct http_server *s = serve(true);
    CLEANUP(http_client_freep) struct http_client *old = trusting(s, "ca"), *early = trusting(s, "other"), *late = NULL, *stale = NULL;
    assert_int_equal(ask(old), ERR_OK);
    assert_int_not_equal(ask(early), ERR_OK);
    assert_int_equal(http_server_renew(s, pem_of("good"), &e), ERR_INVALID);        /* of another key */
    assert_int_equal(http_server_renew(s, STR("junk"), &e), ERR_INVALID);
    assert_int_not_equal(ask(early), ERR_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(http_server_renew(s, pem_of("again"), &e), ERR_OK);
        http_client_free(late);
        late = trusting(s, "other");
        assert_int_equal(ask(late), ERR_OK);
        assert_int_equal(ask(old), ERR_OK);         /* it lives on */
    }
    stale = trusting(s, "ca");
    assert_int_not_equal(ask(stale), ERR_OK);
    assert_int_equal(http_server_renew(s, pem_of("server"), &e), ERR_OK);
    assert_int_equal(ask(stale), ERR_OK);
    CLEANUP(http_client_freep) struct http_client *nobody = client(s, NULL, "ca"), *stranger = client(s, "stranger", "ca");
    struct http_result r = { 0 };
    assert_true(http_client_call(nobody, arena, &(struct http_call){ .path = "/x" }, &r, &e) != ERR_OK || r.status == 401);
    r.status = 0;
    assert_true(http_client_call(stranger, arena, &(struct http_call){ .path = "/x" }, &r, &e) != ERR_OK || r.status == 401);
    http_server_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_certificates_give_their_identity),
        cmocka_unit_test(bad_certificates_are_refused),
        cmocka_unit_test(the_client_checks_the_server),
        cmocka_unit_test(certificates_may_be_optional),
        cmocka_unit_test(only_tls_13_is_spoken),
        cmocka_unit_test(a_renewed_certificate_is_shown_to_new_connections_only),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
