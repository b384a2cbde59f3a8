/* SPDX-License-Identifier: Apache-2.0 */
/* test_command.c - what `replay` prints and how it ends: 0 the same, 1 another plan, 2 a bad option or file. */
#include "world.h"

#include <stdlib.h>
#include <unistd.h>

#include "scheduler/replay/replay.h"

static char folder[] = "/tmp/replay_test_XXXXXX";
static char text[1 << 16];

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int k;
    k = (k + 1) % 4;
    snprintf(paths[k], sizeof paths[k], "%s/%s", folder, name);
    return paths[k];
}

static void put(const char *name, const char *bytes, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* The exit status; text: what it wrote on both outputs. */
static int run(const char *a, const char *b, const char *c)
{
    char *argv[] = { (char *)(uintptr_t)"replay", (char *)(uintptr_t)a, (char *)(uintptr_t)b, (char *)(uintptr_t)c, NULL };
    const int argc = 1 + !!a + (a && b) + (a && b && c), out = dup(1), err = dup(2);
    FILE *f = fopen(path_of("said"), "w+b");
    assert_non_null(f);
    fflush(NULL);
    dup2(fileno(f), 1);
    dup2(fileno(f), 2);
    const int rc = replay_main(argc, argv);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return rc;
}

static void says(const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in: %s", words, text);
}

/* A cycle in which somebody is placed, somebody waits and somebody leaves. */
static struct buf some_cycle(bool is_wrong)
{
    struct recorder *r = recorder_new((size_t)16 << 20);
    struct world w;
    struct buf b = BUF(0);
    world_begin(&w, 12);
    for (;;) {
        struct arena *a = arena_new((size_t)256 << 20);
        struct plan p;
        struct preemption x;
        b = world_cycle(&w, r, a, &p, &x);
        const bool is_it = p.places.n && p.waits.n && (is_wrong ? memmem(b.ptr, b.len, "\x09Resources",
            10) != NULL : x.evictions.n > 0);
        arena_free(a);
        if (is_it)
            break;
        buf_release(&b);
    }
    if (is_wrong) {             /* a plan that no planner made of it: a reason has another letter */
        char *at = memmem(b.ptr, b.len, "\x09Resources", 10);
        assert_non_null(at);
        at[1] = 'X';
        tables_seal(b.ptr, b.len, FILE_HEAD);
    }
    recorder_free(r);
    world_end(&w);
    return b;
}

static void test_command(void **state)
{
    (void)state;
    struct buf good = some_cycle(false), other = some_cycle(true);
    put("good", good.ptr, good.len);
    put("other", other.ptr, other.len);
    put("empty", "", 0);
    good.ptr[good.len - 30] ^= 4;
    put("bad", good.ptr, good.len);
    assert_int_equal(run(path_of("good"), NULL, NULL), 0);
    says("good: cycle ");
    says(", explains, 8 machines, ");
    says(" leave: the same\n");
    assert_null(strstr(text, "placed job_"));
    assert_int_equal(run("--print", path_of("good"), NULL), 0);
    says("placed job_");
    says(" on nod_");
    says("waits job_");
    says("leaves att_");
    says("room is being made for job_");
    assert_int_equal(run(path_of("other"), path_of("good"), NULL), 1);
    says("differs: waits row ");
    says(": reason was \"Xesources\", is \"Resources\" (made by 0.1.0)\n");
    says("the same\n");
    assert_int_equal(run(path_of("good"), path_of("bad"), NULL), 2);
    says("/bad: offset ");
    says("do not match their checksum: they are damaged");
    assert_int_equal(run(path_of("empty"), NULL, NULL), 2);
    says("offset 0: a recorded cycle begins with FALAJCYC");
    assert_int_equal(run(path_of("absent"), NULL, NULL), 2);
    says("/absent: cannot be read: No such file");
    assert_int_equal(run(folder, NULL, NULL), 2);
    says("a file is expected");
    assert_int_equal(run(NULL, NULL, NULL), 2);
    says("usage: ");
    assert_int_equal(run("--prin", path_of("good"), NULL), 2);
    says("unknown option --prin");
    assert_int_equal(run("--help", NULL, NULL), 0);
    says("usage: ");
    buf_release(&good);
    buf_release(&other);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    static const char *const names[] = { "good", "other", "empty", "bad", "said" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_command) };
    return cmocka_run_group_tests(tests, begin, end);
}
