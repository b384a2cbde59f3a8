/* SPDX-License-Identifier: Apache-2.0 */
/* inside_kit.h - a program that runs in a real box while somebody looks inside. */
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include "core/json/jsonvalue.h"
#include "run_kit.h"
#include "tests/lib/wait.h"
#include "workers/lease/box_enter.h"
#include "workers/lease/inside.h"

struct inside_kit {
    struct fixture f;
    struct held *held;
    pthread_t thread;
};

struct inside_said {
    char out[8192], err[2048];
    int exit_code;
};

enum { INSIDE_PATIENCE_MS = 120000 };

static inline void *inside_kit_main(void *p)
{
    struct inside_kit *k = p;
    executor_run(&k->f.env, k->held);
    return NULL;
}

/* more: further members of the spec, with a comma before them. */
static inline void inside_kit_start(struct inside_kit *k, const char *script, const char *more)
{
    run_setup(&k->f, "x");
    /* Helpers of a sanitizer's build are large. */
    assert_int_equal(config_set(k->f.config, "worker.slot_memory", "2g", NULL), ERR_OK);
    k->held = run_add(&k->f, 1, script, more);
    struct held *own = book_find(k->f.book, held_grant(k->held)->attempt_id);
    assert_ptr_equal(own, k->held);             /* one reference is the executor's */
    pthread_create(&k->thread, NULL, inside_kit_main, k);
}

static inline void inside_kit_wait(int fd)
{
    struct pollfd p = { fd, POLLIN, 0 };
    assert_int_equal(poll(&p, 1, INSIDE_PATIENCE_MS), 1);
}

static inline void inside_kit_open(struct inside_kit *k, const char *ask, struct inside_ends *ret)
{
    struct err e = { 0 };
    for (int i = 0; i < INSIDE_PATIENCE_MS / 20; i++) {
        if (inside_open(k->held, str_c(ask), ret, &e) == ERR_OK)
            return;
        usleep(20000);                          /* the program has not begun */
    }
    static struct buf report = BUF((size_t)4 << 20);
    kit_report(k->f.book, &report);
    fail_msg("%s; %.*s", e.msg, (int)report.len, report.ptr ? report.ptr : "");
}

static inline void inside_kit_read(int fd, char *out, size_t cap)
{
    for (size_t n = strlen(out); n + 1 < cap;) {
        inside_kit_wait(fd);
        const ssize_t got = read(fd, out + n, cap - 1 - n);
        if (got <= 0)                           /* a terminal whose other end is closed says EIO */
            return;
        n += (size_t)got;
        out[n] = '\0';
    }
}

/* Writes, reads all that comes, and how it ended. */
static inline struct inside_said inside_kit_run(struct inside_kit *k, const char *ask, const char *in)
{
    struct inside_said s = { .exit_code = -1 };
    struct inside_ends i;
    inside_kit_open(k, ask, &i);
    assert_int_equal(write(i.in, in, strlen(in)), (ssize_t)strlen(in));
    if (i.err >= 0)
        fd_closep(&i.in);
    inside_kit_read(i.out, s.out, sizeof s.out);
    if (i.err >= 0)
        inside_kit_read(i.err, s.err, sizeof s.err);
    inside_kit_wait(i.socket);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct str json;
    const struct jval *v;
    assert_int_equal(inside_ended(&i, a, &json, NULL), ERR_OK);
    assert_int_equal(jval_parse(a, json, 2, &v, NULL), ERR_OK);
    s.exit_code = (int)jval_i64(jval_get(v, "exit_code"), -1);
    inside_close(&i);
    return s;
}

/* Does a process of the box have these words? */
static inline bool inside_kit_counts(struct inside_kit *k, const char *words)
{
    char ask[512];
    snprintf(ask, sizeof ask, "{\"kind\":\"exec\",\"command\":[\"sh\",\"-c\","
             "\"for f in /proc/[0-9]*/cmdline; do tr '\\\\0' ' ' <$f; echo; done 2>/dev/null | grep -c '^%s $'\"]}", words);
    return inside_kit_run(k, ask, "").out[0] != '0';
}

static inline void inside_kit_join(struct inside_kit *k)
{
    pthread_join(k->thread, NULL);
}

static inline void inside_kit_end(struct inside_kit *k)
{
    held_cancel(k->held);
    inside_kit_join(k);
    held_unref(k->held);
    teardown(&k->f);
}
