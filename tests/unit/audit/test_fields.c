/* SPDX-License-Identifier: Apache-2.0 */
/* test_fields.c - leaves whose fields can be shown one by one: a vector made by another program, and every way to show something
 * else. */
#include "audit/fields.h"
#include "tests/unit/audit/fixture.h"

/* The vector: python3's hashlib, by docs/audit-format.md §2. */
static const char event_text[] =
    "{\"v\":1,\"event_id\":\"018bcfe5-7785-78dc-a792-00000000000f\",\"zone\":\"ae-dxb-1\",\"tenant\":\"018"
    "c0000-0000-7000-8000-00000000000a\",\"ts_us\":1700000000000000,\"code\":\"FLJ-JOB-001S\",\"actor"
    "\":{\"type\":\"user\",\"id\":\"00000000-0000-7004-9e59-cff6bf64d23f\",\"roles\":[\"ml-engineer\"],\"to"
    "ken_id\":null},\"src_ip\":null,\"request_id\":\"req-1\",\"resource\":{\"kind\":\"job\",\"id\":\"job_1\"},"
    "\"action\":\"job.submit\",\"decision\":{\"effect\":\"allow\",\"rule\":null},\"outcome\":\"success\",\"htt"
    "p_status\":201,\"details\":{}}";
static const char leaf_hex[] = "365c885facfe111d54be85afc622c110a65cd5890813920d9427e89aaf7fc90f";
static const char salt_hex[] = "9408d818ca5cc58cbfabed543e2f4882";    /* of the action */
static const char *const members[AUDIT_FIELDS] = { "\"ts_us\":1700000000000000", "\"action\":\"job.submit\"",
    "\"resource\":{\"kind\":\"job\",\"id\":\"job_1\"}",
    "\"actor\":{\"type\":\"user\",\"id\":\"00000000-0000-7004-9e59-cff6bf64d23f\"}" };

static struct audit_view view;
static struct audit_fields fields;
static struct merkle_hash plain;

static int setup(void **state)
{
    (void)state;
    struct str event = str_c(event_text);
    merkle_leaf(event.ptr, event.len, &plain);
    if (!audit_record_read(event, &view))
        return -1;
    audit_fields_of(&view, &plain, &fields);
    return 0;
}

static void the_leaf_is_what_another_program_makes(void **state)
{
    (void)state;
    char hex[2 * MERKLE_HASH + 1];
    hex_encode(fields.leaf.b, MERKLE_HASH, hex);
    assert_string_equal(hex, leaf_hex);
    hex_encode(fields.salt[AUDIT_FIELD_ACTION], AUDIT_SALT, hex);
    assert_string_equal(hex, salt_hex);
}

static void each_field_alone_makes_the_leaf(void **state)
{
    (void)state;
    char text[AUDIT_MEMBER_MAX];
    for (int i = 0; i < AUDIT_FIELDS; i++) {
        struct audit_opened o;
        struct merkle_hash leaf;
        static struct audit_view read;
        enum audit_field field;
        audit_open(&view, &fields, (enum audit_field)i, text, &o);
        assert_int_equal(o.member.len, strlen(members[i]));
        assert_memory_equal(o.member.ptr, members[i], o.member.len);
        audit_opened_leaf(&o, &leaf);
        assert_memory_equal(leaf.b, fields.leaf.b, MERKLE_HASH);
        assert_true(audit_member_read(o.member, &read, &field) && field == (enum audit_field)i);
        for (size_t at = 0; at < o.member.len; at++) {          /* nothing else makes it */
            text[at] ^= 1;
            audit_opened_leaf(&o, &leaf);
            assert_memory_not_equal(leaf.b, fields.leaf.b, MERKLE_HASH);
            text[at] ^= 1;
        }
        o.salt[3] ^= 1;
        audit_opened_leaf(&o, &leaf);
        assert_memory_not_equal(leaf.b, fields.leaf.b, MERKLE_HASH);
        for (size_t n = 0; n < o.member.len && i != AUDIT_FIELD_TIME; n++)     /* a cut member is none, but for a number */
            assert_false(audit_member_read(str_n(o.member.ptr, n), &read, &field));
    }
}

/* The four salts and what they are made of are all different, so showing one field helps with no other. */
static void no_two_fields_share_a_salt(void **state)
{
    (void)state;
    for (int i = 0; i < AUDIT_FIELDS; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(fields.salt[i], fields.salt[j], AUDIT_SALT);
}

static void an_event_has_one_of_two_leaves(void **state)
{
    (void)state;
    static struct audit_view room;
    struct merkle_hash other = fields.leaf;
    struct str event = str_c(event_text);
    assert_true(audit_leaf_is(event, &plain, &room));
    assert_true(audit_leaf_is(event, &fields.leaf, &room));
    other.b[31] ^= 1;
    assert_false(audit_leaf_is(event, &other, &room));
    merkle_leaf("{}", 2, &other);
    assert_true(audit_leaf_is(STR("{}"), &other, &room));       /* what is no event has the plain one */
    assert_false(audit_leaf_is(STR("{}"), &fields.leaf, &room));
}

/* An event that differs in one byte anywhere has another leaf, though none of its four fields changed. */
static void the_leaf_binds_the_whole_event(void **state)
{
    (void)state;
    static struct audit_view room;
    char text[sizeof event_text];
    memcpy(text, event_text, sizeof text);
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        text[i] ^= 1;
        assert_false(audit_leaf_is(str_c(text), &fields.leaf, &room));
        text[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_leaf_is_what_another_program_makes),
        cmocka_unit_test(each_field_alone_makes_the_leaf), cmocka_unit_test(no_two_fields_share_a_salt),
        cmocka_unit_test(an_event_has_one_of_two_leaves), cmocka_unit_test(the_leaf_binds_the_whole_event) };
    return cmocka_run_group_tests(tests, setup, NULL);
}
