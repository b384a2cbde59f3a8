/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside_document.c - a document is fetched for its owner while others' hang, and kept until it is forgotten. */
#include "outside_kit.h"

/* Documents of two tenants whose names have the same remainder: the second is fetched while the first hangs. */
static void nobody_waits_for_anothers_document(void **state)
{
    (void)state;
    struct asker a = { 1, 1, hangs.url };
    struct provider good;
    struct err e;
    int fd;
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    begin_hanging(&a, &fd, 1);
    const uint8_t first[16] = { 0, 1 };
    uint64_t place = (str_hash(str_c(hangs.url)) ^ str_hash(str_n((const char *)first, 16))) % 256;
    unsigned owner = 2;
    for (uint8_t id[16] = { 0 };; owner++) {
        id[0] = (uint8_t)(owner >> 8);
        id[1] = (uint8_t)owner;
        if ((str_hash(str_c(good.url)) ^ str_hash(str_n((const char *)id, 16))) % 256 == place)
            break;
    }
    assert_int_equal(ask(2, owner, good.url, &e), ERR_OK);
    assert_int_equal(over, 0);
    end_hanging(&a, &fd, 1);
    pthread_join(good.thread, NULL);
    close(good.fd);
}

/* Within its time an owner's document comes from memory; another owner asks for itself; what is forgotten is fetched anew. */
static void a_document_is_kept_for_its_owner(void **state)
{
    (void)state;
    struct provider good;
    struct err e;
    config.auth_provider_cache_ms = 60000;
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    assert_int_equal(ask(1, 7, good.url, &e), ERR_OK);
    pthread_join(good.thread, NULL);
    close(good.fd);                     /* nobody answers there any more */
    assert_int_equal(ask(1, 7, good.url, &e), ERR_OK);
    assert_int_not_equal(ask(1, 8, good.url, &e), ERR_OK);
    outside_forget(&app, (struct uuid){ { 0, 8 } });
    assert_int_equal(ask(1, 7, good.url, &e), ERR_OK);
    outside_forget(&app, (struct uuid){ { 0, 7 } });
    assert_int_not_equal(ask(1, 7, good.url, &e), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_waits_for_anothers_document, setup, teardown),
        cmocka_unit_test_setup_teardown(a_document_is_kept_for_its_owner, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
