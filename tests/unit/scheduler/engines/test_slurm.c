/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm.c - what goes over the wire: paths, who is calling, and that a server which says nothing is given up. The answers of
 * a real slurmrestd are tests/engines'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/scheduler/engines/engine_kit.h"
#include "scheduler/engines/engine.h"

static struct err e;
static char folder[] = "/tmp/falaj-slurm-XXXXXX", address[64];

static struct {
    int listener, status;
    const char *answer;                 /* NULL: none */
    char asked[8192];
    pthread_t thread;
} server;

static void *serve(void *p)
{
    (void)p;
    const int fd = accept(server.listener, NULL, NULL);
    size_t n = 0;
    assert_true(fd >= 0);
    memset(server.asked, 0, sizeof server.asked);
    while (!strstr(server.asked, "\r\n\r\n") || (strstr(server.asked, "POST") && !strstr(server.asked, "\"script\""))) {
        const ssize_t got = read(fd, server.asked + n, sizeof server.asked - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    if (server.answer)
        dprintf(fd, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nContent-Type: application/json\r\n\r\n%s", server.status,
                strlen(server.answer), server.answer);
    else
        (void)!read(fd, server.asked + n, 1);       /* until the caller has gone */
    close(fd);
    return NULL;
}

static void will_answer(int status, const char *answer)
{
    server.status = status;
    server.answer = answer;
    assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
}

static const char *asked(void)
{
    pthread_join(server.thread, NULL);
    return server.asked;
}

static struct engine_call call_of(void)
{
    return (struct engine_call){ .arena = arena, .address = str_c(address), .account = STR("svc"), .credential = STR("a.b.c") };
}

static void each_call_says_who_and_where(void **state)
{
    (void)state;
    const struct engine_call c = call_of();
    struct engine_seen seen;
    struct slice rows;
    struct str id;
    bool found;
    will_answer(200, "{\"errors\":[],\"pings\":[{\"ping\":\"UP\"}]}");
    assert_int_equal(engine_slurm.health(&c, &e), ERR_OK);
    assert_true(strstr(asked(), "GET /slurm/v0.0.38/ping HTTP/1.1\r\n") == server.asked);
    assert_non_null(strstr(server.asked, "X-SLURM-USER-NAME: svc\r\n"));
    assert_non_null(strstr(server.asked, "X-SLURM-USER-TOKEN: a.b.c\r\n"));
    const struct engine_ask ask = { .name = STR("falaj-" RUN "-1"), .comment = STR("c"), .script = STR("#!/bin/sh\n"),
                                    .folder = STR("/tmp"), .machines = 1, .minutes = 9 };
    will_answer(200, "{\"errors\":[],\"job_id\":31}");
    assert_int_equal(engine_slurm.submit(&c, &ask, &id, &e), ERR_OK);
    assert_true(strstr(asked(), "POST /slurm/v0.0.38/job/submit ") == server.asked && str_eq_c(id, "31"));
    will_answer(200, "{\"errors\":[],\"jobs\":[{\"job_id\":31,\"name\":\"falaj-" RUN "-1\",\"job_state\":\"RUNNING\"}]}");
    assert_int_equal(engine_slurm.look(&c, id, &seen, &found, &e), ERR_OK);
    assert_true(strstr(asked(), "GET /slurm/v0.0.38/job/31 ") == server.asked && found && seen.state == ENGINE_RUNS);
    will_answer(200, "{\"errors\":[],\"jobs\":[{\"job_id\":31,\"name\":\"of another\",\"job_state\":\"RUNNING\"}]}");
    assert_int_equal(engine_slurm.look(&c, id, &seen, &found, &e), ERR_OK);
    asked();
    assert_false(found);                            /* the id was given to somebody else's */
    will_answer(200, "{\"errors\":[],\"jobs\":[]}");
    assert_int_equal(engine_slurm.list(&c, &rows, &e), ERR_OK);
    assert_true(strstr(asked(), "GET /slurm/v0.0.38/jobs ") == server.asked && rows.n == 0);
    will_answer(200, "{\"errors\":[]}");
    assert_int_equal(engine_slurm.cancel(&c, id, &e), ERR_OK);
    assert_true(strstr(asked(), "DELETE /slurm/v0.0.38/job/31 ") == server.asked);
}

static bool gone_soon(void *ctx)
{
    return ++*(int *)ctx > 2;
}

static void who_says_nothing_is_given_up(void **state)
{
    (void)state;
    int asked_times = 0;
    struct engine_call c = call_of();
    c.is_unwanted = gone_soon;
    c.ctx = &asked_times;
    will_answer(0, NULL);
    assert_int_equal(engine_slurm.health(&c, &e), ERR_UNAVAILABLE);
    asked();
    c = call_of();
    c.address = STR("unix:/nowhere/at/all");
    assert_int_equal(engine_slurm.health(&c, &e), ERR_UNAVAILABLE);
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
        cmocka_unit_test(each_call_says_who_and_where), cmocka_unit_test(who_says_nothing_is_given_up),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
