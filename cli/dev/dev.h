/* SPDX-License-Identifier: Apache-2.0 */
/* dev.h - the whole platform on one machine: what `falaj dev` knows while it runs.
 *
 * Folders below the data folder: etc (a file of settings per daemon, 0600), secrets (passwords, the administrator's token), log,
 * pg, redis, blobs, erasures, keys, worker, tls. Sockets lie in a run folder with a short name, for a socket's path has 108 bytes
 * at most.
 * Invariants: one falaj dev per data folder (flock on DATA/lock); every child dies with this process (PR_SET_PDEATHSIG) or is found by
 * DATA/pids at the next start, pid and start time both compared; started by root, the servers run as an account without rights.
 * Calling order: dev_paths -> state_lock -> state_kill_leftovers -> files_make -> secrets, certs, configs -> servers -> supervise_run
 * -> supervise_stop. Memory: d->arena. Errors: IO, UNAVAILABLE (a daemon did not come up), CONFLICT (runs already). */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "cli/command.h"

enum { DEV_PG_PORT = 5432, DEV_DAEMONS = 6, DEV_ZONES = 8, DEV_CHILDREN = DEV_DAEMONS + 2 * (DEV_ZONES - 1), DEV_ARGS = 16 };
/* What one step of the start may take (initdb, the migrations, the API's first answer): far above what it does, for a machine
 * that is busy with much else is slow and not broken. */
enum { DEV_START_MS = 600000 };
enum dev_daemon { DEV_POSTGRES, DEV_REDIS, DEV_KEYD, DEV_API, DEV_SCHEDULER, DEV_WORKER };
/* Each further zone i (from 1) has a falaj-keyd and a falaj-worker of its own. */
#define DEV_KEYD_OF(i) ((i) ? DEV_DAEMONS + 2 * ((i) - 1) : (int)DEV_KEYD)
#define DEV_WORKER_OF(i) ((i) ? DEV_DAEMONS + 2 * ((i) - 1) + 1 : (int)DEV_WORKER)

/* A supervised process. pid 0: not running. */
struct child {
    const char *name;
    const char *argv[DEV_ARGS];
    const char *log_path;
    const char *env;                /* one more variable, "NAME=value"; NULL: none */
    const char *socket;             /* removed before each start; NULL: none */
    uid_t uid;                      /* run as this account when we are root */
    gid_t gid;
    int stop_signal, stop_ms;       /* then SIGKILL (postgres: SIGQUIT first) */
    pid_t pid;
    uint64_t start_ticks;           /* with pid names a process for good */
    int64_t started_us, restart_at_us;
    int backoff_ms;
};

struct dev {
    struct cli *c;
    struct arena *arena;
    const char *data, *etc, *secrets, *logs, *pg, *redis, *blobs, *erasures, *keys, *worker, *tls, *run, *bin, *pg_bin;
    const char *console;            /* folder of the built web console; NULL: none */
    const char *zone, *account;     /* zone: the first one; account: name, NULL when not root */
    const char *zones[DEV_ZONES];
    int nzones, nchildren;
    int64_t port, worker_port, slots;
    int64_t ops_port[DEV_CHILDREN];      /* of /metrics, by child; 0: none, as of the servers. falaj-api has it on `port` */
    bool is_port_fixed, is_ephemeral, is_root;
    uid_t server_uid, pg_uid;       /* equal unless the daemons cannot be run by the account */
    gid_t server_gid, pg_gid;
    const char *pg_password, *redis_password, *admin_token, *admin_password, *api_url;
    struct child children[DEV_CHILDREN];     /* nchildren of them */
    int lock_fd, signal_fd;
    bool is_stopping;
};

/* files.c: paths, folders, small files */
enum errc dev_paths(struct dev *d, struct err *e) MUST_CHECK;
enum errc files_make(struct dev *d, struct err *e) MUST_CHECK;
/* Finds the built web console, after files_make; d->console stays NULL where there is none. */
enum errc files_console(struct dev *d, struct err *e) MUST_CHECK;
/* Written 0600 by rename; owned by uid/gid when we are root. */
enum errc files_write(struct dev *d, const char *path, struct str text, uid_t uid, gid_t gid, struct err *e) MUST_CHECK;
/* A file of secrets/, made with 24 random bytes as hex when it is not there. */
enum errc files_secret(struct dev *d, const char *name, const char **ret, struct err *e) MUST_CHECK;
enum errc files_read(struct arena *a, const char *path, struct str *ret, struct err *e) MUST_CHECK;
void files_remove_tree(const char *path);
enum errc files_remove_data(struct dev *d, struct err *e) MUST_CHECK;

/* hsm.c: with --hsm, or a data folder made so, the key service of a zone gets a token instead of its file. After files_make and daemons_describe. */
enum errc hsm_prepare(struct dev *d, int zone, struct err *e) MUST_CHECK;

/* state.c: one instance, and what it left behind */
enum errc state_lock(struct dev *d, struct err *e) MUST_CHECK;      /* CONFLICT: another one has it */
void state_unlock(struct dev *d);
pid_t state_owner(struct dev *d);                                   /* 0: nobody runs it */
enum errc state_save_pids(struct dev *d, struct err *e) MUST_CHECK;
void state_kill_leftovers(struct dev *d);
enum errc state_save_ready(struct dev *d, struct err *e) MUST_CHECK;
struct str state_ready_json(struct dev *d, bool with_token);

/* sweep.c: what ephemeral runs left behind that could not clean up. */
enum errc sweep_claim(struct dev *d, struct err *e) MUST_CHECK;     /* note in our run folder whose it is */
void sweep_dead(struct dev *d);

/* dev.c: the line that makes the word `falaj` work in the reader's shell, unless it does already. */
void dev_say_path(FILE *out);

/* certs.c, config_files.c, redis.c, postgres.c, daemons.c */
enum errc certs_make(struct dev *d, struct err *e) MUST_CHECK;
/* "worker" for the first zone, "worker-CODE" for the others: certificate, settings and log. */
const char *dev_name_of(struct dev *d, const char *daemon, int zone);
enum errc ports_choose(struct dev *d, struct err *e) MUST_CHECK;
enum errc config_files_write(struct dev *d, struct err *e) MUST_CHECK;
const char *config_db_url(struct dev *d, const char *role, const char *database, const char *password);
enum errc redis_prepare(struct dev *d, struct err *e) MUST_CHECK;
enum errc redis_wait(struct dev *d, struct err *e) MUST_CHECK;
enum errc postgres_prepare(struct dev *d, struct err *e) MUST_CHECK;    /* initdb at the first start */
enum errc postgres_wait(struct dev *d, struct err *e) MUST_CHECK;
enum errc postgres_setup(struct dev *d, struct err *e) MUST_CHECK;      /* roles, passwords, the database */
void daemons_describe(struct dev *d);
enum errc daemons_migrate(struct dev *d, struct err *e) MUST_CHECK;
enum errc postgres_guard(struct dev *d, struct err *e) MUST_CHECK;      /* after the migrations: what only a superuser may set up */
enum errc daemons_admin_token(struct dev *d, struct err *e) MUST_CHECK;
enum errc daemons_wait_api(struct dev *d, struct err *e) MUST_CHECK;

/* supervise.c */
enum errc supervise_init(struct dev *d, struct err *e) MUST_CHECK;
enum errc supervise_start(struct dev *d, int which, struct err *e) MUST_CHECK;
/* Sleep up to ms, woken by signals. UNAVAILABLE when a started child has died or the end was asked for. */
enum errc supervise_pause(struct dev *d, int ms, struct err *e) MUST_CHECK;
/* Run to its end as uid; its output goes to log_path, or *ret_out gets its standard output. Fails unless it exits with 0. */
enum errc supervise_run_once(struct dev *d, const struct child *what, int timeout_ms, struct str *ret_out, struct err *e) MUST_CHECK;
void supervise_run(struct dev *d);          /* until SIGTERM or SIGINT */
bool supervise_stop(struct dev *d);          /* false: one of them ended badly, or had to be killed */
