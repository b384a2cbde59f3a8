/* SPDX-License-Identifier: Apache-2.0 */
/* registry_kit.h - the registry of registry_server.py, started and asked by a test, and the connections to it. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/str.h"
#include "core/json/jsonvalue.h"

struct kit_registry {
    char folder[64], host[64], ca[4096], told[4096];
    const struct jval *says;
    struct arena *a;
    int port, in;
    pid_t pid;
    int dials;
    char dialled[256];
};

static inline void kit_file(const char *folder, const char *name, char *out, size_t cap)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, cap - 1, f) : 0;
    out[n] = '\0';
    if (f)
        fclose(f);
}

static inline void kit_registry_start(struct kit_registry *r)
{
    int in[2], out[2];
    size_t n = 0;
    struct err e = { 0 };
    *r = (struct kit_registry){ .a = arena_new(64 << 20), .folder = "/tmp/falaj-registry-XXXXXX" };
    assert_non_null(mkdtemp(r->folder));
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    r->pid = fork();
    assert_true(r->pid >= 0);
    if (!r->pid) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", TESTS_DIR "/unit/workers/image/registry_server.py", r->folder, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    r->in = in[1];
    for (ssize_t got = 1; got > 0 && n < sizeof r->told - 1 && !memchr(r->told, '\n', n);) {
        got = read(out[0], r->told + n, sizeof r->told - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    close(out[0]);
    assert_int_equal(jval_parse(r->a, str_n(r->told, n), 4, &r->says, &e), ERR_OK);
    r->port = (int)jval_i64(jval_get(r->says, "port"), 0);
    snprintf(r->host, sizeof r->host, "localhost:%d", r->port);
    kit_file(r->folder, "ca.pem", r->ca, sizeof r->ca);
}

static inline void kit_registry_end(struct kit_registry *r)
{
    char cmd[100];
    close(r->in);
    kill(r->pid, SIGTERM);
    waitpid(r->pid, NULL, 0);
    snprintf(cmd, sizeof cmd, "rm -rf %s", r->folder);
    assert_int_equal(system(cmd), 0);
    arena_free(r->a);
}

static inline struct str kit_digest(const struct kit_registry *r, const char *name)
{
    return jval_str(jval_get(r->says, name));
}

/* What a test's own agent would do: whatever was asked for is noted, and the registry is what is there. */
static inline int kit_dial(void *ctx, struct str place, struct err *e)
{
    struct kit_registry *r = ctx;
    const struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)r->port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    (void)e;
    r->dials++;
    snprintf(r->dialled, sizeof r->dialled, "%.*s", STR_ARG(place));
    if (connect(fd, (const struct sockaddr *)(const void *)&to, sizeof to) != 0)
        assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(poll(&p, 1, 10000), 1);
    return fd;
}

/* What it was asked; in r->a. */
static inline const char *kit_log(struct kit_registry *r)
{
    char *text = arena_alloc(r->a, 1 << 16);
    kit_file(r->folder, "log", text, 1 << 16);
    return text;
}
