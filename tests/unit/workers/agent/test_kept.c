/* SPDX-License-Identifier: Apache-2.0 */
/* test_kept.c - an agent asks of what it keeps, when it is time, and lets go what it is not told to keep. */
#include "agent_kit.h"
#include "workers/agent/agent_int.h"
#include "workers/lease/image_cache.h"

#include <sys/mman.h>

static int64_t now_us;
static int64_t now(void *ctx)
{
    (void)ctx;
    return now_us;
}
static const struct clock turned = { .wall_us = now, .mono_us = now };

enum { SHUT_OUT = -2 };

struct said {
    int asked, seen, may;               /* may: as many of the first ones may be kept; -1: it does not know the question; SHUT_OUT */
};

static enum errc kept(void *ctx, struct arena *a, const struct lease_kept_in *in, struct lease_kept_out *ret, struct err *e)
{
    (void)a;
    struct said *s = ctx;
    s->asked++;
    s->seen = (int)in->images.n;
    if (s->may == SHUT_OUT)
        return FAIL(e, FORBIDDEN, "the machine is in quarantine");
    if (s->may < 0)
        return FAIL(e, NOT_FOUND, "there is no such route");
    *ret = (struct lease_kept_out){ { in->images.items, (size_t)s->may } };
    return ERR_OK;
}

static void put(struct image_cache *c, struct lease_input *in, int id)
{
    struct lease_grant g = kit_grant(1, "run", "{\"environment\":\"dst_00000000000000000000000000000001@1\"}");
    CLEANUP(fd_closep) int fd = memfd_create("x", MFD_CLOEXEC);
    assert_int_equal(write(fd, "image", 5), 5);
    *in = (struct lease_input){ .name = STR("image:"), .kind = STR("dataset"), .object_id = kit_id(id),
                                .sha256 = id % 2 ? STR("aa") : STR("bb") };
    g.inputs = (struct slice){ in, 1 };
    assert_true(image_cache_put(c, &g, fd));
}

static size_t count(struct agent *a)
{
    struct lease_kept held[IMAGE_CACHE_ENTRIES];
    return image_cache_held(a->env.images, held);
}

static void test_an_agent_asks_and_lets_go(void **state)
{
    (void)state;
    struct said s = { .may = 1 };
    struct lease_input in[2];
    now_us = 0;
    struct agent a = { .clock = &turned, .api = { .ctx = &s, .kept = kept },
                       .env.images = image_cache_new(100, 3600000, &turned) };
    const int64_t next = agent_ask_kept(&a);
    assert_int_equal(s.asked, 0);                       /* it keeps none */
    assert_true(next > 0 && next <= 30000000);          /* so a minute has two questions */
    put(a.env.images, &in[0], 1);
    put(a.env.images, &in[1], 2);
    now_us = next - 1;
    assert_int_equal(agent_ask_kept(&a), next);
    assert_int_equal(s.asked, 0);
    now_us = next;
    assert_int_equal(agent_ask_kept(&a), 2 * next);
    assert_true(s.asked == 1 && s.seen == 2);
    assert_int_equal(count(&a), 1);
    image_cache_free(a.env.images);
}

static void test_without_an_answer_nothing_stays_for_long(void **state)
{
    (void)state;
    struct said s = { .may = -1 };
    struct lease_input in;
    now_us = 0;
    struct agent a = { .clock = &turned, .api = { .ctx = &s, .kept = kept },
                       .env.images = image_cache_new(100, 3600000, &turned) };
    put(a.env.images, &in, 1);
    for (; now_us <= IMAGE_CACHE_WORD_US; now_us = agent_ask_kept(&a)) {
        assert_int_equal(image_cache_sweep(a.env.images), 0);
        assert_int_equal(count(&a), 1);
    }
    assert_true(s.asked >= 10 && a.kept_failed);
    assert_int_equal(image_cache_sweep(a.env.images), 1);
    assert_int_equal(count(&a), 0);
    image_cache_free(a.env.images);
}

static void test_a_machine_that_is_shut_out_keeps_nothing(void **state)
{
    (void)state;
    struct said s = { .may = SHUT_OUT };
    struct lease_input in;
    now_us = 0;
    struct agent a = { .clock = &turned, .api = { .ctx = &s, .kept = kept },
                       .env.images = image_cache_new(100, 3600000, &turned) };
    put(a.env.images, &in, 1);
    (void)agent_ask_kept(&a);
    assert_int_equal(s.asked, 1);
    assert_int_equal(count(&a), 0);
    image_cache_free(a.env.images);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_an_agent_asks_and_lets_go),
                                        cmocka_unit_test(test_without_an_answer_nothing_stays_for_long),
                                        cmocka_unit_test(test_a_machine_that_is_shut_out_keeps_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
