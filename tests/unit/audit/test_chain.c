/* SPDX-License-Identifier: Apache-2.0 */
/* test_chain.c - the chain against hashes computed by hand with sha256sum. */
#include "tests/unit/audit/fixture.h"

static void assert_hash(const struct merkle_hash *h, const char *hex)
{
    char text[65];
    hex_encode(h->b, 32, text);
    assert_string_equal(text, hex);
}

static void the_chain_is_what_the_document_says(void **state)
{
    (void)state;
    struct uuid t;
    struct merkle_hash h, leaf;
    assert_true(uuid_parse(STR("00112233-4455-6677-8899-aabbccddeeff"), &t));
    chain_start(t, &h);
    assert_hash(&h, "0f330c30e1524ab6a53f53c659027e1062623c7ba0d853eb98575cc1f3c785fb");
    merkle_leaf("abc", 3, &leaf);
    chain_next(&h, &leaf, &h);
    assert_hash(&h, "ad30b3a40902189814660118c41113a5cfc204bd8ac04e337bd577c5f0fa8a14");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_chain_is_what_the_document_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
