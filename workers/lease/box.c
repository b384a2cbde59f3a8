/* SPDX-License-Identifier: Apache-2.0 */
/* box.c - namespaces and the scratch; then bwrap, whose words go by a file without a name, so that no list of processes shows
 * them.
 *
 * bwrap gets no environment: what a tenant sets is set inside, or a tenant's LD_PRELOAD would be loaded outside. It inherits its
 * four
 * pipes, the filter and its words, and nothing else. */
#include "workers/lease/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"
#include "workers/lease/accounts.h"
#include "workers/lease/box_filter.h"
#include "workers/lease/gang_net.h"

#define BWRAP "/usr/bin/bwrap"
#define ROOT "/tmp"                     /* of the watcher's own mounts: every machine has it */
#define INSIDE_ID "1000"
enum { STATUS_FD = BOX_METRICS_FD + 1, FILTER_FD, ARGS_FD, FIRST_FREE_FD, ARGS_MAX = 1 << 20,
    STATUS_MAX = 4096,
       PROCESSES_MAX = 1024, GPUS_MAX = 64 };

static const struct { const char *name, *inside; bool is_writable; } folders[] = {
    { BOX_IN, "/falaj/in", false }, { BOX_CODE, "/falaj/code", false }, { BOX_SECRETS, "/falaj/secrets", false },
        { BOX_OUT, "/falaj/out", true },
    { BOX_CHECKPOINT, "/falaj/checkpoint", true }, { "scratch", "/falaj/scratch", true }, { "tmp", "/tmp", true },
    { "shm", "/dev/shm", true },
};
static const struct { const char *name, *text; } files[] = {
    { "passwd", "falaj:x:" INSIDE_ID ":" INSIDE_ID "::/falaj/scratch:/bin/sh\n" }, { "group", "falaj:x:" INSIDE_ID ":\n" },
    { "hosts", "127.0.0.1 localhost falaj\n::1 localhost\n" }, { "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
};
const struct box_place box_places[] = {
    { "proc", true }, { "dev", true }, { "tmp", true }, { "falaj/in", true }, { "falaj/code", true }, { "falaj/secrets", true },
    { "falaj/out", true }, { "falaj/checkpoint", true }, { "falaj/scratch", true }, { "etc/passwd", false },
        { "etc/group", false },
    { "etc/hosts", false }, { "etc/nsswitch.conf", false }, { NULL, false },
};
static const char lacks_bwrap[] = BWRAP " is not there; its operator installs bubblewrap",
                  lacks_account[] = "its leases have no account but root's (worker.uid_base)",
                  lacks_spaces[] = "its kernel or its unit refused a user namespace to the lease's account";

enum { FOLDERS = sizeof folders / sizeof *folders, FILES = sizeof files / sizeof *files };

static bool put(int at, const char *path, const char *text)
{
    CLEANUP(fd_closep) int fd = openat(at, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool map_self(const char *path, unsigned id)
{
    char text[64];
    snprintf(text, sizeof text, "%u %u 1", id, id);
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* The maps of a process are root's while it is undumpable, as it is since it changed its account. */
static enum errc spaces_enter(struct err *e)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    bool ok = unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0;
    prctl(PR_SET_DUMPABLE, 1);
    ok = ok && put(AT_FDCWD, "/proc/self/setgroups", "deny") && map_self("/proc/self/uid_map", uid) &&
        map_self("/proc/self/gid_map", gid);
    int failed = errno;
    prctl(PR_SET_DUMPABLE, 0);
    if (ok)
        return ERR_OK;
    FAIL(e, UNPROCESSABLE, BOX_NO_PROGRAMS "%s", lacks_spaces);
    return err_errno(e, failed);
}

static enum errc scratch_make(int64_t bytes, int64_t most, int *ret, struct err *e)
{
    char options[96];
    snprintf(options, sizeof options, "size=%lld,nr_inodes=%lld,mode=0700", (long long)bytes, (long long)most);
    bool ok = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount("falaj", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0 &&
              (*ret = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0 && mkdirat(*ret, "etc", 0755) == 0;
    ok = ok && mkdirat(*ret, BOX_IMAGE, 0755) == 0;
    for (int i = 0; ok && i < FOLDERS; i++)
        ok = mkdirat(*ret, folders[i].name, 0755) == 0;
    CLEANUP(fd_closep) int etc = ok ? openat(*ret, "etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (int i = 0; ok && i < FILES; i++)
        ok = put(etc, files[i].name, files[i].text);
    if (ok)
        return ERR_OK;
    FAIL(e, IO, "the lease's scratch in memory cannot be made");
    return err_errno(e, errno);
}

/* Before the scratch hides what it lies over. */
static enum errc enter_net(struct box *b, const struct box_net *net, struct err *e)
{
    b->has_net = net != NULL;
    b->rank = net ? net->rank : 0;
    return net ? gang_net_open(net->device, net->rank, &b->net, e) : ERR_OK;
}

static enum errc name_ranks(const struct box *b, const struct box_net *net, struct err *e)
{
    char hosts[GANG_NET_HOSTS];
    if (!net)
        return ERR_OK;
    gang_net_hosts(net->rank, net->nodes, hosts);
    bool ok = unlinkat(b->root, "etc/hosts", 0) == 0 && put(b->root, "etc/hosts", hosts);
    return ok ? ERR_OK : FAIL(e, IO, "the names of the job's machines cannot be written");
}

enum errc box_open(const struct sandbox *s, int64_t scratch_bytes, int64_t scratch_files, const struct box_net *net,
    struct box *ret, struct err *e)
{
    *ret = (struct box){ -1, -1, false, 0, { -1, -1, -1, -1 }, -1, 0, 0 };
    if (access(BWRAP, X_OK) != 0)
        return FAIL(e, UNPROCESSABLE, BOX_NO_PROGRAMS "%s", lacks_bwrap);
    TRY(sandbox_begin(s, e));
    if (geteuid() == 0)
        return FAIL(e, UNPROCESSABLE, BOX_NO_PROGRAMS "%s", lacks_account);
    TRY(spaces_enter(e));
    TRY(enter_net(ret, net, e));
    TRY(scratch_make(scratch_bytes, scratch_files, &ret->root, e));
    TRY(name_ranks(ret, net, e));
    if (!caps_keep(0) || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return FAIL(e, IO, "capabilities cannot be given up");
    return sandbox_tie(s, e);
}

static void add(struct buf *b, const char *word)
{
    buf_add(b, word, strlen(word) + 1);
}

static void add_all(struct buf *b, const char *const *words)
{
    for (; *words; words++)
        add(b, *words);
}

static void add_bind(struct buf *b, const char *how, const char *from, const char *to)
{
    const char *const words[] = { how, from, to, NULL };
    add_all(b, words);
}

static void add_devices(struct buf *b, uint64_t devices)
{
    static const char *const shared[] = { "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", NULL };
    char path[32];
    for (int i = 0; i < GPUS_MAX; i++)
        if (devices >> i & 1) {
            snprintf(path, sizeof path, "/dev/nvidia%d", i);
            add_bind(b, "--dev-bind-try", path, path);
        }
    for (int i = 0; devices && shared[i]; i++)
        add_bind(b, "--dev-bind-try", shared[i], shared[i]);
}

/* The machine's own programs and libraries. */
static void add_host(struct buf *b)
{
    static const char *const links[] = { "bin", "lib", "lib64", "sbin", NULL };
    static const char *const etc[] = { "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", NULL };
    char from[64], to[64];
    add_bind(b, "--ro-bind", "/usr", "/usr");
    for (int i = 0; links[i]; i++) {
        snprintf(from, sizeof from, "usr/%s", links[i]);
        snprintf(to, sizeof to, "/%s", links[i]);
        add_bind(b, "--symlink", from, to);
    }
    for (int i = 0; etc[i]; i++)
        add_bind(b, "--ro-bind-try", etc[i], etc[i]);
}

static void add_places(struct buf *b, const struct box_program *p)
{
    static const char *const kernel[] = { "--proc", "/proc", "--dev", "/dev", NULL };
    static const char *const seal[] = { "--remount-ro", "/dev", NULL }, *const seal_root[] = { "--remount-ro", "/", NULL };
    char from[64], to[64];
    if (p->has_image)
        add_bind(b, "--bind", ROOT "/" BOX_IMAGE, "/");
    else
        add_host(b);
    for (int i = 0; i < FILES; i++) {
        snprintf(from, sizeof from, ROOT "/etc/%s", files[i].name);
        snprintf(to, sizeof to, "/etc/%s", files[i].name);
        add_bind(b, "--ro-bind", from, to);
    }
    add_all(b, kernel);
    add_devices(b, p->devices);
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(from, sizeof from, ROOT "/%s", folders[i].name);
        add_bind(b, folders[i].is_writable ? "--bind" : "--ro-bind", from, folders[i].inside);
    }
    add_all(b, seal);
    if (!p->has_image)
        add_all(b, seal_root);
}

static void add_env(struct buf *b, const struct box_program *p)
{
    add(b, "--clearenv");
    for (size_t i = 0; i < p->nenv; i++) {
        struct str name, value;
        (void)str_cut(p->env[i], '=', &name, &value);
        add(b, "--setenv");
        buf_add_str(b, name);
        buf_add_char(b, '\0');
        buf_add_str(b, value);
        buf_add_char(b, '\0');
    }
}

static void add_walls(struct buf *b, const struct box *of)
{
    static const char *const walls[] = { "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
        "--new-session", "--uid", INSIDE_ID, "--gid", INSIDE_ID, "--cap-drop", "ALL", "--hostname", NULL };
    char name[16];
    snprintf(name, sizeof name, of->has_net ? "rank-%d" : "falaj", of->rank);
    add_all(b, walls);
    add(b, name);
    if (of->has_net)
        add(b, "--share-net");
}

static enum errc args_file(const struct box *of, const struct box_program *p, int *ret, struct err *e)
{
    char number[16];
    CLEANUP(buf_releasep) struct buf b = BUF(ARGS_MAX);
    add_walls(&b, of);
    add_places(&b, p);
    add_env(&b, p);
    add(&b, "--chdir");
    buf_add_str(&b, p->workdir);
    buf_add_char(&b, '\0');
    snprintf(number, sizeof number, "%d", FILTER_FD);
    add(&b, "--seccomp");
    add(&b, number);
    snprintf(number, sizeof number, "%d", STATUS_FD);
    add(&b, "--json-status-fd");
    add(&b, number);
    CLEANUP(fd_closep) int fd = memfd_create("words", MFD_CLOEXEC);
    if (b.overflow || fd < 0 || write(fd, b.ptr, b.len) != (ssize_t)b.len || lseek(fd, 0, SEEK_SET) != 0)
        return FAIL(e, IO, "no file for the program's environment");
    *ret = fd;
    fd = -1;
    return ERR_OK;
}

/* In the child of fork; from[i] becomes descriptor i. Does not return. */
static _Noreturn void become(char **argv, const int *from, size_t n)
{
    static char *const none[] = { NULL };
    int high[FIRST_FREE_FD];
    for (size_t i = 0; i < n; i++)
        high[i] = fcntl(from[i], F_DUPFD, FIRST_FREE_FD);       /* out of the way of the numbers that are wanted */
    for (size_t i = 0; i < n; i++)
        if (high[i] < 0 || dup2(high[i], (int)i) < 0)
            _exit(126);
    syscall(SYS_close_range, FIRST_FREE_FD, ~0U, 0);
    const struct rlimit processes = { PROCESSES_MAX, PROCESSES_MAX };   /* of the program's user namespace */
    setrlimit(RLIMIT_NPROC, &processes);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execve(BWRAP, argv, none);
    _exit(126);
}

static char **argv_of(struct arena *a, const struct box_program *p)
{
    static char program[] = "bwrap", args[] = "--args", fd[] = "6", end[] = "--";
    _Static_assert(ARGS_FD == 6, "the text above");
    char **argv = ARENA_ARRAY(a, char *, p->ncommand + 5);
    argv[0] = program;
    argv[1] = args;
    argv[2] = fd;
    argv[3] = end;
    for (size_t i = 0; i < p->ncommand; i++)
        argv[4 + i] = (char *)(uintptr_t)str_z(a, p->command[i]);
    return argv;
}

/* bwrap's first line says which process is the namespace's first. Without it there is none: its words are on standard error. */
static void read_inner(struct box *b, struct arena *a)
{
    char text[STATUS_MAX];
    size_t n = 0;
    const struct jval *v;
    while (n < sizeof text && read(b->pipes[BOX_STATUS], text + n, 1) == 1 && text[n] != '\n')
        n++;
    if (jval_parse(a, str_n(text, n), 2, &v, NULL) == ERR_OK)
        b->inner = (pid_t)jval_i64(jval_get(v, "child-pid"), 0);
}

/* What the program reads at descriptor 0. */
static enum errc open_input(struct box *b, const struct box_program *p, int *ret, struct err *e)
{
    int ends[2];
    if (!p->takes_input) {
        *ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return ERR_OK;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return FAIL(e, IO, "no pipe for the program");
    *ret = ends[0];
    b->input = ends[1];
    return ERR_OK;
}

enum errc box_start(struct box *b, struct arena *a, const struct box_program *p, struct err *e)
{
    CLEANUP(fd_closep) int filter = -1, args = -1, input = -1;
    int ends[BOX_PIPES][2];
    TRY(open_input(b, p, &input, e));
    TRY(box_filter_file(&filter, e));
    TRY(args_file(b, p, &args, e));
    char **argv = argv_of(a, p);
    for (int i = 0; i < BOX_PIPES; i++) {
        if (pipe2(ends[i], O_CLOEXEC) != 0)
            return FAIL(e, IO, "no pipe for the program");
        b->pipes[i] = ends[i][0];
    }
    const int from[] = { input, ends[BOX_STDOUT][1], ends[BOX_STDERR][1], ends[BOX_METRICS][1], ends[BOX_STATUS][1], filter,
        args };
    b->outer = fork();
    if (b->outer == 0)
        become(argv, from, sizeof from / sizeof *from);
    for (int i = 0; i < BOX_PIPES; i++)
        close(ends[i][1]);
    if (b->outer < 0)
        return FAIL(e, IO, "no process for the program");
    read_inner(b, a);
    return ERR_OK;
}

/* The namespace's first process leads the program's group and takes no signal of ours but SIGKILL, which ends all that is in it.
 * */
void box_signal(const struct box *b, int signal_number)
{
    if (b->inner > 1)
        kill(signal_number == SIGKILL ? b->inner : -b->inner, signal_number);
}

bool box_ended(struct box *b)
{
    int status;
    if (b->outer <= 0 || waitpid(b->outer, &status, WNOHANG) != b->outer)
        return false;
    b->outer = 0;
    if (b->inner > 1) {                     /* ours since bwrap has gone (PR_SET_CHILD_SUBREAPER) */
        kill(b->inner, SIGKILL);
        while (waitpid(b->inner, &status, 0) < 0 && errno == EINTR)
            ;
    }
    b->inner = 0;
    return true;
}

void box_close(struct box *b)
{
    for (int i = 0; i < BOX_PIPES; i++)
        fd_closep(&b->pipes[i]);
    fd_closep(&b->input);
    fd_closep(&b->net);
    fd_closep(&b->root);
}
