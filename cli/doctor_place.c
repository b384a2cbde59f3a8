/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_place.c - disks, certificates, clock, backups, anchors, schema: what a server shows without being asked over HTTP. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "cli/doctor.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"
#include "core/json/jsonvalue.h"

enum { FREE_MIN_MIB = 500, INODES_MIN_PERCENT = 2, CERT_WARN_DAYS = 30, BACKUP_WARN_H = 26, BACKUP_FAIL_H = 72, ANCHOR_WARN_H = 3,
       ANCHOR_FAIL_H = 24, SETTINGS_MAX = 1 << 18, ANSWER_MAX = 1 << 16 };

void doctor_row(struct doctor *d, const char *name, const char *result, const char *seen, const char *todo)
{
    buf_printf(&d->rows, "%s{\"check\":", d->count++ ? "," : "");
    buf_add_json(&d->rows, str_c(name));
    buf_printf(&d->rows, ",\"result\":\"%s\",\"seen\":", result);
    buf_add_json(&d->rows, str_c(seen));
    buf_add_c(&d->rows, ",\"todo\":");
    buf_add_json(&d->rows, str_c(strcmp(result, "ok") == 0 ? "" : todo));
    buf_add_char(&d->rows, '}');
    d->failures += strcmp(result, "fail") == 0;
}

const char *doctor_setting(struct arena *a, const char *path, const char *key, bool *ret_unreadable)
{
    struct str text, line, name, value, rest;
    struct err e;
    const char *found = NULL;
    if (cli_read_file(a, path, SETTINGS_MAX, &text, &e) != ERR_OK) {
        *ret_unreadable |= access(path, F_OK) == 0;
        return NULL;
    }
    bool more = true;
    for (rest = text; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_cut(str_trim(line), '=', &name, &value) && str_eq_c(str_trim(name), key))
            found = str_z(a, str_trim(value));
    }
    return found;
}

void doctor_space(struct doctor *d, const char *name, const char *dir)
{
    struct statvfs fs;
    const char *where = dir;
    while (where && statvfs(where, &fs) < 0 && strcmp(where, "/") != 0) {
        const char *slash = strrchr(where, '/');
        where = !slash || slash == where ? "/" : arena_strndup(d->c->arena, where, (size_t)(slash - where));
    }
    long long mib = (long long)fs.f_bavail * (long long)fs.f_frsize / (1 << 20);
    long long files = fs.f_files ? (long long)(fs.f_favail * 100 / fs.f_files) : 100;
    bool is_full = mib < FREE_MIN_MIB || files < INODES_MIN_PERCENT;
    doctor_row(d, name, is_full ? "fail" : "ok", arena_printf(d->c->arena, "%lld MiB and %lld %% of the files are free at %s",
                                                              mib, files, where),
               "make room, or move the folder to a larger disk");
}

static void one_certificate(struct doctor *d, const char *dir, const char *name)
{
    struct err e = { 0 };
    struct str pem;
    struct x509_facts f = { 0 };
    const char *path = arena_printf(d->c->arena, "%s/%s", dir, name);
    bool is_read = files_read(d->c->arena, path, &pem, &e) == ERR_OK &&
                   x509_read(d->c->arena, str_fmt(d->c->arena, "%.*s\n", STR_ARG(pem)), &f, &e) == ERR_OK;
    int64_t days = (f.not_after_us - clock_wall_us(&clock_system)) / 1000000 / 86400;
    doctor_row(d, arena_printf(d->c->arena, "certificate %s", name), !is_read ||
               days < 0 ? "fail" : days < CERT_WARN_DAYS ? "warn" : "ok",
               is_read ? arena_printf(d->c->arena, "ends in %lld days", (long long)days) : e.msg,
               "falaj dev makes new ones at its next start; elsewhere replace the file, and it is taken up by itself");
}

void doctor_certificates(struct doctor *d, const char *dir)
{
    struct dirent **names = NULL;
    int n = scandir(dir, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (str_ends(str_c(names[i]->d_name), ".pem"))
            one_certificate(d, dir, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

/* Leases go by PostgreSQL's clock, but certificates, codes and the log's times by this one. */
static void check_clock(struct doctor *d)
{
    struct timex t = { 0 };
    bool is_set = adjtimex(&t) != TIME_ERROR && !(t.status & STA_UNSYNC);
    doctor_row(d, "clock", is_set ? "ok" : "warn",
               is_set ? arena_printf(d->c->arena, "synchronised, off by %.3f s at most", (double)t.maxerror / 1e6)
                      : "the kernel says that nothing keeps it right",
               "start chrony or systemd-timesyncd: certificates, one-time codes and the log's times go by it");
}

static double hours_since(int64_t us)
{
    return (double)(clock_wall_us(&clock_system) - us) / 3.6e9;
}

/* The newest finished set by its manifest; whether it is good, falaj-backup verify says. */
static void check_backup(struct doctor *d, const char *dir)
{
    struct dirent **names = NULL;
    const char *todo = "systemctl status falaj-backup.timer; falaj-backup create (howto/back-up.md)";
    int n = scandir(arena_printf(d->c->arena, "%s/sets", dir), &names, NULL, alphasort);
    const char *newest = NULL;
    for (int i = 0; i < n; i++) {
        if (*names[i]->d_name != '.' && !str_ends(str_c(names[i]->d_name), ".partial"))
            newest = arena_strndup(d->c->arena, names[i]->d_name, strlen(names[i]->d_name));
        free(names[i]);
    }
    free(names);
    struct str text;
    struct err e;
    const struct jval *v = NULL;
    if (n < 0 && errno == EACCES) {
        doctor_row(d, "backup", "warn", arena_printf(d->c->arena, "%s may not be read by this account", dir),
                   "run falaj doctor as root");
        return;
    }
    if (!newest) {
        doctor_row(d, "backup", "fail", arena_printf(d->c->arena, "there is none in %s", dir), todo);
        return;
    }
    const char *path = arena_printf(d->c->arena, "%s/sets/%s/manifest.json", dir, newest);
    bool is_read = cli_read_file(d->c->arena, path, 1 << 20, &text, &e) == ERR_OK &&
         jval_parse(d->c->arena, text, 0, &v, &e) == ERR_OK;
    double h = hours_since(jval_i64(jval_get(v, "snapshot_us"), 0));
    long long missing = (long long)jval_i64(jval_get(jval_get(v, "objects"), "missing"), 0);
    doctor_row(d, "backup", !is_read || h > BACKUP_FAIL_H ? "fail" : h > BACKUP_WARN_H || missing ? "warn" : "ok",
               is_read ? arena_printf(d->c->arena, "%s is %.1f h old, %lld objects had no bytes", newest, h, missing)
                       : arena_printf(d->c->arena, "%s: %s", newest, e.msg), todo);
}

static void check_anchors(struct doctor *d, const char *dir)
{
    struct dirent **names = NULL;
    int n = scandir(dir, &names, NULL, alphasort);
    int64_t newest = 0;
    for (int i = 0; i < n; i++) {
        struct stat st;
        if (str_starts(str_c(names[i]->d_name), "falaj-anchor-") &&
            stat(arena_printf(d->c->arena, "%s/%s", dir, names[i]->d_name), &st) == 0 && st.st_mtime > newest)
            newest = st.st_mtime;
        free(names[i]);
    }
    free(names);
    double h = hours_since(newest * 1000000);
    doctor_row(d, "audit anchors", n < 0 ? "warn" : !newest || h > ANCHOR_FAIL_H ? "fail" : h > ANCHOR_WARN_H ? "warn" : "ok",
               n < 0 ? arena_printf(d->c->arena, "%s may not be read by this account", dir)
               : newest ? arena_printf(d->c->arena, "the newest is %.1f h old", h) : "no head was anchored yet",
               n < 0 ? "run falaj doctor as root" : "the leading falaj-scheduler writes them: journalctl -u falaj-scheduler");
}

/* What falaj-migrate --status says: "NAME  pending" or "NAME  applied …". The address is in its environment. */
static bool ask_migrate(const char *program, const char *url, struct buf *answer)
{
    int from[2];
    if (pipe2(from, O_CLOEXEC) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("FALAJ_MIGRATE_URL", url, 1);
        dup2(from[1], 1);
        dup2(from[1], 2);
        execlp(program, program, "--status", (char *)NULL);
        _exit(127);
    }
    close(from[1]);
    char piece[4096];
    ssize_t n;
    while ((n = read(from[0], piece, sizeof piece)) > 0)
        buf_add(answer, piece, (size_t)n);
    close(from[0]);
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_schema(struct doctor *d, const char *url, const char *program)
{
    CLEANUP(buf_releasep) struct buf answer = BUF(ANSWER_MAX);
    bool is_told = ask_migrate(program, url, &answer);
    int applied = 0, pending = 0;
    for (struct str rest = buf_str(&answer), line; rest.len;) {
        bool more = str_cut(rest, '\n', &line, &rest);
        pending += str_ends(line, "  pending");
        applied += !str_ends(line, "  pending") && line.len;
        if (!more)
            break;
    }
    struct str first;
    (void)str_cut(buf_str(&answer), '\n', &first, &(struct str){ 0 });
    doctor_row(d, "schema", !is_told || pending ? "fail" : "ok",
               is_told ? arena_printf(d->c->arena, "%d steps applied, %d pending", applied, pending) : str_z(d->c->arena, first),
               pending ? "falaj-migrate --preflight says what is to come, then falaj-migrate"
                       : "programs and database do not fit: howto/upgrade.md");
}

/* The words of api.conf with the role that may ask. */
static const char *migrate_url(struct arena *a, const char *db_url, struct str password)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    for (struct str rest = str_c(db_url), word; rest.len;) {
        bool more = str_cut(rest, ' ', &word, &rest);
        if (!str_starts(word, "user=") && !str_starts(word, "password="))
            buf_printf(&b, "%.*s ", STR_ARG(word));
        if (!more)
            break;
    }
    (void)str_cut(password, '\n', &password, &(struct str){ 0 });
    buf_printf(&b, "user=falaj_migrate password=%.*s", STR_ARG(str_trim(password)));
    return b.overflow ? NULL : arena_strndup(a, b.ptr, b.len);
}

void doctor_place(struct doctor *d, const char *etc, const char *secrets, const char *bin)
{
    struct arena *a = d->c->arena;
    static const struct { const char *file, *key, *name; } dirs[] = {
        { "api.conf", "blob.dir", "space of objects" }, { "api.conf", "audit.erasure_dir", "space of erasures" },
        { "scheduler.conf", "audit.anchor_dir", "space of anchors" }, { "backup.conf", "backup.dir", "space of backups" },
    };
    bool is_hidden = false;
    const char *dir;
    check_clock(d);
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        if ((dir = doctor_setting(a, arena_printf(a, "%s/%s", etc, dirs[i].file), dirs[i].key, &is_hidden)) && *dir)
            doctor_space(d, dirs[i].name, dir);
    if ((dir = doctor_setting(a, arena_printf(a, "%s/scheduler.conf", etc), "audit.anchor_dir", &is_hidden)) && *dir)
        check_anchors(d, dir);
    if ((dir = doctor_setting(a, arena_printf(a, "%s/backup.conf", etc), "backup.dir", &is_hidden)) && *dir)
        check_backup(d, dir);
    const char *url = doctor_setting(a, arena_printf(a, "%s/api.conf", etc), "db.url", &is_hidden);
    struct str password;
    struct err e;
    if (url && cli_read_file(a, arena_printf(a, "%s/pg-falaj_migrate", secrets), 256, &password, &e) == ERR_OK &&
        (url = migrate_url(a, url, password)))
        check_schema(d, url, bin ? arena_printf(a, "%s/falaj-migrate", bin) : "falaj-migrate");
    if (is_hidden)
        doctor_row(d, "settings", "warn", arena_printf(a, "files in %s may not be read by this account: not all was looked at",
                                                       etc), "run falaj doctor as root");
}
