/* SPDX-License-Identifier: Apache-2.0 */
/* test_energy.c - counters in files of the tests and cards of the tests' NVML: what a lease has of them, counters that wrap, and
 * that what cannot be read is not measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "cards_kit.h"
#include "workers/agent/energy.h"

#define CARD(name, minor) "GPU-" name "|NVIDIA H100 80GB HBM3|85520809984|" minor "|40|0|0\n"
enum { SECOND = 1000000, RANGE = 1000 * SECOND };

static char dir[64], cap[80], stat_path[80], joules[80];

static void put(const char *path, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, (size_t)n, f), n);
    fclose(f);
}

static void domain(const char *which, const char *name, long long uj)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", cap, which);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/name", cap, which);
    put(path, "%s\n", name);
    snprintf(path, sizeof path, "%s/%s/max_energy_range_uj", cap, which);
    put(path, "%d\n", RANGE);
    snprintf(path, sizeof path, "%s/%s/energy_uj", cap, which);
    if (uj < 0)
        unlink(path);
    else
        put(path, "%lld\n", uj);
}

/* The machine has worked so many ticks; idle and waiting do not count. */
static void busy(long ticks)
{
    put(stat_path, "cpu  %ld 1 1 999999 8888 1 1 0 0 0\ncpu0 5 5 5 5 5 5 5 0 0 0\n", ticks);
}

static int set_up(void **st)
{
    (void)st;
    snprintf(dir, sizeof dir, "/tmp/falaj-energy-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(cap, sizeof cap, "%s/cap", dir);
    snprintf(stat_path, sizeof stat_path, "%s/stat", dir);
    snprintf(joules, sizeof joules, "%s/joules", dir);
    assert_int_equal(mkdir(cap, 0700), 0);
    domain("intel-rapl:0", "package-0", 0);
    domain("intel-rapl:1", "package-1", RANGE - 10 * SECOND);
    domain("intel-rapl:0:0", "core", 77);
    domain("intel-rapl:0:1", "dram", 0);
    domain("intel-rapl:2", "psys", 5);
    domain("other", "package-0", 5);
    busy(0);
    return 0;
}

static int tear_down(void **st)
{
    char command[128];
    (void)st;
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static long ticks(double seconds)
{
    return (long)(seconds * (double)sysconf(_SC_CLK_TCK));
}

/* Two leases on a machine of two packages: each has its share, and together with others no more than there was. */
static void test_a_lease_has_its_share(void **st)
{
    struct energy_use a, b;
    (void)st;
    struct energy *m = energy_new(cap, stat_path, NULL);
    assert_true(energy_has_cpu(m));
    energy_begin(m, &a, 0, 0, SECOND);
    energy_begin(m, &b, 0, 0, SECOND);
    assert_true(a.has_cpu && !a.has_gpu && a.next_us == SECOND + ENERGY_LOOK_US);
    domain("intel-rapl:0", "package-0", 60 * SECOND);
    domain("intel-rapl:1", "package-1", 30 * SECOND);       /* wrapped: 40 J */
    domain("intel-rapl:0:1", "dram", 20 * SECOND);
    busy(ticks(10));
    energy_look(m, &a, 5 * SECOND, 20 * SECOND);
    energy_look(m, &b, 2 * SECOND, 20 * SECOND);
    assert_true(a.cpu_uj == 60e6 && b.cpu_uj == 24e6);
    assert_true(a.next_us == 20 * SECOND + ENERGY_LOOK_US);
    domain("intel-rapl:0", "package-0", 160 * SECOND);
    busy(ticks(11));
    energy_look(m, &a, 9 * SECOND, 40 * SECOND);            /* more than the machine says: all of it, no more */
    energy_look(m, &b, 2 * SECOND, 40 * SECOND);            /* it rested */
    assert_true(a.cpu_uj == 160e6 && b.cpu_uj == 24e6);
    double mj;
    assert_true(energy_total(&a, &mj) && mj == 160e3);
    a.devices = 1;                                          /* a card that nobody measures: not known */
    assert_false(energy_total(&a, &mj));
    energy_free(m);
}

/* What comes within a tick goes into the next look. */
static void test_nothing_is_lost_between_ticks(void **st)
{
    struct energy_use u;
    (void)st;
    struct energy *m = energy_new(cap, stat_path, NULL);
    energy_begin(m, &u, 0, 0, 0);
    domain("intel-rapl:0", "package-0", 8 * SECOND);
    energy_look(m, &u, 4000, 100);
    assert_true(u.cpu_uj == 0 && u.has_cpu);
    busy(ticks(1));
    energy_look(m, &u, SECOND / 2, 200);
    assert_true(u.cpu_uj == 4e6);
    energy_free(m);
}

/* Programs whose time is known once they are waited for: the counter wraps meanwhile, and nothing is lost. */
static void test_time_that_is_known_at_the_end(void **st)
{
    struct energy_use u;
    (void)st;
    struct energy *m = energy_new(cap, stat_path, NULL);
    energy_begin(m, &u, 0, 0, 0);
    domain("intel-rapl:1", "package-1", 40 * SECOND);       /* wrapped: 50 J */
    busy(ticks(30));
    energy_look(m, &u, ENERGY_UNKNOWN, 20 * SECOND);
    assert_true(u.has_cpu && u.cpu_uj == 0 && u.next_us == 20 * SECOND + ENERGY_LOOK_US);
    domain("intel-rapl:1", "package-1", 30 * SECOND);       /* and again: 990 J */
    busy(ticks(40));
    energy_look(m, &u, 20 * SECOND, 40 * SECOND);
    assert_true(u.cpu_uj == 520e6);
    energy_free(m);
}

static void test_what_cannot_be_read_is_not_measured(void **st)
{
    struct energy_use u;
    (void)st;
    struct energy *m = energy_new(cap, stat_path, NULL);
    energy_begin(m, &u, 0, 0, 0);
    busy(ticks(4));
    energy_look(m, &u, SECOND, 100);
    assert_true(u.has_cpu);
    domain("intel-rapl:1", "package-1", -1);                /* gone */
    energy_look(m, &u, 2 * SECOND, 200);
    assert_true(!u.has_cpu && u.next_us == INT64_MAX);
    domain("intel-rapl:1", "package-1", 5);
    energy_look(m, &u, 3 * SECOND, 300);
    assert_false(u.has_cpu);                                /* for good: a part is missing */
    energy_free(m);
    domain("intel-rapl:1", "package-1", -1);
    m = energy_new(cap, stat_path, NULL);                   /* half of a machine is none */
    assert_false(energy_has_cpu(m));
    energy_begin(m, &u, 0, 0, 0);
    assert_true(!u.has_cpu && !u.has_gpu && u.next_us == INT64_MAX);
    energy_free(m);
    for (int i = 0; i < 2; i++) {
        m = energy_new(i ? "/nowhere" : "", stat_path, NULL);
        energy_begin(m, &u, 1, 1000, 0);                    /* a card that the settings say is there, too */
        assert_true(!energy_has_cpu(m) && !u.has_cpu && !u.has_gpu);
        energy_free(m);
    }
    energy_begin(NULL, &u, 1, 1000, 0);
    energy_look(NULL, &u, 1, 1);
    assert_true(!u.has_cpu && !u.has_gpu && u.next_us == INT64_MAX);
}

static void test_cards(void **st)
{
    struct cards *c;
    struct energy_use whole, part, none;
    struct err e;
    (void)st;
    kit_cards(CARD("a", "0") CARD("b", "1"));
    if (cards_new(FAKE_NVML_PATH, &c, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    struct energy *m = energy_new("", stat_path, c);
    energy_begin(m, &whole, 1, 1000, 0);
    assert_false(whole.has_gpu);                            /* cards of before Volta count nothing */
    put(joules, "5000");
    setenv("FAKE_NVML_ENERGY", joules, 1);
    energy_begin(m, &whole, 3, 1000, 0);
    energy_begin(m, &part, 2, 250, 0);
    energy_begin(m, &none, 0, 0, 0);
    put(joules, "9000");
    energy_look(m, &whole, 0, 10);
    energy_look(m, &part, 0, 10);
    energy_look(m, &none, 0, 10);
    assert_true(whole.has_gpu && part.has_gpu && !none.has_gpu && !whole.has_cpu);
    assert_true(whole.gpu_mj == 8000 && part.gpu_mj == 1000);
    double mj;
    assert_false(energy_total(&whole, &mj));                /* its processors are not measured */
    whole.has_cpu = true;
    whole.cpu_uj = 5e6;
    assert_true(energy_total(&whole, &mj) && mj == 13000);
    whole.has_cpu = false;
    put(joules, "100");                                     /* the driver was loaded anew */
    energy_look(m, &whole, 0, 20);
    assert_true(!whole.has_gpu && whole.gpu_mj == 0 && whole.next_us == INT64_MAX);
    unsetenv("FAKE_NVML_ENERGY");
    energy_look(m, &part, 0, 20);
    assert_false(part.has_gpu);
    energy_free(m);
    cards_free(c);
    kit_no_cards();
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_a_lease_has_its_share), TEST(test_nothing_is_lost_between_ticks),
                                        TEST(test_time_that_is_known_at_the_end),
                                        TEST(test_what_cannot_be_read_is_not_measured), TEST(test_cards) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
