/* SPDX-License-Identifier: Apache-2.0 */
/* harness_int.h - what the harness's files share: a child process with a folder of its own, and the template of clusters. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "tests/db/harness.h"

#define PG_BIN "/usr/lib/postgresql/15/bin/"
#define HARNESS_SCHEMA "falaj_schema"       /* the template's database that the migrations have run in */

enum { START_TRIES = 20000, TRY_PAUSE_US = 5000, CONNINFOS_MAX = 32 };

struct child {
    pid_t pid, owner;       /* owner: only the process that made it may end it, not its forks */
    char dir[128];
};

struct pg_harness {
    struct child child;
    char *conninfos[CONNINFOS_MAX];
    int nconninfos;
    bool has_schema;        /* HARNESS_SCHEMA is there, not given its name yet */
};

_Noreturn void harness_die(const char *what);                   /* says errno and aborts */
void harness_give(const char *path);                            /* to the account that servers run as */
/* Starts argv as the server user; its output goes to log (NULL: /dev/null). harness_run waits, and aborts unless it ends
 * with 0. */
pid_t harness_spawn(const char *const *argv, const char *dir, const char *log);
void harness_run(const char *const *argv, const char *dir, const char *log);
/* A new folder below $TMPDIR, else in memory or /tmp; those of programs that were killed are removed first. */
void harness_dir(struct child *c, const char *kind);
void harness_end(struct child *c, int sig);                     /* sends the signal and waits */
void harness_remove(const char *path);                          /* a folder with all that is in it */
/* Between the two, the end of the program ends it; end calls harness_gone. */
void harness_live(void *h, void (*end)(void *h));
void harness_gone(const void *h);

/* Copies the template to `data`: a cluster with the roles, and HARNESS_SCHEMA as it ships. Made once per build folder and again
 * when a file of the migrations has changed, under a file lock, since tests run at once. */
void harness_template_copy(const char *data, const char *dir);
