/* SPDX-License-Identifier: Apache-2.0 */
/* test_release_wire.c - a release opens for its worker, lease and keys, and for nothing that differs in one field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/crypto/rand.h"
#include "core/wire/release_wire.h"

#define OK(call) assert_int_equal((call), ERR_OK)
enum { N = 3 };
static struct secret32 worker;
static struct release_terms terms;
static struct release_key keys[N];
static struct uuid ids[N];
static uint8_t message[RELEASE_MESSAGE_MAX];
static size_t len;

static enum errc open_as(const struct secret32 *secret, const struct release_terms *t, const struct uuid *list, size_t n, size_t size)
{
    struct release_key out[RELEASE_KEYS_MAX];
    enum errc rc = release_open(secret, t, list, n, message, size, out, NULL);
    if (rc == ERR_OK)
        assert_memory_equal(out, keys, n * sizeof *out);
    return rc;
}

static void test_binding(void **state)
{
    struct release_terms t[6] = { terms, terms, terms, terms, terms, terms };
    struct uuid swapped[N] = { ids[1], ids[0], ids[2] };
    struct secret32 stranger;
    (void)state;
    OK(open_as(&worker, &terms, ids, N, len));
    t[0].zone = STR("ae-auh-1");
    t[1].worker_id = uuid_v7(9);
    t[2].job_id = uuid_v7(9);
    t[3].fence++;
    t[4].not_after_us++;
    for (int i = 0; i < 5; i++)
        assert_int_equal(open_as(&worker, &t[i], ids, N, len), ERR_DAMAGED);
    assert_int_equal(open_as(&worker, &terms, swapped, N, len), ERR_DAMAGED);
    assert_int_equal(open_as(&worker, &terms, ids, N - 1, len), ERR_DAMAGED);
    assert_int_equal(open_as(&worker, &terms, ids, N, len - 1), ERR_DAMAGED);
    OK(rand_key(stranger.b, 32, NULL));
    assert_int_equal(open_as(&stranger, &terms, ids, N, len), ERR_DAMAGED);
    for (size_t i = 0; i < len; i++) {
        message[i] ^= 0x10;
        assert_int_equal(open_as(&worker, &terms, ids, N, len), ERR_DAMAGED);
        message[i] ^= 0x10;
    }
}

static void test_limits(void **state)
{
    static struct release_key many[RELEASE_KEYS_MAX + 1];
    static uint8_t out[RELEASE_MESSAGE_MAX];
    size_t n = 0;
    struct release_terms t = terms;
    (void)state;
    OK(release_seal(&terms, many, RELEASE_KEYS_MAX, out, &n, NULL));
    assert_int_equal(n, RELEASE_MESSAGE_MAX);
    assert_int_equal(release_seal(&terms, many, RELEASE_KEYS_MAX + 1, out, &n, NULL), ERR_INVALID);
    assert_int_equal(release_seal(&terms, many, 0, out, &n, NULL), ERR_INVALID);
    t.job_id = UUID_NIL;
    assert_int_equal(release_seal(&t, many, 1, out, &n, NULL), ERR_INVALID);
}

int main(void)
{
    terms = (struct release_terms){ STR("ae-dxb-1"), uuid_v7(1), uuid_v7(2), 5, 1800000000000000, { 0 } };
    OK(x25519_keygen(&worker, terms.worker_key, NULL));
    for (int i = 0; i < N; i++) {
        keys[i].dek_id = ids[i] = uuid_v7(100 + i);
        OK(rand_key(keys[i].key.b, 32, NULL));
    }
    OK(release_seal(&terms, keys, N, message, &len, NULL));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_binding), cmocka_unit_test(test_limits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
