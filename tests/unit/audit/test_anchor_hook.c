/* SPDX-License-Identifier: Apache-2.0 */
/* test_anchor_hook.c - where a webhook may lead, what it carries and how it is signed; and the chain of the anchor file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include "audit/anchor.h"
#include "core/base/arena.h"
#include "core/crypto/hash.h"

static struct err e;
static struct anchor_head head = { .zone = "ae-dxb-1", .size = 41, .ts_us = 1000000, .body = { "{\"v\":1}", 7 } };

static void only_https_or_the_own_machine(void **state)
{
    static const char *const good[] = { "https://hooks.example.ae/x", "http://127.0.0.1:9/x", "http://localhost/", "http://[::1]:8080/a" };
    static const char *const bad[] = { "http://hooks.example.ae/", "http://127.0.0.1.example.ae/", "http://localhost.example/", "ftp://127.0.0.1/",
                                       "https://", "https://user@host/", "http://[::1].example/", "" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(audit_anchor_check_url(good[i], &e), ERR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(audit_anchor_check_url(bad[i], &e), ERR_UNPROCESSABLE);
}

struct server { int fd, calls, fail; char got[8192]; };

static void *serve(void *arg)
{
    struct server *s = arg;
    for (;;) {
        int c = accept(s->fd, NULL, NULL);
        size_t n = 0;
        if (c < 0)
            return NULL;
        memset(s->got, 0, sizeof s->got);
        while (n < sizeof s->got - 1) {
            ssize_t got = read(c, s->got + n, sizeof s->got - 1 - n);
            if (got <= 0)
                break;
            n += (size_t)got;
            char *body = strstr(s->got, "\r\n\r\n"), *length = strcasestr(s->got, "content-length: ");
            if (body && length && n >= (size_t)(body + 4 - s->got) + (size_t)atol(length + 16))
                break;
        }
        const char *answer = s->calls++ < s->fail ? "HTTP/1.1 500 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                                                  : "HTTP/1.1 204 ok\r\nConnection: close\r\n\r\n";
        (void)!write(c, answer, strlen(answer));
        close(c);
    }
}

static void header(const char *text, const char *name, char *out, size_t cap)
{
    const char *at = strcasestr(text, name);
    assert_non_null(at);
    at += strlen(name);
    size_t n = strcspn(at, "\r");
    assert_true(n < cap);
    memcpy(out, at, n);
    out[n] = 0;
}

static void a_head_arrives_signed_after_a_failure(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    struct server s = { .fd = socket(AF_INET, SOCK_STREAM, 0), .fail = 1 };
    struct arena *a = arena_new(8 << 20);
    char url[64], id[80], ts[32], sig[80], text[8192], want[64];
    uint8_t mac[32];
    pthread_t t;
    (void)state;
    assert_int_equal(bind(s.fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s.fd, 4), 0);
    getsockname(s.fd, (struct sockaddr *)&at, &len);
    pthread_create(&t, NULL, serve, &s);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/heads", ntohs(at.sin_port));
    assert_int_equal(audit_anchor_webhook(a, &head, url, "whsec_a2V5", 3, 5000000, &e), ERR_OK);
    assert_int_equal(s.calls, 2);
    assert_non_null(strstr(s.got, "POST /heads "));
    header(s.got, "webhook-id: ", id, sizeof id);
    header(s.got, "webhook-timestamp: ", ts, sizeof ts);
    header(s.got, "webhook-signature: v1,", sig, sizeof sig);
    snprintf(text, sizeof text, "%s.%s.%s", id, ts, strstr(s.got, "\r\n\r\n") + 4);
    hmac_sha256("key", 3, text, strlen(text), mac);
    base64_encode(mac, 32, want, false);
    assert_string_equal(sig, want);
    assert_string_equal(ts, "5");
    s.fail = 1000;
    assert_int_equal(audit_anchor_webhook(a, &head, url, "plain", 1, 5000000, &e), ERR_UPSTREAM);
    shutdown(s.fd, SHUT_RDWR);
    pthread_join(t, NULL);
    close(s.fd);
    arena_free(a);
}

static void lines_of_the_file_chain(void **state)
{
    char dir[] = "/tmp/anchor_XXXXXX", path[64], text[4096], hex[65];
    struct anchor_proof one, two, three;
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(audit_anchor_file(&head, dir, &one, &e), ERR_OK);
    assert_int_equal(audit_anchor_file(&head, dir, &two, &e), ERR_OK);
    snprintf(path, sizeof path, "%s/falaj-anchor-ae-dxb-1.jsonl", dir);
    FILE *f = fopen(path, "a");
    fputs("torn", f);           /* a crash in the middle of a line */
    fclose(f);
    assert_int_equal(audit_anchor_file(&head, dir, &three, &e), ERR_OK);
    f = fopen(path, "r");
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    hex_encode(one.bytes, 32, hex);
    assert_non_null(strstr(text, hex));         /* the second line names the first */
    hex_encode(two.bytes, 32, hex);
    assert_null(strstr(text, hex));             /* what followed the second was the torn one */
    assert_non_null(strstr(text, "\ntorn\n{\"v\":1,"));
    unlink(path);
    assert_int_equal(audit_anchor_file(&head, "/nowhere", &one, &e), ERR_IO);
    rmdir(dir);
}

static void no_zone_signs_without_a_key_service(void **state)
{
    struct anchor_proof proof = { .n = 1 };
    (void)state;
    assert_int_equal(audit_anchor_zone(&head, NULL, STR("ae-auh-1"), &proof, &e), ERR_UNAVAILABLE);
    assert_int_equal(proof.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_https_or_the_own_machine),
        cmocka_unit_test(a_head_arrives_signed_after_a_failure),
        cmocka_unit_test(lines_of_the_file_chain),
        cmocka_unit_test(no_zone_signs_without_a_key_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
