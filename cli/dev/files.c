/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the folders and small files of `falaj dev`: where they lie, whose they are, how they are removed.
 *
 * Started by root, PostgreSQL must run as another account, which must be able to reach its cluster. Where a parent of the data
 * folder is closed to that account (a home of mode 0700), the cluster alone is put under /var/lib/falaj-dev-pg, and the other
 * daemons stay with root. A folder is removed only when it holds the mark that falaj dev wrote into it. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/crypto/rand.h"

enum { SECRET_BYTES = 24, FILE_MAX = 1 << 20 };
#define MARK ".falaj-dev"
#define CLUSTERS "/var/lib/falaj-dev-pg"

static enum errc io_fail(struct err *e, const char *path, const char *what)
{
    int why = errno;
    return FAIL(e, IO, "%s cannot be %s: %s", path, what, strerror(why));
}

static enum errc make_dir(const char *path, mode_t mode, uid_t uid, gid_t gid, bool is_root, struct err *e)
{
    struct stat st;
    if (mkdir(path, mode) < 0 && errno != EEXIST)
        return io_fail(e, path, "made");
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return FAIL(e, IO, "%s is no folder", path);
    if (st.st_uid != geteuid() && st.st_uid != uid && !is_root)
        return FAIL(e, IO, "%s belongs to another account", path);
    if (is_root && (st.st_uid != uid || st.st_gid != gid) && lchown(path, uid, gid) < 0)
        return io_fail(e, path, "given to the account of the servers");
    return chmod(path, mode) < 0 ? io_fail(e, path, "closed to others") : ERR_OK;
}

static enum errc make_parents(const char *path, struct err *e)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof(part))
        return FAIL(e, INVALID, "the path of the data folder is too long");
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return io_fail(e, part, "made");
    }
    return ERR_OK;
}

static const char *default_data(struct arena *a)
{
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        return arena_printf(a, "%s/falaj", xdg);
    if (geteuid() == 0)
        return "/var/lib/falaj-dev";
    return arena_printf(a, "%s/.local/share/falaj", home && *home ? home : "/nonexistent");
}

/* An absolute path, also of a folder that does not exist yet. */
static enum errc absolute(struct dev *d, const char *path, const char **ret, struct err *e)
{
    char cwd[4096];
    if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
        return io_fail(e, ".", "found");
    const char *full = path[0] == '/' ? path : arena_printf(d->arena, "%s/%s", cwd, path);
    char *real = realpath(full, NULL);      /* the same folder by another name must have the same lock and sockets */
    size_t n = strlen(full);
    while (n > 1 && full[n - 1] == '/')
        n--;
    *ret = real ? arena_strndup(d->arena, real, strlen(real)) : arena_strndup(d->arena, full, n);
    free(real);
    return ERR_OK;
}

static enum errc choose_data(struct dev *d, struct err *e)
{
    const char *asked = cli_flag(d->c, "data");
    if (asked && d->is_ephemeral)
        return FAIL(e, INVALID, "--data and --ephemeral exclude each other");
    if (d->is_ephemeral) {
        const char *tmp = getenv("TMPDIR");
        char *path = arena_printf(d->arena, "%s/falaj-dev-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
        d->data = mkdtemp(path);
        return d->data ? ERR_OK : io_fail(e, path, "made");
    }
    return absolute(d, asked ? asked : default_data(d->arena), &d->data, e);
}

static enum errc choose_run(struct dev *d, struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    const char *xdg = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
    sha256(d->data, strlen(d->data), digest);
    hex_encode(digest, 6, hex);
    const char *base = d->is_root ? "/run" : xdg && *xdg == '/' && access(xdg, W_OK) == 0 ? xdg : tmp && *tmp == '/' && strlen(tmp) < 60 ? tmp : "/tmp";
    if (d->is_root && access("/run", W_OK) < 0)
        base = "/tmp";
    d->run = arena_printf(d->arena, "%s/falaj-%s", base, hex);
    return strlen(d->run) < 80 ? ERR_OK : FAIL(e, INVALID, "%s is too long for sockets; XDG_RUNTIME_DIR may name a shorter folder", d->run);
}

static enum errc choose_bin(struct dev *d, struct err *e)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return io_fail(e, "/proc/self/exe", "read");
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    const char *own = getenv("FALAJ_BIN");
    d->bin = own && *own ? own : arena_strndup(d->arena, path, strlen(path));
    d->pg_bin = "/usr/lib/postgresql/15/bin";
    if (access(arena_printf(d->arena, "%s/postgres", d->pg_bin), X_OK) < 0)
        return FAIL(e, INVALID, "PostgreSQL 15 is not installed in %s; run deploy/install-deps.sh --run", d->pg_bin);
    return ERR_OK;
}

static void choose_account(struct dev *d)
{
    static const char *const names[] = { "falaj", "postgres", "nobody", NULL };
    d->is_root = geteuid() == 0;
    d->server_uid = d->pg_uid = geteuid();
    d->server_gid = d->pg_gid = getegid();
    for (int i = 0; d->is_root && names[i]; i++) {
        const struct passwd *p = getpwnam(names[i]);
        if (!p || p->pw_uid == 0)
            continue;
        d->account = names[i];
        d->server_uid = d->pg_uid = p->pw_uid;
        d->server_gid = d->pg_gid = p->pw_gid;
        return;
    }
}

/* Ask the kernel, as the account: can it pass to this path? */
static bool account_can(const struct dev *d, const char *path, int mode)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (setresgid(d->pg_gid, d->pg_gid, d->pg_gid) < 0 || setresuid(d->pg_uid, d->pg_uid, d->pg_uid) < 0)
            _exit(2);
        _exit(access(path, mode) == 0 ? 0 : 1);
    }
    int status = 1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum errc dev_paths(struct dev *d, struct err *e)
{
    choose_account(d);
    TRY(choose_bin(d, e));
    TRY(choose_data(d, e));
    TRY(choose_run(d, e));
    struct arena *a = d->arena;
    d->etc = arena_printf(a, "%s/etc", d->data);
    d->secrets = arena_printf(a, "%s/secrets", d->data);
    d->logs = arena_printf(a, "%s/log", d->data);
    d->pg = arena_printf(a, "%s/pg", d->data);
    d->redis = arena_printf(a, "%s/redis", d->data);
    d->blobs = arena_printf(a, "%s/blobs", d->data);
    d->erasures = arena_printf(a, "%s/erasures", d->data);
    d->keys = arena_printf(a, "%s/keys", d->data);
    d->worker = arena_printf(a, "%s/worker", d->data);
    d->tls = arena_printf(a, "%s/tls", d->data);
    return ERR_OK;
}

/* Installed, beside the binaries of a build, in the build folder, or as the console's own build left it. */
static const char *built_console(struct dev *d)
{
    static const char *const places[] = { "../share/falaj/console", "../console", "../../console", "../../../console/dist" };
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        char *real = realpath(arena_printf(d->arena, "%s/%s", d->bin, places[i]), NULL);
        const char *found = real ? arena_strndup(d->arena, real, strlen(real)) : NULL;
        free(real);
        if (found && access(arena_printf(d->arena, "%s/index.html", found), R_OK) == 0)
            return found;
    }
    return NULL;
}

enum errc files_console(struct dev *d, struct err *e)
{
    const char *asked = cli_flag(d->c, "console");
    if (cli_has(d->c, "no-console"))
        return asked ? FAIL(e, INVALID, "--console and --no-console exclude each other") : ERR_OK;
    if (asked)
        TRY(absolute(d, asked, &d->console, e));
    else
        d->console = built_console(d);
    /* falaj-api must be able to read what it is given; a folder in somebody's closed home is left out unless it was asked for. */
    const char *index = d->console ? arena_printf(d->arena, "%s/index.html", d->console) : NULL;
    bool is_other = d->is_root && d->server_uid != 0;
    if (!index || (is_other ? account_can(d, index, R_OK) : access(index, R_OK) == 0))
        return ERR_OK;
    if (asked)
        return FAIL(e, INVALID, "%s/index.html is not there, or the account of falaj-api cannot read it", asked);
    cli_note(d->c, "The web console in %s is closed to the account %s and is not served.", d->console, d->account);
    d->console = NULL;
    return ERR_OK;
}

enum errc files_make(struct dev *d, struct err *e)
{
    struct stat st;
    const char *mark = arena_printf(d->arena, "%s/" MARK, d->data);
    TRY(make_parents(d->data, e));
    bool is_new = stat(d->data, &st) < 0;
    TRY(make_dir(d->data, d->is_root ? 0711 : 0700, geteuid(), getegid(), d->is_root, e));
    if (d->is_root && !account_can(d, d->data, X_OK)) {
        const char *id = strrchr(d->run, '-') + 1;
        TRY(make_dir(CLUSTERS, 0711, 0, 0, true, e));
        d->pg = arena_printf(d->arena, CLUSTERS "/%s", id);
        d->server_uid = 0;
        d->server_gid = 0;
    } else if (d->is_root && !account_can(d, arena_printf(d->arena, "%s/falaj", d->bin), X_OK)) {
        d->server_uid = 0;
        d->server_gid = 0;
    }
    const char *const dirs[] = { d->etc, d->redis, d->blobs, d->erasures, d->keys, d->worker, d->tls, NULL };
    for (int i = 0; dirs[i]; i++)
        TRY(make_dir(dirs[i], 0700, d->server_uid, d->server_gid, d->is_root, e));
    for (int i = 1; i < d->nzones; i++)
        TRY(make_dir(arena_printf(d->arena, "%s-%s", d->worker, d->zones[i]), 0700, d->server_uid, d->server_gid, d->is_root, e));
    TRY(make_dir(d->logs, 0700, geteuid(), getegid(), d->is_root, e));
    TRY(make_dir(d->secrets, 0700, geteuid(), getegid(), d->is_root, e));
    TRY(make_dir(d->pg, 0700, d->pg_uid, d->pg_gid, d->is_root, e));
    TRY(make_dir(d->run, 0700, d->pg_uid, d->pg_gid, d->is_root, e));
    (void)is_new;
    return files_write(d, mark, STR("The data of a falaj dev; 'falaj dev remove' removes it.\n"), geteuid(), getegid(), e);
}

enum errc files_write(struct dev *d, const char *path, struct str text, uid_t uid, gid_t gid, struct err *e)
{
    const char *fresh = arena_printf(d->arena, "%s.new", path);
    unlink(fresh);
    CLEANUP(fd_closep) int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return io_fail(e, fresh, "written");
    bool is_good = write(fd, text.ptr, text.len) == (ssize_t)text.len && (!d->is_root || fchown(fd, uid, gid) == 0);
    if (!is_good || rename(fresh, path) < 0)
        return io_fail(e, path, "written");
    return ERR_OK;
}

enum errc files_read(struct arena *a, const char *path, struct str *ret, struct err *e)
{
    struct str text;
    TRY(cli_read_file(a, path, FILE_MAX, &text, e));
    while (text.len && strchr(" \r\n", text.ptr[text.len - 1]))
        text.len--;
    *ret = str_dup(a, text);
    return ERR_OK;
}

enum errc files_secret(struct dev *d, const char *name, const char **ret, struct err *e)
{
    const char *path = arena_printf(d->arena, "%s/%s", d->secrets, name);
    struct str text;
    if (access(path, F_OK) == 0) {
        TRY(files_read(d->arena, path, &text, e));
        if (text.len) {
            *ret = text.ptr;
            return ERR_OK;
        }
    }
    uint8_t bytes[SECRET_BYTES];
    char *hex = arena_alloc(d->arena, 2 * SECRET_BYTES + 1);
    TRY(rand_key(bytes, sizeof(bytes), e));
    hex_encode(bytes, sizeof(bytes), hex);
    TRY(files_write(d, path, str_c(hex), geteuid(), getegid(), e));
    *ret = hex;
    return ERR_OK;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void files_remove_tree(const char *path)
{
    nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

enum errc files_remove_data(struct dev *d, struct err *e)
{
    struct stat st;
    if (stat(d->data, &st) < 0)
        return FAIL(e, NOT_FOUND, "%s does not exist", d->data);
    if (stat(arena_printf(d->arena, "%s/" MARK, d->data), &st) < 0)
        return FAIL(e, CONFLICT, "%s was not made by falaj dev and is left alone", d->data);
    files_remove_tree(d->data);
    files_remove_tree(d->run);
    if (d->is_root)
        files_remove_tree(arena_printf(d->arena, CLUSTERS "/%s", strrchr(d->run, '-') + 1));
    if (d->is_root)
        rmdir(CLUSTERS);        /* when it held no other */
    return stat(d->data, &st) < 0 ? ERR_OK : FAIL(e, IO, "%s could not be removed wholly", d->data);
}
