/* SPDX-License-Identifier: Apache-2.0 */
/* test_rank.c - commands of falaj-rank and their callers. The program has no library, so it is taken in whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

int rank_main(int argc, char **argv);
#define main rank_main
#include "workers/rank/rank.c"
#undef main

static sigset_t nothing;

/* A caller with a command that has begun; returns the caller's end. */
static int call_with(const char *command)
{
    int ends[2];
    uint32_t n = htonl((uint32_t)strlen(command));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(all(ends[1], &n, sizeof n, true));
    assert_true(all(ends[1], (char *)(uintptr_t)command, strlen(command), true));
    begin(ends[0]);
    assert_int_equal(ncommands, 1);
    return ends[1];
}

static void a_caller_is_told_how_it_ended(void **state)
{
    (void)state;
    uint32_t code = 0;
    int fd = call_with("exit 7");
    while (ncommands)
        turn(-1, &nothing);
    assert_true(all(fd, &code, sizeof code, false));
    assert_int_equal(ntohl(code), 7);
    close(fd);
}

/* The command says with a byte each time that it is told, and goes on for thirty naps, which the signal would cut. */
static void who_is_gone_is_told_of_once(void **state)
{
    (void)state;
    int told[2];
    char command[256], byte, got[64];
    size_t n = 0;
    assert_int_equal(pipe(told), 0);
    snprintf(command, sizeof command,
             "trap 'printf x >&%d' TERM; printf r >&%d; i=0; while [ $i -lt 30 ]; do i=$((i+1)); sleep 0.02; done",
             told[1], told[1]);
    int fd = call_with(command);
    assert_int_equal(read(told[0], &byte, 1), 1);       /* it listens to signals */
    close(fd);
    close(told[1]);
    while (ncommands)
        turn(-1, &nothing);
    for (ssize_t more; n < sizeof got && (more = read(told[0], got + n, sizeof got - n)) > 0;)
        n += (size_t)more;
    assert_int_equal(n, 1);
    close(told[0]);
}

/* The child of a fork, before it is a command, is told to end: the signal is held, as it is at any moment from the fork on. */
static int early_signal;
static void tell_the_child(void)
{
    if (early_signal)
        raise(early_signal);
}

static void who_is_told_before_it_is_a_command_ends(void **state)
{
    (void)state;
    static const int signals[] = { SIGTERM, SIGINT };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        uint32_t code = 0;
        early_signal = signals[i];
        int fd = call_with("exit 7");
        early_signal = 0;
        while (ncommands)
            turn(-1, &nothing);
        assert_true(all(fd, &code, sizeof code, false));
        assert_int_equal(ntohl(code), SIGNALLED + signals[i]);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_caller_is_told_how_it_ended),
                                        cmocka_unit_test(who_is_gone_is_told_of_once),
                                        cmocka_unit_test(who_is_told_before_it_is_a_command_ends) };
    sigemptyset(&nothing);
    pthread_atfork(NULL, NULL, tell_the_child);
    hold_signals();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
