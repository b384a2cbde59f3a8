/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - a `falaj dev --ephemeral` that was killed removed nothing; the next start does it.
 *
 * Each run folder holds the file `owner`: "pid start-time data-folder". A run folder is swept when that process is dead and the
 * data folder is an ephemeral one of this account (or is gone): a named data folder will be started again and keeps its own.
 * Nothing is believed that another account could have written: folder and file must be ours, and no symbolic link is followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/process.h"
#include "core/base/cleanup.h"

enum { ID_HEX = 12, OWNER_MAX = 4200 };
#define RUN_PREFIX "falaj-"
#define DATA_PREFIX "falaj-dev-"

enum errc sweep_claim(struct dev *d, struct err *e)
{
    const char *text = arena_printf(d->arena, "%ld %llu %s\n", (long)getpid(), (unsigned long long)process_start_ticks(getpid()), d->data);
    return files_write(d, arena_printf(d->arena, "%s/owner", d->run), str_c(text), geteuid(), getegid(), e);
}

static bool is_run_folder(const char *name)
{
    size_t n = strlen(RUN_PREFIX);
    return strncmp(name, RUN_PREFIX, n) == 0 && strlen(name) == n + ID_HEX && strspn(name + n, "0123456789abcdef") == ID_HEX;
}

/* The data folder of a dead owner; NULL: alive, or not ours to judge. */
static const char *dead_owner(struct dev *d, const char *run)
{
    struct stat st;
    char text[OWNER_MAX];
    CLEANUP(fd_closep) int fd = open(arena_printf(d->arena, "%s/owner", run), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return NULL;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    char *end = text;
    long pid = strtol(text, &end, 10);
    uint64_t ticks = strtoull(end, &end, 10);
    char *newline = strchr(text, '\n');
    if (*end != ' ' || end[1] != '/' || !newline || process_is((pid_t)pid, ticks))
        return NULL;
    return arena_strndup(d->arena, end + 1, (size_t)(newline - end - 1));
}

/* Gone, or a folder of ours as mkdtemp makes them for --ephemeral. */
static bool may_remove(const char *data)
{
    struct stat st;
    const char *slash = strrchr(data, '/');
    if (lstat(data, &st) < 0)
        return errno == ENOENT;
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && strncmp(slash + 1, DATA_PREFIX, strlen(DATA_PREFIX)) == 0 && strlen(slash + 1) == strlen(DATA_PREFIX) + 6;
}

static void sweep_one(struct dev *d, const char *run)
{
    struct err ignored;
    struct stat st;
    const char *data = dead_owner(d, run);
    if (!data || !may_remove(data))
        return;
    struct dev old = { .c = d->c, .arena = d->arena, .data = data, .run = run, .pg = arena_printf(d->arena, "%s/pg", data), .is_root = d->is_root, .lock_fd = -1 };
    if (state_owner(&old))
        return;             /* somebody has taken it up */
    state_kill_leftovers(&old);
    if (stat(data, &st) < 0)
        files_remove_tree(run);
    else if (files_remove_data(&old, &ignored) != ERR_OK)
        cli_note(d->c, "falaj dev: %s of an ended run could not be removed", data);
}

void sweep_dead(struct dev *d)
{
    const char *slash = strrchr(d->run, '/');
    const char *base = arena_strndup(d->arena, d->run, (size_t)(slash - d->run));
    DIR *dir = opendir(base);
    for (struct dirent *one; dir && (one = readdir(dir));) {
        struct stat st;
        const char *run = arena_printf(d->arena, "%s/%s", base, one->d_name);
        if (!is_run_folder(one->d_name) || strcmp(run, d->run) == 0 || lstat(run, &st) < 0 || !S_ISDIR(st.st_mode))
            continue;
        sweep_one(d, run);
    }
    if (dir)
        closedir(dir);
}
