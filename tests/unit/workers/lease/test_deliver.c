/* SPDX-License-Identifier: Apache-2.0 */
/* test_deliver.c - all parts come in order, and again from the first when the API has lost what came before. */
#include "executor_kit.h"

#include "workers/lease/deliver.h"

static char content[3 * KIT_PART + 17];

static void deliver(int lose_after, int parts)
{
    struct fixture f;
    struct err e = { 0 };
    setup_with(&f, "1g", "x", 1);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    struct held *h = add_kind(&f, "train", "{}", 0);
    const struct run r = { .env = &f.env, .held = h, .g = held_grant(h), .arena = a };
    FILE *file = tmpfile();
    assert_int_equal(fwrite(content, 1, sizeof content, file), sizeof content);
    assert_int_equal(fflush(file), 0);
    const struct delivery d = { NULL, a, fileno(file), kit_id(60), KIT_PART, { .plain_size = 7 } };
    f.store.lose_after = lose_after;
    assert_int_equal(run_deliver(&r, &d, &e), ERR_OK);
    assert_int_equal(f.store.uploads, parts);
    assert_int_equal(f.store.uploaded.len, sizeof content);
    assert_memory_equal(f.store.uploaded.ptr, content, sizeof content);
    fclose(file);
    held_unref(h);
    teardown(&f);
}

static void test_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 31 >> 3);
    deliver(0, 4);
    deliver(2, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
