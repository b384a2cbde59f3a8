/* SPDX-License-Identifier: Apache-2.0 */
/* test_tls.c - two threads at a pair of sockets: who is let in, what goes through, and what silence, strangers and closing
 * give. */
#include "crypto_test.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/crypto/tls.h"
#include "core/crypto/x509.h"

#define ZONE "spiffe://east"
static struct arena *a;
static struct x509_pair ca, other_ca, left, right, foreign, client_only, lease_left, lease_right;

static void issue(const struct x509_pair *by, const char *uri, bool both, struct x509_pair *ret)
{
    const struct x509_req r = { .common_name = STR("rank"), .uri_san = str_c(uri), .is_client = true, .is_server = both,
                                .lifetime_s = 3600 };
    OK(x509_issue(a, by, &r, clock_wall_us(&clock_system), ret, NULL));
}

static int make_all(void **st)
{
    (void)st;
    (void)signal(SIGPIPE, SIG_IGN);
    a = arena_new(1 << 22);
    int64_t now = clock_wall_us(&clock_system);
    OK(x509_make_ca(a, STR("gang"), STR(ZONE), now, 86400, &ca, NULL));
    OK(x509_make_ca(a, STR("gang"), STR(ZONE), now, 86400, &other_ca, NULL));
    issue(&ca, ZONE "/rank/0", true, &left);
    issue(&ca, ZONE "/rank/1", true, &right);
    issue(&ca, ZONE "/rank/1", false, &client_only);
    issue(&other_ca, ZONE "/rank/1", true, &foreign);
    for (int i = 0; i < 2; i++) {
        const struct x509_req r = { .common_name = STR("lease"), .uri_san = i ? STR(ZONE "/rank/1") : STR(ZONE "/rank/0"),
                                    .is_server = true, .lifetime_s = 3600 };
        OK(x509_issue(a, &ca, &r, now, i ? &lease_right : &lease_left, NULL));
    }
    return 0;
}

static int drop_all(void **st)
{
    (void)st;
    arena_free(a);
    return 0;
}

struct side {
    int fd;
    bool is_server, is_silent, drips, closes;
    int silence_ms;                     /* 0: longer than any load lasts */
    struct tls_identity own;
    struct str name;                    /* that is let in */
    enum errc rc;
    struct err err;
    unsigned char got[100000];
};

static void fill(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + seed);
}

static enum errc talk(struct side *s, struct tls *t)
{
    unsigned char *own = malloc(sizeof s->got);
    enum errc rc = ERR_OK;
    fill(own, sizeof s->got, s->is_server);
    if (s->is_server)
        rc = tls_write(t, own, sizeof s->got, &s->err);
    if (rc == ERR_OK)
        rc = tls_read(t, s->got, sizeof s->got, &s->err);
    if (rc == ERR_OK && !s->is_server)
        rc = tls_write(t, own, sizeof s->got, &s->err);
    free(own);
    return rc;
}

static void *play(void *arg)
{
    struct side *s = arg;
    struct tls *t;
    size_t which = 7;
    if (s->is_silent) {
        char end;
        if (s->drips)
            (void)!send(s->fd, "\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", 9, MSG_NOSIGNAL);
        while (s->drips && poll(NULL, 0, 20) == 0 && send(s->fd, "", 1, MSG_NOSIGNAL) == 1)
            ;
        (void)!read(s->fd, &end, 1);            /* takes one byte and says nothing until the other side has closed */
        while (read(s->fd, &end, 1) > 0)
            ;
        close(s->fd);
        return NULL;
    }
    s->rc = tls_open(s->fd, s->is_server, &s->own, &s->name, 1, s->silence_ms ? s->silence_ms : 60000, &t, &which, &s->err);
    if (s->rc != ERR_OK)
        return NULL;
    if (!s->closes)
        s->rc = which == 0 ? talk(s, t) : ERR_INTERNAL;
    tls_close(t);
    return NULL;
}

static void play_both(struct side *server, struct side *client)
{
    pthread_t t;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    server->fd = fd[0];
    client->fd = fd[1];
    server->is_server = true;
    assert_int_equal(pthread_create(&t, NULL, play, server), 0);
    play(client);
    pthread_join(t, NULL);
}

static struct tls_identity identity(const struct x509_pair *p, const struct x509_pair *by)
{
    return (struct tls_identity){ .cert_pem = p->cert_pem, .key_pem = p->key_pem, .ca_pem = by->cert_pem };
}

static void test_both_know_each_other(void **st)
{
    static struct side server, client;
    static unsigned char want[sizeof server.got];
    (void)st;
    server = (struct side){ .own = identity(&left, &ca), .name = STR(ZONE "/rank/1") };
    client = (struct side){ .own = identity(&right, &ca), .name = STR(ZONE "/rank/0") };
    play_both(&server, &client);
    if (server.rc != ERR_OK || client.rc != ERR_OK)
        fail_msg("%s / %s (%s)", server.err.msg, client.err.msg, client.err.detail);
    fill(want, sizeof want, 0);
    assert_memory_equal(server.got, want, sizeof want);
    fill(want, sizeof want, 1);
    assert_memory_equal(client.got, want, sizeof want);
}

static void refused(struct x509_pair *caller, const struct x509_pair *signed_by, const char *server_wants,
                    const char *client_wants, bool server_refuses, const char *why)
{
    static struct side server, client;
    server = (struct side){ .own = identity(&left, &ca), .name = str_c(server_wants) };
    client = (struct side){ .own = identity(caller, signed_by), .name = str_c(client_wants) };
    play_both(&server, &client);
    const struct side *judge = server_refuses ? &server : &client;
    if (judge->rc != ERR_FORBIDDEN || !strstr(judge->err.msg, why))
        fail_msg("%d: %s (%s)", judge->rc, judge->err.msg, judge->err.detail);
    assert_true(server.rc != ERR_OK && client.rc != ERR_OK);
}

static void test_others_are_refused(void **st)
{
    (void)st;
    refused(&right, &ca, ZONE "/rank/2", ZONE "/rank/0", true, "the peer is spiffe://east/rank/1, which is none of the 1");
    refused(&right, &ca, ZONE "/rank/1", ZONE "/rank/3", false, "the peer is spiffe://east/rank/0");
    refused(&foreign, &ca, ZONE "/rank/1", ZONE "/rank/0", true, "certificate does not hold");
    refused(&right, &other_ca, ZONE "/rank/1", ZONE "/rank/0", false, "certificate does not hold");
}

/* A certificate for clients alone is no server's. */
static void test_a_clients_certificate_serves_nobody(void **st)
{
    static struct side server, client;
    (void)st;
    server = (struct side){ .own = identity(&client_only, &ca), .name = STR(ZONE "/rank/0") };
    client = (struct side){ .own = identity(&left, &ca), .name = STR(ZONE "/rank/1") };
    play_both(&server, &client);
    assert_int_equal(client.rc, ERR_FORBIDDEN);
    assert_non_null(strstr(client.err.msg, "certificate does not hold"));
}

/* Certificates of leases are servers' alone: they call nobody but each other. */
static void test_peers_that_serve_know_each_other(void **st)
{
    static struct side server, client;
    (void)st;
    server = (struct side){ .own = identity(&lease_left, &ca), .name = STR(ZONE "/rank/1") };
    client = (struct side){ .own = identity(&lease_right, &ca), .name = STR(ZONE "/rank/0") };
    play_both(&server, &client);
    assert_int_equal(server.rc, ERR_FORBIDDEN);
    server = (struct side){ .own = identity(&lease_left, &ca), .name = STR(ZONE "/rank/1") };
    client = (struct side){ .own = identity(&lease_right, &ca), .name = STR(ZONE "/rank/0") };
    server.own.peers_serve = client.own.peers_serve = true;
    play_both(&server, &client);
    if (server.rc != ERR_OK || client.rc != ERR_OK)
        fail_msg("%s / %s (%s)", server.err.msg, client.err.msg, client.err.detail);
    client = (struct side){ .own = identity(&client_only, &ca), .name = STR(ZONE "/rank/0") };
    server = (struct side){ .own = identity(&lease_left, &ca), .name = STR(ZONE "/rank/1") };
    server.own.peers_serve = true;
    play_both(&server, &client);
    assert_int_equal(server.rc, ERR_FORBIDDEN);
}

static void test_silence_and_closing_are_told_apart(void **st)
{
    static struct side server, client;
    (void)st;
    server = (struct side){ .is_silent = true };
    client = (struct side){ .own = identity(&right, &ca), .name = STR(ZONE "/rank/0"), .silence_ms = 300 };
    play_both(&server, &client);
    assert_int_equal(client.rc, ERR_DEADLINE);
    assert_non_null(strstr(client.err.msg, "silent for 300 ms"));
    server = (struct side){ .is_silent = true, .drips = true };
    play_both(&server, &client);                /* a byte of a long record every 20 ms: silence never lasts */
    assert_int_equal(client.rc, ERR_DEADLINE);
    assert_non_null(strstr(client.err.msg, "or too slow"));
    server = (struct side){ .own = identity(&left, &ca), .name = STR(ZONE "/rank/1"), .closes = true };
    client = (struct side){ .own = identity(&right, &ca), .name = STR(ZONE "/rank/0") };
    play_both(&server, &client);
    assert_int_equal(client.rc, ERR_UPSTREAM);
}

static void test_a_key_of_another_is_refused_before_anything_is_sent(void **st)
{
    struct err e;
    struct tls *t;
    size_t which;
    struct tls_identity mixed = identity(&left, &ca);
    int fd[2];
    (void)st;
    mixed.key_pem = right.key_pem;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(tls_open(fd[0], false, &mixed, &STR(ZONE "/rank/1"), 1, 300, &t, &which, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "certificate, key and authority"));
    close(fd[1]);
}

/* A client that knows its server by host: `host` against a certificate for redis.example and 10.1.2.3. */
static void by_host(const char *host, const struct x509_pair *authority, bool has_own, enum errc want, const char *why)
{
    static struct side server, client;
    const struct x509_req r = { .common_name = STR("other.example"), .uri_san = STR(ZONE "/rank/9"), .is_server = true,
        .lifetime_s = 3600, .dns = (const char *const[]){ "redis.example", NULL },
        .ip = (const char *const[]){ "10.1.2.3", NULL } };
    struct x509_pair p;
    OK(x509_issue(a, &ca, &r, clock_wall_us(&clock_system), &p, NULL));
    server = (struct side){ .own = identity(&p, &ca), .name = STR(ZONE "/rank/1") };
    client = (struct side){ .own = { .ca_pem = authority->cert_pem, .host = host } };
    if (has_own) {
        client.own.cert_pem = right.cert_pem;
        client.own.key_pem = right.key_pem;
    }
    play_both(&server, &client);
    if (client.rc != want || (why && !strstr(client.err.msg, why)))
        fail_msg("%s: %s (%s)", host, client.err.msg, client.err.detail);
    assert_true((server.rc == ERR_OK) == (want == ERR_OK));
}

static void test_a_server_known_by_host(void **st)
{
    (void)st;
    by_host("redis.example", &ca, true, ERR_OK, NULL);
    by_host("10.1.2.3", &ca, true, ERR_OK, NULL);
    by_host("redis2.example", &ca, true, ERR_FORBIDDEN, "hostname mismatch");
    by_host("10.1.2.4", &ca, true, ERR_FORBIDDEN, "IP address mismatch");
    by_host("other.example", &ca, true, ERR_FORBIDDEN, "hostname mismatch");        /* a common name is no name */
    by_host("redis.example", &other_ca, true, ERR_FORBIDDEN, "certificate");
    by_host("redis.example", &ca, false, ERR_UPSTREAM, NULL);                       /* this server wants a certificate */
}

static void test_identities(void **st)
{
    struct err e;
    struct tls_identity own = identity(&left, &ca);
    (void)st;
    OK(tls_identity_check(&own, &e));
    own.host = "any";
    OK(tls_identity_check(&own, &e));
    own.key_pem = right.key_pem;
    assert_int_equal(tls_identity_check(&own, &e), ERR_INVALID);
    own.cert_pem = own.key_pem = STR_NULL;
    OK(tls_identity_check(&own, &e));
    own.ca_pem = str_fmt(a, "%.*s%.*s", STR_ARG(ca.cert_pem), STR_ARG(other_ca.cert_pem));
    OK(tls_identity_check(&own, &e));
    own.ca_pem = STR("no PEM");
    assert_int_equal(tls_identity_check(&own, &e), ERR_INVALID);
    own.ca_pem = STR_NULL;          /* the system's */
    OK(tls_identity_check(&own, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_known_by_host),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_both_know_each_other),
        cmocka_unit_test(test_others_are_refused),
        cmocka_unit_test(test_a_clients_certificate_serves_nobody),
        cmocka_unit_test(test_peers_that_serve_know_each_other),
        cmocka_unit_test(test_silence_and_closing_are_told_apart),
        cmocka_unit_test(test_a_key_of_another_is_refused_before_anything_is_sent),
    };
    return cmocka_run_group_tests(tests, make_all, drop_all);
}
