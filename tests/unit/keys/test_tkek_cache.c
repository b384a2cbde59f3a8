/* SPDX-License-Identifier: Apache-2.0 */
/* test_tkek_cache.c - found by place and blob, gone after its time, least recently used first, cleared and wiped. */
#include "keys_test.h"
#include "keys/tkek_cache.h"

static void key_for(uint32_t i, uint8_t key[32])
{
    struct aad aad;
    struct key_blob blob = { .n = 4 };
    aad_init(&aad, "t");
    aad_u32(&aad, i);
    tkek_cache_key(&aad, &blob, key);
}

static void test_lru_and_time(void **state)
{
    struct tkek_cache *c = tkek_cache_new();
    struct secret32 v = { { 0 } }, out;
    uint8_t key[32];
    (void)state;
    for (uint32_t i = 0; i < TKEK_CACHE_MAX; i++) {
        v.b[0] = (uint8_t)i;
        key_for(i, key);
        tkek_cache_put(c, key, 0, &v);
    }
    assert_int_equal(tkek_cache_count(c), TKEK_CACHE_MAX);
    key_for(0, key);
    assert_true(tkek_cache_get(c, key, 1, &out));                /* 0 is now the newest, 1 the oldest */
    key_for(TKEK_CACHE_MAX, key);
    tkek_cache_put(c, key, 1, &v);
    assert_int_equal(tkek_cache_count(c), TKEK_CACHE_MAX);
    key_for(1, key);
    assert_false(tkek_cache_get(c, key, 1, &out));
    key_for(0, key);
    assert_true(tkek_cache_get(c, key, 1, &out));
    key_for(77, key);
    assert_true(tkek_cache_get(c, key, (int64_t)TKEK_CACHE_TTL_S * 1000000 - 1, &out));
    assert_int_equal(out.b[0], 77);
    assert_false(tkek_cache_get(c, key, (int64_t)TKEK_CACHE_TTL_S * 1000000, &out));
    assert_false(tkek_cache_get(c, key, 1, &out));               /* it left for good */
    tkek_cache_clear(c);
    assert_int_equal(tkek_cache_count(c), 0);
    assert_int_equal(secmem_used(), 0);
    tkek_cache_put(c, key, 0, &v);
    tkek_cache_put(c, key, 0, &v);
    assert_int_equal(tkek_cache_count(c), 1);
    tkek_cache_free(c);
    assert_int_equal(secmem_used(), 0);
}

int main(void)
{
    OK(secmem_init(1 << 20, false, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lru_and_time) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
