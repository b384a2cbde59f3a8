/* SPDX-License-Identifier: Apache-2.0 */
/* silent_kit.h - a PostgreSQL server that takes connections and says nothing, as a frozen machine's kernel does; and a call to
 * several servers of one conninfo. silent_start -> silent_name … -> silent_stop. One at a time. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/cleanup.h"
#include "core/db/session.h"
#include "tests/db/harness.h"
#include "tests/lib/wait.h"

enum { PATIENCE_S = 2 * WAIT_MOST_S };

#define SILENT_DIR "/tmp/falaj-silent-XXXXXX"
static char silent_dir[] = SILENT_DIR, silent_path[64];
static int silent_fd;

static inline void silent_start(void)
{
    memcpy(silent_dir, SILENT_DIR, sizeof silent_dir);
    assert_non_null(mkdtemp(silent_dir));
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(silent_path, sizeof silent_path, "%s/.s.PGSQL.5432", silent_dir);
    memcpy(at.sun_path, silent_path, sizeof silent_path);
    silent_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(silent_fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(silent_fd, 64), 0);
}

/* A host of its own name for it: of one that is new nothing is remembered. */
static inline void silent_name(char ret[64], int i)
{
    snprintf(ret, 64, "%s/%d", silent_dir, i);
}

static inline void silent_link(const char *name)
{
    assert_int_equal(symlink(silent_dir, name), 0);
}

static inline void silent_stop(const char *name)
{
    close(silent_fd);
    unlink(silent_path);
    unlink(name);
    rmdir(silent_dir);
}

/* How many were taken by the kernel for the silent server since it was asked last. */
static inline int silent_asked(void)
{
    int n = 0, fd;
    for (; (fd = accept(silent_fd, NULL, NULL)) >= 0; n++)
        close(fd);
    return n;
}

/* connect_timeout is so long that nobody waits for its end here: a call that does is found by the time it took. */
static inline enum errc silent_reach(struct pg_harness *pg, const char *hosts, const char *more, struct err *e)
{
    const char *rest = strchr(pg_harness_conninfo(pg, NULL, NULL), ' ');
    char words[600];
    snprintf(words, sizeof words, "host=%s%s connect_timeout=%d %s", hosts, rest, PATIENCE_S, more);
    time_t since = wait_now();
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    enum errc rc = db_session_new(words, "test", 0, &s, e);
    if (rc == ERR_OK)
        rc = db_session_alive(s, e);
    assert_true(wait_now() - since < PATIENCE_S);
    return rc;
}
