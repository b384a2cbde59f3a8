/* SPDX-License-Identifier: Apache-2.0 */
/* harness.c - child processes with PR_SET_PDEATHSIG, so that nothing outlives a test program that was killed. postgres refuses to run
 * as root: the children then become user postgres (or nobody). The template is made under a file lock, for tests that run at once. */
#include "tests/db/harness.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "core/db/session.h"
#include "migrations/migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PG_BIN "/usr/lib/postgresql/15/bin/"

enum { START_TRIES = 2000, TRY_PAUSE_US = 5000, CONNINFOS_MAX = 32 };

struct child {
    pid_t pid, owner;       /* owner: only the process that made it may end it, not its forks */
    char dir[128];
};

struct pg_harness {
    struct child child;
    char *conninfos[CONNINFOS_MAX];
    int nconninfos;
};

struct redis_harness {
    struct child child;
    char address[160];
    char *password;
};

static void die(const char *what)
{
    fprintf(stderr, "test harness: %s: %s\n", what, strerror(errno));
    abort();
}

static const struct passwd *server_user(void)
{
    if (geteuid() != 0)
        return NULL;
    const struct passwd *u = getpwnam("postgres");
    return u ? u : getpwnam("nobody");
}

static void give_to_server_user(const char *path)
{
    const struct passwd *u = server_user();
    if (u && chown(path, u->pw_uid, u->pw_gid) != 0)
        die(path);
}

/* Starts argv as the server user; its output goes to log (NULL: /dev/null). */
static pid_t spawn(const char *const *argv, const char *dir, const char *log)
{
    const struct passwd *u = server_user();
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid > 0)
        return pid;
    int out = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    int in = open("/dev/null", O_RDONLY);
    if (u && (initgroups(u->pw_name, u->pw_gid) != 0 || setgid(u->pw_gid) != 0 || setuid(u->pw_uid) != 0))
        _exit(126);
    if (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || chdir(dir) != 0 || out < 0 || in < 0)
        _exit(126);
    setpgid(0, 0);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static void run_and_wait(const char *const *argv, const char *dir, const char *log)
{
    int status;
    pid_t pid = spawn(argv, dir, log);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid");
    if (status != 0) {
        fprintf(stderr, "test harness: %s ended with status %d, see %s\n", argv[0], status, log ? log : "(no log)");
        abort();
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void end_child(struct child *c, int sig)
{
    if (c->pid <= 0 || c->owner != getpid())
        return;
    kill(c->pid, sig);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    c->pid = 0;
}

static void make_dir(struct child *c, const char *kind)
{
    snprintf(c->dir, sizeof c->dir, "%s/falaj-%s-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", kind);
    if (!mkdtemp(c->dir))
        die("mkdtemp");
    give_to_server_user(c->dir);
    c->owner = getpid();
}

static void remove_dir(struct child *c)
{
    if (c->owner == getpid())
        nftw(c->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Every folder down to path may be passed through by the account that PostgreSQL runs as: a clone below /root may not. */
static bool is_reachable(const char *path)
{
    char part[400];
    struct stat st;
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part; geteuid() == 0 && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (stat(part, &st) != 0 || !(st.st_mode & S_IXOTH))
            return false;
        *slash = '/';
    }
    return true;
}

/* <build>/pg_template/data, made on first use; below /tmp, by the inode of the build folder, when PostgreSQL cannot go there. */
static void template_path(char out[512])
{
    char base[400], lock[512], done[600], data[512];
    const char *bin = getenv("FALAJ_BIN");
    int build_len = bin && strrchr(bin, '/') ? (int)(strrchr(bin, '/') - bin) : 0;     /* <build>/bin need not exist */
    snprintf(base, sizeof base, "%.*s%s", build_len ? build_len : 4, build_len ? bin : "/tmp", "/pg_template");
    if (!is_reachable(base)) {
        struct stat st;
        *strrchr(base, '/') = '\0';
        if (stat(base, &st) != 0)
            die(base);
        snprintf(base, sizeof base, "/tmp/falaj-pg-template-%llu", (unsigned long long)st.st_ino);
    }
    if (mkdir(base, 0755) == 0)
        give_to_server_user(base);
    snprintf(lock, sizeof lock, "%s/lock", base);
    snprintf(data, sizeof data, "%s/data", base);
    snprintf(done, sizeof done, "%s/PG_READY", data);
    CLEANUP(fd_closep) int fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        die(lock);
    if (access(done, F_OK) != 0) {
        nftw(data, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        char log[520];
        snprintf(log, sizeof log, "%s/initdb.log", base);
        const char *argv[] = { PG_BIN "initdb", "--no-sync", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                               "--locale=C.UTF-8", "--wal-segsize=1", NULL };
        run_and_wait(argv, base, log);
        FILE *f = fopen(done, "w");
        if (!f || fclose(f) != 0)
            die(done);
    }
    snprintf(out, 512, "%s", data);
}

static struct pg_harness *live_pg[8];
static struct redis_harness *live_redis[8];

static void free_all(void)
{
    for (size_t i = 0; i < 8; i++) {
        pg_harness_free(live_pg[i]);
        redis_harness_free(live_redis[i]);
    }
}

static void note_live(void **list, void *old, void *now)
{
    static bool is_hooked;
    if (!is_hooked)
        atexit(free_all);
    is_hooked = true;
    for (size_t i = 0; i < 8; i++)
        if (list[i] == old) {
            list[i] = now;
            return;
        }
}

void pg_harness_start(struct pg_harness *h)
{
    char data[160], log[160];
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/log", h->child.dir);
    const char *argv[] = { PG_BIN "postgres", "-D", data, "-k", h->child.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                           "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "max_connections=200", "-c",
                           "log_min_error_statement=panic", NULL };
    h->child.pid = spawn(argv, h->child.dir, log);
    struct err e;
    for (int i = 0; i < START_TRIES; i++) {
        struct db_session *s = NULL;
        if (db_session_new(pg_harness_conninfo(h, NULL, NULL), "harness", 0, &s, &e) == ERR_OK) {
            db_session_free(s);
            return;
        }
        usleep(TRY_PAUSE_US);
    }
    fprintf(stderr, "test harness: postgres does not answer: %s; see %s\n", e.detail, log);
    abort();
}

struct pg_harness *pg_harness_new(void)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char template[512], data[160];
    template_path(template);
    make_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    run_and_wait((const char *const[]){ "/bin/cp", "-a", template, data, NULL }, h->child.dir, NULL);
    note_live((void **)live_pg, NULL, h);
    pg_harness_start(h);
    return h;
}

struct pg_harness *pg_harness_new_cluster(void)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char data[160], log[160];
    make_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/initdb.log", h->child.dir);
    run_and_wait((const char *const[]){ PG_BIN "initdb", "--no-sync", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                                        "--locale=C.UTF-8", "--wal-segsize=1", NULL }, h->child.dir, log);
    note_live((void **)live_pg, NULL, h);
    pg_harness_start(h);
    return h;
}

struct pg_harness *pg_harness_standby(struct pg_harness *of)
{
    struct pg_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    char data[160], log[160];
    make_dir(&h->child, "pg");
    snprintf(data, sizeof data, "%s/data", h->child.dir);
    snprintf(log, sizeof log, "%s/basebackup.log", h->child.dir);
    run_and_wait((const char *const[]){ PG_BIN "pg_basebackup", "-h", of->child.dir, "-U", "postgres", "-D", data, "-R", "-X",
                                        "stream", "-c", "fast", "--no-sync", NULL }, h->child.dir, log);
    note_live((void **)live_pg, NULL, h);
    pg_harness_start(h);
    return h;
}

void pg_harness_promote(struct pg_harness *h)
{
    pg_harness_exec(h, NULL, "DO $$ BEGIN IF NOT pg_promote(true, 60) THEN RAISE EXCEPTION 'not promoted'; END IF; END $$");
}

void pg_harness_restore(struct pg_harness *from, struct pg_harness *to, const char *dbname)
{
    char file[160], log[160], sql[160];
    snprintf(file, sizeof file, "%s/dump.sql", to->child.dir);
    snprintf(log, sizeof log, "%s/restore.log", to->child.dir);
    pg_harness_exec_file(to, NULL, "migrations/roles.sql");
    snprintf(sql, sizeof sql, "CREATE DATABASE %s OWNER falaj_owner", dbname);
    pg_harness_exec(to, NULL, sql);
    run_and_wait((const char *const[]){ PG_BIN "pg_dump", "-h", from->child.dir, "-U", "postgres", "-f", file, dbname, NULL },
                 to->child.dir, log);
    run_and_wait((const char *const[]){ PG_BIN "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", to->child.dir, "-U", "postgres",
                                        "-d", dbname, "-f", file, NULL }, to->child.dir, log);
}

void pg_harness_stop(struct pg_harness *h)
{
    end_child(&h->child, SIGQUIT);
}

void pg_harness_free(struct pg_harness *h)
{
    if (!h)
        return;
    note_live((void **)live_pg, h, NULL);
    pg_harness_stop(h);
    remove_dir(&h->child);
    for (int i = 0; i < h->nconninfos; i++)
        free(h->conninfos[i]);
    free(h);
}

const char *pg_harness_socket_dir(struct pg_harness *h)
{
    return h->child.dir;
}

const char *pg_harness_conninfo(struct pg_harness *h, const char *user, const char *dbname)
{
    char text[400];
    snprintf(text, sizeof text, "host=%s user=%s dbname=%s", h->child.dir, user ? user : "postgres", dbname ? dbname : "postgres");
    for (int i = 0; i < h->nconninfos; i++)
        if (strcmp(h->conninfos[i], text) == 0)
            return h->conninfos[i];
    ASSERT(h->nconninfos < CONNINFOS_MAX);
    return h->conninfos[h->nconninfos++] = str_dup_heap(str_c(text));
}

void pg_harness_exec(struct pg_harness *h, const char *dbname, const char *sql)
{
    struct err e;
    CLEANUP(db_session_freep) struct db_session *s = NULL;
    if (db_session_new(pg_harness_conninfo(h, NULL, dbname), "harness", 0, &s, &e) != ERR_OK ||
        db_session_exec_script(s, sql, &e) != ERR_OK) {
        fprintf(stderr, "test harness: %s (%s)\n", e.msg, e.detail);
        abort();
    }
}

void pg_harness_exec_file(struct pg_harness *h, const char *dbname, const char *path)
{
    CLEANUP(buf_releasep) struct buf sql = BUF(16 << 20);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char part[65536];
    ssize_t n;
    if (fd < 0)
        die(path);
    while ((n = read(fd, part, sizeof part)) > 0)
        buf_add(&sql, part, (size_t)n);
    pg_harness_exec(h, dbname, sql.ptr ? sql.ptr : "");
}

static void say_nothing(void *ctx, const char *line)
{
    (void)ctx;
    (void)line;
}

void pg_harness_migrate(struct pg_harness *h, const char *dbname)
{
    char sql[160];
    pg_harness_exec_file(h, NULL, "migrations/roles.sql");
    if (dbname) {
        snprintf(sql, sizeof sql, "CREATE DATABASE %s OWNER falaj_owner", dbname);
        pg_harness_exec(h, NULL, sql);
    } else {
        pg_harness_exec(h, NULL, "GRANT CREATE ON DATABASE postgres TO falaj_owner; ALTER SCHEMA public OWNER TO falaj_owner");
    }
    struct err e = { 0 };
    int applied;
    if (migrate_run(pg_harness_conninfo(h, "falaj_migrate", dbname), &schema_embedded, MIGRATE_APPLY, say_nothing, NULL, &applied, &e) != ERR_OK) {
        fprintf(stderr, "test harness: %s (%s)\n", e.msg, e.detail);
        abort();
    }
}

static bool redis_answers(const char *path)
{
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    char reply[64];
    return fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof addr) == 0 && write(fd, "PING\r\n", 6) == 6 &&
           read(fd, reply, sizeof reply) > 0;
}

void redis_harness_start(struct redis_harness *h)
{
    const char *socket_path = h->address + strlen("unix:");
    const char *argv[] = { "/usr/bin/redis-server", "--port", "0", "--unixsocket", socket_path, "--unixsocketperm", "777", "--save", "",
                           "--appendonly", "no", h->password ? "--requirepass" : NULL, h->password, NULL };
    char log[160];
    snprintf(log, sizeof log, "%s/log", h->child.dir);
    h->child.pid = spawn(argv, h->child.dir, log);
    for (int i = 0; i < START_TRIES; i++) {
        if (redis_answers(socket_path))
            return;
        usleep(TRY_PAUSE_US);
    }
    die("redis-server does not answer");
}

struct redis_harness *redis_harness_new(const char *password)
{
    struct redis_harness *h = calloc(1, sizeof *h);
    ASSERT(h);
    make_dir(&h->child, "redis");
    snprintf(h->address, sizeof h->address, "unix:%s/redis", h->child.dir);
    h->password = password ? str_dup_heap(str_c(password)) : NULL;
    note_live((void **)live_redis, NULL, h);
    redis_harness_start(h);
    return h;
}

void redis_harness_stop(struct redis_harness *h)
{
    end_child(&h->child, SIGKILL);
    unlink(h->address + strlen("unix:"));
}

void redis_harness_free(struct redis_harness *h)
{
    if (!h)
        return;
    note_live((void **)live_redis, h, NULL);
    redis_harness_stop(h);
    remove_dir(&h->child);
    free(h->password);
    free(h);
}

const char *redis_harness_address(struct redis_harness *h)
{
    return h->address;
}
