/* SPDX-License-Identifier: Apache-2.0 */
/* test_client.c - calls against a scripted server: retries with one idempotency key, problems told, secrets masked. */
#include "with_cli.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/client.h"

struct server {
    const char *const *replies;     /* one per connection; NULL ends */
    char seen[8][4096];
    int count, fd, port;
    pthread_t thread;
};

static void *serve(void *ctx)
{
    struct server *s = ctx;
    for (; s->replies[s->count]; s->count++) {
        int fd = accept(s->fd, NULL, NULL);
        char *seen = s->seen[s->count];
        size_t got = 0;
        while (got < 4095 && !strstr(seen, "\r\n\r\n")) {
            ssize_t n = read(fd, seen + got, 4095 - got);
            if (n <= 0)
                break;
            got += (size_t)n;
        }
        const char *reply = s->replies[s->count];
        if (write(fd, reply, strlen(reply)) < 0)
            break;
        shutdown(fd, SHUT_WR);
        for (char rest[256]; read(fd, rest, sizeof(rest)) > 0;)
            ;           /* unread bytes would turn the close into a reset, which eats the reply */
        close(fd);
    }
    return NULL;
}

static void server_start(struct server *s, struct with_cli *w, const char *const *replies)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    memset(s, 0, sizeof(*s));
    s->replies = replies;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->fd, 8), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &n), 0);
    with_cli_init(w);
    w->c.profile.url = arena_printf(w->c.arena, "http://127.0.0.1:%d", ntohs(at.sin_port));
    w->c.profile.token = "flj_pat_secret";
    pthread_create(&s->thread, NULL, serve, s);
}

static void server_stop(struct server *s, struct with_cli *w)
{
    pthread_join(s->thread, NULL);
    close(s->fd);
    with_cli_release(w);
}

#define REPLY(status, type, extra, body) "HTTP/1.1 " status "\r\nContent-Type: " type "\r\nConnection: close\r\n" extra "\r\n" body

static void key_of(const char *request, char out[64])
{
    const char *at = strstr(request, "Idempotency-Key: ");
    assert_non_null(at);
    snprintf(out, 64, "%.*s", (int)strcspn(at, "\r"), at);
}

static void retries_keep_the_key(void **state)
{
    (void)state;
    static const char *const replies[] = { REPLY("503 Unavailable", "application/problem+json", "Retry-After: 0\r\n", "{}"), "",
                                           REPLY("201 Created", "application/json", "", "{\"job_id\":\"job_1\"}"), NULL };
    struct server s;
    struct with_cli w;
    struct api_reply r;
    char first[64], second[64], third[64];
    server_start(&s, &w, replies);
    if (api_do(&w.c, &(struct api_req){ .method = "POST", .path = "/v1/jobs", .body = STR("{}") }, &r) != CLI_OK)
        fail_msg("%s", with_cli_err(&w));
    assert_string_equal(jval_str(jval_get(r.json, "job_id")).ptr, "job_1");
    key_of(s.seen[0], first);
    key_of(s.seen[1], second);
    key_of(s.seen[2], third);
    assert_string_equal(first, second);
    assert_string_equal(first, third);
    assert_true(strlen(first) > strlen("Idempotency-Key: cli-") + 20);
    assert_non_null(strstr(s.seen[0], "Authorization: Bearer flj_pat_secret"));
    server_stop(&s, &w);
}

static void three_tries_and_no_more(void **state)
{
    (void)state;
    static const char *const replies[] = { REPLY("503 U", "application/json", "Retry-After: 0\r\n", "{}"), REPLY("503 U", "application/json", "Retry-After: 0\r\n", "{}"),
                                           REPLY("503 U", "application/json", "Retry-After: 0\r\n", "{}"), NULL };
    struct server s;
    struct with_cli w;
    struct api_reply r;
    server_start(&s, &w, replies);
    assert_int_equal(api_get(&w.c, "/v1/jobs", &r), CLI_NETWORK);
    server_stop(&s, &w);
}

static void a_member_is_told_as_it_is_typed(void **state)
{
    (void)state;
    static const struct {
        const char *group, *name, *pointer, *says;
    } cases[] = {
        { "node", "undrain", "/reason", "  at /reason (--reason)\n" },
        { "quota", "set", "/resource", "  at /resource\n" },                          /* an argument */
        { "notification", "set", "/recipients/0", "  at /recipients/0 (--recipients)\n" },
        { "job", "get", "/page", "  at /page\n" },                                    /* no body */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct with_cli w;
        struct err e;
        with_cli_init(&w);
        struct api_reply r = { .status = 400 };
        const char *text = arena_printf(w.c.arena, "{\"detail\":\"no\",\"errors\":[{\"pointer\":\"%s\",\"detail\":\"no\"}]}",
                                        cases[i].pointer);
        w.c.cmd = command_find(cases[i].group, cases[i].name);
        assert_int_equal(jval_parse(w.c.arena, str_c(text), 0, &r.json, &e), ERR_OK);
        api_tell(&w.c, &r);
        if (!strstr(with_cli_err(&w), cases[i].says))
            fail_msg("%s does not say %s", w.err, cases[i].says);
        with_cli_release(&w);
    }
}

static void problem_gives(const char *reply, int code, const char *says)
{
    const char *replies[] = { reply, NULL };
    struct server s;
    struct with_cli w;
    struct api_reply r;
    server_start(&s, &w, replies);
    assert_int_equal(api_get(&w.c, "/v1/jobs/x", &r), code);
    if (!strstr(with_cli_err(&w), says))
        fail_msg("\"%s\" is not in: %s", says, w.err);
    server_stop(&s, &w);
}

static void problems_are_told(void **state)
{
    (void)state;
#define PROBLEM(status, code, detail) \
    REPLY(status, "application/problem+json", "", "{\"code\":\"" code "\",\"detail\":\"" detail "\",\"request_id\":\"req_7\",\"errors\":[{\"pointer\":\"/gpus\",\"detail\":\"too many\"}]}")
    problem_gives(PROBLEM("409 Conflict", "quota_exceeded", "No jobs left"), CLI_QUOTA, "falaj: No jobs left\n  /gpus: too many\n");
    problem_gives(PROBLEM("409 Conflict", "conflict", "It runs"), CLI_CONFLICT, "request id: req_7");
    problem_gives(PROBLEM("404 Not Found", "not_found", "No such job"), CLI_NOT_FOUND, "falaj: No such job");
    problem_gives(PROBLEM("401 U", "unauthenticated", "Who?"), CLI_LOGIN, "the token is not accepted");
    problem_gives(PROBLEM("403 F", "forbidden", "No"), CLI_FORBIDDEN, "falaj whoami");
    problem_gives(PROBLEM("429 R", "rate_limited", "Slow"), CLI_RATE, "wait a minute");
    problem_gives(PROBLEM("400 B", "something_new", "Bad"), CLI_USAGE, "falaj: Bad");
    problem_gives(REPLY("500 X", "text/plain", "", "boom"), CLI_FAILED, "the API answered with status 500");
    problem_gives(REPLY("400 B", "application/json", "", "{\"error\":\"shape\"}"), CLI_USAGE, "falaj: shape");
}

static void debug_masks_secrets(void **state)
{
    (void)state;
    static const char *const replies[] = { REPLY("201 Created", "application/json", "", "{\"token\":\"flj_pat_shownonce\",\"name\":\"x\"}"), NULL };
    struct server s;
    struct with_cli w;
    struct api_reply r;
    server_start(&s, &w, replies);
    w.c.is_debug = true;
    assert_int_equal(api_do(&w.c, &(struct api_req){ .method = "POST", .path = "/v1/api-tokens", .body = STR("{}") }, &r), CLI_OK);
    assert_null(strstr(with_cli_err(&w), "secret"));
    assert_null(strstr(w.err, "shownonce"));
    assert_non_null(strstr(w.err, "Bearer ***"));
    assert_non_null(strstr(w.err, "\"name\":\"x\""));
    server_stop(&s, &w);
}

static void names_are_looked_up_over_pages(void **state)
{
    (void)state;
    static const char *const replies[] = { REPLY("200 OK", "application/json", "", "{\"data\":[{\"job_id\":\"job_1\",\"name\":\"a\"}],\"next_page_token\":\"p+2\"}"),
                                           REPLY("200 OK", "application/json", "", "{\"data\":[{\"job_id\":\"job_2\",\"name\":\"b\"}]}"), NULL };
    static const struct noun noun = { "job", "job_", "/v1/jobs", "job_id" };
    struct server s;
    struct with_cli w;
    const char *id;
    server_start(&s, &w, replies);
    assert_int_equal(api_resolve(&w.c, &noun, "job_9", &id), CLI_OK);
    assert_string_equal(id, "job_9");
    assert_int_equal(api_resolve(&w.c, &noun, "b", &id), CLI_OK);
    assert_string_equal(id, "job_2");
    assert_non_null(strstr(s.seen[1], "page_token=p%2B2"));
    server_stop(&s, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(retries_keep_the_key), cmocka_unit_test(three_tries_and_no_more), cmocka_unit_test(problems_are_told),
        cmocka_unit_test(a_member_is_told_as_it_is_typed),
                                        cmocka_unit_test(debug_masks_secrets), cmocka_unit_test(names_are_looked_up_over_pages) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
