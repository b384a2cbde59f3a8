/* SPDX-License-Identifier: Apache-2.0 */
/* test_attest_wire.c - an attestation of the largest size goes through a reply and comes back; short ones are bad at every length. */
#include "keys_test.h"
#include "keys/keyd_wire.h"

static void fill(char *text, size_t cap)
{
    memset(text, 'x', cap - 1);
    text[cap - 1] = '\0';
}

static void largest(struct attest *a)
{
    memset(a, 0, sizeof *a);
    a->is_sealed = a->has_import_key = true;
    a->current_root = 40;
    a->oldest_root = 2;
    a->n_roots = 39;                                    /* more than a message lists */
    a->n_tenants = ATTEST_TENANTS_MAX;
    fill(a->provider, sizeof a->provider);
    fill(a->mechanism, sizeof a->mechanism);
    fill(a->module, sizeof a->module);
    fill(a->library, sizeof a->library);
    fill(a->token_label, sizeof a->token_label);
    fill(a->token_manufacturer, sizeof a->token_manufacturer);
    fill(a->token_model, sizeof a->token_model);
    fill(a->token_serial, sizeof a->token_serial);
    fill(a->firmware, sizeof a->firmware);
    fill(a->hardware, sizeof a->hardware);
    fill(a->reason, sizeof a->reason);
    memset(a->signing_key_id, 7, sizeof a->signing_key_id);
    memset(a->import_point, 8, sizeof a->import_point);
    for (uint32_t i = 0; i < ATTEST_ROOTS_MAX; i++) {
        a->roots[i].version = i + 1;
        a->roots[i].is_never_extractable = i % 2;
        a->roots[i].is_local = i % 3 == 0;
        fill(a->roots[i].label, sizeof a->roots[i].label);
    }
    for (uint32_t i = 0; i < ATTEST_TENANTS_MAX; i++) {
        a->tenants[i].tenant = uuid_v7(i + 1);
        a->tenants[i].is_sealed = i % 2;
        fill(a->tenants[i].token_label, sizeof a->tenants[i].token_label);
    }
}

static void test_there_and_back(void **state)
{
    static struct attest a, b;
    struct buf frame = BUF(KEYD_REPLY_MAX);
    struct wire_in in;
    uint8_t kind;
    (void)state;
    largest(&a);
    wire_begin(&frame, KEYD_DONE);
    wire_put_attest(&frame, &a);
    assert_true(wire_end(&frame));
    print_message("the largest attestation has %zu bytes of %d\n", frame.len, KEYD_REPLY_MAX);
    assert_true(wire_open(&in, frame.ptr + 4, frame.len - 4, &kind));
    wire_attest(&in, &b);
    assert_true(wire_done(&in));
    assert_memory_equal(&a, &b, sizeof a);
    for (size_t n = 2; n < frame.len - 4; n++) {
        assert_true(wire_open(&in, frame.ptr + 4, n, &kind));
        wire_attest(&in, &b);
        assert_false(wire_done(&in));
    }
    buf_release(&frame);
}

/* Each thing that is said of a key service stands by itself: one without a signing key is not shown as one without objects. */
static void test_each_flag_is_its_own(void **state)
{
    (void)state;
    for (unsigned set = 0; set < 1u << 10; set++) {
        static struct attest a, b;
        struct buf frame = BUF(KEYD_REPLY_MAX);
        struct wire_in in;
        uint8_t kind;
        memset(&a, 0, sizeof a);
        bool *const flags[] = { &a.is_sealed, &a.is_hardware, &a.has_signing_key, &a.has_import_key, &a.has_objects,
                                &a.roots[0].is_sensitive, &a.roots[0].is_always_sensitive, &a.roots[0].is_extractable,
                                &a.roots[0].is_never_extractable, &a.roots[0].is_local };
        a.n_roots = 1;
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            *flags[i] = set >> i & 1;
        wire_begin(&frame, KEYD_DONE);
        wire_put_attest(&frame, &a);
        assert_true(wire_end(&frame) && wire_open(&in, frame.ptr + 4, frame.len - 4, &kind));
        wire_attest(&in, &b);
        assert_true(wire_done(&in));
        assert_memory_equal(&a, &b, sizeof a);
        buf_release(&frame);
    }
}

static void test_text_into(void **state)
{
    struct buf frame = BUF(256);
    struct wire_in in;
    uint8_t kind;
    char text[5];
    (void)state;
    wire_begin(&frame, KEYD_DONE);
    wire_put_text(&frame, STR("four"));
    wire_put_text(&frame, STR("fives"));
    assert_true(wire_end(&frame) && wire_open(&in, frame.ptr + 4, frame.len - 4, &kind));
    wire_text_into(&in, text, sizeof text);
    assert_string_equal(text, "four");
    wire_text_into(&in, text, sizeof text);
    assert_string_equal(text, "");
    assert_true(in.bad);
    buf_release(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_each_flag_is_its_own),
                                        cmocka_unit_test(test_text_into) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
