/* SPDX-License-Identifier: Apache-2.0 */
/* keys_test.h - what the tests of keys/ share: cmocka, a set of references, and the real falaj-keyd as a child process. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "core/base/clock.h"
#include "core/base/id.h"
#include "keys/client.h"

#define OK(call) assert_int_equal((call), ERR_OK)
#define ZONE STR("ae-dxb-1")

static inline struct tkek_ref a_tkek(struct uuid tenant, uint32_t version)
{
    return (struct tkek_ref){ ZONE, tenant, STR("data"), version };
}

static inline struct dek_ref a_dek(struct uuid tenant)
{
    return (struct dek_ref){ ZONE, tenant, STR("dataset"), uuid_v7(1000), 1, uuid_v7(2000) };
}

static inline int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* extra: further arguments, NULL-terminated, may be NULL. Returns the pid. */
static inline pid_t keyd_spawn(const char *socket_path, const char *file, const char *const *extra)
{
    char bin[512];
    const char *argv[32] = { bin, "--zone", "ae-dxb-1", "--socket", socket_path, "--softfile", file };
    size_t n = 7;
    snprintf(bin, sizeof bin, "%s/falaj-keyd", getenv("FALAJ_BIN") ? getenv("FALAJ_BIN") : "build/dev/bin");
    for (; extra && *extra; extra++)
        argv[n++] = *extra;
    argv[n] = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        if (!getenv("KEYS_TEST_LOG"))
            (void)!freopen("/dev/null", "w", stderr);
        execv(bin, (char *const *)argv);
        _exit(127);
    }
    return pid;
}

/* Milliseconds until the daemon answers, or -1. */
static inline int64_t keyd_wait(struct keyd_client *c)
{
    int64_t start = now_ms();
    struct keyd_health h;
    while (now_ms() - start < 120000) {
        if (keyd_health(c, ZONE, &h, NULL) == ERR_OK)
            return now_ms() - start;
        usleep(2000);
    }
    return -1;
}

static inline int keyd_end(pid_t pid, int signal_number)
{
    int status = -1;
    kill(pid, signal_number);
    waitpid(pid, &status, 0);
    return status;
}
