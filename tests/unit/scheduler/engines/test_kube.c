/* SPDX-License-Identifier: Apache-2.0 */
/* test_kube.c - what goes over the wire: paths, who is calling, in which order, and what is taken back when a server did not keep
 * what was sent. The answers of a real kube-apiserver are tests/engines'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/scheduler/engines/kube_kit.h"
#include "scheduler/engines/engine.h"

static struct err e;
static char folder[] = "/tmp/falaj-kube-XXXXXX", address[64];

enum { CALLS = 8, ASKED_MAX = 32 << 10 };
#define JOBS "/apis/batch/v1/namespaces/jobs/jobs"
#define SECRETS "/api/v1/namespaces/jobs/secrets"
#define GONE "{\"kind\":\"Status\",\"reason\":\"NotFound\"}"

/* An answer of NULL is the body that was sent, without `dropped`. */
static struct {
    int listener;
    size_t n;
    struct { int status; const char *answer; } will[CALLS];
    const char *dropped;
    char asked[CALLS][ASKED_MAX];
    pthread_t thread;
} server;

static size_t length_of(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length: ");
    return at ? strtoul(at + 18, NULL, 10) : 0;
}

static void answer_one(size_t i, int fd)
{
    char *asked = server.asked[i];
    const char *body = NULL;
    size_t n = 0;
    memset(asked, 0, ASKED_MAX);
    while (!(body = strstr(asked, "\r\n\r\n")) || strlen(body + 4) < length_of(asked)) {
        const ssize_t got = read(fd, asked + n, ASKED_MAX - 1 - n);
        if (got <= 0)
            return;
        n += (size_t)got;
    }
    char *text = strdup(server.will[i].answer ? server.will[i].answer : body + 4);
    char *at = !server.will[i].answer && server.dropped ? strstr(text, server.dropped) : NULL;
    if (at)
        memmove(at, at + strlen(server.dropped), strlen(at + strlen(server.dropped)) + 1);
    dprintf(fd, "HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %zu\r\nContent-Type: application/json\r\n\r\n%s",
            server.will[i].status, strlen(text), text);
    free(text);
}

static void *serve(void *p)
{
    (void)p;
    for (size_t i = 0; i < server.n; i++) {
        const int fd = accept(server.listener, NULL, NULL);
        assert_true(fd >= 0);
        answer_one(i, fd);
        close(fd);
    }
    return NULL;
}

#define WILL(...)                                                                                              \
    do {                                                                                                       \
        const struct { int status; const char *answer; } will_rows[] = { __VA_ARGS__ };                             \
        server.n = sizeof will_rows / sizeof *will_rows;                                                                 \
        memcpy(server.will, will_rows, sizeof will_rows);                                                                \
        assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);                                \
    } while (0)

static void asked(size_t i, const char *line)
{
    if (i == 0)
        pthread_join(server.thread, NULL);
    if (strncmp(server.asked[i], line, strlen(line)) != 0)
        fail_msg("%zu: %.120s", i, server.asked[i]);
}

static struct engine_call call_of(void)
{
    return (struct engine_call){ .arena = arena, .address = str_c(address), .account = STR("jobs"), .credential = STR("a.b.c") };
}

static void health_is_a_submission_that_is_not_stored(void **state)
{
    (void)state;
    struct engine_ask ask = kube_ask();
    struct engine_call c = call_of();
    c.probe = &ask;
    WILL({ 201, NULL });
    assert_int_equal(engine_kube.health(&c, &e), ERR_OK);
    asked(0, "POST " JOBS "?fieldValidation=Strict&dryRun=All HTTP/1.1\r\n");
    assert_non_null(strstr(server.asked[0], "Authorization: Bearer a.b.c\r\n"));
    ask.place = STR("night");
    server.dropped = "\"suspend\":true,";               /* as Kubernetes 1.20 does */
    WILL({ 201, NULL });
    assert_int_equal(engine_kube.health(&c, &e), ERR_INVALID);
    asked(0, "POST ");
    server.dropped = NULL;
    assert_non_null(strstr(e.msg, "spec.suspend: a queue needs Kubernetes 1.24"));
    WILL({ 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"jobs.batch is forbidden\"}" });
    assert_int_equal(engine_kube.health(&c, &e), ERR_INVALID);      /* it answers: what is there can be looked at */
    asked(0, "POST ");
    assert_non_null(strstr(e.msg, "Forbidden, jobs.batch is forbidden"));
    c.address = STR("unix:/nowhere/at/all");
    assert_int_equal(engine_kube.health(&c, &e), ERR_UNAVAILABLE);
}

static void a_run_is_a_secret_and_then_a_job(void **state)
{
    (void)state;
    const struct engine_call c = call_of();
    const struct engine_ask ask = kube_ask();
    struct str id;
    WILL({ 201, "{}" }, { 201, NULL });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_OK);
    asked(0, "POST " SECRETS " HTTP/1.1\r\n");
    asked(1, "POST " JOBS "?fieldValidation=Strict HTTP/1.1\r\n");
    assert_non_null(strstr(server.asked[0], "flj_join_one"));
    assert_null(strstr(server.asked[1], "flj_join_one"));
    assert_true(str_eq(id, ask.name));
}

static void what_was_not_kept_as_sent_is_taken_back(void **state)
{
    (void)state;
    const struct engine_call c = call_of();
    struct engine_ask ask = kube_ask();
    struct str id;
    ask.place = STR("night");
    server.dropped = "\"suspend\":true,";
    WILL({ 201, "{}" }, { 201, NULL }, { 200, "{}" }, { 404, GONE });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_INVALID);
    asked(0, "POST " SECRETS);
    asked(2, "DELETE " JOBS "/" NAME " HTTP/1.1\r\n");
    asked(3, "DELETE " SECRETS "/" NAME " HTTP/1.1\r\n");
    assert_non_null(strstr(server.asked[2], "Foreground"));
    assert_non_null(strstr(e.msg, "spec.suspend"));
    WILL({ 201, "{}" }, { 201, NULL }, { 500, "{}" });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_UPSTREAM);          /* it may be there still */
    asked(0, "POST ");
    server.dropped = NULL;
    WILL({ 201, "{}" }, { 422, "{\"kind\":\"Status\",\"reason\":\"Invalid\"}" }, { 404, GONE }, { 200, "{}" });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_INVALID);
    asked(0, "POST ");
    asked(3, "DELETE " SECRETS "/" NAME);
    WILL({ 201, "{}" }, { 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}" });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_UPSTREAM);          /* and nothing is removed */
    asked(0, "POST ");
    WILL({ 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\"}" });
    assert_int_equal(engine_kube.submit(&c, &ask, &id, &e), ERR_INVALID);
    asked(0, "POST " SECRETS);
}

static void lists_are_of_what_is_ours_and_stored(void **state)
{
    (void)state;
    const struct engine_call c = call_of();
    struct slice rows;
    WILL({ 200, "{\"items\":[{\"metadata\":{\"labels\":{\"falaj/run\":\"" NAME "\"}},\"status\":{\"phase\":\"Running\"}}]}" },
         { 200, "{\"items\":[{\"metadata\":{\"name\":\"" NAME "\",\"namespace\":\"jobs\"}}]}" });
    assert_int_equal(engine_kube.list(&c, &rows, &e), ERR_OK);
    asked(0, "GET /api/v1/namespaces/jobs/pods?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dfalaj HTTP/1.1\r\n");
    asked(1, "GET " JOBS "?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dfalaj HTTP/1.1\r\n");
    assert_int_equal(rows.n, 1);
    assert_int_equal(((const struct engine_seen *)rows.items)->state, ENGINE_RUNS);
    WILL({ 200, "{\"items\":[]}" }, { 500, "{}" });
    assert_int_equal(engine_kube.list(&c, &rows, &e), ERR_UPSTREAM);
    asked(0, "GET ");
    WILL({ 404, GONE }, { 404, GONE });
    assert_int_equal(engine_kube.cancel(&c, STR(NAME), &e), ERR_OK);
    asked(0, "DELETE " JOBS "/" NAME);
    WILL({ 200, "{}" }, { 403, "{}" });
    assert_int_equal(engine_kube.cancel(&c, STR(NAME), &e), ERR_UPSTREAM);
    asked(0, "DELETE ");
}

static int setup(void **state)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    arena_up(state);
    assert_non_null(mkdtemp(folder));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/s", folder);
    snprintf(address, sizeof address, "unix:%s/s", folder);
    server.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    return bind(server.listener, (struct sockaddr *)&at, sizeof at) || listen(server.listener, 4);
}

static int teardown(void **state)
{
    close(server.listener);
    unlink(address + 5);
    rmdir(folder);
    return arena_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_is_a_submission_that_is_not_stored), cmocka_unit_test(a_run_is_a_secret_and_then_a_job),
        cmocka_unit_test(what_was_not_kept_as_sent_is_taken_back), cmocka_unit_test(lists_are_of_what_is_ours_and_stored),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
