/* SPDX-License-Identifier: Apache-2.0 */
/* test_image_cache.c - whose image is given to whom, what cannot be changed, and what goes when there is no room or time. */
#include "run_kit.h"
#include "workers/lease/image_cache.h"

#include <fcntl.h>
#include <sys/mman.h>

#define SPEC(environment) "{\"command\":[\"x\"],\"environment\":\"" environment "\"}"
#define IMAGE "dst_00000000000000000000000000000001@1"
#define EIGHT(c) c c c c c c c c
#define DIGEST(c) "sha256:" EIGHT(EIGHT(c))

static int64_t now_us;
static int64_t now(void *ctx)
{
    (void)ctx;
    return now_us;
}
static const struct clock turned = { .wall_us = now, .mono_us = now };

static struct lease_grant lease(int tenant, const char *sha, const char *spec)
{
    static struct lease_input in[16];
    static int n;
    struct lease_grant g = kit_grant(1, "run", spec);
    g.tenant_id = kit_id(tenant);
    g.job_id = kit_id(100 + n);
    in[n % 16] = (struct lease_input){ .name = STR("image:"), .kind = STR("dataset"), .object_id = kit_id(200 + n),
                                         .sha256 = str_c(sha) };
    g.inputs = (struct slice){ &in[n++ % 16], 1 };
    return g;
}

static int file_of(size_t bytes, char letter)
{
    int fd = memfd_create("x", MFD_CLOEXEC);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(write(fd, &letter, 1), 1);
    return fd;
}

static bool put(struct image_cache *c, const struct lease_grant *g, size_t bytes, char letter)
{
    CLEANUP(fd_closep) int fd = file_of(bytes, letter);
    return image_cache_put(c, g, fd);
}

static bool has(struct image_cache *c, const struct lease_grant *g, char letter)
{
    char got = 0;
    CLEANUP(fd_closep) int fd = image_cache_take(c, g);
    return fd >= 0 && pread(fd, &got, 1, 0) == 1 && got == letter;
}

static void only_the_same_tenant_and_image_finds_it(void **state)
{
    (void)state;
    struct image_cache *c = image_cache_new(1000, 1000, &clock_system);
    const struct lease_grant own = lease(1, "aa", SPEC(IMAGE)), other = lease(2, "aa", SPEC(IMAGE)),
                             content = lease(1, "bb", SPEC(IMAGE)), named = lease(1, "aa", SPEC(IMAGE "/" DIGEST("1"))),
                             host = lease(1, "aa", SPEC("host")), odd = lease(1, "aa", "{");
    struct lease_grant none = own;
    none.inputs.n = 0;
    assert_true(put(c, &own, 10, 'o'));
    assert_true(has(c, &own, 'o'));
    const struct lease_grant *const strangers[] = { &other, &content, &named, &odd, &none };
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        assert_int_equal(image_cache_take(c, strangers[i]), -1);
    assert_true(put(c, &other, 10, 'x'));
    assert_true(put(c, &named, 10, 'n'));
    assert_true(has(c, &own, 'o') && has(c, &other, 'x') && has(c, &named, 'n'));
    assert_int_equal(image_cache_most(c, &own), 1000);
    assert_int_equal(image_cache_most(c, &none), 0);
    assert_int_equal(image_cache_most(NULL, &own), 0);
    assert_int_equal(image_cache_take(NULL, &host), -1);
    image_cache_free(c);
}

static void nobody_changes_it(void **state)
{
    (void)state;
    struct image_cache *c = image_cache_new(1000, 1000, &clock_system);
    const struct lease_grant g = lease(1, "aa", SPEC(IMAGE));
    int from = file_of(10, 'o');
    char path[64];
    assert_true(image_cache_put(c, &g, from));
    assert_int_equal(pwrite(from, "x", 1, 0), 1);               /* who gave it keeps another */
    CLEANUP(fd_closep) int fd = image_cache_take(c, &g);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 20), -1);
    assert_ptr_equal(mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDWR);
    assert_true(again < 0 || pwrite(again, "x", 1, 0) == -1);
    assert_true(has(c, &g, 'o'));
    close(from);
    if (again >= 0)
        close(again);
    image_cache_free(c);
}

static void the_oldest_makes_room(void **state)
{
    (void)state;
    now_us = 0;
    struct image_cache *c = image_cache_new(100, 1000, &turned);
    const struct lease_grant a = lease(1, "aa", SPEC(IMAGE)), b = lease(1, "bb", SPEC(IMAGE)), d = lease(1, "dd", SPEC(IMAGE));
    assert_false(put(c, &a, 101, 'a'));
    assert_true(put(c, &a, 50, 'a'));
    now_us += 1000;
    assert_true(put(c, &b, 50, 'b'));
    now_us += 1000;
    assert_true(has(c, &a, 'a'));                       /* so b was used least lately */
    now_us += 1000;
    assert_true(put(c, &d, 50, 'd'));
    assert_true(has(c, &a, 'a') && !has(c, &b, 'b') && has(c, &d, 'd'));
    now_us += 999 * 1000;
    image_cache_sweep(c);
    assert_true(has(c, &a, 'a'));
    now_us += 500 * 1000;
    image_cache_sweep(c);
    assert_true(has(c, &a, 'a') && !has(c, &d, 'd'));   /* d was not used for longer than its age */
    image_cache_free(c);
    c = image_cache_new(0, 1000, &turned);
    assert_false(put(c, &a, 1, 'a'));
    assert_int_equal(image_cache_most(c, &a), 0);
    image_cache_free(c);
}

/* Leases that begin at once would otherwise hold a copy each beside all that is kept. */
static void room_is_made_before_a_copy(void **state)
{
    (void)state;
    now_us = 0;
    struct image_cache *c = image_cache_new(100, 1000, &turned);
    const struct lease_grant a = lease(1, "aa", SPEC(IMAGE)), b = lease(1, "bb", SPEC(IMAGE));
    char path[64];
    CLEANUP(fd_closep) int of_b = file_of(60, 'b');
    snprintf(path, sizeof path, "/proc/self/fd/%d", of_b);
    CLEANUP(fd_closep) int unreadable = open(path, O_WRONLY);
    assert_true(unreadable >= 0);
    assert_true(put(c, &a, 60, 'a'));
    assert_false(image_cache_put(c, &b, unreadable));
    assert_false(has(c, &a, 'a'));
    assert_false(has(c, &b, 'b'));
    assert_true(put(c, &b, 100, 'b'));                  /* what was reserved for the copy was given back */
    assert_true(put(c, &b, 100, 'B'));                  /* it is there: nothing is copied */
    assert_true(has(c, &b, 'b'));
    image_cache_free(c);
}

static void what_may_not_be_kept_goes(void **state)
{
    (void)state;
    struct lease_kept held[IMAGE_CACHE_ENTRIES];
    now_us = 0;
    struct image_cache *c = image_cache_new(1000, 3600000, &turned);
    const struct lease_grant a = lease(1, "aa", SPEC(IMAGE)), b = lease(1, "bb", SPEC(IMAGE)),
                             other = lease(2, "aa", SPEC(IMAGE)), late = lease(1, "dd", SPEC(IMAGE));
    assert_true(put(c, &a, 1, 'a') && put(c, &b, 1, 'b') && put(c, &other, 1, 'o'));
    assert_int_equal(image_cache_held(c, held), 3);
    assert_int_equal(image_cache_held(NULL, held), 0);
    assert_memory_equal(&held[0].tenant_id, &a.tenant_id, sizeof held[0].tenant_id);
    assert_memory_equal(&held[0].job_id, &a.job_id, sizeof held[0].job_id);
    assert_memory_equal(&held[0].object_id, &((const struct lease_input *)a.inputs.items)->object_id, sizeof held[0].object_id);
    assert_true(put(c, &late, 1, 'l'));                                 /* after the question */
    const struct lease_kept may[2] = { held[1], { .tenant_id = held[0].tenant_id, .job_id = held[0].job_id } };
    assert_int_equal(image_cache_judged(c, now_us, held, 3, may, 2), 2);
    assert_true(!has(c, &a, 'a') && has(c, &b, 'b') && !has(c, &other, 'o') && has(c, &late, 'l'));
    assert_int_equal(image_cache_held(c, held), 2);
    assert_int_equal(image_cache_judged(c, now_us, held, 2, NULL, 0), 2);
    assert_int_equal(image_cache_held(c, held), 0);
    image_cache_free(c);
}

static void of_what_nobody_says_anything_goes(void **state)
{
    (void)state;
    struct lease_kept held[IMAGE_CACHE_ENTRIES];
    now_us = 0;
    struct image_cache *c = image_cache_new(1000, 3600000, &turned);
    const struct lease_grant a = lease(1, "aa", SPEC(IMAGE)), b = lease(1, "bb", SPEC(IMAGE));
    assert_true(put(c, &a, 1, 'a') && put(c, &b, 1, 'b'));
    now_us = 100;
    assert_int_equal(image_cache_held(c, held), 2);
    now_us = 200;                                                       /* the answer came late: the question's time counts */
    assert_int_equal(image_cache_judged(c, 100, held, 1, held, 1), 0);
    now_us = IMAGE_CACHE_WORD_US;
    assert_true(has(c, &a, 'a') && has(c, &b, 'b'));                    /* use is no word */
    assert_int_equal(image_cache_sweep(c), 0);
    now_us++;
    assert_int_equal(image_cache_sweep(c), 1);
    assert_true(has(c, &a, 'a') && !has(c, &b, 'b'));
    now_us = IMAGE_CACHE_WORD_US + 100;
    assert_int_equal(image_cache_sweep(c), 0);
    now_us++;
    assert_int_equal(image_cache_sweep(c), 1);
    assert_int_equal(image_cache_held(c, held), 0);
    assert_int_equal(image_cache_sweep(NULL), 0);
    image_cache_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_may_not_be_kept_goes),
                                        cmocka_unit_test(of_what_nobody_says_anything_goes),
                                        cmocka_unit_test(only_the_same_tenant_and_image_finds_it),
                                        cmocka_unit_test(nobody_changes_it), cmocka_unit_test(the_oldest_makes_room),
                                        cmocka_unit_test(room_is_made_before_a_copy) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
