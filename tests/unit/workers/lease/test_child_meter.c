/* SPDX-License-Identifier: Apache-2.0 */
/* test_child_meter.c - the child's question and every answer: a figure, not measured, another message, an agent that is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "workers/lease/child_meter.h"

struct agent {
    int fd;
    enum frame_type type;
    int64_t mj;
    size_t len;
};

/* Hears one question and gives its answer. */
static void *answer(void *arg)
{
    static char room[FRAME_MAX];
    const struct agent *a = arg;
    struct frame f = { 0 };
    struct err e;
    if (frame_receive(a->fd, room, &f, &e) != ERR_OK || f.type != FRAME_ENERGY || f.body.len)
        return NULL;
    if (a->len)
        (void)!frame_send(a->fd, a->type, STR_NULL, str_n((const char *)&a->mj, a->len), NULL, 0, true, NULL);
    else
        shutdown(a->fd, SHUT_RDWR);
    return arg;
}

static bool ask(struct agent a, double *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new(1 << 20);
    struct child c = { .arena = arena };
    int pair[2];
    pthread_t t;
    void *heard;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    a.fd = pair[0];
    assert_int_equal(dup2(pair[1], FRAME_FD), FRAME_FD);
    close(pair[1]);
    assert_int_equal(pthread_create(&t, NULL, answer, &a), 0);
    const struct train_meter *m = child_meter_new(&c);
    bool is_known = m->read(m->ctx, ret);
    pthread_join(t, &heard);
    assert_non_null(heard);
    assert_int_equal(dup2(0, FRAME_FD), FRAME_FD);
    close(a.fd);
    return is_known;
}

static void test_every_answer(void **st)
{
    (void)st;
    double j = 0;
    assert_true(ask((struct agent){ .type = FRAME_ENERGY, .mj = 12345, .len = sizeof(int64_t) }, &j) && j == 12345 * 1e-3);
    assert_true(ask((struct agent){ .type = FRAME_ENERGY, .mj = 0, .len = sizeof(int64_t) }, &j) && j == 0);
    assert_false(ask((struct agent){ .type = FRAME_ENERGY, .mj = -1, .len = sizeof(int64_t) }, &j));
    assert_false(ask((struct agent){ .type = FRAME_ENERGY, .mj = 5, .len = 4 }, &j));
    assert_false(ask((struct agent){ .type = FRAME_KEYS, .mj = 5, .len = sizeof(int64_t) }, &j));
    assert_false(ask((struct agent){ .len = 0 }, &j));
}

int main(void)
{
    int null = dup2(0, FRAME_FD);               /* the number is taken, as in a child */
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_answer) };
    return null == FRAME_FD ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
