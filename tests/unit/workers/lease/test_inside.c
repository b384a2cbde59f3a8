/* SPDX-License-Identifier: Apache-2.0 */
/* test_inside.c - connections into a box, and the end of the program while somebody is inside. */
#include "inside_kit.h"

static void the_end_of_the_program_ends_all_inside(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends i;
    inside_kit_start(&k, "while [ ! -e /falaj/scratch/go ]; do sleep 0.1; done", "");
    inside_kit_open(&k, "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\",\"touch /falaj/scratch/go; sleep 600\"]}", &i);
    inside_kit_wait(i.socket);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct str json;
    assert_int_equal(inside_ended(&i, a, &json, NULL), ERR_OK);
    assert_true(str_eq_c(json, "{\"exit_code\":137}"));
    inside_close(&i);
    inside_kit_join(&k);
    assert_int_equal(inside_open(k.held, STR("{\"kind\":\"shell\"}"), &i, NULL), ERR_CONFLICT);
    held_unref(k.held);
    teardown(&k.f);
}

static void a_connection_reaches_the_jobs_own_loopback_alone(void **state)
{
    (void)state;
    struct inside_kit k;
    struct inside_ends i;
    struct err e = { 0 };
    inside_kit_start(&k, "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",8081)); "
                     "c,_=s.accept(); c.sendall(b\"hello \"+c.recv(9)); c.close(); input()' </dev/zero", "");
    for (enum errc rc = ERR_OK + 1; rc != ERR_OK; usleep(20000)) {
        rc = inside_open(k.held, STR("{\"kind\":\"forward\",\"port\":8081}"), &i, &e);
        assert_true(rc == ERR_OK || rc == ERR_UPSTREAM || rc == ERR_CONFLICT);
    }
    char text[32] = "";
    assert_int_equal(write(i.in, "you", 3), 3);
    inside_kit_wait(i.out);
    assert_int_equal(read(i.out, text, sizeof text - 1), 9);
    assert_string_equal(text, "hello you");
    inside_close(&i);
    /* A port of the machine's own loopback is no port of the job's. */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof own;
    assert_true(bind(fd, (struct sockaddr *)&own, n) == 0 && listen(fd, 1) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &n), 0);
    char ask[64];
    snprintf(ask, sizeof ask, "{\"kind\":\"forward\",\"port\":%d}", ntohs(own.sin_port));
    assert_int_equal(inside_open(k.held, str_c(ask), &i, &e), ERR_UPSTREAM);
    assert_non_null(strstr(e.msg, "nothing in the job listens on port"));
    close(fd);
    inside_kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_the_program_ends_all_inside),
        cmocka_unit_test(a_connection_reaches_the_jobs_own_loopback_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
