/* SPDX-License-Identifier: Apache-2.0 */
/* test_escape.c - programs in real boxes try to get out (attempts.py), and to take the machine down; nothing gets out, and
 * nobody outside
 * notices. As root each lease has an account of its own, as in production. */
#include "tests/unit/workers/lease/run_kit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "tests/lib/share.h"

enum { SCRIPT_MAX = 32768, KEY = 0x46414c4a };

/* What the machine has that a program must not reach. */
struct outside {
    int tcp, tcp6, abstract, port, shm, msg;
    pid_t agent;
    char secret[128], segment[64];
};

static int listen_on(int family, const void *address, socklen_t n)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0 && bind(fd, address, n) == 0 && listen(fd, 8) == 0);
    return fd;
}

static void outside_make(struct outside *o, const char *dir)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_un u = { .sun_family = AF_UNIX };
    socklen_t n = sizeof a;
    o->tcp = listen_on(AF_INET, &a, sizeof a);
    assert_int_equal(getsockname(o->tcp, (struct sockaddr *)&a, &n), 0);
    o->port = ntohs(a.sin_port);
    int len = snprintf(u.sun_path + 1, sizeof u.sun_path - 1, "falaj-escape-%d", o->port);
    o->abstract = listen_on(AF_UNIX, &u, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len));
    o->shm = shmget(KEY, 4096, IPC_CREAT | 0666);
    o->msg = msgget(KEY, IPC_CREAT | 0666);
    snprintf(o->segment, sizeof o->segment, "/dev/shm/falaj-escape-%d", o->port);
    snprintf(o->secret, sizeof o->secret, "%s/secret", dir);
    FILE *f = fopen(o->secret, "w");
    FILE *s = fopen(o->segment, "w");
    assert_true(o->shm >= 0 && o->msg >= 0 && f && s && fputs("secret", f) >= 0 && fputs("segment", s) >= 0);
    fclose(f);
    fclose(s);
    o->agent = fork();
    if (o->agent == 0)
        for (prctl(PR_SET_PDEATHSIG, SIGKILL);;)
            pause();
}

/* All of it is as it was. */
static void outside_end(struct outside *o)
{
    char text[16] = "";
    FILE *f = fopen(o->secret, "r");
    assert_true(f && fgets(text, sizeof text, f) && strcmp(text, "secret") == 0);
    fclose(f);
    assert_int_equal(waitpid(o->agent, NULL, WNOHANG), 0);
    kill(o->agent, SIGKILL);
    assert_int_equal(waitpid(o->agent, NULL, 0), o->agent);
    assert_int_equal(shmctl(o->shm, IPC_RMID, NULL) + msgctl(o->msg, IPC_RMID, NULL) + unlink(o->secret) + unlink(o->segment), 0);
    assert_int_equal(accept(o->tcp, NULL, NULL) + accept(o->abstract, NULL, NULL), -2);
    close(o->tcp);
    close(o->abstract);
}

static void box_setup(struct fixture *f)
{
    run_setup(f, "an input\n");
    f->env.isolation = isolation_new(f->config);
}

static void box_teardown(struct fixture *f)
{
    isolation_free(f->env.isolation);
    teardown(f);
}

static struct held *python(struct fixture *f, const char *script, const char *more)
{
    static char members[512];
    snprintf(members, sizeof members, ",\"workdir\":\"/falaj/scratch\"%s", more);
    return run_add(f, 1, script, members);
}

/* The archive is made once by a program of its own (image_of_python.py). */
static struct held *python_in_image(struct fixture *f, const char *script, const char *more)
{
    static struct buf archive;
    static char members[600], path[128];
    snprintf(members, sizeof members, ",\"environment\":\"dst_0123456789abcdef0123456789abcdef@1\"%s", more);
    snprintf(path, sizeof path, "%s/image.tar", f->dir);
    char command[192];
    snprintf(command, sizeof command, "python3 tests/escape/image_of_python.py %s", path);
    assert_int_equal(system(command), 0);
    kit_read_file(path, &archive);
    assert_int_equal(unlink(path), 0);
    struct held *h = run_add_image(f, 1, script, members, buf_str(&archive));
    buf_release(&archive);
    return h;
}

/* in_image: the same programs in an image that has the machine's Python, as a program sees its own root. */
static void try_all(bool in_image)
{
    static char script[SCRIPT_MAX + 64];
    char env[400];
    struct fixture f;
    struct outside o;
    struct buf text;
    box_setup(&f);
    outside_make(&o, f.dir);
    kit_read_file("tests/escape/attempts.py", &text);
    assert_true(text.len < SCRIPT_MAX - 64);
    snprintf(script, sizeof script, "exec python3 - <<'END'\n%.*s\nEND\n", (int)text.len, text.ptr);
    snprintf(env, sizeof env, ",\"env\":[\"OUTSIDE=%s\",\"PORT=%d\",\"AGENT=%d\",\"KEY=%d\",\"OWN_ROOT=%s\"]", f.dir, o.port,
             (int)o.agent, KEY, in_image ? "1" : "");
    const char *r = run_to_end(&f, in_image ? python_in_image(&f, script, env) : python(&f, script, env));
    const char *count = strstr(r, "\"attempts: ");
    if (!count || !strstr(r, " succeeded: 0\"") || !strstr(r, "\"event\":\"succeed\""))
        fail_msg("%s", r);
    printf("escape: %ld attempts%s, none succeeded\n", strtol(count + strlen("\"attempts: "), NULL, 10),
           in_image ? " in an image" : "");
    assert_true(strtol(count + strlen("\"attempts: "), NULL, 10) >= 60);
    buf_release(&text);
    outside_end(&o);
    box_teardown(&f);
}

static void nothing_gets_out(void **state)
{
    (void)state;
    try_all(false);
}

static void nothing_gets_out_of_an_image(void **state)
{
    (void)state;
    try_all(true);
}

/* A bomb ends its own lease, or finds its limit; a neighbour that ran all the while ends well. */
static const struct bomb { const char *name, *script, *more, *text, *event; bool is_quick, is_large; } bombs[] = {
    { "forks", "exec python3 -c 'import os,time\nn=0\ntry:\n while 1:\n  if os.fork()==0: time.sleep(600)\n  n+=1\nexcept "
        "OSError: print(\"made\",n<1024)'", "",
      "made True", "succeed", true, true },
    { "memory", "exec python3 -c 'a=[]\nwhile 1: a.append(bytearray(1<<20))'", "", "needed more than its 256 MiB", "oom", true },
    { "disk", "dd if=/dev/zero of=/tmp/x bs=1M", "", "No space left on device", "fail", true },
    { "shared memory", "dd if=/dev/zero of=/dev/shm/x bs=1M", "", "No space left on device", "fail", false },
    { "outputs", "dd if=/dev/zero of=/falaj/out/x bs=1M", "", "No space left on device", "fail", false },
    { "root", "dd if=/dev/zero of=/x", "", "Read-only file system", "fail", false },
    { "files", "exec python3 -c 'import os\nn=0\ntry:\n while 1:\n  os.close(os.open(\"/tmp/%d\"%n,65)); n+=1\nexcept OSError: "
        "print(\"made\",n<=100000)'", "",
      "made True", "succeed", false },
    { "descriptors", "exec python3 -c 'import os\nn=0\ntry:\n while 1:\n  os.open(\"/dev/null\",0); n+=1\nexcept OSError: "
        "print(\"made\",n<=4096)'", "",
      "made True", "succeed", false },
    { "threads", "exec python3 -c 'import threading,time\nn=0\ntry:\n while 1:\n  "
        "threading.Thread(target=time.sleep,args=(600,),daemon=True).start(); n+=1\nexcept "
      "RuntimeError: print(\"made\",n<1024,flush=True)\nimport os;os._exit(0)'", "", "made True", "succeed", false, true },
    { "holes in an output", "truncate -s 4T /falaj/out/x || exit 9", ",\"outputs\":[\"x\"]", "at most 1073741824 are kept",
        "fail", false },
    { "holes in a checkpoint", "truncate -s 3G /falaj/checkpoint/x; sleep 3", "", "is not kept: the folder is too large",
        "succeed", false },
    { "depth", "exec python3 -c 'import os\nos.chdir(\"/falaj/checkpoint\")\nfor i in range(2000): os.mkdir(\"d\"); "
        "os.chdir(\"d\")\nimport time;time.sleep(3)'", "",
      "is not kept: the folder is deeper than 16", "succeed", false },
    { "one long line", "head -c 100000000 /dev/zero | tr '\\0' x", "", "lines were dropped", "succeed", false },
    { "signals to all", "kill -9 -1", "", "signal 9", "fail", false },
    { "a process that hides", "setsid sh -c 'trap \"\" TERM HUP INT; sleep 600' & sleep 0.2", "", "\"exit_code\":0", "succeed",
        false },
};

static void a_bomb_harms_nobody_else(void **state)
{
    (void)state;
    enum { ALL = sizeof bombs / sizeof *bombs, QUICK = 3 };
    bool is_full = share_of("bombs", QUICK, ALL) == ALL;
    for (size_t i = 0; i < ALL; i++) {
        struct fixture f;
        char event[64];
        struct err e = { 0 };
        if (!bombs[i].is_quick && !is_full)
            continue;
        box_setup(&f);
        assert_int_equal(config_set(f.config, "worker.slot_memory", bombs[i].is_large ? "1g" : "256m", &e), ERR_OK);
        const char *r = run_to_end(&f, python(&f, bombs[i].script, bombs[i].more));
        snprintf(event, sizeof event, "\"event\":\"%s\"", bombs[i].event);
        if (!strstr(r, event) || !strstr(r, bombs[i].text))
            fail_msg("%s: %s", bombs[i].name, r);
        box_teardown(&f);
        pid_t pid = fork();                     /* the machine has processes left, and nobody sits in the lease's place */
        if (pid == 0)
            _exit(0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_gets_out), cmocka_unit_test(nothing_gets_out_of_an_image),
        cmocka_unit_test(a_bomb_harms_nobody_else) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
