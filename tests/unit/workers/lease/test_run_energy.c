/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_energy.c - a lease's child asks what it has taken: counters are files of the test's, which the child (this program
 * itself) moves on before it asks. Then a real training with a budget of joules. And what is said of use: of a process in a real
 * control group, looked at by a clock of the test's. */
#include "executor_kit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../../../lib/wait.h"
#include "../agent/cards_kit.h"
#include "workers/lease/executor_int.h"
#include "workers/lease/frame.h"

static char dir[64];                        /* named by the test's process, the parent of the lease's child */

static void name_dir(pid_t pid)
{
    snprintf(dir, sizeof dir, "/tmp/falaj-run-energy-%ld", (long)pid);
}

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        _exit(1);
}

/* Joules of the one package so far, and processor seconds of the whole machine. */
static void counters(int joules, int busy_s)
{
    char text[128];
    snprintf(text, sizeof text, "%d000000\n", joules);
    put("cap/intel-rapl:0/energy_uj", text);
    snprintf(text, sizeof text, "cpu  %ld 0 0 0 0 0 0 0 0 0\n", busy_s * sysconf(_SC_CLK_TCK));
    put("stat", text);
}

static void make_files(void)
{
    char path[256];
    name_dir(getpid());
    (void)mkdir(dir, 0777);
    for (const char *const *d = (const char *const[]){ "cap", "cap/intel-rapl:0", NULL }; *d; d++) {
        snprintf(path, sizeof path, "%s/%s", dir, *d);
        (void)mkdir(path, 0777);
    }
    put("cap/intel-rapl:0/name", "package-0\n");
    put("cap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    counters(5, 10);
}

static void say(enum frame_type type, const char *body)
{
    if (frame_send(FRAME_FD, type, STR_NULL, str_c(body), NULL, 0, true, NULL) != ERR_OK)
        _exit(1);
}

static struct str hear(char *room, enum frame_type want)
{
    struct frame f = { 0 };
    if (frame_receive(FRAME_FD, room, &f, NULL) != ERR_OK || f.type != want)
        _exit(1);
    frame_close_fds(&f);
    return f.body;
}

/* Uses some processor time, lets the machine have taken a thousand joules for a millisecond's work, and tells what it is told. */
static int asking_child(void)
{
    static char room[FRAME_MAX];
    char line[64];
    int64_t mj[2];
    name_dir(getppid());
    (void)hear(room, FRAME_GRANT);
    (void)hear(room, FRAME_KEYS);
    for (int i = 0; i < 2; i++) {
        if (i) {
            for (clock_t until = clock() + CLOCKS_PER_SEC / 20; clock() < until;)
                ;
            usleep(300000);                         /* a look is due again: looks that are asked for have a distance */
            counters(1005, 11);
        }
        say(FRAME_ENERGY, "");
        memcpy(&mj[i], hear(room, FRAME_ENERGY).ptr, sizeof mj[i]);
    }
    snprintf(line, sizeof line, "told %s then %s", mj[0] == 0 ? "nothing" : mj[0] < 0 ? "no measure" : "much",
             mj[1] >= 30000 && mj[1] <= 1000000 ? "its share" : mj[1] < 0 ? "no measure" : "something else");
    say(FRAME_FAILED, line);
    _exit(0);
}

static void with_child(const char *cap, const char *kind, const char *text)
{
    struct fixture f;
    char path[128], stat_path[128];
    setup(&f, "1g");
    make_files();
    snprintf(path, sizeof path, "%s%s", *cap ? dir : "", cap);
    snprintf(stat_path, sizeof stat_path, "%s/stat", dir);
    f.env.energy = energy_new(path, stat_path, NULL);
    f.env.program = "/proc/self/exe";
    run_and_expect(&f, add_kind(&f, kind, "{}", 0), "\"event\":\"fail\"", text);
    energy_free(f.env.energy);
    teardown(&f);
}

static void test_a_child_is_told_its_share(void **st)
{
    (void)st;
    with_child("/cap", "train", "told nothing then its share");
    with_child("", "train", "told no measure then no measure");
}

static void test_a_child_of_programs_may_not_ask(void **st)
{
    (void)st;
    with_child("/cap", "run", "the child of programs asked what they have taken");
}

#define SPEC "{\"dataset_id\":\"dst_00000000000000000000000000000001\",\"dataset_version\":1,\"label_column\":\"label\"," \
             "\"epochs\":2,\"max_joules\":1000000}"

static void test_a_training_asks_by_itself(void **st)
{
    (void)st;
    for (int is_measured = 0; is_measured <= 1; is_measured++) {
        struct fixture f;
        char path[128], stat_path[128];
        setup(&f, "1g");
        make_files();
        snprintf(path, sizeof path, "%s/cap", dir);
        snprintf(stat_path, sizeof stat_path, "%s/stat", dir);
        f.env.energy = is_measured ? energy_new(path, stat_path, NULL) : NULL;
        run_and_expect(&f, add_kind(&f, "train", SPEC, 0), is_measured ? "\"event\":\"succeed\"" : "\"event\":\"fail\"",
                       is_measured ? "info: epoch 2: loss " : "max_joules: this machine does not measure");
        energy_free(f.env.energy);
        teardown(&f);
    }
}

/* One machine of several whose processors are not measured, and its cards are: its next word has them. */
static void test_cards_are_told_without_processors(void **st)
{
    struct fixture f;
    char path[128], stat_path[128];
    struct cards *cards;
    struct err e = { 0 };
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    struct lease_grant g = kit_grant(1, "train", "{}");
    (void)st;
    setup(&f, "1g");
    make_files();
    kit_cards("GPU-a|NVIDIA H100 80GB HBM3|85520809984|0|40|0|0\n");
    snprintf(path, sizeof path, "%s/joules", dir);
    snprintf(stat_path, sizeof stat_path, "%s/stat", dir);
    setenv("FAKE_NVML_ENERGY", path, 1);
    put("joules", "5000");
    if (cards_new(FAKE_NVML_PATH, &cards, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    f.env.energy = energy_new("", stat_path, cards);
    g.nodes = 2;
    g.rank = 1;
    struct held *h = book_add(f.book, &g, true);
    struct run r = { .env = &f.env, .g = held_grant(h), .held = h, .pid = getpid() };
    energy_begin(f.env.energy, &r.energy, 1, 1000, 0);
    put("joules", "9000");
    run_look_at_energy(&r, 2 * ENERGY_LOOK_US);
    kit_report(f.book, &report);
    assert_non_null(strstr(report.ptr, "\"gpu_mj\":4000"));
    assert_null(strstr(report.ptr, "cpu_mj"));
    held_unref(h);
    energy_free(f.env.energy);
    cards_free(cards);
    kit_no_cards();
    teardown(&f);
}

/* Waits in its cage until it is told to work, then does until it is killed. */
static pid_t program_in(const struct cage *cage, int *ret_tell)
{
    int ends[2];
    char c;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        if (!cage_join(cage) || read(ends[0], &c, 1) != 1)
            _exit(1);
        for (;;)
            ;
    }
    close(ends[0]);
    *ret_tell = ends[1];
    return pid;
}

static void looks(struct run *r, int n, int64_t *now)
{
    for (int i = 0; i < n; i++)
        run_look_at_idle(r, *now += IDLE_LOOK_US);
}

static void test_a_program_that_waits_is_said_to_be_idle(void **st)
{
    struct fixture f;
    struct err e = { 0 };
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    struct lease_grant g = kit_grant(1, "run", "{}");
    int64_t now = 0, before, us;
    int tell;
    (void)st;
    setup(&f, "1g");
    struct held *h = book_add(f.book, &g, true);
    struct run r = { .env = &f.env, .g = held_grant(h), .held = h };
    char name[64];
    snprintf(name, sizeof name, "test-idle-%d", (int)getpid());
    assert_int_equal(cage_new(name, &(struct cage_limits){ (int64_t)256 << 20, 64, 0 }, &r.cage, &e), ERR_OK);
    r.pid = program_in(r.cage, &tell);
    WAIT_WHILE(cage_cpu_us(r.cage, &us) && us == 0);            /* it has joined */
    idle_begin(&r.idle, 0, now);
    looks(&r, 5, &now);
    kit_report(f.book, &report);
    if (cage_cpu_us(r.cage, &before)) {
        assert_non_null(strstr(report.ptr, "\"idle_ms\":20000"));
        assert_int_equal(write(tell, "w", 1), 1);
        WAIT_WHILE(cage_cpu_us(r.cage, &us) && us - before < IDLE_LOOK_US / 100 * IDLE_CPU_PERCENT);
        looks(&r, 1, &now);
        book_unsettle(f.book);
        kit_report(f.book, &report);
        assert_non_null(strstr(report.ptr, "\"idle_ms\":0"));
    } else {
        print_message("note: no control groups on this machine that count processor time\n");
        assert_null(strstr(report.ptr, "idle_ms"));
    }
    close(tell);
    cage_kill(r.cage, 0);
    kill(r.pid, SIGKILL);
    assert_int_equal(waitpid(r.pid, NULL, 0), r.pid);
    cage_free(r.cage);
    held_unref(h);
    teardown(&f);
}

static int drop_files(void **st)
{
    char command[128];
    (void)st;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--run-lease"))
        return asking_child();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_child_is_told_its_share), cmocka_unit_test(test_a_child_of_programs_may_not_ask),
        cmocka_unit_test(test_a_training_asks_by_itself), cmocka_unit_test(test_cards_are_told_without_processors),
        cmocka_unit_test(test_a_program_that_waits_is_said_to_be_idle),
    };
    return cmocka_run_group_tests(tests, NULL, drop_files);
}
