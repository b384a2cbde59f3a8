/* SPDX-License-Identifier: Apache-2.0 */
/* rank.c - falaj-rank: how mpirun of a job on several machines starts its daemons on the others, in place of a remote shell.
 *
 *   rank 0:  the job's command -> mpirun -> falaj-rank rank-1 'orted …' --> rank 1: falaj-rank --serve -> /bin/sh -c 'orted …'
 *
 * It is in every box of such a job, by the side of any image, so it is static and needs nothing. The other ranks serve for as
 * long as their box lives; the watcher tells them to end (SIGTERM) when rank 0 has. There is nothing to prove: a connection can
 * only come by the gang's own network (workers/gang/tunnel.h), in which there is nobody but this job's programs, and what it
 * starts has the rights of the program that it stands for.
 *
 * A call is one connection: u32 length (network order) and the command, as text for the shell; back comes u32, its exit status
 * as a shell says it. Who called is gone: the command gets SIGTERM. What the command writes goes where the rank's program
 * writes, into the job's log, not to the caller: mpirun's daemons send output of their ranks themselves. */
#include "workers/rank/rank.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_S = 10, SIGNALLED = 128, FAILED = 255, STEP_MS = 100 };

struct command { int fd; pid_t pid; bool is_told; };          /* is_told: its caller is gone, and it was told to end */
static struct command commands[RANK_COMMANDS_MAX];
static size_t ncommands;
static volatile sig_atomic_t is_ending;
static const int heard[] = { SIGTERM, SIGINT, SIGCHLD };

static bool all(int fd, void *p, size_t n, bool is_write)
{
    for (size_t at = 0; at < n;) {
        const ssize_t got = is_write ? send(fd, (char *)p + at, n - at, MSG_NOSIGNAL) : read(fd, (char *)p + at, n - at);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* --- of the others --- */

static void note(int signal_number)
{
    if (signal_number == SIGTERM || signal_number == SIGINT)
        is_ending = 1;
}

/* Of a command before it is one: a signal that came since the fork is held, and is to end it, as it would the command;
 * note() would take it, and the command would never hear of it. So the handlers go first and the mask last. */
static void hear_as_new(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        signal(heard[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void begin(int fd)
{
    static char text[RANK_COMMAND_MAX];
    const struct timeval most = { READ_S, 0 };
    uint32_t n = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    if (!all(fd, &n, sizeof n, false) || ntohl(n) == 0 || ntohl(n) >= sizeof text || !all(fd, text, ntohl(n), false)) {
        fprintf(stderr, "falaj-rank: a call without a command of 1 to %d bytes\n", RANK_COMMAND_MAX - 1);
        close(fd);
        return;
    }
    text[ntohl(n)] = '\0';
    const pid_t pid = fork();
    if (pid == 0) {
        hear_as_new();
        setpgid(0, 0);
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        fprintf(stderr, "falaj-rank: /bin/sh: %s\n", strerror(errno));
        _exit(127);
    }
    if (pid < 0) {
        fprintf(stderr, "falaj-rank: no process for a command: %s\n", strerror(errno));
        close(fd);
        return;
    }
    setpgid(pid, pid);
    commands[ncommands++] = (struct command){ fd, pid, false };
}

static void collect(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (size_t i = 0; i < ncommands; i++) {
            if (commands[i].pid != pid)
                continue;
            uint32_t code = htonl((uint32_t)(WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status)));
            (void)all(commands[i].fd, &code, sizeof code, true);        /* a caller that is gone needs none */
            close(commands[i].fd);
            commands[i] = commands[--ncommands];
            break;
        }
}

static void tell_to_end(void)
{
    for (size_t i = 0; i < ncommands; i++)
        kill(-commands[i].pid, SIGTERM);
}

/* p: of each command, in their order. A caller that is gone stays so: its command is told once, and it is not asked for again,
 * else each look would find it at once for as long as the command needs to end. */
static void look_at_callers(const struct pollfd *p)
{
    for (size_t i = 0; i < ncommands; i++)
        if (p[i].revents) {
            kill(-commands[i].pid, SIGTERM);
            commands[i].is_told = true;
        }
}

/* Waits until a caller comes or goes, or a command ends. listener -1: nobody may come. */
static void turn(int listener, const sigset_t *none)
{
    struct pollfd p[RANK_COMMANDS_MAX + 1];
    const size_t n = ncommands;
    for (size_t i = 0; i < n; i++)
        p[i] = (struct pollfd){ .fd = commands[i].is_told ? -1 : commands[i].fd, .events = POLLRDHUP };
    p[n] = (struct pollfd){ .fd = n == RANK_COMMANDS_MAX ? -1 : listener, .events = POLLIN };
    if (ppoll(p, n + 1, NULL, none) > 0) {
        look_at_callers(p);
        const int fd = p[n].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            begin(fd);
    }
    collect();
}

/* Signals are heard in turn() alone, so that none is missed before it. */
static void hold_signals(void)
{
    const struct sigaction sa = { .sa_handler = note };
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) {
        sigaddset(&held, heard[i]);
        sigaction(heard[i], &sa, NULL);
    }
    sigprocmask(SIG_BLOCK, &held, NULL);
}

static int serve(void)
{
    const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(RANK_PORT), .sin_addr.s_addr = htonl(INADDR_ANY) };
    const int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sigset_t none;
    sigemptyset(&none);
    hold_signals();
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&at, sizeof at) != 0
        || listen(listener, RANK_COMMANDS_MAX) != 0) {
        fprintf(stderr, "falaj-rank: port %d cannot be listened at: %s\n", RANK_PORT, strerror(errno));
        return 1;
    }
    for (bool has_told = false; !is_ending || ncommands;) {
        if (is_ending && !has_told) {
            tell_to_end();
            has_told = true;
        }
        turn(is_ending ? -1 : listener, &none);
    }
    return 0;
}

/* --- of rank 0 --- */

/* A rank's address is its number (workers/gang/packet.h). */
static int call(const char *host)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(RANK_PORT) };
    char address[32], *end = NULL;
    const long rank = strncmp(host, "rank-", 5) == 0 ? strtol(host + 5, &end, 10) : -1;
    if (!end || *end || end == host + 5 || rank < 0 || rank > 253) {
        fprintf(stderr, "falaj-rank: the host must be rank-N, as in the hostfile; it is %s\n", host);
        return -1;
    }
    snprintf(address, sizeof address, "10.91.0.%ld", rank + 1);
    inet_pton(AF_INET, address, &at.sin_addr);
    for (int left = RANK_WAIT_S * 1000 / STEP_MS; left > 0; left--) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
            return fd;
        close(fd);
        poll(NULL, 0, STEP_MS);             /* its box may be about to begin */
    }
    fprintf(stderr, "falaj-rank: %s does not answer at %s:%d: %s\n", host, address, RANK_PORT, strerror(errno));
    return -1;
}

/* As a remote shell joins them. */
static bool join(char **words, char text[RANK_COMMAND_MAX])
{
    size_t n = 0;
    for (; *words; words++) {
        const size_t more = strlen(*words);
        if (n + more + 2 > RANK_COMMAND_MAX)
            return false;
        if (n)
            text[n++] = ' ';
        memcpy(text + n, *words, more);
        n += more;
    }
    text[n] = '\0';
    return n > 0;
}

int main(int argc, char **argv)
{
    static char text[RANK_COMMAND_MAX];
    uint32_t code = 0;
    int at = 1;
    if (argc == 2 && strcmp(argv[1], RANK_SERVE) == 0)
        return serve();
    while (at < argc && argv[at][0] == '-')             /* flags of a remote shell without a value, as -x */
        at++;
    if (at + 1 >= argc || !join(argv + at + 1, text)) {
        fprintf(stderr, "use: falaj-rank rank-N COMMAND… (at most %d bytes), or falaj-rank " RANK_SERVE "\n",
                RANK_COMMAND_MAX - 1);
        return FAILED;
    }
    const int fd = call(argv[at]);
    uint32_t n = htonl((uint32_t)strlen(text));
    if (fd < 0)
        return FAILED;
    if (!all(fd, &n, sizeof n, true) || !all(fd, text, strlen(text), true) || !all(fd, &code, sizeof code, false)) {
        fprintf(stderr, "falaj-rank: %s is gone\n", argv[at]);
        return FAILED;
    }
    return (int)ntohl(code);
}
