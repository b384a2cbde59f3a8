/* SPDX-License-Identifier: Apache-2.0 */
/* engines.c - the trial's process writes one line: a version, or '!' and why not. */
#include "workers/lease/engines.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/wire/lease_wire.h"
#include "workers/compute/ort/ort.h"

enum { LINE = 512 };

static void try_onnxruntime(const char *path, int out)
{
    char line[LINE];
    struct ort *ort = NULL;
    struct err e = { 0 };
    const int n = ort_open(path, 0, &ort, &e) == ERR_OK ? snprintf(line, sizeof line, "onnxruntime %s", ort->version)
                                                        : snprintf(line, sizeof line, "!%s", e.msg);
    (void)!write(out, line, n < LINE ? (size_t)n : LINE - 1);   /* a short line goes into a pipe as a whole */
    _exit(0);                           /* no exit handler of the library's */
}

/* What came until the other end closed it or the time was over. */
static size_t read_until(int in, char line[LINE], int64_t limit_ms)
{
    const int64_t end_us = clock_mono_us(&clock_system) + limit_ms * 1000;
    size_t n = 0;
    for (;;) {
        const int64_t left_ms = (end_us - clock_mono_us(&clock_system)) / 1000;
        struct pollfd p = { in, POLLIN, 0 };
        if (n == LINE - 1 || left_ms <= 0 || poll(&p, 1, (int)left_ms) <= 0)
            return n;
        const ssize_t got = read(in, line + n, LINE - 1 - n);
        if (got <= 0)
            return n;
        n += (size_t)got;
    }
}

static void try_apart(const char *path, char line[LINE])
{
    int ends[2];
    snprintf(line, LINE, "!a process for its trial cannot be made");
    if (pipe(ends) != 0)
        return;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        try_onnxruntime(path, ends[1]);
    }
    close(ends[1]);
    if (pid > 0) {
        line[read_until(ends[0], line, ENGINES_TRIAL_MS)] = 0;
        (void)kill(pid, SIGKILL);       /* it has said all, or will not */
        (void)waitpid(pid, NULL, 0);
        if (!line[0])
            snprintf(line, LINE, "!it ended or hung when it was opened");
    }
    close(ends[0]);
}

void engines_add(char list[ENGINES_TEXT], const char *engine)
{
    const size_t n = strlen(list), more = strlen(engine);
    if (n + more + 2 <= ENGINES_TEXT)
        snprintf(list + n, ENGINES_TEXT - n, "%s%s", n ? "," : "", engine);
}

void engines_here(const struct config *cfg, char ret[ENGINES_TEXT])
{
    char line[LINE];
    const char *why = NULL;
    ret[0] = 0;
    if (!cfg->worker_onnxruntime[0])
        return;
    try_apart(cfg->worker_onnxruntime, line);
    if (line[0] == '!')
        why = line + 1;
    else if (!check_engines(str_c(line), &why))
        why = "its version is no version";
    else
        why = NULL, snprintf(ret, ENGINES_TEXT, "%.255s", line);
    log_event(why ? LOG_WARN : LOG_INFO, "worker.engines", "engines", LOG_S(ret), "lacks", LOG_S(why ? why : "nothing"), "hint",
              LOG_S(why ? "worker.onnxruntime names the library; jobs whose models need it are not placed here" : ""), NULL);
}
