/* SPDX-License-Identifier: Apache-2.0 */
/* box_try.c - a box with true(1) in it; its end by bwrap's status, its failure by bwrap's words. */
#include "workers/lease/box_try.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "workers/lease/box.h"

enum { TRY_FILES = 64, TRY_NODES = 64, TRY_BYTES = 1 << 20, TRY_ARENA = 64 << 10, TRY_WORDS = 256 };

static const char lacks_net[] = "the lease's account cannot make an interface of worker.tun_device (mode 0666, as udev gives it)";

/* All that comes until its writers have ended, as far as there is room. */
static void read_all(int fd, char out[TRY_WORDS])
{
    size_t n = 0;
    char more[64];
    for (;;) {
        ssize_t got = read(fd, more, sizeof more);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        size_t take = (size_t)got < TRY_WORDS - 1 - n ? (size_t)got : TRY_WORDS - 1 - n;
        memcpy(out + n, more, take);
        n += take;
    }
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* By which the program's files are read (folder.c); some filters answer that they do not know it. */
static enum errc try_files(const struct box *b, struct err *e)
{
    const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
    CLEANUP(fd_closep) int fd = (int)syscall(SYS_openat2, b->root, BOX_OUT, &how, sizeof how);
    if (fd >= 0)
        return ERR_OK;
    FAIL(e, UNPROCESSABLE, "openat2, by which outputs are read, was refused");
    return err_errno(e, errno);
}

static enum errc try_program(const struct sandbox *s, const struct box_net *net, struct err *e)
{
    const struct str command = STR("/usr/bin/true");
    const struct box_program p = { .command = &command, .ncommand = 1, .workdir = STR("/") };
    char status[TRY_WORDS], words[TRY_WORDS];
    CLEANUP(arena_freep) struct arena *a = arena_new(TRY_ARENA);
    struct box b;
    TRY(box_open(s, TRY_BYTES, TRY_NODES, net, &b, e));
    TRY(try_files(&b, e));
    TRY(box_start(&b, a, &p, e));
    read_all(b.pipes[BOX_STATUS], status);
    read_all(b.pipes[BOX_STDERR], words);
    if (strstr(status, "\"exit-code\": 0"))
        return ERR_OK;
    return FAIL(e, UNPROCESSABLE, "a box could not be made: %.200s", words);
}

static _Noreturn void in_child(uid_t uid, gid_t gid, const char *device, int to)
{
    const struct sandbox s = { .uid = uid, .gid = gid, .files = TRY_FILES };
    const struct box_net net = { device, 0, 1 };
    const char begins[] = BOX_NO_PROGRAMS;
    struct err e = { 0 };
    if (try_program(&s, device ? &net : NULL, &e) != ERR_OK) {
        const char *words = strncmp(e.msg, begins, strlen(begins)) ? e.msg : e.msg + strlen(begins);
        dprintf(to, "%s%s%s", words, e.detail[0] ? ": " : "", e.detail);
        _exit(1);
    }
    _exit(0);
}

/* False: ret says why. */
static bool try_box(uid_t uid, gid_t gid, const char *device, char ret[TRY_WORDS])
{
    int ends[2], status = -1;
    snprintf(ret, TRY_WORDS, "no process to try it in");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork(), got = 0;
    if (pid == 0)
        in_child(uid, gid, device, ends[1]);
    close(ends[1]);
    if (pid > 0)
        read_all(ends[0], ret);
    close(ends[0]);
    while (pid > 0 && (got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (pid > 0 && !ret[0])
        snprintf(ret, TRY_WORDS, "the try ended by itself (status %d)", status);
    return pid > 0 && got == pid && status == 0;
}

const char *box_lacks(uid_t uid, gid_t gid)
{
    static char words[TRY_WORDS];
    return try_box(uid, gid, NULL, words) ? NULL : words;
}

const char *box_net_lacks(uid_t uid, gid_t gid, const char *device)
{
    char words[TRY_WORDS];
    return try_box(uid, gid, device, words) ? NULL : lacks_net;
}
